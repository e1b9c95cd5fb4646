/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_alloc.h - new messages.
 *
 * A message is a block of the PE's pool.  Its header starts zeroed, except for the half that only
 * messages to objects use.
 */
#ifndef SKI_MSG_ALLOC_H
#define SKI_MSG_ALLOC_H

#include <string.h>

#include "base/copy.h"
#include "core/data/msg.h"
#include "core/pe/pe.h"

/** Allocates a message with @p bytes of data and room for @p extra bytes after them.  Ends the job
 * if the arena is full. */
SKI_COLD struct skua_msg *ski_msg_new_slow(struct ski_pe *self, size_t bytes, size_t extra);

/** Prepares the header of a new message; the half for objects is left as it is. */
static inline struct skua_msg *ski_msg_init(struct skua_msg *msg, size_t bytes)
{
    ski_assert((uintptr_t)msg % SKI_CACHE_LINE == 0);
    msg->bytes = bytes;
    memset(&msg->handler, 0, offsetof(struct skua_msg, link) - offsetof(struct skua_msg, handler));
    msg->link = NULL;
    return msg;
}

/** Allocates a message with @p bytes of data.  Ends the job if the arena is full. */
static inline struct skua_msg *ski_msg_new(struct ski_pe *self, size_t bytes)
{
    struct skua_msg *msg = NULL;

    if (SKI_LIKELY(bytes < SKI_SMALL_BYTES))
        msg = ski_pool_cached(&self->pool, sizeof *msg + bytes);
    if (SKI_UNLIKELY(!msg))
        return ski_msg_new_slow(self, bytes, 0);
    return ski_msg_init(msg, bytes);
}

/** Allocates a message with a copy of @p bytes at @p data, ready to be sent to @p handler: for the
 *  fast paths of message.c. */
static inline struct skua_msg *ski_msg_copy_inline(struct ski_pe *self, uint32_t handler,
                                                   const void *data, size_t bytes)
{
    struct skua_msg *msg = ski_msg_new(self, bytes);

    ski_assert(handler <= self->handlers); /* 0: a copy that is kept, not sent */
    msg->handler = (uint16_t)handler;
    msg->source  = self->pe;
    if (bytes)
        ski_copy((char *)(msg + 1), data, bytes);
    return msg;
}

/** Allocates a message with a copy of @p bytes at @p data, ready to be sent to @p handler. */
struct skua_msg *ski_msg_copy(struct ski_pe *self, uint32_t handler, const void *data,
                              size_t bytes);

/** Sets the integer priority of @p msg. */
static inline void ski_msg_set_priority(struct skua_msg *msg, int32_t priority)
{
    unsigned others = msg->flags & ~(unsigned)(SKI_MSG_BITS | SKI_MSG_INT);

    msg->priority = priority;
    msg->flags    = (uint8_t)(others | (priority != 0 ? SKI_MSG_INT : 0));
}

#endif
