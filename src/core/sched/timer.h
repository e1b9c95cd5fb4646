/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer.h - the timers of a PE.
 *
 * While a timer runs (core/data/timer_heap.h), SKI_ATTEND_TIMERS makes every pass of the scheduler
 * read the clock.
 */
#ifndef SKI_TIMER_H
#define SKI_TIMER_H

#include <stdint.h>

struct ski_pe;

/** Fires all timers of @p self that are due. */
void ski_timers_fire(struct ski_pe *self);

/** Returns the nanoseconds to the next deadline; SKI_FOREVER if no timer runs. */
uint64_t ski_timers_wait(const struct ski_pe *self);

#endif
