/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_map.h - the map of an array: from an index to its home, and from a PE to the indices of a
 * dense array whose home it is.
 *
 * Indices of a range are ranked in row-major order, the last dimension fastest.  The block and
 * cyclic maps are arithmetic on that rank, so a PE lists its own indices without looking at the
 * others.  An index outside of the range, of an element that is inserted later, has its home by
 * hash.
 */
#ifndef SKI_INDEX_MAP_H
#define SKI_INDEX_MAP_H

#include <skua/collection.h>

/** Sets the defaults of a definition of the program and checks it; ends the job if it is
 * invalid. */
void ski_index_map_prepare(const char *call, skua_array_def *def);

/** Returns whether a definition that came from another PE is valid. */
bool ski_index_map_valid(const skua_array_def *def);

/** Returns the home of @p index in a job of @p pes PEs. */
int ski_index_map_home(const skua_array_def *def, const skua_index *index, int pes);

/** Returns the number of indices in a range. */
uint64_t ski_index_map_count(const skua_range *range);

/** Calls @p fn for each index of the range whose home is @p pe.  Before that, @p room is called
 * with their approximate number, if it can be estimated. */
void ski_index_map_each(const skua_array_def *def, int pe, int pes,
                        void (*room)(void *arg, size_t count),
                        void (*fn)(void *arg, const skua_index *index), void *arg);

#endif
