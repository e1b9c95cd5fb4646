/* SPDX-License-Identifier: Apache-2.0 */
/* send_backlog_test.c - messages to PEs whose inboxes are full: all arrive, in order, once. */
#include "core/message/send_backlog.h"

#include <skua/message.h>
#include <stdlib.h>

#include "core/message/inbox_send.h"
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

/* The parts of a message that backlog_test_on_kept() compares. */
struct backlog_test_kept {
    uint64_t number;
    int32_t  priority;
    unsigned flags;
};

static struct backlog_test_kept backlog_test_got[200];
static size_t                   backlog_test_gots;

static void backlog_test_on_kept(skua_msg *msg)
{
    backlog_test_got[backlog_test_gots++] = (struct backlog_test_kept){
        *(uint64_t *)skua_msg_data(msg), msg->priority, msg->flags & SKI_MSG_SPECIAL};
    skua_msg_free(msg);
}

/* Small messages that waited travel in cells, with their priorities; their blocks stay with the
 * sender. */
static void backlog_test_small(struct ski_pe *self)
{
    skua_handler handler = {CORE_HANDLER + 1};
    uint64_t     inlined, pointers;
    bool         kept = true;

    core_handler[CORE_HANDLER + 1] = backlog_test_on_kept;
    for (uint64_t i = 0; i < 100; i++)
        skua_send_copy_prio(2, handler, &i, sizeof i, (int32_t)(i % 3));
    OK(backlog_test_waiting(self) > 50, "an inbox is full");
    inlined  = self->stats.sent_inline;
    pointers = self->stats.sent_pointer;
    for (int turn = 0; backlog_test_gots < 100 && turn < 1000; turn++) {
        backlog_test_run(2, 100);
        ski_send_backlog_flush(self);
    }
    for (size_t i = 0; i < backlog_test_gots; i++) {
        const struct backlog_test_kept *got = &backlog_test_got[i];

        kept &= got->priority == (int32_t)(got->number % 3) &&
                got->flags == (got->priority ? SKI_MSG_INT : 0);
    }
    OK(kept && backlog_test_gots == 100, "messages that waited keep their priorities");
    OK(self->stats.sent_inline > inlined + 50 && self->stats.sent_pointer == pointers,
       "small ones travel inside cells");
}

static size_t backlog_test_objects;
static bool   backlog_test_intact = true;

/* Checks a message to an object that backlog_test_object() has sent. */
static void backlog_test_on_object(skua_msg *msg)
{
    size_t   i = msg->target >> 8, index = i % 25, bytes = i % 41;
    unsigned flags = i % 2 ? SKI_MSG_OBJECT | SKI_MSG_EXPEDITED : SKI_MSG_OBJECT;

    backlog_test_intact &= msg->bytes == bytes && msg->flags == flags && msg->source == 0 &&
                           msg->target == (i << 8 | index);
    for (size_t at = 0; at < index; at++)
        backlog_test_intact &= msg->index[at] == (unsigned char)(i + at);
    for (size_t at = 0; at < bytes; at++)
        backlog_test_intact &= ((unsigned char *)(msg + 1))[at] == (unsigned char)(3 * i + at);
    backlog_test_objects++;
    skua_msg_free(msg);
}

/* Adds message @p i to an object, with indices and data of all lengths, to the backlog of PE 1. */
static void backlog_test_object(struct ski_pe *self, size_t i)
{
    size_t    index = i % 25, bytes = i % 41;
    skua_msg *msg = skua_msg_alloc(bytes);

    msg->handler = CORE_HANDLER + 2;
    msg->source  = self->pe;
    msg->flags   = (uint8_t)(i % 2 ? SKI_MSG_OBJECT | SKI_MSG_EXPEDITED : SKI_MSG_OBJECT);
    msg->target  = i << 8 | index;
    for (size_t at = 0; at < index; at++)
        msg->index[at] = (unsigned char)(i + at);
    for (size_t at = 0; at < bytes; at++)
        ((unsigned char *)(msg + 1))[at] = (unsigned char)(3 * i + at);
    ski_send_backlog_add(self, 1, msg);
}

/* A message to an object that waited is the same, whether it fits into a cell or not. */
static void backlog_test_to_objects(struct ski_pe *self)
{
    uint64_t inlined = self->stats.sent_inline, pointers = self->stats.sent_pointer;
    bool     waited = false;

    core_handler[CORE_HANDLER + 2] = backlog_test_on_object;
    for (size_t i = 0; i < 25 * 41; i++) {
        backlog_test_object(self, i);
        waited |= backlog_test_waiting(self) > 0;
        if (i % 64 < 63)
            continue;
        for (int turn = 0; backlog_test_objects <= i && turn < 100; turn++) {
            backlog_test_run(1, 8);
            ski_send_backlog_flush(self);
        }
    }
    backlog_test_run(1, 8);
    OK(waited && backlog_test_intact && backlog_test_objects == 25 * 41,
       "messages to objects that waited arrive as they were");
    OK(self->stats.sent_inline > inlined && self->stats.sent_pointer > pointers,
       "in cells, or by address");
}

/* A small message that waits is sent behind a doorbell: it does not wait until whole cells are few,
 * which doorbells may put into the ring again and again. */
static void backlog_test_behind_doorbell(struct ski_pe *self)
{
    uint64_t base = backlog_test_next[1];

    backlog_test_run(1, 100);
    for (int i = 0; i < 3; i++)
        ski_inbox_wakeup(self, 1);
    for (uint64_t i = 0; i < 2; i++) {
        skua_msg *msg = skua_msg_alloc(sizeof i);

        msg->handler                    = CORE_HANDLER;
        msg->source                     = self->pe;
        *(uint64_t *)skua_msg_data(msg) = base + i;
        ski_send_backlog_add(self, 1, msg);
    }
    OK(backlog_test_waiting(self) == 1, "one small message is sent behind a doorbell");
    ski_inbox_wakeup(self, 1);
    ski_send_backlog_flush(self);
    OK(backlog_test_waiting(self) == 0, "and the next one behind the next doorbell");
    backlog_test_run(1, 100);
    OK(backlog_test_in_order && backlog_test_next[1] == base + 2, "they arrive in order");
}

/* Tests inboxes whose rings have sole senders if @p sole. */
static void backlog_test_rings(bool sole)
{
    setenv("SKUA_SENDER_RINGS", sole ? "1" : "0", 1);
    memset(backlog_test_next, 0, sizeof backlog_test_next);
    backlog_test_gots = backlog_test_objects = 0;
    core_pes_begin(8);
    OK(backlog_test_random(core_pe[0]), "messages to full inboxes arrive once and in order");
    backlog_test_small(core_pe_as(0));
    backlog_test_to_objects(core_pe_as(0));
    if (core_pe_as(0)->sole)
        backlog_test_behind_doorbell(core_pe[0]);
    backlog_test_separate(core_pe_as(0));
    core_pes_end();
}

int main(void)
{
    core_handler[CORE_HANDLER] = backlog_test_on_number;
    backlog_test_rings(false);
    backlog_test_rings(true);
    unsetenv("SKUA_SENDER_RINGS");
    return tap_end();
}
