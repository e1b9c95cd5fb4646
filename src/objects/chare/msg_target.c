/* SPDX-License-Identifier: Apache-2.0 */
/* msg_target.c - see msg_target.h. */
#include "objects/chare/msg_target.h"

#include <string.h>

#include "core/pe/pe.h"
#include "objects/zerocopy/inplace.h"

static unsigned char *tail_of(struct skua_msg *msg)
{
    return (unsigned char *)skua_msg_data(msg) + ski_msg_tail_offset(msg);
}

/* A copy of @p msg with room behind it for the rest of the index; @p msg goes. */
static SKI_COLD skua_msg *with_tail(skua_msg *msg)
{
    skua_msg *copy = skua_msg_alloc(ski_msg_tail_offset(msg) + SKI_MSG_TAIL_BYTES);

    memcpy(copy, msg, ski_msg_extent(msg));
    skua_msg_free(msg);
    copy->flags |= SKI_MSG_TAIL;
    memset(tail_of(copy), 0, SKI_MSG_TAIL_BYTES);
    return copy;
}

skua_msg *ski_msg_address(skua_msg *msg, uint64_t id, const skua_index *index)
{
    if (SKI_UNLIKELY(index->bytes > SKI_MSG_INDEX_BYTES)) {
        msg = with_tail(msg);
        memcpy(tail_of(msg), index->at.raw + SKI_MSG_INDEX_BYTES,
               index->bytes - SKI_MSG_INDEX_BYTES);
    }
    msg->flags |= SKI_MSG_OBJECT;
    msg->target = ski_target(id, index->bytes);
    memcpy(msg->index, &index->at, SKI_MSG_INDEX_BYTES);
    return msg;
}

skua_index ski_msg_index(skua_msg *msg)
{
    skua_index index = {.bytes = (uint32_t)ski_target_bytes(msg->target)};

    memcpy(&index.at, msg->index, SKI_MSG_INDEX_BYTES);
    if (SKI_UNLIKELY(index.bytes > SKI_MSG_INDEX_BYTES))
        memcpy(index.at.raw + SKI_MSG_INDEX_BYTES, tail_of(msg), index.bytes - SKI_MSG_INDEX_BYTES);
    return index;
}

skua_msg *ski_msg_headed(const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(head_bytes + bytes);
    char     *at  = skua_msg_data(msg);

    memcpy(at, head, head_bytes);
    if (bytes)
        memcpy(at + head_bytes, data, bytes);
    return msg;
}

void ski_pass_on(struct ski_pe *self, int pe, skua_msg *msg)
{
    if (SKI_UNLIKELY(ski_msg_lands(msg)))
        msg = ski_landing_whole(msg);
    if (pe != self->pe && ski_job_index(self->job, pe) < 0)
        msg->source = self->pe; /* a packet proves who sent it (core/net/packet.h) */
    ski_msg_post(self, pe, msg->handler, msg);
}

void ski_post_about(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                    const skua_index *index, const void *data, size_t bytes)
{
    skua_msg *msg = ski_msg_address(ski_msg_copy(self, handler, data, bytes), id, index);

    ski_msg_post(self, pe, handler, msg);
}
