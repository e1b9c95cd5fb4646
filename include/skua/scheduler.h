/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - running the scheduler, timers, idle callbacks, statistics.
 *
 * skua_main() runs the scheduler of a PE after start has returned. The functions below run it from
 * within start or a handler, on the PE's own stack. A user thread waits with completions
 * (completion.h) instead; calling these functions from one ends the job with an error.
 */
#ifndef SKUA_SCHEDULER_H
#define SKUA_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/** Delivers messages on the calling PE until skua_stop() or the end of the job. */
SKUA_API void skua_run(void);

/** Makes the innermost skua_run() of this PE return, when the running handler has returned. */
SKUA_API void skua_stop(void);

/** Delivers messages until @p condition returns true. Returns false when the job ends first. The
 *  condition is evaluated before each message. It must depend only on what messages, timers or
 *  completions of this PE change, because the PE may sleep otherwise. */
SKUA_API bool skua_run_until(bool (*condition)(void *arg), void *arg);

/** Delivers @p n messages, waiting for them. Returns their number, which is smaller if the job
 *  ended first. An arrival on a channel counts as a message. */
SKUA_API size_t skua_run_count(size_t n);

/** Runs up to @p n messages that are queued at the time of the call. Returns their number. */
SKUA_API size_t skua_poll(size_t n);

/** A timer. It is valid on the PE that started it. */
typedef struct {
    uint64_t id;
    int32_t  pe;
} skua_timer;

/** Starts a timer: performs @p done once on this PE, after @p seconds. Returns the timer, for
 *  skua_timer_cancel(). */
SKUA_API skua_timer skua_timer_after(double seconds, skua_completion done);

/** Starts a timer: performs @p done on this PE every @p seconds, until skua_timer_cancel(). Returns
 *  the timer. */
SKUA_API skua_timer skua_timer_every(double seconds, skua_completion done);

/** Cancels a timer. Returns false if it has fired or was cancelled already, or belongs to another
 *  PE, because the calling thread has migrated since. */
SKUA_API bool skua_timer_cancel(skua_timer timer);

/** An idle callback, called repeatedly while the PE is idle. Returns true if it has more work. When
 *  all idle callbacks return false, the PE may sleep until a message arrives or a timer fires. */
typedef bool (*skua_idle_fn)(void *arg);

/** Adds an idle callback to the calling PE, which calls fn(arg) while it has nothing else to do. */
SKUA_API void skua_idle_add(skua_idle_fn fn, void *arg);

/** Removes an idle callback that was added with the same function and argument. */
SKUA_API void skua_idle_remove(skua_idle_fn fn, void *arg);

/** Counters of a PE since the start of the job. Later versions may add members at the end. */
typedef struct {
    uint64_t delivered;          /* handlers run, including the runtime's and messages to itself */
    uint64_t sent_inline;        /* messages to other PEs inside a cell */
    uint64_t sent_pointer;       /* messages to other PEs by address */
    uint64_t sent_self;          /* messages to itself */
    uint64_t sent_net;           /* messages to PEs of other hosts */
    uint64_t received;           /* cells and packets that arrived */
    uint64_t dropped_packets;    /* invalid packets that were dropped */
    uint64_t backlogged;         /* sends that waited because a queue was full */
    uint64_t backpressure_waits; /* sends that waited because memory was short */
    uint64_t sleeps;             /* times the PE slept because it was idle */
    uint64_t wakeups;            /* sleeping PEs that it woke */
    uint64_t queue_peak;         /* largest number of messages in the queue */
    uint64_t threads;            /* user threads created */
    uint64_t switches;           /* switches into user threads */
    uint64_t timers;             /* timers fired */
    uint64_t arena_peak;         /* peak use of the host's arena in bytes */
    uint64_t dropped_messages;   /* messages dropped: their object was destroyed long ago */
    uint64_t idle_ns;            /* nanoseconds that the PE had nothing to run */
} skua_stats;

/** Stores the counters of the calling PE in *stats. @p bytes is sizeof(skua_stats) as the program
 *  was compiled: a member that this version of the library does not have becomes 0. */
SKUA_API void skua_stats_get(skua_stats *stats, size_t bytes);

SKUA_END_DECLS

#endif
