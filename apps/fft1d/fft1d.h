/* SPDX-License-Identifier: Apache-2.0 */
/* fft1d.h - what fft1d.ci calls of fft1d.c. */
#ifndef FFT1D_H
#define FFT1D_H

#include <math.h>

#include "check.h"
#include "options.h"
#include "transform.h"

struct Band {
    struct part part;
    Block     **held;  /* by element: what part.block points into         */
    int64_t     phase; /* counted through all transforms, three each      */
};

/** To each element its block. */
void send_blocks(Band *self);

/** A block of this phase has come. */
void keep_block(Band *self, Block *block);

/** A transform begins, and has ended. */
void start(Main *self, int sign, const char *what);
void stop(Main *self);

void report(const Main *self);

/** FFTW in one piece; and the distance of rows from that. */
void   make_reference(void);
double compare_rows(const Rows *rows);
void   forget_reference(void);

/** Say whether a distance is small enough. */
void judge(Main *self, const char *what, double distance);

#endif
