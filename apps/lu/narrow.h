/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow.h - the product of a matrix of many rows and one that fits into the level-1 cache.
 *
 * A library copies its operands into an order that its kernel reads fast, which takes longer than
 * the product if that has few columns.  narrow_tiles.c copies nothing: it computes tiles of the
 * result in vector registers. narrow_dense.c calls dense_update(); it is for processors whose
 * widest vectors a compiler does not use unless it is told to.
 */
#ifndef LU_NARROW_H
#define LU_NARROW_H

#include <stdint.h>

/** c = c - a b, where a has m x k and b k x n numbers, stored by rows; `la` is the distance between
 *  rows of a. Any n and k are correct, up to NARROW_MOST of them are fast. */
void narrow_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                   int64_t lb, double *c, int64_t lc);

#define NARROW_MOST 64

#endif
