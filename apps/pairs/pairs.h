/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - States, Pairs and Orthos of pairs.ci.
 *
 * State s is in block s / grain, and knows the Pairs of its block by *slot*: the chunk, and the
 * other block of the pair.  A Pair knows its States by *row*: those of block x, then, unless y is
 * the same, those of block y.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdint.h>

#include "common/gemm.h"
#include "common/numbers.h"
#include "options.h"

struct outcome {
    double away;       /* the largest element of |S - 1|                */
    double asymmetric; /* and of |S - S^T|, of the largest in each step */
};

struct task {
    int     way, backward, check; /* check: one step forward, to look at S */
    int64_t steps;
};

struct State {
    double       *at;   /* our numbers                                         */
    double       *part; /* by block and point: results of Pairs, by channels   */
    skua_channel *in;   /* by slot: to these                                   */
    skua_channel *to;   /* and to Pairs                                        */
    skua_sender **out;  /* by chunk: to all Pairs that have it                 */
    int64_t       come; /* results                                             */
    int64_t       turn; /* steps since the beginning                           */
    double        shown;
};

struct Pair {
    int           w, x, y, z;
    int64_t       count[2];    /* states of x, and of y unless it is the same: else 0 */
    int64_t       numbers;     /* in a row                                            */
    double       *at, *result; /* rows                                                */
    skua_channel *in;
    skua_sender **out;
    int           come; /* rows, by channels */
    int64_t       turn;
};

struct Ortho {
    int64_t first, count;   /* our rows                                      */
    double *s;              /* of S                                          */
    double *mine, *product; /* of Y, then those of Z; of a product           */
    double *y, *z;          /* all of Y and Z                                */
    double  change;         /* of Z, by the last round                       */
    double  scale;          /* c                                             */
    double  asymmetric;
    bool    done;
    int64_t turn, round; /* of steps and of iterations, since the beginning  */
    int64_t rounds;      /* in this step                                     */
};

/* pairs.c: what all have in common. */

/** States in a block. */
int64_t states_in(int64_t block);

/** Where a chunk begins in the numbers of a State, and how many it has. */
int64_t chunk_begin(int64_t z);
int64_t chunk_numbers(int64_t z);

/** Of each State; and tiles of S that an Ortho gets. */
int64_t slots(void);
int64_t tiles(void);

/** A message with a copy of numbers; NULL: to be filled in. */
Numbers *numbers_of(int64_t turn, int64_t from, const double *at, int64_t count);

/** Memory for numbers that channels lead to. */
double *take(int64_t numbers);

skua_layout layout_of(const double *at, int64_t numbers);

/** The job ends unless a channel could be had. */
void must(bool good);

/** So many numbers as one. */
uint64_t bits_of(const double *at, int64_t count);

/* Main */
void    insert_pairs(void);
int64_t pairs_in_all(void);
void    start(struct task task);
void    report(const Main *main);

/* state.c */
void create_result_channels(State *state);
void open_pairs(State *state);
void go_on(State *state);
void give_rows(State *state, int way);
void add_result(State *state, int64_t slot, const double *from);
void add_results(State *state);
void end_step(State *state, int64_t step, int64_t steps);
void contribute_bits(State *state);

/* pair.c */
int  rows_in(const Pair *pair);
void create_row_channels(Pair *pair);
void open_state(Pair *pair, int row, skua_channel channel);
void take_row(Pair *pair, const Numbers *row);
void multiply_forward(Pair *pair, struct task task);
void multiply_backward(Pair *pair, struct task task, const double *factor);

/* ortho.c */
void add_tile(Ortho *ortho, int64_t place, const double *tile);
void begin_iteration(Ortho *ortho);
void tell_rows(Ortho *ortho);
void take_rows(Ortho *ortho, const Numbers *rows);
void improve(Ortho *ortho, struct task task);
void send_factors(Ortho *ortho);
void contribute_outcome(Ortho *ortho);

#endif
