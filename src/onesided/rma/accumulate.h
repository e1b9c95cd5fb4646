/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accumulate.h - accumulate: the arithmetic, and the locks that make it atomic.
 *
 * Memory is divided into stripes, by the address in the process that owns it, and a hash maps
 * stripes to locks.  Every PE that accumulates, from whatever process, holds the lock of the
 * stripe: one at a time, or several of which none was waited for while another was held.  So there
 * is no order to keep and no deadlock.
 */
#ifndef SKI_ACCUMULATE_H
#define SKI_ACCUMULATE_H

#include <stdatomic.h>

#include <skua/onesided.h>

#include "base/arch.h"

#define SKI_STRIPES      1024
#define SKI_STRIPE_SHIFT 15 /* 32 KiB: several rows of a matrix */

/* The lock of stripes, in the arena. */
struct ski_stripe {
    _Alignas(SKI_CACHE_LINE) _Atomic uint32_t held;
};

/** Computes to = to (op) scale * from, for @p count elements. */
typedef void (*ski_accumulate_fn)(void *to, const void *from, size_t count, const void *scale);

/* Elements that a list names by offsets (accumulate_list.h). */
struct ski_accumulate_list {
    const void *scale;
    size_t      element; /* bytes */
    int32_t     owner;   /* process of the target, or -1: the arena */
    char       *to;
    const char *from;
};

/** Accumulates the elements @p order[0] to @p order[count - 1] of a list, or, if @p order is NULL,
 * the elements 0 to @p count - 1: that at @p local[i] bytes from `from`, or element i if @p local
 * is NULL, into that at @p remote[i] bytes from `to`. */
typedef void (*ski_accumulate_at_fn)(const struct ski_accumulate_list *list,
                                     const ptrdiff_t *remote, const ptrdiff_t *local,
                                     const uint16_t *order, size_t count);

/** Returns the function of operator, type and factor, and the bytes of an element; NULL: there is
 *  none. */
ski_accumulate_fn ski_accumulate_function(const skua_update *update, size_t *element);

/** Returns the function for lists of operator and type, for which ski_accumulate_function() has
 *  one. */
ski_accumulate_at_fn ski_accumulate_at_function(const skua_update *update);

/* ---- stripes -------------------------------------------------------------- */

/* The one stripe that a PE holds. */
struct ski_stripe_lock {
    struct ski_stripe *stripe; /* or NULL */
};

/** Returns the lock of the stripe of @p owner's memory at @p address. */
static inline uint32_t ski_stripe_number(int32_t owner, const char *address)
{
    uint64_t stripe = ((uintptr_t)address >> SKI_STRIPE_SHIFT) + ((uint64_t)(uint32_t)owner << 40);

    _Static_assert(SKI_STRIPES == 1 << (64 - 54), "the hash has as many values");
    return (uint32_t)(stripe * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

/** Acquires stripe @p number if no PE holds it.  Returns whether it did. */
bool ski_stripe_try(uint32_t number);

/** Acquires stripe @p number; the caller holds no other. */
void ski_stripe_acquire(uint32_t number);

/** Releases stripe @p number, which the caller holds. */
void ski_stripe_release(uint32_t number);

/** Acquires the stripe of @p owner's memory at @p address, and releases any other.  The owner is a
 *  process, or -1 for the arena. */
void ski_stripe_lock_move(struct ski_stripe_lock *lock, int32_t owner, const char *address);

/** Releases the stripe that is held, if there is one. */
void ski_stripe_lock_release(struct ski_stripe_lock *lock);

/** Returns the bytes of whole elements from @p address on that begin in its stripe, at most @p
 *  bytes. */
static inline size_t ski_stripe_bytes(const char *address, size_t bytes, size_t element)
{
    size_t left = ((size_t)1 << SKI_STRIPE_SHIFT) -
                  ((uintptr_t)address & (((size_t)1 << SKI_STRIPE_SHIFT) - 1));

    left = (left + element - 1) / element * element;
    return left < bytes ? left : bytes;
}

/** Accumulates @p bytes of elements into memory that this process reaches by load and store. */
void ski_accumulate_contiguous(struct ski_stripe_lock *lock, int32_t owner, char *to,
                               const char *from, size_t bytes, ski_accumulate_fn fn, size_t element,
                               const void *scale);

/* ---- several stripes ------------------------------------------------------ */

/* Stripes that are held at the same time, for lists whose blocks are in any order: most blocks find
 * their stripe held already.  A PE waits for a stripe only while it holds none, and releases all
 * after some work: there is no deadlock, and other PEs get their turn. */
#define SKI_STRIPE_SET_MAX  64
#define SKI_STRIPE_SET_WORK 128 /* blocks, and cache lines of them, until all are released */

struct ski_stripe_set {
    uint64_t taken; /* a bit for each slot of `number` that is held */
    int32_t  left;  /* work until all are released */
    uint16_t number[SKI_STRIPE_SET_MAX];
};

/** Makes an empty set, with no stripe held. */
static inline void ski_stripe_set_begin(struct ski_stripe_set *set)
{
    set->taken = 0;
    set->left  = SKI_STRIPE_SET_WORK;
}

/** Returns whether stripe @p number is held in @p set. */
static inline bool ski_stripe_set_has(const struct ski_stripe_set *set, uint32_t number)
{
    uint32_t slot = number % SKI_STRIPE_SET_MAX; /* the only one that it can be in */

    return (set->taken >> slot & 1) && set->number[slot] == number;
}

/** Acquires a stripe in addition to others; if that requires waiting, releases the others first. */
void ski_stripe_set_add(struct ski_stripe_set *set, uint32_t number);

/** Accumulates a block of a list. */
void ski_accumulate_scattered(struct ski_stripe_set *set, int32_t owner, char *to, const char *from,
                              size_t bytes, ski_accumulate_fn fn, size_t element,
                              const void *scale);

/** Releases all stripes. */
void ski_stripe_set_release(struct ski_stripe_set *set);

#endif
