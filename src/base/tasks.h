/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - threads of this process that are not the runtime's.
 *
 * Such a thread may do at any time what no PE knows of: put into memory that a PE waits for.
 */
#ifndef SKI_TASKS_H
#define SKI_TASKS_H

#include <stdbool.h>

/** Threads of this process, as the system counts them; -1: that cannot be found out. */
int ski_tasks(void);

/** So many of them, at most, are the runtime's and its libraries'. */
void ski_tasks_own(int count);

/** Whether there may be others. */
bool ski_tasks_foreign(void);

#endif
