/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c - see timer.h. */
#include "core/sched/timer.h"

#include <skua/scheduler.h>

#include "base/clock.h"
#include "base/futex.h"
#include "core/pe/pe.h"

static void timer_note_count(struct ski_pe *self)
{
    if (self->timers.count > 0)
        self->queue.events |= SKI_EVENT_TIMERS;
    else
        self->queue.events &= ~(uint32_t)SKI_EVENT_TIMERS;
}

static skua_timer timer_start(struct ski_pe *self, uint64_t delay, uint64_t period,
                              skua_completion done)
{
    skua_timer timer = {ski_timer_heap_add(&self->timers, ski_ticks() + delay, period, done),
                        self->pe};

    timer_note_count(self);
    return timer;
}

static uint64_t timer_ticks(const char *call, double seconds)
{
    if (!(seconds >= 0 && seconds < 1e9))
        ski_misuse("%s: %g seconds is not a valid delay", call, seconds);
    return ski_ns_to_ticks((uint64_t)(seconds * 1e9));
}

skua_timer skua_timer_after(double seconds, skua_completion done)
{
    return timer_start(SKI_SELF(), timer_ticks(__func__, seconds), 0, done);
}

skua_timer skua_timer_every(double seconds, skua_completion done)
{
    uint64_t ticks = timer_ticks(__func__, seconds);

    if (ticks == 0)
        ski_misuse("skua_timer_every: a period must be longer than 0");
    return timer_start(SKI_SELF(), ticks, ticks, done);
}

bool skua_timer_cancel(skua_timer timer)
{
    struct ski_pe *self  = SKI_SELF();
    bool           found = timer.pe == self->pe && ski_timer_heap_remove(&self->timers, timer.id);

    timer_note_count(self);
    return found;
}

void ski_timers_fire(struct ski_pe *self)
{
    uint64_t        now = ski_ticks();
    skua_completion done;

    ski_assert(self->timers.count > 0); /* or SKI_EVENT_TIMERS is not set */
    while (ski_timer_heap_fire(&self->timers, now, &done)) {
        timer_note_count(self);
        self->stats.timers++;
        self->idle_passes = 0;        /* no sleep before the loop has polled again */
        skua_complete(done, NULL, 0); /* may start and cancel timers               */
    }
}

uint64_t ski_timers_wait(const struct ski_pe *self)
{
    uint64_t now = ski_ticks(), first;

    if (self->timers.count == 0)
        return SKI_FOREVER;
    first = ski_timer_heap_first(&self->timers);
    return first > now ? ski_ticks_to_ns(first - now) : 0;
}
