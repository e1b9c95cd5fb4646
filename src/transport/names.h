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

#define SKI_NAMES     8    /* of a port, at most  */
#define SKI_LISTENERS 1024 /* of the process */

struct ski_names {
    uint64_t                count;
    struct sockaddr_storage name[SKI_NAMES];
};

/** The names that the process listens at now and has not before. */
void ski_names_find(struct ski_names *names, const struct sockaddr_storage *before, int count);

/** Write them; take them from an address: the bytes that they were, 0 if that makes no sense. */
size_t ski_names_pack(const struct ski_names *names, char *to);
size_t ski_names_unpack(struct ski_names *names, const char *from, size_t bytes);

bool ski_names_have(const struct ski_names *names, const struct sockaddr_storage *name);

/** The first few of them, as people read them, in @p to; those of loopback if @p loopback. */
const char *ski_names_text(const struct ski_names *names, bool loopback, char *to, size_t size);

#endif
