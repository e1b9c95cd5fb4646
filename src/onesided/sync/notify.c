/* SPDX-License-Identifier: Apache-2.0 */
/* notify.c - see notify.h. */
#include "onesided/sync/notify.h"

#include <sched.h>
#include <unistd.h>

#include "base/assert.h"
#include "core/pe/handler.h"
#include "core/sched/scheduler.h"
#include "onesided/pe/external_thread.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/sync/sync_pe.h"

#define NOTIFY_WAITING UINT64_C(1)

static _Atomic uint64_t *notify_word(const skua_notify *notify)
{
    return (_Atomic uint64_t *)(uintptr_t)&notify->word;
}

uint64_t skua_notify_value(const skua_notify *notify)
{
    /* Acquire: pairs with the release in ski_notify_raise(). */
    return atomic_load_explicit(notify_word(notify), memory_order_acquire) >> 1;
}

bool ski_notify_is_watched(const skua_notify *notify)
{
    return atomic_load_explicit(notify_word(notify), memory_order_relaxed) & NOTIFY_WAITING;
}

/* Does not touch the word: its owner may have seen the value, and freed it. */
static SKI_COLD void notify_wake(const skua_notify *notify, int pe)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return;
    skua_send_copy(pe, (skua_handler){SKI_HANDLER_NOTIFIED}, &notify, sizeof notify);
    ski_caller_leave(&caller);
}

/* A thread of the owner may wait for a lower value. */
void skua_notify_take(skua_notify *notify, uint64_t value)
{
    uint64_t before =
        atomic_fetch_sub_explicit(notify_word(notify), value << 1, memory_order_relaxed);

    if (SKI_UNLIKELY(before & NOTIFY_WAITING) && ski_self)
        notify_wake(notify, ski_self->pe);
}

void ski_notify_raise(skua_notify *notify, int pe, uint64_t value)
{
    /* Release: pairs with the acquire in skua_notify_value() and in notify_watch_link(). */
    uint64_t before =
        atomic_fetch_add_explicit(notify_word(notify), value << 1, memory_order_release);

    ski_assert((uintptr_t)notify % sizeof *notify == 0);
    if (SKI_UNLIKELY(before & NOTIFY_WAITING))
        notify_wake(notify, pe);
}

/* ---- the list of watched counters ----------------------------------------------------------- */

/* Sets the bit and adds @p watch to the list. Returns false if the target is reached.  From here on
 * each raise sends a message; a superfluous one does no harm. */
static bool notify_watch_link(struct ski_notify_watch **list, struct ski_notify_watch *watch)
{
    /* Acquire: as in skua_notify_value(). */
    if (atomic_fetch_or_explicit(notify_word(watch->notify), NOTIFY_WAITING,
                                 memory_order_acquire) >>
        1 >= watch->target)
        return false;
    watch->next = *list;
    *list       = watch;
    return true;
}

static bool notify_watch_unlink(struct ski_notify_watch **list, struct ski_notify_watch *watch)
{
    while (*list && *list != watch)
        list = &(*list)->next;
    if (!*list)
        return false;
    *list = watch->next;
    return true;
}

/* Returns whether @p watch is for @p notify, and its index in a range. */
static bool notify_watch_covers(const struct ski_notify_watch *watch, const skua_notify *notify,
                                size_t *index)
{
    size_t offset = (uintptr_t)notify - (uintptr_t)watch->notify;

    *index = 0;
    if (watch->count == 0)
        return offset == 0;
    *index = offset / watch->stride;
    return offset % watch->stride == 0 && *index < watch->count &&
           !(watch->skip && watch->skip[*index]);
}

/* Clears the bit, unless the list has another entry for the same counter. */
static void notify_clear_waiting(const struct ski_notify_watch *list, skua_notify *notify)
{
    size_t index;

    while (list && !notify_watch_covers(list, notify, &index))
        list = list->next;
    if (!list)
        atomic_fetch_and_explicit(notify_word(notify), ~NOTIFY_WAITING, memory_order_relaxed);
}

bool ski_notify_watch_add(struct ski_pe *self, struct ski_notify_watch *watch)
{
    struct ski_notify_watch **list = &ski_sync_pe(self)->watched;

    ski_assert(watch->fn);
    if (notify_watch_link(list, watch))
        return true;
    notify_clear_waiting(*list, watch->notify);
    return false;
}

bool ski_notify_watch_remove(struct ski_pe *self, struct ski_notify_watch *watch)
{
    struct ski_notify_watch **list = &ski_sync_pe(self)->watched;

    if (!notify_watch_unlink(list, watch))
        return false;
    notify_clear_waiting(*list, watch->notify);
    return true;
}

/* ---- waiting -------------------------------------------------------------------------------- */

struct notify_goal {
    skua_notify *notify;
    uint64_t     target;
};

static bool notify_reached(void *arg)
{
    struct notify_goal *goal = arg;
    return skua_notify_value(goal->notify) >= goal->target;
}

bool ski_notify_poll_external(bool (*reached)(void *arg), void *arg)
{
    bool yes = false;

    if (!ski_external_enter())
        return false;
    for (unsigned i = 0; !(yes = reached(arg)) && !ski_job_exiting(ski_onesided_job()); i++) {
        if (i < 1000)
            sched_yield();
        else
            usleep(100);
    }
    ski_external_leave();
    return yes;
}

/* Blocks until the message of a raise. Returns false if the job ends. */
static bool notify_wait_for_message(struct ski_pe *self, struct notify_goal *goal,
                                    struct ski_call call)
{
    struct ski_notify_watch **list  = &ski_sync_pe(self)->watched;
    struct ski_notify_watch   watch = {.notify = goal->notify, .target = goal->target};
    bool                      woken = true;

    if (notify_watch_link(list, &watch)) {
        woken = ski_wait_on(self, &watch.waiters, call);
        notify_watch_unlink(list, &watch);
    }
    notify_clear_waiting(*list, goal->notify);
    return woken;
}

bool ski_notify_wait(struct ski_pe *self, skua_notify *notify, uint64_t target,
                     struct ski_call call)
{
    struct notify_goal goal = {notify, target};

    if (!self)
        return ski_notify_poll_external(notify_reached, &goal);
    if (!self->thread && ski_scheduler_spin(self, notify_reached, &goal))
        return true;
    while (!notify_reached(&goal))
        if (!notify_wait_for_message(self, &goal, call))
            return false;
    return true;
}

static skua_notify *notify_of_range(const struct ski_notify_watch *watch, size_t i)
{
    return (skua_notify *)(void *)((char *)watch->notify + i * watch->stride);
}

/* Sets the bits of a range, as notify_watch_link() does of one; returns how many of the range have
 * been looked at: fewer than there are if one has reached its target. */
static size_t notify_range_set_waiting(struct ski_notify_watch *watch,
                                       bool (*reached)(struct ski_notify_watch *watch, size_t index,
                                                       uint64_t value))
{
    for (size_t i = 0; i < watch->count; i++) {
        if (watch->skip && watch->skip[i])
            continue;
        /* Acquire: as in skua_notify_value(). */
        if (reached(watch, i,
                    atomic_fetch_or_explicit(notify_word(notify_of_range(watch, i)), NOTIFY_WAITING,
                                             memory_order_acquire) >>
                        1))
            return i + 1;
    }
    return SIZE_MAX;
}

bool ski_notify_watch_wait(struct ski_pe *self, struct ski_notify_watch *watch,
                           bool (*reached)(struct ski_notify_watch *watch, size_t index,
                                           uint64_t value),
                           struct ski_call call)
{
    struct ski_notify_watch **list  = &ski_sync_pe(self)->watched;
    size_t                    set   = notify_range_set_waiting(watch, reached);
    bool                      woken = true;

    ski_assert(watch->count > 0 && watch->stride >= sizeof(skua_notify));
    if (set == SIZE_MAX) {
        watch->next = *list;
        *list       = watch;
        woken       = ski_wait_on(self, &watch->waiters, call);
        notify_watch_unlink(list, watch);
        set = watch->count;
    }
    for (size_t i = 0; i < set; i++)
        if (!(watch->skip && watch->skip[i]))
            notify_clear_waiting(*list, notify_of_range(watch, i));
    return woken;
}

bool skua_notify_wait(skua_notify *notify, uint64_t target)
{
    if (skua_notify_value(notify) >= target)
        return true;
    if (!ski_self) /* an external thread may wait, too */
        ski_onesided_check(__func__);
    return ski_notify_wait(ski_self, notify, target, SKI_CALL);
}

/* Returns an entry whose function is due, or NULL. */
static struct ski_notify_watch *notify_find_due(const struct ski_pe *self,
                                                const skua_notify   *notify)
{
    struct ski_notify_watch *w = ski_sync_pe(self)->watched;

    while (w && !(w->fn && w->notify == notify && skua_notify_value(notify) >= w->target))
        w = w->next;
    return w;
}

/* A function may change the list, so each search begins anew. */
void ski_on_notified(skua_msg *msg)
{
    skua_notify             *notify = *(skua_notify **)skua_msg_data(msg);
    struct ski_notify_watch *w;
    size_t                   index;

    skua_msg_free(msg);
    for (w = ski_sync_pe(ski_self)->watched; w; w = w->next)
        if (notify_watch_covers(w, notify, &index) && (!w->ends || w->ends(w, index)))
            ski_wake_all(ski_self, &w->waiters);
    while ((w = notify_find_due(ski_self, notify))) {
        ski_notify_watch_remove(ski_self, w);
        w->fn(ski_self, w);
    }
}
