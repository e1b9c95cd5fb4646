/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - the chares State, Pair and Ortho of pairs.ci.
 *
 * State s belongs to block s / grain.  It numbers the Pairs of its block by *slot*: the chunk and
 * the other block of the pair.  A Pair numbers its States by *row*: those of block x and then,
 * unless y = x, those of block y.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdint.h>

#include "common/gemm.h"
#include "common/numbers.h"
#include "options.h"

struct pairs_outcome {
    double away;       /* the largest element of |S - 1|   */
    double asymmetric; /* the largest element of |S - S^T| */
};

struct pairs_task {
    int     variant, backward, check; /* check: one forward step, to compute S */
    int64_t steps;
};

struct State {
    double       *at;            /* the numbers of this state on this plane             */
    double       *part;          /* results of Pairs, by block and point, from channels */
    skua_channel *in;            /* channels into `part`, by slot                       */
    skua_channel *to;            /* channels into the Pairs, by slot                    */
    skua_sender **out;           /* multicast to all Pairs of a chunk, by chunk         */
    int64_t       arrived_count; /* number of results that arrived through channels     */
    bool          marked;        /* the channels into `part` are not polled             */
    int64_t       turn;          /* number of steps so far                              */
    double        shown;
};

struct Pair {
    int           w, x, y, z;
    int64_t       count[2];    /* states of x, and of y; 0 if y = x */
    int64_t       numbers;     /* number of values in a row         */
    double       *at, *result; /* rows: input and result            */
    skua_channel *in;
    skua_sender **out;
    int           arrived_count; /* number of rows that arrived through channels */
    bool          marked;        /* the channels of rows are not polled */
    int64_t       turn;
};

struct Ortho {
    int64_t first, count;   /* first and number of the rows of this block */
    double *s;              /* rows of S                                  */
    double *mine, *product; /* rows of Y and Z; of a product              */
    double *y, *z;          /* all of Y and Z                             */
    double  change;         /* change of Z in the last iteration          */
    double  scale;          /* the scaling factor c                       */
    double  asymmetric;
    bool    done;
    int64_t turn, round; /* number of steps and iterations so far */
    int64_t rounds;      /* number of iterations in this step */
};

/* pairs.c: shared functions. */

/** Returns the number of states in a block. */
int64_t states_in(int64_t block);

/** Returns the index of the first number of a chunk in a State. */
int64_t chunk_begin(int64_t z);

/** Returns the number of numbers in a chunk. */
int64_t chunk_numbers(int64_t z);

/** Returns the number of slots of a State. */
int64_t slots(void);

/** Returns the number of tiles of S that an Ortho receives in a step. */
int64_t tiles(void);

/** Creates a message with a copy of numbers; if @p at is NULL the caller fills them in. */
Numbers *numbers_of(int64_t turn, int64_t from, const double *at, int64_t count);

/** Allocates memory for numbers that channels write. */
double *alloc_numbers(int64_t numbers);

/** Returns the layout of contiguous numbers. */
skua_layout layout_of(const double *at, int64_t numbers);

/** Ends the job with the error that a channel could not be created, if @p good is false. */
void require_channel(bool good);

/** Returns a hash of the bits of numbers. */
uint64_t bits_of(const double *at, int64_t count);

/* Main */
void    insert_pairs(void);
int64_t pairs_in_all(void);
void    start(struct pairs_task task);
void    report(const Main *main);

/* state.c */
void create_result_channels(State *state);
void open_pairs(State *state);
void advance_time(State *state);
void send_rows(State *state, int variant);
void add_result(State *state, int64_t slot, const double *from);
void add_results(State *state);
void poll_results(State *state);
void end_step(State *state, int64_t step, int64_t steps);
void contribute_bits(State *state);

/* pair.c */
int  rows_in(const Pair *pair);
void create_row_channels(Pair *pair);
void open_state(Pair *pair, int row, skua_channel channel);
void receive_row(Pair *pair, const Numbers *row);
void poll_rows(Pair *pair);
void multiply_forward(Pair *pair, struct pairs_task task);
void multiply_backward(Pair *pair, struct pairs_task task, const double *factor);

/* ortho.c */
void add_tile(Ortho *ortho, int64_t position, const double *tile);
void begin_iteration(Ortho *ortho);
void broadcast_rows(Ortho *ortho);
void receive_rows(Ortho *ortho, const Numbers *rows);
void improve(Ortho *ortho, struct pairs_task task);
void send_factors(Ortho *ortho);
void contribute_outcome(Ortho *ortho);

#endif
