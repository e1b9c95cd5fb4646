/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.c - records, rounds and calls (see reduction.h). */
#include "core/collective/reduction.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/reduction_order.h"
#include "core/collective/reduction_slot.h"
#include "core/pe/builtin.h"
#include "core/sched/completion.h"
#include "core/sched/scheduler.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/message.h"

#define FAR_AHEAD (UINT64_C(1) << 24) /* reductions that PEs may be apart */

_Static_assert(sizeof(struct ski_reduction_head) == SKI_REDUCE_LEAST, "see builtin.h");
_Static_assert(SKI_REDUCE_LEAST == SKI_COMPLETE_LEAST, "results go into futures as they are");

/* ---- records ------------------------------------------------------------- */

/* "skua_reduce of 3 x double by sum to PE 0": the call that @p head is of. */
static const char *reduction_text(const struct ski_reduction_head *head, char *text, size_t room)
{
    int n;

    if (head->barrier) {
        snprintf(text, room, "skua_barrier");
        return text;
    }
    n = snprintf(text, room, "skua_%s of %llu x %s by %s", head->all ? "allreduce" : "reduce",
                 (unsigned long long)head->count, ski_type_name(head->type),
                 ski_op_name((skua_op){head->op}));
    if (!head->all)
        snprintf(text + n, room - (size_t)n, " to PE %d", head->root);
    return text;
}

static SKI_COLD _Noreturn void reduction_disagree(const struct ski_reduction      *r,
                                                  const struct ski_reduction_head *head, int from)
{
    char text[2][160];

    ski_misuse("collective call %llu differs between PEs: PE %d calls %s, PE %d calls %s; all PEs "
               "make the same collective calls in the same order",
               (unsigned long long)r->head.call + 1, r->from,
               reduction_text(&r->head, text[0], sizeof text[0]), from,
               reduction_text(head, text[1], sizeof text[1]));
}

static struct ski_reduction **reduction_slot(struct ski_collectives *c, uint64_t number)
{
    return &c->slot[number & (c->slots - 1)];
}

static struct ski_reduction *reduction_find(struct ski_collectives *c, uint64_t number)
{
    struct ski_reduction *r = c->slots ? *reduction_slot(c, number) : NULL;

    return r && r->head.number == number ? r : NULL;
}

/* Numbers in flight lie close together: with enough slots each has its own. */
static void reduction_grow(struct ski_collectives *c)
{
    struct ski_reduction **old   = c->slot;
    size_t                 slots = c->slots;

    c->slots = slots ? 2 * slots : 16;
    c->slot  = ski_calloc(c->slots, sizeof *c->slot);
    for (size_t i = 0; i < slots; i++)
        if (old[i])
            *reduction_slot(c, old[i]->head.number) = old[i];
    free(old);
}

static void reduction_insert(struct ski_collectives *c, struct ski_reduction *r)
{
    while (c->slots == 0 || *reduction_slot(c, r->head.number))
        reduction_grow(c);
    *reduction_slot(c, r->head.number) = r;
}

/* A small call begins: its partial result lies in the record. */
static void reduction_link_small(struct ski_pe *self, struct ski_reduction *r, uint64_t call)
{
    struct ski_collectives *c = self->collectives;

    ski_assert(call == c->small_begun);
    r->small       = true;
    r->small_call  = call;
    r->small_next  = NULL;
    r->small_at    = c->small_end;
    *c->small_end  = r;
    c->small_end   = &r->small_next;
    c->small_begun = call + 1;
    if (c->board)
        self->queue.attention |= SKI_EVENT_POLLED;
}

/* The oldest small call that is in flight bounds the slots that senders may write. */
static void reduction_unlink_small(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_collectives *c = self->collectives;

    *r->small_at = r->small_next;
    if (r->small_next)
        r->small_next->small_at = r->small_at;
    else
        c->small_end = r->small_at;
    if (!c->small)
        self->queue.attention &= ~(uint32_t)SKI_EVENT_POLLED;
    if (c->board)
        ski_board_finish(self, c->small ? c->small->small_call : c->small_begun);
}

/* Messages and slots find it no more. */
static void reduction_remove(struct ski_pe *self, struct ski_reduction *r)
{
    if (r->small)
        reduction_unlink_small(self, r);
    *reduction_slot(self->collectives, r->head.number) = NULL;
}

static void reduction_recycle(struct ski_collectives *c, struct ski_reduction *r)
{
    r->next  = c->spare;
    c->spare = r;
}

static void reduction_forget(struct ski_pe *self, struct ski_reduction *r)
{
    reduction_remove(self, r);
    reduction_recycle(self->collectives, r);
}

/* What a record of this job takes, with what may come in every round. */
static size_t reduction_size(const struct ski_pe *self)
{
    return sizeof(struct ski_reduction) + (size_t)self->collectives->levels * sizeof(skua_msg *);
}

static struct ski_reduction *reduction_new(struct ski_pe *self)
{
    struct ski_collectives *c = self->collectives;
    struct ski_reduction   *r = c->spare;

    if (r)
        c->spare = r->next;
    else
        r = ski_malloc(reduction_size(self));
    memset(r, 0, offsetof(struct ski_reduction, elements));
    memset(r->in, 0, (size_t)c->levels * sizeof *r->in);
    return r;
}

void ski_reductions_destroy(struct ski_collectives *c)
{
    for (size_t i = 0; i < c->slots; i++)
        free(c->slot[i]);
    free(c->slot);
    while (c->spare) {
        struct ski_reduction *gone = c->spare;

        c->spare = gone->next;
        free(gone);
    }
    ski_splits_destroy(c);
}

/* Whether two PEs made the same call, as far as it can be seen. */
static bool reduction_agrees(const struct ski_reduction *r, const struct ski_reduction_head *head,
                             size_t bytes)
{
    return r->head.op == head->op && r->head.type == head->type && r->head.root == head->root &&
           r->head.count == head->count && r->head.all == head->all && r->head.way == head->way &&
           r->head.call == head->call && r->head.barrier == head->barrier && r->bytes == bytes;
}

/* The record of the reduction that @p head belongs to, made if it is new. */
static struct ski_reduction *reduction_record(struct ski_pe                   *self,
                                              const struct ski_reduction_head *head, size_t bytes,
                                              int from)
{
    struct ski_reduction *r = reduction_find(self->collectives, head->number);

    if (r) {
        if (SKI_UNLIKELY(!reduction_agrees(r, head, bytes)))
            reduction_disagree(r, head, from);
        return r;
    }
    r             = reduction_new(self);
    r->head       = *head;
    r->head.round = 0; /* of the message, not of the reduction */
    r->head.ask   = 0;
    r->bytes      = bytes;
    r->from       = from;
    reduction_insert(self->collectives, r);
    return r;
}

/* ---- partial results ------------------------------------------------------- */

skua_msg *ski_reduction_msg(size_t bytes)
{
    return skua_msg_alloc(sizeof(struct ski_reduction_head) + bytes);
}

/* An exchange: every PE is the target of the reduction. */
static bool reduction_exchanges(const struct ski_reduction_head *head)
{
    return head->all && head->way != SKI_WAY_SEGMENT;
}

static void reduction_apply(const struct ski_reduction *r, char *into, const char *from)
{
    bool      addresses = r->head.way == SKI_WAY_EXPOSE;
    skua_type type      = addresses ? SKUA_UINT64 : (skua_type)r->head.type;
    skua_op   op        = addresses ? SKUA_BIT_OR : (skua_op){r->head.op};

    if (r->bytes)
        ski_op_function(op, type)(into, from, r->bytes >> ski_type_shift(type), type);
}

/* Combines what came in this round into the partial result, the lower PEs first.  The result
 * lies where the lower one did: in what came, perhaps, which then takes the other's place. */
static void reduction_combine(struct ski_reduction *r, bool lower)
{
    skua_msg *in     = r->in[r->round];
    char     *theirs = ski_reduction_elements(in);

    r->in[r->round] = NULL;
    if (lower) {
        reduction_apply(r, r->mine, theirs);
    } else if (r->msg) {
        skua_msg *out = r->msg;

        reduction_apply(r, theirs, r->mine);
        r->msg  = in;
        r->mine = theirs;
        in      = out;
    } else {
        reduction_apply(r, theirs, r->mine);
        memcpy(r->mine, theirs, r->bytes);
    }
    skua_msg_free(in);
}

/* Returns the slot that @p r waits for, if it is filled.  Operators and completions are code of
 * the program, which wait for its `begin` as messages do. */
static const struct ski_reduction_slot *reduction_slotted(const struct ski_pe        *self,
                                                          const struct ski_reduction *r)
{
    return r->small && self->collectives->board && !self->before_wait
               ? ski_board_find(self, r->round, r->small_call)
               : NULL;
}

/* Combines the contribution of PE @p from, which lies in a slot. */
static void reduction_combine_slot(struct ski_pe *self, struct ski_reduction *r,
                                   const struct ski_reduction_slot *slot, int from)
{
    char *other = r->mine == r->elements[0] ? r->elements[1] : r->elements[0];

    if (SKI_UNLIKELY(memcmp(&r->head, &slot->head, sizeof r->head) != 0))
        reduction_disagree(r, &slot->head, from);
    ski_board_count(self);
    if (r->bytes == 0)
        return;
    if (self->pe < from) {
        reduction_apply(r, r->mine, slot->elements);
        return;
    }
    memcpy(other, slot->elements, r->bytes);
    reduction_apply(r, other, r->mine);
    r->mine = other;
}

/* Combines what has come in the round that @p r is in, from PE @p from.  False: nothing has. */
static bool reduction_take(struct ski_pe *self, struct ski_reduction *r, int from)
{
    const struct ski_reduction_slot *slot;

    if (r->in[r->round]) {
        reduction_combine(r, self->pe < from);
        return true;
    }
    slot = reduction_slotted(self, r);
    if (slot)
        reduction_combine_slot(self, r, slot, from);
    return slot != NULL;
}

/* A small partial result, from its record. */
static void reduction_send_small(const struct ski_reduction *r, int pe, uint32_t handler, bool ask)
{
    struct {
        struct ski_reduction_head head;
        char                      elements[SKI_SLOT_BYTES];
    } packet;

    packet.head       = r->head;
    packet.head.round = (uint8_t)r->round;
    packet.head.ask   = ask;
    memcpy(packet.elements, r->mine, r->bytes);
    skua_send_copy(pe, (skua_handler){handler}, &packet, sizeof packet.head + r->bytes);
}

/* Sends the partial result, or the result; @p last: it is not needed here any more. */
static void reduction_send(struct ski_reduction *r, int pe, uint32_t handler, bool ask, bool last)
{
    skua_msg *msg = r->msg;

    if (r->small) {
        reduction_send_small(r, pe, handler, ask);
        return;
    }
    if (!msg || (!last && r->bytes + sizeof r->head > SKUA_INLINE_MAX)) {
        msg  = ski_reduction_msg(r->bytes);
        last = true;
        memcpy(ski_reduction_elements(msg), r->mine, r->bytes);
    } else if (last) {
        r->msg = NULL;
    }
    *ski_reduction_head_of(msg)       = r->head;
    ski_reduction_head_of(msg)->round = (uint8_t)r->round;
    ski_reduction_head_of(msg)->ask   = ask;
    if (msg->bytes > SKUA_INLINE_MAX) {
        skua_send(pe, (skua_handler){handler}, msg);
        return;
    }
    skua_send_copy(pe, (skua_handler){handler}, skua_msg_data(msg), msg->bytes);
    if (last)
        skua_msg_free(msg);
}

/* ---- rounds ---------------------------------------------------------------- */

enum step { WAITS, GOES_ON, IS_AWAY };

/* The PE that holds the partial result after a round, and the one that sends its half. */
static int reduction_parent(const struct ski_pe *self, int pe, int level, int root)
{
    return ski_block_delegate(ski_block_of(pe, level + 1), level + 1, root, self->pes);
}

static int reduction_child(const struct ski_pe *self, int level, int root)
{
    return ski_block_delegate(ski_block_sibling(self->pe, level), level, root, self->pes);
}

static struct ski_reduction_slot *reduction_reserve(struct ski_pe *self, bool small, int pe,
                                                    uint32_t round, uint64_t small_call)
{
    return small && self->collectives->board ? ski_board_reserve(self, pe, round, small_call)
                                             : NULL;
}

/* Sends a partial result to @p pe.  True: it went into a slot, and needs no credit. */
static bool reduction_send_up(struct ski_pe *self, struct ski_reduction *r, int pe, bool ask,
                              bool last)
{
    struct ski_reduction_slot *slot =
        reduction_reserve(self, r->small, pe, r->round, r->small_call);

    if (!slot) {
        reduction_send(r, pe, SKI_HANDLER_REDUCTION, ask, last);
        return false;
    }
    slot->head = r->head;
    memcpy(slot->elements, r->mine, r->bytes);
    ski_board_publish(self, pe, slot, r->small_call);
    return true;
}

/* To all PEs that have this one as the delegate of its block. */
static void reduction_send_round(struct ski_pe *self, struct ski_reduction *r, int level)
{
    int ignores = ski_block_ignores(self->pe, level, self->pes), bits = 0;

    do {
        int pe = (self->pe ^ (1 << level)) | bits;

        if (pe < self->pes)
            reduction_send_up(self, r, pe, false, false);
        bits = (bits - ignores) & ignores; /* the next subset */
    } while (bits);
}

static enum step reduction_exchange(struct ski_pe *self, struct ski_reduction *r, int level)
{
    if (!r->sent)
        reduction_send_round(self, r, level);
    r->sent = !reduction_take(self, r, reduction_child(self, level, self->pe));
    return r->sent ? WAITS : GOES_ON;
}

static enum step reduction_climb(struct ski_pe *self, struct ski_reduction *r, int level)
{
    int       parent = reduction_parent(self, self->pe, level, r->head.root);
    skua_msg *in     = r->in[level];

    if (parent != self->pe) {
        r->slotted = reduction_send_up(self, r, parent, ski_window_asks(self->collectives), true);
        return IS_AWAY;
    }
    if (in && !r->head.all && r->head.way != SKI_WAY_EXPOSE)
        ski_window_credit(self, in->source, ski_call_cost(r->bytes),
                          ski_reduction_head_of(in)->ask);
    return reduction_take(self, r, reduction_child(self, level, r->head.root)) ? GOES_ON : WAITS;
}

static enum step reduction_step(struct ski_pe *self, struct ski_reduction *r)
{
    int level = (int)r->round;

    if (ski_block_sibling(self->pe, level) >= self->pes)
        return GOES_ON;
    return reduction_exchanges(&r->head) ? reduction_exchange(self, r, level)
                                         : reduction_climb(self, r, level);
}

/* ---- the end --------------------------------------------------------------- */

/* The result, to those that have sent their partial results here. */
static void reduction_pass_down(struct ski_pe *self, struct ski_reduction *r)
{
    int to = -1;

    while (r->round-- > 0) {
        if (ski_block_sibling(self->pe, (int)r->round) >= self->pes)
            continue;
        if (to >= 0)
            reduction_send(r, to, SKI_HANDLER_REDUCTION_RESULT, false, false);
        to = reduction_child(self, (int)r->round, r->head.root);
    }
    if (to >= 0)
        reduction_send(r, to, SKI_HANDLER_REDUCTION_RESULT, false, true);
}

/* The result of a segment that all PEs get: to its place here, if it is not there, and down. */
static void reduction_share(struct ski_pe *self, struct ski_reduction *r)
{
    if (r->msg)
        memcpy(ski_split_place(self, r->split, &r->head), r->mine, r->bytes);
    reduction_pass_down(self, r);
    if (r->msg)
        skua_msg_free(r->msg);
    r->msg = NULL;
}

/* The result is here. */
static void reduction_finish(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_reduction_head head  = r->head;
    struct ski_split         *split = r->split;
    skua_msg                 *msg;
    skua_completion           done;

    if (head.way == SKI_WAY_SEGMENT && head.all)
        reduction_share(self, r);
    msg = r->msg;
    if (head.way != SKI_WAY_WHOLE) {
        reduction_forget(self, r);
        ski_split_done(self, split, &head, msg);
        return;
    }
    done = r->done;
    ski_window_release(self, ski_call_cost(r->bytes), "reduction", self->pe);
    reduction_remove(self, r);
    if (msg)
        ski_complete_with(done, msg);
    else
        skua_complete(done, r->mine, r->bytes);
    reduction_recycle(self->collectives, r); /* its result has been used */
    ski_window_open(self);
}

/* The partial result was sent to the root, or on the way there. */
static void reduction_away(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_split         *split   = r->split;
    struct ski_reduction_head head    = r->head;
    bool                      slotted = r->slotted;

    r->sent = true;
    if (head.all)
        return; /* the result comes */
    if (slotted)
        ski_window_release(self, ski_call_cost(r->bytes), "reduction", self->pe);
    reduction_forget(self, r);
    if (head.way != SKI_WAY_WHOLE)
        ski_split_done(self, split, &head, NULL);
    else if (slotted)
        ski_window_open(self);
}

/* Goes on as far as what is here allows. */
static void reduction_advance(struct ski_pe *self, struct ski_reduction *r)
{
    uint32_t  levels = (uint32_t)self->collectives->levels;
    enum step step   = GOES_ON;

    if (!r->mine)
        return;
    while (r->round < levels && (step = reduction_step(self, r)) == GOES_ON)
        r->round++;
    if (step == GOES_ON)
        reduction_finish(self, r);
    else if (step == IS_AWAY)
        reduction_away(self, r);
}

/* ---- slots ------------------------------------------------------------------ */

/* Whether senders may have written the slot of @p r: they know `low` as it was published. */
static bool reduction_may_be_slotted(const struct ski_collectives *c, const struct ski_reduction *r)
{
    return r->small_call - c->published_low < SKI_SLOT_DEPTH;
}

/* One at a time: its completion may make calls. */
static bool reduction_poll(struct ski_pe *self)
{
    struct ski_collectives *c = self->collectives;
    struct ski_reduction   *r = c->small;

    while (r && reduction_may_be_slotted(c, r) && !reduction_slotted(self, r))
        r = r->small_next;
    if (!r || !reduction_may_be_slotted(c, r))
        return false;
    self->idle_passes = 0;
    reduction_advance(self, r);
    return true;
}

static bool reduction_doze(struct ski_pe *self)
{
    const struct ski_collectives *c = self->collectives;

    for (struct ski_reduction *r = c->small; r && reduction_may_be_slotted(c, r); r = r->small_next)
        if (!ski_board_doze(self, r->round, r->small_call))
            return false;
    return true;
}

const struct ski_polled ski_reductions_polled = {reduction_poll, reduction_doze};

/* ---- what comes ------------------------------------------------------------ */

/* Bytes of elements that a message with such a head has, at most. */
static bool reduction_fits(const struct ski_pe *self, const struct ski_reduction_head *head,
                           size_t bytes)
{
    size_t size = ski_type_size(head->type);

    switch (head->way) {
    case SKI_WAY_WHOLE: return head->count <= bytes / size && head->count * size == bytes;
    case SKI_WAY_SEGMENT: return bytes && bytes % size == 0 && bytes / size <= head->count;
    case SKI_WAY_EXPOSE:
        return !ski_job_is_distributed(self->job) && bytes == 8 * (size_t)self->pes;
    default: return !ski_job_is_distributed(self->job) && bytes == 0;
    }
}

/* Whether the head of a message that came is one that could have been sent. */
static bool reduction_possible(const struct ski_pe *self, const struct ski_reduction_head *head,
                               size_t bytes)
{
    uint64_t ahead = head->number - self->collectives->next;

    return (uint32_t)head->root < (uint32_t)self->pes && head->way < SKI_WAYS &&
           ski_op_function((skua_op){head->op}, head->type) && reduction_fits(self, head, bytes) &&
           (ahead <= FAR_AHEAD || -ahead <= FAR_AHEAD);
}

/* Whether what came is of the call that the record @p r is of, or, if there is none, may make one.
 * What agrees with a record needs no other look. */
static bool reduction_is_sound(const struct ski_pe *self, const struct ski_reduction *r,
                               const skua_msg *msg)
{
    const struct ski_reduction_head *head  = ski_reduction_head_of((skua_msg *)msg);
    size_t                           bytes = msg->bytes - sizeof *head;

    return SKI_LIKELY(r && reduction_agrees(r, head, bytes)) ||
           reduction_possible(self, head, bytes);
}

/* Whether the partial result of a round is one that this PE waits for from @p source; @p r: the
 * record, or NULL if this is the first part that came. */
static bool reduction_expects(const struct ski_pe *self, const struct ski_reduction *r,
                              const struct ski_reduction_head *head, int source)
{
    int level  = head->round;
    int target = reduction_exchanges(head) ? self->pe : head->root;

    return level < self->collectives->levels && ski_block_sibling(self->pe, level) < self->pes &&
           (!r || (level >= (int)r->round && !r->in[level])) &&
           reduction_child(self, level, target) == source &&
           reduction_parent(self, self->pe, level, target) == self->pe;
}

void ski_on_reduce(skua_msg *msg)
{
    struct ski_pe                   *self = ski_self;
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);
    struct ski_reduction            *r    = reduction_find(self->collectives, head->number);

    if (SKI_UNLIKELY(!reduction_is_sound(self, r, msg) ||
                     !reduction_expects(self, r, head, msg->source))) {
        ski_net_drop(self, msg);
        return;
    }
    r                  = reduction_record(self, head, msg->bytes - sizeof *head, msg->source);
    r->in[head->round] = msg;
    reduction_advance(self, r);
}

/* Returns the record of the reduction whose result @p head begins, with @p bytes of elements, if
 * this PE waits for that from @p source: the PE that it has sent its part to.  Else NULL. */
static struct ski_reduction *reduction_awaiting(struct ski_pe                   *self,
                                                const struct ski_reduction_head *head, size_t bytes,
                                                int source)
{
    struct ski_reduction *r = reduction_find(self->collectives, head->number);

    return r && r->sent && r->head.all && r->head.way == SKI_WAY_SEGMENT && !r->placed &&
                   reduction_agrees(r, head, bytes) &&
                   reduction_parent(self, self->pe, (int)r->round, r->head.root) == source
               ? r
               : NULL;
}

size_t ski_result_place(struct ski_pe *self, const skua_msg *msg, const char *data, void **to)
{
    struct ski_reduction_head head;
    struct ski_reduction     *r;

    memcpy(&head, data, sizeof head);
    r = reduction_awaiting(self, &head, msg->bytes - sizeof head, msg->source);
    if (!r)
        return 0;
    r->placed = true;
    *to       = ski_split_place(self, r->split, &r->head);
    return r->bytes;
}

/* A message from this PE itself: none such comes from another. */
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
    r = reduction_find(self->collectives, head->number);
    if (r)
        r->placed = false;
    skua_msg_free(msg);
    return NULL;
}

/* Returns the record whose result is where @p msg says, and sets where that is. */
static struct ski_reduction *reduction_result_placed(struct ski_pe *self, const skua_msg *msg)
{
    struct ski_reduction *r =
        reduction_find(self->collectives, ski_reduction_head_of((skua_msg *)msg)->number);

    if (!r || !r->placed)
        return NULL;
    ski_assert(!r->msg);
    r->mine = ski_split_place(self, r->split, &r->head);
    return r;
}

/* The result comes down to a PE that has sent its part up. */
void ski_on_result(skua_msg *msg)
{
    struct ski_pe                   *self   = ski_self;
    const struct ski_reduction_head *head   = ski_reduction_head_of(msg);
    bool                             placed = msg->source == self->pe;
    struct ski_reduction            *r =
        placed ? reduction_result_placed(self, msg)
                          : reduction_awaiting(self, head, msg->bytes - sizeof *head, msg->source);

    if (!r) {
        ski_net_drop(self, msg);
        return;
    }
    if (placed) {
        skua_msg_free(msg);
        reduction_finish(self, r);
        return;
    }
    r->msg  = msg;
    r->mine = ski_reduction_elements(msg);
    reduction_finish(self, r);
}

/* ---- calls --------------------------------------------------------------- */

void ski_reduction_fill(const struct ski_reduction_call *call, size_t offset, char *elements,
                        size_t bytes)
{
    skua_type type = (skua_type)call->head.type;

    if (bytes)
        memcpy(elements, (const char *)call->data + offset, bytes);
    ski_op_prepare((skua_op){call->head.op}, elements, bytes >> ski_type_shift(type), type);
}

void ski_reduction_join(struct ski_pe *self, const struct ski_reduction_head *head,
                        struct ski_split *split, char *mine, skua_msg *msg, size_t bytes)
{
    struct ski_reduction *r = reduction_record(self, head, bytes, self->pe);

    r->split = split;
    r->mine  = mine;
    r->msg   = msg;
    reduction_advance(self, r);
}

static bool reduction_is_small(const struct ski_reduction_call *call)
{
    return call->head.way == SKI_WAY_WHOLE && call->bytes <= SKI_SLOT_BYTES;
}

/* The PE that a contribution goes to in the first round, if that is one PE, or -1. */
static int reduction_first_target(const struct ski_pe *self, const struct ski_reduction_head *head)
{
    int to = self->pe ^ 1;

    if (to >= self->pes)
        return -1;
    return reduction_exchanges(head) || ((head->root ^ self->pe) & 1) ? to : -1;
}

/* The first round of a small call, before its record is made: other PEs wait for it.  False: it is
 * not over with that; *@p sent tells whether it was sent. */
static bool reduction_begin_in_slot(struct ski_pe *self, const struct ski_reduction_call *call,
                                    bool *sent)
{
    struct ski_collectives    *c    = self->collectives;
    int                        to   = reduction_first_target(self, &call->head);
    struct ski_reduction_slot *slot = reduction_reserve(self, to >= 0, to, 0, call->small_call);

    *sent = slot != NULL;
    if (!slot)
        return false;
    slot->head = call->head;
    ski_reduction_fill(call, 0, slot->elements, call->bytes);
    ski_board_publish(self, to, slot, call->small_call);
    if (call->head.all)
        return false;
    c->small_begun = call->small_call + 1;
    ski_board_finish(self, c->small ? c->small->small_call : c->small_begun);
    return true;
}

static void reduction_begin_small(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r;
    bool                  sent;

    if (reduction_begin_in_slot(self, call, &sent))
        return;
    r = reduction_record(self, &call->head, call->bytes, self->pe);
    reduction_link_small(self, r, call->small_call);
    self->collectives->in_flight += ski_call_cost(call->bytes);
    r->done = call->done;
    r->sent = sent;
    r->mine = r->elements[0];
    ski_reduction_fill(call, 0, r->mine, call->bytes);
    reduction_advance(self, r);
}

static void reduction_begin_whole(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r = reduction_record(self, &call->head, call->bytes, self->pe);

    self->collectives->in_flight += ski_call_cost(call->bytes);
    r->done = call->done;
    r->msg  = ski_reduction_msg(call->bytes);
    r->mine = ski_reduction_elements(r->msg);
    ski_reduction_fill(call, 0, r->mine, call->bytes);
    reduction_advance(self, r);
}

static void reduction_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    if (reduction_is_small(call))
        reduction_begin_small(self, call);
    else if (call->head.way == SKI_WAY_WHOLE)
        reduction_begin_whole(self, call);
    else
        ski_split_begin(self, call);
}

/* A call that found no room; of a handler, with a copy of its data. */
struct reduction_deferred {
    struct ski_deferred       base;
    struct ski_reduction_call call;
    _Alignas(16) char data[];
};

static void reduction_begin_deferred(struct ski_pe *self, struct ski_deferred *base)
{
    reduction_begin(self, &((struct reduction_deferred *)base)->call);
}

static void reduction_defer(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct reduction_deferred *deferred = ski_malloc(sizeof *deferred + call->bytes);

    deferred->base = (struct ski_deferred){.begin = reduction_begin_deferred};
    deferred->call = *call;
    if (call->bytes)
        memcpy(deferred->data, call->data, call->bytes);
    deferred->call.data = deferred->data;
    ski_window_defer(self, &deferred->base);
}

static SKI_COLD void reduction_later(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct reduction_deferred waiting = {.base.begin = reduction_begin_deferred, .call = *call};

    if (ski_window_waits(self))
        ski_window_wait(self, &waiting.base);
    else
        reduction_defer(self, call);
}

static void reduction_check_call(const struct ski_pe *self, const char *name,
                                 const struct ski_reduction_head *head)
{
    skua_op op = {head->op};

    if ((uint32_t)head->root >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", name, head->root,
                   self->pes - 1);
    if (!ski_op_function(op, head->type))
        ski_misuse("%s: there is no %s of type %s", name, ski_op_name(op),
                   ski_type_name(head->type));
    if (head->count > (uint64_t)PTRDIFF_MAX >> ski_type_shift(head->type))
        ski_misuse("%s: %llu elements are more than any memory holds", name,
                   (unsigned long long)head->count);
}

static void reduction_call(const char *name, struct ski_reduction_head head, const void *data,
                           skua_completion done)
{
    struct ski_pe            *self = SKI_SELF();
    struct ski_collectives   *c    = self->collectives;
    struct ski_reduction_call call = {.data = data, .done = done};

    reduction_check_call(self, name, &head);
    call.bytes  = head.count << ski_type_shift(head.type);
    head.way    = (uint8_t)ski_split_way(self, &head, call.bytes);
    head.number = c->next;
    head.call   = (uint32_t)c->calls++;
    c->next += ski_split_numbers(self, head.way, call.bytes);
    call.head = head;
    if (reduction_is_small(&call))
        call.small_call = c->small_calls++;
    if (SKI_UNLIKELY(ski_window_full(c)))
        reduction_later(self, &call);
    else
        reduction_begin(self, &call);
}

/* A number that is no type remains one in a byte. */
static uint8_t reduction_type(skua_type type)
{
    return (uint8_t)((unsigned)type <= SKUA_BYTE ? type : UINT8_MAX);
}

void skua_reduce(int root, skua_op op, skua_type type, const void *data, size_t count,
                 skua_completion done)
{
    struct ski_reduction_head head = {
        .count = count, .root = root, .op = (uint16_t)op.id, .type = reduction_type(type)};

    reduction_call(__func__, head, data, done);
}

void skua_allreduce(skua_op op, skua_type type, const void *data, size_t count,
                    skua_completion done)
{
    struct ski_reduction_head head = {
        .count = count, .op = (uint16_t)op.id, .type = reduction_type(type), .all = 1};

    reduction_call(__func__, head, data, done);
}

void skua_barrier(skua_completion done)
{
    struct ski_reduction_head head = {
        .op = (uint16_t)SKUA_SUM.id, .type = SKUA_INT32, .all = 1, .barrier = 1};

    reduction_call(__func__, head, NULL, done);
}
