/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of fft1d. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arguments.h"

struct options {
    int64_t side;                        /* N; n = N * N numbers are transformed                */
    int64_t chares;                      /* in all                                              */
    int64_t per_pe;                      /* at least, where their number is chosen              */
    int64_t tile;                        /* rows of a tile at most; 0: as many as is best       */
    int64_t repeat;                      /* so many transforms, of which the fastest counts ... */
    double  seconds;                     /* ... and more of them until this is over             */
    bool    estimate;                    /* FFTW plans without trying                           */
    bool    verify;                      /* transform back and look                             */
    bool    check;                       /* compare with FFTW in one piece                      */
    char    series[ARGUMENT_WORD_BYTES]; /* print a line for `skua bench`, too                  */
};

/** Read them; if something is wrong, or help is wanted, say it and end the job.  True: go on. */
bool options_read(struct options *options, int argc, char **argv);

#endif
