/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_check.c - channels in checked mode: each put is checked before anything is written.
 *
 * Puts and marks of a channel are counted in its record, which senders of the host reach: put n,
 * counted from 0, of a channel with s senders is legal if n < s * (marks + 1).  Puts from other
 * hosts are checked in the same way when they arrive.  skua_channel_free() and
 * skua_region_destroy() mark the channels and senders that use the memory which they free.
 *
 * Data that are not copied at the put have a checksum then.  It is compared when the receiver of a
 * zcopy put is ready, and when data arrive that were sent to another host without a copy.
 *
 * A checked sender points at check_put() and remembers its own path, so that unchecked ones pay
 * nothing.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"

#define SUM_FACTOR UINT64_C(0x9e3779b97f4a7c15)

skua_status ski_channel_check_size(struct ski_pe *self, const char *call, const skua_sender *sender,
                                   const struct ski_channel *channel)
{
    static const char format[] =
        "%s: channel %s from PE %d to PE %d: the sender has %zu bytes, the channel %zu";

    if (ski_config.checked_channels)
        ski_misuse(format, call, ski_channel_name(channel), self->pe, channel->pe, sender->bytes,
                   channel->bytes);
    return ski_refuse(SKUA_ERR_INVAL, format, call, ski_channel_name(channel), self->pe,
                      channel->pe, sender->bytes, channel->bytes);
}

/* ---- sums ----------------------------------------------------------------------------- */

static uint64_t check_sum_block(uint64_t sum, const char *from, size_t bytes)
{
    uint64_t word;

    for (; bytes >= sizeof word; from += sizeof word, bytes -= sizeof word) {
        memcpy(&word, from, sizeof word);
        sum = (sum ^ word) * SUM_FACTOR;
        sum ^= sum >> 32;
    }
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)from[i]) * SUM_FACTOR;
    return sum ^ sum >> 32;
}

uint32_t ski_channel_check_sum(const char *from, size_t bytes)
{
    uint32_t sum = (uint32_t)check_sum_block(bytes, from, bytes);

    return sum ? sum : 1;
}

static SKI_COLD _Noreturn void check_changed_too_early(const char *name, int source, int pe,
                                                       uint64_t put)
{
    ski_misuse("channel %s from PE %d to PE %d: the data of put %llu changed after "
               "skua_channel_put() and before the put was locally complete; "
               "skua_channel_put_wait() before they are written again",
               name, source, pe, (unsigned long long)put);
}

/* ---- counting ------------------------------------------------------------------------ */

/* Counts a put; *now is its number. Returns true if it is legal. */
static bool check_count_put(struct ski_channel *channel, uint64_t *now)
{
    /* Acquire: pairs with the release in channel_mark(). */
    uint64_t marks = atomic_load_explicit(&channel->ready, memory_order_acquire);

    *now = atomic_fetch_add_explicit(&channel->puts, 1, memory_order_relaxed);
    return *now < channel->senders * (marks + 1);
}

static SKI_COLD _Noreturn void check_out_of_turn(const struct ski_channel *channel, int source,
                                                 uint64_t now)
{
    uint64_t seen = atomic_load_explicit(&channel->arrived, memory_order_relaxed);

    if (channel->reduces)
        ski_misuse("channel %s from PE %d to PE %d: put %llu of %u senders, before the receiver "
                   "was ready again",
                   ski_channel_name(channel), source, channel->pe, (unsigned long long)now + 1,
                   channel->senders);
    if (seen < now)
        ski_misuse("channel %s from PE %d to PE %d: put %llu while put %llu is in flight",
                   ski_channel_name(channel), source, channel->pe, (unsigned long long)now + 1,
                   (unsigned long long)seen + 1);
    ski_misuse("channel %s from PE %d to PE %d: put %llu before the receiver was ready",
               ski_channel_name(channel), source, channel->pe, (unsigned long long)now + 1);
}

void ski_channel_check_arrival(struct ski_channel *channel, int source,
                               const struct ski_channel_head *head)
{
    uint64_t now;

    if (ski_job_index(ski_self->job, source) >= 0 || head->kind != SKI_CHANNEL_DATA)
        return; /* its sender has checked it */
    if (atomic_load_explicit(&channel->freed, memory_order_relaxed))
        ski_misuse("channel %s from PE %d to PE %d: put %llu into memory that was freed",
                   ski_channel_name(channel), source, channel->pe, (unsigned long long)head->put);
    if (!check_count_put(channel, &now))
        check_out_of_turn(channel, source, now);
    if (head->sum && head->bytes == channel->bytes &&
        ski_channel_check_sum((const char *)(head + 1), head->bytes) != head->sum)
        check_changed_too_early(ski_channel_name(channel), source, channel->pe, head->put);
}

/* ---- zcopy -------------------------------------------------------------------------------- */

static uint64_t check_sum_layout(const skua_layout *layout)
{
    struct ski_layout_iter iter;
    skua_block             block;
    uint64_t               sum = 0;

    ski_layout_iter_begin(&iter, layout);
    while (ski_layout_iter_next(&iter, &block))
        sum = check_sum_block(sum, (const char *)layout->at + block.offset, block.bytes);
    return sum;
}

/* Computes the checksum of a zcopy put from @p from. */
static void check_zcopy_put(struct ski_zcopy_desc *zcopy, const skua_sender *sender,
                            const char *from)
{
    zcopy->view.at = (void *)(uintptr_t)from;
    zcopy->put     = sender->puts;
    zcopy->sum     = check_sum_layout(&zcopy->view);
}

void ski_channel_check_zcopy_release(const struct ski_channel *channel)
{
    const struct ski_zcopy_desc *zcopy = channel->zcopy;

    if (check_sum_layout(&zcopy->view) != zcopy->sum)
        ski_misuse("channel %s from PE %d to PE %d: the data of zcopy put %llu were changed before "
                   "the receiver released them",
                   ski_channel_name(channel), zcopy->pe, channel->pe,
                   (unsigned long long)zcopy->put);
}

/* ---- putting ---------------------------------------------------------------------------- */

void ski_channel_check_put(const skua_sender *sender, int source)
{
    struct ski_channel *channel = sender->channel;
    uint64_t            now;

    if (channel->key != sender->key)
        ski_misuse(
            "a channel from PE %d to PE %d: put %llu after the receiver destroyed the channel",
            source, sender->pe, (unsigned long long)sender->puts);
    if (atomic_load_explicit(&channel->freed, memory_order_relaxed))
        ski_misuse("channel %s from PE %d to PE %d: put %llu into memory that was freed",
                   ski_channel_name(channel), source, channel->pe,
                   (unsigned long long)sender->puts);
    if (!check_count_put(channel, &now))
        check_out_of_turn(channel, source, now);
}

/* Checks a put and then does it by the path of its sender. */
static void check_put(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    sender->puts++;
    if (self->pe != sender->owner)
        ski_misuse("a channel from PE %d to PE %d: put %llu on PE %d", sender->owner, sender->pe,
                   (unsigned long long)sender->puts, self->pe);
    if (sender->freed && from == sender->from)
        ski_misuse("channel %s from PE %d to PE %d: put %llu from memory that was freed",
                   sender->channel ? ski_channel_name(sender->channel) : "(on another host)",
                   self->pe, sender->pe, (unsigned long long)sender->puts);
    if (sender->channel)
        ski_channel_check_put(sender, self->pe);
    if (sender->zcopy)
        check_zcopy_put(sender->zcopy, sender, from);
    sender->unchecked(sender, from);
}

void ski_channel_check_add(struct ski_pe *self, skua_sender *sender)
{
    struct ski_channel_pe *channels = ski_channel_pe(self);

    sender->owner = self->pe;
    ski_assert(!sender->unchecked);
    sender->unchecked = sender->put;
    sender->put       = check_put;
    sender->next      = channels->senders;
    channels->senders = sender;
}

void ski_channel_check_remove(struct ski_pe *self, skua_sender *sender)
{
    skua_sender **at = &ski_channel_pe(self)->senders;

    while (*at && *at != sender)
        at = &(*at)->next;
    if (!*at)
        ski_misuse("skua_channel_close on PE %d: this sender is of PE %d", self->pe, sender->owner);
    *at = sender->next;
}

/* ---- memory ------------------------------------------------------------------------------- */

static bool check_overlaps(const skua_layout *layout, const char *memory, size_t bytes)
{
    size_t      span;
    const char *begin = ski_layout_begin(layout, &span);

    return begin < memory + bytes && memory < begin + span;
}

void ski_channel_check_freed(struct ski_pe *self, const char *memory, size_t bytes)
{
    const struct ski_channel_pe *channels = ski_channel_pe(self);

    if (!ski_config.checked_channels)
        return;
    for (struct ski_channel *c = channels->first; c; c = c->next) {
        skua_layout block = skua_layout_contiguous(c->to, c->bytes);

        if (check_overlaps(c->pattern ? &c->pattern->layout : &block, memory, bytes))
            atomic_store_explicit(&c->freed, 1, memory_order_relaxed);
    }
    for (skua_sender *s = channels->senders; s; s = s->next)
        s->freed |= check_overlaps(&s->layout, memory, bytes);
}
