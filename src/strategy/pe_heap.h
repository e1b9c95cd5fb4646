/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe_heap.h - PEs in the order of their times, the shortest or the longest first.
 *
 * A binary heap that records the position of each PE, so a PE whose time has changed is moved in
 * O(log P).  PEs of equal times are ordered by number.
 *
 * Where PEs have several speeds, the PE that ends an object first is not always the one with the
 * shortest time.  struct ski_pe_heaps has a heap for each speed, or for each of
 * SKI_PE_SPEEDS ranges of speeds, and compares their first PEs.
 */
#ifndef SKI_PE_HEAP_H
#define SKI_PE_HEAP_H

#include <stdbool.h>

#include "strategy/loads.h"

/** The largest number of heaps for PEs of several speeds. */
#define SKI_PE_SPEEDS 16

/* Invariant: the PE at i is not before the one at (i - 1) / 2; place[pe[i]] == i. */
struct ski_pe_heap {
    const double *time;
    int32_t      *pe;
    int32_t      *place; /* of each PE, or -1: it is not in this heap */
    int32_t       count;
    bool          longest_first;
};

/** Makes an empty heap for @p pes PEs with given times, which the caller keeps. */
void ski_pe_heap_init(struct ski_pe_heap *heap, const double *time, int32_t pes,
                      bool longest_first);

/** Frees the memory of a heap. */
void ski_pe_heap_destroy(struct ski_pe_heap *heap);

/** Adds a PE that is not in the heap. */
void ski_pe_heap_push(struct ski_pe_heap *heap, int32_t pe);

/** Restores the order after the time of a PE of the heap has changed. */
void ski_pe_heap_update(struct ski_pe_heap *heap, int32_t pe);

/** Removes a PE from the heap. */
void ski_pe_heap_remove(struct ski_pe_heap *heap, int32_t pe);

/** Returns the first PE of a heap, or -1 if it is empty. */
static inline int32_t ski_pe_heap_first(const struct ski_pe_heap *heap)
{
    return heap->count ? heap->pe[0] : -1;
}

/* Heaps of PEs of about the same speed, the shortest time first. */
struct ski_pe_heaps {
    const struct ski_loads *loads;
    struct ski_pe_heap      of_speed[SKI_PE_SPEEDS];
    int                     speeds;
    uint8_t                *speed_of; /* of each PE: the index of its heap */
};

/** Makes heaps of all PEs.  @p loads stays with the caller. */
void ski_pe_heaps_init(struct ski_pe_heaps *heaps, const struct ski_loads *loads);

/** Frees the memory of heaps. */
void ski_pe_heaps_destroy(struct ski_pe_heaps *heaps);

/** Returns the PE that ends first when it is given @p load. */
int32_t ski_pe_heaps_best(const struct ski_pe_heaps *heaps, double load);

/** Returns the PE that can be given the largest load before its time is above @p limit. */
int32_t ski_pe_heaps_roomiest(const struct ski_pe_heaps *heaps, double limit);

/** Restores the order after the time of a PE has changed. */
void ski_pe_heaps_update(struct ski_pe_heaps *heaps, int32_t pe);

#endif
