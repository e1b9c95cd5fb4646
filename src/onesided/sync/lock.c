/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - locks that any PE may acquire, in the order of asking.
 *
 * A lock is the tail of a queue of its holder and of those that wait (an MCS lock).  A PE puts a
 * waiter of its own at the tail and, if there was one before, waits in its own memory until that
 * one hands the lock over.
 *
 * Ordering: the exchange of the tail (acquire and release) makes a waiter visible to the next; the
 * hand-over is a notification (notify.h), whose release and acquire carry what the holder did to
 * the next holder.
 */
#include <skua/atomic.h>

#include <sched.h>
#include <string.h>

#include "base/assert.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/resolve.h"
#include "onesided/sync/lock_remote.h"
#include "onesided/sync/notify.h"

struct lock_waiter {
    struct lock_waiter *_Atomic next;
    skua_notify                 granted;
    int32_t                     pe; /* the PE that waits */
};

struct lock_word {
    struct lock_waiter *_Atomic tail;
    struct lock_waiter         *holder; /* of the holder */
};

skua_status skua_locks_create(size_t count, skua_locks *locks)
{
    size_t bytes =
        count > SIZE_MAX / sizeof(struct lock_word) ? SIZE_MAX : count * sizeof(struct lock_word);
    skua_status status;

    ski_onesided_check(__func__);
    status = skua_region_create(bytes, &locks->region);
    if (status != SKUA_OK)
        return status;
    ski_region_label_set(&(struct ski_region_label){
        .id = locks->region.id, .restart = SKI_REGION_LOCKS, .name = "locks"});
    memset(skua_region_local(locks->region), 0, bytes);
    skua_sync(); /* no PE acquires one of this PE before it is zero */
    return SKUA_OK;
}

skua_status skua_locks_destroy(skua_locks locks)
{
    ski_onesided_check(__func__);
    if (!ski_region_table_find(locks.region))
        return ski_refuse(SKUA_ERR_REGION, "%s: PE %d has no such locks (destroyed already?)",
                          __func__, ski_caller_pe());
    return skua_region_destroy(locks.region);
}

static struct lock_word *lock_at(const char *call, skua_locks locks, int pe, size_t i)
{
    struct ski_resolved target;

    if (i >= skua_region_size(locks.region) / sizeof(struct lock_word) ||
        ski_resolve(call, skua_at(locks.region, pe, i * sizeof(struct lock_word)), 0,
                    sizeof(struct lock_word), &target) != SKUA_OK)
        ski_misuse("%s: PE %d has no lock %zu", call, pe, i);
    return (struct lock_word *)(void *)target.memory;
}

/* Returns whether the job spans several hosts: then the owner of a lock keeps its queue
 * (lock_remote.h). */
static bool lock_is_spread(const char *call, skua_locks locks, int pe, size_t i)
{
    struct ski_job *job = ski_onesided_job();

    if (!job || !ski_job_is_distributed(job))
        return false;
    if (pe < 0 || pe >= job->pes || i >= skua_region_size(locks.region) / sizeof(struct lock_word))
        ski_misuse("%s: PE %d has no lock %zu", call, pe, i);
    return true;
}

bool skua_lock(skua_locks locks, int pe, size_t i)
{
    struct lock_word   *lock;
    struct lock_waiter *mine, *before;
    struct ski_caller   caller;

    if (lock_is_spread(__func__, locks, pe, i))
        return ski_lock_remote(locks, pe, i);
    lock = lock_at(__func__, locks, pe, i);

    if (!ski_caller_enter(&caller))
        return false;
    mine = ski_pool_alloc(&caller.self->pool, sizeof *mine);
    if (!mine)
        ski_fatal("skua_lock: no memory; raise SKUA_ARENA_SIZE");
    *mine = (struct lock_waiter){.pe = caller.self->pe};
    ski_caller_leave(&caller);
    before = atomic_exchange_explicit(&lock->tail, mine, memory_order_acq_rel);
    if (before) {
        /* Release: pairs with the acquire in skua_unlock(). */
        atomic_store_explicit(&before->next, mine, memory_order_release);
        if (!ski_notify_wait(ski_self, &mine->granted, 1, SKI_CALL))
            return false; /* the job ends, and the lock with it */
    }
    ski_assert(!lock->holder);
    lock->holder = mine;
    return true;
}

void skua_unlock(skua_locks locks, int pe, size_t i)
{
    struct lock_word   *lock;
    struct lock_waiter *mine, *last, *next;
    struct ski_caller   caller;

    if (lock_is_spread(__func__, locks, pe, i)) {
        ski_unlock_remote(locks, pe, i);
        return;
    }
    lock = lock_at(__func__, locks, pe, i);
    mine = last = lock->holder;

    if (!mine)
        ski_misuse("skua_unlock: lock %zu of PE %d is not held", i, pe);
    /* Requests in flight must be complete before the next holder looks. */
    if (ski_self ? ski_onesided_pe(ski_self)->outstanding > 0 : ski_external_outstanding())
        skua_flush_all();
    lock->holder = NULL;
    /* Release: pairs with the acquire of the next waiter's exchange. */
    if (!atomic_compare_exchange_strong_explicit(&lock->tail, &last, NULL, memory_order_release,
                                                 memory_order_relaxed)) {
        while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire)))
            sched_yield(); /* the next waiter is in the queue and about to link itself */
        ski_assert(next != mine);
        ski_notify_raise(&next->granted, next->pe, 1);
    }
    if (!ski_caller_enter(&caller))
        return;
    ski_pool_free(&caller.self->pool, mine);
    ski_caller_leave(&caller);
}
