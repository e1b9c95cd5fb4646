/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region_saved.h - regions in a checkpoint.
 *
 * Each PE saves its piece of the regions that it is a member of, with what describes the region: no
 * host knows all regions.  A restarted job has them under the same ids, so that elements and
 * messages that hold an id, or a global address, remain valid.  A region of existing memory is not
 * saved: the memory is the program's.
 */
#ifndef SKI_REGION_SAVED_H
#define SKI_REGION_SAVED_H

#include "onesided/region/region_table.h"

/* A region, as a PE with a piece of it saves it. */
struct ski_saved_region {
    uint32_t                kind;    /* enum ski_region_kind, not SKI_REGION_REGISTERED         */
    uint32_t                members; /* PEs with a piece                                        */
    uint32_t                listed;  /* members in the list: all, or 0 if they are 0 .. members-1 */
    uint32_t                varied;  /* 1: pieces differ in size                                */
    uint64_t                bytes;   /* of the piece                                            */
    struct ski_region_label label;   /* with the id                                             */
};

/** The type of a function that gets a region of a PE, the list of its members or NULL, and the
 * piece. */
typedef void (*ski_saved_region_fn)(const struct ski_saved_region *saved, const int32_t *list,
                                    const void *piece, void *arg);

/** Calls @p fn for each region that a checkpoint keeps, of which @p self has a piece. */
void ski_region_each_saved(struct ski_pe *self, ski_saved_region_fn fn, void *arg);

/** Returns whether some PEs of this host have freed the region of @p saved, and others have not. */
bool ski_saved_region_is_leaving(const struct ski_saved_region *saved);

/** Returns whether @p saved, which was read from a file, describes a region of a job of @p pes PEs
 *  in which PE @p pe has a piece; @p list has its saved->listed members. */
bool ski_saved_region_valid(const struct ski_saved_region *saved, const int32_t *list, int pe,
                            int pes);

/** Creates the region of @p saved, which belongs to @p self alone.  Sets *region.  Returns NULL, or
 *  why that is not possible. */
const char *ski_saved_region_restore_local(struct ski_pe                 *self,
                                           const struct ski_saved_region *saved,
                                           struct ski_region            **region);

#endif
