/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_check.c - channels in checked mode: each put is looked at before anything is written.
 *
 * Puts and marks of a channel are counted in its record, which senders of the host see: put n,
 * counted from 0, of a channel with s senders is right if n < s * (marks + 1).  What comes
 * from other hosts is looked at when it arrives, in the same way.  The memory is looked after
 * by those who give it back: skua_channel_free() and skua_region_free() tell the channels and
 * senders that use it.
 *
 * Data that are not copied at the put have a sum then: of those that are lent it is compared when
 * the receiver is ready, and of those that are sent to another host from where they lie when they
 * arrive.
 *
 * A sender that is checked points at put_checked() and remembers the way that it had, so the
 * others pay nothing.
 */
#include <string.h>

#include "base/config.h"
#include "onesided/channel/channel.h"
#include "onesided/rma/rma_pe.h"

#define SUM_FACTOR UINT64_C(0x9e3779b97f4a7c15)

typedef unsigned long long number;

skua_status_t ski_check_size(struct ski_pe *self, const char *call, const skua_sender *sender,
                             const struct ski_channel *channel)
{
    static const char format[] = "%s: channel %s from PE %d to PE %d: %zu bytes for one of %zu";

    if (ski_config.checked_channels)
        ski_misuse(format, call, ski_channel_name(channel), self->pe, channel->pe, sender->bytes,
                   channel->bytes);
    return ski_refuse(SKUA_ERR_INVAL, format, call, ski_channel_name(channel), self->pe,
                      channel->pe, sender->bytes, channel->bytes);
}

/* ---- sums ----------------------------------------------------------------------------- */

static uint64_t sum_block(uint64_t sum, const char *from, size_t bytes)
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

uint32_t ski_check_sum(const char *from, size_t bytes)
{
    uint32_t sum = (uint32_t)sum_block(bytes, from, bytes);

    return sum ? sum : 1;
}

static SKI_COLD _Noreturn void changed_too_early(const char *name, int source, int pe, uint64_t put)
{
    ski_misuse("channel %s from PE %d to PE %d: the data of put %llu changed after "
               "skua_channel_put() and before the put was locally complete; "
               "skua_channel_put_wait() before they are written again",
               name, source, pe, (number)put);
}

/* ---- counting ------------------------------------------------------------------------ */

/* Counts a put; true: it was its turn.  *now is its number. */
static bool count(struct ski_channel *channel, uint64_t *now)
{
    /* Acquire: pairs with the release in skua_channel_mark(). */
    uint64_t marks = atomic_load_explicit(&channel->ready, memory_order_acquire);

    *now = atomic_fetch_add_explicit(&channel->puts, 1, memory_order_relaxed);
    return *now < channel->senders * (marks + 1);
}

static SKI_COLD _Noreturn void out_of_turn(const struct ski_channel *channel, int source,
                                           uint64_t now)
{
    uint64_t seen = atomic_load_explicit(&channel->arrived, memory_order_relaxed);

    if (channel->combines)
        ski_misuse("channel %s from PE %d to PE %d: put %llu of %u senders, before the receiver "
                   "was ready again",
                   ski_channel_name(channel), source, channel->pe, (number)now + 1,
                   channel->senders);
    if (seen < now)
        ski_misuse("channel %s from PE %d to PE %d: put %llu while put %llu is on its way",
                   ski_channel_name(channel), source, channel->pe, (number)now + 1,
                   (number)seen + 1);
    ski_misuse("channel %s from PE %d to PE %d: put %llu before the receiver was ready",
               ski_channel_name(channel), source, channel->pe, (number)now + 1);
}

void ski_check_arrival(struct ski_channel *channel, int source, const struct ski_channel_head *head)
{
    uint64_t now;

    if (ski_job_index(ski_self->job, source) >= 0 || head->kind != SKI_CHANNEL_DATA)
        return; /* its sender has looked */
    if (atomic_load_explicit(&channel->freed, memory_order_relaxed))
        ski_misuse("channel %s from PE %d to PE %d: put %llu into memory that was freed",
                   ski_channel_name(channel), source, channel->pe, (number)head->put);
    if (!count(channel, &now))
        out_of_turn(channel, source, now);
    if (head->sum && head->bytes == channel->bytes &&
        ski_check_sum((const char *)(head + 1), head->bytes) != head->sum)
        changed_too_early(ski_channel_name(channel), source, channel->pe, head->put);
}

/* ---- putting ---------------------------------------------------------------------------- */

void ski_check_put(const skua_sender *sender, int source)
{
    struct ski_channel *channel = sender->channel;
    uint64_t            now;

    if (channel->key != sender->key)
        ski_misuse("a channel from PE %d to PE %d: put %llu, but it was deleted", source,
                   sender->pe, (number)sender->puts);
    if (atomic_load_explicit(&channel->freed, memory_order_relaxed))
        ski_misuse("channel %s from PE %d to PE %d: put %llu into memory that was freed",
                   ski_channel_name(channel), source, channel->pe, (number)sender->puts);
    if (!count(channel, &now))
        out_of_turn(channel, source, now);
}

static void put_checked(skua_sender *sender, const char *from)
{
    struct ski_pe *self = SKI_SELF();

    sender->puts++;
    if (self->pe != sender->owner)
        ski_misuse("a channel from PE %d to PE %d: put %llu on PE %d", sender->owner, sender->pe,
                   (number)sender->puts, self->pe);
    if (sender->freed && from == sender->from)
        ski_misuse("channel %s from PE %d to PE %d: put %llu from memory that was freed",
                   sender->channel ? ski_channel_name(sender->channel) : "(far)", self->pe,
                   sender->pe, (number)sender->puts);
    if (sender->channel)
        ski_check_put(sender, self->pe);
    if (sender->lent)
        ski_check_lending(sender->lent, sender, from);
    sender->unchecked(sender, from);
}

void ski_check_sender(struct ski_pe *self, skua_sender *sender)
{
    struct ski_channels *channels = &ski_origin_of(self)->channels;

    sender->owner     = self->pe;
    sender->unchecked = sender->put;
    sender->put       = put_checked;
    sender->next      = channels->senders;
    channels->senders = sender;
}

void ski_check_no_more(struct ski_pe *self, skua_sender *sender)
{
    skua_sender **at = &ski_origin_of(self)->channels.senders;

    while (*at && *at != sender)
        at = &(*at)->next;
    if (!*at)
        ski_misuse("skua_channel_close on PE %d: this sender is of PE %d", self->pe, sender->owner);
    *at = sender->next;
}

/* ---- lending ------------------------------------------------------------------------------ */

static uint64_t sum_of(const skua_layout *layout)
{
    skua_strided     strided = ski_layout_strided(layout);
    struct ski_shape shape   = ski_shape_strided(layout->at, &strided);
    struct ski_runs  runs;
    struct ski_run   run;
    uint64_t         sum = 0;

    ski_runs_begin(&runs, &shape);
    while (ski_runs_next(&runs, &run))
        sum = sum_block(sum, run.local, run.bytes);
    return sum;
}

void ski_check_lending(struct ski_lent *lent, const skua_sender *sender, const char *from)
{
    lent->view.at = (void *)(uintptr_t)from;
    lent->put     = sender->puts;
    lent->sum     = sum_of(&lent->view);
}

void ski_check_returned(const struct ski_channel *channel)
{
    const struct ski_lent *lent = channel->lent;

    if (sum_of(&lent->view) != lent->sum)
        ski_misuse("channel %s from PE %d to PE %d: what put %llu lent was changed before the "
                   "receiver was ready",
                   ski_channel_name(channel), lent->pe, channel->pe, (number)lent->put);
}

/* ---- memory ------------------------------------------------------------------------------- */

static bool overlaps(const skua_layout *layout, const char *memory, size_t bytes)
{
    size_t      span;
    const char *begin = ski_layout_begin(layout, &span);

    return begin < memory + bytes && memory < begin + span;
}

void ski_check_freed(struct ski_pe *self, const char *memory, size_t bytes)
{
    const struct ski_channels *channels = &ski_origin_of(self)->channels;

    for (struct ski_channel *c = channels->first; c; c = c->next) {
        skua_layout block = skua_layout_of(c->to, c->bytes);

        if (overlaps(c->pattern ? &c->pattern->layout : &block, memory, bytes))
            atomic_store_explicit(&c->freed, 1, memory_order_relaxed);
    }
    for (skua_sender *s = channels->senders; s; s = s->next)
        s->freed |= overlaps(&s->layout, memory, bytes);
}
