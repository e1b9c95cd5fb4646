/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - hosts that fall silent, and processes that are only busy.
 *
 * When a host vanishes without a word, TCP tries for a quarter of an hour before it
 * gives up.  So drivers look now and then at the sockets of the library below them,
 * which they find among the descriptors of the process by their names: those of our
 * own name are connections that came in, those to the name of a peer are ones that we
 * began.  Names include the port, so no socket of anybody else is touched.
 *
 * A connection is dead if nothing was heard of it for a while although it has asked
 * several times, as it does for its data and, told by us, when it has none to send.  It
 * is shut down; the library then sees an error, and the driver a lost peer.  TCP_USER_TIMEOUT would
 * be simpler, but it ends connections to hosts that answer, too, if the process there is too busy
 * to read.
 */
#ifndef SKI_GUARD_H
#define SKI_GUARD_H

#include <stdbool.h>
#include <sys/socket.h>

/** Whether the socket from @p here to @p there is the driver's; and if it is, that it is
 *  dead. */
typedef bool ski_keepalive_fn(void *arg, const struct sockaddr_storage *here,
                              const struct sockaddr_storage *there, bool dead);

/** Whether a connection has been dead for @p timeout seconds; if not, that will be found out. */
bool ski_keepalive_is_dead(int fd, double timeout);

/** Shut connections down that have been dead for @p timeout seconds. */
void ski_keepalive_check(double timeout, ski_keepalive_fn *is_ours, void *arg);

/** Whether it is time to look: several times within @p timeout; *@p looked_at is kept. */
bool ski_keepalive_is_due(double *looked_at, double now, double timeout);

/** Whether two names are the same, of an address and a port that we know. */
bool ski_sockaddr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/** Whether two names are of one host: the same but for the port. */
bool ski_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/** Whether there is a connection to @p name: its host is there. */
bool ski_keepalive_is_connected(const struct sockaddr_storage *name);

/** Whether a socket of this process listens at @p name.  If it does, the system hears strangers out
 *  before the library does: a connection by which nothing has come, or which was reset, is not
 *  told of, and costs no descriptor.  A peer sends something as soon as it is connected. */
bool ski_keepalive_defer_accept(const struct sockaddr_storage *name);

/** Say once, as an error, that no descriptors are left, or that nothing listens at @p name any
 * more, where the library has closed its socket for want of them: who connects is then told that
 * the connection was refused, and not why. */
struct ski_net;
void ski_keepalive_check_fds(const struct ski_net *net, const struct sockaddr_storage *name);

/** The names of the sockets of this process that listen, at most @p most; how many. */
int ski_keepalive_listeners(struct sockaddr_storage *names, int most);

#endif
