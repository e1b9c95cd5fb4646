/* SPDX-License-Identifier: Apache-2.0 */
/* msg_target.c - see msg_target.h. */
#include "objects/model/msg_target.h"

#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "core/message/message.h"
#include "core/pe/pe.h"
#include "objects/model/class.h"

static unsigned char *msg_target_tail(struct skua_msg *msg)
{
    return (unsigned char *)skua_msg_data(msg) + ski_msg_tail_offset(msg);
}

/* Returns a copy of @p msg with a tail for the rest of an index; @p msg is freed. */
static SKI_COLD skua_msg *msg_target_add_tail(skua_msg *msg)
{
    skua_msg *copy = skua_msg_alloc(ski_msg_tail_offset(msg) + SKI_MSG_TAIL_BYTES);

    memcpy(copy, msg, ski_msg_extent(msg));
    skua_msg_free(msg);
    copy->flags |= SKI_MSG_TAIL;
    memset(msg_target_tail(copy), 0, SKI_MSG_TAIL_BYTES);
    return copy;
}

skua_msg *ski_msg_set_target(skua_msg *msg, uint64_t id, const skua_index *index)
{
    ski_assert(index->bytes <= SKUA_INDEX_MAX);
    if (SKI_UNLIKELY(index->bytes > SKI_MSG_INDEX_BYTES)) {
        msg = msg_target_add_tail(msg);
        memcpy(msg_target_tail(msg), index->at.raw + SKI_MSG_INDEX_BYTES,
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

    ski_assert(msg->flags & SKI_MSG_OBJECT && index.bytes <= SKUA_INDEX_MAX);
    memcpy(&index.at, msg->index, SKI_MSG_INDEX_BYTES);
    if (SKI_UNLIKELY(index.bytes > SKI_MSG_INDEX_BYTES))
        memcpy(index.at.raw + SKI_MSG_INDEX_BYTES, msg_target_tail(msg),
               index.bytes - SKI_MSG_INDEX_BYTES);
    return index;
}

skua_msg *ski_msg_with_header(const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(head_bytes + bytes);
    char     *at  = skua_msg_data(msg);

    memcpy(at, head, head_bytes);
    if (bytes)
        ski_copy(at + head_bytes, data, bytes);
    return msg;
}

void ski_msg_forward(struct ski_pe *self, int pe, skua_msg *msg)
{
    const struct ski_entry *entry = &ski_entries[msg->handler];

    if (SKI_UNLIKELY(entry->flags & SKI_ENTRY_INPLACE))
        msg = entry->ops->to_forward(msg);
    if (pe != self->pe && ski_job_index(self->job, pe) < 0)
        msg->source = self->pe; /* packets carry the PE that sent them (core/net/packet.h) */
    ski_msg_post(self, pe, msg->handler, msg);
}

bool ski_element_try_small(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                           const skua_index *index, const void *data, size_t bytes)
{
    size_t        head                = 8 + (size_t)(index->bytes + 7) / 8 * 8;
    uint64_t      target              = ski_target(id, index->bytes);
    unsigned char cell[SKI_CELL_DATA] = {0};

    if (head + bytes > sizeof cell || index->bytes > SKI_MSG_INDEX_BYTES)
        return false;
    memcpy(cell, &target, sizeof target);
    memcpy(cell + sizeof target, &index->at, index->bytes);
    if (bytes)
        memcpy(cell + head, data, bytes);
    return ski_msg_try_small(self, pe, handler, SKI_MSG_OBJECT, cell, head + bytes);
}

void ski_element_post(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                      const skua_index *index, const void *data, size_t bytes)
{
    if (!ski_element_try_small(self, pe, handler, id, index, data, bytes))
        ski_msg_post(self, pe, handler,
                     ski_msg_set_target(ski_msg_copy(self, handler, data, bytes), id, index));
}
