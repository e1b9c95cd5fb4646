/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_gone.c - an object channel that is opened to a receiver which has been destroyed ends:
 * the receiver is an element that was destroyed, was destroyed with its array, is being destroyed
 * with it, or is a chare.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define NUMBERS 10

/* How receivers end. */
enum how { ALONE, WITH_ARRAY, WITH_ARRAY_NOW, CHARE, HOWS };

struct receiver_data {
    skua_collection senders;
    int             to; /* of a chare: the sender; else -1 */
};

struct receiver {
    double numbers[NUMBERS];
};

struct sender {
    double              numbers[NUMBERS];
    skua_ref            receiver;
    skua_object_channel channel;
    int32_t             ended;
};

static skua_class       receiver_class, sender_class;
static skua_entry       end_entry, hello_entry, open_entry, count_entry;
static skua_channel_end in, out;
static skua_counter     counted;
static int32_t          total;

/* ---- receivers --------------------------------------------------------------------------- */

static void receiver_buffer(void *self, uint64_t tag, skua_layout *at)
{
    struct receiver *receiver = self;

    (void)tag;
    *at = skua_layout_contiguous(receiver->numbers, sizeof receiver->numbers);
}

static void receiver_arrived(void *self, uint64_t tag)
{
    (void)self, (void)tag;
    skua_abort("a put has arrived at an object that was destroyed");
}

static void receiver_create(void *self, const void *data, size_t bytes)
{
    const struct receiver_data *from = data;
    int           to    = from->to >= 0 ? from->to : (skua_index_of(self).at.x[0] + 1) % skua_pes();
    struct sender hello = {.receiver = skua_ref_of(self),
                           .channel  = skua_object_channel_create(self, in, 0)};

    (void)bytes;
    skua_invoke_copy(skua_element1(from->senders, to), hello_entry, &hello, sizeof hello);
}

static void on_end(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    skua_object_destroy(self);
}

/* ---- senders ------------------------------------------------------------------------------ */

static void sender_buffer(void *self, uint64_t tag, skua_layout *at)
{
    struct sender *sender = self;

    (void)tag;
    *at = skua_layout_contiguous(sender->numbers, sizeof sender->numbers);
}

static void sender_ended(void *self, uint64_t tag)
{
    struct sender *sender = self;

    (void)tag;
    sender->ended++;
    CHECK(skua_object_channel_put(self, sender->channel)); /* nothing happens */
}

static void on_hello(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    memcpy(self, data, sizeof(struct sender));
}

static void on_open(void *self, const void *data, size_t bytes)
{
    struct sender *sender = self;

    (void)data, (void)bytes;
    skua_object_channel_open(self, sender->receiver, sender->channel, out, 0);
    CHECK(!skua_object_channel_put(self, sender->channel)); /* it waits for the other end */
}

static void on_total(void *arg, const void *data, size_t bytes)
{
    (void)arg;
    CHECK(bytes == sizeof total);
    memcpy(&total, data, sizeof total);
    skua_complete(skua_done_count(&counted), NULL, 0);
}

static void on_count(void *self, const void *data, size_t bytes)
{
    struct sender *sender = self;

    (void)bytes;
    skua_contribute(self, SKUA_SUM, SKUA_INT32, &sender->ended, 1, *(const skua_completion *)data);
}

/* ---- on PE 0 ------------------------------------------------------------------------------- */

static void settle(void)
{
    skua_counter quiet = SKUA_COUNTER_INIT;

    skua_quiescence(skua_done_count(&quiet));
    skua_counter_wait(&quiet, 1);
}

/* Destroys all receivers. */
static void end_receivers(enum how how, skua_collection all, const skua_ref *chares)
{
    if (how == ALONE)
        skua_invoke_all(all, end_entry, NULL, 0);
    else if (how != CHARE)
        skua_collection_destroy(all);
    for (int i = 0; how == CHARE && i < skua_pes(); i++)
        skua_invoke_copy(chares[i], end_entry, NULL, 0);
    if (how != WITH_ARRAY_NOW)
        settle();
}

static void test(enum how how)
{
    struct receiver_data data   = {skua_array_create1(sender_class, skua_pes(), NULL, 0), -1};
    skua_collection      all    = {0};
    skua_ref            *chares = calloc((size_t)skua_pes(), sizeof *chares);
    skua_completion      done   = skua_done_call(on_total, NULL);

    if (how != CHARE)
        all = skua_array_create1(receiver_class, skua_pes(), &data, sizeof data);
    for (data.to = 0; how == CHARE && data.to < skua_pes(); data.to++)
        chares[data.to] =
            skua_chare_create(receiver_class, (data.to + 1) % skua_pes(), &data, sizeof data);
    settle();
    end_receivers(how, all, chares);
    skua_invoke_all(data.senders, open_entry, NULL, 0);
    settle();
    skua_invoke_all(data.senders, count_entry, &done, sizeof done);
    skua_counter_wait(&counted, (int64_t)how + 1);
    CHECK(total == skua_pes());
    skua_collection_destroy(data.senders);
    free(chares);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pe() != 0)
        return;
    for (enum how how = ALONE; how < HOWS; how++)
        test(how);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    receiver_class = skua_class_register(&(skua_class_def){
        .name = "Receiver", .bytes = sizeof(struct receiver), .construct = receiver_create});
    sender_class =
        skua_class_register(&(skua_class_def){.name = "Sender", .bytes = sizeof(struct sender)});
    end_entry   = skua_method_register(receiver_class, "end", on_end, 0);
    hello_entry = skua_method_register(sender_class, "hello", on_hello, 0);
    open_entry  = skua_method_register(sender_class, "open", on_open, 0);
    count_entry = skua_method_register(sender_class, "count", on_count, 0);
    in          = skua_channel_end_register(&(skua_channel_end_def){
                 .name = "in", .buffer = receiver_buffer, .arrived = receiver_arrived});
    out         = skua_channel_end_register(
                &(skua_channel_end_def){.name = "out", .buffer = sender_buffer, .ended = sender_ended});
    return skua_main(argc, argv, start);
}
