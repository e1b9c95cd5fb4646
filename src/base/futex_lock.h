/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex_lock.h - a mutex of four bytes in shared memory, for slow paths.
 *
 * The state is 0 when free, 1 when held, 2 when held and perhaps waited for.  A process that dies
 * while it holds the lock leaves it held; the launcher then ends the whole job, so no process waits
 * for long.
 */
#ifndef SKI_FUTEX_LOCK_H
#define SKI_FUTEX_LOCK_H

#include "base/assert.h"
#include "base/futex.h"

/* Zeroed memory is a free lock. */
struct ski_lock {
    _Atomic uint32_t state;
};

/** Acquires the lock; sleeps while another thread, of any process, holds it. */
static inline void ski_lock_acquire(struct ski_lock *lock)
{
    uint32_t seen = 0;

    /* Acquire: pairs with the release in ski_lock_release(). */
    if (atomic_compare_exchange_strong_explicit(&lock->state, &seen, 1, memory_order_acquire,
                                                memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
        ski_futex_wait(&lock->state, 2, SKI_FOREVER);
}

/** Releases the lock, which the caller holds. */
static inline void ski_lock_release(struct ski_lock *lock)
{
    ski_assert(atomic_load_explicit(&lock->state, memory_order_relaxed) != 0);
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        ski_futex_wake(&lock->state, 1);
}

#endif
