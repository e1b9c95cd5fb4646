/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify.h - counters that other PEs raise and their owner waits for.
 *
 * The word of a skua_notify is twice its value; the lowest bit says that the owner waits.  A PE
 * that raises the counter gets the bit with the result of its atomic add and, if the bit is set,
 * sends the owner a message.  All changes of one word are totally ordered: either the owner sees
 * the new value when it sets the bit, or the other PE sees the bit.
 *
 * Barriers, locks and channels wait in the same way.
 */
#ifndef SKI_NOTIFY_H
#define SKI_NOTIFY_H

#include <skua/message.h>
#include <skua/onesided.h>

#include "core/sched/wait.h"

struct ski_pe;

/** Raises @p notify, which this process reaches by load and store and which @p pe waits for, by
 *  @p value.  What the caller did before is visible to a PE that sees the new value. */
void ski_notify_raise(skua_notify *notify, int pe, uint64_t value);

/** Returns whether the owner of @p notify waits: a raise would send a message. */
bool ski_notify_is_watched(const skua_notify *notify);

/** Blocks in @p call until @p notify is at least @p target, on @p self or, if that is NULL, on an
 *  external thread.  Returns false if the job ends. */
bool ski_notify_wait(struct ski_pe *self, skua_notify *notify, uint64_t target,
                     struct ski_call call);

/* An entry of the list of counters that a PE watches: threads wait for the counter, or for one of a
 * range, or a function runs when it has reached a value. */
struct ski_notify_watch {
    struct ski_notify_watch *next;
    skua_notify             *notify;
    size_t      count, stride; /* of a range: counters, and bytes between them; 0: one */
    const bool *skip;          /* of a range: those that are not watched, or NULL      */
    void       *waiters;
    uint64_t    target;
    void (*fn)(struct ski_pe *self, struct ski_notify_watch *watch); /* or NULL */
    /* Returns whether counter @p index of the range ends the wait; NULL: every change does. */
    bool (*ends)(struct ski_notify_watch *watch, size_t index);
};

/** Registers @p watch: watch->fn runs once, on @p self, when watch->notify is at least
 *  watch->target.  Returns false if it is already; then nothing will run. */
bool ski_notify_watch_add(struct ski_pe *self, struct ski_notify_watch *watch);

/** Removes what ski_notify_watch_add() added. Returns false if it is not in the list. */
bool ski_notify_watch_remove(struct ski_pe *self, struct ski_notify_watch *watch);

/** Blocks the caller in @p call until a counter of @p watch, a range, ends the wait.  Before it
 *  blocks, and once changes of the counters send messages, @p reached is called with the index and
 *  value of each counter; the caller does not block if it returns true for one.  Returns false if
 *  the job ends. */
bool ski_notify_watch_wait(struct ski_pe *self, struct ski_notify_watch *watch,
                           bool (*reached)(struct ski_notify_watch *watch, size_t index,
                                           uint64_t value),
                           struct ski_call call);

/** Polls on an external thread, which has no queue that a message could wake it by, until @p
 *  reached(arg). Returns false if the job ends. */
bool ski_notify_poll_external(bool (*reached)(void *arg), void *arg);

/** Handles the message of a PE that has raised a counter whose owner waits. */
void ski_on_notified(skua_msg *msg);

#endif
