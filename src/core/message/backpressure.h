/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backpressure.h - while memory is short, senders wait for receivers that lag behind.
 *
 * A message in a queue occupies memory of the arena.  Ordinarily a queue may grow and a send never
 * waits.  Once the use of the arena exceeds the setting `backpressure` (base/arena.h: pressure),
 * three rules hold until it has fallen:
 *
 *   receiver   A PE whose queue is long takes nothing from its inbox, and polls the network seldom.
 *              Inbox and connections fill up.  (To take one message for each that runs would not
 *              bound memory: those that arrive may be larger.)
 *              With a short queue it takes a few messages at a time, and publishes at once which
 *              cells it has consumed.
 *   sender     A send that finds the inbox or the connection full waits until what it sent has
 *              left.  Inside a host a large message waits in any case until its receiver has taken
 *              it: an inbox full of such messages could be larger than the arena.  A user thread
 *              waits by yielding.  Elsewhere (in start, a handler, a callback) the call waits in
 *              place: it runs no message, but still moves what arrives into the queue of its PE.  A
 *              PE whose own queue is long waits only after a burst, many messages from one handler:
 *              such a PE lags behind as well, and each message that it runs frees memory.
 *   runtime    Messages of the runtime's own handlers never wait: others wait for them.
 *
 * So use is bounded by the setting, the inboxes, what one connection buffers and a message for each
 * waiting sender.
 *
 * Deadlock.  A sender that waits keeps taking from its own inbox and the network, so a PE that
 * waits for room there gets it: no cycle of waiting senders can form, at the price that the
 * sender's own queue grows meanwhile.  The rule does not cover a receiver that waits for the sender
 * in its own code (a loop around a variable) or that is stopped.  Therefore a wait without progress
 * ends after SKI_BACKPRESSURE_PATIENCE seconds, and later sends do not wait until there is progress
 * again.  A doorbell at the head of the inbox cannot be answered inside a send; it ends the wait as
 * well.
 */
#ifndef SKI_BACKPRESSURE_H
#define SKI_BACKPRESSURE_H

#include "core/pe/handler.h"
#include "core/pe/pe.h"

#define SKI_BACKPRESSURE_QUEUE    64    /* messages from which on a queue counts as long */
#define SKI_BACKPRESSURE_TURN     8     /* cells taken from the inbox in a turn          */
#define SKI_BACKPRESSURE_BURST    64    /* sends without room from one handler           */
#define SKI_BACKPRESSURE_LARGE    65536 /* bytes from which on a message counts as large */
#define SKI_BACKPRESSURE_PATIENCE 10.0  /* seconds without progress that a sender waits  */

/** Returns whether the queue of @p self is long. */
static inline bool ski_backpressure_behind(const struct ski_pe *self)
{
    return self->queue.pushed - self->queue.popped >= SKI_BACKPRESSURE_QUEUE;
}

/** Returns whether @p self must run queued messages before it takes more from its inbox. */
static inline bool ski_backpressure_receiver(const struct ski_pe *self)
{
    return SKI_UNLIKELY(ski_arena_pressed(self->pool.arena)) && ski_backpressure_behind(self);
}

/** Counts a send without room of the handler that runs. Returns true if these are a burst. */
SKI_COLD bool ski_backpressure_burst(struct ski_pe *self);

/** Returns whether a send of a message for @p handler that finds no room must wait. */
static inline bool ski_backpressure_sender(struct ski_pe *self, uint32_t handler)
{
    return SKI_UNLIKELY(ski_arena_pressed(self->pool.arena)) && handler >= SKI_HANDLERS &&
           !ski_pe_hidden(self) && (!ski_backpressure_behind(self) || ski_backpressure_burst(self));
}

/** Returns how many cells @p self takes from its inbox, while memory is short, before it runs a
 *  message: none if its queue is long.  With one for each message that runs, a queue of large ones
 *  does not grow. */
static inline unsigned ski_backpressure_arrivals(const struct ski_pe *self)
{
    if (ski_backpressure_behind(self))
        return 0;
    return self->queue.pushed == self->queue.popped ? SKI_BACKPRESSURE_TURN : 1;
}

/** Handles SKI_EVENT_PRESSED in a pass of the scheduler. */
SKI_COLD void ski_backpressure_attend(struct ski_pe *self);

/** Collects blocks that other PEs freed, before @p self sleeps for @p ns.  Returns for how long it
 * may sleep: while memory is short it collects again soon. */
SKI_COLD uint64_t ski_backpressure_before_sleep(struct ski_pe *self, uint64_t ns);

/** Tries to send messages that wait for @p pe; returns whether some still do.  @p arg is that of
 *  ski_backpressure_wait().  *@p moved grows with each message that leaves for that PE. */
typedef bool ski_backpressure_fn(struct ski_pe *self, int pe, uint64_t arg, uint64_t *moved);

/** Holds the sender back while @p waiting, called with @p arg, returns true and memory is short,
 *  until the job or the sender's patience ends. */
SKI_COLD void ski_backpressure_wait(struct ski_pe *self, int pe, ski_backpressure_fn *waiting,
                                    uint64_t arg);

#endif
