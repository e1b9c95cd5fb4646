/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.h - the descriptors that this process may have: each connection is one, also one that a
 * stranger makes.
 *
 * The system gives out the lowest number that is free.  So a descriptor's number says how many are
 * in use, and the last quarter of them, at most 256, is left to the job itself.
 */
#ifndef SKI_FILES_H
#define SKI_FILES_H

#include <stdbool.h>
#include <stddef.h>

/** How many descriptors the process may have now. */
size_t ski_fd_limit(void);

/** Raise that to what the system lets us have; false: it is there already. */
bool ski_fd_limit_raise(void);

/** Whether @p fd, which was just made, is one of those that are left to the job. */
bool ski_fd_is_reserved(int fd);

/** Whether no descriptor is left. */
bool ski_fd_exhausted(void);

#define SKI_TOO_MANY_FILES                                                                         \
    "too many open files; each connection is one, also of strangers (raise ulimit -n)"

#endif
