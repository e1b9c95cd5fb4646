/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transform.h - the computation of one chare in a transform.
 *
 * The N x N matrix is distributed over C chares with R = N / C rows each.  The data of chare a for
 * chare b is a *block* of R x R numbers; each chare has C blocks.  A block consists of *tiles* of
 * T x T numbers, where T divides R: the tiles of a row of tiles are contiguous, and the rows of
 * tiles follow each other, with a gap where they would otherwise compete for the same cache sets.
 *
 * A transform goes through the blocks in strips that fit into the cache: T rows or T columns of
 * numbers of all blocks.  A strip is copied into contiguous rows, transformed there, and written
 * back in place.  So a block returns in the same memory to the chare that sent it, and is read and
 * written once in each step.  That works because strips are columns in one step and rows in the
 * next:
 *
 *   pack      block for chare d, row i, column j = our row i, column j of the columns of d
 *   columns   column j of all blocks is a row of N numbers of the transposed matrix; it is
 *             transformed, multiplied by twiddle factors, and written back as a column
 *   rows      that column is a row here; it is transformed and written back as a row
 *   unpack    column j of all blocks is our row j of the result
 */
#ifndef TRANSFORM_H
#define TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roots.h"

/** The division of the matrix, equal on all chares. */
struct fft_shape {
    int64_t side;    /* N                                       */
    int64_t chares;  /* C, which divides N                      */
    int64_t rows;    /* R = N / C                               */
    int64_t tile;    /* T, which divides R                      */
    int64_t step;    /* numbers from a row of tiles to the next */
    bool    measure; /* let FFTW measure its plans              */
};

/** The data of one chare. */
struct fft_part {
    struct fft_shape shape;
    int64_t          first; /* index of the first of its R rows                                */
    number          *row;   /* R x N: input and result                                         */
    number          *strip; /* buffer of T rows with gaps                                      */
    number         **block; /* for each chare: the block received from it, or to be sent to it */
};

enum { FORWARD = -1, BACKWARD = 1 }; /* the sign of the exponent */

/** Divides a matrix.  Tiles have at most @p tile rows; 0: the default. */
struct fft_shape shape_of(int64_t side, int64_t chares, int64_t tile, bool measure);

/** Returns the number of elements of a block, with gaps. */
int64_t shape_block(const struct fft_shape *shape);

/** Allocates the part of chare @p index, without its blocks.  Returns false if there is not enough
 *  memory.  The first call in a process also makes the plans of FFTW. */
bool part_create(struct fft_part *part, const struct fft_shape *shape, int64_t index);
/** Frees a part. */
void part_destroy(struct fft_part *part);

/* The functions that follow are the four steps in order (see above).  Between two steps the chares
 * exchange their blocks. */
void part_pack(struct fft_part *part);
void part_columns(struct fft_part *part, int sign);
void part_rows(struct fft_part *part, int sign);
void part_unpack(struct fft_part *part);

#endif
