/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - lists of those who wait for something on this PE.
 *
 * A user thread that waits is blocked; on the PE's own stack the scheduler
 * runs until the wait is over.  Everything that can be waited for (futures,
 * counters, mutexes, conditions, joins) holds such a list, a void pointer that
 * is NULL when nobody waits, and wakes from it in the order of coming.
 */
#ifndef SKI_WAIT_H
#define SKI_WAIT_H

#include <stdbool.h>

struct ski_pe;

/* A call of the program that blocks: its name, and where the program called it. */
struct ski_call {
    const char *name;
    const void *from;
};

/* The function that it stands in, which the program calls. */
#define SKI_CALL ((struct ski_call){__func__, __builtin_return_address(0)})

/* Calls that block on a PE's own stack, the innermost first; they lie on that stack. */
struct ski_blocked {
    struct ski_call     call;
    struct ski_blocked *outer;
};

/** Block in @p call until a wake-up from @p list.  False: the job ends.  What is waited for is
 *  up to other PEs or to messages: in `begin` of skua_program() the gates open
 *  (objects/services/program.h). */
bool ski_wait_on(struct ski_pe *self, void **list, struct ski_call call);

/** Block as ski_wait_on() does, for what the runtime alone brings about: gates stay closed. */
bool ski_wait_on_runtime(struct ski_pe *self, void **list, struct ski_call call);

/** A call on the PE's own stack that is about to run messages until something happens. */
void ski_blocked_begin(struct ski_pe *self, struct ski_blocked *blocked, struct ski_call call);
void ski_blocked_end(struct ski_pe *self, const struct ski_blocked *blocked);

/** Wake the one who waited longest; false if nobody does. */
bool ski_wake_one(struct ski_pe *self, void **list);

void ski_wake_all(struct ski_pe *self, void **list);

#endif
