/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sockaddrs.h - the socket addresses that a port listens at: one for each network of the job.
 *
 * They are sent to peers at the beginning of the address of a port:
 *
 *      | count (8) | count times struct sockaddr_in6 |
 */
#ifndef SKI_SOCKADDRS_H
#define SKI_SOCKADDRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define SKI_SOCKADDRS_MAX 8 /* addresses of a port, at most */

struct ski_sockaddrs {
    uint64_t                count;
    struct sockaddr_storage addr[SKI_SOCKADDRS_MAX];
};

/** Writes addresses as above.  Returns the number of bytes. */
size_t ski_sockaddrs_pack(const struct ski_sockaddrs *addrs, char *to);

/** Reads addresses from the first of @p bytes bytes, which come from another process.  Returns the
 *  number of bytes read; 0 if they are invalid. */
size_t ski_sockaddrs_unpack(struct ski_sockaddrs *addrs, const char *from, size_t bytes);

/** Returns whether @p addr is one of the addresses. */
bool ski_sockaddrs_contain(const struct ski_sockaddrs *addrs, const struct sockaddr_storage *addr);

/** Writes the first few addresses as text, those of loopback only if @p loopback.  Returns
 *  @p to. */
const char *ski_sockaddrs_text(const struct ski_sockaddrs *addrs, bool loopback, char *to,
                               size_t size);

#endif
