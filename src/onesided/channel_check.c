/* SPDX-License-Identifier: Apache-2.0 */
/* channel_check.c - checked mode. */
#include "onesided/channel.h"

skua_status_t ski_check_size(struct ski_pe *self, const char *call, const skua_sender *sender,
                    const struct ski_channel *channel)
{
    return ski_refuse(SKUA_ERR_INVAL, "%s: channel %s from PE %d to PE %d: the sender has %zu bytes, the channel %zu",
            call, channel->name ? channel->name : "(no name)", self->pe, channel->pe, sender->bytes, channel->bytes);
}
void ski_check_sender(struct ski_pe *self, skua_sender *sender) { (void)self,(void)sender; }
void ski_check_no_more(struct ski_pe *self, skua_sender *sender) { (void)self,(void)sender; }
void ski_check_arrival(struct ski_channel *channel, int source, const struct ski_channel_head *head) { (void)channel,(void)source,(void)head; }
void ski_check_freed(struct ski_pe *self, const char *memory, size_t bytes) { (void)self,(void)memory,(void)bytes; }
