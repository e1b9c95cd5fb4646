/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_test.c - what a pass of the scheduler runs, in which order, and how loops count it. */
#include "core/sched/scheduler.h"

#include <skua/message.h>
#include <skua/scheduler.h>
#include <stdlib.h>

#include "core/message/inbox_send.h"
#include "tests/core_pe.h"

#define MESSAGES 2000

static uint64_t sched_test_ran[2 * MESSAGES]; /* numbers, in the order of delivery */
static size_t   sched_test_count;
static int      sched_test_rung, sched_test_rung_own;

static void sched_test_on_number(skua_msg *msg)
{
    sched_test_ran[sched_test_count++ % (2 * MESSAGES)] = *(uint64_t *)skua_msg_data(msg);
    skua_msg_free(msg);
}

/* Messages of two PEs are in order for each, whether they come in cells or as addresses, and
 * whatever number of them a loop runs. */
static bool sched_test_order(void)
{
    uint64_t random = tap_seed(), sent[2] = {0, 0}, next[2] = {0, 0};

    sched_test_count = 0;
    while (sched_test_count < MESSAGES) {
        for (uint64_t n = tap_random(&random) % 20; n > 0; n--) {
            int from = (int)(tap_random(&random) % 2);

            core_pe_as(from);
            core_send(0, 0, sent[from]++ << 1 | (unsigned)from, tap_random(&random) % 4 == 0);
        }
        core_pe_as(0);
        for (size_t n = tap_random(&random) % 20, before = sched_test_count, ran; n > 0; n = 0) {
            ran = skua_poll(n);
            if (ran > n || sched_test_count != before + ran)
                return false;
        }
        core_pe_as(1);
        skua_poll(1); /* sends what found no room */
    }
    for (size_t i = 0; i < sched_test_count; i++) {
        int from = (int)(sched_test_ran[i] & 1);

        if (sched_test_ran[i] >> 1 != next[from]++)
            return false;
    }
    return true;
}

static void sched_test_drain(void)
{
    for (int turn = 0; turn < 1000; turn++)
        for (int i = 0; i < CORE_PES; i++) {
            core_pe_as(i);
            skua_poll(MESSAGES);
        }
    core_pe_as(0);
}

/* Loops that count run so many messages and no more; skua_stop() ends the innermost one. */
static void sched_test_on_stop(skua_msg *msg)
{
    skua_msg_free(msg);
    skua_stop();
}

static bool sched_test_reached(void *count)
{
    return sched_test_count >= *(size_t *)count;
}

static void sched_test_loops(void)
{
    size_t three = 3;

    sched_test_count = 0;
    for (uint64_t i = 0; i < 10; i++)
        core_send(0, 0, i, false);
    OK(skua_run_count(2) == 2 && sched_test_count == 2, "run_count runs so many");
    OK(skua_run_until(sched_test_reached, &three) && sched_test_count == 3, "run_until as needed");
    OK(skua_poll(4) == 4 && sched_test_count == 7, "poll at most so many");
    OK(skua_poll(100) == 3 && skua_poll(100) == 0, "and no more than there are");
    core_send(0, 1, 0, false);
    core_send(0, 0, 0, false);
    skua_run();
    OK(sched_test_count == 10 && skua_poll(9) == 1, "stop leaves the next message in the queue");
}

/* ---- doorbells ------------------------------------------------------------------------------- */

/* Answers the doorbell of another PE, as channels do: it counts as a message to this PE itself. */
static void sched_test_ring(struct ski_pe *self)
{
    ski_reader_advance_sc(&self->reader);
    ski_reader_tell_sc(&self->reader);
    self->queue.pushed++;
    self->queue.popped++;
    sched_test_rung++;
}

/* Answers one doorbell of this PE, which rings again: there is always one. */
static void sched_test_ring_own(struct ski_pe *self)
{
    self->queue.pushed++;
    self->queue.popped++;
    sched_test_rung_own++;
}

static void sched_test_ring_at(int from, int to)
{
    uint64_t         tail = 0;
    struct ski_cell *cell = ski_inbox_reserve(core_pe[from], to, &tail);

    cell->flags   = SKI_MSG_WAKEUP;
    cell->handler = 1;
    ski_inbox_publish(core_pe[from], to, cell, tail);
}

/* Doorbells that never end and messages take turns. */
static void sched_test_fair(struct ski_pe *self)
{
    bool fair = true;

    sched_test_count    = 0;
    sched_test_rung_own = 0;
    for (uint64_t i = 0; i < 10; i++)
        core_send(0, 0, i, false);
    self->queue.events |= SKI_EVENT_DOORBELLS;
    for (int pass = 1; pass <= 20; pass++)
        fair &= skua_run_count(1) == 1 &&
                sched_test_count + (size_t)sched_test_rung_own == (size_t)pass &&
                sched_test_rung_own - (int)sched_test_count <= 1;
    OK(fair && sched_test_count == 10, "a doorbell and a message take turns");
    self->queue.events &= ~(uint32_t)SKI_EVENT_DOORBELLS;
    for (uint64_t i = 0; i < 3; i++) {
        core_send(0, 0, i, false);
        sched_test_ring_at(1, 0);
    }
    sched_test_count = 0;
    sched_test_rung  = 0;
    OK(skua_poll(100) == 6 && sched_test_rung == 3 && sched_test_count == 3,
       "those of other PEs, too");
}

/* A timer that runs the scheduler. */
static void sched_test_on_timer(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    *(size_t *)arg = skua_run_count(1);
}

static bool sched_test_on_idle(void *arg)
{
    (void)arg;
    skua_idle_remove(sched_test_on_idle, NULL);
    core_send(0, 0, 7, false);
    return false;
}

/* A doorbell that a timer answers, in a loop of its own, is counted there and nowhere else: the
 * outer loop continues until it has run a message. */
static void sched_test_timer(struct ski_pe *self)
{
    size_t by_timer = 0;

    sched_test_count = 0;
    sched_test_rung  = 0;
    sched_test_ring_at(1, 0);
    self->loop.doorbell = self->queue.popped; /* it is the turn of the queue, which is empty */
    skua_timer_after(0, skua_done_call(sched_test_on_timer, &by_timer));
    skua_idle_add(sched_test_on_idle, NULL);
    OK(skua_run_count(1) == 1 && by_timer == 1 && sched_test_rung == 1 && sched_test_count == 1,
       "a doorbell that a timer answered is counted once");
}

/* ---- quick messages ---------------------------------------------------------------------------
 */

/* Sends messages 0 to @p count - 1 from PE 1 to PE 0. */
static void sched_test_send_numbers(uint64_t count)
{
    core_pe_as(1);
    for (uint64_t i = 0; i < count; i++)
        core_send(0, 0, i, false);
    core_pe_as(0);
}

/* Sends messages 0 to @p count - 1 from PE 1 to PE 0, and then number 1000, expedited. */
static void sched_test_send_urgent(uint64_t count)
{
    skua_msg *urgent;

    sched_test_send_numbers(count);
    core_pe_as(1);
    urgent                             = skua_msg_alloc(sizeof(uint64_t));
    *(uint64_t *)skua_msg_data(urgent) = 1000;
    skua_msg_set_expedited(urgent, true);
    skua_send(0, (skua_handler){CORE_HANDLER}, urgent);
    core_pe_as(0);
}

/* Runs all messages.  Returns how many ran before number 1000. */
static size_t sched_test_run_urgent(void)
{
    size_t at = 0;

    sched_test_count = 0;
    skua_poll(MESSAGES);
    while (at < sched_test_count && sched_test_ran[at] != 1000)
        at++;
    return at;
}

/* Makes urgent messages that came before have no effect. */
static void sched_test_forget_urgent(struct ski_pe *self)
{
    self->queue.special = 0;
    ski_reader_take_urgent_sc(&self->reader);
}

/* While messages are quick, eight run and as many cells are moved between two polls: an expedited
 * message behind 92 cells would wait for as many messages.  It is marked, and the mark is read once
 * for 32 messages; then it waits for the drains of the cells before it. */
static void sched_test_mark(struct ski_pe *self)
{
    size_t ran;

    sched_test_forget_urgent(self);
    sched_test_send_numbers(100);
    skua_poll(4);
    OK(self->queue.pushed - self->queue.popped == 8 - 4 && self->loop.slow & SKI_LOOP_HOLDS,
       "quick messages run between two polls");
    sched_test_send_urgent(0);
    ran = sched_test_run_urgent();
    OK(ran <= 32 + 8 + 3 && sched_test_count == 100 - 4 + 1,
       "a first urgent message ends that, after %zu of them", ran);
    OK(!ski_reader_is_urgent_sc(&self->reader), "the mark of the ring is cleared");
}

/* An inbox of several rings is drained by quotas, but across rings while urgent messages come: the
 * marks of its rings are read as often as that of one. */
static void sched_test_mark_of_rings(struct ski_pe *self)
{
    uint64_t quick = self->loop.quick;
    size_t   ran;

    self->loop.quick = UINT64_C(1) << 40; /* every message is quick */
    sched_test_send_numbers(200);
    skua_poll(8);
    sched_test_send_urgent(0);
    ran = sched_test_run_urgent();
    OK(self->reader.rings && ran <= 32 + 8 + 200 / 32 + 1 && sched_test_count == 200 - 8 + 1,
       "an urgent message in an inbox of several rings waits for %zu messages", ran);
    self->loop.quick = quick;
}

/* A PE polls its inbox after each message, or after each eighth one if they are quick: 100 messages
 * and an expedited one are in the queue after the third drain, of 32 cells each and one that ran.
 */
static void sched_test_hold(struct ski_pe *self)
{
    uint64_t quick = self->loop.quick;

    self->loop.quick = 0; /* no message is quick */
    sched_test_send_urgent(100);
    OK(sched_test_run_urgent() == 3 && sched_test_count == 101,
       "an urgent message behind slow ones is found at the next poll");
    self->loop.quick = UINT64_C(1) << 40; /* every message is */
    sched_test_send_urgent(100);
    OK(sched_test_run_urgent() == 3 && sched_test_count == 101,
       "behind quick ones likewise, if urgent messages came lately");
    sched_test_mark(self);
    for (uint64_t i = 0; i < 8; i++) /* in a group of which one has run */
        core_send(0, 0, i, false);
    sched_test_forget_urgent(self);
    sched_test_send_urgent(100);
    skua_poll(1);
    self->loop.quick = 0; /* they take longer than expected */
    OK(sched_test_run_urgent() <= 4 + 4 && sched_test_count == 108,
       "slow ones end that after four messages");
    self->loop.quick = quick;
}

static int sched_test_polls;

static bool sched_test_poll_memory(struct ski_pe *self)
{
    (void)self;
    sched_test_polls++;
    return false;
}

/* Memory is polled after every eighth message, and whenever there is none. */
static void sched_test_polled(struct ski_pe *self)
{
    static const struct ski_polled hook   = {sched_test_poll_memory, NULL};
    const struct ski_polled       *before = self->polled[1];
    uint64_t                       quick  = self->loop.quick;

    sched_test_polls = 0;
    self->loop.quick = UINT64_C(1) << 40; /* every message is quick */
    self->polled[1]  = &hook;
    self->queue.events |= SKI_EVENT_POLLED_1;
    for (uint64_t i = 0; i < 80; i++)
        core_send(0, 0, i, false);
    OK(skua_poll(80) == 80 && sched_test_polls >= 9 && sched_test_polls <= 11,
       "memory is polled after every eighth message: %d polls for 80", sched_test_polls);
    sched_test_polls = 0;
    OK(skua_poll(1) == 0 && sched_test_polls == 1, "and if there is no message");
    sched_test_polls = 0;
    self->loop.quick = 0; /* no message is */
    for (uint64_t i = 0; i < 80; i++)
        core_send(0, 0, i, false);
    OK(skua_poll(80) == 80 && sched_test_polls >= 40, "more often if messages are slow: %d",
       sched_test_polls);
    self->loop.quick = quick;
    self->queue.events &= ~(uint32_t)SKI_EVENT_POLLED_1;
    self->polled[1] = before;
}

/* ---- idle ------------------------------------------------------------------------------------ */

static bool sched_test_on_more(void *arg)
{
    int *calls = arg;

    if (++*calls == 5)
        core_send(0, 0, 1, false);
    return *calls < 5;
}

static void sched_test_idle(struct ski_pe *self)
{
    int      calls  = 0;
    uint64_t sleeps = self->stats.sleeps;

    skua_idle_add(sched_test_on_more, &calls);
    OK(skua_run_count(1) == 1 && calls == 5 && self->stats.sleeps == sleeps,
       "a PE does not sleep while an idle callback has work");
    skua_idle_remove(sched_test_on_more, &calls);
    OK(skua_poll(1) == 0 && calls == 5, "and one that was removed is not called");
}

int main(void)
{
    core_handler[CORE_HANDLER]     = sched_test_on_number;
    core_handler[CORE_HANDLER + 1] = sched_test_on_stop;
    core_pes_begin(16);
    core_pe[0]->on_doorbell     = sched_test_ring;
    core_pe[0]->on_own_doorbell = sched_test_ring_own;
    OK(sched_test_order(), "messages of two PEs are delivered in order");
    sched_test_drain();
    sched_test_loops();
    sched_test_fair(core_pe_as(0));
    sched_test_timer(core_pe_as(0));
    sched_test_idle(core_pe_as(0));
    sched_test_polled(core_pe_as(0));
    core_pes_end();
    core_pes_begin(512);
    sched_test_hold(core_pe_as(0));
    core_pes_end();
    CHECK(setenv("SKUA_INBOX_RINGS", "2", 1) == 0);
    core_pes_begin(512);
    sched_test_mark_of_rings(core_pe_as(0));
    core_pes_end();
    CHECK(unsetenv("SKUA_INBOX_RINGS") == 0 && setenv("SKUA_SENDER_RINGS", "1", 1) == 0);
    core_pes_begin(512);
    sched_test_mark_of_rings(core_pe_as(0));
    core_pes_end();
    CHECK(unsetenv("SKUA_SENDER_RINGS") == 0); /* other tests may follow in this process */
    CHECK(ski_config_load() == SKUA_OK);
    return tap_end();
}
