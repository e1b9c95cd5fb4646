/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - sending messages, to any PE of the job. */
#ifndef SKI_MESSAGE_H
#define SKI_MESSAGE_H

#include <skua/message.h>

#include "core/data/msg.h"
#include "core/message/msg_alloc.h"
#include "core/pe/pe.h"

/** Sends up to SKI_CELL_DATA bytes inside a cell, as a message with @p flags.  Returns false if @p
 * pe is on another host or its inbox is full. */
bool ski_msg_try_small(struct ski_pe *self, int pe, uint32_t handler, unsigned flags,
                       const void *data, size_t bytes);

/** Sends a copy of @p msg, with SKI_MSG_TAIL_BYTES of @p tail after its data, in a cell.  Returns
 * false if it does not fit or has a priority, if @p pe is on another host, or if its inbox is
 * full. */
bool ski_msg_try_tailed(struct ski_pe *self, int pe, uint32_t handler, const struct skua_msg *msg,
                        const void *tail);

/** Hands @p msg, whose header is filled in, to @p pe, which is not this PE. */
void ski_msg_send_away(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg);

/** Hands @p msg, whose header is filled in, to @p pe, which is on another host. */
void ski_msg_send_remote(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg);

/** Hands @p msg, whose header is filled in, to @p pe, or queues it here. */
static inline void ski_msg_post(struct ski_pe *self, int pe, uint32_t handler, struct skua_msg *msg)
{
    if (pe != self->pe)
        ski_msg_send_away(self, pe, handler, msg);
    else
        ski_queue_push(&self->queue, msg, msg->flags);
}

#endif
