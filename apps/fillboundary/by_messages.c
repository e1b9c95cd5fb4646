/* SPDX-License-Identifier: Apache-2.0 */
/* by_messages.c - ghost cells in messages, which are packed and unpacked in place. */
#include <string.h>

#include "fillboundary.h"

/* The head of a message; packed cells follow. */
struct fb_head {
    uint64_t exchange;
    int32_t  level, unused;
};

static skua_handler fb_arrival;

/* A message belongs to the present exchange or, if its sender is ahead, to the next one. */
static void fb_on_message(skua_msg *msg)
{
    struct fb       *fb    = fb_self();
    struct fb_head  *head  = skua_msg_data(msg);
    struct fb_level *level = &fb->level[head->level];

    fb_link_of(level, skua_msg_source(msg))->msg[head->exchange % 2] = msg;
    level->arrived[head->exchange % 2]++;
}

void fb_messages_register(void)
{
    fb_arrival = skua_handler_register("ghosts", fb_on_message);
}

static void fb_messages_open(struct fb *fb)
{
    (void)fb;
}

static void fb_messages_start(struct fb *fb, struct fb_level *level)
{
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        const struct ghosts_neighbour *to = level->link[i].of;
        skua_msg                      *msg =
            skua_msg_alloc(sizeof(struct fb_head) + (size_t)to->send.all * sizeof(double));
        struct fb_head *head = skua_msg_data(msg);

        *head = (struct fb_head){.exchange = level->exchanges, .level = level->ghosts.level};
        ghosts_pack(to, (double *)(head + 1));
        stopwatch_lap(&fb->watch, PHASE_PACKING);
        skua_send(to->pe, fb_arrival, msg);
        stopwatch_lap(&fb->watch, PHASE_SENDING);
    }
}

static void fb_messages_finish(struct fb *fb, struct fb_level *level)
{
    if (!fb_wait_arrivals(level))
        return;
    stopwatch_lap(&fb->watch, PHASE_WAITING);
    for (int i = 0; i < level->ghosts.neighbours; i++) {
        skua_msg *msg = level->link[i].msg[level->exchanges % 2];

        ghosts_unpack(level->link[i].of, (double *)((struct fb_head *)skua_msg_data(msg) + 1));
        skua_msg_free(msg);
    }
    stopwatch_lap(&fb->watch, PHASE_UNPACKING);
}

const struct fb_protocol fb_messages = {"messages", fb_messages_open, fb_messages_start,
                                        fb_messages_finish, fb_messages_open};
