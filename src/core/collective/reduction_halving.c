/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_halving.c - reductions of medium size between hosts (SKI_REDUCTION_HALVED, see
 * reduction.h), by recursive halving and doubling.
 *
 * There are 2^L PEs, each alone on its host.  In round k, from 0 to L - 1, a PE and its partner,
 * the PE whose number differs in bit k, send each other elements and combine them.  In the first H
 * rounds the *range* of elements that a PE works on is halved: the PE sends the half that its
 * partner keeps and combines the other one.  In the rounds after that partners work on the same
 * range and send all of it.  Now each PE has the result of its range, and the halving rounds are
 * undone, the last one first: partners send each other the results that they have.
 *
 * Rounds combine the blocks of reduction_order.h, the lower one first, so results have the same
 * bits as those of other algorithms.  A PE sends and receives about twice the elements, instead of
 * L times, in L + H rounds instead of L.
 *
 * If a root gets the result, only the rounds of halving are exchanges.  In each later round k, of
 * combining or of results, the PE whose bit k differs from that of the root sends, and has finished
 * then; its partner receives.  All PEs together send the elements once for each PE but one, as in a
 * tree, and H / 2 times more; the root receives them twice instead of L times, and all PEs combine.
 *
 * Calls to a root exchange one after the other on each PE; further ones are *held*.  A PE takes
 * part in all rounds of a call, while it may have made many calls whose results other PEs get: the
 * first halves of all of them would be in flight before one is complete.
 *
 * Flow control.  A PE that completes all rounds of combining has elements of all PEs, which have
 * therefore begun the call.  A PE that sends to a root in a round of combining has not: its window
 * is released by a credit of the receiver.
 *
 * A PE has one buffer, which becomes the result.  The network reads from it what a PE sends in the
 * halving rounds, what it sends last, and results: the PE does not write that memory again until
 * the result of that range arrives, whose sender has received what the network was to read.  In the
 * other rounds the PE sends a copy.
 *
 * On the wire: struct ski_reduction_head, whose round is k, or L + k for results; then the elements
 * of the range.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "core/collective/collective_send.h"
#include "core/collective/reduction.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/completion.h"

#define HALVING_ROUND_COST 22528      /* bytes that take as long as a round */
#define HALVING_ROOT_PES   16         /* PEs from which a root's result is made so */
#define HALVING_MAX        1          /* calls to a root that exchange at a time */
#define HALVING_COPIED     8192       /* bytes up to which what is sent is copied */
#define HALVING_ENDED      UINT32_MAX /* round of a record that waits for the network */

/* A part of the elements of a call. */
struct halving_range {
    size_t at, bytes;
};

bool ski_halving_used(const struct ski_pe *self, const struct ski_reduction_head *head)
{
    const struct ski_job *job = self->job;

    return head->count > 0 && ski_job_is_distributed(job) && job->hosts == job->pes &&
           job->pes >= (head->all ? 4 : HALVING_ROOT_PES) && (job->pes & (job->pes - 1)) == 0 &&
           ski_op_splits((skua_op)head->op);
}

/* Returns H.  A further halving costs a round and saves bytes in all rounds to come. */
static int halving_depth(const struct ski_pe *self, const struct ski_reduction_head *head)
{
    int    levels = self->collectives->levels, depth = 0;
    size_t bytes = (size_t)head->count << ski_type_shift((skua_type)head->type);

    while (depth + 1 < levels &&
           bytes / 2 * (size_t)(levels - depth - 1) >> depth >= HALVING_ROUND_COST)
        depth++;
    return depth > 0 ? depth : 1;
}

/* Returns the range that @p pe works on after some rounds of halving. */
static struct halving_range halving_range(const struct ski_reduction_head *head, int pe,
                                          int halvings)
{
    size_t   first = 0, count = head->count;
    unsigned shift = ski_type_shift((skua_type)head->type);

    for (int k = 0; k < halvings; k++) {
        size_t lower = count / 2;

        first += pe >> k & 1 ? lower : 0;
        count = pe >> k & 1 ? count - lower : lower;
    }
    return (struct halving_range){first << shift, count << shift};
}

/* Returns the range that @p pe works on after round @p round, or in it if it is not one of
 * halving. */
static struct halving_range halving_range_after(const struct ski_pe             *self,
                                                const struct ski_reduction_head *head, int pe,
                                                int round)
{
    int depth = halving_depth(self, head);

    return halving_range(head, pe, round < depth ? round + 1 : depth);
}

/* Returns whether partners send each other elements in round @p k of combining. */
static bool halving_is_exchange(const struct ski_pe *self, const struct ski_reduction_head *head,
                                int k)
{
    return head->all || k < halving_depth(self, head);
}

/* Returns whether, in a round k that is no exchange, @p pe sends and its partner receives. */
static bool halving_sends_up(const struct ski_reduction_head *head, int pe, int k)
{
    return (pe ^ head->root) >> k & 1;
}

/* Returns whether @p pe receives elements to combine in round @p k: it has not finished before, and
 * does not send to a root. */
static bool halving_receives(const struct ski_pe *self, const struct ski_reduction_head *head,
                             int pe, int k)
{
    int depth = halving_depth(self, head);

    for (int i = depth; !head->all && i <= k; i++)
        if (halving_sends_up(head, pe, i))
            return false;
    return true;
}

/* Returns whether @p pe receives results of its partner of round @p k. */
static bool halving_collects(const struct ski_reduction_head *head, int pe, int k)
{
    return head->all || (pe ^ head->root) >> k == 0;
}

/* Returns whether @p pe sends elements to a root in a round of combining, and is credited. */
static bool halving_is_credited(const struct ski_pe *self, const struct ski_reduction_head *head,
                                int pe)
{
    return !halving_receives(self, head, pe, self->collectives->levels - 1);
}

/* ---- sending ------------------------------------------------------------------------- */

/* Sends the head of @p r to this PE itself, so that the call continues in a handler. */
static void halving_resume(const struct ski_pe *self, const struct ski_reduction *r)
{
    skua_send_copy(self->pe, (skua_handler){SKI_HANDLER_REDUCTION_HALVED}, &r->head,
                   sizeof r->head);
}

/* Records that the network has read a range of the buffer.  The end of a call runs code of the
 * program, which must not run within the driver. */
static void halving_sent(struct ski_pe *self, void *owner)
{
    struct ski_reduction *r = owner;

    ski_assert(r->sending > 0);
    if (--r->sending == 0 && r->round == HALVING_ENDED)
        halving_resume(self, r);
}

/* Sends @p range to @p pe.  @p stays: the memory does not change until the network has read it. */
static void halving_send(struct ski_pe *self, struct ski_reduction *r, int pe, int round,
                         struct halving_range range, bool stays)
{
    struct ski_reduction_head    head   = r->head;
    struct ski_collective_packet packet = {.handler    = SKI_HANDLER_REDUCTION_HALVED,
                                           .head       = &head,
                                           .head_bytes = sizeof head,
                                           .data       = r->partial + range.at,
                                           .bytes      = range.bytes,
                                           .sent       = halving_sent,
                                           .owner      = r};
    skua_msg                    *msg;

    head.round = (uint8_t)round;
    if (round < self->collectives->levels && !halving_is_exchange(self, &head, round))
        head.want_credit = ski_window_request(&self->collectives->window, pe);
    if (stays && range.bytes > HALVING_COPIED) {
        r->sending++; /* halving_sent() may be called before the call returns */
        if (ski_collective_send(self, pe, &packet))
            return;
        r->sending--;
    }
    msg                         = ski_reduction_msg(range.bytes);
    *ski_reduction_head_of(msg) = head;
    memcpy(ski_reduction_elements(msg), r->partial + range.at, range.bytes);
    skua_send(pe, (skua_handler){SKI_HANDLER_REDUCTION_HALVED}, msg);
}

/* ---- rounds -------------------------------------------------------------------------- */

/* Combines the contribution of the current round into the range of this PE. */
static void halving_combine(struct ski_pe *self, struct ski_reduction *r)
{
    skua_type            type  = (skua_type)r->head.type;
    skua_op_fn           fn    = ski_op_function((skua_op)r->head.op, type);
    skua_msg            *msg   = r->received[r->round];
    char                *other = ski_reduction_elements(msg);
    struct halving_range mine  = halving_range_after(self, &r->head, self->pe, (int)r->round);
    char                *own   = r->partial + mine.at;
    size_t               count = mine.bytes >> ski_type_shift(type);

    ski_assert(msg->bytes == sizeof r->head + mine.bytes);
    r->received[r->round] = NULL;
    if (!halving_is_exchange(self, &r->head, (int)r->round))
        ski_window_credit(self, msg->source, ski_call_cost(r->bytes),
                          ski_reduction_head_of(msg)->want_credit);
    if (!(self->pe >> r->round & 1) || ski_op_commutes((skua_op)r->head.op)) {
        fn(own, other, count, type);
    } else {
        fn(other, own, count, type);
        memcpy(own, other, mine.bytes);
    }
    skua_msg_free(msg);
}

/* Results of a phase of rounds. */
enum halving_progress {
    HALVING_WAITS,     /* elements are missing                       */
    HALVING_CONTINUES, /* all of its rounds are over                 */
    HALVING_SENT_UP    /* this PE has sent its last elements         */
};

/* Runs the rounds that combine, as far as contributions have arrived. */
static enum halving_progress halving_run_rounds(struct ski_pe *self, struct ski_reduction *r)
{
    uint32_t levels = (uint32_t)self->collectives->levels;
    int      depth  = halving_depth(self, &r->head);

    for (; r->round < levels; r->round++) {
        int  round = (int)r->round, partner = self->pe ^ (1 << round);
        bool exchange = halving_is_exchange(self, &r->head, round);
        bool up       = !exchange && halving_sends_up(&r->head, self->pe, round);

        if (up || (exchange && !r->sent))
            halving_send(self, r, partner, round,
                         halving_range_after(self, &r->head, partner, round), up || round < depth);
        if (up)
            return HALVING_SENT_UP;
        r->sent = !r->received[round];
        if (r->sent)
            return HALVING_WAITS;
        halving_combine(self, r);
    }
    return HALVING_CONTINUES;
}

/* Runs the rounds that send results, as far as they have arrived. */
static enum halving_progress halving_run_results(struct ski_pe *self, struct ski_reduction *r)
{
    int levels = self->collectives->levels, depth = halving_depth(self, &r->head);

    for (; (int)r->round < levels + depth; r->round++) {
        int  k  = levels + depth - 1 - (int)r->round;
        bool up = !halving_collects(&r->head, self->pe, k);

        if (up || (r->head.all && !r->sent))
            halving_send(self, r, self->pe ^ (1 << k), levels + k,
                         halving_range(&r->head, self->pe, k + 1), true);
        if (up)
            return HALVING_SENT_UP;
        r->sent = !(r->arrived >> k & 1);
        if (r->sent)
            return HALVING_WAITS;
    }
    return HALVING_CONTINUES;
}

/* Holds a call to a root if others exchange now. */
static void halving_hold(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_collectives *c = self->collectives;

    r->held = c->halved >= HALVING_MAX;
    if (!r->held) {
        c->halved++;
        return;
    }
    r->small_next  = NULL;
    *c->halved_end = r;
    c->halved_end  = &r->small_next;
}

/* Begins the next held call, since another one is over. */
static void halving_release(struct ski_pe *self)
{
    struct ski_collectives *c    = self->collectives;
    struct ski_reduction   *next = c->halved_next;

    if (!next) {
        c->halved--;
        return;
    }
    c->halved_next = next->small_next;
    if (!c->halved_next)
        c->halved_end = &c->halved_next;
    halving_resume(self, next);
}

/* Ends a call whose buffer the network no longer reads. */
static void halving_finish(struct ski_pe *self, struct ski_reduction *r)
{
    skua_completion done        = r->done;
    skua_msg       *msg         = r->msg;
    bool            result_here = r->head.all || r->head.root == self->pe;

    if (!halving_is_credited(self, &r->head, self->pe))
        ski_window_release(&self->collectives->window, ski_call_cost(r->bytes), "reduction",
                           self->pe);
    if (!r->head.all)
        halving_release(self);
    ski_reduction_release(self, r);
    if (result_here)
        ski_complete_with(done, msg);
    else
        skua_msg_free(msg);
    ski_window_open(self, &self->collectives->window);
}

/* Continues a call as far as messages have arrived; it may be over at the return. */
static void halving_advance(struct ski_pe *self, struct ski_reduction *r)
{
    enum halving_progress progress;

    if (!r->partial || r->held)
        return;
    progress = halving_run_rounds(self, r);
    if (progress == HALVING_CONTINUES)
        progress = halving_run_results(self, r);
    if (progress == HALVING_WAITS)
        return;
    r->round = HALVING_ENDED;
    if (r->sending == 0)
        halving_finish(self, r);
}

void ski_halving_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r = ski_reduction_get(self, &call->head, call->bytes, self->pe);

    ski_assert(!r->partial && call->head.algorithm == SKI_REDUCTION_HALVED);
    self->collectives->window.in_flight += ski_call_cost(call->bytes);
    r->done    = call->done;
    r->msg     = ski_reduction_msg(call->bytes);
    r->partial = ski_reduction_elements(r->msg);
    ski_reduction_fill(self, call, 0, r->partial, call->bytes);
    if (!call->head.all)
        halving_hold(self, r);
    halving_advance(self, r);
}

/* ---- packets ------------------------------------------------------------------------- */

/* Returns whether the values of a received head are valid; *@p bytes are those of the call. */
static bool halving_head_valid(const struct ski_pe *self, const struct ski_reduction_head *head,
                               size_t *bytes)
{
    if (head->algorithm != SKI_REDUCTION_HALVED || (head->all && head->want_credit) ||
        head->barrier || head->all > 1 ||
        (uint32_t)head->root >= (head->all ? 1 : (uint32_t)self->pes) ||
        !ski_op_function((skua_op)head->op, (skua_type)head->type) ||
        head->count > self->job->arena->bytes >> ski_type_shift((skua_type)head->type) ||
        !ski_reduction_number_valid(self->collectives, head->number))
        return false;
    *bytes = (size_t)head->count << ski_type_shift((skua_type)head->type);
    return ski_split_algorithm(self, head, *bytes) == SKI_REDUCTION_HALVED;
}

/* Returns whether this PE has sent its contribution of round @p k. */
static bool halving_has_sent(const struct ski_reduction *r, int k)
{
    return r->partial && (r->round > (uint32_t)k || (r->round == (uint32_t)k && r->sent));
}

/* Returns whether this PE expects elements to combine, in the round of @p head, from @p source. */
static bool halving_expects(const struct ski_pe *self, const struct ski_reduction *r,
                            const struct ski_reduction_head *head, int source, size_t bytes)
{
    uint32_t round = head->round;

    return source == (self->pe ^ (1 << round)) &&
           halving_receives(self, head, self->pe, (int)round) &&
           (!r || (round >= r->round && !r->received[round])) &&
           bytes == halving_range_after(self, head, self->pe, (int)round).bytes;
}

/* Stores the result of the range of the sender in the buffer.  Returns false if this PE does not
 * wait for it. */
static bool halving_on_result(struct ski_pe *self, struct ski_reduction *r, skua_msg *msg,
                              size_t bytes)
{
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);
    int                              k    = head->round - self->collectives->levels;
    struct halving_range             range;

    if (!r || r->round == HALVING_ENDED || !ski_reduction_agrees(r, head, bytes) ||
        k >= halving_depth(self, head) || msg->source != (self->pe ^ (1 << k)) ||
        !halving_has_sent(r, k) || !halving_collects(head, self->pe, k) || r->arrived >> k & 1)
        return false;
    range = halving_range(head, msg->source, k + 1);
    if (msg->bytes - sizeof *head != range.bytes)
        return false;
    memcpy(r->partial + range.at, ski_reduction_elements(msg), range.bytes);
    r->arrived |= UINT64_C(1) << k;
    skua_msg_free(msg);
    return true;
}

/* Handles a packet of another PE.  Returns false if it is not valid, or not expected. */
static bool halving_on_packet(struct ski_pe *self, skua_msg *msg)
{
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);
    struct ski_reduction            *r    = ski_reduction_find(self->collectives, head->number);
    size_t                           bytes;

    if (!halving_head_valid(self, head, &bytes))
        return false;
    if (head->round >= self->collectives->levels) {
        if (!halving_on_result(self, r, msg, bytes))
            return false;
    } else {
        if (!halving_expects(self, r, head, msg->source, msg->bytes - sizeof *head))
            return false;
        r                        = ski_reduction_get(self, head, bytes, msg->source);
        r->received[head->round] = msg;
    }
    halving_advance(self, r);
    return true;
}

void ski_on_reduction_halved(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct ski_reduction *r;

    if (msg->source != self->pe) {
        if (!halving_on_packet(self, msg))
            ski_net_drop(self, msg);
        return;
    }
    r = ski_reduction_find(self->collectives, ski_reduction_head_of(msg)->number);
    skua_msg_free(msg);
    ski_assert(r && (r->held || (r->round == HALVING_ENDED && r->sending == 0)));
    if (r->held) {
        r->held = false;
        halving_advance(self, r);
    } else {
        halving_finish(self, r);
    }
}
