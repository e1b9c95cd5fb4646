/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inplace.h - messages whose data land (skua/landing.h), as they travel.
 *
 *      struct ski_landing | head | view | data
 *
 * A head of eight bytes is in the cache line that the scheduler fetches with the header.
 *
 * A message whose data have landed elsewhere, *apart*, ends with its head.  Before its
 * receiver moves, or deletes what it has landed in, it is made whole again: if it has not been
 * delivered it is given another message to be replaced by (`whole`).
 */
#ifndef SKI_INPLACE_H
#define SKI_INPLACE_H

#include <skua/landing.h>

#include "objects/chare/entry.h"
#include "objects/model/element.h"

struct ski_lane;

struct ski_landing {
    int64_t          reference;
    uint64_t         bytes;  /* of data                                                */
    uint32_t         head;   /* bytes of it                                            */
    uint32_t         apart;  /* the receiver's: the data have landed, where the view says */
    struct ski_lane *lane;   /* on its way inside of a host: learned_channel.h; or NULL           */
    uint64_t         number; /* of messages on it, from 1 on                           */
    int64_t          step;   /* what the next reference will be beyond; 0: not known   */
    skua_msg        *whole;  /* likewise: this one with its data, or NULL              */
};

_Static_assert(sizeof(struct ski_landing) + 8 == SKI_CACHE_LINE, "see above");

static inline struct ski_landing *ski_landing_of(const skua_msg *msg)
{
    return (struct ski_landing *)(uintptr_t)(msg + 1);
}

/** Where data of an entry that is SKI_ENTRY_LANDS land, or NULL. */
skua_land_fn ski_landing_fn(const struct ski_entry *entry);

/** Whether the entry of a message is SKI_ENTRY_LANDS. */
static inline bool ski_msg_lands(const skua_msg *msg)
{
    return ski_entries[msg->handler].flags & SKI_ENTRY_LANDS;
}

/** Its head, of which the view is behind: where the data are, once somebody has asked. */
static inline char *ski_landing_head(const struct ski_landing *landing)
{
    return (char *)(uintptr_t)(landing + 1);
}

static inline skua_layout *ski_landing_view(const struct ski_landing *landing)
{
    return (skua_layout *)(void *)(ski_landing_head(landing) + ((landing->head + 7) & ~(size_t)7));
}

/** Show that @p whole, a copy of a message that is on its way, may take the place of that. */
void ski_landing_tag_whole(skua_msg *whole);

/** A copy of one, with its data; whether one that has come from elsewhere is such a copy. */
skua_msg *ski_landing_copy(const skua_msg *msg);
bool      ski_landing_came(skua_msg *msg);

#endif
