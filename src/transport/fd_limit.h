/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fd_limit.h - the limit on open descriptors: each connection takes one, also an unauthenticated
 * one.
 *
 * The kernel assigns the lowest free number, so the number of a new descriptor shows how many are
 * in use.  The last quarter of the limit, at most 256 descriptors, is reserved for the job itself.
 */
#ifndef SKI_FD_LIMIT_H
#define SKI_FD_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

/** Returns how many descriptors the process may have. */
size_t ski_fd_limit(void);

/** Raises the limit to the most that the system allows.  Returns false if it cannot be raised. */
bool ski_fd_limit_raise(void);

/** Returns whether @p fd, a new descriptor, is one of those that are reserved for the job. */
bool ski_fd_is_reserved(int fd);

/** Returns whether no descriptor is left. */
bool ski_fd_exhausted(void);

/** The text for errors that the limit causes. */
#define SKI_TOO_MANY_FILES                                                                         \
    "too many open files; each connection takes one, also an unauthenticated one (raise ulimit "   \
    "-n)"

#endif
