/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - lists of those who wait for something on this PE.
 *
 * A user thread that waits is blocked; on the PE's own stack the scheduler
 * runs until the wait is over.  Everything that can be waited for (futures,
 * counters, mutexes, conditions, joins) holds such a list, a void pointer that
 * is NULL when nobody waits, and wakes from it in the order of coming.
 */
#ifndef SKI_WAIT_H
#define SKI_WAIT_H

#include <stdbool.h>

#include "core/sched/blocked.h"

struct ski_pe;

/** Block in @p call until a wake-up from @p list.  False: the job ends.  What is waited for is
 *  up to other PEs or to messages: in `begin` of skua_program() the gates open
 *  (objects/services/program.h). */
bool ski_wait_on(struct ski_pe *self, void **list, struct ski_call call);

/** Block as ski_wait_on() does, for what the runtime alone brings about: gates stay closed. */
bool ski_wait_on_runtime(struct ski_pe *self, void **list, struct ski_call call);

/** Wake the one who waited longest; false if nobody does. */
bool ski_wake_one(struct ski_pe *self, void **list);

void ski_wake_all(struct ski_pe *self, void **list);

#endif
