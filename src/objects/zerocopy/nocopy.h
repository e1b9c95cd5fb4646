/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy.h - messages with parts (skua/parts.h), as they travel.
 *
 *      head | piece, its data or buffer | piece, ... | struct ski_parts
 *
 * Pieces begin at multiples of 16.  One is followed by its data, or by a buffer: the sender's
 * memory, or where the part is now.  What is done with a part at the end is the completion in
 * that buffer: telling the sender, or freeing what was made for it, on whatever PE.  So a message
 * may be sent on, or move with its object, and its parts are found again.
 *
 * To all PEs: the sender sends the message to one PE of each host, which sees to it that all of
 * its host reach the parts, and then sends it to each; a *share* counts who is through with one.
 *
 * To all elements of an array, and to sections, messages go as broadcasts do (array_broadcast.h,
 * section_multicast.h), below a head of the runtime's.  How many elements there are is known to
 * nobody. So each PE *holds* what it gets: a share of its own counts the copies that it makes of
 * it, for its elements or to be sent on, and tells the PE it came from when the last is through.
 */
#ifndef SKI_NOCOPY_H
#define SKI_NOCOPY_H

#include <skua/parts.h>

#include "base/arch.h"
#include "objects/model/lifecycle.h"

struct ski_pe;

enum ski_piece_kind { SKI_PIECE_DATA, SKI_PIECE_BUFFER };

struct ski_part {
    uint64_t bytes;
    uint32_t kind; /* enum ski_piece_kind                                     */
    uint32_t unused;
    void    *posted;     /* where the program wanted it, and has it, or NULL ... */
    uint64_t posted_tag; /* ... on the PE that set it: core/message/addr_tag.h                */
};

struct ski_parts {
    uint64_t magic;
    uint64_t first; /* bytes of the head: pieces begin there, aligned */
    uint32_t count;
    uint32_t posted; /* the receiver has been asked where they shall land */
    uint64_t unused; /* a multiple of 16 */
};

#define SKI_PARTS_MAGIC UINT64_C(0x7061727473206f66)
#define SKI_PARTS_LEAST (16 + sizeof(struct ski_parts))

extern const struct ski_lifecycle ski_nocopy_lifecycle;

void ski_on_parts(skua_msg *msg);

/** The message with @p bytes of @p head, a multiple of 16, before it; @p msg is used up. */
skua_msg *ski_parts_headed(const void *head, size_t bytes, skua_msg *msg);

/** Send it to @p handler on all PEs, which all of a host reach its parts then. */
void ski_parts_to_all(struct ski_pe *self, uint32_t handler, skua_msg *msg);

/** Whether all PEs of this host reach its parts.  If not they are brought, and the message is
 *  queued here once more. */
bool ski_parts_near(skua_msg *msg);

/** It has come: from now on its parts are free when all copies are that were counted here, and it
 *  itself.  One more copy of what is held is made, and freed with skua_parts_free(). */
void ski_parts_hold(skua_msg *msg);
void ski_parts_more(const void *data, size_t bytes);

/** A copy of what is held, counted, without its first @p head bytes. */
skua_msg *ski_parts_copy(uint32_t handler, const void *data, size_t bytes, size_t head);

/** The end of a message with parts that goes nowhere: its senders hear of it, if the job goes on.
 */
void ski_parts_drop(skua_msg *msg);

/** The same of messages of the runtime's that may have @p parts. */
static inline void ski_parts_free_any(skua_msg *msg, bool parts)
{
    if (SKI_UNLIKELY(parts))
        ski_parts_drop(msg);
    else
        skua_msg_free(msg);
}

static inline void ski_parts_more_any(const void *data, size_t bytes, bool parts)
{
    if (SKI_UNLIKELY(parts))
        ski_parts_more(data, bytes);
}

#endif
