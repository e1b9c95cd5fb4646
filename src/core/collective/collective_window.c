/* SPDX-License-Identifier: Apache-2.0 */
/* collective_window.c - flow control of collectives (see collective.h). */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/collective/collective.h"
#include "core/collective/reduction.h"
#include "core/collective/reduction_order.h"
#include "core/collective/reduction_slot.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "core/sched/wait.h"

#define WINDOW_ARENA_DIVISOR 8 /* the windows of a host take at most this fraction of its arena */

void ski_window_init(const struct ski_pe *self, struct ski_window *window)
{
    uint64_t share = self->job->arena->bytes / WINDOW_ARENA_DIVISOR;

    share /= (uint64_t)self->job->local_pes;
    *window       = (struct ski_window){.bytes = ski_config.collective_window, .credit_pe = -1};
    window->bytes = window->bytes < share ? window->bytes : share;
    window->deferred_end = &window->deferred;
}

void ski_window_destroy(struct ski_window *window)
{
    while (window->deferred) {
        struct ski_deferred *call = window->deferred;

        window->deferred = call->next;
        if (!call->waits)
            free(call);
    }
}

void ski_collectives_init(struct ski_pe *self)
{
    struct ski_collectives *c = ski_calloc(1, sizeof *c);

    self->collectives = c;
    self->polled[0]   = &ski_reductions_polled;
    ski_window_init(self, &c->window);
    c->small_end  = &c->small;
    c->halved_end = &c->halved_next;
    ski_list_init(&c->early);
    ski_list_init(&c->local);
    c->levels = ski_block_levels(self->pes);
    for (int i = 0; i < SKI_CREDITORS; i++)
        c->creditor[i].pe = -1;
    ski_board_open(self);
}

void ski_collectives_destroy(struct ski_collectives *c)
{
    ski_window_destroy(&c->window);
    ski_reductions_destroy(c);
    ski_splits_destroy(c);
    ski_board_close(c);
    ski_slots_end(&c->broadcasts, free);
    free(c->delivered);
    free(c);
}

/* ---- waiting and deferring -------------------------------------------------- */

bool ski_window_waits(const struct ski_pe *self)
{
    return self->thread || self->loop.depth == 0;
}

void ski_window_defer(struct ski_window *window, struct ski_deferred *call)
{
    ski_assert(call->begin && !call->begun);
    call->next            = NULL;
    *window->deferred_end = call;
    window->deferred_end  = &call->next;
}

/* Removes @p call, whose caller returns because the job ends. */
static void window_remove(struct ski_window *window, struct ski_deferred *call)
{
    struct ski_deferred **at = &window->deferred;

    while (*at != call) {
        ski_assert(*at);
        at = &(*at)->next;
    }
    *at = call->next;
    if (!*at)
        window->deferred_end = at;
}

static const struct ski_call window_call = {"a collective call, for room in its window", NULL};

void ski_window_wait(struct ski_pe *self, struct ski_window *window, struct ski_deferred *call)
{
    call->waits = true;
    ski_window_defer(window, call);
    while (!call->begun)
        if (!ski_wait_on(self, &call->waiters, window_call)) {
            if (!call->begun)
                window_remove(window, call);
            return;
        }
}

/* Begins the first deferred call. */
static void window_begin_first(struct ski_pe *self, struct ski_window *window)
{
    struct ski_deferred *call = window->deferred;

    ski_assert(window->draining);
    window->deferred = call->next;
    if (!window->deferred)
        window->deferred_end = &window->deferred;
    call->begin(self, call);
    if (!call->waits) {
        free(call);
        return;
    }
    call->begun = true;
    ski_wake_all(self, &call->waiters);
}

/* Returns whether the caller of ski_window_open() is a call that has begun within it and is over
 * before it returns: the loop there continues.  A completion that waits, in a thread or in a
 * handler above, is not such a call: deferred calls must begin for it. */
static bool window_is_draining(const struct ski_pe *self, const struct ski_window *window)
{
    return window->draining && window->drainer == self->thread && window->depth == self->loop.depth;
}

void ski_window_open(struct ski_pe *self, struct ski_window *window)
{
    struct skua_thread *thread = window->drainer;
    uint32_t            depth  = window->depth;

    if (SKI_LIKELY(!window->deferred) || window_is_draining(self, window))
        return;
    window->draining++;
    window->drainer = self->thread;
    window->depth   = self->loop.depth;
    while (window->deferred && window->in_flight <= window->bytes / 2)
        window_begin_first(self, window);
    window->draining--;
    window->drainer = thread;
    window->depth   = depth;
}

void ski_window_release(struct ski_window *window, uint64_t cost, const char *what, int source)
{
    ski_assert(cost <= window->in_flight || ski_self->net);
    if (SKI_UNLIKELY(cost > window->in_flight)) {
        ski_net_reject(
            ski_self,
            "PE %d: a %s from PE %d releases %llu bytes of the collective window, of "
            "which %llu are in use: a credit that was never due has been accepted before",
            ski_self->pe, what, source, (unsigned long long)cost,
            (unsigned long long)window->in_flight);
        cost = window->in_flight;
    }
    window->in_flight -= cost;
}

/* ---- credits ----------------------------------------------------------------- */

/* A credit is a packet, which takes the receiver longer than it takes to combine a contribution of
 * some KB. */
uint8_t ski_window_request(struct ski_window *window, int pe)
{
    if (!ski_window_is_used(window)) {
        window->credit_pe = pe;
        return 0;
    }
    if (pe != window->credit_pe)
        return SKI_CREDIT_NOW;
    return (uint8_t)(64 - __builtin_clzll(window->bytes / 8 | 1));
}

/* Sends the credits of @p creditor, if there are any. */
static void window_send_credit(struct ski_creditor *creditor)
{
    uint64_t bytes = creditor->bytes;

    creditor->bytes = 0;
    if (bytes)
        skua_send_copy(creditor->pe, (skua_handler){SKI_HANDLER_COLLECTIVE_CREDIT}, &bytes,
                       sizeof bytes);
}

void ski_window_credit(struct ski_pe *self, int pe, uint64_t cost, uint8_t request)
{
    struct ski_creditor *creditor = &self->collectives->creditor[(unsigned)pe % SKI_CREDITORS];

    ski_assert((unsigned)pe < (unsigned)self->pes && pe != self->pe);
    if (creditor->pe != pe) {
        window_send_credit(creditor);
        creditor->pe = pe;
    }
    creditor->bytes += cost;
    if (creditor->bytes >= ski_credit_least(self->collectives->window.bytes, request))
        window_send_credit(creditor);
}

void ski_on_credit(skua_msg *msg)
{
    struct ski_window *window = &ski_self->collectives->window;
    uint64_t           bytes;

    memcpy(&bytes, skua_msg_data(msg), sizeof bytes);
    if (bytes > window->in_flight) {
        ski_net_drop(ski_self, msg);
        return;
    }
    ski_window_release(window, bytes, "credit", msg->source);
    skua_msg_free(msg);
    ski_window_open(ski_self, window);
}
