/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.h - remote atomic operations and distributed locks.
 *
 * All operations of this header are atomic with respect to each other, from any PE or thread and
 * over any path. They are not atomic with respect to accumulates, puts or plain stores. Each is
 * sequentially ordered in its caller: earlier memory accesses of the caller take effect before it,
 * later ones after it. The target address is aligned to the size of the word, else the call returns
 * SKUA_ERR_ALIGN; the other failures are those of onesided.h.
 *
 * Any PE, and any other thread of its process, may call these functions at any time until
 * skua_main() returns.
 */
#ifndef SKUA_ATOMIC_H
#define SKUA_ATOMIC_H

#include <stdint.h>

#include <skua/api.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/** Adds @p value to the 64-bit word at @p at. Stores the previous value in *old unless @p old is
 *  NULL. */
SKUA_API skua_status skua_fetch_add64(skua_gaddr at, uint64_t value, uint64_t *old);

/** Replaces the 64-bit word at @p at by its bitwise AND with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_and64(skua_gaddr at, uint64_t value, uint64_t *old);

/** Replaces the 64-bit word at @p at by its bitwise OR with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_or64(skua_gaddr at, uint64_t value, uint64_t *old);

/** Replaces the 64-bit word at @p at by its bitwise XOR with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_xor64(skua_gaddr at, uint64_t value, uint64_t *old);

/** Stores @p value in the 64-bit word at @p at. Stores the previous value in *old unless @p old is
 *  NULL. */
SKUA_API skua_status skua_swap64(skua_gaddr at, uint64_t value, uint64_t *old);

/** Stores @p value in the 64-bit word at @p at if the word equals @p expected. Stores the previous
 *  value in *old, equal or not, unless @p old is NULL. */
SKUA_API skua_status skua_compare_swap64(skua_gaddr at, uint64_t expected, uint64_t value,
                                         uint64_t *old);

/** Reads the 64-bit word at @p at into *value. */
SKUA_API skua_status skua_load64(skua_gaddr at, uint64_t *value);

/** Writes @p value to the 64-bit word at @p at. */
SKUA_API skua_status skua_store64(skua_gaddr at, uint64_t value);

/** Adds @p value to the 32-bit word at @p at. Stores the previous value in *old unless @p old is
 *  NULL. */
SKUA_API skua_status skua_fetch_add32(skua_gaddr at, uint32_t value, uint32_t *old);

/** Replaces the 32-bit word at @p at by its bitwise AND with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_and32(skua_gaddr at, uint32_t value, uint32_t *old);

/** Replaces the 32-bit word at @p at by its bitwise OR with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_or32(skua_gaddr at, uint32_t value, uint32_t *old);

/** Replaces the 32-bit word at @p at by its bitwise XOR with @p value. Stores the previous value in
 *  *old unless @p old is NULL. */
SKUA_API skua_status skua_fetch_xor32(skua_gaddr at, uint32_t value, uint32_t *old);

/** Stores @p value in the 32-bit word at @p at. Stores the previous value in *old unless @p old is
 *  NULL. */
SKUA_API skua_status skua_swap32(skua_gaddr at, uint32_t value, uint32_t *old);

/** Stores @p value in the 32-bit word at @p at if the word equals @p expected. Stores the previous
 *  value in *old, equal or not, unless @p old is NULL. */
SKUA_API skua_status skua_compare_swap32(skua_gaddr at, uint32_t expected, uint32_t value,
                                         uint32_t *old);

/** Reads the 32-bit word at @p at into *value. */
SKUA_API skua_status skua_load32(skua_gaddr at, uint32_t *value);

/** Writes @p value to the 32-bit word at @p at. */
SKUA_API skua_status skua_store32(skua_gaddr at, uint32_t value);

/** Adds @p value to the 64-bit word at @p at. */
static inline skua_status skua_add64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_add64(at, value, NULL);
}

/** Replaces the 64-bit word at @p at by its bitwise AND with @p value. */
static inline skua_status skua_and64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_and64(at, value, NULL);
}

/** Replaces the 64-bit word at @p at by its bitwise OR with @p value. */
static inline skua_status skua_or64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_or64(at, value, NULL);
}

/** Replaces the 64-bit word at @p at by its bitwise XOR with @p value. */
static inline skua_status skua_xor64(skua_gaddr at, uint64_t value)
{
    return skua_fetch_xor64(at, value, NULL);
}

/** Adds @p value to the 32-bit word at @p at. */
static inline skua_status skua_add32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_add32(at, value, NULL);
}

/** Replaces the 32-bit word at @p at by its bitwise AND with @p value. */
static inline skua_status skua_and32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_and32(at, value, NULL);
}

/** Replaces the 32-bit word at @p at by its bitwise OR with @p value. */
static inline skua_status skua_or32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_or32(at, value, NULL);
}

/** Replaces the 32-bit word at @p at by its bitwise XOR with @p value. */
static inline skua_status skua_xor32(skua_gaddr at, uint32_t value)
{
    return skua_fetch_xor32(at, value, NULL);
}

/* ---- locks --------------------------------------------------------------- */

/** A set of locks with a fixed number of locks on every PE. Any PE or thread may acquire any of
 *  them. */
typedef struct {
    skua_region region;
} skua_locks;

/** Creates @p count locks on every PE. Collective: all PEs call it in the same order. */
SKUA_API skua_status skua_locks_create(size_t count, skua_locks *locks);

/** Frees a set of locks. Collective, as skua_locks_create() is. */
SKUA_API skua_status skua_locks_destroy(skua_locks locks);

/** Acquires lock @p i of @p pe. Requests are granted in the order of their arrival. While it
 *  waits, the caller behaves as in any other wait (completion.h). Returns false when the job
 *  ends first. */
SKUA_API bool skua_lock(skua_locks locks, int pe, size_t i);

/** Releases lock @p i of @p pe, which the caller holds. All earlier writes of the caller are
 *  visible to the next holder. */
SKUA_API void skua_unlock(skua_locks locks, int pe, size_t i);

SKUA_END_DECLS

#endif
