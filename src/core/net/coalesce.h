/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coalesce.h - several packets to one PE as one.
 *
 * What a small packet costs is a system call at each end, of 3 us over loopback; a bundle
 * costs one for all of them, and a copy at the sender.  It is a packet itself, of
 * SKI_HANDLER_BUNDLE, whose data is packets in their shortest form (packet.h), each behind its
 * length and padded:
 *
 *      | bytes (8) | packet ... | bytes (8) | packet ... |
 *
 * Each has its own stamp and is checked as if it had come alone; a bundle's own has a token
 * and no sequence.  There is no bundle in a bundle.  docs/decisions/0021-bundles.md says when.
 */
#ifndef SKI_COALESCE_H
#define SKI_COALESCE_H

#include <string.h>

#include "core/net/packet.h"

#define SKI_BUNDLED ((size_t)8192 + 512) /* the most that a packet takes of one */

/** The bytes that a packet of @p bytes takes in a bundle; and one made of @p msg. */
static inline size_t ski_bundle_slot(size_t bytes)
{
    return sizeof(uint64_t) + ((bytes + 7) & ~(size_t)7);
}

static inline size_t ski_bundled_bytes(const struct skua_msg *msg)
{
    return ski_bundle_slot(ski_packet_least(msg));
}

static inline bool ski_may_be_bundled(const struct skua_msg *msg)
{
    return msg->bytes < SKI_BUNDLED && ski_bundled_bytes(msg) <= SKI_BUNDLED;
}

/** Adds a packet at @p to; where the next one goes. */
static inline char *ski_bundle_add(char *to, struct skua_msg *msg)
{
    uint64_t bytes = ski_packet_least(msg);
    char    *next  = to + ski_bundle_slot(bytes);

    memset(next - 8, 0, 8); /* what lies between them is nobody else's business */
    memcpy(to, &bytes, sizeof bytes);
    memcpy(to + sizeof bytes, ski_packet_shorten(msg), bytes);
    return next;
}

/** The packet at @p at of a bundle that ends with @p end, of *bytes; what is there makes no
 *  sense: NULL. */
static inline const char *ski_bundle_look(const char *at, const char *end, size_t *bytes)
{
    uint64_t length;

    if ((size_t)(end - at) < sizeof length)
        return NULL;
    memcpy(&length, at, sizeof length);
    if (length > (size_t)(end - at) || ski_bundle_slot(length) > (size_t)(end - at))
        return NULL;
    *bytes = length;
    return at + sizeof length;
}

#endif
