/* SPDX-License-Identifier: Apache-2.0 */
/* object_channel_msg.c - see object_channel_msg.h. */
#include "objects/zerocopy/object_channel_msg.h"

#include "core/pe/handler.h"
#include "objects/location/location.h"
#include "objects/model/msg_target.h"

void ski_object_channel_post_to(struct ski_pe *self, const skua_ref *to,
                                const struct ski_object_channel_head *head)
{
    struct ski_collection *all = ski_collection_expect(self->objects, to->of.id);
    int                    pe  = self->pe;

    if (!all || all->state == SKI_ENDED ||
        (all->state == SKI_EXISTS && !ski_index_valid(all, &to->index)))
        return;
    if (all->state == SKI_EXISTS && !ski_element_here(all, &to->index))
        pe = ski_lookup_believed(all, &to->index);
    ski_element_post(self, pe, SKI_HANDLER_OBJECT_CHANNEL, to->of.id, &to->index, head,
                     sizeof *head);
}

void ski_object_channel_post(const struct ski_object_end *end, enum ski_object_channel_kind kind,
                             uint32_t about)
{
    struct ski_object_channel_head head = {.id      = end->state.id,
                                           .kind    = (uint32_t)kind,
                                           .epoch   = end->state.epoch,
                                           .about   = about,
                                           .puts    = end->state.puts,
                                           .bytes   = end->bytes,
                                           .channel = end->channel,
                                           .from    = skua_ref_of(end->of->object + 1)};

    ski_object_channel_post_to(ski_object_channel_pe(end), &end->state.peer, &head);
}

void ski_object_end_offer(struct ski_object_end *end)
{
    end->offered = true;
    ski_object_channel_post(end, SKI_OBJECT_CHANNEL_OFFER, end->state.peer_epoch);
}
