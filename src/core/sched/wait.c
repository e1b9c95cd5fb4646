/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - blocking and waking (wait.h), and the mutexes and conditions made of them. */
#include "core/sched/wait.h"

#include <skua/thread.h>

#include "core/data/wait_list.h"
#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "core/sched/thread.h"

static bool wait_is_woken(void *arg)
{
    return ((struct ski_waiter *)arg)->woken;
}

/* Blocks a user thread, which records the call that it blocks in. */
static void wait_block_thread(struct ski_pe *self, struct ski_waiter *waiter, void **list,
                              struct ski_call call)
{
    struct skua_thread *thread = waiter->thread;

    thread->blocked = call;
    thread->waiter  = waiter;
    thread->list    = list;
    ski_thread_block(self);
    thread->blocked.name = NULL;
}

static void wait_run_until_woken(struct ski_pe *self, struct ski_waiter *waiter,
                                 struct ski_call call)
{
    struct ski_blocked blocked;

    ski_blocked_push(self, &blocked, call);
    ski_scheduler_until(self, wait_is_woken, waiter);
    ski_blocked_pop(self, &blocked);
}

bool ski_wait_on_runtime(struct ski_pe *self, void **list, struct ski_call call)
{
    struct ski_waiter waiter = {NULL, self->thread, false};

    ski_wait_list_append(list, &waiter);
    if (waiter.thread)
        wait_block_thread(self, &waiter, list, call);
    else
        wait_run_until_woken(self, &waiter, call);
    if (!waiter.woken)
        ski_wait_list_remove(list, &waiter);
    return waiter.woken;
}

bool ski_wait_on(struct ski_pe *self, void **list, struct ski_call call)
{
    ski_blocked_prepare(self); /* messages that it lets through may end the wait */
    return ski_wait_on_runtime(self, list, call);
}

__attribute__((noinline)) bool ski_wait_on_movable(void **list, struct ski_call call)
{
    struct ski_pe      *self   = ski_pe_of_caller(call.name);
    struct skua_thread *thread = self->thread;
    bool                woken;

    if (!thread)
        return ski_wait_on(self, list, call);
    thread->wait = SKI_THREAD_WAITS;
    woken        = ski_wait_on(self, list, call);
    thread->wait = SKI_THREAD_STAYS;
    return woken;
}

/* Wakes the waiter that came first. Returns false if there is none. */
static bool wake_one(struct ski_pe *self, void **list)
{
    struct ski_waiter *waiter = ski_wait_list_take(list);

    if (!waiter)
        return false;
    ski_assert(!waiter->woken);
    waiter->woken = true;
    if (waiter->thread)
        ski_thread_unblock(self, waiter->thread);
    return true;
}

void ski_wake_all(struct ski_pe *self, void **list)
{
    while (wake_one(self, list))
        ;
}

/* ---- mutexes and conditions ---------------------------------------------- */

/* A thread stays on its PE while it holds a mutex, which is for the threads of one PE. */
bool skua_mutex_trylock(skua_mutex *mutex)
{
    if (mutex->locked)
        return false;
    mutex->locked = true;
    if (ski_self)
        ski_thread_pin(ski_self);
    return true;
}

bool skua_mutex_lock(skua_mutex *mutex)
{
    struct ski_pe *self = SKI_SELF();

    if (skua_mutex_trylock(mutex))
        return true;
    if (!ski_wait_on(self, &mutex->waiters, SKI_CALL))
        return false;
    ski_thread_pin(self); /* skua_mutex_unlock() has handed the mutex over, locked */
    return true;
}

void skua_mutex_unlock(skua_mutex *mutex)
{
    struct ski_pe *self = SKI_SELF();

    if (!mutex->locked &&
        !ski_pe_exiting(self)) /* at the end of the job a wait may have ended without the lock */
        ski_misuse("skua_mutex_unlock: the mutex is not locked");
    ski_thread_unpin(self);
    if (!wake_one(self, &mutex->waiters))
        mutex->locked = false;
}

bool skua_cond_wait(skua_cond *cond, skua_mutex *mutex)
{
    struct ski_pe *self = SKI_SELF();

    skua_mutex_unlock(mutex);
    return ski_wait_on(self, &cond->waiters, SKI_CALL) && skua_mutex_lock(mutex);
}

void skua_cond_signal(skua_cond *cond)
{
    wake_one(SKI_SELF(), &cond->waiters);
}

void skua_cond_broadcast(skua_cond *cond)
{
    ski_wake_all(SKI_SELF(), &cond->waiters);
}
