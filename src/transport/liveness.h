/* SPDX-License-Identifier: Apache-2.0 */
/*
 * liveness.h - whether the hosts and processes of peers still answer, for drivers over a library
 * that does not report it.
 *
 * When a host vanishes, TCP retransmits for a quarter of an hour before it reports an error, and
 * UCX and libfabric have no shorter limit for data that are not acknowledged.  So a process that
 * uses them has connections of its own beside theirs: it listens at a port, and has one *monitor*,
 * a connection, for each process that it has peers in.  No data are sent; the kernel at the other
 * end answers keepalive probes, also while the process there computes or is stopped.  So a peer
 * that is only busy is never taken for a lost one, and no socket of the library is touched.
 *
 *   - Probes that stay without an answer for net->peer_timeout: the host is silent.
 *   - A connection that is reset or refused: the process has ended.
 *   - A process that closes a port and continues sends the number of the PE, 4 bytes, on the
 *     monitors that it has accepted.
 *
 * A monitor tries all addresses of the other process at the same time and keeps the first that
 * answers.  An address that this host has too, as that of a bridge for containers, is left out
 * unless there is no other.  The accepting end trusts no connection: it reads and drops what
 * arrives, and closes the oldest connection when it has more than the job can need; that monitor is
 * then opened again.
 *
 * All functions may be called by any thread; none blocks, apart from ski_liveness_start().
 */
#ifndef SKI_LIVENESS_H
#define SKI_LIVENESS_H

#include <stdbool.h>

#include "transport/sockaddrs.h"

struct ski_net;
struct ski_monitor;

/* The state of a port of a monitored process. */
enum ski_liveness {
    SKI_LIVENESS_UNKNOWN, /* no answer yet                                      */
    SKI_LIVENESS_ALIVE,   /* the host answers and the process holds the port    */
    SKI_LIVENESS_CLOSED,  /* the process has ended, or has closed the port      */
    SKI_LIVENESS_SILENT   /* the host has not answered for net->peer_timeout    */
};

/** Listens for monitors at the IP addresses @p addrs; one that can be used is enough.  Returns
 * false, with net->last_error() written, if there is none.  @p net stays valid. */
bool ski_liveness_start(const struct ski_net *net, const struct sockaddr_storage *addrs, int count);

/** Closes all sockets, after the last monitor was ended. */
void ski_liveness_stop(void);

/** Returns the addresses at which this process can be monitored: a part of the address of its
 *  ports. */
const struct ski_sockaddrs *ski_liveness_addrs(void);

/** Starts to monitor the process with these addresses, or counts one more user of the monitor that
 *  there is.  Returns NULL if memory is exhausted or @p addrs is empty. */
struct ski_monitor *ski_liveness_monitor(const struct ski_sockaddrs *addrs);

/** Ends one use of a monitor, which may be NULL. */
void ski_liveness_unmonitor(struct ski_monitor *monitor);

/** Checks all monitors, several times within net->peer_timeout at most: a call that comes earlier
 *  does nothing. */
void ski_liveness_check(void);

/** Returns what the last check found about the port of @p pe; SKI_LIVENESS_UNKNOWN for no monitor.
 */
enum ski_liveness ski_liveness_state(const struct ski_monitor *monitor, int pe);

/** Records that this process has a port for @p pe. */
void ski_liveness_port_opened(int pe);

/** Reports to the processes that monitor this one that the port of @p pe is closed. */
void ski_liveness_port_closed(int pe);

#endif
