/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - whether the process has threads that the runtime did not start.
 *
 * Such an external thread may act at any time without the knowledge of a PE, for example put data
 * into memory that a PE waits for.
 */
#ifndef SKI_TASKS_H
#define SKI_TASKS_H

#include <stdbool.h>

/** Returns the number of threads of this process, or -1 if the system does not report it. */
int ski_tasks_count(void);

/** Sets how many threads, at most, belong to the runtime and its libraries. */
void ski_tasks_set_own(int count);

/** Returns whether the process may have external threads. */
bool ski_tasks_external(void);

#endif
