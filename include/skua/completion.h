/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what happens when an asynchronous operation completes.
 *
 * Every asynchronous operation takes a skua_completion, a small value that says what happens when
 * the operation completes. It belongs to the PE that made it and takes effect on that PE, wherever
 * the operation completes. An operation with a result, such as a reduction, passes its bytes to the
 * completion.
 */
#ifndef SKUA_COMPLETION_H
#define SKUA_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/message.h>

SKUA_BEGIN_DECLS

/** A completion callback. @p data is valid until the callback returns; it is NULL if the operation
 *  has no result. */
typedef void (*skua_done_fn)(void *arg, const void *data, size_t bytes);

/** A counter of completions. It belongs to the PE that made the completions that increment it,
 *  which may change `value` between waits. */
typedef struct skua_counter {
    int64_t value;   /* completions so far */
    void   *waiters; /* internal; initially zero */
} skua_counter;

/** A result that can be waited for. It is set once. */
typedef struct skua_future {
    bool      ready;   /* the result is there */
    skua_msg *result;  /* internal; see skua_future_wait() */
    void     *waiters; /* internal */
    void     *chained; /* internal; see skua_future_then() */
} skua_future;

/** Initial value of a skua_counter. */
#define SKUA_COUNTER_INIT                                                                          \
    {                                                                                              \
        0, NULL                                                                                    \
    }

/** Initial value of a skua_future. */
#define SKUA_FUTURE_INIT                                                                           \
    {                                                                                              \
        false, NULL, NULL, NULL                                                                    \
    }

/** What happens when an operation completes. The skua_done_...() functions make it; its members are
 *  internal. */
typedef struct {
    uint16_t kind;  /* set by the skua_done_...() functions */
    uint16_t entry; /* entry of the target object */
    int32_t  pe;
    union {
        skua_counter *counter;
        skua_future  *future;
        skua_done_fn  fn;
        uint64_t      handler;
        uint64_t      target; /* an object or a collection */
    } what;
    union {
        void *arg;
        struct {
            void    *arg;
            uint64_t tag; /* proves between hosts that `pe` made it */
        } own;
        unsigned char index[24]; /* index of the target object */
    } with;
} skua_completion;

/** Returns a completion that does nothing. */
SKUA_API skua_completion skua_done_nothing(void);

/** Returns a completion that increments counter->value. */
SKUA_API skua_completion skua_done_count(skua_counter *counter);

/** Returns a completion that calls fn(arg, data, bytes) on the calling PE. */
SKUA_API skua_completion skua_done_call(skua_done_fn fn, void *arg);

/** Returns a completion that sends the result as a message to @p handler on @p pe. */
SKUA_API skua_completion skua_done_send(int pe, skua_handler handler);

/** Returns a completion that sets @p future to the result and wakes its waiters. */
SKUA_API skua_completion skua_done_future(skua_future *future);

/** Returns a completion that ends the job with @p code. */
SKUA_API skua_completion skua_done_exit(int code);

/** Performs a completion, at the end of an asynchronous operation of the program. Any PE of the job
 *  may call it, no matter which PE made the completion. In a job on several hosts, a PE does not
 *  accept a completion that none of the skua_done_...() functions made: it logs, counts and drops
 *  it (skua_stats.dropped_packets). */
SKUA_API void skua_complete(skua_completion done, const void *data, size_t bytes);

/** Waiting. A user thread that waits is suspended. On the PE's own stack the scheduler runs
 *  meanwhile; when the job ends, the wait returns early with false or NULL. A user thread is not
 *  resumed at the end of the job. The counter or future must stay valid until the operation
 *  completes. */

/** Waits until counter->value >= @p target. Returns false when the job ends first. In a user thread
 *  that has sent messages to other hosts, other messages of the PE may run even if the value has
 *  been reached. */
SKUA_API bool skua_counter_wait(skua_counter *counter, int64_t target);

/** Waits until @p future is set and returns its result. *bytes is the length of the result;
 *  @p bytes may be NULL. The result is valid until skua_future_clear(). For a future that was set
 *  without data it returns "" and a length of 0. Returns NULL when the job ends first. */
SKUA_API const void *skua_future_wait(skua_future *future, size_t *bytes);

/** Sets @p future, which belongs to the calling PE, to a copy of @p bytes at @p data. */
SKUA_API void skua_future_set(skua_future *future, const void *data, size_t bytes);

/** Frees the result of a future and makes the future ready to be set again. If the future is
 *  cleared before it is set, completions that were chained to it are dropped, and so are those that
 *  wait for all of several futures with this one; a completion that waits for any of several
 *  continues without it. */
SKUA_API void skua_future_clear(skua_future *future);

/** Chaining. A completion that is chained to futures may set another future, on any PE. The futures
 *  belong to the calling PE and must stay valid, and not be moved, until the completion has
 *  happened or skua_future_clear() has been called; completions that have not happened when the job
 *  ends are dropped. A PE or one of its user threads may call these functions. */

/** Returns true if @p future is set. If not, and on the PE's own stack, it first delivers at most
 *  one message. */
SKUA_API bool skua_future_test(skua_future *future);

/** Performs @p done with the result of @p future when that is set, or immediately if it is set
 *  already. Several completions of one future happen in the order of the calls; the future keeps
 *  its result. */
SKUA_API void skua_future_then(skua_future *future, skua_completion done);

/** Performs @p done, without a result, when all of @p count futures are set: immediately if they
 *  are, or if there are none. The array is read during the call only. */
SKUA_API void skua_future_all(skua_future *const *futures, size_t count, skua_completion done);

/** Performs @p done when the first of @p count futures is set, or immediately if one is: its result
 *  is a size_t, the index of that future in the array. It is then no longer chained to the other
 *  futures. The array is read during the call only. A count of 0 ends the job with an error. */
SKUA_API void skua_future_any(skua_future *const *futures, size_t count, skua_completion done);

SKUA_END_DECLS

#endif
