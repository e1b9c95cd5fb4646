/* SPDX-License-Identifier: Apache-2.0 */
/*
 * band_fft.h - the computation of one chare in a Fourier transform of N x N numbers, whose matrix
 * is distributed in bands (transpose.h).
 *
 * A transform goes through the blocks in strips that fit into the cache.  A strip is copied into
 * contiguous rows, transformed there, and written back in place.  So a block returns in the same
 * memory to the chare that sent it, and is read and written once in each step.  That works because
 * strips are columns in one step and rows in the next:
 *
 *   pack      block for chare d, row i, column j = our row i, column j of the columns of d
 *   columns   column j of all blocks is a row of N numbers of the transposed matrix; it is
 *             transformed, multiplied by twiddle factors, and written back as a column
 *   rows      that column is a row here; it is transformed and written back as a row
 *   unpack    column j of all blocks is our row j of the result
 */
#ifndef BAND_FFT_H
#define BAND_FFT_H

#include <stdbool.h>
#include <stdint.h>

#include "transpose.h"

/** The part of one chare. */
struct band_fft {
    struct transpose_shape shape;
    int64_t                first; /* the first of our R rows                       */
    number                *row;   /* R x N: input and result                       */
    number                *strip; /* T rows with gaps                              */
    number               **block; /* by chare: received from it, or to be sent     */
};

enum { FORWARD = -1, BACKWARD = 1 }; /* the sign of the exponent */

/** Allocates the part of chare @p index, without its blocks.  Returns false if there is not enough
 *  memory.  The first call in a process also makes the plans of FFTW, which measures them if
 *  @p measure is true. */
bool band_create(struct band_fft *band, const struct transpose_shape *shape, int64_t index,
                 bool measure);
/** Frees a part. */
void band_destroy(struct band_fft *band);

/* The four steps in their order (see above).  Between two steps the chares exchange their blocks.
 */
void band_pack(struct band_fft *band);
void band_columns(struct band_fft *band, int sign);
void band_rows(struct band_fft *band, int sign);
void band_unpack(struct band_fft *band);

#endif
