/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accumulate.h - accumulate: the arithmetic, and the locks that make it atomic.
 *
 * Every element of memory belongs to a stripe, by its address in the process
 * that owns it, and stripes to locks.  Whoever accumulates, from whatever
 * process, holds the lock of the stripe: one at a time, or several of which none was
 * waited for while another was held, so there is no order to keep and no deadlock.
 */
#ifndef SKI_ACCUMULATE_H
#define SKI_ACCUMULATE_H

#include "onesided/onesided.h"
#include "onesided/region/region.h"

/** to = to (op) scale * from, for @p count elements. */
typedef void (*ski_update_fn)(void *to, const void *from, size_t count, const void *scale);

/** The function of an update, and the bytes of an element; NULL if there is none. */
ski_update_fn ski_update_function(const skua_update *update, size_t *element);

/* ---- stripes -------------------------------------------------------------- */

struct ski_hold {
    struct ski_stripe *stripe; /* or NULL */
};

/** The number of the stripe of @p owner's memory at @p address, by a hash. */
static inline uint32_t ski_stripe_number(int32_t owner, const char *address)
{
    uint64_t stripe = ((uintptr_t)address >> SKI_STRIPE_SHIFT) + ((uint64_t)(uint32_t)owner << 40);

    _Static_assert(SKI_STRIPES == 1 << (64 - 54), "the hash has as many values");
    return (uint32_t)(stripe * UINT64_C(0x9e3779b97f4a7c15) >> 54);
}

/** Hold the stripe of @p owner's memory at @p address (owner: the process, or -1
 *  for the arena), and no other. */
void ski_hold_move(struct ski_hold *hold, int32_t owner, const char *address);
void ski_hold_end(struct ski_hold *hold);

/** Whole elements from @p address on that begin in its stripe, at most @p bytes. */
static inline size_t ski_stripe_bytes(const char *address, size_t bytes, size_t element)
{
    size_t left = ((size_t)1 << SKI_STRIPE_SHIFT) -
                  ((uintptr_t)address & (((size_t)1 << SKI_STRIPE_SHIFT) - 1));

    left = (left + element - 1) / element * element;
    return left < bytes ? left : bytes;
}

/** Accumulate @p bytes of elements into memory that we reach by load and store. */
void ski_update_run(struct ski_hold *hold, int32_t owner, char *to, const char *from, size_t bytes,
                    ski_update_fn fn, size_t element, const void *scale);

/* ---- several stripes ------------------------------------------------------ */

/* Stripes that are held at the same time, for lists whose runs lie in any order: most of them
 * find theirs held already.  A stripe is waited for only while none is held, and all are given
 * back after some work, so there is no deadlock and other PEs get their turn. */
#define SKI_HOLDS      64
#define SKI_HOLDS_WORK 128 /* runs, and cache lines of theirs, until all are given back */

struct ski_holds {
    uint64_t taken; /* a bit for each place of `number` that is held */
    int32_t  left;  /* of the work until all are given back          */
    uint16_t number[SKI_HOLDS];
};

static inline void ski_holds_begin(struct ski_holds *holds)
{
    holds->taken = 0;
    holds->left  = SKI_HOLDS_WORK;
}

static inline bool ski_holds_has(const struct ski_holds *holds, uint32_t number)
{
    uint32_t place = number % SKI_HOLDS; /* the one that it has if it is held */

    return (holds->taken >> place & 1) && holds->number[place] == number;
}

/** Hold a stripe besides others or, if that would mean to wait, it alone. */
void ski_holds_take(struct ski_holds *holds, uint32_t number);

/** Accumulate one element of a list; the caller gives all stripes back after SKI_HOLDS_WORK. */
static inline void ski_update_element(struct ski_holds *holds, int32_t owner, char *to,
                                      const char *from, ski_update_fn fn, const void *scale)
{
    uint32_t number = ski_stripe_number(owner, to);

    if (SKI_UNLIKELY(!ski_holds_has(holds, number)))
        ski_holds_take(holds, number);
    fn(to, from, 1, scale);
}

/** Accumulate a run of a list. */
void ski_update_scattered(struct ski_holds *holds, int32_t owner, char *to, const char *from,
                          size_t bytes, ski_update_fn fn, size_t element, const void *scale);

/** Give all stripes back. */
void ski_holds_end(struct ski_holds *holds);

#endif
