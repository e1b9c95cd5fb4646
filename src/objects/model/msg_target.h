/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_target.h - the object that a message is for.
 *
 * A message that travels names the collection and the index of its target in the second half of its
 * header (core/data/msg.h).  An index of more than 24 bytes continues in the tail of the
 * message, after its data.
 */
#ifndef SKI_MSG_TARGET_H
#define SKI_MSG_TARGET_H

#include <skua/object.h>

#include "core/message/message.h"

/* In place of the length of an index: all elements of the collection, or all members of the section
 * with that id. */
#define SKI_TARGET_ALL     0x7fu
#define SKI_TARGET_SECTION 0x7eu

/** Returns the word of a message that names its target. */
static inline uint64_t ski_target(uint64_t id, uint32_t index_bytes)
{
    return id << 8 | index_bytes;
}

/** Sets the target of @p msg.  Returns @p msg, or another message that takes its place since a long
 * index needs a tail. */
skua_msg *ski_msg_set_target(skua_msg *msg, uint64_t id, const skua_index *index);

/** Returns the index of the target of a message, whose length was checked. */
skua_index ski_msg_index(skua_msg *msg);

/** Returns a message with a copy of @p head and, after it, of @p bytes at @p data. */
skua_msg *ski_msg_with_header(const void *head, size_t head_bytes, const void *data, size_t bytes);

/** Sends @p msg on to @p pe, with its target and handler. */
void ski_msg_forward(struct ski_pe *self, int pe, skua_msg *msg);

/** Sends a copy of @p bytes about an element in a cell of the inbox of @p pe.  Returns false if it
 * does not fit, or cannot be sent now, or not to that PE. */
bool ski_element_try_small(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                           const skua_index *index, const void *data, size_t bytes);

/** Sends a copy of @p bytes to a handler of the runtime on @p pe, in a message about an element. */
void ski_element_post(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                      const skua_index *index, const void *data, size_t bytes);

/** Clears the target of @p msg: an entry, or the program, owns the message from now on. */
static inline void ski_msg_clear_target(skua_msg *msg)
{
    msg->flags &= (uint8_t) ~(SKI_MSG_OBJECT | SKI_MSG_HERE | SKI_MSG_TAIL);
}

#endif
