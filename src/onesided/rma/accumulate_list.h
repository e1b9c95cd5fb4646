/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accumulate_list.h - accumulates of single elements at a list of offsets.
 *
 * The elements of a list are in any order, and the memory of a PE has many stripes (accumulate.h).
 * They are accumulated SKI_ACCUMULATE_CHUNK at a time: as they are listed, if they span few stripes
 * for their number and no other PE holds one of these, so that all are held together without
 * waiting for any.  Else they are sorted by their stripes, so that each stripe is held once, and
 * alone.  PEs that accumulate into the same memory begin with different stripes, and continue with
 * another stripe instead of waiting for one: so they rarely compete.  Elements of one stripe keep
 * their order: those at one offset are accumulated as listed.
 */
#ifndef SKI_ACCUMULATE_LIST_H
#define SKI_ACCUMULATE_LIST_H

#include "onesided/rma/accumulate.h"

#define SKI_ACCUMULATE_CHUNK 1024
#define SKI_ACCUMULATE_FEW   32 /* elements, below which sorting costs more than it saves */

/** Accumulates @p count elements, SKI_ACCUMULATE_CHUNK at most, by the function @p at: that at
 *  @p local[i] bytes from `from`, or element i if @p local is NULL, into that at @p remote[i] bytes
 *  from `to`. */
void ski_accumulate_chunk(const struct ski_accumulate_list *list, ski_accumulate_at_fn at,
                          const ptrdiff_t *remote, const ptrdiff_t *local, size_t count);

/** Accumulates any number of elements, as ski_accumulate_chunk() does. */
void ski_accumulate_list(const struct ski_accumulate_list *list, ski_accumulate_at_fn at,
                         const ptrdiff_t *remote, const ptrdiff_t *local, size_t count);

#endif
