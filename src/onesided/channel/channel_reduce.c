/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_reduce.c - channels that combine what many senders put.
 *
 * A sender that reaches the buffer combines its data with it by itself, a stripe at a time
 * (accumulate.h); what comes in messages the receiver combines in the same way.  Each then raises
 * the channel's count, and whoever makes it full rings.  So neither memory nor work of the
 * receiver grows with the number of senders; the order of the operations is that of arrival.
 *
 * Ordering.  The count is raised with acquire and release: who makes it full has seen what all
 * others did, and its doorbell carries it to the receiver.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "onesided/channel/channel.h"

#define COPIED_MOST 8192 /* bytes */

/* ---- neutral elements --------------------------------------------------------------- */

/* Their bytes, for each operator that has more than zeros, by type. */
static void neutral_of(const struct ski_combine *combine, unsigned char *to)
{
    bool    least = combine->op.id == SKUA_MIN.id;
    int64_t ones  = -1;

    memset(to, 0, combine->element);
    if (combine->op.id == SKUA_BIT_AND.id) {
        memcpy(to, &ones, combine->element);
        return;
    }
    if (!least && combine->op.id != SKUA_MAX.id)
        return;
    switch (combine->type) {
    case SKUA_INT32: memcpy(to, least ? &(int32_t){INT32_MAX} : &(int32_t){INT32_MIN}, 4); break;
    case SKUA_INT64: memcpy(to, least ? &(int64_t){INT64_MAX} : &(int64_t){INT64_MIN}, 8); break;
    case SKUA_UINT64: memcpy(to, least ? &(uint64_t){UINT64_MAX} : &(uint64_t){0}, 8); break;
    case SKUA_FLOAT: memcpy(to, &(float){least ? INFINITY : -INFINITY}, 4); break;
    case SKUA_DOUBLE: memcpy(to, &(double){least ? INFINITY : -INFINITY}, 8); break;
    default: break;
    }
}

/* One element, then copies of what there is, of no more than stays in the nearest cache. */
void ski_channel_clear(struct ski_channel *channel)
{
    size_t done = channel->combine.element, more;

    neutral_of(&channel->combine, (unsigned char *)channel->to);
    for (; done < channel->bytes; done += more) {
        more = done < COPIED_MOST ? done : COPIED_MOST;
        more = more < channel->bytes - done ? more : channel->bytes - done;
        memcpy(channel->to + done, channel->to, more);
    }
}

/* ---- combining ------------------------------------------------------------------------ */

/* @p fn is ours: the record may have been made by a process that has it elsewhere. */
static bool combine(struct ski_channel *channel, const char *from, ski_update_fn fn)
{
    struct ski_hold hold = {NULL};

    ski_update_run(&hold, channel->process, channel->to, from, channel->bytes, fn,
                   channel->combine.element, NULL);
    ski_hold_end(&hold);
    if (atomic_fetch_add_explicit(&channel->came, 1, memory_order_acq_rel) + 1 < channel->senders)
        return false;
    atomic_store_explicit(&channel->came, 0, memory_order_relaxed);
    return true;
}

bool ski_channel_combine(struct ski_channel *channel, const char *from)
{
    return combine(channel, from, channel->combine.fn);
}

void ski_put_combined(skua_sender *sender, const char *from)
{
    struct ski_pe      *self    = SKI_SELF();
    struct ski_channel *channel = sender->channel;
    const skua_update   update  = {channel->combine.op, channel->combine.type, NULL};
    size_t              element;

    if (sender->staging) {
        ski_path_copy(&sender->path, sender->to, from);
        from = sender->to;
    }
    if (combine(channel, from, ski_update_function(&update, &element)))
        ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}
