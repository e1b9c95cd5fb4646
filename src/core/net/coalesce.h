/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coalesce.h - several packets to one PE as one.
 *
 * A small packet costs a system call at each end, 3 us over loopback.  Coalesced packets share
 * these calls, at the price of a copy at the sender.  A coalesced packet is a packet of its own,
 * for SKI_HANDLER_COALESCED, whose data is packets in their shortest form (packet.h), each after
 * its length and padded to 8 bytes:
 *
 *      | bytes (8) | packet ... | bytes (8) | packet ... |
 *
 * Each inner packet has its own stamp and is checked as if it had come alone; the outer one has a
 * token and no sequence number.  Coalesced packets do not nest.  docs/decisions/0021-bundles.md
 * says when packets are coalesced.
 */
#ifndef SKI_COALESCE_H
#define SKI_COALESCE_H

#include <string.h>

#include "base/assert.h"
#include "core/net/packet.h"

#define SKI_COALESCE_MAX                                                                           \
    ((size_t)8192 + 512) /* bytes that one packet may take of a coalesced one */

/** Returns the bytes that a packet of @p bytes takes of a coalesced one. */
static inline size_t ski_coalesce_slot(size_t bytes)
{
    return sizeof(uint64_t) + ((bytes + 7) & ~(size_t)7);
}

/** Returns the bytes that the packet of @p msg takes of a coalesced one. */
static inline size_t ski_coalesce_bytes(const struct skua_msg *msg)
{
    return ski_coalesce_slot(ski_packet_least(msg));
}

/** Returns whether @p msg is small enough to be coalesced. */
static inline bool ski_coalesce_allowed(const struct skua_msg *msg)
{
    return msg->bytes < SKI_COALESCE_MAX && ski_coalesce_bytes(msg) <= SKI_COALESCE_MAX;
}

/** Writes the packet of @p msg to @p to.  Returns where the next one goes. */
static inline char *ski_coalesce_add(char *to, struct skua_msg *msg)
{
    uint64_t bytes = ski_packet_least(msg);
    char    *next  = to + ski_coalesce_slot(bytes);

    ski_assert(ski_coalesce_allowed(msg));
    memset(next - 8, 0, 8); /* the padding: no stray memory leaves the host */
    memcpy(to, &bytes, sizeof bytes);
    memcpy(to + sizeof bytes, ski_packet_shorten(msg), bytes);
    return next;
}

/** Returns the packet at @p at of a coalesced one that ends at @p end, and its length in *@p bytes;
 *  NULL: the length there does not fit. */
static inline const char *ski_coalesce_next(const char *at, const char *end, size_t *bytes)
{
    uint64_t length;

    if ((size_t)(end - at) < sizeof length)
        return NULL;
    memcpy(&length, at, sizeof length);
    if (length > (size_t)(end - at) || ski_coalesce_slot(length) > (size_t)(end - at))
        return NULL;
    *bytes = length;
    return at + sizeof length;
}

#endif
