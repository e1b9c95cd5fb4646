/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#define LOG2_MAX  40
#define SIDE_MAX  (INT64_C(1) << LOG2_MAX / 2)
#define CHECK_MAX (INT64_C(1) << 22) /* largest number of values that are compared by default */

/* Returns the smallest number of chares that divides N and gives each PE as many as requested. */
static int64_t choose_chares(const struct fft1d_options *o)
{
    int64_t wanted = o->per_pe * skua_pes(), chares = wanted < o->side ? wanted : o->side;

    while (o->side % chares != 0)
        chares++;
    return chares;
}

static bool options_complete(struct fft1d_options *o)
{
    if (o->log2 % 2)
        return arguments_refuse("fft1d", "--log2=%lld: expected an even number",
                                (long long)o->log2);
    if (o->log2)
        o->side = INT64_C(1) << o->log2 / 2;
    if (o->chares == 0)
        o->chares = choose_chares(o);
    if (o->side % o->chares != 0)
        return arguments_refuse("fft1d",
                                "--chares=%lld: expected a divisor of the number of rows, %lld",
                                (long long)o->chares, (long long)o->side);
    o->check = !o->no_check && (o->check || o->side * o->side <= CHECK_MAX);
    return true;
}

bool options_read(struct fft1d_options *o, int argc, char **argv)
{
    const struct argument list[] = {
        {"log2", ARGUMENT_NUMBER, &o->log2, 2, LOG2_MAX, "M", "2^M numbers, M even (default: 20)"},
        {"side", ARGUMENT_NUMBER, &o->side, 2, SIDE_MAX, "N", "N * N numbers, for any N"},
        {"per-pe", ARGUMENT_NUMBER, &o->per_pe, 1, SIDE_MAX, "K",
         "at least K chares per PE (default: 1); the smallest such number\n"
         "that divides N is used"},
        {"chares", ARGUMENT_NUMBER, &o->chares, 1, SIDE_MAX, "C",
         "the number of chares; C must divide N"},
        ARGUMENT_REPEAT(&o->repeat, "number of transforms; the fastest counts (default: 5)"),
        {"seconds", ARGUMENT_REAL, &o->seconds, 0, 1000000, "S",
         "repeat until the transforms have taken S seconds (default: 0)"},
        {"estimate", ARGUMENT_FLAG, &o->estimate, 0, 0, NULL, "let FFTW plan without measuring"},
        {"mesh", ARGUMENT_FLAG, &o->mesh, 0, 0, NULL,
         "send blocks in pieces through the mesh of a stream, for very many PEs"},
        {"check", ARGUMENT_FLAG, &o->check, 0, 0, NULL,
         "compare with FFTW on PE 0 (default up to 2^22 numbers)"},
        {"no-check", ARGUMENT_FLAG, &o->no_check, 0, 0, NULL, "do not compare with FFTW"},
        {"no-verify", ARGUMENT_FLAG, &o->no_verify, 0, 0, NULL,
         "do not transform back and compare with the input"},
        {"tile", ARGUMENT_NUMBER, &o->tile, 1, 8, "T",
         "rows of a tile, at most 8 (for experiments)"},
        ARGUMENT_SERIES(o->series),
        {0},
    };
    const struct arguments arguments = {
        "fft1d",
        "The FFT of HPC Challenge: a one-dimensional discrete Fourier transform of complex\n"
        "numbers that are distributed over all PEs as a matrix of N x N.",
        list};

    *o = (struct fft1d_options){.side = 1 << 10, .per_pe = 1, .repeat = 5};
    return arguments_read(&arguments, argc, argv) && options_complete(o);
}
