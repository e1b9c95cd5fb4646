/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.h - what one chare computes of a transform: everything but the messages.
 *
 * The N x N matrix lies across C chares, R = N / C rows each.  What chare a has for chare b
 * is a *block* of R x R numbers, and each chare has C of them.  A block consists of *tiles*
 * of T x T numbers, T a divisor of R: tile after tile along a row of tiles, and those rows
 * one after the other, with a gap where all would begin in the same sets of the caches.
 *
 * A transform goes through the blocks in strips that fit into the cache, T rows or T columns
 * of numbers of all blocks.  A strip is copied into contiguous rows, transformed there, and
 * written back to where it came from; so a block goes back to the chare that it came from,
 * in the same memory, which is read and written once in each step.  That works because
 * strips are columns in one step and rows in the next:
 *
 *   pack      block for d, row i, column j  = our row i, column j of d's
 *   columns   column j of all blocks is a row of the transposed matrix, of N numbers.
 *             Transformed and multiplied by roots of unity it goes back as a column
 *   rows      what was a column there is a row here: transformed, and back as a row
 *   unpack    column j of all blocks is our row j of the result
 */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roots.h"

/** How a matrix is cut; the same everywhere. */
struct shape {
    int64_t side;    /* N: n is its square                      */
    int64_t chares;  /* C, which divides N                      */
    int64_t rows;    /* R = N / C                               */
    int64_t tile;    /* T, which divides R                      */
    int64_t step;    /* numbers from a row of tiles to the next */
    bool    measure; /* let FFTW try what is fastest            */
};

/** What one chare has of it. */
struct part {
    struct shape shape;
    int64_t      first; /* our rows are this one and the next R - 1      */
    number      *row;   /* R x N, the numbers before and after           */
    number      *strip; /* T rows with gaps                              */
    number     **block; /* by chare: from it, or, before they go, for it */
};

enum { FORWARD = -1, BACKWARD = 1 }; /* the sign of the exponent */

/** Cut a matrix; tiles have at most @p tile rows, or, if that is 0, as many as is best. */
struct shape shape_of(int64_t side, int64_t chares, int64_t tile, bool measure);

/** Numbers in a block. */
int64_t shape_block(const struct shape *shape);

/** Allocate what chare @p index needs, but for the memory of the blocks; false: no memory.
 *  The first in a process plans, too. */
bool part_create(struct part *part, const struct shape *shape, int64_t index);
void part_destroy(struct part *part);

/* The steps.  In between, blocks go to the chares that they are for. */
void part_pack(struct part *part);
void part_columns(struct part *part, int sign);
void part_rows(struct part *part, int sign);
void part_unpack(struct part *part);

#endif
