/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.h - a mutex of four bytes in shared memory, zero when free.
 *
 * For the slow paths of the allocator.  0 free, 1 held, 2 held and perhaps
 * waited for.  A process that dies inside leaves it held; the launcher ends
 * the whole job then, so nobody waits for long.
 */
#ifndef SKI_LOCK_H
#define SKI_LOCK_H

#include "base/futex.h"

struct ski_lock {
    _Atomic uint32_t state;
};

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

static inline void ski_lock_release(struct ski_lock *lock)
{
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        ski_futex_wake(&lock->state, 1);
}

#endif
