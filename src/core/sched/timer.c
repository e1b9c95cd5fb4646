/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c - see timer.h. */
#include "core/sched/timer.h"

#include <skua/scheduler.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/memory.h"
#include "core/pe/pe.h"

/* ---- the heap ------------------------------------------------------------ */

static uint64_t deadline_at(const struct ski_timers *timers, uint32_t place)
{
    return timers->timer[timers->heap[place]].deadline;
}

static void set_place(struct ski_timers *timers, uint32_t place, uint32_t slot)
{
    timers->heap[place]       = slot;
    timers->timer[slot].place = place;
}

/* Moves the timer in @p slot from @p place towards the root until it is in order. */
static void sift_up(struct ski_timers *timers, uint32_t place, uint32_t slot)
{
    uint64_t deadline = timers->timer[slot].deadline;

    while (place > 0 && deadline < deadline_at(timers, (place - 1) / 2)) {
        set_place(timers, place, timers->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set_place(timers, place, slot);
}

static void sift_down(struct ski_timers *timers, uint32_t place, uint32_t slot)
{
    uint64_t deadline = timers->timer[slot].deadline;

    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < timers->count &&
            deadline_at(timers, child + 1) < deadline_at(timers, child))
            child++;
        if (child >= timers->count || deadline_at(timers, child) >= deadline)
            break;
        set_place(timers, place, timers->heap[child]);
        place = child;
    }
    set_place(timers, place, slot);
}

/* ---- slots --------------------------------------------------------------- */

static void grow(struct ski_timers *timers)
{
    uint32_t room = timers->room ? 2 * timers->room : 16;

    timers->timer = ski_realloc(timers->timer, room * sizeof *timers->timer);
    timers->heap  = ski_realloc(timers->heap, room * sizeof *timers->heap);
    for (uint32_t slot = timers->room; slot < room; slot++)
        timers->timer[slot] = (struct ski_timer){.place = slot + 1, .generation = 1};
    timers->free = timers->room;
    timers->room = room;
}

static skua_timer start(struct ski_pe *self, uint64_t delay, uint64_t period, skua_completion done)
{
    struct ski_timers *timers = &self->timers;
    struct ski_timer  *timer;
    uint32_t           slot;

    if (timers->count == timers->room)
        grow(timers);
    slot            = timers->free;
    timer           = &timers->timer[slot];
    timers->free    = timer->place;
    timer->deadline = ski_ticks() + delay;
    timer->period   = period;
    timer->done     = done;
    sift_up(timers, timers->count++, slot);
    self->queue.attention |= SKI_ATTEND_TIMERS;
    return (skua_timer){(uint64_t)timer->generation << 32 | slot};
}

static void stop(struct ski_pe *self, uint32_t slot)
{
    struct ski_timers *timers = &self->timers;
    uint32_t           place  = timers->timer[slot].place;
    uint32_t           last   = timers->heap[--timers->count];

    if (last != slot) {
        set_place(timers, place, last);
        sift_down(timers, place, last);
        sift_up(timers, timers->timer[last].place, last);
    }
    timers->timer[slot].generation++;
    timers->timer[slot].place = timers->free;
    timers->free              = slot;
    if (timers->count == 0)
        self->queue.attention &= ~(uint32_t)SKI_ATTEND_TIMERS;
}

/* ---- calls --------------------------------------------------------------- */

static uint64_t ticks_of(const char *call, double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9))
        ski_misuse("%s: %g seconds is no time to wait", call, seconds);
    return ski_ns_to_ticks((uint64_t)(seconds * 1e9));
}

skua_timer skua_after(double seconds, skua_completion done)
{
    return start(SKI_SELF(), ticks_of(__func__, seconds), 0, done);
}

skua_timer skua_every(double seconds, skua_completion done)
{
    uint64_t ticks = ticks_of(__func__, seconds);

    if (ticks == 0)
        ski_misuse("skua_every: a period must be longer than 0");
    return start(SKI_SELF(), ticks, ticks, done);
}

bool skua_timer_cancel(skua_timer timer)
{
    struct ski_pe *self = SKI_SELF();
    uint32_t       slot = (uint32_t)timer.id;

    if (slot >= self->timers.room || self->timers.timer[slot].generation != timer.id >> 32)
        return false;
    stop(self, slot);
    return true;
}

void ski_timers_fire(struct ski_pe *self)
{
    struct ski_timers *timers = &self->timers;
    uint64_t           now    = ski_ticks();

    while (timers->count > 0 && deadline_at(timers, 0) <= now) {
        uint32_t          slot  = timers->heap[0];
        struct ski_timer *timer = &timers->timer[slot];
        skua_completion   done  = timer->done;

        if (timer->period) { /* periods that were missed are skipped */
            timer->deadline += timer->period * ((now - timer->deadline) / timer->period + 1);
            sift_down(timers, 0, slot);
        } else {
            stop(self, slot);
        }
        self->stats.timers++;
        self->idle_passes = 0;        /* no sleep before the loop has looked again */
        skua_complete(done, NULL, 0); /* may start and cancel timers               */
    }
}

uint64_t ski_timers_wait(const struct ski_timers *timers)
{
    uint64_t now = ski_ticks();

    if (timers->count == 0)
        return SKI_FOREVER;
    return deadline_at(timers, 0) > now ? ski_ticks_to_ns(deadline_at(timers, 0) - now) : 0;
}

void ski_timers_destroy(struct ski_timers *timers)
{
    free(timers->timer);
    free(timers->heap);
}
