/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_set.c - waiting for notifications under a condition: one, any, some, all of a set.
 *
 * To wait for any of a set, a thread watches the whole set as one range (notify.h): a PE that
 * raises one of its notifications sends a message, and the handler finds the range by the address
 * and evaluates the condition of that one alone.  The thread is woken when a condition holds, so
 * the cost of an arrival does not depend on the size of the set.
 *
 * To wait for all is to wait for one after the other.
 */
#include <skua/notify.h>

#include "base/assert.h"
#include "base/params_check.h"
#include "core/pe/pe.h"
#include "core/sched/scheduler.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/sync/notify.h"

static bool notify_compare(uint64_t value, skua_cmp cmp, uint64_t with)
{
    switch (cmp) {
    case SKUA_CMP_EQ: return value == with;
    case SKUA_CMP_NE: return value != with;
    case SKUA_CMP_GT: return value > with;
    case SKUA_CMP_GE: return value >= with;
    case SKUA_CMP_LT: return value < with;
    case SKUA_CMP_LE: return value <= with;
    }
    return false;
}

/* ---- sets ------------------------------------------------------------------------------- */

static void notify_set_check(const char *call, const skua_notify_set *set)
{
    ski_params_check(call, "skua_notify_set", set->size, sizeof *set);
    if (set->count > 0 && !set->notify)
        ski_misuse("%s: the set has %zu notifications at NULL", call, set->count);
    if (set->stride % sizeof(skua_notify))
        ski_misuse("%s: a stride of %zu bytes is not a multiple of %zu", call, set->stride,
                   sizeof(skua_notify));
    if ((unsigned)set->cmp > SKUA_CMP_LE)
        ski_misuse("%s: there is no comparison %d", call, (int)set->cmp);
}

static size_t notify_set_stride(const skua_notify_set *set)
{
    return set->stride ? set->stride : sizeof(skua_notify);
}

static skua_notify *notify_set_at(const skua_notify_set *set, size_t i)
{
    ski_assert(i < set->count);
    return (skua_notify *)(void *)((char *)set->notify + i * notify_set_stride(set));
}

static bool notify_set_has(const skua_notify_set *set, size_t i)
{
    return !(set->skip && set->skip[i]);
}

static uint64_t notify_set_with(const skua_notify_set *set, size_t i)
{
    return set->values ? set->values[i] : set->value;
}

static bool notify_set_meets(const skua_notify_set *set, size_t i)
{
    return notify_compare(skua_notify_value(notify_set_at(set, i)), set->cmp,
                          notify_set_with(set, i));
}

/* Returns the first that meets its condition, from @p i on. */
static size_t notify_set_find(const skua_notify_set *set, size_t i)
{
    for (; i < set->count; i++)
        if (notify_set_has(set, i) && notify_set_meets(set, i))
            return i;
    return SKUA_NOTIFY_NONE;
}

static size_t notify_set_find_some(const skua_notify_set *set, size_t *indices)
{
    size_t n = 0;

    for (size_t i = notify_set_find(set, 0); i != SKUA_NOTIFY_NONE; i = notify_set_find(set, i + 1))
        indices[n++] = i;
    return n;
}

static bool notify_set_is_empty(const skua_notify_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (notify_set_has(set, i))
            return false;
    return true;
}

/* ---- waiting for any ---------------------------------------------------------------------- */

struct notify_set_wait {
    struct ski_notify_watch watch; /* first: the functions below get it */
    const skua_notify_set  *set;
    size_t                  found;
};

static bool notify_set_reached(void *arg)
{
    struct notify_set_wait *wait = arg;

    wait->found = notify_set_find(wait->set, 0);
    return wait->found != SKUA_NOTIFY_NONE;
}

static bool notify_set_ends(struct ski_notify_watch *watch, size_t index)
{
    return notify_set_meets(((struct notify_set_wait *)watch)->set, index);
}

static bool notify_set_reached_one(struct ski_notify_watch *watch, size_t index, uint64_t value)
{
    const skua_notify_set *set = ((struct notify_set_wait *)watch)->set;

    return notify_compare(value, set->cmp, notify_set_with(set, index));
}

/* Waits for any of a set that is not empty; SKUA_NOTIFY_NONE: the job ends. */
static size_t notify_set_wait(const skua_notify_set *set, struct ski_call call)
{
    struct ski_pe         *self = ski_self;
    struct notify_set_wait wait = {.watch = {.notify = set->notify,
                                             .count  = set->count,
                                             .stride = notify_set_stride(set),
                                             .skip   = set->skip,
                                             .ends   = notify_set_ends},
                                   .set   = set};

    if (notify_set_reached(&wait))
        return wait.found;
    if (!self) { /* an external thread may wait, too */
        ski_onesided_check(call.name);
        return ski_notify_poll_external(notify_set_reached, &wait) ? wait.found : SKUA_NOTIFY_NONE;
    }
    if (!self->thread && ski_scheduler_spin(self, notify_set_reached, &wait))
        return wait.found;
    ski_assert(wait.found == SKUA_NOTIFY_NONE);
    while (!notify_set_reached(&wait))
        if (!ski_notify_watch_wait(self, &wait.watch, notify_set_reached_one, call))
            return SKUA_NOTIFY_NONE;
    return wait.found;
}

bool skua_notify_wait_until(skua_notify *notify, skua_cmp cmp, uint64_t value)
{
    skua_notify_set one = {.notify = notify, .count = 1, .cmp = cmp, .value = value};

    notify_set_check(__func__, &one);
    return notify_set_wait(&one, SKI_CALL) != SKUA_NOTIFY_NONE;
}

size_t skua_notify_wait_any(const skua_notify_set *set)
{
    notify_set_check(__func__, set);
    return notify_set_is_empty(set) ? SKUA_NOTIFY_NONE : notify_set_wait(set, SKI_CALL);
}

size_t skua_notify_wait_some(const skua_notify_set *set, size_t *indices)
{
    size_t n = 0;

    notify_set_check(__func__, set);
    if (notify_set_is_empty(set))
        return 0;
    while (n == 0) { /* another thread may have taken what was found */
        if (notify_set_wait(set, SKI_CALL) == SKUA_NOTIFY_NONE)
            return 0;
        n = notify_set_find_some(set, indices);
    }
    return n;
}

bool skua_notify_wait_all(const skua_notify_set *set)
{
    notify_set_check(__func__, set);
    for (size_t i = 0; i < set->count; i++) {
        skua_notify_set one = {.notify = notify_set_at(set, i),
                               .count  = 1,
                               .cmp    = set->cmp,
                               .value  = notify_set_with(set, i)};

        if (notify_set_has(set, i) && notify_set_wait(&one, SKI_CALL) == SKUA_NOTIFY_NONE)
            return false;
    }
    return true;
}

/* ---- testing -------------------------------------------------------------------------------- */

/* Makes progress on the PE after a test that found nothing.  Returns whether the caller is to test
 * again. */
static bool notify_progress(void)
{
    return ski_self && !ski_self->thread && skua_poll(1) > 0;
}

bool skua_notify_test(skua_notify *notify, skua_cmp cmp, uint64_t value)
{
    skua_notify_set one = {.notify = notify, .count = 1, .cmp = cmp, .value = value};

    notify_set_check(__func__, &one);
    return notify_set_meets(&one, 0) || (notify_progress() && notify_set_meets(&one, 0));
}

size_t skua_notify_test_any(const skua_notify_set *set)
{
    size_t found;

    notify_set_check(__func__, set);
    found = notify_set_find(set, 0);
    return found == SKUA_NOTIFY_NONE && notify_progress() ? notify_set_find(set, 0) : found;
}

size_t skua_notify_test_some(const skua_notify_set *set, size_t *indices)
{
    size_t n;

    notify_set_check(__func__, set);
    n = notify_set_find_some(set, indices);
    return n == 0 && notify_progress() ? notify_set_find_some(set, indices) : n;
}

static bool notify_set_meets_all(const skua_notify_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (notify_set_has(set, i) && !notify_set_meets(set, i))
            return false;
    return true;
}

bool skua_notify_test_all(const skua_notify_set *set)
{
    notify_set_check(__func__, set);
    return notify_set_meets_all(set) || (notify_progress() && notify_set_meets_all(set));
}
