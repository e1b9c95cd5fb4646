/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.h - accumulate: the arithmetic, and the locks that make it atomic.
 *
 * Every element of memory belongs to a stripe, by its address in the process
 * that owns it, and stripes to locks.  Whoever accumulates, from whatever
 * process, holds the lock of the stripe: one at a time, so there is no order to
 * keep and no deadlock.
 */
#ifndef SKI_UPDATE_H
#define SKI_UPDATE_H

#include "onesided/onesided.h"
#include "onesided/region.h"

/** to = to (op) scale * from, for @p count elements. */
typedef void (*ski_update_fn)(void *to, const void *from, size_t count, const void *scale);

/** The function of an update, and the bytes of an element; NULL if there is none. */
ski_update_fn ski_update_function(const skua_update *update, size_t *element);

/* ---- stripes -------------------------------------------------------------- */

struct ski_hold {
    struct ski_stripe *stripe; /* or NULL */
};

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

#endif
