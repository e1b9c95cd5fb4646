/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - see notify.h. */
#include "onesided/sync/notify.h"

#include <sched.h>
#include <unistd.h>

#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "core/sched/wait.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/rma/transfer.h"

#define WAITING UINT64_C(1)

static _Atomic uint64_t *word_of(const skua_notify *notify)
{
    return (_Atomic uint64_t *)(uintptr_t)&notify->word;
}

uint64_t skua_notify_value(const skua_notify *notify)
{
    /* Pairs with the release in ski_notify_raise(). */
    return atomic_load_explicit(word_of(notify), memory_order_acquire) >> 1;
}

void skua_notify_take(skua_notify *notify, uint64_t value)
{
    atomic_fetch_sub_explicit(word_of(notify), value << 1, memory_order_relaxed);
}

/* Does not touch the word, which may be gone: its owner may have seen the value. */
static SKI_COLD void wake(const skua_notify *notify, int pe)
{
    struct ski_actor actor;

    if (!ski_act_begin(&actor))
        return;
    skua_send_copy(pe, (skua_handler){SKI_HANDLER_NOTIFIED}, &notify, sizeof notify);
    ski_act_end(&actor);
}

void ski_notify_raise(skua_notify *notify, int pe, uint64_t value)
{
    /* Release: pairs with the acquire in skua_notify_value() and in wait. */
    uint64_t before = atomic_fetch_add_explicit(word_of(notify), value << 1, memory_order_release);

    if (SKI_UNLIKELY(before & WAITING))
        wake(notify, pe);
}

skua_status_t skua_notify_add(skua_gaddr at, uint64_t value)
{
    char *memory = ski_reach(at, sizeof(skua_notify));

    if (SKI_UNLIKELY(value == 0))
        return SKUA_OK;
    if (SKI_UNLIKELY(!memory || !ski_calm() || (uintptr_t)memory % sizeof(skua_notify)))
        return ski_notify_far(__func__, at, value, false);
    ski_notify_raise((skua_notify *)(void *)memory, at.pe, value);
    return SKUA_OK;
}

/* ---- waiting --------------------------------------------------------------- */

struct goal {
    skua_notify *notify;
    uint64_t     target;
};

static bool reached(void *arg)
{
    struct goal *goal = arg;
    return skua_notify_value(goal->notify) >= goal->target;
}

/* A thread that is no PE: nobody could wake it. */
static bool wait_outside(struct goal *goal)
{
    bool there = false;

    if (!ski_outside_begin())
        return false;
    for (unsigned i = 0; !(there = reached(goal)) && !ski_job_exiting(ski_origin_job()); i++) {
        if (i < 1000)
            sched_yield();
        else
            usleep(100);
    }
    ski_outside_end();
    return there;
}

/* Sets the bit and enlists @p mine; false: the target is reached.  From here on each raise sends a
 * message; one that comes for nothing does no harm. */
static bool expect(struct ski_expected **list, struct ski_expected *mine)
{
    /* Acquire: as in skua_notify_value(). */
    if (atomic_fetch_or_explicit(word_of(mine->notify), WAITING, memory_order_acquire) >> 1 >=
        mine->target)
        return false;
    mine->next = *list;
    *list      = mine;
    return true;
}

static bool forget(struct ski_expected **list, struct ski_expected *mine)
{
    while (*list && *list != mine)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = mine->next;
    return true;
}

/* Clears the bit, which stays while the same notification is expected in another place. */
static void clear_waiting(const struct ski_expected *list, skua_notify *notify)
{
    while (list && list->notify != notify)
        list = list->next;
    if (!list)
        atomic_fetch_and_explicit(word_of(notify), ~WAITING, memory_order_relaxed);
}

/* Waits to be woken; false: the job ends. */
static bool wait_for_message(struct ski_pe *self, struct goal *goal, struct ski_call call)
{
    struct ski_expected **list  = &ski_origin_of(self)->expected;
    struct ski_expected   mine  = {.notify = goal->notify, .target = goal->target};
    bool                  woken = true;

    if (expect(list, &mine)) {
        woken = ski_wait_on(self, &mine.waiters, call);
        forget(list, &mine);
    }
    clear_waiting(*list, goal->notify);
    return woken;
}

bool ski_notify_expect(struct ski_pe *self, struct ski_expected *expected)
{
    struct ski_expected **list = &ski_origin_of(self)->expected;

    if (expect(list, expected))
        return true;
    clear_waiting(*list, expected->notify);
    return false;
}

bool ski_notify_forget(struct ski_pe *self, struct ski_expected *expected)
{
    struct ski_expected **list = &ski_origin_of(self)->expected;

    if (!forget(list, expected))
        return false;
    clear_waiting(*list, expected->notify);
    return true;
}

bool ski_notify_wait(struct ski_pe *self, skua_notify *notify, uint64_t target,
                     struct ski_call call)
{
    struct goal goal = {notify, target};

    if (!self)
        return wait_outside(&goal);
    if (!self->thread && ski_scheduler_spin(self, reached, &goal))
        return true;
    while (!reached(&goal))
        if (!wait_for_message(self, &goal, call))
            return false;
    return true;
}

bool skua_notify_wait(skua_notify *notify, uint64_t target)
{
    return skua_notify_value(notify) >= target ||
           ski_notify_wait(ski_self, notify, target, SKI_CALL);
}

/* One whose function is to run, or NULL. */
static struct ski_expected *find_reached(const struct ski_pe *self, const skua_notify *notify)
{
    struct ski_expected *e = ski_origin_of(self)->expected;

    while (e && !(e->fn && e->notify == notify && skua_notify_value(notify) >= e->target))
        e = e->next;
    return e;
}

/* A function may change the list of what is expected. */
void ski_on_notified(skua_msg *msg)
{
    skua_notify         *notify = *(skua_notify **)skua_msg_data(msg);
    struct ski_expected *e;

    skua_msg_free(msg);
    for (e = ski_origin_of(ski_self)->expected; e; e = e->next)
        if (e->notify == notify)
            ski_wake_all(ski_self, &e->waiters);
    while ((e = find_reached(ski_self, notify))) {
        ski_notify_forget(ski_self, e);
        e->fn(ski_self, e);
    }
}

/* ---- barrier ---------------------------------------------------------------- */

static skua_notify *round_of(int index, uint32_t round)
{
    return &ski_onesided->barrier[index].round[round];
}

static void raise_round(struct ski_pe *self, int pe, uint32_t round)
{
    int index = ski_job_index(self->job, pe);

    if (index >= 0)
        ski_notify_raise(round_of(index, round), pe, 1);
    else
        skua_send_copy(pe, (skua_handler){SKI_HANDLER_ROUND}, &round, sizeof round);
}

/* Dissemination: in round k each PE tells the one 2^k further on and waits for
 * the one 2^k before it; after the last it has heard from all, directly or not.
 * The counters only grow, so rounds of different barriers cannot be mixed up. */
void skua_sync(void)
{
    struct ski_pe     *self  = SKI_SELF();
    struct ski_origin *own   = ski_origin_of(self);
    int                round = 0;

    skua_fence_all();
    own->barriers++;
    for (int64_t step = 1; step < self->pes; step *= 2, round++) {
        int peer = (int)((self->pe + step) % self->pes);

        raise_round(self, peer, (uint32_t)round);
        if (!ski_notify_wait(self, round_of(self->index, (uint32_t)round), own->barriers, SKI_CALL))
            return;
    }
}

/* From a PE of another host. */
void ski_on_round(skua_msg *msg)
{
    uint32_t round = *(uint32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (round < SKI_ROUNDS)
        ski_notify_raise(round_of(ski_self->index, round), ski_self->pe, 1);
}
