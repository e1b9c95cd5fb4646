/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - counters that others raise and their owner waits for.
 *
 * The word of a skua_notify is twice its value; the lowest bit says that the
 * owner waits.  Whoever raises it gets the bit with the result of its atomic
 * add, and if it is set sends the owner a message.  All changes of one word are
 * totally ordered: either the owner sees the new value when it sets the bit, or
 * the other sees the bit.
 *
 * Barriers and locks wait in the same way.
 */
#ifndef SKI_NOTIFY_H
#define SKI_NOTIFY_H

#include <skua/message.h>
#include <skua/onesided.h>

#include "base/arch.h"
#include "core/sched/wait.h"

struct ski_pe;

#define SKI_ROUNDS 32

/* What others raise for a PE in a barrier: a counter for each round. */
struct ski_barrier {
    _Alignas(SKI_CACHE_LINE) skua_notify round[SKI_ROUNDS];
};

/** Raise @p notify, which we reach by load and store and @p pe waits for.  What
 *  we did before is visible to who sees it. */
void ski_notify_raise(skua_notify *notify, int pe, uint64_t value);

/** Block in @p call on @p self, or, if that is NULL, on a thread that is no PE.  False: the
 *  job ends. */
bool ski_notify_wait(struct ski_pe *self, skua_notify *notify, uint64_t target,
                     struct ski_call call);

/* A notification that a PE expects: threads wait for it, or a function runs when it has reached a
 * value. */
struct ski_expected {
    struct ski_expected *next;
    skua_notify         *notify;
    void                *waiters;
    uint64_t             target;
    void (*fn)(struct ski_pe *self, struct ski_expected *expected); /* or NULL */
};

/** Let expected->fn run once, on @p self, when expected->notify is at least expected->target;
 *  false: it is already, and nothing will run. */
bool ski_notify_expect(struct ski_pe *self, struct ski_expected *expected);

/** Forget that; false: nothing was expected. */
bool ski_notify_forget(struct ski_pe *self, struct ski_expected *expected);

void ski_on_notified(skua_msg *msg);
void ski_on_round(skua_msg *msg);

#endif
