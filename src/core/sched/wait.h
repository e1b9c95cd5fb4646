/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - blocking a caller until something happens on this PE.
 *
 * A user thread that waits is blocked; on the PE's own stack the scheduler runs until the wait is
 * over. Everything that can be waited for (futures, counters, mutexes, conditions, joins) has a
 * wait list (core/data/wait_list.h) and wakes its waiters in the order in which they came.
 */
#ifndef SKI_WAIT_H
#define SKI_WAIT_H

#include <stdbool.h>

#include "core/sched/blocked.h"

struct ski_pe;

/** Blocks in @p call until this waiter of @p list is woken.  Returns false if the job ends.
 * Messages or other PEs end the wait, so the layers above are called before it (layer.h:
 * before_wait). */
bool ski_wait_on(struct ski_pe *self, void **list, struct ski_call call);

/** Blocks as ski_wait_on() does, for a wait that the runtime ends by itself: the layers above are
 *  not called before it. */
bool ski_wait_on_runtime(struct ski_pe *self, void **list, struct ski_call call);

/** Blocks as ski_wait_on() does, on the PE of the caller.  A user thread may continue on another
 * PE, to which @p list has moved as well: the caller must look up its PE again. */
bool ski_wait_on_movable(void **list, struct ski_call call);

/** Wakes all waiters of @p list. */
void ski_wake_all(struct ski_pe *self, void **list);

#endif
