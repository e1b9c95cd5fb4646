/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - what happens when an asynchronous operation is done.
 *
 * Every operation that ends later takes a skua_completion, a small value that
 * says what shall happen then.  It belongs to the PE that made it: wherever
 * the operation ends, the completion takes place there.  An operation that has
 * a result (a reduction, say) hands its bytes over.
 */
#ifndef SKUA_COMPLETION_H
#define SKUA_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/api.h>
#include <skua/message.h>

SKUA_BEGIN_DECLS

/** A plain function; @p data lives until it returns, NULL without a result. */
typedef void (*skua_done_fn)(void *arg, const void *data, size_t bytes);

/** A counter of completions. */
typedef struct skua_counter {
    int64_t value;   /* how many have happened        */
    void   *waiters; /* the runtime's; zero at first  */
} skua_counter;

/** A result that may be waited for; set once. */
typedef struct skua_future {
    bool      ready;
    skua_msg *result;  /* the runtime's; see skua_future_wait() */
    void     *waiters; /* the runtime's                         */
} skua_future;

#define SKUA_COUNTER_INIT                                                                          \
    {                                                                                              \
        0, NULL                                                                                    \
    }
#define SKUA_FUTURE_INIT                                                                           \
    {                                                                                              \
        false, NULL, NULL                                                                          \
    }

typedef struct {
    uint16_t kind;  /* made by the functions below, and by those of object.h */
    uint16_t entry; /* of an object                                          */
    int32_t  pe;
    union {
        skua_counter *counter;
        skua_future  *future;
        skua_done_fn  fn;
        uint64_t      handler;
        uint64_t      target; /* an object, or all of a collection */
    } what;
    union {
        void *arg;
        struct {
            void    *arg;
            uint64_t tag; /* the runtime's: proves, between hosts, that its PE made it */
        } own;
        unsigned char index[24]; /* of the object */
    } with;
} skua_completion;

/** Nothing. */
SKUA_API skua_completion skua_done_nothing(void);

/** counter->value grows by one. */
SKUA_API skua_completion skua_done_count(skua_counter *counter);

/** fn(arg, data, bytes) runs on this PE. */
SKUA_API skua_completion skua_done_call(skua_done_fn fn, void *arg);

/** A message with the result as its data goes to @p handler on @p pe. */
SKUA_API skua_completion skua_done_send(int pe, skua_handler handler);

/** The future gets the result; whoever waits for it goes on. */
SKUA_API skua_completion skua_done_future(skua_future *future);

/** The job ends with @p code. */
SKUA_API skua_completion skua_done_exit(int code);

/** Let a completion happen: what an operation of your own does at its end.
 *  Any PE, any process of the job.  In a job on several hosts a completion that none of the
 *  functions above has made is not believed: its PE logs, counts (skua_stats, `wrong`) and drops
 *  it. */
SKUA_API void skua_complete(skua_completion done, const void *data, size_t bytes);

/**
 * Waiting.  A user thread is suspended; on the PE's own stack the scheduler
 * runs meanwhile, and the wait returns early, with false or NULL, when the job
 * ends; a user thread is not resumed then.  What is waited for (a counter, a
 * future) must live until the operation is done.
 */

/** Until counter->value >= @p target. */
SKUA_API bool skua_counter_wait(skua_counter *counter, int64_t target);

/** Until the future is set.  The result, *bytes long, stays until
 *  skua_future_clear(); a future set without one gives "" and 0.  @p bytes may
 *  be NULL. */
SKUA_API const void *skua_future_wait(skua_future *future, size_t *bytes);

/** Set it here and now, with a copy of the bytes. */
SKUA_API void skua_future_set(skua_future *future, const void *data, size_t bytes);

/** Give the result back and make the future ready for another use. */
SKUA_API void skua_future_clear(skua_future *future);

SKUA_END_DECLS

#endif
