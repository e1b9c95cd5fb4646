/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channel_net.c - channels of other hosts: whether they exist, and their size.
 *
 * A PE that opens a channel of its own host reads its record.  It does not wait for a channel of
 * another host: it notifies the receiver, which replies only if there is no such channel or its
 * size differs.  A put that finds no channel has the same reply.  The reply is logged, and changes
 * nothing else.
 */
#include "base/assert.h"
#include "core/pe/handler.h"
#include "onesided/channel/channel.h"
#include "onesided/channel/channel_pe.h"

void ski_channel_tell_opened(struct ski_pe *self, int pe, uint64_t key, size_t bytes)
{
    struct ski_channel_head head = {.key = key, .kind = SKI_CHANNEL_OPENED, .bytes = bytes};

    ski_assert(key != 0 && ski_job_index(self->job, pe) < 0);
    ski_channel_send_head(self, pe, &head);
}

/* ---- the receiver --------------------------------------------------------------------------- */

/* Replies that channel @p key has @p bytes, 0 if there is none; @p put: 1 for a put, 0 for an
 * open. */
static void channel_net_refuse(struct ski_pe *self, int pe, uint64_t key, size_t bytes,
                               uint64_t put)
{
    struct ski_channel_head head = {
        .key = key, .kind = SKI_CHANNEL_REFUSED, .bytes = bytes, .put = put};

    ski_channel_send_head(self, pe, &head);
}

void ski_on_channel_opened(struct ski_pe *self, const skua_msg *msg,
                           const struct ski_channel_head *head, const struct ski_channel *channel)
{
    if (channel && channel->bytes == head->bytes)
        return;
    if (channel)
        ski_log(SKI_LOG_ERROR,
                "skua_channel_open of PE %d refused: the sender has %llu bytes, channel %s has %zu",
                msg->source, (unsigned long long)head->bytes, ski_channel_name(channel),
                channel->bytes);
    else
        ski_log(SKI_LOG_ERROR, "skua_channel_open of PE %d refused: PE %d has no such channel",
                msg->source, self->pe);
    channel_net_refuse(self, msg->source, head->key, channel ? channel->bytes : 0, 0);
}

void ski_channel_refuse_put(struct ski_pe *self, int source, uint64_t key, uint64_t bytes,
                            const struct ski_channel *channel)
{
    if (channel)
        ski_log(SKI_LOG_ERROR,
                "skua_channel_put of PE %d dropped: it has %llu bytes, channel %s has %zu", source,
                (unsigned long long)bytes, ski_channel_name(channel), channel->bytes);
    else
        ski_log(SKI_LOG_ERROR, "skua_channel_put of PE %d dropped: PE %d has no such channel",
                source, self->pe);
    channel_net_refuse(self, source, key, channel ? channel->bytes : 0, 1);
}

/* ---- the sender ------------------------------------------------------------------------------ */

void ski_on_channel_refused(const skua_msg *msg, const struct ski_channel_head *head)
{
    const char *call = head->put ? "skua_channel_put" : "skua_channel_open";

    if (head->bytes)
        (void)ski_refuse(SKUA_ERR_INVAL,
                         "%s: the channel of PE %d has %llu bytes, and was opened for another "
                         "number of them",
                         call, msg->source, (unsigned long long)head->bytes);
    else
        (void)ski_refuse(SKUA_ERR_INVAL,
                         "%s: PE %d has no such channel: it was destroyed, or never created%s",
                         call, msg->source, ski_channel_former_hint(ski_self));
}
