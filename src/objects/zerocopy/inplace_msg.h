/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inplace_msg.h - the layout of a message for in-place delivery.
 *
 *      struct ski_inplace | head | view | data
 *
 * A head of eight bytes is in the cache line that the scheduler prefetches with the header.  The
 * *view* is the layout of the data, set by the receiver.
 *
 * A message whose data is in memory of the receiver, *apart*, ends before its data.  Before the
 * receiver migrates, or frees that memory, such a message gets its data back: one that has not been
 * delivered is given a complete copy to be replaced by (`whole`).
 */
#ifndef SKI_INPLACE_MSG_H
#define SKI_INPLACE_MSG_H

#include <skua/inplace.h>

#include "objects/chare/entry.h"
#include "objects/model/element.h"

struct ski_learned_channel;

/* The header of a message for in-place delivery. */
struct ski_inplace {
    int64_t                     reference;
    uint64_t                    bytes;   /* bytes of data */
    uint32_t                    head;    /* bytes of the head */
    uint32_t                    apart;   /* set by the receiver: the data is where the view says */
    struct ski_learned_channel *channel; /* inside a host: that it was sent on, or NULL */
    uint64_t                    number;  /* of the message on the channel, from 1 on */
    int64_t                     step;    /* from this reference to the next; 0: not known */
    skua_msg                   *whole;   /* inside a host: a copy with the data, or NULL */
};

_Static_assert(sizeof(struct ski_inplace) + 8 == SKI_CACHE_LINE, "see above");

/* An entry for in-place delivery. */
struct ski_inplace_entry {
    struct ski_entry_ops ops; /* first */
    skua_inplace_fn      land;
};

/** Returns the first part of @p msg, which is for in-place delivery. */
static inline struct ski_inplace *ski_inplace_of(const skua_msg *msg)
{
    return (struct ski_inplace *)(uintptr_t)(msg + 1);
}

/** Returns the function that says where the data of an entry for in-place delivery goes, or NULL.
 */
static inline skua_inplace_fn ski_inplace_fn(const struct ski_entry *entry)
{
    return ((const struct ski_inplace_entry *)(const void *)entry->ops)->land;
}

/** Returns whether the entry of @p msg is one for in-place delivery. */
static inline bool ski_msg_is_inplace(const skua_msg *msg)
{
    return ski_entries[msg->handler].flags & SKI_ENTRY_INPLACE;
}

/** Returns the head of a message; the view follows it. */
static inline char *ski_inplace_head(const struct ski_inplace *inplace)
{
    return (char *)(uintptr_t)(inplace + 1);
}

/** Returns the layout of the data, which ski_inplace_set_view() sets. */
static inline skua_layout *ski_inplace_view(const struct ski_inplace *inplace)
{
    return (skua_layout *)(void *)(ski_inplace_head(inplace) + ((inplace->head + 7) & ~(size_t)7));
}

/** Returns the number of bytes of a message before its data, a multiple of 16. */
static inline size_t ski_inplace_bytes_before(const struct ski_inplace *inplace)
{
    size_t end = (size_t)((char *)(ski_inplace_view(inplace) + 1) - (const char *)inplace);

    return (end + 15) & ~(size_t)15;
}

/** Returns the data of a message that carries it, or the room for it. */
static inline char *ski_inplace_room(const struct ski_inplace *inplace)
{
    return (char *)(uintptr_t)inplace + ski_inplace_bytes_before(inplace);
}

/** Returns a new message like @p like, with @p head, and room for @p room bytes of data. */
skua_msg *ski_inplace_new(const struct ski_inplace *like, const void *head, size_t room);

/** Returns the layout of the data of a message that has arrived, which it sets if the message
 * carries the data. */
const skua_layout *ski_inplace_set_view(struct ski_inplace *inplace);

/** Returns a copy of @p msg that carries its data. */
skua_msg *ski_inplace_copy(const skua_msg *msg);

/** Tags @p whole, a copy of @p msg, as one that may replace it. */
void ski_inplace_tag_copy(skua_msg *whole, const skua_msg *msg);

/** Returns whether @p whole, an address that @p msg gives, is the tagged copy of that message. */
bool ski_inplace_is_copy(const skua_msg *whole, const skua_msg *msg);

#endif
