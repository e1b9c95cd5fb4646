/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockaddr.h - socket addresses of IPv4 and IPv6: an IP address and a port number.
 */
#ifndef SKI_SOCKADDR_H
#define SKI_SOCKADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/** Returns whether two IP addresses and their ports are equal. */
bool ski_sockaddr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/** Returns whether two IP addresses are equal, whatever their ports. */
bool ski_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

/** Returns the length in bytes of an address, as bind() and connect() take it. */
socklen_t ski_sockaddr_bytes(const struct sockaddr_storage *addr);

/** Returns whether an address is one of the loopback interface. */
bool ski_sockaddr_is_loopback(const struct sockaddr_storage *addr);

/** Writes an IP address without its port as text.  Returns @p to. */
const char *ski_sockaddr_text(const struct sockaddr_storage *addr, char *to, size_t size);

#endif
