/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keepalive.h - whether the host at the other end of a TCP connection still answers.
 *
 * When a host vanishes, TCP retransmits for a quarter of an hour before it reports an error.  A
 * connection counts as dead if no acknowledgement has arrived for a while although several
 * retransmissions or keepalive probes were sent.  The kernel of the other host answers these, so a
 * process that is too busy to read is not mistaken for a dead host; TCP_USER_TIMEOUT, which would
 * be simpler, ends connections to such processes.
 *
 * These functions are for sockets that the driver itself has opened.
 */
#ifndef SKI_KEEPALIVE_H
#define SKI_KEEPALIVE_H

#include <stdbool.h>

/** Returns whether a connection has been dead for @p timeout seconds.  Otherwise it enables
 *  keepalive probes, so that a later call finds out. */
bool ski_keepalive_is_dead(int fd, double timeout);

/** Returns whether a check is due, several times within @p timeout seconds, and then sets
 *  *@p checked_at to @p now. */
bool ski_keepalive_is_due(double *checked_at, double now, double timeout);

#endif
