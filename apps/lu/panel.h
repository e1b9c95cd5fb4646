/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panel.h - the part of one PE in the factorisation of a panel: of a block column, from the
 * diagonal down, with partial pivoting.
 *
 * A PE has some rows of the panel, stored by rows.  For each column
 *
 *   1  each PE offers its row with the largest number in that column (panel_offer());
 *   2  a reduction over the PEs finds the pivot row (panel_choose()).  All of them get this row and
 *      the row on the diagonal, which takes its place;
 *   3  each PE eliminates the column in its rows (panel_eliminate()).
 *
 * Only columns of the current strip, which is PANEL_STRIP wide and kept in a buffer of its own so
 * that it stays in the cache, are eliminated one by one.  Updates of later columns are delayed:
 * when a number e of columns is complete, the next w of them are updated by the last w at once,
 * where w is the largest power of two times the strip that divides e.  This is the recursive
 * algorithm without recursion: most of its work is in large matrix products.
 *
 * All PEs keep a copy of the pivot rows and compute the delayed updates of these themselves.
 */
#ifndef LU_PANEL_H
#define LU_PANEL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels.h"

#define PANEL_STRIP KERNEL_STRIP

/** The parts of an offer, an array of doubles: the number that may become the pivot, its row in the
 *  matrix, whether there is a diagonal row, then the row of the number and the diagonal row. */
enum { PANEL_VALUE, PANEL_ROW, PANEL_HAS_DIAGONAL, PANEL_ROWS };

struct panel {
    int      width;    /* number of columns                                                 */
    int64_t  first;    /* the first row of the panel, as a row of the matrix                */
    int64_t  count;    /* number of rows of this PE                                         */
    double  *row;      /* the rows of this PE, one after the other                          */
    int64_t  pitch;    /* distance between two rows, in numbers                             */
    int64_t *number;   /* row of the matrix of each row of this PE                          */
    bool     diagonal; /* the first `width` rows of this PE are the first rows of the panel */
    int      column;   /* the column that is being eliminated                               */
    int      begin;    /* the first column of the strip                                     */
    int64_t  active;   /* rows of this PE before this one are pivot rows already            */
    int64_t  best;     /* the row of this PE with the largest number in `column`, or -1     */
    double  *strip;    /* the current PANEL_STRIP columns                                   */
    double  *top;      /* the pivot rows, width x width                                     */
    double  *offer;    /* memory of the result of panel_offer()                             */
    int64_t *pivot;    /* row of the matrix that became each row of `top`                   */

    const struct lu_kernels *kernels; /* the best ones of this CPU */
};

/** Returns the number of doubles in an offer. */
static inline int panel_offer_count(int width)
{
    return PANEL_ROWS + 2 * width;
}

/** Allocates the buffers for panels of up to @p rows rows on this PE.  Returns false if there is no
 *  memory. */
bool panel_create(struct panel *panel, int width, int64_t rows);

/** Frees the buffers. */
void panel_destroy(struct panel *panel);

/** Begins a panel; the caller has set `first`, `count`, `row`, `pitch`, `number` and
 *  `diagonal`. */
void panel_begin(struct panel *panel);

/** Returns the offer of this PE for the pivot of the current column; the next call reuses its
 *  memory. */
const double *panel_offer(struct panel *panel);

/** Combines two offers: @p into receives the better one, or the one with the smaller row if they
 *  are equal. */
void panel_choose(double *into, const double *from, int width);

/** Eliminates the current column with the best offer of all PEs and advances to the next.  Returns
 *  false, and changes nothing, if the pivot is zero: the matrix is singular. */
bool panel_eliminate(struct panel *panel, const double *offer);

/** Solves L x = b in place, for b with n x width numbers, where the panel's L is lower triangular
 * with ones on the diagonal, which are not stored: @p ll and @p lb are the distances between rows.
 * Groups of rows are solved by a kernel of this CPU, and what they leave to later rows by products.
 */
void panel_solve_lower(int64_t n, int64_t width, const double *l, int64_t ll, double *b,
                       int64_t lb);

/** Ends a panel: writes the pivot rows to the block on the diagonal if this PE has it. */
void panel_end(struct panel *panel);

#endif
