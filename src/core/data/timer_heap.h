/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_heap.h - timers, the earliest deadline first.
 *
 * A binary heap by deadline.  Each timer records its position in the heap, so that removing one
 * takes O(log n) and leaves nothing behind.  The id of a timer is its slot in a table and the
 * generation of that slot, so that a look-up of a stale id fails; 0 is no id.
 */
#ifndef SKI_TIMER_HEAP_H
#define SKI_TIMER_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/completion.h>

/* A timer, or a free slot of the table. */
struct ski_timer {
    uint64_t        deadline;   /* ticks                                        */
    uint64_t        period;     /* ticks; 0: the timer fires once               */
    uint32_t        place;      /* in the heap; of a free slot: the next free one */
    uint32_t        generation; /* of the slot, from 1 on                       */
    skua_completion done;
};

/* Zeroed memory is an empty heap. */
struct ski_timer_heap {
    struct ski_timer *timer;
    uint32_t         *heap;  /* slots, the earliest first */
    uint32_t          count; /* timers that run           */
    uint32_t          room;
    uint32_t          free; /* first free slot           */
};

/** Adds a timer that fires at @p deadline, and then every @p period ticks unless that is 0. Returns
 *  its id. */
uint64_t ski_timer_heap_add(struct ski_timer_heap *heap, uint64_t deadline, uint64_t period,
                            skua_completion done);

/** Removes the timer of that id. Returns false if there is none. */
bool ski_timer_heap_remove(struct ski_timer_heap *heap, uint64_t id);

/** Removes the earliest timer that is due at @p now.  Returns false if none is.  *@p done is its
 * completion.  A periodic timer stays, with its next deadline after @p now: periods that were
 * missed are skipped. */
bool ski_timer_heap_fire(struct ski_timer_heap *heap, uint64_t now, skua_completion *done);

/** Returns the earliest deadline of a heap that has a timer. */
uint64_t ski_timer_heap_first(const struct ski_timer_heap *heap);

/** Frees the memory of the heap. */
void ski_timer_heap_destroy(struct ski_timer_heap *heap);

#endif
