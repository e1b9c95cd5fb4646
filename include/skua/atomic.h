/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.h - atomic operations and locks in the memory of others.
 *
 * All are atomic with respect to each other, whoever calls them and whatever
 * path they take (not to accumulates, nor to puts).  They are ordered: what the
 * caller did before is done before, what it does after is done after.  The
 * place is aligned to its size, else SKUA_ERR_ALIGN; other failures are those
 * of onesided.h.
 *
 * Any PE and any other thread of its process may call these at any time, until
 * skua_main() returns.
 */
#ifndef SKUA_ATOMIC_H
#define SKUA_ATOMIC_H

#include <stdint.h>

#include <skua/api.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/** @p old gets the value before; NULL where it is not wanted. */
SKUA_API skua_status_t skua_fetch_add64(skua_gaddr at, uint64_t value, uint64_t *old);
SKUA_API skua_status_t skua_fetch_and64(skua_gaddr at, uint64_t value, uint64_t *old);
SKUA_API skua_status_t skua_fetch_or64(skua_gaddr at, uint64_t value, uint64_t *old);
SKUA_API skua_status_t skua_fetch_xor64(skua_gaddr at, uint64_t value, uint64_t *old);
SKUA_API skua_status_t skua_swap64(skua_gaddr at, uint64_t value, uint64_t *old);
SKUA_API skua_status_t skua_compare_swap64(skua_gaddr at, uint64_t expected, uint64_t value,
                                           uint64_t *old);
SKUA_API skua_status_t skua_load64(skua_gaddr at, uint64_t *value);
SKUA_API skua_status_t skua_store64(skua_gaddr at, uint64_t value);

SKUA_API skua_status_t skua_fetch_add32(skua_gaddr at, uint32_t value, uint32_t *old);
SKUA_API skua_status_t skua_fetch_and32(skua_gaddr at, uint32_t value, uint32_t *old);
SKUA_API skua_status_t skua_fetch_or32(skua_gaddr at, uint32_t value, uint32_t *old);
SKUA_API skua_status_t skua_fetch_xor32(skua_gaddr at, uint32_t value, uint32_t *old);
SKUA_API skua_status_t skua_swap32(skua_gaddr at, uint32_t value, uint32_t *old);
SKUA_API skua_status_t skua_compare_swap32(skua_gaddr at, uint32_t expected, uint32_t value,
                                           uint32_t *old);
SKUA_API skua_status_t skua_load32(skua_gaddr at, uint32_t *value);
SKUA_API skua_status_t skua_store32(skua_gaddr at, uint32_t value);

/** The same without the value before. */
static inline skua_status_t skua_add64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_add64(at, value, NULL);
}

static inline skua_status_t skua_and64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_and64(at, value, NULL);
}

static inline skua_status_t skua_or64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_or64(at, value, NULL);
}

static inline skua_status_t skua_xor64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_xor64(at, value, NULL);
}

static inline skua_status_t skua_add32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_add32(at, value, NULL);
}

static inline skua_status_t skua_and32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_and32(at, value, NULL);
}

static inline skua_status_t skua_or32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_or32(at, value, NULL);
}

static inline skua_status_t skua_xor32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_xor32(at, value, NULL);
}

/* ---- locks --------------------------------------------------------------- */

/** Locks that any PE or thread may take, some on each PE. */
typedef struct {
    skua_region region;
} skua_locks;

/** Make @p count locks on every PE.  Collective. */
SKUA_API skua_status_t skua_locks_create(size_t count, skua_locks *locks);
SKUA_API skua_status_t skua_locks_free(skua_locks locks);

/** Take lock @p i of @p pe, in the order of asking, or give it back.  Waiting as
 *  in completion.h; false: the job ends.  Who took it gives it back; what it did
 *  before is done when another has the lock. */
SKUA_API bool skua_lock(skua_locks locks, int pe, size_t i);
SKUA_API void skua_unlock(skua_locks locks, int pe, size_t i);

SKUA_END_DECLS

#endif
