/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c - the loop of a PE (scheduler.h).
 *
 * The fast paths: if exactly one message has arrived, sched_pass() runs it without queueing it;
 * otherwise it pops a message of priority 0.  Anything else sets a bit of the event mask
 * (core/data/queue.h) and takes the slow path.  After empty passes the PE spins, yields or sleeps
 * (docs/decisions/0004-waiting.md).
 */
#include "core/sched/scheduler.h"

#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/params_check.h"
#include "core/message/backpressure.h"
#include "core/message/inbox_recv.h"
#include "core/message/send_backlog.h"
#include "core/pe/handler.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/sched/blocked.h"
#include "core/sched/foreign.h"
#include "core/sched/patience.h"
#include "core/sched/timer.h"

#define ARRIVALS         32        /* inbox cells queued per pass: a later one may be more urgent */
#define IDLE_PASSES      64        /* empty passes between two reads of the clock            */
#define IDLE_SHARED      4         /* ... where PEs share a CPU                              */
#define QUICK_NS         1000      /* of a yield during which no other thread has run        */
#define SWITCH_NS        4000      /* of a yield during which another thread may have run    */
#define IMPATIENT_NS     100000000 /* during which a PE learns no patience after that    */
#define ALONE_NS         100000    /* after which such a yield is repeated                  */
#define LONG_NS          50000     /* of a yield after which a PE sleeps: the other computes */
#define LOOK_NS          500   /* polling before each yield but the first: a quarter of its cost */
#define PRESSED_MESSAGES 1024  /* messages between two polls while memory is short       */
#define POLLED_MESSAGES  8     /* messages between two polls of memory that others write */
#define HELD_MESSAGES    8     /* quick messages that run between two polls of the inbox   */
#define HELD_QUEUE       64    /* messages in a long queue: as many run as arrived, at most  */
#define HELD_SPECIAL     1024  /* messages since the last one that had a priority          */
#define QUICK_MSG_NS     250   /* of a quick message, on average                           */
#define YIELDS           3     /* of a PE on a crowded CPU before it sleeps            */
#define SPINS            4000  /* empty passes while a call waits for a notification     */
#define RETRY_NS         50000 /* a PE with deferred sends sleeps no longer            */

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

/* ---- a pass -------------------------------------------------------------- */

/* Returns the number of messages to run, while memory is short, after a poll that brought
 * @p brought: one poll of a driver may bring megabytes, so more must leave than came. */
static uint64_t sched_messages_pressed(uint64_t brought)
{
    return brought < PRESSED_MESSAGES / 2 ? PRESSED_MESSAGES : 2 * brought;
}

/* Polls the progress source, and computes after how many messages the next poll is due. */
static void sched_poll_source(struct ski_pe *self)
{
    struct ski_progress *progress = &self->progress;
    uint64_t             pushed   = self->queue.pushed;
    bool                 came     = progress->source->poll(self);

    progress->due = self->queue.popped + SKI_PROGRESS_MESSAGES;
    if (ski_backpressure_receiver(self))
        progress->due = self->queue.popped + sched_messages_pressed(self->queue.pushed - pushed);
    ski_progress_polled(progress, self->queue.pushed, came);
}

/* Gives the progress source its turn: its work of a pass, and a poll if that is due. */
static void sched_progress(struct ski_pe *self)
{
    struct ski_progress *progress = &self->progress;
    bool                 idle     = self->queue.pushed == self->queue.popped;

    progress->empty += idle;
    if (self->queue.events & SKI_EVENT_NET) {
        self->queue.events &= ~(uint32_t)SKI_EVENT_NET;
        if (progress->source->pass(self, idle))
            self->queue.events |= SKI_EVENT_NET;
    }
    if (idle ? ski_progress_wanted_idle(progress, self->queue.pushed)
             : ski_progress_wanted_busy(progress, self->queue.popped))
        sched_poll_source(self);
}

static inline bool sched_has_source(const struct ski_pe *self)
{
    return self->progress.due != UINT64_MAX;
}

/* Gives the progress source its turn after so many messages. */
static inline void sched_count_delivery(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->queue.popped >= self->progress.due))
        self->queue.events |= SKI_EVENT_NET;
}

/* Polls memory that other PEs write.  Returns whether something has arrived. */
static bool sched_poll_memory(struct ski_pe *self)
{
    bool came = false;

    self->loop.polled    = self->queue.popped;
    self->loop.polled_at = ski_ticks();
    if (self->queue.events & SKI_EVENT_POLLED_0)
        came = self->polled[0]->poll(self);
    if (self->queue.events & SKI_EVENT_POLLED_1)
        came |= self->polled[1]->poll(self);
    return came;
}

/* Requests a wakeup for when memory that is polled changes.  Returns false if it has changed. */
static bool sched_arm_polled(struct ski_pe *self)
{
    if (self->queue.events & SKI_EVENT_POLLED_0 && !self->polled[0]->arm(self))
        return false;
    return !(self->queue.events & SKI_EVENT_POLLED_1) || self->polled[1]->arm(self);
}

/* The slow path of a pass: handles the events of the mask (backlogs, timers, the network, polled
 * memory). Returns the next message, or NULL. */
static struct skua_msg *sched_attend(struct ski_pe *self)
{
    if (self->queue.events & SKI_EVENT_EXIT)
        return NULL;
    if (SKI_UNLIKELY(self->queue.events & SKI_EVENT_BACKLOG))
        ski_send_backlog_flush(self);
    if (SKI_UNLIKELY(self->queue.events & SKI_EVENT_TIMERS))
        ski_timers_fire(self);
    if (SKI_UNLIKELY(sched_has_source(self)))
        sched_progress(self);
    if (self->queue.events & SKI_EVENT_POLLED)
        sched_poll_memory(self);
    return ski_queue_pop(&self->queue);
}

/* Counts a message as delivered and runs its handler. */
static inline void sched_deliver(struct ski_pe *self, struct skua_msg *msg, uint32_t handler)
{
    ski_assert(self->queue.popped < self->queue.pushed && !self->thread);
    self->idle_passes = 0;
    self->queue.popped++;
    sched_count_delivery(self);
    self->handler[handler](msg);
}

/* Returns whether @p ran messages since @p since, a few, took longer than HELD_MESSAGES quick ones.
 * The clock is read after the first one and each fourth that follows, as to read it takes a part of
 * the time of a quick message. */
static inline bool sched_is_late(const struct ski_pe *self, uint64_t ran, uint64_t since)
{
    return ran % 4 == 1 && ski_ticks() - since >= HELD_MESSAGES * self->loop.quick;
}

/* Returns whether an event of the mask goes before a message of priority 0.  A PE that waits in a
 * collective polls memory; while messages arrive, it does so after every few of them only, or after
 * the time that so many quick ones take. */
static inline bool sched_has_event(const struct ski_pe *self)
{
    if (SKI_LIKELY(!self->queue.events))
        return false;
    return self->queue.events & ~(uint32_t)SKI_EVENT_POLLED ||
           self->queue.popped - self->loop.polled >= POLLED_MESSAGES ||
           sched_is_late(self, self->queue.popped - self->loop.polled, self->loop.polled_at);
}

/* Returns whether one message has arrived, and no other waits that might go first. */
static inline bool sched_is_alone(const struct ski_pe *self, const struct ski_cell *cell)
{
    return !self->queue.plain.first && !sched_has_event(self) && !(cell->flags & SKI_MSG_SPECIAL) &&
           !ski_reader_more_sc(&self->reader);
}

/* Pops a message of priority 0.  Messages of a long queue have left the cache since they came: the
 * next one, header and first data, is prefetched while this one runs. */
static inline struct skua_msg *sched_pop_plain(struct ski_pe *self)
{
    struct skua_msg *msg  = ski_list_pop(&self->queue.plain);
    struct skua_msg *next = self->queue.plain.first;

    if (next) {
        __builtin_prefetch(next, 1);
        __builtin_prefetch(next + 1);
    }
    return msg;
}

/* A doorbell is answered before queued messages, but then it is the queue's turn: an answer may
 * ring another doorbell, and so on.  Doorbells count as delivered (msg_counts.h), so it is the
 * queue's turn if nothing was delivered since the last one. */
static inline bool sched_is_queues_turn(const struct ski_pe *self)
{
    return self->loop.doorbell == self->queue.popped;
}

/* Answers a doorbell: calls @p ring, of the layer above, which runs the callback of its channel. */
static inline void sched_answer(struct ski_pe *self, void (*ring)(struct ski_pe *self))
{
    self->idle_passes = 0;
    ski_assert(ring);
    self->loop.doorbell = self->queue.popped + 1;
    sched_count_delivery(self);
    ring(self);
}

/* Returns whether this PE has rung a doorbell for itself, and the job does not end. */
static inline bool sched_has_rung(const struct ski_pe *self)
{
    return (self->queue.events & (SKI_EVENT_DOORBELLS | SKI_EVENT_EXIT)) == SKI_EVENT_DOORBELLS;
}

/* Runs the next message, of any priority. Returns false if there is none. */
static bool sched_run_waiting(struct ski_pe *self)
{
    struct skua_msg *msg = self->queue.events & ~(uint32_t)SKI_EVENT_DOORBELLS
                               ? sched_attend(self)
                               : sched_pop_plain(self);

    if (msg)
        sched_deliver(self, msg, msg->handler);
    return msg != NULL;
}

/* Runs a message or answers a doorbell of this PE, whichever is next. Returns false if there is
 * neither. */
static __attribute__((noinline)) bool sched_run_either(struct ski_pe *self)
{
    if ((!sched_has_rung(self) || sched_is_queues_turn(self)) && sched_run_waiting(self))
        return true;
    if (!sched_has_rung(self))
        return false;
    sched_answer(self, self->ring_own);
    return true;
}

/* Polls the progress source in a pass that finds no message, and runs what that brings: a message,
 * or the doorbell of a channel whose data the driver has brought. */
static __attribute__((noinline)) bool sched_run_empty(struct ski_pe *self)
{
    struct skua_msg *msg;

    sched_progress(self);
    if (SKI_UNLIKELY(sched_has_rung(self) && !sched_is_queues_turn(self))) {
        sched_answer(self, self->ring_own);
        return true;
    }
    msg = ski_queue_pop(&self->queue);
    if (msg)
        sched_deliver(self, msg, msg->handler);
    else if (SKI_UNLIKELY(sched_has_rung(self)))
        sched_answer(self, self->ring_own);
    else
        return false;
    return true;
}

/* The slow path of sched_run_queued(), with a bit of the event mask set.  Runs one message or
 * answers one doorbell, not several: the caller may count messages, or wait for one. */
static __attribute__((noinline)) bool sched_run_attended(struct ski_pe *self)
{
    if (!(self->queue.events & ~(uint32_t)SKI_EVENT_POLLED) && !self->queue.plain.first)
        return sched_poll_memory(self) || (sched_has_source(self) && sched_run_empty(self));
    if (self->queue.events != SKI_EVENT_DOORBELLS || self->queue.plain.first)
        return sched_run_either(self);
    sched_answer(self, self->ring_own);
    return true;
}

/* Runs the next message of the queue. Returns false if there is none, or the job ends. */
static inline bool sched_run_queued(struct ski_pe *self)
{
    struct skua_msg *msg;

    if (SKI_UNLIKELY(sched_has_event(self) || (self->queue.events && !self->queue.plain.first)))
        return sched_run_attended(self);
    msg = sched_pop_plain(self);
    if (!msg)
        return sched_has_source(self) && sched_run_empty(self);
    sched_deliver(self, msg, msg->handler);
    return true;
}

static inline bool sched_pass(struct ski_pe *self);

/* Answers a wake-up or a doorbell of another PE. */
static bool sched_run_wakeup(struct ski_pe *self)
{
    if (!self->reader.next->handler) {
        self->idle->since = 0; /* more is to come from the PE that woke this one */
        ski_inbox_answer(self);
        return sched_pass(self); /* what follows the wake-up counts: it is nothing to run itself */
    }
    if (sched_is_queues_turn(self) && sched_run_waiting(self))
        return true;
    if (!ski_inbox_doorbell_next(self)) /* a timer has run the scheduler, which answered it */
        return sched_pass(self);
    sched_answer(self, self->ring);
    return true;
}

/* ---- quick messages --------------------------------------------------------
 *
 * To move all that has arrived into the queue after each message makes the queue outgrow the cache,
 * and takes lines of cells away from senders that fill them.  So while messages are quick and none
 * has a priority, several run between two polls of the inbox, and more of them while the queue is
 * long.  That ends where the inbox fills up: a sender that finds it full keeps its messages, and
 * may compute before it is back in the runtime.
 *
 * What an urgent message waits for.  Cells are moved in order, ARRIVALS of them for at most
 * ARRIVALS messages, and a group ends early if the inbox is half full.  So the first urgent message
 * after a long time waits for at most as many quick messages as there were cells before it, or for
 * four messages if these are slow.  To look at the flags of the cells before they are moved (every
 * 8 us) took a quarter of the rate of pairs. */

/* Lets the inbox be polled. */
static inline void sched_release(struct ski_pe *self)
{
    self->loop.slow &= ~(uint32_t)SKI_LOOP_HOLDS;
}

/* Lets a few messages run before the inbox is polled, if those that ran since the last call were
 * quick; to move @p moved messages into the queue takes some of that time, too. */
static inline void sched_hold(struct ski_pe *self, uint64_t moved)
{
    uint64_t now = ski_ticks(), ran = self->queue.popped - self->loop.held;
    bool     quick = now - self->loop.since < (ran + moved / 8) * self->loop.quick;

    self->loop.held  = self->queue.popped;
    self->loop.since = now;
    self->loop.hold  = self->queue.popped + HELD_MESSAGES;
    if (quick)
        self->loop.slow |= SKI_LOOP_HOLDS;
    else
        sched_release(self);
}

/* Returns whether urgent messages come to this PE, which are to be found at once. */
static inline bool sched_has_urgent(const struct ski_queue *queue)
{
    return queue->special && queue->pushed - queue->special < HELD_SPECIAL;
}

/* Moves what has arrived into the queue. */
static void sched_drain(struct ski_pe *self)
{
    uint64_t pushed   = self->queue.pushed;
    bool     doorbell = ski_inbox_drain(self, ski_backpressure_receiver(self) ? 0 : ARRIVALS);

    self->loop.drained = self->queue.popped;
    sched_hold(self, self->queue.pushed - pushed);
    if (doorbell || sched_has_urgent(&self->queue))
        sched_release(self);
}

/* Returns whether a message of the queue runs before the inbox is polled. */
static bool sched_holds(struct ski_pe *self)
{
    const struct ski_queue *queue = &self->queue;

    if (queue->plain.first && !(queue->events & SKI_EVENT_PRIORITY)) {
        if (queue->popped < self->loop.hold &&
            !sched_is_late(self, queue->popped - self->loop.held, self->loop.since))
            return true;
        if (queue->popped >= self->loop.hold && queue->pushed - queue->popped >= HELD_QUEUE &&
            queue->popped - self->loop.drained < ARRIVALS && !ski_inbox_is_filling(self)) {
            sched_hold(self, 0);
            return self->loop.slow & SKI_LOOP_HOLDS;
        }
    }
    sched_release(self);
    return false;
}

/* ---- arrivals --------------------------------------------------------------- */

/* Runs what has arrived, or the most urgent of it and the queue. */
static __attribute__((noinline)) bool sched_run_arrived(struct ski_pe *self)
{
    const struct ski_cell *cell    = self->reader.next;
    uint32_t               handler = cell->handler;

    if (cell->flags & SKI_MSG_WAKEUP)
        return sched_run_wakeup(self);
    if (!sched_is_alone(self, cell)) {
        sched_drain(self);
        return sched_run_queued(self);
    }
    sched_deliver(self, ski_inbox_take(self), handler);
    return true;
}

/* Executes a pass that may leave the inbox alone, or that polls several rings. */
static __attribute__((noinline)) bool sched_pass_slow(struct ski_pe *self)
{
    if (self->loop.slow & SKI_LOOP_HOLDS && sched_holds(self))
        return sched_run_queued(self);
    return ski_reader_poll_sc(&self->reader) ? sched_run_arrived(self) : sched_run_queued(self);
}

/* Executes one pass. Returns false if there was nothing to run, or the job ends. */
static inline bool sched_pass(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->loop.slow))
        return sched_pass_slow(self);
    return ski_reader_ready_sc(&self->reader) ? sched_run_arrived(self) : sched_run_queued(self);
}

/* ---- idle ---------------------------------------------------------------- */

/* Frees the removed callbacks: they stay in the list, with fn NULL, while it is walked. */
static void sched_drop_removed(struct ski_idle *idle)
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
static bool sched_idle_work(struct ski_idle *idle)
{
    bool more = false;

    idle->depth++;
    for (struct ski_idle_callback *callback = idle->callbacks; callback; callback = callback->next)
        more |= callback->fn && callback->fn(callback->arg);
    if (--idle->depth == 0)
        sched_drop_removed(idle);
    return more;
}

/* Sleeps until something arrives, or until a timer, a layer or a deferred send needs the PE. */
static void sched_sleep(struct ski_pe *self)
{
    uint64_t ns = ski_timers_wait(self), most = ski_layers_before_sleep(self), begun, now;

    if (most == 0)
        return;
    if (!sched_arm_polled(self))
        return;
    if (self->queue.events & SKI_EVENT_BACKLOG && ns > RETRY_NS)
        ns = RETRY_NS;
    ns = ns < most ? ns : most;
    ns = ski_backpressure_rest(self, ns);
    self->stats.sleeps++;
    begun = ski_ticks();
    if (sched_has_source(self)) {
        self->progress.source->sleep(self, ns);
        ski_progress_expect(&self->progress); /* it may have ended the sleep */
    } else {
        ski_host_sleep(self->host, self->job, self->index, &self->reader, ns);
    }
    now = ski_ticks();
    ski_patience_slept(&self->idle->patience, begun, now, ski_ticks_to_ns(now - begun) >= ns);
    self->idle->since = 0;
}

/* Polls the inbox for a moment. Returns true if something has arrived. */
static bool sched_poll_inbox(struct ski_pe *self)
{
    uint64_t until = ski_ticks() + self->idle->look_ticks;

    do
        if (ski_reader_poll_sc(&self->reader))
            return true;
    while (ski_ticks() < until);
    return false;
}

/* Returns whether other PEs want the CPU of this one. */
static bool sched_is_crowded(const struct ski_pe *self, uint64_t now)
{
    return ski_host_crowded_without(self->host, self->index,
                                    ski_foreign_asleep(&self->idle->foreign, now));
}

/* Yields the CPU, and finds out whether foreign PEs wanted it. */
static void sched_yield_to_others(struct ski_pe *self)
{
    struct ski_idle       *idle  = self->idle;
    uint64_t               begun = ski_ticks();
    enum ski_foreign_yield told;

    sched_yield();
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
 * yields come first: the first immediately, because this PE has probably given the others work, the
 * next ones after polling again, because the others may be idle as well
 * (docs/decisions/0004-waiting.md). */
static void sched_step_aside(struct ski_pe *self)
{
    if (self->idle->yields > 0 && sched_poll_inbox(self))
        return;
    if (self->idle->yields++ < YIELDS)
        sched_yield_to_others(self);
    else
        sched_sleep(self);
}

/* Returns whether another thread has run on the CPU of this one, without its consent, since the
 * last call. */
static bool sched_was_switched(struct ski_idle *idle)
{
    struct rusage usage;
    long          before = idle->switches;

    if (getrusage(RUSAGE_THREAD, &usage) < 0)
        return true;
    idle->switches = usage.ru_nivcsw; /* includes yields that had an effect */
    return idle->switches != before;
}

/* Yields the CPU at @p now.  If another thread, which is no PE of this arena, has run meanwhile,
 * the PE soon sleeps.  A long yield alone does not tell: an interrupt or the hypervisor delays one,
 * too. */
static void sched_yield_alone(struct ski_idle *idle, uint64_t now)
{
    sched_yield();
    if (idle->patience.ticks > 0 && ski_ticks() - now > idle->switch_ticks &&
        sched_was_switched(idle))
        ski_patience_lose(&idle->patience, now + idle->impatient_ticks);
}

/* Spins, yields or sleeps, by how long the PE has been idle at @p now. */
static void sched_rest(struct ski_pe *self, uint64_t now)
{
    struct ski_idle *idle = self->idle;

    if (sched_is_crowded(self, now))
        sched_step_aside(self);
    else if (now - idle->since >= idle->yield_ticks + idle->patience.ticks)
        sched_sleep(self);
    else if (now - idle->since >= idle->spin_ticks)
        sched_yield_alone(idle, now);
}

/* Decides, every so many empty passes, whether to spin, yield or sleep. */
static SKI_COLD void sched_consider_sleep(struct ski_pe *self)
{
    uint64_t now = ski_ticks();

    ski_pe_check_exit(self);
    if (ski_pe_exiting(self))
        return; /* a sleep that begins after the exit was noted is not woken by it */
    self->idle_passes = 0;
    if (self->idle->delivered != self->queue.popped)
        ski_patience_learn(&self->idle->patience);
    if (!self->idle->since || self->idle->delivered != self->queue.popped) {
        self->idle->since     = now; /* the PE was busy in between */
        self->idle->counted   = now;
        self->idle->delivered = self->queue.popped;
        self->idle->yields    = 0;

        self->idle->callbacks_done = false;
    }
    if (self->idle->callbacks && !self->idle->callbacks_done) {
        self->idle->callbacks_done = true; /* unless one is added meanwhile */
        if (sched_idle_work(self->idle))
            self->idle->callbacks_done = false;
        return; /* they may have changed what the loop waits for: poll before sleeping */
    }
    self->idle->callbacks_done = false;
    self->idle->rests++;
    sched_rest(self, now);
    now = ski_ticks();
    self->idle->total += now - self->idle->counted;
    self->idle->counted = now;
}

/* The job ends, and the program is about to learn it.  Returns false. */
static SKI_COLD bool sched_give_up(struct ski_pe *self)
{
    ski_layers_before_exit(self);
    return false;
}

/* Called after a pass that ran nothing. Returns false if the job ends. */
static inline bool sched_idle(struct ski_pe *self)
{
    if (SKI_UNLIKELY(ski_pe_exiting(self)))
        return sched_give_up(self);
    if (SKI_UNLIKELY(++self->idle_passes >= self->idle_limit))
        sched_consider_sleep(self);
    return true;
}

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
        sched_drop_removed(idle);
}

const uint64_t *ski_scheduler_idle_ticks(const struct ski_pe *self)
{
    return &self->idle->total;
}

uint64_t ski_scheduler_rests(const struct ski_pe *self)
{
    return self->idle->rests;
}

/* Leaves a loop.  The caller may compute for a long time, so packets that wait are sent now. */
static inline void sched_leave(struct ski_pe *self)
{
    ski_assert(self->loop.depth > 0);
    self->loop.depth--;
    if (SKI_UNLIKELY(sched_has_source(self))) {
        self->progress.source->leave(self);
        self->progress.passes = 0; /* the next loop looks at the clock: it may begin much later */
    }
}

/* ---- loops --------------------------------------------------------------- */

static struct ski_pe *sched_on_own_stack(struct ski_pe *self, const char *call)
{
    if (self->thread)
        ski_misuse("%s: called in a user thread; a user thread waits with completions instead",
                   call);
    return self;
}

bool ski_scheduler_until(struct ski_pe *self, bool (*condition)(void *arg), void *arg)
{
    bool held;

    self->loop.depth++;
    while (!(held = condition(arg)) && (sched_pass(self) || sched_idle(self)))
        ;
    sched_leave(self);
    return held;
}

bool ski_scheduler_spin(struct ski_pe *self, bool (*condition)(void *arg), void *arg)
{
    unsigned limit = ski_host_crowded(self->host, self->index) ? 1 : SPINS;

    bool held;

    self->loop.depth++;
    for (unsigned empty = 0; !(held = condition(arg)) && empty <= limit; empty++)
        if (sched_pass(self))
            empty = 0;
    sched_leave(self);
    return held;
}

void ski_scheduler_run(struct ski_pe *self)
{
    self->loop.depth++;
    while (sched_pass(self) || sched_idle(self))
        ;
}

void skua_run(void)
{
    struct ski_pe     *self  = sched_on_own_stack(SKI_SELF(), __func__);
    bool               outer = self->loop.stop; /* skua_stop() for a run around this one */
    struct ski_blocked blocked;

    ski_blocked_prepare(self);
    ski_blocked_push(self, &blocked, SKI_CALL);
    self->loop.stop = false;
    self->loop.depth++;
    while (!self->loop.stop && (sched_pass(self) || sched_idle(self)))
        ;
    sched_leave(self);
    self->loop.stop = outer;
    ski_blocked_pop(self, &blocked);
}

void skua_stop(void)
{
    SKI_SELF()->loop.stop = true;
}

bool skua_run_until(bool (*condition)(void *arg), void *arg)
{
    struct ski_pe     *self = sched_on_own_stack(SKI_SELF(), __func__);
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
    struct ski_pe     *self = sched_on_own_stack(SKI_SELF(), __func__);
    size_t             run  = 0;
    struct ski_blocked blocked;

    ski_blocked_prepare(self);
    ski_blocked_push(self, &blocked, SKI_CALL);
    self->loop.depth++;
    while (run < n) {
        if (sched_pass(self))
            run++;
        else if (!sched_idle(self))
            break;
    }
    sched_leave(self);
    ski_blocked_pop(self, &blocked);
    return run;
}

size_t skua_poll(size_t n)
{
    struct ski_pe *self = sched_on_own_stack(SKI_SELF(), __func__);
    size_t         run  = 0;

    self->loop.depth++;
    self->loop.polling++; /* the caller continues, whatever is found (msg_counts.h) */
    while (run < n && sched_pass(self))
        run++;
    ski_assert(self->loop.polling > 0);
    self->loop.polling--;
    sched_leave(self);
    return run;
}

/* ---- life ---------------------------------------------------------------- */

/* Sets how long a PE that is idle polls before it sleeps.  A progress thread without a CPU of its
 * own sleeps immediately: it would delay the PE for which it has just served a request, and a yield
 * would leave the CPU to a PE that computes for the rest of its time slice, while the kernel
 * preempts that PE for a thread that wakes up. */
static void sched_set_idle_times(const struct ski_pe *self, struct ski_idle *idle)
{
    if (self->pe == ski_job_progress_pe(self->job, self->process) &&
        ski_host_shared(self->host, self->index))
        return;
    idle->spin_ticks  = ski_ns_to_ticks((uint64_t)(ski_config.idle_spin * 1e3));
    idle->yield_ticks = idle->spin_ticks + ski_ns_to_ticks((uint64_t)(ski_config.idle_yield * 1e3));
}

void ski_scheduler_init(struct ski_pe *self)
{
    struct ski_idle *idle = ski_calloc(1, sizeof *idle);

    sched_set_idle_times(self, idle);
    idle->look_ticks      = ski_ns_to_ticks(LOOK_NS);
    idle->switch_ticks    = ski_ns_to_ticks(SWITCH_NS);
    idle->impatient_ticks = ski_ns_to_ticks(IMPATIENT_NS);
    idle->foreign = (struct ski_foreign){.pes      = ski_host_foreign_pes(self->job, self->index),
                                         .quick    = ski_ns_to_ticks(QUICK_NS),
                                         .computes = ski_ns_to_ticks(LONG_NS),
                                         .alone    = ski_ns_to_ticks(ALONE_NS)};
    if (idle->foreign.pes == 0 && !ski_pe_hidden(self)) /* others would have to wait */
        idle->patience.most = ski_ns_to_ticks((uint64_t)(ski_config.idle_patience * 1e3));
    idle->patience.first = idle->yield_ticks;
    self->idle           = idle;
    self->loop.quick     = ski_ns_to_ticks(QUICK_MSG_NS);
    ski_progress_init(&self->progress);
    self->idle_limit = ski_host_shared(self->host, self->index) ? IDLE_SHARED : IDLE_PASSES;
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

void skua_stats_get(skua_stats *to, size_t bytes)
{
    struct ski_pe *self  = SKI_SELF();
    skua_stats     stats = self->stats;

    ski_assert(self->queue.popped <= self->queue.pushed);
    stats.delivered  = self->queue.popped;
    stats.sent_self  = self->queue.pushed - stats.received - stats.switches;
    stats.arena_peak = ski_arena_most_bytes(self->pool.arena);
    ski_params_give(to, bytes, &stats, sizeof stats);
}
