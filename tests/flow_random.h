/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_random.h - random programs of strands, given by a seed; what they do in a flow, and
 * what they should (flow_model.c).
 *
 * A program is a set of scripts; an operation of a script is made from seed, script and
 * place when it is asked for, so that a strand need only know where it is.  From outside
 * come events: messages, and strands that are begun.  All that happens is mixed into a
 * number, in its order: two runs are the same if that is.
 */
#ifndef FLOW_RANDOM_H
#define FLOW_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RANDOM_SCRIPTS  = 8,
    RANDOM_TRIGGERS = 3,
    RANDOM_EVENTS   = 120,
    RANDOM_STRANDS  = 200, /* begun in one program, at most */
    RANDOM_WAITS    = 6,   /* of one operation              */
};

enum kind { OP_END, OP_WHEN, OP_CALL, OP_SEND, OP_BEGIN };

struct wish {
    int  trigger, alternative;
    bool any;
    int  reference;
};

struct op {
    enum kind   kind;
    int         waits; /* OP_WHEN */
    struct wish wish[RANDOM_WAITS];
    int         calls, script;      /* OP_CALL: so many, of this script and the next; OP_BEGIN */
    int         trigger, reference; /* OP_SEND */
};

/** What a strand of @p script does at its @p place. */
void random_op(struct op *op, uint64_t seed, int script, int place);

/** What comes from outside as event @p number: OP_SEND or OP_BEGIN. */
void random_event(struct op *op, uint64_t seed, int number);

/* What one remembers of a run. */
struct history {
    uint64_t mixed;
    int32_t  strands;  /* begun so far */
    int32_t  messages; /* sent so far  */
};

void history_add(struct history *history, int64_t what);

/** A run by the book. */
struct history model_run(uint64_t seed);

/* flow_random.c: @p programs of them, and then the job ends. */
void flow_random_register(void);
void flow_random_start(int programs, uint64_t seed);

#endif
