/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lu.h - the objects of lu.ci.
 *
 * Block (i, j) has `block` x `block` numbers, stored by rows; those of the last column, the
 * right-hand side, have one column.  Matrices that the blocks do not divide are padded: with ones
 * on the diagonal, else zeros.  The blocks of a PE in one column are adjacent in memory, and some
 * columns whose blocks lie in the same block rows lie side by side, in a *group*: so one matrix
 * product can update several blocks, which is faster than one for each.  The first SLOTS columns of
 * a PE lie alone.
 */
#ifndef LU_H
#define LU_H

#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"
#include "options.h"
#include "panel.h"

struct Block {
    int64_t i, j;
    int64_t step;  /* the step that the block waits for or takes part in */
    int     place; /* index among the blocks of its column on this PE */
    double *at;    /* the numbers of the block */
    int64_t pitch; /* distance between two rows, in numbers */
    double *old;   /* during an exchange: the previous rows of the top block */
    int     met;   /* if all rows are here: number of blocks that are ready to exchange them */
    double *sum;   /* of a diagonal block: right-hand side minus products so far */
};

/* Number of panels of a PE that other PEs may need at the same time. */
#define SLOTS 2

/* The blocks of a column on this PE. */
struct lu_column {
    int      count;
    int      waiting; /* number of blocks that wait for the Scheduler */
    int      joined;  /* number of blocks that have reached the panel */
    int64_t *row;     /* block rows of the blocks, ascending */
    int64_t *ready;   /* the step that each block waits for, or -1 */
};

/* The rows that the pivots of a step move between block row `step`, which is the *top*, and
 * others. */
struct lu_exchange {
    int      count;   /* number of rows outside the top */
    int64_t *outside; /* these rows, ascending */
    /* The row of the top that moves to each, and the row that each becomes. */
    int *from_top, *to_top;
    int *within; /* the row of the top that becomes each of its rows; -1: from outside */
    /* Index of the first outside row of each block row; the last is `count`. */
    int *first;
};

/* A block of L or U that this PE reads: its own, one of its host, or a copy. */
struct lu_view {
    const double *at;    /* address; NULL: not on this PE */
    int64_t       pitch; /* distance between two rows, in numbers */
};

/* A step on this PE. */
struct lu_step {
    int                parts;     /* number of PEs that have blocks of the panel           */
    int                announced; /* number of these PEs that have completed it            */
    int64_t            left;      /* number of blocks of this PE that must still take part */
    bool               here;      /* L is complete on this PE                              */
    int                missing;   /* number of gets in flight                              */
    double            *memory;    /* memory for copies of blocks of L                      */
    size_t             bytes;
    struct lu_view    *lower; /* L(i, step), by block row                        */
    struct lu_exchange exchange;
};

/* Block (k, j) of U on this PE. */
struct lu_upper {
    bool           announced;
    bool           requested;
    int            left; /* number of blocks of this PE to be updated with it */
    skua_region    region;
    double        *memory; /* memory of the copy, if it is a copy */
    struct lu_view view;
};

/* Memory for the part of a panel of one PE. Panels are factored there and read from there, since
 * that is faster than in a group: rows follow each other without gaps. It is the memory below the
 * diagonal of one of the first columns of the PE, whose own panel comes first. */
struct lu_slot {
    double *at;
    int64_t rows;    /* number of rows that it has room for */
    int64_t step;    /* the step of the panel, if it is in use */
    int     readers; /* number of PEs that still need the panel; 0: the slot is free */
};

/* What a PE spends its time on, in seconds, and the operations of its products: of several columns,
 * and of columns alone. */
struct lu_times {
    double products, operations, alone, operations_alone;
    double solves;
    double panels, pivots; /* work on panels; waiting for pivots of panels that are shared */
    double rows;           /* exchange of rows */
};

struct Scheduler {
    int32_t *pe; /* PE of each block */
    /* Of each block: its offset in the memory of its PE and the distance between two rows, in
     * doubles. In a column that has been factored they are those of L. */
    size_t           *offset;
    int32_t          *pitch;
    int64_t          *last; /* for each block row: the last column with a block of this PE, or -1 */
    double           *data; /* memory of the blocks of this PE */
    skua_region       own, *region; /* regions of this memory and of that of other PEs */
    struct lu_column *column;
    struct lu_step   *step;
    struct lu_upper  *upper;
    size_t            used, used_upper, bound; /* bytes of copies: all, of U, limit        */
    int64_t           next_step;               /* the next step whose L is requested       */
    int64_t           next_panel;              /* the column of the next panel of this PE  */
    bool              posted;                  /* a message to `work` is in flight         */
    bool              shared;                  /* an active panel is shared with other PEs */
    struct panel      panel;
    int64_t           panel_step;
    struct lu_slot    slot[SLOTS], *panel_slot; /* the slot of the active panel, or NULL */
    double           *spare;   /* memory for rows; each begins with the address of the next */
    bool              stopped; /* the matrix is singular: no further work */
    skua_section     *section; /* section of each panel                   */
    double            shown;   /* time of the last progress output        */
    struct lu_times   times;
    double            offered; /* time of the last offer for a pivot      */
};

/* lu.c */

/** Returns the number of rows, including padding. */
int64_t padded_size(void);

/** Returns the index of a block in tables of all blocks. */
size_t block_number(int64_t i, int64_t j);

/** Returns the number of columns of a block of block column @p j. */
int64_t column_width(int64_t j);

/** Parses the options and creates the objects.  Returns false if the options are wrong. */
bool create_objects(int argc, char **argv);

/** Registers the map and the operator of the pivots, in each process. */
void lu_prepare(void);

/** Returns the operator of the reduction that finds a pivot. */
skua_op lu_pivot_op(void);

/* block.c */

/** Returns the number of steps that a block takes part in. */
int64_t block_steps(const Block *block);

/** Returns the number of messages with rows that a block waits for in its step. */
int rows_expected(const Block *block);

/** Sends the rows that the pivots of its step move out of a block. */
void send_rows(Block *block);

/** Stores rows that have arrived, or exchanges them with another block of this PE. */
void receive_rows(Block *block, const Rows *rows);

/** Ends the exchange of rows of a step. */
void end_exchange(Block *block);

/** Sends a part of the right-hand side to the diagonal block of its row. */
void send_right_side(Block *block);

/** Sends minus the product with a part of x to the diagonal block of the row. */
void send_product(Block *block, const double *x);

/** Solves the diagonal block's part of x and sends it to the blocks above. */
void solve_diagonal(Block *block);

/* exchange.c */

/** Computes which rows the pivots of a step move.  Returns false if there is no memory. */
bool exchange_create(struct lu_exchange *exchange, int64_t step, const int64_t *pivot);

/** Frees the memory of exchange_create(). */
void exchange_destroy(struct lu_exchange *exchange);

/* scheduler.c */

/** Returns the Scheduler of this PE. */
Scheduler *scheduler_here(void);

/** Tells the Scheduler that a block is ready for its step: for an update or, in the block row of
 *  the step, for a triangular solve. */
void scheduler_enqueue(Block *block);

/** Tells the Scheduler that a block has reached its panel.  The last one of this PE begins it. */
void scheduler_join_panel(Block *block);

/** Lets the Scheduler look for work when messages have been handled. */
void scheduler_post(Scheduler *scheduler);

/** Begins the panel of a step on this PE. */
void begin_panel(Scheduler *scheduler, int64_t step);

/** Contributes this PE's offer for the pivot of the current column. */
void offer_pivot(Scheduler *scheduler);

/** Eliminates the current column with the best offer, or reports that the matrix is singular. */
void use_pivot(Scheduler *scheduler, const double *offer);

/** Factors a panel of which this PE has all blocks. */
void factor_alone(Scheduler *scheduler);

/** Ends a panel and announces its part of L to all Schedulers. */
void end_panel(Scheduler *scheduler);

/* place.c */

/** Computes the positions of the blocks of all PEs. Returns the number of doubles that this PE has
 *  to allocate. */
size_t place_blocks(Scheduler *scheduler);

/* fetch.c */

/** Returns block (i, j) of this PE. */
struct lu_view fetch_own(const Scheduler *scheduler, int64_t i, int64_t j);

/** Records where the part of L of a PE begins, and the distance between its rows. */
void fetch_place(Scheduler *scheduler, int64_t step, int pe, size_t offset, int64_t pitch);

/** Tells the PEs of a panel that this PE does not need it any longer. */
void fetch_release_panel(Scheduler *scheduler, int64_t step);

/** Gets L of the next steps from other PEs, as far as memory allows. */
void fetch_lower(Scheduler *scheduler);

/** Gets block (step, j) of U if it is complete and memory allows.  Returns true if this PE can read
 *  it. */
bool fetch_upper(Scheduler *scheduler, int64_t step, int64_t j);

/** Counts a block of this PE that has done its part of a step, and frees the step's memory after
 * the last one. */
void fetch_release(Scheduler *scheduler, int64_t step);

/** Counts a block that has been updated with block (step, j) of U, and frees a copy of that after
 * the last one. */
void fetch_release_upper(Scheduler *scheduler, int64_t step, int64_t j);

/* check.c */

/** Returns a number of the matrix with its padding; column padded_size() is the right-hand side. */
double matrix_number(int64_t i, int64_t j);

/** Prints the result, checks the residual of @p sum, and ends the job. */
void report(Main *main, const double *sum);

#endif
