/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_table.h - the table of regions behind region.h: places and ids.
 *
 * A place is taken, filled and published under the lock of the root; a place
 * that was freed waits behind others before it is used again, and gets the next
 * generation then.
 *
 * In a job that is spread over several arenas there is a table in each, and an id
 * means something only on the host of the PE that it goes with, but for symmetric
 * regions: their ids, of places of their own, are agreed on.
 */
#ifndef SKI_REGION_TABLE_H
#define SKI_REGION_TABLE_H

#include "onesided/region/region.h"

/* What errors say of a region besides its number; guarded by the lock of the root. */
struct ski_region_label {
    uint32_t id;       /* of the region that this is about; it may be gone    */
    uint64_t site;     /* where it was made: an offset in the program, or 0   */
    char     name[48]; /* as the program calls it, or ""                      */
};

struct ski_region_root {
    struct ski_lock lock; /* guards all of this, and what is not in use of the table */
    uint32_t        places, fresh;
    uint32_t        common; /* places below have the same region on all hosts (symmetric_alloc.h) */
    uint32_t        free_first, free_last, free_count;
    struct ski_note         *notes; /* region.c */
    struct ski_region       *table;
    struct ski_region_label *labels; /* one for each place of the table */
};

/* In this process; NULL before skua_main(). */
extern struct ski_region_root *ski_region_root;

/** A free place, or NULL, logged.  The caller holds the lock. */
struct ski_region *ski_table_take(void);

/** Make @p region, in its place, like @p like, and known by an id, which is
 *  returned.  The caller holds the lock. */
uint32_t ski_table_publish(struct ski_region *region, const struct ski_region *like);

/** The same, by the id that all hosts have agreed on, in the place that it says; false,
 *  logged: there is no such place. */
bool ski_table_publish_as(uint32_t id, const struct ski_region *like);

/** Whether the region of that id is one that hosts have in common. */
static inline bool ski_table_common(uint32_t id)
{
    return (id & (ski_region_root->places - 1)) < ski_region_root->common;
}

/** Take a place and publish it; its id, or 0. */
uint32_t ski_table_make(const struct ski_region *like);

/** Forget a region; its place becomes free. */
void ski_table_remove(struct ski_region *region);

/** The region of an id, or NULL. */
struct ski_region *ski_table_find(skua_region region);

/** The number of a PE's piece among those here, or -1; whether it has one. */
int64_t ski_region_rank(const struct ski_region *region, int pe);
bool    ski_region_has(const struct ski_region *region, int pe);

/** Whether it has one, here or on another host. */
bool ski_region_member(const struct ski_region *region, int pe);

/** How many pieces are here. */
static inline uint32_t ski_region_pieces(const struct ski_region *region)
{
    return region->here ? region->pieces : region->members;
}

/* ---- labels (region_label.c) ----------------------------------------------------------- */

/** Note that region @p id was made by the call that returns to @p site, unless it has a site. */
void ski_region_made_at(uint32_t id, const void *site);

#define SKI_REGION_TEXT 256

/** Region @p id for people: its number, its name, where it was made, as far as they are known. */
const char *ski_region_text(uint32_t id, char text[SKI_REGION_TEXT]);

/** The PE that stands for the caller: itself, or the first of its process. */
int32_t ski_caller_pe(void);

#endif
