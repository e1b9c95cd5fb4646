/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_random.h - random programs of frames, generated from a seed, and their expected behaviour
 * (flow_model.c).
 *
 * A program is a set of scripts.  An operation is a function of seed, script and position, so a
 * frame only needs its position.  Events come from outside: messages, and frames that begin.  All
 * actions are hashed in their order: two runs are equal if their hashes are.
 */
#ifndef FLOW_RANDOM_H
#define FLOW_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RANDOM_SCRIPTS  = 8,
    RANDOM_TRIGGERS = 3,
    RANDOM_EVENTS   = 120,
    RANDOM_STRANDS  = 200, /* largest number of frames of one program */
    RANDOM_WAITS    = 6,   /* largest number of waits of one operation */
};

enum kind { OP_END, OP_WHEN, OP_CALL, OP_SEND, OP_BEGIN };

struct wish {
    int  when, alternative;
    bool any;
    int  reference;
};

struct op {
    enum kind   kind;
    int         waits; /* OP_WHEN */
    struct wish wish[RANDOM_WAITS];
    int         calls, script; /* OP_CALL: number of calls, of this script and the next; OP_BEGIN */
    int         when, reference; /* OP_SEND */
};

/** Returns the operation of @p script at position @p place. */
void random_op(struct op *op, uint64_t seed, int script, int place);

/** Returns the external event @p number: OP_SEND or OP_BEGIN. */
void random_event(struct op *op, uint64_t seed, int number);

/* The trace of a run. */
struct history {
    uint64_t mixed;
    int32_t  frames;   /* frames begun so far */
    int32_t  messages; /* messages sent so far */
};

void history_add(struct history *history, int64_t what);

/** Runs a program by the reference implementation. */
struct history model_run(uint64_t seed);

/* flow_random.c: runs @p programs random programs and ends the job. */
void flow_random_register(void);
void flow_random_start(int programs, uint64_t seed);

#endif
