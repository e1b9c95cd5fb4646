/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atomic.h - remote atomic operations and distributed locks.
 *
 * All operations of this header are atomic with respect to each other, whatever their type, from
 * any PE or thread and over any path. They are not atomic with respect to accumulates, puts or
 * plain stores. A blocking operation is sequentially ordered in its caller: earlier memory accesses
 * of the caller take effect before it, later ones after it. The target address is aligned to the
 * size of the word, else the call returns SKUA_ERR_ALIGN; the other failures are those of
 * onesided.h.
 *
 * skua_atomic() performs any operation on any type, skua_atomic_nb() starts it. The functions with
 * 32 or 64 in their names are the fast forms for unsigned integers.
 *
 * Any PE, and any other thread of its process, may call these functions at any time until
 * skua_main() returns.
 */
#ifndef SKUA_ATOMIC_H
#define SKUA_ATOMIC_H

#include <stdint.h>

#include <skua/api.h>
#include <skua/collective.h>
#include <skua/onesided.h>
#include <skua/region.h>

SKUA_BEGIN_DECLS

/* ---- any operation, any type ---------------------------------------------- */

/** The operations of skua_atomic() and skua_atomic_nb(). */
typedef enum {
    SKUA_ATOMIC_ADD,          /* word + operand; integers wrap around                       */
    SKUA_ATOMIC_AND,          /* bitwise, of integers                                       */
    SKUA_ATOMIC_OR,           /* bitwise, of integers                                       */
    SKUA_ATOMIC_XOR,          /* bitwise, of integers                                       */
    SKUA_ATOMIC_SWAP,         /* the operand                                                */
    SKUA_ATOMIC_COMPARE_SWAP, /* operand[1] if the word has the bits of operand[0]          */
    SKUA_ATOMIC_LOAD,         /* the word itself: there is no operand                       */
    SKUA_ATOMIC_STORE,        /* the operand; the previous value is not needed              */
    SKUA_ATOMIC_MIN,          /* the lesser of word and operand                             */
    SKUA_ATOMIC_MAX           /* the greater of word and operand                            */
} skua_atomic_op;

/** Performs @p op on the word of @p type at @p at and returns when it is complete. @p operand
 *  points to one element of the type: to an array of two, the expected and the new value, for
 *  SKUA_ATOMIC_COMPARE_SWAP; it is ignored for SKUA_ATOMIC_LOAD. The previous value is stored at
 *  @p old unless that is NULL. The types are SKUA_INT32, SKUA_INT64, SKUA_UINT32, SKUA_UINT64 and,
 *  except for the bitwise operations, SKUA_FLOAT and SKUA_DOUBLE. Floating-point numbers are
 *  compared and swapped as bits: 0.0 and -0.0 differ, a NaN equals itself; a minimum or maximum
 *  with a NaN leaves the word as it is. Returns SKUA_ERR_INVAL for an operation that is not defined
 *  for the type, or without an operand. */
SKUA_API skua_status skua_atomic(skua_gaddr at, skua_atomic_op op, skua_type type,
                                 const void *operand, void *old);

/** Starts what skua_atomic() performs. The operands are copied; the memory at @p old, unless NULL,
 *  must stay valid until it holds the previous value. @p params states order and completion: its
 *  handle and `remote` when the atomic is complete at the target, `local` when the previous value
 *  has been stored (immediately if @p old is NULL); NULL: implicit, a flush waits for it. It is
 *  ordered as an accumulate. Returns SKUA_OK if the atomic is complete, SKUA_PENDING if not, or a
 *  failure. It never waits and runs no handlers, even between hosts. An error that only the target
 *  can detect, such as an address outside a region whose size is not known on this host, is logged
 *  when its answer arrives, and *old is not changed. */
SKUA_API skua_status skua_atomic_nb(skua_gaddr at, skua_atomic_op op, skua_type type,
                                    const void *operand, void *old, const skua_rma_params *params);

/* ---- fast forms ------------------------------------------------------------ */

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
