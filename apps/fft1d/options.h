/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of fft1d. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

struct fft1d_options {
    int64_t log2;                        /* base-2 logarithm of the number of values, or 0 */
    int64_t side;                        /* N: N * N numbers are transformed                   */
    int64_t chares;                      /* number of chares                                   */
    int64_t per_pe;                      /* lower bound where the number of chares is chosen   */
    int64_t tile;                        /* largest number of rows of a tile; 0: chosen        */
    int64_t repeat;                      /* number of transforms; the fastest counts           */
    double  seconds;                     /* transforms repeat until they have taken this time  */
    bool    estimate;                    /* FFTW plans without measuring                       */
    bool    mesh;                        /* blocks pass through a stream                       */
    bool    no_verify;                   /* do not transform back and compare                  */
    bool    check, no_check;             /* compare with FFTW on one PE                        */
    char    series[ARGUMENT_WORD_BYTES]; /* name of a line of JSON for `skua bench`, or ""     */
};

/** Parses the command line.  Prints the help or an error, ends the job and returns false if the
 *  program must not run. */
bool options_read(struct fft1d_options *options, int argc, char **argv);

#endif
