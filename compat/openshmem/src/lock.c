/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - the locks of OpenSHMEM: tickets.
 *
 * A lock is a symmetric long. Only the copy on one PE is used; the address of the lock selects the
 * PE, so that locks are spread over the PEs. Its lower half is the next ticket, its upper half the
 * ticket that holds the lock; the lock is free if they are equal. A request takes a ticket and
 * waits for its turn, so requests are granted in order, and another thread of the PE that holds a
 * lock may request it. The last holder sets the lock to 0, so that a free lock reads as the program
 * initialised it.
 */
#include <shmem.h>

#include "amo.h"
#include "rma.h"
#include "wait.h"

static int lock_home(const long *lock)
{
    const struct shmemi_segment *s = shmemi_segment_of(lock);

    return s ? (int)(((uintptr_t)lock - s->base) / sizeof *lock % (size_t)shmemi_job.pes) : 0;
}

/* Returns one of the two halves of a lock, 32-bit words whose increments do not carry into each
 * other. */
static uint32_t *lock_half(long *lock, bool holder)
{
    bool upper_first = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    return (uint32_t *)(void *)lock + (holder != upper_first);
}

static uint64_t lock_read(long *lock, int home)
{
    return shmem_uint64_atomic_fetch((uint64_t *)(void *)lock, home);
}

void shmem_set_lock(long *lock)
{
    struct shmemi_wait wait = {0};
    int                home;
    uint32_t           ticket;

    shmemi_check_running(__func__);
    home   = lock_home(lock);
    ticket = shmem_uint32_atomic_fetch_inc(lock_half(lock, false), home);
    while ((uint32_t)(lock_read(lock, home) >> 32) != ticket)
        shmemi_wait_step(&wait);
}

int shmem_test_lock(long *lock)
{
    uint64_t now, next;
    int      home;

    shmemi_check_running(__func__);
    home = lock_home(lock);
    now  = lock_read(lock, home);
    if ((uint32_t)now != (uint32_t)(now >> 32))
        return 1;
    next = (now & ~(uint64_t)UINT32_MAX) | (uint32_t)(now + 1);
    return shmem_uint64_atomic_compare_swap((uint64_t *)(void *)lock, now, next, home) != now;
}

void shmem_clear_lock(long *lock)
{
    uint64_t now;
    int      home;

    shmemi_check_running(__func__);
    home = lock_home(lock);
    shmemi_quiet();
    now = lock_read(lock, home);
    if ((uint32_t)now == (uint32_t)(now >> 32))
        skua_abort("%s: the lock %p is not held", __func__, (void *)lock);
    /* If the only ticket is the caller's, the lock becomes 0. */
    if ((uint32_t)now == (uint32_t)((now >> 32) + 1) &&
        shmem_uint64_atomic_compare_swap((uint64_t *)(void *)lock, now, 0, home) == now)
        return;
    shmem_uint32_atomic_inc(lock_half(lock, true), home);
    shmemi_quiet();
}
