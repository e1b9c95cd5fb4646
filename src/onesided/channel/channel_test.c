/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_test.c - channels of a PE to itself: keys and generations, the order of doorbells, puts
 * that are reported or wait to be, reductions; packets of puts from other hosts.
 */
#include "onesided/channel/channel.h"

#include "core/net/net.h"
#include "core/pe/handler.h"
#include "tests/onesided_pe.h"

#define CHANNELS 300

static int      arrivals[CHANNELS];
static uint64_t order, answered_at[CHANNELS];

static void channel_on_test(void *arg)
{
    size_t i = (size_t)((int *)arg - arrivals);

    arrivals[i]++;
    answered_at[i] = order++;
}

/* Answers doorbells of the PE's own until there are none, as its scheduler does. */
static void channel_answer_all(struct ski_pe *self)
{
    while (self->queue.events & SKI_EVENT_DOORBELLS)
        self->on_own_doorbell(self);
}

static skua_channel channel_make(int *arg, char *buffer, size_t bytes)
{
    skua_layout  to = skua_layout_contiguous(buffer, bytes);
    skua_channel channel;

    CHECK(skua_channel_create(&to, channel_on_test, arg, "test", &channel) == SKUA_OK);
    return channel;
}

static void channel_keys(struct ski_pe *self)
{
    char                buffer[64], data[64];
    skua_layout         from   = skua_layout_contiguous(data, 64);
    skua_channel        first  = channel_make(&arrivals[0], buffer, 64), second;
    skua_sender        *sender = skua_channel_open(first, &from);
    struct ski_channel *record = ski_channel_find(self->job, first.key);

    OK(record && sender, "a channel and its sender");
    skua_channel_put(sender);
    skua_channel_destroy(first);
    second = channel_make(&arrivals[1], buffer, 64);
    OK(ski_channel_at(self->pool.arena, second.key) == record && second.key != first.key,
       "its record is used again, by another key");
    channel_answer_all(self);
    OK(arrivals[0] == 0 && arrivals[1] == 0, "a doorbell of the old key is not answered");
    OK(!ski_channel_find(self->job, first.key) && !ski_channel_find(self->job, 0) &&
           !ski_channel_find(self->job, ~UINT64_C(0)),
       "keys of no channel are not found");
    skua_channel_close(sender);
    skua_channel_destroy(second);
}

/* Every doorbell is answered once, and the oldest does not wait for all others. */
static void channel_doorbells(struct ski_pe *self)
{
    static char  buffer[CHANNELS][64], data[64];
    skua_layout  from = skua_layout_contiguous(data, 64);
    skua_channel channel[CHANNELS];
    skua_sender *sender[CHANNELS];
    bool         once = true;

    memset(arrivals, 0, sizeof arrivals);
    for (int i = 0; i < CHANNELS; i++) {
        channel[i] = channel_make(&arrivals[i], buffer[i], 64);
        sender[i]  = skua_channel_open(channel[i], &from);
        data[0]    = (char)i;
        skua_channel_put(sender[i]);
    }
    order = 0;
    channel_answer_all(self);
    for (int i = 0; i < CHANNELS; i++) {
        once &= arrivals[i] == 1 && buffer[i][0] == (char)i && skua_channel_count(channel[i]) == 1;
        skua_channel_close(sender[i]);
        skua_channel_destroy(channel[i]);
    }
    OK(once, "each doorbell is answered once, with its data");
    OK(answered_at[0] < 64 && answered_at[CHANNELS - 1] < 2,
       "the newest first, but the oldest within 64 turns");
}

/* A put that comes before the program polls for it is reported later, by a message. */
static void channel_polls(struct ski_pe *self)
{
    char         buffer[8], data[8] = {0};
    skua_layout  from    = skua_layout_contiguous(data, 8);
    skua_channel channel = channel_make(&arrivals[0], buffer, 8);
    skua_sender *sender  = skua_channel_open(channel, &from);
    skua_msg    *msg     = NULL;

    arrivals[0] = 0;
    skua_channel_put(sender);
    channel_answer_all(self);
    skua_channel_put(sender);
    channel_answer_all(self);
    OK(arrivals[0] == 1, "a put that was not polled for is not reported");
    skua_channel_ready(channel);
    OK(arrivals[0] == 1 && (msg = ski_queue_pop(&self->queue)) != NULL, "ready sends a message");
    ski_on_channel(msg);
    OK(arrivals[0] == 2 && skua_channel_count(channel) == 2, "which reports it");
    skua_channel_close(sender);
    skua_channel_destroy(channel);
}

static void channel_reduces(struct ski_pe *self)
{
    double                           sum[4], data[4] = {1, 2, 3, 4};
    skua_layout                      from = skua_layout_contiguous(data, sizeof data);
    skua_channel                     channel;
    skua_sender                     *sender[3];
    const skua_channel_reduction_def def = {.to      = sum,
                                            .count   = 4,
                                            .type    = SKUA_DOUBLE,
                                            .op      = SKUA_MIN,
                                            .senders = 3,
                                            .fn      = channel_on_test,
                                            .arg     = &arrivals[0],
                                            .name    = "min"};

    arrivals[0] = 0;
    CHECK(skua_channel_create_reduction(&def, &channel) == SKUA_OK);
    for (int i = 0; i < 3; i++)
        sender[i] = skua_channel_open(channel, &from);
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < 3; i++) {
            OK(arrivals[0] == round - 1, "reduction %d waits for sender %d", round, i);
            data[0] = 10 * round - i;
            skua_channel_put(sender[i]);
            channel_answer_all(self);
        }
        OK(arrivals[0] == round && sum[0] == 10 * round - 2 && sum[3] == 4, "and is complete");
        skua_channel_ready(channel);
    }
    for (int i = 0; i < 3; i++)
        skua_channel_close(sender[i]);
    skua_channel_destroy(channel);
}

/* One sender's data are the result, and the receiver need not have a callback. */
static void channel_reduces_one(struct ski_pe *self)
{
    double                           value = 7, data = 3;
    skua_layout                      from = skua_layout_contiguous(&data, sizeof data);
    const skua_channel_reduction_def def  = {
         .to = &value, .count = 1, .type = SKUA_DOUBLE, .op = SKUA_SUM, .senders = 1};
    skua_channel channel;
    skua_sender *sender;

    CHECK(skua_channel_create_reduction(&def, &channel) == SKUA_OK);
    OK(value == 7, "the buffer of a reduction of one sender is left alone");
    sender = skua_channel_open(channel, &from);
    skua_channel_put(sender);
    channel_answer_all(self);
    OK(value == 3 && skua_channel_count(channel) == 1, "a reduction without a callback");
    skua_channel_close(sender);
    skua_channel_destroy(channel);
}

/* Writes the packet of a put of @p bytes of @p value at an odd address.  Returns its header. */
static skua_msg channel_packet(char *to, uint64_t key, size_t bytes, char value)
{
    memcpy(to, &key, sizeof key);
    memset(to + sizeof key, value, bytes);
    return (skua_msg){.bytes = sizeof key + bytes, .handler = SKI_HANDLER_CHANNEL_PUT};
}

/* Data that the driver brings are in the buffer at once; the callback waits for the scheduler. */
static void channel_packets(struct ski_pe *self)
{
    const struct ski_placement *in = &ski_channel_placement;
    char                        buffer[64], packet[128];
    skua_channel                channel = channel_make(&arrivals[0], buffer, 64);
    skua_msg                    head    = channel_packet(packet + 1, channel.key, 64, 7);
    void                       *to      = NULL;

    arrivals[0] = 0;
    OK(in->take(self, &head, packet + 1) == &ski_net_nothing_left && arrivals[0] == 0 &&
           buffer[63] == 7,
       "a packet is copied into the buffer, and its callback does not run within the driver");
    channel_answer_all(self);
    OK(arrivals[0] == 1, "but when the doorbell is answered");
    skua_channel_ready(channel);
    OK(in->place(self, &head, packet + 1, &to) == 64 && to == buffer, "its place is the buffer");
    OK(!in->placed(self, &head, packet + 1, false) && !(self->queue.events & SKI_EVENT_DOORBELLS),
       "a packet that breaks off rings no doorbell");
    OK(in->placed(self, &head, packet + 1, true) == &ski_net_nothing_left, "a whole one does");
    channel_answer_all(self);
    OK(arrivals[0] == 2 && skua_channel_count(channel) == 2, "and is reported");
    head.bytes--;
    OK(!in->take(self, &head, packet + 1) && in->place(self, &head, packet + 1, &to) == 0,
       "a packet of another size has no place");
    head = channel_packet(packet + 1, channel.key ^ UINT64_C(1) << 50, 64, 9);
    OK(!in->take(self, &head, packet + 1) && buffer[0] == 7, "nor has one with another key");
    skua_channel_destroy(channel);
    head = channel_packet(packet + 1, channel.key, 64, 9);
    OK(!in->take(self, &head, packet + 1) && buffer[0] == 7, "nor one for a deleted channel");
}

int main(void)
{
    struct ski_pe *self = test_pe_begin();

    channel_keys(self);
    channel_doorbells(self);
    channel_polls(self);
    channel_reduces(self);
    channel_reduces_one(self);
    channel_packets(self);
    test_pe_end(self);
    return tap_end();
}
