/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.c - the loop of a PE (scheduler.h).
 *
 * The fast paths: if exactly one message has arrived, sched_pass() runs it without queueing it;
 * otherwise it pops a message of priority 0.  Anything else sets a bit of the event mask
 * (core/data/queue.h) and takes the slow path.  After empty passes the PE spins, yields or sleeps
 * (idle.h).
 */
#include "core/sched/scheduler.h"

#include "base/params_check.h"
#include "core/message/backpressure.h"
#include "core/message/inbox_recv.h"
#include "core/message/send_backlog.h"
#include "core/pe/handler.h"
#include "core/pe/layer.h"
#include "core/pe/pe.h"
#include "core/sched/blocked.h"
#include "core/sched/idle.h"
#include "core/sched/timer.h"

#define ARRIVALS         32   /* inbox cells queued per pass: a later one may be more urgent */
#define PRESSED_MESSAGES 1024 /* messages between two polls while memory is short       */
#define POLLED_MESSAGES  8    /* messages between two polls of memory that others write */
#define HELD_MESSAGES    8    /* quick messages that run between two polls of the inbox   */
#define LATE_MESSAGES    4    /* messages between two checks whether they take longer       */
#define HELD_QUEUE       64   /* messages in a long queue: as many run as arrived, at most  */
#define HELD_SPECIAL     1024 /* messages since the last one that had a priority          */
#define QUICK_MSG_NS     250  /* of a quick message, on average                           */
#define SPINS            4000 /* empty passes while a call waits for a notification     */

/* ---- a pass -------------------------------------------------------------- */

/* Returns the number of messages to run, while memory is short, after a poll that brought @p
 * brought: one poll of a driver may bring megabytes, so more messages must run than arrived. */
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

/* Serves the progress source: its work of a pass, and a poll if that is due. */
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

/* Serves the progress source after a number of messages. */
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

/* Sends what waits for room in inboxes, and makes room for others while memory is short. */
static SKI_COLD void sched_attend_sends(struct ski_pe *self)
{
    ski_send_backlog_flush(self);
    if (self->queue.events & SKI_EVENT_PRESSED)
        ski_backpressure_attend(self);
}

/* The slow path of a pass: handles the events of the mask (backlogs, timers, the network, polled
 * memory). Returns the next message, or NULL. */
static struct skua_msg *sched_attend(struct ski_pe *self)
{
    if (self->queue.events & SKI_EVENT_EXIT)
        return NULL;
    if (SKI_UNLIKELY(self->queue.events & SKI_EVENT_SENDS))
        sched_attend_sends(self);
    if (SKI_UNLIKELY(self->queue.events & SKI_EVENT_TIMERS))
        ski_timers_fire(self);
    if (SKI_UNLIKELY(ski_progress_has_source(&self->progress)))
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

/* Returns whether more time has passed since @p since than HELD_MESSAGES quick messages take.  It
 * is called once in LATE_MESSAGES, since reading the clock takes a considerable part of the time of
 * a quick message. */
static inline bool sched_is_late(const struct ski_pe *self, uint64_t since)
{
    return ski_ticks() - since >= HELD_MESSAGES * self->loop.quick;
}

/* Returns whether memory is polled before the next message.  A PE that waits in a collective polls
 * it; while messages arrive, it does so only once in a few of them, or after the time that this
 * number of quick ones takes. */
static inline bool sched_is_poll_due(const struct ski_pe *self)
{
    uint64_t ran = self->queue.popped - self->loop.polled;

    return ran >= POLLED_MESSAGES ||
           (ran % LATE_MESSAGES == 1 && sched_is_late(self, self->loop.polled_at));
}

/* Returns whether an event of the mask goes before a message of priority 0. */
static inline bool sched_has_event(const struct ski_pe *self)
{
    if (SKI_LIKELY(!self->queue.events))
        return false;
    return self->queue.events & ~(uint32_t)SKI_EVENT_POLLED || sched_is_poll_due(self);
}

/* Returns whether exactly one message has arrived and no other is queued that might run first. */
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
        ski_prefetch_write(next);
        __builtin_prefetch(next + 1);
    }
    return msg;
}

/* Runs the next message of priority 0, of which there is one.  Returns true. */
static inline bool sched_run_plain(struct ski_pe *self)
{
    struct skua_msg *msg = sched_pop_plain(self);

    sched_deliver(self, msg, msg->handler);
    return true;
}

/* A doorbell is handled before queued messages, but not two in a row: handling one may ring
 * another, which would starve the queue.  Doorbells count as delivered (msg_counts.h), so a message
 * of the queue is next if nothing was delivered since the last doorbell. */
static inline bool sched_is_queues_turn(const struct ski_pe *self)
{
    return self->loop.doorbell == self->queue.popped;
}

/* Handles a doorbell by @p hook, of the layer above, which runs the callback of its channel. */
static inline void sched_answer(struct ski_pe *self, void (*hook)(struct ski_pe *self))
{
    self->idle_passes = 0;
    ski_assert(hook);
    self->loop.doorbell = self->queue.popped + 1;
    sched_count_delivery(self);
    hook(self);
}

/* Returns whether this PE has rung a doorbell for itself, and the job does not end. */
static inline bool sched_has_rung(const struct ski_pe *self)
{
    return (self->queue.events & (SKI_EVENT_DOORBELLS | SKI_EVENT_EXIT)) == SKI_EVENT_DOORBELLS;
}

/* Returns whether a message or an event of the mask, other than a doorbell of this PE, waits. */
static inline bool sched_has_waiting(const struct ski_pe *self)
{
    return self->queue.plain.first || self->queue.events & ~(uint32_t)SKI_EVENT_DOORBELLS;
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
    sched_answer(self, self->on_own_doorbell);
    return true;
}

/* Polls the progress source in a pass that finds no message, and runs what that brings: a message,
 * or the doorbell of a channel whose data the driver has brought. */
static __attribute__((noinline)) bool sched_run_empty(struct ski_pe *self)
{
    struct skua_msg *msg;

    sched_progress(self);
    if (SKI_UNLIKELY(sched_has_rung(self) && !sched_is_queues_turn(self))) {
        sched_answer(self, self->on_own_doorbell);
        return true;
    }
    msg = ski_queue_pop(&self->queue);
    if (msg)
        sched_deliver(self, msg, msg->handler);
    else if (SKI_UNLIKELY(sched_has_rung(self)))
        sched_answer(self, self->on_own_doorbell);
    else
        return false;
    return true;
}

/* Polls memory and runs the next message, of which there is one. */
static bool sched_run_polled(struct ski_pe *self)
{
    struct skua_msg *msg;

    sched_poll_memory(self);
    msg = ski_queue_pop(&self->queue);
    if (msg)
        sched_deliver(self, msg, msg->handler);
    return msg != NULL;
}

/* The slow path of sched_run_queued(), with a bit of the event mask set.  Runs one message or
 * answers one doorbell, not several: the caller may count messages, or wait for one. */
static __attribute__((noinline)) bool sched_run_attended(struct ski_pe *self)
{
    if (!(self->queue.events & ~(uint32_t)SKI_EVENT_POLLED)) {
        if (!self->queue.plain.first)
            return sched_poll_memory(self) ||
                   (ski_progress_has_source(&self->progress) && sched_run_empty(self));
        if (!ski_progress_has_source(&self->progress))
            return sched_run_polled(self);
    }
    if (self->queue.events != SKI_EVENT_DOORBELLS || self->queue.plain.first)
        return sched_run_either(self);
    sched_answer(self, self->on_own_doorbell);
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
        return ski_progress_has_source(&self->progress) && !ski_progress_skips(&self->progress) &&
               sched_run_empty(self);
    sched_deliver(self, msg, msg->handler);
    return true;
}

static inline bool sched_pass(struct ski_pe *self);

/* Handles a wake-up or a doorbell of another PE. */
static bool sched_run_wakeup(struct ski_pe *self)
{
    if (!self->reader.next->handler) {
        ski_idle_begin(self); /* the PE that woke this one will send more */
        ski_inbox_answer(self);
        return sched_pass(self); /* what follows the wake-up counts: it is nothing to run itself */
    }
    if (sched_is_queues_turn(self) && sched_has_waiting(self)) {
        if (sched_run_waiting(self))
            return true;
        if (!ski_inbox_doorbell_next(self)) /* a timer has run the scheduler, which answered it */
            return sched_pass(self);
    }
    sched_answer(self, self->on_doorbell);
    return true;
}

/* ---- quick messages --------------------------------------------------------
 *
 * Moving all that has arrived into the queue after each message makes the queue outgrow the cache,
 * and takes lines of cells away from senders that fill them.  So while messages are quick and none
 * has a priority, several run between two polls of the inbox, as many are moved then, and more run
 * while the queue is long.  That ends where the inbox fills up: a sender that finds it full keeps
 * its messages, and may compute before it is back in the runtime.
 *
 * What an urgent message waits for.  Its sender marks the ring (base/inbox.h), and the mark is read
 * once for ARRIVALS quick messages.  From then on the inbox is polled after each message.  So the
 * first urgent message after a long time waits for ARRIVALS quick ones, or for four messages if
 * these are slow, and for one for each ARRIVALS cells before it, in all rings.  To look at the
 * flags of the cells before they are moved (every 8 us) took a quarter of the rate of pairs. */

/* Allows the next pass to poll the inbox. */
static inline void sched_release(struct ski_pe *self)
{
    self->loop.slow &= ~(uint32_t)SKI_LOOP_HOLDS;
    self->loop.unchecked = 0;
}

/* Sets how many messages run before a pass checks again whether the inbox is held: up to four, the
 * end of the hold, or a poll of memory. */
static inline void sched_plan_unchecked(struct ski_pe *self)
{
    uint64_t end = self->queue.popped + LATE_MESSAGES, hold = self->loop.hold;

    if (self->queue.events & SKI_EVENT_POLLED && self->loop.polled + POLLED_MESSAGES < end)
        end = self->loop.polled + POLLED_MESSAGES;
    self->loop.unchecked = end < hold ? end : hold;
}

/* Returns whether the next message of the queue runs without these checks. */
static inline bool sched_is_unchecked(const struct ski_pe *self)
{
    return self->queue.popped < self->loop.unchecked && self->queue.plain.first &&
           !(self->queue.events & ~(uint32_t)SKI_EVENT_POLLED);
}

/* Holds the next poll of the inbox until a few messages have run, if those that ran since the last
 * call were quick; moving @p moved messages into the queue takes some of that time, too. */
static inline void sched_hold(struct ski_pe *self, uint64_t moved)
{
    uint64_t now = ski_ticks(), ran = self->queue.popped - self->loop.held;
    bool     quick = now - self->loop.since < (ran + moved / 8) * self->loop.quick;

    self->loop.brief = quick;
    self->loop.held  = self->queue.popped;
    self->loop.since = now;
    self->loop.hold  = self->queue.popped + HELD_MESSAGES;
    if (!quick) {
        sched_release(self);
        return;
    }
    self->loop.slow |= SKI_LOOP_HOLDS;
    sched_plan_unchecked(self);
}

/* Returns whether urgent messages arrive at this PE, which must be found at once. */
static inline bool sched_has_urgent(const struct ski_queue *queue)
{
    return queue->special && queue->pushed - queue->special < HELD_SPECIAL;
}

/* Clears the marks of urgent messages in the inbox.  A message that was marked counts as if it were
 * in the queue. */
static inline void sched_take_marks(struct ski_pe *self)
{
    if (ski_reader_take_urgent_sc(&self->reader))
        self->queue.special = self->queue.pushed;
}

/* Returns whether the inbox must be drained now.  Reading that may take a line of the inbox from a
 * sender that is about to fill it, so it is done once for ARRIVALS messages, or after the time of
 * HELD_MESSAGES: a sender needs longer to fill the second half of a ring. */
static inline bool sched_is_pressed(struct ski_pe *self)
{
    if (self->queue.popped - self->loop.looked < ARRIVALS &&
        self->loop.since - self->loop.looked_at < HELD_MESSAGES * self->loop.quick)
        return self->loop.pressed;
    self->loop.looked    = self->queue.popped;
    self->loop.looked_at = self->loop.since;
    self->loop.pressed   = ski_inbox_is_pressing(self);
    if (SKI_UNLIKELY(self->loop.pressed))
        sched_take_marks(self);
    return self->loop.pressed;
}

/* Reads the marks of several rings, once for ARRIVALS messages.  Whether such a ring fills matters
 * only where the queue is long: otherwise each drain moves the quota of a ring. */
static void sched_read_marks(struct ski_pe *self)
{
    if (self->queue.popped - self->loop.marked < ARRIVALS)
        return;
    self->loop.marked = self->queue.popped;
    sched_take_marks(self);
}

static SKI_COLD unsigned sched_arrivals_pressed(struct ski_pe *self)
{
    ski_pe_note_pressure(self);
    return ski_backpressure_arrivals(self);
}

/* Returns how many cells a drain moves into the queue.  Several rings have quotas. */
static inline unsigned sched_arrivals(struct ski_pe *self)
{
    if (SKI_UNLIKELY(ski_arena_pressed(self->pool.arena)))
        return sched_arrivals_pressed(self);
    if (!self->loop.brief)
        return ARRIVALS;
    if (self->reader.rings) {
        sched_read_marks(self);
        return ARRIVALS;
    }
    return sched_has_urgent(&self->queue) || sched_is_pressed(self) ? ARRIVALS : HELD_MESSAGES;
}

/* Drains further rings of the inbox, until @p limit messages are moved or a doorbell is next. @p
 * pushed is the number of messages before the first ring was drained.  Returns whether a doorbell
 * is next. */
static bool sched_drain_others(struct ski_pe *self, unsigned limit, uint64_t pushed)
{
    bool     doorbell = false;
    uint64_t moved;

    while (!doorbell && (moved = self->queue.pushed - pushed) < limit &&
           ski_reader_poll_sc(&self->reader))
        doorbell = ski_inbox_drain(self, limit - (unsigned)moved);
    return doorbell;
}

/* Makes a poll of memory due now that would interrupt the messages that follow. */
static inline void sched_align_poll(struct ski_pe *self)
{
    if (self->queue.popped - self->loop.polled >= POLLED_MESSAGES / 2)
        self->loop.polled = self->queue.popped - POLLED_MESSAGES;
}

/* Moves what has arrived into the queue. */
static void sched_drain(struct ski_pe *self)
{
    uint64_t pushed   = self->queue.pushed;
    unsigned limit    = sched_arrivals(self);
    bool     doorbell = ski_inbox_drain(self, limit);

    if (self->reader.rings && !doorbell &&
        (!self->loop.brief || SKI_UNLIKELY(sched_has_urgent(&self->queue))))
        doorbell = sched_drain_others(self, limit, pushed);
    self->loop.drained = self->queue.popped;
    sched_align_poll(self);
    sched_hold(self, self->queue.pushed - pushed);
    if (doorbell || sched_has_urgent(&self->queue))
        sched_release(self);
}

/* Returns whether a message of the queue runs before the inbox is polled. */
static bool sched_holds(struct ski_pe *self)
{
    const struct ski_queue *queue = &self->queue;

    if (queue->plain.first && !(queue->events & SKI_EVENT_PRIORITY)) {
        if (queue->popped < self->loop.hold && ((queue->popped - self->loop.held) % LATE_MESSAGES ||
                                                !sched_is_late(self, self->loop.since))) {
            sched_plan_unchecked(self);
            return true;
        }
        if (queue->popped >= self->loop.hold && queue->pushed - queue->popped >= HELD_QUEUE &&
            queue->popped - self->loop.drained < ARRIVALS && !sched_is_pressed(self)) {
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

/* Executes a pass that checks whether it leaves the inbox alone, or that polls several rings. */
static __attribute__((noinline)) bool sched_pass_checked(struct ski_pe *self)
{
    if (self->loop.slow & SKI_LOOP_HOLDS && sched_holds(self))
        return sched_is_unchecked(self) ? sched_run_plain(self) : sched_run_queued(self);
    return ski_reader_poll_sc(&self->reader) ? sched_run_arrived(self) : sched_run_queued(self);
}

/* Executes a pass that may leave the inbox alone, or that polls several rings. */
static __attribute__((noinline)) bool sched_pass_slow(struct ski_pe *self)
{
    return SKI_LIKELY(sched_is_unchecked(self)) ? sched_run_plain(self) : sched_pass_checked(self);
}

/* Executes one pass. Returns false if there was nothing to run, or the job ends. */
static inline bool sched_pass(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->loop.slow))
        return sched_pass_slow(self);
    return ski_reader_ready_sc(&self->reader) ? sched_run_arrived(self) : sched_run_queued(self);
}

/* ---- idle ---------------------------------------------------------------- */

/* Called when the job ends, before control returns to the program.  Returns false. */
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
        ski_idle_consider(self);
    return true;
}

/* Leaves a loop.  The caller may compute for a long time, so packets that wait are sent now. */
static inline void sched_leave(struct ski_pe *self)
{
    ski_assert(self->loop.depth > 0);
    self->loop.depth--;
    if (SKI_UNLIKELY(ski_progress_has_source(&self->progress))) {
        self->progress.source->leave(self);
        ski_progress_resume(&self->progress); /* the next loop may begin much later */
    }
}

/* Leaves a loop that waits.  What the caller computes is no idle time. */
static inline void sched_leave_wait(struct ski_pe *self)
{
    ski_idle_end(self);
    sched_leave(self);
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
    sched_leave_wait(self);
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
    sched_leave_wait(self);
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
    sched_leave_wait(self);
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

void ski_scheduler_run_front(struct ski_pe *self, unsigned most,
                             bool (*wanted)(struct ski_pe *self, struct skua_msg *msg))
{
    struct skua_msg *msg;

    self->loop.depth++;
    self->loop.polling++; /* as in skua_poll() */
    for (; most > 0 && (msg = self->queue.plain.first) && wanted(self, msg); most--)
        sched_deliver(self, sched_pop_plain(self), msg->handler);
    ski_assert(self->loop.polling > 0);
    self->loop.polling--;
    sched_leave(self);
}

/* ---- life ---------------------------------------------------------------- */

void ski_scheduler_init(struct ski_pe *self)
{
    ski_idle_init(self);
    self->loop.quick = ski_ns_to_ticks(QUICK_MSG_NS);
    ski_progress_init(&self->progress);
    ski_queue_init(&self->queue);
}

void ski_scheduler_destroy(struct ski_pe *self)
{
    ski_idle_destroy(self);
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
    stats.idle_ns    = ski_ticks_to_ns(*ski_idle_ticks(self));
    ski_params_give(to, bytes, &stats, sizeof stats);
}
