/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock.c - locks that any PE may take, in the order of asking.
 *
 * A lock is the tail of a queue of those who hold it or wait (an MCS lock).
 * Whoever comes puts an entry of its own at the tail and, if there was one
 * before, waits in its own memory until that one hands the lock over.
 *
 * Ordering: the exchange of the tail (acquire and release) makes an entry
 * visible to the next; the hand-over is a notification (notify.h), whose release
 * and acquire carry what the holder did to the next holder.
 */
#include <skua/atomic.h>

#include <sched.h>
#include <string.h>

#include "onesided/sync/lock_remote.h"
#include "onesided/sync/notify.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region.h"

struct entry {
    struct entry *_Atomic next;
    skua_notify           granted;
    int32_t               pe; /* who waits, for the hand-over */
};

struct lock {
    struct entry *_Atomic tail;
    struct entry         *holder; /* the holder's own */
};

skua_status_t skua_locks_create(size_t count, skua_locks *locks)
{
    size_t bytes = count > SIZE_MAX / sizeof(struct lock) ? SIZE_MAX : count * sizeof(struct lock);
    skua_status_t status = skua_region_create(bytes, &locks->region);

    if (status != SKUA_OK)
        return status;
    skua_region_set_name(locks->region, "locks");
    memset(skua_region_mine(locks->region), 0, bytes);
    skua_sync(); /* no PE takes one of ours before it is zero */
    return SKUA_OK;
}

skua_status_t skua_locks_free(skua_locks locks)
{
    return skua_region_free(locks.region);
}

static struct lock *lock_at(const char *call, skua_locks locks, int pe, size_t i)
{
    struct ski_place place;

    if (i >= skua_region_size(locks.region) / sizeof(struct lock) ||
        ski_locate(call, skua_at(locks.region, pe, i * sizeof(struct lock)), 0, sizeof(struct lock),
                   &place) != SKUA_OK)
        ski_misuse("%s: PE %d has no lock %zu", call, pe, i);
    return (struct lock *)(void *)place.memory;
}

/* Whether the job is spread: then somebody else keeps the queue (lock_remote.h). */
static bool is_spread(const char *call, skua_locks locks, int pe, size_t i)
{
    struct ski_job *job = ski_origin_job();

    if (!job || !ski_job_spread(job))
        return false;
    if (pe < 0 || pe >= job->pes || i >= skua_region_size(locks.region) / sizeof(struct lock))
        ski_misuse("%s: PE %d has no lock %zu", call, pe, i);
    return true;
}

bool skua_lock(skua_locks locks, int pe, size_t i)
{
    struct lock     *lock;
    struct entry    *mine, *before;
    struct ski_actor actor;

    if (is_spread(__func__, locks, pe, i))
        return ski_lock_far(locks, pe, i);
    lock = lock_at(__func__, locks, pe, i);

    if (!ski_act_begin(&actor))
        return false;
    mine = ski_pool_alloc(&actor.self->pool, sizeof *mine);
    if (!mine)
        ski_fatal("skua_lock: no memory; raise SKUA_ARENA_SIZE");
    *mine = (struct entry){.pe = actor.self->pe};
    ski_act_end(&actor);
    before = atomic_exchange_explicit(&lock->tail, mine, memory_order_acq_rel);
    if (before) {
        /* Pairs with the acquire in skua_unlock(). */
        atomic_store_explicit(&before->next, mine, memory_order_release);
        if (!ski_notify_wait(ski_self, &mine->granted, 1, SKI_CALL))
            return false; /* the job ends: nothing of this matters any more */
    }
    lock->holder = mine;
    return true;
}

void skua_unlock(skua_locks locks, int pe, size_t i)
{
    struct lock     *lock;
    struct entry    *mine, *last, *next;
    struct ski_actor actor;

    if (is_spread(__func__, locks, pe, i)) {
        ski_unlock_far(locks, pe, i);
        return;
    }
    lock = lock_at(__func__, locks, pe, i);
    mine = last = lock->holder;

    if (!mine)
        ski_misuse("skua_unlock: lock %zu of PE %d is not taken", i, pe);
    /* What went by request must be there before the next one looks. */
    if (ski_self && ski_origin_of(ski_self)->outstanding.all > 0)
        skua_fence_all();
    lock->holder = NULL;
    /* Release: pairs with the acquire of the next one's exchange. */
    if (!atomic_compare_exchange_strong_explicit(&lock->tail, &last, NULL, memory_order_release,
                                                 memory_order_relaxed)) {
        while (!(next = atomic_load_explicit(&mine->next, memory_order_acquire)))
            sched_yield(); /* it has taken its place and is about to say so */
        ski_notify_raise(&next->granted, next->pe, 1);
    }
    if (!ski_act_begin(&actor))
        return;
    ski_pool_free(&actor.self->pool, mine);
    ski_act_end(&actor);
}
