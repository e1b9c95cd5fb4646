/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - the loop of a PE.
 *
 * A pass: move what has arrived into the queue, see to timers and deferred
 * sends if there are any, run the next message.  A pass that finds nothing is
 * some twenty instructions; after a few dozen of them the PE decides whether to
 * spin on, yield the CPU, or sleep.
 */
#ifndef SKI_SCHEDULER_H
#define SKI_SCHEDULER_H

#include <stdbool.h>

struct ski_pe;

/** Run messages until @p condition holds; false if the job ends first.  On the
 *  PE's own stack only. */
bool ski_scheduler_until(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** The same for a moment: as long as it pays to look without yielding the CPU. */
bool ski_scheduler_spin(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** Run messages until the job ends. */
void ski_scheduler_run(struct ski_pe *self);

void ski_scheduler_init(struct ski_pe *self);
void ski_scheduler_destroy(struct ski_pe *self);

#endif
