/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - States, Pairs and Orthos of pairs.ci.
 *
 * State s is in block s / grain, and knows the Pairs of its block by *slot*: the other block of
 * the pair, and the chunk.  A Pair knows its States by *row*: those of block x, then, unless y is
 * the same, those of block y.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include <stdint.h>

#include "common/gemm.h"
#include "options.h"

struct outcome {
    double away;       /* the largest element of |S - 1|                */
    double asymmetric; /* and of |S - S^T|, of the largest in each step */
    double bits;       /* a sum over all bits of S                      */
};

struct task {
    int     way, backward, check; /* check: one step forward, to look at S */
    int64_t steps;
};

struct State {
    double       *at;   /* our numbers                              */
    double      **part; /* by slot: results of Pairs, by channels   */
    skua_channel *in;
    skua_sender **out;
    int64_t       come; /* of these                                 */
    int64_t       turn; /* steps since the beginning                */
    double        shown;
};

struct Pair {
    int           w, x, y, z;
    int64_t       count[2];    /* states of x, and of y unless it is the same: else 0 */
    int64_t       numbers;     /* in a row                                            */
    double       *at, *result; /* rows                                             */
    skua_channel *in;
    skua_sender **out;
    int           come; /* rows, by channels */
    int64_t       turn;
};

struct Ortho {
    int64_t first, count;   /* our rows                                              */
    double *s;              /* of S                                                  */
    double *mine, *product; /* of Y, then those of Z; of a product                   */
    double *y, *z;          /* all of Y and Z                                        */
    double  scale;          /* c                                                     */
    double  told;           /* at first the norm of S, then |Y Z - 1| before the last
                               round: in our rows, ...                               */
    double  told_all;       /* ... and in all                                        */
    double  asymmetric;
    bool    done;
    int64_t turn, round; /* of steps and of iterations, since the beginning          */
    int64_t rounds;      /* in this step                                             */
};

/* Main */
void    insert_pairs(void);
int64_t pairs_in_all(void);
void    start(Main *main, int way);
void    start_check(int way);
void    stop(Main *main, int way, double bits);
void    judge(Main *main, int way, struct outcome outcome);
void    report(const Main *main);

/* State */
void create_result_channels(State *state);
void open_pair(State *state, int slot, skua_channel channel);
void go_on(State *state);
void give_rows(State *state, int way);
void add_result(State *state, int64_t slot, const double *from);
void add_results(State *state);
void end_step(State *state, int64_t step, int64_t steps);
void contribute_bits(State *state);

/* Pair */
int  rows_in(const Pair *pair);
void create_row_channels(Pair *pair);
void open_state(Pair *pair, int row, skua_channel channel);
void take_row(Pair *pair, const Row *row);
void multiply_forward(Pair *pair, struct task task);
void multiply_backward(Pair *pair, struct task task, const double *factor);

/* Ortho */
void add_tile(Ortho *ortho, int64_t place, const double *tile);
void begin_iteration(Ortho *ortho);
void tell_rows(Ortho *ortho);
void take_rows(Ortho *ortho, const Rows *rows);
void improve(Ortho *ortho);
void send_factors(Ortho *ortho);
void contribute_outcome(Ortho *ortho);

#endif
