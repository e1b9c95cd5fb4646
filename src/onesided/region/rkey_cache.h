/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rkey_cache.h - regions of other hosts: what a PE knows of them, and what it says of its own.
 *
 * Before the first operation on a region that this host knows nothing of, its owner is
 * asked: how large it is, where it lies, and the driver's key to it, if there is one.
 * The answer is kept.  An id is not used again soon, so what was kept cannot be mistaken
 * for another region.
 *
 * The owner lets the driver access its memory when it is first asked, and not any more
 * when the region is freed.
 */
#ifndef SKI_RKEY_CACHE_H
#define SKI_RKEY_CACHE_H

#include <skua/region.h>

#include "transport/driver.h"

struct ski_pe;
struct ski_origin;
struct ski_place;

/* What is told of the piece of a PE. */
struct ski_description {
    uint64_t bytes, base; /* of the piece, in its owner's address space */
    uint32_t key_bytes;   /* 0: there is none                            */
    uint32_t unused;
    char     key[SKI_KEY_MOST];
};

struct ski_known_region {
    struct ski_known_region *next;
    int32_t                  pe;
    uint32_t                 id;
    uint64_t                 bytes, base;
    struct ski_key          *key; /* NULL: requests must be sent */
};

/** What is known of the region at @p at, asked for if need be; NULL and a status if it
 *  does not exist, or the job ends. */
const struct ski_known_region *ski_known(struct ski_pe *self, skua_gaddr at, skua_status_t *status);

/** Know it without asking: its owner has told, in a buffer.  Not where there are keys. */
void ski_known_tell(struct ski_pe *self, skua_gaddr at, uint64_t bytes, uint64_t base);

void ski_known_end(struct ski_origin *origin);

/** The owner's side: describe the piece at @p place, which begins there. */
void ski_describe(uint32_t id, const struct ski_place *place, uint64_t bytes,
                  struct ski_description *to);

/** The region will be gone.  (Other processes of the host find out later.)  0: all. */
void ski_conceal(uint32_t id);

#endif
