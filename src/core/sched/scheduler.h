/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - the loop of a PE.
 *
 * A pass moves what has arrived into the queue, serves timers, backlogs and the network if there
 * are any, and runs the next message.  A pass that finds nothing takes some twenty instructions;
 * after a few dozen of them the PE decides whether to spin on, yield the CPU, or sleep.
 */
#ifndef SKI_SCHEDULER_H
#define SKI_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct ski_pe;
struct skua_msg;

/** Runs messages until @p condition holds.  Returns false if the job ends first.  Called on the
 *  PE's own stack only. */
bool ski_scheduler_until(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** Runs messages until @p condition holds, or as long as it pays to poll without yielding the CPU.
 *  Returns whether the condition holds. */
bool ski_scheduler_spin(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** Runs up to @p most messages from the front of the queue, as long as @p wanted holds for the next
 *  one.  Does not look for arrivals. */
void ski_scheduler_run_front(struct ski_pe *self, unsigned most,
                             bool (*wanted)(struct ski_pe *self, struct skua_msg *msg));

/** Runs messages until the job ends. */
void ski_scheduler_run(struct ski_pe *self);

/** Prepares the queue and the idle state of a new PE. */
void ski_scheduler_init(struct ski_pe *self);
/** Frees the queue and the idle state of a PE. */
void ski_scheduler_destroy(struct ski_pe *self);

#endif
