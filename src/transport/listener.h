/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h - opening the listening sockets of a driver within the port range of the job.
 */
#ifndef SKI_LISTENER_H
#define SKI_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>

struct ski_net;

/** Listens at @p addr, at a port of the range that the settings give, and completes @p addr with
 *  the port number.  Where all ports of the range are in use it retries for a second, since another
 *  process may only have probed one.  Returns a non-blocking socket, or -1 with errno set. */
int ski_listener_open(const struct ski_net *net, struct sockaddr_storage *addr);

#endif
