/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keepalive.h - finding connections to hosts that have fallen silent, without mistaking a busy
 * process for a dead host.
 *
 * When a host vanishes, TCP retransmits for a quarter of an hour before it reports an error.  So
 * drivers check the sockets of the library below them from time to time.  They find these sockets
 * among the descriptors of the process by their addresses: a socket with the local address of a
 * port is a connection that it accepted, a socket with the remote address of a peer is one that it
 * opened.  Addresses include the port number, so no socket of other code is touched.
 *
 * A connection is dead if no acknowledgement has arrived for a while although several
 * retransmissions or keepalive probes were sent.  It is shut down; the library then sees an error,
 * and the driver a lost peer.  TCP_USER_TIMEOUT would be simpler, but it also ends connections to
 * hosts that answer while the process there is too busy to read.
 */
#ifndef SKI_KEEPALIVE_H
#define SKI_KEEPALIVE_H

#include <stdbool.h>
#include <sys/socket.h>

struct ski_net;

/** A function that returns whether the socket from @p local to @p remote belongs to the driver;
 *  @p dead tells the driver the state of the connection. */
typedef bool ski_keepalive_fn(void *arg, const struct sockaddr_storage *local,
                              const struct sockaddr_storage *remote, bool dead);

/** Returns whether a connection has been dead for @p timeout seconds.  Otherwise it enables
 *  keepalive probes, so that a later call finds out. */
bool ski_keepalive_is_dead(int fd, double timeout);

/** Shuts down all connections of the driver that have been dead for @p timeout seconds. */
void ski_keepalive_check(double timeout, ski_keepalive_fn *is_ours, void *arg);

/** Returns whether a check is due, several times within @p timeout seconds, and then sets
 *  *@p checked_at to @p now. */
bool ski_keepalive_is_due(double *checked_at, double now, double timeout);

/** Returns whether the process has an established connection to @p addr. */
bool ski_keepalive_is_connected(const struct sockaddr_storage *addr);

/** Enables TCP_DEFER_ACCEPT on the socket that listens at @p addr, so that a connection which sends
 *  nothing, or was reset, costs no descriptor; a peer sends as soon as it is connected.  Returns
 *  whether there is such a socket. */
bool ski_keepalive_defer_accept(const struct sockaddr_storage *addr);

/** Logs an error, once in the life of the process, if no descriptors are left, or if nothing
 *  listens at @p addr any more because the library closed its socket for want of descriptors: peers
 *  then see a refused connection without a reason.  @p addr may be NULL. */
void ski_keepalive_check_fds(const struct ski_net *net, const struct sockaddr_storage *addr);

/** Writes the addresses, at most @p max, at which sockets of this process listen.  Returns their
 *  number. */
int ski_keepalive_listeners(struct sockaddr_storage *addrs, int max);

#endif
