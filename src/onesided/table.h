/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - the table of regions behind region.h: places and ids.
 *
 * A place is taken, filled and published under the lock of the root; a place
 * that was freed waits behind others before it is used again, and gets the next
 * generation then.
 */
#ifndef SKI_TABLE_H
#define SKI_TABLE_H

#include "onesided/region.h"

struct ski_region_root {
    struct ski_lock    lock; /* guards all of this, and what is not in use of the table */
    uint32_t           places, fresh;
    uint32_t           free_first, free_last, free_count;
    struct ski_note   *notes; /* region.c */
    struct ski_region *table;
};

/* In this process; NULL before skua_main(). */
extern struct ski_region_root *ski_region_root;

/** A free place, or NULL, logged.  The caller holds the lock. */
struct ski_region *ski_table_take(void);

/** Make @p region, in its place, like @p like, and known by an id, which is
 *  returned.  The caller holds the lock. */
uint32_t ski_table_publish(struct ski_region *region, const struct ski_region *like);

/** Take a place and publish it; its id, or 0. */
uint32_t ski_table_make(const struct ski_region *like);

/** Forget a region; its place becomes free. */
void ski_table_remove(struct ski_region *region);

/** The region of an id, or NULL. */
struct ski_region *ski_table_find(skua_region region);

/** The number of a PE's piece, or -1; whether it has one. */
int64_t ski_region_rank(const struct ski_region *region, int pe);
bool    ski_region_has(const struct ski_region *region, int pe);

/** The PE that stands for the caller: itself, or the first of its process. */
int32_t ski_caller_pe(void);

#endif
