/* SPDX-License-Identifier: Apache-2.0 */
/* by_channels.c - ghost cells in channels that are opened once. */
#include <string.h>

#include "fillboundary.h"

/* A channel that a PE offers to a neighbour, with its level and buffer set. */
struct fb_offer {
    skua_channel channel;
    int32_t      level, set;
};

static skua_handler fb_opening;

struct fb_opened {
    int count, expected;
};

static skua_pe_data fb_opened_key;

static void fb_on_arrival(void *arg)
{
    ++*(int *)arg;
}

/* Opens a channel of a neighbour. */
static void fb_on_offer(skua_msg *msg)
{
    struct fb_opened      *opened = skua_pe_data_get(fb_opened_key);
    struct fb_offer        offer;
    struct fb_link        *link;
    struct fb_channel_set *set;
    skua_layout            from;

    memcpy(&offer, skua_msg_data(msg), sizeof offer);
    link     = fb_link_of(&fb_self()->level[offer.level], skua_msg_source(msg));
    set      = &link->set[offer.set];
    from     = skua_layout_contiguous(set->sent, (size_t)link->of->send.all * sizeof(double));
    set->out = skua_channel_lend(offer.channel, &from);
    if (!set->out)
        skua_abort("cannot open a channel for ghost cells");
    opened->count++;
    skua_msg_free(msg);
}

void fb_channels_register(void)
{
    fb_opening    = skua_handler_register("channel", fb_on_offer);
    fb_opened_key = skua_pe_data_register(sizeof(struct fb_opened));
}

/* Allocates the buffers of a set, creates the channel into it and sends the channel to the
 * neighbour. */
static void fb_make_set(struct fb_level *level, struct fb_link *link, int s)
{
    struct fb_channel_set *set   = &link->set[s];
    size_t                 bytes = (size_t)link->of->receive.all * sizeof(double);
    struct fb_offer        offer = {.level = level->ghosts.level, .set = s};
    skua_layout            to;

    set->received = skua_channel_alloc(bytes);
    to            = skua_layout_contiguous(set->received, bytes);
    if (skua_channel_create_view(&to, fb_on_arrival, &level->arrived[s], "ghosts", &set->in))
        skua_abort("cannot create a channel for ghost cells");
    offer.channel = set->in;
    skua_send_copy(link->of->pe, fb_opening, &offer, sizeof offer);
}

static bool fb_all_opened(void *arg)
{
    struct fb_opened *opened = arg;

    return opened->count == opened->expected;
}

/* The channel of a neighbour may arrive during the call, so the send buffers are allocated
 * first. */
static void fb_channels_open(struct fb *fb)
{
    struct fb_opened *opened = skua_pe_data_get(fb_opened_key);

    opened->expected = 0;
    for (int l = 0; l < fb->levels; l++)
        for (int i = 0; i < fb->level[l].ghosts.neighbours; i++)
            for (int s = 0; s < 2; s++) {
                struct fb_link *link = &fb->level[l].link[i];

                link->set[s].sent = skua_channel_alloc((size_t)link->of->send.all * sizeof(double));
                opened->expected++;
            }
    skua_sync();
    for (int l = 0; l < fb->levels; l++)
        for (int i = 0; i < fb->level[l].ghosts.neighbours; i++)
            for (int s = 0; s < 2; s++)
                fb_make_set(&fb->level[l], &fb->level[l].link[i], s);
    skua_run_until(fb_all_opened, opened);
    opened->count = 0;
    skua_sync();
}

static void fb_channels_start(struct fb *fb, struct fb_level *level)
{
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        struct fb_channel_set *set = &level->link[i].set[level->exchanges % 2];

        ghosts_pack(level->link[i].of, set->sent);
        stopwatch_lap(&fb->watch, PHASE_PACKING);
        skua_channel_put(set->out);
        stopwatch_lap(&fb->watch, PHASE_SENDING);
    }
}

static void fb_channels_finish(struct fb *fb, struct fb_level *level)
{
    if (!fb_wait_arrivals(level))
        return;
    stopwatch_lap(&fb->watch, PHASE_WAITING);
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        struct fb_channel_set *set = &level->link[i].set[level->exchanges % 2];

        ghosts_unpack(level->link[i].of, skua_channel_view(set->in)->at);
        skua_channel_ready(set->in);
    }
    stopwatch_lap(&fb->watch, PHASE_UNPACKING);
}

static void fb_close_set(struct fb_channel_set *set)
{
    skua_channel_close(set->out);
    skua_channel_destroy(set->in);
    skua_channel_free(set->sent);
    skua_channel_free(set->received);
}

static void fb_channels_close(struct fb *fb)
{
    skua_sync();
    for (int l = 0; l < fb->levels; l++)
        for (int i = 0; i < fb->level[l].ghosts.neighbours; i++)
            for (int s = 0; s < 2; s++)
                fb_close_set(&fb->level[l].link[i].set[s]);
}

const struct fb_protocol fb_channels = {"channels", fb_channels_open, fb_channels_start,
                                        fb_channels_finish, fb_channels_close};
