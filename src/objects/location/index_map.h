/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_map.h - homes: from an index to a PE, and from a PE to the indices of a dense array
 * whose home it is, which the maps of the runtime list without looking at the others.
 */
#ifndef SKI_INDEX_MAP_H
#define SKI_INDEX_MAP_H

#include <skua/collection.h>

/** Fill in what the definition leaves open, and check it; ends the job if it is wrong. */
void ski_map_prepare(const char *call, skua_array_def *def);

/** Whether a definition that came from another PE makes sense. */
bool ski_map_right(const skua_array_def *def);

/** The home of @p index on @p pes PEs. */
int ski_map_home(const skua_array_def *def, const skua_index *index, int pes);

/** Elements in a range. */
uint64_t ski_range_count(const skua_range *range);

/** Call @p fn for each index of the range whose home is @p pe; @p count is told first, so
 *  that room can be made: at least so many, or 0 if that is not known. */
void ski_map_each(const skua_array_def *def, int pe, int pes, void (*room)(void *arg, size_t count),
                  void (*fn)(void *arg, const skua_index *index), void *arg);

#endif
