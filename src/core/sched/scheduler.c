/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - see scheduler.h. */
#include "core/sched/scheduler.h"

#include <sched.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/message/backpressure.h"
#include "core/message/inbox_recv.h"
#include "core/message/send_backlog.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/sched/blocked.h"
#include "core/sched/timer.h"

#define ARRIVALS           32    /* cells moved in a pass: later ones may be more urgent */
#define IDLE_PASSES        64    /* empty ones between two looks at the clock            */
#define IDLE_SHARED        4     /* the same, where PEs share a CPU                      */
#define LOOK_NS            500   /* before each yield but the first: a quarter of its cost */
#define FAR_PASSES         16    /* that run a message between two looks at the network  */
#define FAR_PASSES_PRESSED 1024  /* ... while memory is short (backpressure.h)   */
#define YIELDS             3     /* of a PE on a crowded CPU before it sleeps            */
#define SPINS              4000  /* empty passes while somebody waits for a notification */
#define RETRY_NS           50000 /* a PE with deferred sends sleeps no longer            */

/* A callback of skua_idle_add(). */
struct ski_idle_callback {
    skua_idle_fn              fn; /* NULL: removed */
    void                     *arg;
    struct ski_idle_callback *next;
};

/* What a PE does while there is nothing to run. */
struct ski_idle {
    uint64_t since;       /* ticks; 0: not known                                    */
    uint64_t delivered;   /* queue.popped at that moment                            */
    uint64_t spin_ticks;  /* idle so long: spin                                     */
    uint64_t yield_ticks; /* idle so long: spin and yield; then sleep               */
    uint64_t look_ticks;  /* of polling between two yields                          */
    uint64_t rests;       /* times that all callbacks had nothing to do             */
    uint32_t yields;      /* since then                                             */
    uint32_t depth;       /* walks of the list of callbacks                         */
    bool     worked;      /* callbacks have nothing to do                           */

    struct ski_idle_callback *callbacks;
};

/* ---- a pass -------------------------------------------------------------- */

/* Looking at the network is a system call: every so often, and when there is nothing
 * else to do. */
static void look_far(struct ski_pe *self)
{
    bool progress = self->net_passes-- <= 0 || self->queue.pushed == self->queue.popped;

    if (progress)
        self->net_passes = ski_backpressure_receiver(self) ? FAR_PASSES_PRESSED : FAR_PASSES;
    ski_far_pass(self, progress);
}

/* Timers, deferred sends and priorities; the next message, if any. */
static struct skua_msg *attend(struct ski_pe *self)
{
    if (self->queue.attention & SKI_ATTEND_EXIT)
        return NULL;
    if (SKI_UNLIKELY(self->queue.attention & SKI_ATTEND_PENDING))
        ski_pending_flush(self);
    if (SKI_UNLIKELY(self->queue.attention & SKI_ATTEND_TIMERS))
        ski_timers_fire(self);
    if (self->queue.attention & SKI_ATTEND_FAR)
        look_far(self);
    if (self->queue.attention & SKI_ATTEND_POLLED)
        self->polled->poll(self);
    return ski_queue_pop(&self->queue);
}

static inline void deliver(struct ski_pe *self, struct skua_msg *msg, uint32_t handler)
{
    self->idle_passes = 0;
    self->queue.popped++;
    self->handler[handler](msg);
}

/* Whether what has arrived is one message, and nothing is to be weighed against it. */
static inline bool is_alone(const struct ski_pe *self, const struct ski_cell *cell)
{
    return !self->queue.plain.first && !self->queue.attention && !(cell->flags & SKI_MSG_SPECIAL) &&
           !ski_reader_more_sc(&self->reader);
}

/* Those of a long queue left the cache since they came: the next one is fetched, header and
 * first data, while this one runs. */
static inline struct skua_msg *pop_plain(struct ski_pe *self)
{
    struct skua_msg *msg  = ski_list_pop(&self->queue.plain);
    struct skua_msg *next = self->queue.plain.first;

    if (next) {
        __builtin_prefetch(next, 1);
        __builtin_prefetch(next + 1);
    }
    return msg;
}

/* A doorbell does not wait for what is in the queue; but then it is the queue's turn, for who
 * answers a doorbell may ring another, and so on.  Doorbells count as delivered (msg_counts.h), so
 * it is the queue's turn if nothing was since. */
static inline bool is_queues_turn(const struct ski_pe *self)
{
    return self->loop.doorbell == self->queue.popped;
}

static inline void answer(struct ski_pe *self, void (*ring)(struct ski_pe *self))
{
    self->idle_passes   = 0;
    self->loop.doorbell = self->queue.popped + 1;
    ring(self);
}

static inline bool has_rung(const struct ski_pe *self)
{
    return (self->queue.attention & (SKI_ATTEND_BELLS | SKI_ATTEND_EXIT)) == SKI_ATTEND_BELLS;
}

/* The next message, of any priority; false if there is none. */
static bool run_waiting(struct ski_pe *self)
{
    struct skua_msg *msg =
        self->queue.attention & ~(uint32_t)SKI_ATTEND_BELLS ? attend(self) : pop_plain(self);

    if (msg)
        deliver(self, msg, msg->handler);
    return msg != NULL;
}

static __attribute__((noinline)) bool run_either(struct ski_pe *self)
{
    if ((!has_rung(self) || is_queues_turn(self)) && run_waiting(self))
        return true;
    if (!has_rung(self))
        return false;
    answer(self, self->ring_own);
    return true;
}

/* A message, or a doorbell that we have rung ourselves: one thing, so that who counts or waits
 * for one is in time. */
static __attribute__((noinline)) bool run_attended(struct ski_pe *self)
{
    if (self->queue.attention == SKI_ATTEND_POLLED && !self->queue.plain.first)
        return self->polled->poll(self);
    if (self->queue.attention != SKI_ATTEND_BELLS || self->queue.plain.first)
        return run_either(self);
    answer(self, self->ring_own);
    return true;
}

/* Runs the next message of the queue; false if there is none, or the job ends. */
static inline bool run_queued(struct ski_pe *self)
{
    struct skua_msg *msg;

    if (SKI_UNLIKELY(self->queue.attention))
        return run_attended(self);
    msg = pop_plain(self);
    if (!msg)
        return false;
    deliver(self, msg, msg->handler);
    return true;
}

/* As above, for doorbells that others have rung. */
static bool run_poke(struct ski_pe *self)
{
    if (!self->reader.next->handler) {
        self->idle->since = 0; /* who pokes us has something to come */
        ski_msg_poked(self);
        return run_queued(self);
    }
    if (is_queues_turn(self) && run_waiting(self))
        return true;
    if (ski_msg_bell_next(self)) /* else a timer has run messages, and it is answered */
        answer(self, self->ring);
    return true;
}

/* Something has arrived: runs it, or the most urgent of it and what waits. */
static __attribute__((noinline)) bool run_arrived(struct ski_pe *self)
{
    const struct ski_cell *cell    = self->reader.next;
    uint32_t               handler = cell->handler;

    if (cell->flags & SKI_MSG_POKE)
        return run_poke(self);
    if (!is_alone(self, cell)) {
        ski_msg_arrivals(self, ski_backpressure_receiver(self) ? 0 : ARRIVALS);
        return run_queued(self);
    }
    deliver(self, ski_msg_arrival(self), handler);
    return true;
}

/* One pass; false if there was no message to run, or the job ends. */
static inline bool pass(struct ski_pe *self)
{
    return ski_reader_ready_sc(&self->reader) ? run_arrived(self) : run_queued(self);
}

/* ---- idle ---------------------------------------------------------------- */

/* Removed callbacks stay in the list, without function, while it is walked. */
static void drop_removed(struct ski_idle *idle)
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
        drop_removed(idle);
    return more;
}

static void sleep_now(struct ski_pe *self)
{
    uint64_t ns = ski_timers_wait(self), most = ski_layers_before_sleep(self);

    if (self->queue.attention & SKI_ATTEND_POLLED && !self->polled->doze(self))
        return;
    if (self->queue.attention & SKI_ATTEND_PENDING && ns > RETRY_NS)
        ns = RETRY_NS;
    if (most == 0)
        return;
    ns = ns < most ? ns : most;
    ns = ski_backpressure_rest(self, ns);
    self->stats.sleeps++;
    if (self->net)
        ski_far_sleep(self, ns);
    else
        ski_host_sleep(self->host, self->job, self->index, &self->reader, ns);
    self->idle->since = 0;
}

/* Polls for a moment; true: something has arrived. */
static bool look_out(struct ski_pe *self)
{
    uint64_t until = ski_ticks() + self->idle->look_ticks;

    do
        if (ski_reader_peek_sc(&self->reader))
            return true;
    while (ski_ticks() < until);
    return false;
}

/* A PE whose CPU others may want: yielding to them costs half of sleeping and
 * being woken, so a few yields come first; the first at once, for it is probably
 * we who gave them work, the others not before another look, for they may have
 * as little to do as we (docs/decisions/0004-waiting.md). */
static void step_aside(struct ski_pe *self)
{
    if (self->idle->yields > 0 && look_out(self))
        return;
    if (self->idle->yields++ < YIELDS)
        sched_yield();
    else
        sleep_now(self);
}

/* Every so many empty passes: spin, yield or sleep? */
static SKI_COLD void consider_sleep(struct ski_pe *self)
{
    uint64_t now = ski_ticks();

    ski_pe_look_for_exit(self);
    if (ski_pe_exiting(self))
        return; /* a sleep that begins after the exit was noted is not woken by it */
    self->idle_passes = 0;
    if (!self->idle->since || self->idle->delivered != self->queue.popped) {
        self->idle->since     = now; /* we have been busy in between */
        self->idle->delivered = self->queue.popped;
        self->idle->yields    = 0;
    }
    if (self->idle->callbacks && !self->idle->worked) {
        self->idle->worked = !idle_work(self->idle);
        return; /* it may have changed what the loop waits for: look before sleeping */
    }
    self->idle->worked = false;
    self->idle->rests++;
    if (ski_host_crowded(self->host, self->index))
        step_aside(self);
    else if (now - self->idle->since >= self->idle->yield_ticks)
        sleep_now(self);
    else if (now - self->idle->since >= self->idle->spin_ticks)
        sched_yield();
}

/* After a pass that ran nothing; false: the job ends. */
static inline bool idle(struct ski_pe *self)
{
    if (SKI_UNLIKELY(ski_pe_exiting(self)))
        return false;
    if (SKI_UNLIKELY(++self->idle_passes >= self->idle_limit))
        consider_sleep(self);
    return true;
}

void skua_idle_add(skua_idle_fn fn, void *arg)
{
    struct ski_idle          *idle     = SKI_SELF()->idle;
    struct ski_idle_callback *callback = ski_malloc(sizeof *callback);

    *callback       = (struct ski_idle_callback){fn, arg, idle->callbacks};
    idle->callbacks = callback;
    idle->worked    = false; /* this one may have something to do */
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
        drop_removed(idle);
}

uint64_t ski_scheduler_rests(const struct ski_pe *self)
{
    return self->idle->rests;
}

/* A loop returns to its caller, who may compute for long. */
static inline void leave(struct ski_pe *self)
{
    self->loop.depth--;
    if (SKI_UNLIKELY(self->net != NULL))
        ski_far_leave(self);
}

/* ---- loops --------------------------------------------------------------- */

static struct ski_pe *on_own_stack(struct ski_pe *self, const char *call)
{
    if (self->thread)
        ski_misuse("%s: called in a user thread, which waits with completions instead", call);
    return self;
}

bool ski_scheduler_until(struct ski_pe *self, bool (*condition)(void *arg), void *arg)
{
    bool held;

    self->loop.depth++;
    while (!(held = condition(arg)) && (pass(self) || idle(self)))
        ;
    leave(self);
    return held;
}

bool ski_scheduler_spin(struct ski_pe *self, bool (*condition)(void *arg), void *arg)
{
    unsigned limit = ski_host_crowded(self->host, self->index) ? 1 : SPINS;

    bool held;

    self->loop.depth++;
    for (unsigned empty = 0; !(held = condition(arg)) && empty <= limit; empty++)
        if (pass(self))
            empty = 0;
    leave(self);
    return held;
}

void ski_scheduler_run(struct ski_pe *self)
{
    self->loop.depth++;
    while (pass(self) || idle(self))
        ;
}

void skua_run(void)
{
    struct ski_pe     *self  = on_own_stack(SKI_SELF(), __func__);
    bool               outer = self->loop.stop; /* asked of a run around this one */
    struct ski_blocked blocked;

    ski_blocked_prepare(self);
    ski_blocked_push(self, &blocked, SKI_CALL);
    self->loop.stop = false;
    self->loop.depth++;
    while (!self->loop.stop && (pass(self) || idle(self)))
        ;
    leave(self);
    self->loop.stop = outer;
    ski_blocked_pop(self, &blocked);
}

void skua_stop(void)
{
    SKI_SELF()->loop.stop = true;
}

bool skua_run_until(bool (*condition)(void *arg), void *arg)
{
    struct ski_pe     *self = on_own_stack(SKI_SELF(), __func__);
    struct ski_blocked blocked;
    bool               held;

    ski_blocked_prepare(self);
    ski_blocked_push(self, &blocked, SKI_CALL);
    held = ski_scheduler_until(self, condition, arg);
    ski_blocked_pop(self, &blocked);
    return held;
}

size_t skua_run_count(size_t n)
{
    struct ski_pe     *self = on_own_stack(SKI_SELF(), __func__);
    size_t             run  = 0;
    struct ski_blocked blocked;

    ski_blocked_prepare(self);
    ski_blocked_push(self, &blocked, SKI_CALL);
    self->loop.depth++;
    while (run < n) {
        if (pass(self))
            run++;
        else if (!idle(self))
            break;
    }
    leave(self);
    ski_blocked_pop(self, &blocked);
    return run;
}

size_t skua_poll(size_t n)
{
    struct ski_pe *self = on_own_stack(SKI_SELF(), __func__);
    size_t         run  = 0;

    self->loop.depth++;
    self->loop.polling++; /* its caller goes on, whatever is found (msg_counts.h) */
    while (run < n && pass(self))
        run++;
    self->loop.polling--;
    leave(self);
    return run;
}

/* ---- life ---------------------------------------------------------------- */

void ski_scheduler_init(struct ski_pe *self)
{
    struct ski_idle *idle = ski_calloc(1, sizeof *idle);

    idle->spin_ticks  = ski_ns_to_ticks((uint64_t)(ski_config.idle_spin * 1e3));
    idle->yield_ticks = idle->spin_ticks + ski_ns_to_ticks((uint64_t)(ski_config.idle_yield * 1e3));
    idle->look_ticks  = ski_ns_to_ticks(LOOK_NS);
    self->idle        = idle;
    self->idle_limit  = ski_host_shared(self->host, self->index) ? IDLE_SHARED : IDLE_PASSES;
    ski_queue_init(&self->queue);
}

void ski_scheduler_destroy(struct ski_pe *self)
{
    while (self->idle->callbacks) {
        struct ski_idle_callback *callback = self->idle->callbacks;
        self->idle->callbacks              = callback->next;
        free(callback);
    }
    free(self->idle);
    ski_queue_destroy(&self->queue);
}

skua_stats skua_stats_get(void)
{
    struct ski_pe *self  = SKI_SELF();
    skua_stats     stats = self->stats;

    stats.delivered  = self->queue.popped;
    stats.sent_self  = self->queue.pushed - stats.received - stats.switches;
    stats.arena_most = ski_arena_most_bytes(self->pool.arena);
    return stats;
}
