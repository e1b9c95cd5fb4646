/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_call.c - skua_reduce(), skua_allreduce() and skua_barrier(): how calls begin, or are
 * deferred while the window of collectives is full (see reduction.h, collective.h). */
#include <string.h>

#include "base/memory.h"
#include "core/collective/collective_halves.h"
#include "core/collective/reduction.h"
#include "core/collective/reduction_order.h"
#include "core/collective/reduction_slot.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/scheduler.h"

#define REDUCTION_FORWARD_MAX 8 /* contributions that a call forwards for other PEs, at most */

void ski_reduction_fill(struct ski_pe *self, const struct ski_reduction_call *call, size_t offset,
                        char *elements, size_t bytes)
{
    skua_type type = (skua_type)call->head.type;

    ski_halves_copy(self, elements, (const char *)call->data + offset, bytes);
    ski_op_prepare((skua_op)call->head.op, elements, bytes >> ski_type_shift(type), type);
}

/* ---- forwarding ------------------------------------------------------------- */

/* Returns whether the handler of @p msg forwards or keeps a contribution, or counts credits.  It
 * runs no code of the program but operators, which a call may run anyway: it completes no call to
 * this PE that has been made, and begins none that was deferred. */
static bool reduction_is_forwarding(struct ski_pe *self, skua_msg *msg)
{
    const struct ski_collectives    *c    = self->collectives;
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);

    if (c->window.deferred)
        return false;
    if (msg->handler == SKI_HANDLER_COLLECTIVE_CREDIT)
        return true;
    return (msg->handler == SKI_HANDLER_REDUCTION ||
            msg->handler == SKI_HANDLER_REDUCTION_HALVED) &&
           !head->all && (head->root != self->pe || head->number >= c->next);
}

/* Forwards contributions of other PEs that have arrived.  Where roots take turns, a PE that was the
 * root contributes to the calls of all other roots in a row.  Those for which it forwards the
 * contributions of others would wait until it has made all these calls. */
static SKI_COLD void reduction_forward(struct ski_pe *self)
{
    if (self->thread || self->loop.depth > 0 || self->before_wait || ski_net_progressing(self))
        return;
    ski_net_progress(self);
    ski_scheduler_run_front(self, REDUCTION_FORWARD_MAX, reduction_is_forwarding);
}

/* ---- calls -------------------------------------------------------------------- */

/* Returns whether the elements of a call fit into a slot. */
static bool reduction_is_small(const struct ski_reduction_call *call)
{
    return call->head.algorithm == SKI_REDUCTION_WHOLE && call->bytes <= SKI_SLOT_BYTES;
}

/* Returns the PE that this PE sends its contribution to in the first round, or -1 if there is
 * none. */
static int reduction_first_target(const struct ski_pe *self, const struct ski_reduction_head *head)
{
    int to = self->pe ^ 1;

    if (to >= self->pes)
        return -1;
    return ski_reduction_is_exchange(head) ||
                   ski_block_root_delegate(ski_block_of(to, 1), 1, head->root, self->pes) == to
               ? to
               : -1;
}

/* Sends the contribution to the first round of a small call before its record is created, since
 * other PEs wait for it.  *@p sent: it was sent.  Returns whether the call is over on this PE. */
static bool reduction_begin_in_slot(struct ski_pe *self, const struct ski_reduction_call *call,
                                    bool *sent)
{
    struct ski_collectives    *c  = self->collectives;
    int                        to = reduction_first_target(self, &call->head);
    struct ski_reduction_slot *slot =
        to >= 0 ? ski_board_reserve(self, to, 0, call->small_call) : NULL;

    *sent = slot != NULL;
    if (!slot)
        return false;
    slot->head = call->head;
    ski_reduction_fill(self, call, 0, slot->elements, call->bytes);
    ski_board_publish(self, to, slot, call->small_call);
    if (call->head.all)
        return false;
    c->small_begun = call->small_call + 1;
    ski_board_finish(self, ski_collectives_low(c));
    return true;
}

/* Begins a small call. */
static void reduction_begin_small(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r;
    bool                  sent;

    if (reduction_begin_in_slot(self, call, &sent))
        return;
    r = ski_reduction_get(self, &call->head, call->bytes, self->pe);
    ski_reduction_link_small(self, r, call->small_call);
    self->collectives->window.in_flight += ski_call_cost(call->bytes);
    r->done    = call->done;
    r->sent    = sent;
    r->partial = r->elements[0];
    ski_reduction_fill(self, call, 0, r->partial, call->bytes);
    ski_reduction_advance(self, r);
}

/* Begins a call that is one reduction and does not fit into slots. */
static void reduction_begin_whole(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r = ski_reduction_get(self, &call->head, call->bytes, self->pe);

    self->collectives->window.in_flight += ski_reduction_cost(self, &call->head, call->bytes);
    r->done = call->done;
    if (!ski_reduction_combine_call(self, r, call->data)) {
        r->msg     = ski_reduction_msg(call->bytes);
        r->partial = ski_reduction_elements(r->msg);
        ski_reduction_fill(self, call, 0, r->partial, call->bytes);
    }
    ski_reduction_advance(self, r);
}

/* Begins a call, for which the window has room. */
static void reduction_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    if (reduction_is_small(call))
        reduction_begin_small(self, call);
    else if (call->head.algorithm == SKI_REDUCTION_WHOLE)
        reduction_begin_whole(self, call);
    else if (call->head.algorithm == SKI_REDUCTION_HOSTS)
        ski_reduction_hosts_begin(self, call);
    else if (call->head.algorithm == SKI_REDUCTION_HALVED)
        ski_halving_begin(self, call);
    else
        ski_split_begin(self, call);
}

/* A call that found the window full.  A call of a handler has a copy of its data. */
struct reduction_deferred {
    struct ski_deferred       base;
    struct ski_reduction_call call;
    _Alignas(16) char data[];
};

static void reduction_begin_deferred(struct ski_pe *self, struct ski_deferred *base)
{
    reduction_begin(self, &((struct reduction_deferred *)base)->call);
}

/* Queues a call of a handler. */
static void reduction_defer(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct reduction_deferred *deferred = ski_malloc(sizeof *deferred + call->bytes);

    deferred->base = (struct ski_deferred){.begin = reduction_begin_deferred};
    deferred->call = *call;
    if (call->bytes)
        memcpy(deferred->data, call->data, call->bytes);
    deferred->call.data = deferred->data;
    ski_window_defer(&self->collectives->window, &deferred->base);
}

/* Waits until the call has begun, or queues it if the caller is a handler. */
static SKI_COLD void reduction_wait_or_defer(struct ski_pe                   *self,
                                             const struct ski_reduction_call *call)
{
    struct reduction_deferred waiting = {.base.begin = reduction_begin_deferred, .call = *call};

    if (ski_window_waits(self))
        ski_window_wait(self, &self->collectives->window, &waiting.base);
    else
        reduction_defer(self, call);
}

/* Ends the job if the arguments of a call are wrong. */
static void reduction_check_call(const struct ski_pe *self, const char *name, skua_op op,
                                 const struct ski_reduction_head *head, const void *data)
{
    if ((uint32_t)head->root >= (uint32_t)self->pes)
        ski_misuse("%s: the root, PE %d, does not exist; this job has PEs 0 to %d", name,
                   head->root, self->pes - 1);
    if (!ski_op_function(op, head->type))
        ski_misuse(
            "%s: there is no %s of type %s%s", name, ski_op_name(op), ski_type_name(head->type),
            ski_type_exists((skua_type)(int)op) ? "; the operator comes before the type" : "");
    if (head->count > (uint64_t)PTRDIFF_MAX >> ski_type_shift(head->type))
        ski_misuse("%s: %llu elements of type %s are more than fit into memory", name,
                   (unsigned long long)head->count, ski_type_name(head->type));
    if (head->count > 0 && !data)
        ski_misuse("%s: there are no data (NULL)", name);
}

/* Makes a call of the public function @p name, of which the caller has set root, count, type and
 * `all` in the head, the data and the completion.  The head gets the operator once it is known to
 * exist and so to have 16 bits. */
static void reduction_call(const char *name, skua_op op, struct ski_reduction_call *call)
{
    struct ski_pe             *self = ski_pe_of_caller(name);
    struct ski_collectives    *c    = self->collectives;
    struct ski_reduction_head *head = &call->head;

    reduction_check_call(self, name, op, head, call->data);
    head->op        = (uint16_t)op;
    call->bytes     = head->count << ski_type_shift(head->type);
    head->algorithm = (uint8_t)ski_split_algorithm(self, head, call->bytes);
    head->number    = c->next;
    head->call      = (uint32_t)c->calls++;
    c->next += ski_split_numbers(self, head, call->bytes);
    if (reduction_is_small(call))
        call->small_call = c->small_calls++;
    if (SKI_UNLIKELY(ski_window_full(&c->window)))
        reduction_wait_or_defer(self, call);
    else
        reduction_begin(self, call);
    if (SKI_UNLIKELY(c->awaited + c->halved > 0) && self->net && !head->all &&
        head->root != self->pe)
        reduction_forward(self);
}

/* Returns @p type as a byte; an invalid type stays invalid. */
static uint8_t reduction_type(skua_type type)
{
    return (uint8_t)(ski_type_exists(type) ? type : UINT8_MAX);
}

void skua_reduce(int root, skua_op op, skua_type type, const void *data, size_t count,
                 skua_completion done)
{
    struct ski_reduction_call call = {
        .head = {.count = count, .root = root, .type = reduction_type(type)},
        .data = data,
        .done = done};

    reduction_call(__func__, op, &call);
}

void skua_allreduce(skua_op op, skua_type type, const void *data, size_t count,
                    skua_completion done)
{
    struct ski_reduction_call call = {
        .head = {.count = count, .type = reduction_type(type), .all = 1},
        .data = data,
        .done = done};

    reduction_call(__func__, op, &call);
}

void skua_barrier(skua_completion done)
{
    struct ski_reduction_call call = {.head = {.type = SKUA_INT32, .all = 1, .barrier = 1},
                                      .done = done};

    reduction_call(__func__, SKUA_SUM, &call);
}
