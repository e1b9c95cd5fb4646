/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - running messages, timers, idle work, statistics.
 *
 * skua_main() runs the scheduler of a PE after start has returned.  The calls
 * below run it from within: in start or in a handler, on the PE's own stack.
 * A user thread waits with completions (completion.h) instead; calling these
 * from one ends the job with a line that says so.
 */
#ifndef SKUA_SCHEDULER_H
#define SKUA_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/completion.h>

SKUA_BEGIN_DECLS

/** Deliver messages until skua_stop() or the end of the job. */
SKUA_API void skua_run(void);

/** Make the innermost skua_run() of this PE return. */
SKUA_API void skua_stop(void);

/** Deliver messages until @p condition holds; true.  False: the job ends.
 *  The condition is looked at before each message and must depend on what
 *  messages, timers or completions of this PE change: it may sleep otherwise. */
SKUA_API bool skua_run_until(bool (*condition)(void *arg), void *arg);

/** Deliver @p n messages, waiting for them; how many it were when the job
 *  ended before.  What arrives on a channel counts as one. */
SKUA_API size_t skua_run_count(size_t n);

/** Deliver up to @p n messages that are there now; how many it were. */
SKUA_API size_t skua_poll(size_t n);

/** A timer that was started; of no use on other PEs. */
typedef struct {
    uint64_t id;
} skua_timer;

/** Fire @p done on this PE, once, after @p seconds; or every @p seconds. */
SKUA_API skua_timer skua_after(double seconds, skua_completion done);
SKUA_API skua_timer skua_every(double seconds, skua_completion done);

/** Stop a timer.  False: it has fired already, or was cancelled before. */
SKUA_API bool skua_timer_cancel(skua_timer timer);

/** What a PE does when it has nothing else to do: called again and again while
 *  it is idle.  True: there is more to do.  When all return false the PE may
 *  sleep until a message or timer. */
typedef bool (*skua_idle_fn)(void *arg);

SKUA_API void skua_idle_add(skua_idle_fn fn, void *arg);
SKUA_API void skua_idle_remove(skua_idle_fn fn, void *arg);

/** Counters of a PE since the start. */
typedef struct {
    uint64_t delivered;     /* handlers run, also for itself and of the runtime */
    uint64_t sent_inline;   /* to other PEs, inside a cell                      */
    uint64_t sent_pointer;  /* to other PEs, by address                         */
    uint64_t sent_self;     /* to itself                                        */
    uint64_t sent_far;      /* to PEs of other hosts                            */
    uint64_t received;      /* cells and packets that arrived                   */
    uint64_t wrong;         /* packets that made no sense and were dropped      */
    uint64_t deferred;      /* sends that waited for want of room              */
    uint64_t held_back;     /* sends that waited because memory was short      */
    uint64_t sleeps;        /* times it slept for want of work                  */
    uint64_t wakes;         /* sleeping PEs it woke                             */
    uint64_t queue_longest; /* most messages that waited when others arrived    */
    uint64_t threads;       /* user threads created                             */
    uint64_t switches;      /* switches into user threads                       */
    uint64_t timers;        /* timers fired                                     */
    uint64_t arena_most;    /* bytes of the host's arena in use at once, at most */
    uint64_t departed;      /* messages to objects deleted long before, dropped */
} skua_stats;

/** The counters of the calling PE. */
SKUA_API skua_stats skua_stats_get(void);

SKUA_END_DECLS

#endif
