/* SPDX-License-Identifier: Apache-2.0 */
/* send_backlog_test.c - messages to PEs whose inboxes are full: all arrive, in order, once. */
#include "core/message/send_backlog.h"

#include <skua/message.h>

#include "tests/core_pe.h"

#define MESSAGES 3000

static uint64_t backlog_test_next[CORE_PES]; /* by receiver: the number that comes next */
static bool     backlog_test_in_order = true;

static void backlog_test_on_number(skua_msg *msg)
{
    backlog_test_in_order &= *(uint64_t *)skua_msg_data(msg) == backlog_test_next[ski_self->pe]++;
    skua_msg_free(msg);
}

static uint64_t backlog_test_waiting(const struct ski_pe *self)
{
    return self->backlog.waiting;
}

/* PE @p pe runs up to @p n messages. */
static void backlog_test_run(int pe, size_t n)
{
    core_pe_as(pe);
    skua_poll(n);
    core_pe_as(0);
}

/* PE 0 sends to two PEs at random, which run at random; against the numbers that are missing. */
static bool backlog_test_random(struct ski_pe *self)
{
    uint64_t random = tap_seed(), sent[CORE_PES] = {0};
    bool     waited = false;

    for (int step = 0; step < MESSAGES; step++) {
        int pe = 1 + (int)(tap_random(&random) % 2);

        core_send(pe, 0, sent[pe]++, tap_random(&random) % 2);
        if (tap_random(&random) % 16 == 0)
            backlog_test_run(pe, tap_random(&random) % 40);
        if (tap_random(&random) % 16 == 0)
            ski_send_backlog_flush(self);
        waited |= backlog_test_waiting(self) > 0;
        if (backlog_test_waiting(self) > 0 && !(self->queue.events & SKI_EVENT_BACKLOG))
            return false; /* no pass would flush them */
    }
    for (int turn = 0; backlog_test_waiting(self) > 0 && turn < MESSAGES; turn++) {
        ski_send_backlog_flush(self);
        backlog_test_run(1, MESSAGES);
        backlog_test_run(2, MESSAGES);
    }
    ski_send_backlog_flush(self);
    backlog_test_run(1, MESSAGES);
    backlog_test_run(2, MESSAGES);
    return waited && backlog_test_in_order && backlog_test_next[1] == sent[1] &&
           backlog_test_next[2] == sent[2] && !(self->queue.events & SKI_EVENT_BACKLOG);
}

/* A PE whose inbox is full holds up messages to itself alone. */
static void backlog_test_separate(struct ski_pe *self)
{
    uint64_t before = backlog_test_next[2], base = backlog_test_next[1];

    for (uint64_t i = 0; i < 100; i++)
        core_send(1, 0, base + i, false);
    OK(backlog_test_waiting(self) > 0, "an inbox is full");
    core_send(2, 0, before, false);
    backlog_test_run(2, 10);
    OK(backlog_test_next[2] == before + 1, "a message to another PE passes");
    ski_send_backlog_flush(self);
    OK(backlog_test_waiting(self) > 0, "a flush changes nothing while the inbox is full");
    ski_send_backlog_destroy(&self->backlog); /* at the end of the job: they go with the arena */
    self->backlog = (struct ski_send_backlog){NULL, 0};
    self->queue.events &= ~(uint32_t)SKI_EVENT_BACKLOG;
}

int main(void)
{
    core_handler[CORE_HANDLER] = backlog_test_on_number;
    core_pes_begin(8);
    OK(backlog_test_random(core_pe[0]), "messages to full inboxes arrive once and in order");
    backlog_test_separate(core_pe_as(0));
    core_pes_end();
    return tap_end();
}
