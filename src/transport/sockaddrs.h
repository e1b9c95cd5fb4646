/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - where a port listens: one name, of an address and a port number, for each network
 * that it is in.
 *
 * They go to peers at the beginning of the port's address:
 *
 *      | count (8) | names: sockaddr_in6 ... |
 */
#ifndef SKI_NAMES_H
#define SKI_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define SKI_SOCKADDRS_MAX 8    /* of a port, at most  */
#define SKI_LISTENERS_MAX 1024 /* of the process */

struct ski_sockaddrs {
    uint64_t                count;
    struct sockaddr_storage addr[SKI_SOCKADDRS_MAX];
};

/** The names that the process listens at now and has not before. */
void ski_sockaddrs_find_new(struct ski_sockaddrs *names, const struct sockaddr_storage *before,
                            int count);

/** Write them; take them from an address: the bytes that they were, 0 if that makes no sense. */
size_t ski_sockaddrs_pack(const struct ski_sockaddrs *names, char *to);
size_t ski_sockaddrs_unpack(struct ski_sockaddrs *names, const char *from, size_t bytes);

bool ski_sockaddrs_contain(const struct ski_sockaddrs *names, const struct sockaddr_storage *name);

/** The first few of them, as people read them, in @p to; those of loopback if @p loopback. */
const char *ski_sockaddrs_text(const struct ski_sockaddrs *names, bool loopback, char *to,
                               size_t size);

#endif
