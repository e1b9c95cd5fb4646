/* SPDX-License-Identifier: Apache-2.0 */
/* backpressure_test.c - which senders wait while memory is short, and what ends a wait. */
#include "core/message/backpressure.h"

#include <skua/message.h>

#include "core/message/inbox_send.h"
#include "tests/core_pe.h"

#define WAIT_TURNS 30

/* What the injected peer of a wait does. */
static struct {
    int      turns;     /* calls so far */
    int      done_at;   /* from this call on nothing waits */
    int      relief_at; /* at this call memory is no longer short */
    int      exit_at;   /* at this call the PE learns that the job ends */
    uint64_t moved;
} backpressure_peer;

static bool backpressure_test_peer(struct ski_pe *self, int pe, uint64_t arg, uint64_t *moved)
{
    int turn = ++backpressure_peer.turns;

    (void)pe, (void)arg;
    *moved = backpressure_peer.moved += turn % 2 == 1;
    if (turn == backpressure_peer.relief_at)
        atomic_store(&self->pool.arena->pressure, 0);
    if (turn == backpressure_peer.exit_at)
        self->queue.events |= SKI_EVENT_EXIT;
    return turn < backpressure_peer.done_at;
}

static void backpressure_test_begin(struct ski_pe *self)
{
    memset(&backpressure_peer, 0, sizeof backpressure_peer);
    backpressure_peer.done_at = 1000;
    atomic_store(&self->pool.arena->pressure, 1);
}

static void backpressure_test_on_any(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* Makes the queue of @p self long, or empty. */
static void backpressure_test_queue(struct ski_pe *self, int messages)
{
    while (skua_poll(1000) > 0)
        ;
    for (int i = 0; i < messages; i++)
        core_send(self->pe, 0, 0, true);
}

/* A handler of the program waits if its queue is short, or in a burst; only while memory is short.
 */
static void backpressure_test_rules(struct ski_pe *self)
{
    bool calm = true;

    backpressure_test_begin(self);
    backpressure_test_queue(self, 0);
    OK(ski_backpressure_sender(self, CORE_HANDLER), "a sender that is not behind waits");
    OK(!ski_backpressure_sender(self, SKI_HANDLERS - 1), "the runtime itself never");
    OK(!ski_backpressure_receiver(self), "a PE with a short queue takes what arrives");
    OK(ski_backpressure_arrivals(self) > 1, "several messages at a time if it has none");
    backpressure_test_queue(self, 1);
    OK(ski_backpressure_arrivals(self) == 1, "one for each that it runs if it has some");
    backpressure_test_queue(self, SKI_BACKPRESSURE_QUEUE);
    OK(ski_backpressure_receiver(self) && ski_backpressure_arrivals(self) == 0,
       "and one with a long queue takes none");
    for (int i = 0; i < SKI_BACKPRESSURE_BURST; i++)
        calm &= !ski_backpressure_sender(self, CORE_HANDLER);
    OK(calm, "a PE that is behind itself does not wait at first");
    OK(ski_backpressure_sender(self, CORE_HANDLER), "but in a burst");
    skua_poll(1);
    core_send(self->pe, 0, 0, true);
    OK(!ski_backpressure_sender(self, CORE_HANDLER), "which ends with the handler");
    atomic_store(&self->pool.arena->pressure, 0);
    OK(!ski_backpressure_receiver(self) && !ski_backpressure_sender(self, CORE_HANDLER),
       "no PE waits while there is memory");
    backpressure_test_queue(self, 0);
}

/* What ends a wait. */
static void backpressure_test_ends(struct ski_pe *self)
{
    uint64_t         held = self->stats.backpressure_waits, tail = 0;
    struct ski_cell *cell;

    backpressure_test_begin(self);
    backpressure_peer.done_at = WAIT_TURNS;
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == WAIT_TURNS && self->stats.backpressure_waits == held + 1,
       "a wait ends when all has left");

    backpressure_test_begin(self);
    backpressure_peer.relief_at = WAIT_TURNS;
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == WAIT_TURNS, "or when there is memory");

    backpressure_test_begin(self);
    backpressure_peer.exit_at = WAIT_TURNS;
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == WAIT_TURNS, "or the job ends");
    self->queue.events &= ~(uint32_t)SKI_EVENT_EXIT;

    backpressure_test_begin(self);
    cell          = ski_inbox_reserve(core_pe[2], self->pe, &tail);
    cell->flags   = SKI_MSG_WAKEUP;
    cell->handler = 1;
    ski_inbox_publish(core_pe[2], self->pe, cell, tail);
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == 1, "or a doorbell waits to be answered");
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
}

/* A sender that waits takes what others send to it, so that they continue. */
static void backpressure_test_takes(struct ski_pe *self)
{
    uint64_t received = self->stats.received;

    backpressure_test_begin(self);
    core_pe_as(2);
    for (int i = 0; i < 10; i++)
        core_send(self->pe, 0, 0, false);
    core_pe_as(self->pe);
    backpressure_peer.done_at = 5;
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(self->stats.received == received + 10 && self->queue.pushed - self->queue.popped == 10,
       "a PE that waits empties its inbox, and runs nothing");
    backpressure_test_queue(self, 0);
}

/* A PE whose patience ended does not wait again before something has moved. */
static void backpressure_test_patience(struct ski_pe *self)
{
    backpressure_test_begin(self);
    self->backpressure.gave_up_on    = 1;
    self->backpressure.gave_up_moved = 1; /* what the first call of the peer says */
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == 1, "a PE that gave up continues at once");
    backpressure_test_begin(self);
    self->backpressure.gave_up_moved = 0;
    backpressure_peer.done_at        = 3;
    ski_backpressure_wait(self, 1, backpressure_test_peer, 0);
    OK(backpressure_peer.turns == 3 && self->backpressure.gave_up_on == -1,
       "until something has moved");
    atomic_store(&self->pool.arena->pressure, 0);
    OK(ski_backpressure_before_sleep(self, 5000000) == 5000000, "an idle PE may sleep long");
    atomic_store(&self->pool.arena->pressure, 1);
    OK(ski_backpressure_before_sleep(self, 5000000) < 5000000, "but not while memory is short");
    atomic_store(&self->pool.arena->pressure, 0);
}

int main(void)
{
    struct ski_pe *self;

    core_handler[CORE_HANDLER] = backpressure_test_on_any;
    core_pes_begin(64);
    ski_arena_set_pressure(core_pe[0]->job->arena, 0); /* the test decides when memory is short */
    self = core_pe_as(0);
    backpressure_test_rules(self);
    backpressure_test_ends(self);
    backpressure_test_takes(self);
    backpressure_test_patience(self);
    core_pes_end();
    return tap_end();
}
