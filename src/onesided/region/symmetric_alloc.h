/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symmetric_alloc.h - creates symmetric regions: one piece on each of some PEs, by one call on
 * each.
 *
 * On one host this takes neither a message nor waiting.  The first of the PEs to call creates the
 * region, with the pieces of all, and puts a pending entry into a list of the arena; each other one
 * looks for the first entry for the same PEs that it has not taken, and the last one to take an
 * entry removes it.  PEs call in the same order, so that is the right one.
 *
 * On several hosts the first PE of each host allocates the pieces there, and the members vote
 * (symmetric_vote.h) on the id before they publish the region, and again after.
 */
#ifndef SKI_SYMMETRIC_ALLOC_H
#define SKI_SYMMETRIC_ALLOC_H

#include "onesided/region/region_table.h"

/** Creates a region of @p bytes on @p n PEs: those of the ascending list @p pes or, if that is
 *  NULL, all.  @p rank is that of @p self among them.  SKUA_ERR_NOMEM, logged; SKUA_ERR_EXIT. */
skua_status ski_symmetric_create(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                                 uint32_t rank, size_t bytes, skua_region *region);

/** Allocates the memory of @p n pieces of @p bytes for the PEs of list @p pes, or 0 .. n-1, all on
 *  this host, and describes their region in @p like. */
skua_status ski_symmetric_lay_out(const int *pes, uint32_t n, size_t bytes,
                                  struct ski_region *like);

/** Creates a varied region over all PEs, with @p bytes on @p self, for @p call; waits for all PEs.
 */
skua_status ski_symmetric_create_varied(struct ski_pe *self, const char *call, size_t bytes,
                                        skua_region *region);

/* ---- in a restarted job ----------------------------------------------------------------- */

/** Finds region @p id of the former job, of @p bytes on the @p n PEs of @p pes, or on all PEs if
 *  that is NULL; the first PE of a host that asks allocates the pieces there.  Sets *region.
 *  Returns NULL, or why it cannot be had. */
const char *ski_symmetric_restore(uint32_t id, const int *pes, uint32_t n, size_t bytes,
                                  struct ski_region **region);

/** Announces that the piece of @p self in varied region @p id of the former job has @p bytes. */
void ski_symmetric_announce(struct ski_pe *self, uint32_t id, size_t bytes);

/** Finds varied region @p id of the former job, once all PEs of this host have announced their
 *  pieces.  Each PE calls it once.  Sets *region.  Returns NULL, or why it cannot be had. */
const char *ski_symmetric_restore_varied(struct ski_pe *self, uint32_t id,
                                         struct ski_region **region);

#endif
