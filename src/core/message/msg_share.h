/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_share.h - a message that several receivers on one PE keep without a copy for each.
 *
 * A multicast is delivered in place: each receiver reads the data of one message, which belongs to
 * the code that delivers it.  While an entry runs, that code offers the message
 * (struct ski_objects).  A receiver that needs the data longer than its entry runs becomes a holder
 * of the message; the last holder frees it.  No holder may change the data.
 *
 * Holders are counted in `target`.  A multicast is no message to an object, and no object buffers
 * one that has holders, so `target` has no other use in it.  All holders are on one PE, so the
 * count is not atomic.  An object that migrates is packed, which copies the data.
 */
#ifndef SKI_MSG_SHARE_H
#define SKI_MSG_SHARE_H

#include "base/assert.h"
#include "core/data/msg.h"

/** Returns whether @p msg has holders. */
static inline bool ski_msg_is_shared(const struct skua_msg *msg)
{
    return msg->flags & SKI_MSG_SHARED;
}

/** Returns whether @p bytes at @p data are in the data of @p msg. */
static inline bool ski_msg_has(const struct skua_msg *msg, const void *data, size_t bytes)
{
    uintptr_t at = (uintptr_t)data - (uintptr_t)(msg + 1);

    return at <= msg->bytes && bytes <= msg->bytes - at;
}

/** Adds a holder to @p msg, which is offered; with the first one, its owner becomes a holder. */
static inline void ski_msg_share(struct skua_msg *msg)
{
    ski_assert(!(msg->flags & (SKI_MSG_OBJECT | SKI_MSG_HERE)));
    if (!ski_msg_is_shared(msg)) {
        msg->flags |= SKI_MSG_SHARED;
        msg->target = 1;
    }
    msg->target++;
}

/** Removes a holder, or the owner of a message that may have none.  Returns whether no holder is
 *  left: the caller frees the message, which is an ordinary one again. */
static inline bool ski_msg_unshare(struct skua_msg *msg)
{
    if (!ski_msg_is_shared(msg))
        return true;
    ski_assert(msg->target > 0);
    if (--msg->target > 0)
        return false;
    msg->flags &= (uint8_t)~SKI_MSG_SHARED;
    return true;
}

#endif
