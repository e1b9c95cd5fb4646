/* SPDX-License-Identifier: Apache-2.0 */
/* fft1d.h - the functions of fft1d.c that fft1d.ci calls. */
#ifndef FFT1D_H
#define FFT1D_H

#include <math.h>

#include "common/band_fft.h"
#include "common/fft_check.h"
#include "options.h"

#define PIECE 14 /* numbers of a piece, which makes a piece 248 bytes long */

/** A piece of a block, which passes through the mesh. */
struct fft_piece {
    int64_t phase;
    int64_t first; /* index of its first number in the block */
    int32_t from;  /* the element whose block it is part of */
    int32_t count; /* number of numbers in use */
    number  at[PIECE];
};

struct Band {
    struct band_fft band;
    Block         **held;       /* by element: the messages of band.block; NULL with --mesh */
    number         *set[2];     /* with --mesh: blocks of even and of odd phases            */
    int64_t         arrived[2]; /* numbers that have arrived for each */
    int64_t         phase;      /* counts through all transforms, three each                */
};

/** Sends each element its block. */
void send_blocks(Band *self);

/** Stores a block of this phase that has arrived. */
void receive_block(Band *self, Block *block);

/** Sends each element its block in pieces, through the mesh. */
void send_pieces(Band *self);

/** Makes the set of blocks that arrived in the last phase the current one. */
void use_set(Band *self);

/** Begins a transform. */
void start(Main *self, int sign, const char *what);

/** Records the time of a transform that has ended. */
void stop(Main *self);

/** Prints the rate. */
void report(const Main *self);

/** Computes the transform by FFTW on this PE. */
void make_reference(void);

/** Returns the distance of rows from the reference, and adds their numbers to the checksum. */
double compare_rows(Main *self, const Rows *rows);

/** Frees the reference. */
void free_reference(void);

/** Prints whether a distance is small enough. */
void check_result(Main *self, const char *what, double distance);

/** Prints the result, and ends the job. */
void report_result(const Main *self);

#endif
