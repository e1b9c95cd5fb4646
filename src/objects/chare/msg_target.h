/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg_target.h - which object a message is for.
 *
 * A message that travels names collection and index, in the second half of its header
 * (core/message/message.h); an index of more than 24 bytes ends in its tail.
 */
#ifndef SKI_MSG_TARGET_H
#define SKI_MSG_TARGET_H

#include <skua/object.h>

#include "core/message/message.h"

/* In the place of the number of index bytes: all objects of the collection. */
#define SKI_TARGET_ALL     0xffu
#define SKI_TARGET_SECTION 0xfeu /* the members of a section, by its id */

static inline uint64_t ski_target(uint64_t id, uint32_t index_bytes)
{
    return id << 8 | index_bytes;
}

/** Write the reference into @p msg; a long index may need another message, which is
 *  returned then. */
skua_msg *ski_msg_address(skua_msg *msg, uint64_t id, const skua_index *index);

/** The index in a message, whose length was checked. */
skua_index ski_msg_index(skua_msg *msg);

/** A message of @p head and, behind it, a copy of @p bytes at @p data. */
skua_msg *ski_msg_headed(const void *head, size_t head_bytes, const void *data, size_t bytes);

/** Post it, addressed as it is, to @p pe. */
void ski_pass_on(struct ski_pe *self, int pe, skua_msg *msg);

/** A message with a reference and a copy of @p bytes, for one of the runtime's handlers. */
void ski_post_about(struct ski_pe *self, int pe, uint32_t handler, uint64_t id,
                    const skua_index *index, const void *data, size_t bytes);

/** It is an entry's, or the program's, from now on: a message as any other. */
static inline void ski_msg_strip(skua_msg *msg)
{
    msg->flags &= (uint8_t) ~(SKI_MSG_OBJECT | SKI_MSG_HERE | SKI_MSG_TAIL);
}

#endif
