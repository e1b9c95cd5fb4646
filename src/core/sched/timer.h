/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - the timers of a PE.
 *
 * A binary heap by deadline.  Each timer knows its place in the heap, so that
 * cancelling is O(log n) and leaves nothing behind; its id is its slot in a
 * table plus a generation, so that a stale id is recognized.  While a timer
 * runs, SKI_ATTEND_TIMERS makes every scheduler pass read the clock.
 */
#ifndef SKI_TIMER_H
#define SKI_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include <skua/completion.h>

struct ski_pe;

struct ski_timers {
    struct ski_timer {
        uint64_t        deadline; /* ticks                        */
        uint64_t        period;   /* ticks, 0: once               */
        uint32_t        place;    /* in the heap; or the next free slot */
        uint32_t        generation;
        skua_completion done;
    } * timer;
    uint32_t *heap;  /* slots, the earliest first */
    uint32_t  count; /* timers that run           */
    uint32_t  room;
    uint32_t  free; /* first free slot           */
};

/** Fire all that are due. */
void ski_timers_fire(struct ski_pe *self);

/** Nanoseconds to the next deadline; SKI_FOREVER without timers. */
uint64_t ski_timers_wait(const struct ski_timers *timers);

void ski_timers_destroy(struct ski_timers *timers);

#endif
