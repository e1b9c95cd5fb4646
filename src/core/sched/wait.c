/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c - wait lists, and the mutexes and conditions made of them.
 *
 * A list is circular and known by its last entry, so that both ends are at
 * hand.  Entries lie on the stacks of those who wait.
 */
#include "core/sched/wait.h"

#include <skua/thread.h>

#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "core/sched/thread.h"

struct waiter {
    struct waiter      *next;
    struct skua_thread *thread; /* NULL: on the PE's own stack */
    bool                woken;
};

static void append(void **list, struct waiter *waiter)
{
    struct waiter *last = *list;

    waiter->next = last ? last->next : waiter;
    if (last)
        last->next = waiter;
    *list = waiter;
}

static struct waiter *take_first(void **list)
{
    struct waiter *last = *list, *first = last ? last->next : NULL;

    if (first == last)
        *list = NULL;
    else
        last->next = first->next;
    return first;
}

/* Takes one out of the middle: somebody gave up waiting. */
static void take_out(void **list, struct waiter *waiter)
{
    struct waiter *before = *list;

    while (before->next != waiter)
        before = before->next;
    before->next = waiter->next;
    if (*list == waiter)
        *list = before == waiter ? NULL : before;
}

static bool is_woken(void *arg)
{
    return ((struct waiter *)arg)->woken;
}

/* A thread that waits says in which call, as its PE's own stack does. */
static void wait_block_thread(struct ski_pe *self, struct skua_thread *thread, struct ski_call call)
{
    thread->blocked = call;
    ski_thread_block(self);
    thread->blocked.name = NULL;
}

static void wait_run_until_woken(struct ski_pe *self, struct waiter *waiter, struct ski_call call)
{
    struct ski_blocked blocked;

    ski_blocked_push(self, &blocked, call);
    ski_scheduler_until(self, is_woken, waiter);
    ski_blocked_pop(self, &blocked);
}

bool ski_wait_on_runtime(struct ski_pe *self, void **list, struct ski_call call)
{
    struct waiter waiter = {NULL, self->thread, false};

    append(list, &waiter);
    if (waiter.thread)
        wait_block_thread(self, waiter.thread, call);
    else
        wait_run_until_woken(self, &waiter, call);
    if (!waiter.woken)
        take_out(list, &waiter);
    return waiter.woken;
}

bool ski_wait_on(struct ski_pe *self, void **list, struct ski_call call)
{
    ski_blocked_prepare(self); /* messages that it lets through may end the wait */
    return ski_wait_on_runtime(self, list, call);
}

bool ski_wake_one(struct ski_pe *self, void **list)
{
    struct waiter *waiter = take_first(list);

    if (!waiter)
        return false;
    waiter->woken = true;
    if (waiter->thread)
        ski_thread_unblock(self, waiter->thread);
    return true;
}

void ski_wake_all(struct ski_pe *self, void **list)
{
    while (ski_wake_one(self, list))
        ;
}

/* ---- mutexes and conditions ---------------------------------------------- */

bool skua_mutex_trylock(skua_mutex *mutex)
{
    if (mutex->locked)
        return false;
    mutex->locked = true;
    return true;
}

bool skua_mutex_lock(skua_mutex *mutex)
{
    /* unlock hands it over, locked */
    return skua_mutex_trylock(mutex) || ski_wait_on(SKI_SELF(), &mutex->waiters, SKI_CALL);
}

void skua_mutex_unlock(skua_mutex *mutex)
{
    struct ski_pe *self = SKI_SELF();

    if (!mutex->locked && !ski_pe_exiting(self)) /* then a wait may have ended without it */
        ski_misuse("skua_mutex_unlock: the mutex is not locked");
    if (!ski_wake_one(self, &mutex->waiters))
        mutex->locked = false;
}

bool skua_cond_wait(skua_cond *cond, skua_mutex *mutex)
{
    skua_mutex_unlock(mutex);
    return ski_wait_on(SKI_SELF(), &cond->waiters, SKI_CALL) && skua_mutex_lock(mutex);
}

void skua_cond_signal(skua_cond *cond)
{
    ski_wake_one(SKI_SELF(), &cond->waiters);
}

void skua_cond_broadcast(skua_cond *cond)
{
    ski_wake_all(SKI_SELF(), &cond->waiters);
}
