/* SPDX-License-Identifier: Apache-2.0 */
/* idle.c - see idle.h. */
#include "core/sched/idle.h"

#include <sched.h>
#include <sys/resource.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/sanitizer.h"
#include "core/message/backpressure.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/sched/foreign.h"
#include "core/sched/patience.h"
#include "core/sched/timer.h"

#define IDLE_PASSES  64        /* empty passes between two reads of the clock            */
#define IDLE_SHARED  4         /* ... where PEs share a CPU                              */
#define IDLE_AT_ONCE 1         /* ... and this one sleeps without yields                 */
#define QUICK_NS     1000      /* of a yield during which no other thread has run        */
#define SWITCH_NS    4000      /* of a yield during which another thread may have run    */
#define IMPATIENT_NS 100000000 /* after that, during which the patience does not grow    */
#define ALONE_NS     100000    /* after which such a yield is repeated                  */
#define LONG_NS      50000     /* of a yield after which a PE sleeps: the other computes */
#define LOOK_NS      500       /* polling before each yield but the first: a quarter of its cost */
#define BUSY_NS      100000000 /* after such a yield, in which it sleeps at once          */
#define YIELDS       3         /* of a PE on a crowded CPU before it sleeps            */
#define RETRY_NS     50000     /* a PE with deferred sends sleeps no longer            */

/* A callback of skua_idle_add(). */
struct ski_idle_callback {
    skua_idle_fn              fn; /* NULL: removed */
    void                     *arg;
    struct ski_idle_callback *next;
};

/* The idle state of a PE. */
struct ski_idle {
    uint64_t since;       /* ticks; 0: not known                                    */
    uint64_t delivered;   /* queue.popped at that moment                            */
    uint64_t counted;     /* ticks until which `total` is counted                   */
    uint64_t total;       /* ticks that the PE was idle so far                      */
    uint64_t spin_ticks;  /* spin until idle for this long ...                      */
    uint64_t yield_ticks; /* ... spin and yield until idle for this long; then sleep */
    uint64_t look_ticks;  /* of polling between two yields                          */
    uint64_t rests;       /* times that all callbacks had nothing to do             */
    uint64_t impatient_ticks;
    uint64_t switch_ticks;   /* a yield that took longer: another thread may have run  */
    long     switches;       /* to other threads, when that was last looked at         */
    uint32_t yields;         /* since `since`                                          */
    uint32_t depth;          /* nested walks of the list of callbacks                  */
    bool     callbacks_done; /* they ran, and had nothing more to do                */

    struct ski_foreign        foreign;
    struct ski_patience       patience;
    struct ski_idle_callback *callbacks;
};

/* ---- sleeping --------------------------------------------------------------- */

void ski_idle_begin(struct ski_pe *self)
{
    self->idle->since = 0;
}

/* Records that a message has arrived since the last call of ski_idle_consider(), if the PE has not
 * slept since. */
static void idle_note_found(struct ski_pe *self)
{
    if (self->idle->since && self->idle->delivered != self->queue.popped)
        ski_foreign_found(&self->idle->foreign);
}

void ski_idle_end(struct ski_pe *self)
{
    idle_note_found(self);
    ski_idle_begin(self);
}

/* Requests a wakeup for when memory that is polled changes.  Returns false if it has changed. */
static bool idle_arm_polled(struct ski_pe *self)
{
    if (self->queue.events & SKI_EVENT_POLLED_0 && !self->polled[0]->arm(self))
        return false;
    return !(self->queue.events & SKI_EVENT_POLLED_1) || self->polled[1]->arm(self);
}

/* Frees the removed callbacks: they stay in the list, with fn NULL, while it is walked. */
static void idle_drop_removed(struct ski_idle *idle)
{
    struct ski_idle_callback **at = &idle->callbacks;

    while (*at) {
        struct ski_idle_callback *callback = *at;
        if (callback->fn) {
            at = &callback->next;
        } else {
            *at = callback->next;
            free(callback);
        }
    }
}

/* Runs the idle callbacks; true if one of them has more to do. */
static bool idle_work(struct ski_idle *idle)
{
    bool more = false;

    idle->depth++;
    for (struct ski_idle_callback *callback = idle->callbacks; callback; callback = callback->next)
        more |= callback->fn && callback->fn(callback->arg);
    if (--idle->depth == 0)
        idle_drop_removed(idle);
    return more;
}

/* Returns whether the PE sleeps at @p now after a single poll.  A source that does not end the
 * sleep for all that it has to do, such as UCX with messages to send, needs the polls between
 * yields. */
static bool idle_sleeps_at_once(const struct ski_pe *self, uint64_t now)
{
    return self->progress.wakes && ski_foreign_sleeps_at_once(&self->idle->foreign, now);
}

/* Sleeps until something arrives, or until a timer, a layer or a deferred send needs the PE. */
static void idle_sleep(struct ski_pe *self)
{
    uint64_t ns = ski_timers_wait(self), most, begun, now;

    /* Pairs with the fence in ski_inbox_wakeup(): the cells that this PE has consumed come before
     * its looks at what others wake it for. */
    ski_fence(memory_order_seq_cst);
    most = ski_layers_before_sleep(self);
    if (most == 0)
        return;
    if (!idle_arm_polled(self))
        return;
    if (self->queue.events & SKI_EVENT_BACKLOG && ns > RETRY_NS)
        ns = RETRY_NS;
    ns = ns < most ? ns : most;
    ns = ski_backpressure_before_sleep(self, ns);
    self->stats.sleeps++;
    begun = ski_ticks();
    if (ski_progress_has_source(&self->progress)) {
        self->progress.source->sleep(self, ns);
        ski_progress_expect(&self->progress); /* it may have ended the sleep */
    } else {
        ski_host_sleep(self->host, self->job, self->index, &self->reader, ns);
    }
    now = ski_ticks();
    ski_patience_slept(&self->idle->patience, begun, now, ski_ticks_to_ns(now - begun) >= ns);
    if (self->idle->foreign.pes > 0)
        self->idle_limit = idle_sleeps_at_once(self, now) ? IDLE_AT_ONCE : IDLE_SHARED;
    ski_idle_begin(self);
}

/* Polls the inbox for a moment. Returns true if something has arrived. */
static bool idle_poll_inbox(struct ski_pe *self)
{
    uint64_t until = ski_ticks() + self->idle->look_ticks;

    do
        if (ski_reader_poll_sc(&self->reader))
            return true;
    while (ski_ticks() < until);
    return false;
}

/* Returns whether other PEs want the CPU of this one. */
static bool idle_is_crowded(const struct ski_pe *self, uint64_t now)
{
    return ski_host_crowded_without(self->host, self->index,
                                    ski_foreign_asleep(&self->idle->foreign, now));
}

/* Yields the CPU, and measures whether foreign PEs wanted it. */
static void idle_yield_to_others(struct ski_pe *self)
{
    struct ski_idle       *idle  = self->idle;
    uint64_t               begun = ski_ticks();
    enum ski_foreign_yield told;

    sched_yield();
    ski_progress_resume(&self->progress);
    if (idle->foreign.pes == 0)
        return;
    told = ski_foreign_yielded(&idle->foreign, begun, ski_ticks() - begun);

    self->idle_limit = told == SKI_YIELD_ALONE ? IDLE_PASSES : IDLE_SHARED;
    if (told == SKI_YIELD_ALONE)
        idle->yields = 0;
    else if (told == SKI_YIELD_COMPUTES)
        idle->yields = YIELDS;
}

/* An idle PE whose CPU other PEs share.  Yielding costs half of sleeping and being woken, so a few
 * yields come first, unless foreign PEs compute: the first immediately, because this PE has
 * probably given the others work, the next ones after polling again, because the others may be idle
 * as well (docs/decisions/0004-waiting.md). */
static void idle_step_aside(struct ski_pe *self, uint64_t now)
{
    if (self->idle->yields > 0 && idle_poll_inbox(self))
        return;
    if (self->idle->yields++ < YIELDS && !idle_sleeps_at_once(self, now))
        idle_yield_to_others(self);
    else
        idle_sleep(self);
}

/* Returns whether another thread has run on the CPU of this one, without its consent, since the
 * last call. */
static bool idle_was_switched(struct ski_idle *idle)
{
    struct rusage usage;
    long          before = idle->switches;

    if (getrusage(RUSAGE_THREAD, &usage) < 0)
        return true;
    idle->switches = usage.ru_nivcsw; /* includes yields that had an effect */
    return idle->switches != before;
}

/* Yields the CPU at @p now.  If another thread, which is not a PE of this arena, has run meanwhile,
 * the PE soon sleeps.  The length of the yield alone does not show this: an interrupt or the
 * hypervisor delays one, too. */
static void idle_yield_alone(struct ski_pe *self, uint64_t now)
{
    struct ski_idle *idle = self->idle;

    sched_yield();
    ski_progress_resume(&self->progress);
    if (idle->patience.ticks > 0 && ski_ticks() - now > idle->switch_ticks &&
        idle_was_switched(idle))
        ski_patience_reset(&idle->patience, now + idle->impatient_ticks);
}

/* Spins, yields or sleeps, by how long the PE has been idle at @p now. */
static void idle_rest(struct ski_pe *self, uint64_t now)
{
    struct ski_idle *idle = self->idle;

    if (idle_is_crowded(self, now))
        idle_step_aside(self, now);
    else if (now - idle->since >= idle->yield_ticks + idle->patience.ticks)
        idle_sleep(self);
    else if (now - idle->since >= idle->spin_ticks)
        idle_yield_alone(self, now);
}

SKI_COLD void ski_idle_consider(struct ski_pe *self)
{
    uint64_t now = ski_ticks();

    ski_pe_check_exit(self);
    if (ski_pe_exiting(self))
        return; /* a sleep that begins after the exit was noted is not woken by it */
    self->idle_passes = 0;
    if (self->idle->delivered != self->queue.popped)
        ski_patience_learn(&self->idle->patience);
    idle_note_found(self);
    if (!self->idle->since || self->idle->delivered != self->queue.popped) {
        self->idle->since     = now; /* the PE was busy in between */
        self->idle->counted   = now;
        self->idle->delivered = self->queue.popped;
        self->idle->yields    = 0;

        self->idle->callbacks_done = false;
    }
    if (self->idle->callbacks && !self->idle->callbacks_done) {
        self->idle->callbacks_done = true; /* unless one is added meanwhile */
        if (idle_work(self->idle))
            self->idle->callbacks_done = false;
        ski_progress_resume(&self->progress);
        return; /* they may have changed what the loop waits for: poll before sleeping */
    }
    self->idle->callbacks_done = false;
    self->idle->rests++;
    idle_rest(self, now);
    now = ski_ticks();
    self->idle->total += now - self->idle->counted;
    self->idle->counted = now;
}

/* ---- callbacks and figures ---------------------------------------------------- */

void skua_idle_add(skua_idle_fn fn, void *arg)
{
    struct ski_idle          *idle     = SKI_SELF()->idle;
    struct ski_idle_callback *callback = ski_malloc(sizeof *callback);

    *callback       = (struct ski_idle_callback){fn, arg, idle->callbacks};
    idle->callbacks = callback;

    idle->callbacks_done = false; /* this one may have something to do */
}

void skua_idle_remove(skua_idle_fn fn, void *arg)
{
    struct ski_idle          *idle     = SKI_SELF()->idle;
    struct ski_idle_callback *callback = idle->callbacks;

    while (callback && (callback->fn != fn || callback->arg != arg))
        callback = callback->next;
    if (callback)
        callback->fn = NULL;
    if (idle->depth == 0)
        idle_drop_removed(idle);
}

const uint64_t *ski_idle_ticks(const struct ski_pe *self)
{
    return &self->idle->total;
}

uint64_t ski_idle_count(const struct ski_pe *self)
{
    return self->idle->rests;
}

/* ---- life ---------------------------------------------------------------------- */

/* Sets how long a PE that is idle polls before it sleeps.  A progress thread without a CPU of its
 * own sleeps immediately: it would delay the PE for which it has just served a request, and a yield
 * would leave the CPU to a PE that computes for the rest of its time slice, while the kernel
 * preempts that PE for a thread that wakes up. */
static void idle_set_times(const struct ski_pe *self, struct ski_idle *idle)
{
    if (self->pe == ski_job_progress_pe(self->job, self->process) &&
        ski_host_shared(self->host, self->index))
        return;
    idle->spin_ticks  = ski_ns_to_ticks((uint64_t)(ski_config.idle_spin * 1e3));
    idle->yield_ticks = idle->spin_ticks + ski_ns_to_ticks((uint64_t)(ski_config.idle_yield * 1e3));
}

void ski_idle_init(struct ski_pe *self)
{
    struct ski_idle *idle = ski_calloc(1, sizeof *idle);

    idle_set_times(self, idle);
    idle->look_ticks      = ski_ns_to_ticks(LOOK_NS);
    idle->switch_ticks    = ski_ns_to_ticks(SWITCH_NS);
    idle->impatient_ticks = ski_ns_to_ticks(IMPATIENT_NS);
    idle->foreign = (struct ski_foreign){.pes      = ski_host_foreign_pes(self->job, self->index),
                                         .quick    = ski_ns_to_ticks(QUICK_NS),
                                         .computes = ski_ns_to_ticks(LONG_NS),
                                         .alone    = ski_ns_to_ticks(ALONE_NS),
                                         .busy     = ski_ns_to_ticks(BUSY_NS)};
    if (idle->foreign.pes == 0 && !ski_pe_hidden(self)) /* others would have to wait */
        idle->patience.most = ski_ns_to_ticks((uint64_t)(ski_config.idle_patience * 1e3));
    idle->patience.first = idle->yield_ticks;
    self->idle           = idle;
    self->idle_limit     = ski_host_shared(self->host, self->index) ? IDLE_SHARED : IDLE_PASSES;
}

void ski_idle_destroy(struct ski_pe *self)
{
    while (self->idle->callbacks) {
        struct ski_idle_callback *callback = self->idle->callbacks;
        self->idle->callbacks              = callback->next;
        free(callback);
    }
    free(self->idle);
}
