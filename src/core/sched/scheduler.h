/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - the loop of a PE.
 *
 * A pass: move what has arrived into the queue, see to timers and deferred
 * sends if there are any, run the next message.  A pass that finds nothing is
 * some twenty instructions; after a few dozen of them the PE decides whether to
 * spin on, yield the CPU, or sleep.
 */
#ifndef SKI_SCHEDULER_H
#define SKI_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

struct ski_pe;

/* Memory of a PE that other PEs write without a message, while SKI_ATTEND_POLLED is set. */
struct ski_polled {
    /** Uses what has come.  False: nothing has. */
    bool (*poll)(struct ski_pe *self);

    /** Asks for a wakeup (ski_msg_poke()) when something comes.  False: something has. */
    bool (*doze)(struct ski_pe *self);
};

/** Run messages until @p condition holds; false if the job ends first.  On the
 *  PE's own stack only. */
bool ski_scheduler_until(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** The same for a moment: as long as it pays to look without yielding the CPU. */
bool ski_scheduler_spin(struct ski_pe *self, bool (*condition)(void *arg), void *arg);

/** Run messages until the job ends. */
void ski_scheduler_run(struct ski_pe *self);

/** Returns how many times @p self found nothing to do, its idle callbacks included. */
uint64_t ski_scheduler_rests(const struct ski_pe *self);

void ski_scheduler_init(struct ski_pe *self);
void ski_scheduler_destroy(struct ski_pe *self);

#endif
