/* SPDX-License-Identifier: Apache-2.0 */
/* misbehave_channels.c - wrong use of channels; PE 0 receives, the last one sends. */
#include "misbehave.h"

#include <unistd.h>

static skua_handler       channel_handler, seen_handler;
static char              *channel_memory;
static skua_channel       channel;
static skua_sender       *channel_sender;
static const skua_channel no_channel;

static void tell_seen(void *arg)
{
    (void)arg;
    skua_send_copy(skua_pes() - 1, seen_handler, NULL, 0);
}

static void make_channel(void)
{
    skua_layout to;

    channel_memory = skua_channel_alloc(100);
    to             = skua_layout_contiguous(channel_memory, 100);
    skua_channel_create(&to, tell_seen, NULL, "ghost", &channel);
}

static void offer_view(void)
{
    skua_layout to = skua_layout_contiguous(skua_channel_alloc(100), 100);

    skua_channel_create_view(&to, tell_seen, NULL, "ghost", &channel);
    skua_send_copy(skua_pes() - 1, channel_handler, &channel, sizeof channel);
}

static void offer_channel(void)
{
    make_channel();
    skua_send_copy(skua_pes() - 1, channel_handler, &channel, sizeof channel);
}

static void offer_and_sleep(void)
{
    offer_channel();
    usleep(500000); /* no PE polls meanwhile */
}

static void free_buffer(void)
{
    skua_channel_free(channel_memory);
    tell_seen(NULL);
}

static void delete_channel(void)
{
    skua_channel_destroy(channel);
    tell_seen(NULL);
}

/* A case: the action of the sender when it has the channel, and the reaction of each PE to a
 * message of the other. */
static void (*on_offered)(skua_channel offered), (*on_told)(void);

static void on_channel(skua_msg *msg)
{
    skua_channel offered = *(skua_channel *)skua_msg_data(msg);

    skua_msg_free(msg);
    on_offered(offered);
}

static void on_seen(skua_msg *msg)
{
    skua_msg_free(msg);
    if (on_told)
        on_told();
}

static void open_channel(skua_channel offered)
{
    channel_memory   = skua_channel_alloc(100);
    skua_layout from = skua_layout_contiguous(channel_memory, 100);

    channel_sender = skua_channel_open(offered, &from);
}

static void put_once(skua_channel offered)
{
    open_channel(offered);
    skua_channel_put(channel_sender);
}

static void put_twice(skua_channel offered)
{
    put_once(offered);
    skua_channel_put(channel_sender);
}

static void put_again(void)
{
    skua_channel_put(channel_sender);
}

static void open_other_size(skua_channel offered)
{
    static char memory[64];
    skua_layout from = skua_layout_contiguous(memory, sizeof memory);

    skua_channel_open(offered, &from);
}

static void put_freed(skua_channel offered)
{
    open_channel(offered);
    skua_channel_free(channel_memory);
    skua_channel_put(channel_sender);
}

static void channel_early(void)
{
    on_offered = put_once;
    on_told    = put_again;
}

static void channel_second(void)
{
    on_offered = put_twice;
}

static void channel_size(void)
{
    on_offered = open_other_size;
}

static void open_and_tell(skua_channel offered)
{
    open_channel(offered);
    skua_send_copy(0, seen_handler, NULL, 0);
}

static void channel_gone(void)
{
    on_offered = open_and_tell;
    on_told    = put_again;
}

static void offer_and_free(void)
{
    on_told = free_buffer;
    offer_channel();
}

static void offer_and_delete(void)
{
    on_told = delete_channel;
    offer_channel();
}

static void channel_source_gone(void)
{
    on_offered = put_freed;
}

static void receiver_is_ready(void)
{
    skua_channel_ready(channel);
}

static void offer_and_return(void)
{
    on_told = receiver_is_ready;
    offer_view();
}

static void lend_once(skua_channel offered)
{
    skua_layout from = skua_layout_contiguous(skua_channel_alloc(100), 100);

    channel_memory = memset(from.at, 1, 100);
    channel_sender = skua_channel_lend(offered, &from);
    skua_channel_put(channel_sender);
}

static void change_and_tell(void)
{
    channel_memory[99]++;
    skua_send_copy(0, seen_handler, NULL, 0);
}

static void channel_changed(void)
{
    on_offered = lend_once;
    on_told    = change_and_tell;
}

static void channel_no_view(void)
{
    make_channel();
    skua_channel_view(channel);
}

static void channel_not_ours(void)
{
    skua_channel_ready(no_channel);
}

static void register_handlers(void)
{
    channel_handler = skua_handler_register("channel", on_channel);
    seen_handler    = skua_handler_register("seen", on_seen);
}

static const struct misbehave_act acts[] = {
    {"channel-early", channel_early, offer_channel},
    {"channel-second", channel_second, offer_and_sleep},
    {"channel-size", channel_size, offer_channel},
    {"channel-freed", channel_gone, offer_and_free},
    {"channel-deleted", channel_gone, offer_and_delete},
    {"channel-source-freed", channel_source_gone, offer_channel},
    {"channel-changed", channel_changed, offer_and_return},
    {"channel-no-view", channel_no_view, NULL},
    {"channel-not-ours", channel_not_ours, NULL},
};

const struct misbehave_subject misbehave_channels = {acts, sizeof acts / sizeof *acts,
                                                     register_handlers};
