/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - progress sources, and when a PE polls them.
 *
 * Messages of other PEs of the host are in the inbox, and events set a bit of the event mask
 * (core/data/queue.h).  Neither is possible for the network: it makes progress only while a PE
 * polls it, and a poll is a system call.  The network port of a PE is a *progress source*, which
 * registers here; the scheduler asks the policy below when to poll it
 * (docs/decisions/0053-progress.md).
 *
 *      the PE waits, and nothing but this source can end that      every empty pass
 *      the last poll brought something, or the PE has sent         the next empty pass, or after
 *                                                                   SKI_PROGRESS_MESSAGES messages
 *      messages of this host flow                                   every 4 us
 *      ... and the source has been silent                           after a quarter of the silence
 *                                                                   more, up to 40 us
 *
 * The clock is read once in SKI_PROGRESS_MESSAGES messages or SKI_PROGRESS_PASSES empty passes,
 * whichever come first, so that a pass in between costs a comparison: these empty passes take less
 * than a microsecond, and a PE that waits for each message reads the clock in them alone.  Time
 * bounds the delay of what has arrived, messages bound the overhead: a flood of messages does not
 * starve the source, nor the source the messages, since a poll is followed by at least one pass.
 */
#ifndef SKI_PROGRESS_H
#define SKI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_pe;

#define SKI_PROGRESS_MESSAGES 16   /* messages run between two reads of the clock */
#define SKI_PROGRESS_PASSES   64   /* empty passes between two reads of the clock */
#define SKI_PROGRESS_EAGER    128  /* fruitless polls that a PE makes in empty passes       */
#define SKI_PROGRESS_NS       4000 /* between two polls while messages flow ...           */
#define SKI_PROGRESS_SILENT   10   /* ... times this, at most, after silence              */

/* The functions of a progress source that the scheduler calls. */
struct ski_progress_source {
    /** Performs due work that needs no poll, in a pass with SKI_EVENT_NET; @p idle: no message
     *  waits.  Returns whether the next pass must call it again. */
    bool (*pass)(struct ski_pe *self, bool idle);
    /** Polls the source. Returns true if something has happened. */
    bool (*poll)(struct ski_pe *self);
    /** Performs what must not wait until the next pass, when the scheduler returns to its
     *  caller. */
    void (*leave)(struct ski_pe *self);
    /** Sleeps until something happens at the source or arrives in the inbox, or for @p ns. */
    void (*sleep)(struct ski_pe *self, uint64_t ns);
};

/* The progress source of a PE, and when to poll it. */
struct ski_progress {
    uint64_t due;     /* value of queue.popped at which the clock is read; UINT64_MAX: no source */
    uint64_t settled; /* queue.pushed after the last poll                                  */
    uint64_t at;      /* ticks of the last poll                                            */
    uint64_t heard;   /* ticks of the last poll that brought something, or that was expected to */
    uint64_t base;    /* ticks of SKI_PROGRESS_NS                                          */
    uint64_t empty;   /* passes that found no message, so far                              */
    uint32_t misses;  /* polls in a row that brought nothing                               */
    uint32_t passes;  /* empty passes that do nothing here; 0 if the source is eager to be polled */

    bool wakes; /* the source ends a sleep whenever it has something to do           */

    const struct ski_progress_source *source; /* NULL: none */
};

/** Prepares a PE that has no progress source. */
static inline void ski_progress_init(struct ski_progress *progress)
{
    *progress = (struct ski_progress){.due = UINT64_MAX};
}

/** Returns whether the PE has a progress source. */
static inline bool ski_progress_has_source(const struct ski_progress *progress)
{
    return progress->due != UINT64_MAX;
}

/** Registers the progress source of a PE; @p wakes: it ends a sleep whenever it has something to
 *  do, so that a PE may sleep after a single poll; @p base is SKI_PROGRESS_NS in ticks. */
static inline void ski_progress_register(struct ski_progress              *progress,
                                         const struct ski_progress_source *source, bool wakes,
                                         uint64_t base)
{
    *progress = (struct ski_progress){.base = base, .wakes = wakes, .source = source};
}

/** Records that something is expected from the source soon: the PE has sent, or the source holds
 *  operations. */
static inline void ski_progress_expect(struct ski_progress *progress)
{
    progress->misses = 0;
    progress->passes = 0;
}

/** Lets the next empty pass read the clock: much time may have passed since the last pass. */
static inline void ski_progress_resume(struct ski_progress *progress)
{
    progress->passes = 0;
}

/** Returns whether an empty pass does nothing for the source: the clock was read shortly before,
 * and nothing has been expected since. */
static inline bool ski_progress_skips(struct ski_progress *progress)
{
    if (progress->passes == 0)
        return false;
    progress->passes--;
    progress->empty++;
    return true;
}

/** Returns the ticks between two polls while other messages flow: a quarter of the silence so far,
 *  which bounds the number of polls in it and the delay of what ends it. */
static inline uint64_t ski_progress_interval(const struct ski_progress *progress)
{
    uint64_t ticks = (progress->at - progress->heard) / 4,
             most  = SKI_PROGRESS_SILENT * progress->base;

    if (ticks < progress->base)
        return progress->base;
    return ticks < most ? ticks : most;
}

/** Returns whether so much time has passed since the last poll that the next one is due. */
static inline bool ski_progress_is_time(const struct ski_progress *progress, uint64_t now)
{
    return progress->misses == 0 || now - progress->at >= ski_progress_interval(progress);
}

/** Returns whether an empty pass polls without looking at the clock: something is expected, or no
 *  message from elsewhere has arrived since the last poll.  @p pushed counts the messages of the
 *  PE. */
static inline bool ski_progress_eager(const struct ski_progress *progress, uint64_t pushed)
{
    return progress->misses == 0 ||
           (progress->misses < SKI_PROGRESS_EAGER && pushed == progress->settled);
}

/** Returns whether an empty pass, in which all messages have run, polls the source.  @p pushed
 * counts the messages of the PE. */
static inline bool ski_progress_wanted_idle(struct ski_progress *progress, uint64_t pushed)
{
    if (ski_progress_eager(progress, pushed))
        return true;
    if (progress->passes > 0) {
        progress->passes--;
        return false;
    }
    progress->passes = SKI_PROGRESS_PASSES - 1;
    if (progress->due < pushed + SKI_PROGRESS_MESSAGES)
        progress->due = pushed + SKI_PROGRESS_MESSAGES;
    return ski_progress_is_time(progress, ski_ticks());
}

/** Returns whether a pass polls the source although messages wait; @p popped counts those that were
 *  run. */
static inline bool ski_progress_wanted_busy(struct ski_progress *progress, uint64_t popped)
{
    if (popped < progress->due)
        return false;
    progress->due = popped + SKI_PROGRESS_MESSAGES;
    return ski_progress_is_time(progress, ski_ticks());
}

/** Records a poll; @p came: it has brought something. */
static inline void ski_progress_polled(struct ski_progress *progress, uint64_t pushed, bool came)
{
    progress->passes  = 0;
    progress->settled = pushed;
    progress->at      = ski_ticks();
    if (came || progress->misses == 0)
        progress->heard = progress->at;
    progress->misses = came ? 0 : progress->misses + (progress->misses < SKI_PROGRESS_EAGER);
}

/* Hooks for memory that other PEs write without sending a message: polled[i] of a PE is used while
 * SKI_EVENT_POLLED_i is set. */
struct ski_polled {
    /** Handles what has arrived.  Returns whether anything had. */
    bool (*poll)(struct ski_pe *self);

    /** Requests a wakeup (ski_inbox_wakeup()) for the next arrival.  Returns false if something has
     * arrived: the PE must not sleep. */
    bool (*arm)(struct ski_pe *self);
};

#endif
