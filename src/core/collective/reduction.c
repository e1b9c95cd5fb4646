/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.c - the rounds of reductions (see reduction.h). */
#include "core/collective/reduction.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/collective_halves.h"
#include "core/collective/collective_send.h"
#include "core/collective/reduction_order.h"
#include "core/collective/reduction_record.h"
#include "core/collective/reduction_slot.h"
#include "core/pe/builtin.h"
#include "core/sched/completion.h"
#include "core/sched/scheduler.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/message.h"

#define REDUCTION_IN_PLACE_FROM 8192   /* bytes from which a partial result is not copied */
#define REDUCTION_PACED_FROM    131072 /* bytes of a contribution that counts several times ... */
#define REDUCTION_PACED_TO      ((size_t)1 << 20) /* ... of a call of at most so many ...      */
#define REDUCTION_PACED_PES     8                 /* ... of at least so many PEs ...            */
#define REDUCTION_PACED_COST    8                 /* ... and how often                          */

_Static_assert(sizeof(struct ski_reduction_head) == SKI_REDUCE_MIN, "see builtin.h");
_Static_assert(SKI_REDUCE_MIN == SKI_COMPLETE_MIN,
               "a result message serves as the message of a completion");

/* ---- flow control ---------------------------------------------------------- */

uint64_t ski_reduction_cost(const struct ski_pe *self, const struct ski_reduction_head *head,
                            size_t bytes)
{
    uint64_t cost = ski_call_cost(bytes);

    if (head->all || bytes < REDUCTION_PACED_FROM || self->pes < REDUCTION_PACED_PES ||
        head->count > REDUCTION_PACED_TO >> ski_type_shift((skua_type)head->type) ||
        !ski_job_is_distributed(self->job))
        return cost;
    return REDUCTION_PACED_COST * cost;
}

/* ---- partial results ------------------------------------------------------- */

skua_msg *ski_reduction_msg(size_t bytes)
{
    return skua_msg_alloc(sizeof(struct ski_reduction_head) + bytes);
}

/* Applies the operator of @p r to two arrays of elements.  Addresses of contributions are merged by
 * a bitwise or: each PE sets its own. */
static void reduction_apply(struct ski_pe *self, const struct ski_reduction *r, char *into,
                            const char *from)
{
    bool      addresses = r->head.algorithm == SKI_REDUCTION_SHARED;
    skua_type type      = addresses ? SKUA_UINT64 : (skua_type)r->head.type;
    skua_op   op        = addresses ? SKUA_BIT_OR : (skua_op)r->head.op;

    if (ski_halves_used(self, r->bytes) && ski_op_splits(op))
        ski_halves_combine(self, op, type, into, from, r->bytes);
    else if (r->bytes)
        ski_op_function(op, type)(into, from, r->bytes >> ski_type_shift(type), type);
}

/* Combines the contribution of this round into the partial result, the lower PEs first; @p lower:
 * this PE is below the sender.  The operator writes to its first operand.  If that is the
 * contribution, its message becomes the one of the partial result, or its elements are copied,
 * unless the operator gives the same result with its operands exchanged. */
static void reduction_combine(struct ski_pe *self, struct ski_reduction *r, bool lower)
{
    skua_msg *contribution = r->received[r->round];
    char     *elements     = ski_reduction_elements(contribution);

    ski_assert(contribution->bytes == sizeof r->head + r->bytes);
    r->received[r->round] = NULL;
    if (lower || (!r->msg && ski_op_commutes((skua_op){r->head.op}))) {
        reduction_apply(self, r, r->partial, elements);
    } else if (r->msg) {
        skua_msg *previous = r->msg;

        reduction_apply(self, r, elements, r->partial);
        r->msg       = contribution;
        r->partial   = elements;
        contribution = previous;
    } else {
        reduction_apply(self, r, elements, r->partial);
        memcpy(r->partial, elements, r->bytes);
    }
    skua_msg_free(contribution);
}

/* Returns the slot that @p r waits for if it is filled, else NULL.  While messages to the program
 * are held back until it has begun, so are slots: operators and completions are code of the
 * program. */
static const struct ski_reduction_slot *reduction_filled_slot(const struct ski_pe        *self,
                                                              const struct ski_reduction *r)
{
    return r->small && self->collectives->board && !self->before_wait
               ? ski_board_find(self, r->round, r->small_call)
               : NULL;
}

/* Combines the contribution of PE @p from in @p slot into the partial result. */
static void reduction_combine_slot(struct ski_pe *self, struct ski_reduction *r,
                                   const struct ski_reduction_slot *slot, int from)
{
    char *other = r->partial == r->elements[0] ? r->elements[1] : r->elements[0];

    if (SKI_UNLIKELY(memcmp(&r->head, &slot->head, sizeof r->head) != 0))
        ski_reduction_mismatch(r, &slot->head, from);
    ski_board_count(self);
    ski_assert(r->bytes <= SKI_SLOT_BYTES);
    if (r->bytes == 0)
        return;
    if (self->pe < from) {
        reduction_apply(self, r, r->partial, slot->elements);
        return;
    }
    memcpy(other, slot->elements, r->bytes);
    reduction_apply(self, r, other, r->partial);
    r->partial = other;
}

/* Combines the contribution of PE @p from in the current round, if it has arrived.  Returns whether
 * it has. */
static bool reduction_combine_arrived(struct ski_pe *self, struct ski_reduction *r, int from)
{
    const struct ski_reduction_slot *slot;

    if (r->received[r->round]) {
        reduction_combine(self, r, self->pe < from);
        return true;
    }
    slot = reduction_filled_slot(self, r);
    if (slot)
        reduction_combine_slot(self, r, slot, from);
    return slot != NULL;
}

/* Sends a small partial result, which is in its record, as a message. */
static void reduction_send_small(const struct ski_reduction *r, int pe, uint32_t handler,
                                 uint8_t want_credit)
{
    struct {
        struct ski_reduction_head head;
        char                      elements[SKI_SLOT_BYTES];
    } packet;

    ski_assert(r->bytes <= SKI_SLOT_BYTES);
    packet.head             = r->head;
    packet.head.round       = (uint8_t)r->round;
    packet.head.want_credit = want_credit;
    memcpy(packet.elements, r->partial, r->bytes);
    skua_send_copy(pe, (skua_handler){handler}, &packet, sizeof packet.head + r->bytes);
}

/* Records that the network has read @p owner, a message with a partial result.  If its link is not
 * NULL, the reduction has another message. */
static void reduction_msg_sent(struct ski_pe *self, void *owner)
{
    skua_msg *msg = owner;

    if (msg->link)
        ski_pool_free(&self->pool, msg);
    else
        msg->link = msg;
}

/* Sends a partial result, which this PE still needs, from its message.  If the network has not read
 * it at the return, the reduction continues with a copy.  Returns false if it has done nothing. */
static bool reduction_send_in_place(struct ski_pe *self, struct ski_reduction *r, int pe,
                                    uint32_t handler, const struct ski_reduction_head *head)
{
    skua_msg                    *msg    = r->msg;
    struct ski_collective_packet packet = {.handler    = handler,
                                           .head       = head,
                                           .head_bytes = sizeof *head,
                                           .data       = r->partial,
                                           .bytes      = r->bytes,
                                           .sent       = reduction_msg_sent,
                                           .owner      = msg};

    msg->link = NULL;
    if (ski_job_index(self->job, pe) >= 0 || !ski_collective_send(self, pe, &packet))
        return false;
    if (msg->link)
        return true;
    r->msg = ski_reduction_msg(r->bytes);
    memcpy(ski_reduction_elements(r->msg), r->partial, r->bytes);
    r->partial = ski_reduction_elements(r->msg);
    msg->link  = msg;
    return true;
}

/* Sends the partial result, or the result, as a message; @p last: this PE no longer needs it. */
static void reduction_send(struct ski_pe *self, struct ski_reduction *r, int pe, uint32_t handler,
                           uint8_t want_credit, bool last)
{
    struct ski_reduction_head head = r->head;
    skua_msg                 *msg  = r->msg;

    if (r->small) {
        reduction_send_small(r, pe, handler, want_credit);
        return;
    }
    head.round       = (uint8_t)r->round;
    head.want_credit = want_credit;
    if (!msg && head.algorithm == SKI_REDUCTION_SEGMENTED &&
        ski_split_send(self, r->split, pe, handler, &head, r->partial))
        return;
    if (msg && !last && r->bytes >= REDUCTION_IN_PLACE_FROM &&
        reduction_send_in_place(self, r, pe, handler, &head))
        return;
    if (!msg || (!last && r->bytes + sizeof r->head > SKUA_INLINE_MAX)) {
        msg  = ski_reduction_msg(r->bytes);
        last = true;
        memcpy(ski_reduction_elements(msg), r->partial, r->bytes);
    } else if (last) {
        r->msg = NULL;
    }
    *ski_reduction_head_of(msg) = head;
    if (msg->bytes > SKUA_INLINE_MAX) {
        skua_send(pe, (skua_handler){handler}, msg);
        return;
    }
    skua_send_copy(pe, (skua_handler){handler}, skua_msg_data(msg), msg->bytes);
    if (last)
        skua_msg_free(msg);
}

/* ---- rounds ---------------------------------------------------------------- */

/* Results of a round. */
enum reduction_progress {
    REDUCTION_WAITS,     /* a contribution is missing                      */
    REDUCTION_CONTINUES, /* the next round can begin                       */
    REDUCTION_SENT_UP    /* another PE has the partial result from now on  */
};

/* Returns the delegate of a block in the reduction to a root with @p head.  The PE before the root
 * is a delegate of calls that are not split.  Segments, each of which has another root, go along
 * the tree whose only target is the root. */
static int reduction_delegate(const struct ski_pe *self, const struct ski_reduction_head *head,
                              int block, int level)
{
    if (head->algorithm == SKI_REDUCTION_WHOLE)
        return ski_block_root_delegate(block, level, head->root, self->pes);
    return ski_block_delegate(block, level, head->root, self->pes);
}

/* Returns the PE that holds the partial result of the block of this PE after the round @p level of
 * the reduction to a root with @p head. */
static int reduction_parent(const struct ski_pe *self, const struct ski_reduction_head *head,
                            int level)
{
    return reduction_delegate(self, head, ski_block_of(self->pe, level + 1), level + 1);
}

/* Returns the PE that sends the partial result of the sibling block in the round @p level of the
 * reduction to a root with @p head. */
static int reduction_child(const struct ski_pe *self, const struct ski_reduction_head *head,
                           int level)
{
    return reduction_delegate(self, head, ski_block_sibling(self->pe, level), level);
}

/* Returns the PE that sends the partial result of the sibling block in the round @p level of an
 * exchange. */
static int reduction_exchange_child(const struct ski_pe *self, int level)
{
    return ski_block_delegate(ski_block_sibling(self->pe, level), level, self->pe, self->pes);
}

bool ski_reduction_sends_first(const struct ski_pe *self, const struct ski_reduction_head *head)
{
    return ski_block_sibling(self->pe, 0) < self->pes &&
           reduction_parent(self, head, 0) != self->pe;
}

/* Returns whether the PE that combines a contribution to @p r, which was sent as a message, grants
 * a credit for it. */
static bool reduction_is_credited(const struct ski_reduction *r)
{
    return !r->head.all;
}

/* Sends the partial result to @p pe.  Returns whether it was sent in a slot, which needs no
 * credit. */
static bool reduction_send_up(struct ski_pe *self, struct ski_reduction *r, int pe, bool last)
{
    struct ski_reduction_slot *slot =
        r->small ? ski_board_reserve(self, pe, r->round, r->small_call) : NULL;

    if (!slot) {
        reduction_send(self, r, pe, SKI_HANDLER_REDUCTION,
                       reduction_is_credited(r) ? ski_window_request(&self->collectives->window, pe)
                                                : 0,
                       last);
        return false;
    }
    slot->head = r->head;
    memcpy(slot->elements, r->partial, r->bytes);
    ski_board_publish(self, pe, slot, r->small_call);
    return true;
}

/* Sends the partial result to all PEs for which this PE is the delegate of its block. */
static void reduction_send_round(struct ski_pe *self, struct ski_reduction *r, int level)
{
    int ignores = ski_block_ignores(self->pe, level, self->pes), bits = 0;

    do {
        int pe = (self->pe ^ (1 << level)) | bits;

        if (pe < self->pes)
            reduction_send_up(self, r, pe, false);
        bits = (bits - ignores) & ignores; /* the next subset of `ignores` */
    } while (bits);
}

/* Runs a round of an exchange. */
static enum reduction_progress reduction_step_exchange(struct ski_pe *self, struct ski_reduction *r,
                                                       int level)
{
    if (!r->sent)
        reduction_send_round(self, r, level);
    r->sent = !reduction_combine_arrived(self, r, reduction_exchange_child(self, level));
    return r->sent ? REDUCTION_WAITS : REDUCTION_CONTINUES;
}

/* Grants the credit of a contribution to the PE that has sent it. */
static void reduction_credit(struct ski_pe *self, const struct ski_reduction *r,
                             skua_msg *contribution)
{
    ski_window_credit(self, contribution->source, ski_reduction_cost(self, &r->head, r->bytes),
                      ski_reduction_head_of(contribution)->want_credit);
}

bool ski_reduction_combine_call(struct ski_pe *self, struct ski_reduction *r, const void *data)
{
    skua_msg *contribution = self->collectives->levels > 0 ? r->received[0] : NULL;

    if (!contribution || r->head.all || r->head.algorithm != SKI_REDUCTION_WHOLE ||
        !ski_op_commutes((skua_op)r->head.op) ||
        (uintptr_t)data % ski_type_size((skua_type)r->head.type) ||
        reduction_parent(self, &r->head, 0) != self->pe)
        return false;
    ski_assert(r->round == 0 && contribution->bytes == sizeof r->head + r->bytes);
    reduction_credit(self, r, contribution);
    r->received[0] = NULL;
    r->msg         = contribution;
    r->partial     = ski_reduction_elements(contribution);
    reduction_apply(self, r, r->partial, data);
    r->round = 1;
    return true;
}

/* Runs a round of a reduction to a root. */
static enum reduction_progress reduction_step_to_root(struct ski_pe *self, struct ski_reduction *r,
                                                      int level)
{
    int       parent       = reduction_parent(self, &r->head, level);
    skua_msg *contribution = r->received[level];

    if (parent != self->pe) {
        r->slotted = reduction_send_up(self, r, parent, true);
        return REDUCTION_SENT_UP;
    }
    if (contribution && reduction_is_credited(r))
        reduction_credit(self, r, contribution);
    return reduction_combine_arrived(self, r, reduction_child(self, &r->head, level))
               ? REDUCTION_CONTINUES
               : REDUCTION_WAITS;
}

/* Runs the current round.  A block without a sibling has nothing to do in it. */
static enum reduction_progress reduction_step(struct ski_pe *self, struct ski_reduction *r)
{
    int level = (int)r->round;

    ski_assert(r->partial && level < self->collectives->levels);
    if (ski_block_sibling(self->pe, level) >= self->pes)
        return REDUCTION_CONTINUES;
    return ski_reduction_is_exchange(&r->head) ? reduction_step_exchange(self, r, level)
                                               : reduction_step_to_root(self, r, level);
}

/* ---- the end --------------------------------------------------------------- */

/* Sends the result to the PEs whose partial results this PE has received. */
static void reduction_send_down(struct ski_pe *self, struct ski_reduction *r)
{
    int to = -1;

    while (r->round-- > 0) {
        if (ski_block_sibling(self->pe, (int)r->round) >= self->pes)
            continue;
        if (to >= 0)
            reduction_send(self, r, to, SKI_HANDLER_REDUCTION_RESULT, 0, false);
        to = reduction_child(self, &r->head, (int)r->round);
    }
    if (to >= 0)
        reduction_send(self, r, to, SKI_HANDLER_REDUCTION_RESULT, 0, true);
}

/* Distributes the result of a segment that all PEs get: to the buffer of the call, unless it is
 * there already, and from there down the tree. */
static void reduction_distribute(struct ski_pe *self, struct ski_reduction *r)
{
    char *place = ski_split_place(self, r->split, &r->head);

    if (r->msg) {
        ski_halves_copy(self, place, r->partial, r->bytes);
        skua_msg_free(r->msg);
    }
    r->msg     = NULL;
    r->partial = place;
    reduction_send_down(self, r);
}

/* Ends a reduction whose result is on this PE, and which is not all of a call. */
static void reduction_finish_part(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_reduction_head head  = r->head;
    struct ski_split         *split = r->split;
    skua_msg                 *msg;

    if (head.algorithm == SKI_REDUCTION_SEGMENTED && head.all)
        reduction_distribute(self, r);
    msg = r->msg;
    ski_reduction_release(self, r);
    ski_split_done(self, split, &head, msg);
}

/* Ends a reduction whose result is on this PE. */
static void reduction_finish(struct ski_pe *self, struct ski_reduction *r)
{
    if (r->head.algorithm != SKI_REDUCTION_WHOLE) {
        reduction_finish_part(self, r);
        return;
    }
    ski_window_release(&self->collectives->window, ski_reduction_cost(self, &r->head, r->bytes),
                       "reduction", self->pe);
    ski_reduction_remove(self, r);
    if (r->msg)
        ski_complete_with(r->done, r->msg);
    else
        skua_complete(r->done, r->partial, r->bytes);
    ski_reduction_recycle(self->collectives, r); /* the completion has used its elements */
    ski_window_open(self, &self->collectives->window);
}

/* Ends a reduction whose partial result was sent towards the root, unless its result comes back. */
static void reduction_sent_up(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_split         *split   = r->split;
    struct ski_reduction_head head    = r->head;
    bool                      slotted = r->slotted;

    r->sent = true;
    self->collectives->awaited -= r->awaits;
    r->awaits = false;
    if (head.all)
        return; /* the result follows */
    if (slotted)
        ski_window_release(&self->collectives->window, ski_reduction_cost(self, &r->head, r->bytes),
                           "reduction", self->pe);
    ski_reduction_release(self, r);
    if (head.algorithm != SKI_REDUCTION_WHOLE)
        ski_split_done(self, split, &head, NULL);
    else if (slotted)
        ski_window_open(self, &self->collectives->window);
}

void ski_reduction_advance(struct ski_pe *self, struct ski_reduction *r)
{
    uint32_t                levels = (uint32_t)self->collectives->levels;
    enum reduction_progress step   = REDUCTION_CONTINUES;

    if (!r->partial)
        return;
    while (r->round < levels && (step = reduction_step(self, r)) == REDUCTION_CONTINUES)
        r->round++;
    if (step == REDUCTION_CONTINUES)
        reduction_finish(self, r);
    else if (step == REDUCTION_SENT_UP)
        reduction_sent_up(self, r);
    else if (!r->awaits && !r->head.all && r->head.root != self->pe) {
        r->awaits = true;
        self->collectives->awaited++;
    }
}

/* ---- slots ------------------------------------------------------------------ */

/* Returns whether senders may have written a slot of @p r: the published `low` allows it. */
static bool reduction_slot_allowed(const struct ski_collectives *c, const struct ski_reduction *r)
{
    return r->small_call - c->published_low < SKI_SLOT_DEPTH;
}

/* Advances the first small call whose slot is filled.  Only one: its completion may make calls,
 * which change the list.  Returns whether there was one. */
static bool reduction_poll_slots(struct ski_pe *self)
{
    struct ski_collectives *c = self->collectives;
    struct ski_reduction   *r = c->small;

    while (r && reduction_slot_allowed(c, r) && !reduction_filled_slot(self, r))
        r = r->small_next;
    if (!r || !reduction_slot_allowed(c, r))
        return false;
    self->idle_passes = 0;
    ski_reduction_advance(self, r);
    return true;
}

/* Requests a wakeup for each small call in flight.  Returns false if a slot is filled already. */
static bool reduction_arm_slots(struct ski_pe *self)
{
    const struct ski_collectives *c = self->collectives;

    for (struct ski_reduction *r = c->small; r && reduction_slot_allowed(c, r); r = r->small_next)
        if (!ski_board_arm(self, r->round, r->small_call))
            return false;
    return true;
}

const struct ski_polled ski_reductions_polled = {reduction_poll_slots, reduction_arm_slots};

/* ---- packets --------------------------------------------------------------- */

/* Returns whether a message with @p head may have @p bytes of elements. */
static bool reduction_bytes_valid(const struct ski_pe *self, const struct ski_reduction_head *head,
                                  size_t bytes)
{
    size_t size = ski_type_size(head->type);

    switch (head->algorithm) {
    case SKI_REDUCTION_WHOLE: return head->count <= bytes / size && head->count * size == bytes;
    case SKI_REDUCTION_SEGMENTED: return bytes && bytes % size == 0 && bytes / size <= head->count;
    case SKI_REDUCTION_SHARED:
        return !ski_job_is_distributed(self->job) &&
               bytes == sizeof(uint64_t) * (head->all ? (size_t)self->pes : 1);
    default: return !ski_job_is_distributed(self->job) && bytes == 0;
    }
}

/* Returns whether the values of a received head are valid. */
static bool reduction_head_valid(const struct ski_pe *self, const struct ski_reduction_head *head,
                                 size_t bytes)
{
    return (uint32_t)head->root < (uint32_t)self->pes &&
           head->algorithm < SKI_REDUCTION_ALGORITHMS &&
           ski_op_function((skua_op)head->op, head->type) &&
           reduction_bytes_valid(self, head, bytes) &&
           ski_reduction_number_valid(self->collectives, head->number);
}

/* Returns whether @p msg agrees with the record @p r, unless NULL, or has a valid head.  A head
 * that agrees with a record needs no other check.  A valid one that does not is a mismatch of
 * calls, which ski_reduction_get() reports. */
static bool reduction_msg_valid(const struct ski_pe *self, const struct ski_reduction *r,
                                const skua_msg *msg)
{
    const struct ski_reduction_head *head  = ski_reduction_head_of((skua_msg *)msg);
    size_t                           bytes = msg->bytes - sizeof *head;

    return head->algorithm != SKI_REDUCTION_HOSTS && head->algorithm != SKI_REDUCTION_HALVED &&
           (SKI_LIKELY(r && ski_reduction_agrees(r, head, bytes)) ||
            reduction_head_valid(self, head, bytes));
}

/* Returns whether @p source sends this PE a partial result in the round @p level of the reduction
 * with @p head. */
static bool reduction_receives_from(const struct ski_pe             *self,
                                    const struct ski_reduction_head *head, int level, int source)
{
    if (ski_reduction_is_exchange(head))
        return reduction_exchange_child(self, level) == source;
    return reduction_child(self, head, level) == source &&
           reduction_parent(self, head, level) == self->pe;
}

/* Returns whether this PE expects a partial result with @p head from @p source.  @p r is the
 * record, or NULL if this is the first contribution. */
static bool reduction_expects(const struct ski_pe *self, const struct ski_reduction *r,
                              const struct ski_reduction_head *head, int source)
{
    int level = head->round;

    if (ski_reduction_is_collected(head))
        return head->root == self->pe && source != self->pe &&
               (uint32_t)source < (uint32_t)self->pes &&
               !(r && ski_reduction_has_address(r, source));
    return level < self->collectives->levels && ski_block_sibling(self->pe, level) < self->pes &&
           (!r || (level >= (int)r->round && !r->received[level])) &&
           reduction_receives_from(self, head, level, source);
}

void ski_on_reduce(skua_msg *msg)
{
    struct ski_pe                   *self = ski_self;
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);
    struct ski_reduction            *r    = ski_reduction_find(self->collectives, head->number);

    if (SKI_UNLIKELY(!reduction_msg_valid(self, r, msg) ||
                     !reduction_expects(self, r, head, msg->source))) {
        ski_net_drop(self, msg);
        return;
    }
    if (ski_reduction_is_collected(head)) {
        ski_reduction_collect(self, msg);
        return;
    }
    r = ski_reduction_get(self, head, msg->bytes - sizeof *head, msg->source);
    r->received[head->round] = msg;
    ski_reduction_advance(self, r);
}

/* Returns the record of the reduction that @p head belongs to, if this PE waits for its result of
 * @p bytes from @p source, the PE that it has sent its partial result to.  Else NULL. */
static struct ski_reduction *reduction_awaiting_result(struct ski_pe                   *self,
                                                       const struct ski_reduction_head *head,
                                                       size_t bytes, int source)
{
    struct ski_reduction *r = ski_reduction_find(self->collectives, head->number);

    return r && r->sent && r->head.all && r->head.algorithm == SKI_REDUCTION_SEGMENTED &&
                   !r->in_place && ski_reduction_agrees(r, head, bytes) &&
                   reduction_parent(self, &r->head, (int)r->round) == source
               ? r
               : NULL;
}

size_t ski_result_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct ski_reduction_head head;
    struct ski_reduction     *r;

    memcpy(&head, data, sizeof head);
    r = reduction_awaiting_result(self, &head, msg->bytes - sizeof head, msg->source);
    if (!r)
        return 0;
    r->in_place = true;
    *to         = ski_split_place(self, r->split, &r->head);
    return r->bytes;
}

/* The message has this PE as its source, which no packet from another PE has. */
skua_msg *ski_result_placed(struct ski_pe *self, const char *data, bool whole)
{
    skua_msg                  *msg  = ski_reduction_msg(0);
    struct ski_reduction_head *head = ski_reduction_head_of(msg);
    struct ski_reduction      *r;

    memcpy(head, data, sizeof *head);
    msg->handler = SKI_HANDLER_REDUCTION_RESULT;
    msg->source  = self->pe;
    if (whole)
        return msg;
    r = ski_reduction_find(self->collectives, head->number);
    if (r)
        r->in_place = false;
    skua_msg_free(msg);
    return NULL;
}

/* Returns the record of the reduction whose result was received in place, as @p msg says, with
 * its partial result set to that place; NULL: there is none. */
static struct ski_reduction *reduction_received_in_place(struct ski_pe *self, const skua_msg *msg)
{
    struct ski_reduction *r =
        ski_reduction_find(self->collectives, ski_reduction_head_of((skua_msg *)msg)->number);

    if (!r || !r->in_place)
        return NULL;
    ski_assert(!r->msg);
    r->partial = ski_split_place(self, r->split, &r->head);
    return r;
}

/* Handles a result from the parent: this PE has sent its partial result up before. */
void ski_on_result(skua_msg *msg)
{
    struct ski_pe                   *self     = ski_self;
    const struct ski_reduction_head *head     = ski_reduction_head_of(msg);
    bool                             in_place = msg->source == self->pe;
    struct ski_reduction            *r =
        in_place ? reduction_received_in_place(self, msg)
                            : reduction_awaiting_result(self, head, msg->bytes - sizeof *head, msg->source);

    if (!r) {
        ski_net_drop(self, msg);
        return;
    }
    if (in_place) {
        skua_msg_free(msg);
        reduction_finish(self, r);
        return;
    }
    r->msg     = msg;
    r->partial = ski_reduction_elements(msg);
    reduction_finish(self, r);
}

/* ---- large calls ---------------------------------------------------------- */

void ski_reduction_join(struct ski_pe *self, const struct ski_reduction_head *head,
                        struct ski_split *split, char *partial, skua_msg *msg, size_t bytes)
{
    struct ski_reduction *r = ski_reduction_get(self, head, bytes, self->pe);

    ski_assert(!r->partial && partial && head->algorithm != SKI_REDUCTION_WHOLE);
    r->split   = split;
    r->partial = partial;
    r->msg     = msg;
    ski_reduction_advance(self, r);
}
