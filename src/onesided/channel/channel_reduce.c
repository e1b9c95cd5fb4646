/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_reduce.c - channels that combine the data of several senders.
 *
 * A sender that reaches the buffer combines its data with it by itself, a stripe at a time
 * (accumulate.h); data that come in messages are combined by the receiver in the same way.  Each
 * put then raises the channel's count, and the one that completes it rings.  So neither memory nor
 * work of the receiver grows with the number of senders; the order of the operations is that of
 * arrival.
 *
 * Ordering.  The count is raised with acquire and release: the PE that completes it has seen what
 * all others did, and its doorbell carries that to the receiver.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "onesided/channel/channel.h"

#define COPIED_MAX 8192 /* bytes */

/* ---- neutral elements --------------------------------------------------------------- */

/* Sets @p to to the identity of the operator for the type: 0 unless it is a minimum, maximum or
 * bitwise and. */
static void channel_reduce_identity(const struct ski_channel_reduction *reduction,
                                    unsigned char                      *to)
{
    bool    least = reduction->op == SKUA_MIN;
    int64_t ones  = -1;

    memset(to, 0, reduction->element);
    if (reduction->op == SKUA_BIT_AND) {
        memcpy(to, &ones, reduction->element);
        return;
    }
    if (!least && reduction->op != SKUA_MAX)
        return;
    switch (reduction->type) {
    case SKUA_INT32: memcpy(to, least ? &(int32_t){INT32_MAX} : &(int32_t){INT32_MIN}, 4); break;
    case SKUA_INT64: memcpy(to, least ? &(int64_t){INT64_MAX} : &(int64_t){INT64_MIN}, 8); break;
    case SKUA_UINT32: memcpy(to, least ? &(uint32_t){UINT32_MAX} : &(uint32_t){0}, 4); break;
    case SKUA_UINT64: memcpy(to, least ? &(uint64_t){UINT64_MAX} : &(uint64_t){0}, 8); break;
    case SKUA_FLOAT: memcpy(to, &(float){least ? INFINITY : -INFINITY}, 4); break;
    case SKUA_DOUBLE: memcpy(to, &(double){least ? INFINITY : -INFINITY}, 8); break;
    default: break;
    }
}

/* Writes one element, then copies what there is, no more at a time than stays in the first-level
 * cache. */
void ski_channel_reduce_reset(struct ski_channel *channel)
{
    size_t done = channel->reduction.element, more;

    ski_assert(done > 0 && channel->bytes % done == 0);
    channel_reduce_identity(&channel->reduction, (unsigned char *)channel->to);
    for (; done < channel->bytes; done += more) {
        more = done < COPIED_MAX ? done : COPIED_MAX;
        more = more < channel->bytes - done ? more : channel->bytes - done;
        memcpy(channel->to + done, channel->to, more);
    }
}

/* ---- combining ------------------------------------------------------------------------ */

/* @p fn is that of this process: the record may be of one that has it at another address. */
static bool channel_reduce_block(struct ski_channel *channel, const char *from,
                                 ski_accumulate_fn fn)
{
    struct ski_stripe_lock lock = {NULL};

    ski_assert(channel->reduces && fn);
    ski_accumulate_contiguous(&lock, channel->process, channel->to, from, channel->bytes, fn,
                              channel->reduction.element, NULL);
    ski_stripe_lock_release(&lock);
    if (atomic_fetch_add_explicit(&channel->contributed, 1, memory_order_acq_rel) + 1 <
        channel->senders)
        return false;
    atomic_store_explicit(&channel->contributed, 0, memory_order_relaxed);
    return true;
}

bool ski_channel_reduce(struct ski_channel *channel, const char *from)
{
    return channel_reduce_block(channel, from, channel->reduction.fn);
}

void ski_channel_put_reduce(skua_sender *sender, const char *from)
{
    struct ski_pe      *self    = SKI_SELF();
    struct ski_channel *channel = sender->channel;
    const skua_update   update  = {channel->reduction.op, channel->reduction.type, NULL};
    size_t              element;

    if (sender->staging) {
        ski_copy_plan_run(&sender->plan, sender->to, from);
        from = sender->to;
    }
    if (channel_reduce_block(channel, from, ski_accumulate_function(&update, &element)))
        ski_channel_ring(self, sender, SKI_CHANNEL_PLACED, NULL);
}
