/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the loops of a panel that no library does well, for the vectors of this CPU.
 *
 * A library copies the operands of a matrix product into an order that its kernel reads fast, which
 * takes longer than the product if that has few columns.  kernels.c copies nothing: it computes
 * tiles of the result in vector registers.  It is compiled once for registers of 16 bytes and on
 * x86-64 also for AVX2 and AVX-512; the best set that the CPU can execute is chosen when the
 * program runs.
 */
#ifndef LU_KERNELS_H
#define LU_KERNELS_H

#include <stdint.h>

#define KERNEL_STRIP       8   /* numbers in a row of a strip */
#define KERNEL_COLUMNS_MAX 64  /* columns of a product that `update` computes fast */
#define KERNEL_ROWS_MAX    256 /* rows that `solve` solves for */

/** A set of kernels. */
struct lu_kernels {
    const char *name;
    int         vector; /* bytes of a register */
    /** Eliminates column @p at of @p rows rows of a strip, with the row of the pivot.  Returns the
     *  row with the largest number in the next column of the strip, or -1 if there is none. */
    int64_t (*subtract)(double *strip, int64_t rows, const double *pivot, int at);
    /** c = c - a b, where a has m x k and b k x n numbers, stored by rows; `la` is the distance
     *  between rows of a.  NULL: a library is faster than these vectors. */
    void (*update)(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                   int64_t lb, double *c, int64_t lc);
    /** Solves L x = b in place, for b with n x width numbers and n up to KERNEL_ROWS_MAX; L is
     * lower triangular with ones on the diagonal, which are not stored.  NULL as for `update`. */
    void (*solve)(int64_t n, int64_t width, const double *l, int64_t ll, double *b, int64_t lb);
};

/** Returns the sets of kernels that this CPU can execute, best first; NULL ends them. */
const struct lu_kernels *const *kernels_usable(void);

#endif
