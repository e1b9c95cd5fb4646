/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>

#define LOG2_MOST  40
#define SIDE_MOST  (INT64_C(1) << LOG2_MOST / 2)
#define CHECK_MOST (INT64_C(1) << 22) /* numbers that are compared without being asked to */

/* What is not what it looks like in struct options. */
struct told {
    int64_t log2;
    bool    check, no_check, no_verify;
};

static bool read_line(struct options *o, struct told *told, int argc, char **argv)
{
    const struct argument list[] = {
        {"log2", ARGUMENT_NUMBER, &told->log2, 2, LOG2_MOST, "M",
         "2^M numbers, M even (default: 20)"},
        {"side", ARGUMENT_NUMBER, &o->side, 2, SIDE_MOST, "N", "N * N numbers, for any N"},
        {"per-pe", ARGUMENT_NUMBER, &o->per_pe, 1, SIDE_MOST, "K",
         "at least K chares on each PE (default: 1); their number is the least\n"
         "that divides N and is so large"},
        {"chares", ARGUMENT_NUMBER, &o->chares, 1, SIDE_MOST, "C",
         "C chares in all; C must divide N"},
        {"repeat", ARGUMENT_NUMBER, &o->repeat, 1, 1000000, "R",
         "R transforms, of which the fastest counts (default: 5)"},
        {"seconds", ARGUMENT_REAL, &o->seconds, 0, 1000000, "S",
         "go on with them until S seconds are over (default: 0)"},
        {"estimate", ARGUMENT_FLAG, &o->estimate, 0, 0, NULL,
         "let FFTW choose its ways without trying them"},
        {"check", ARGUMENT_FLAG, &told->check, 0, 0, NULL,
         "compare with FFTW in one piece, on PE 0; without being asked to up to\n2^22 numbers"},
        {"no-check", ARGUMENT_FLAG, &told->no_check, 0, 0, NULL, "do not"},
        {"no-verify", ARGUMENT_FLAG, &told->no_verify, 0, 0, NULL,
         "do not transform back to see whether that gives the same numbers"},
        {"tile", ARGUMENT_NUMBER, &o->tile, 1, 8, "T",
         "rows of a tile, at most 8: for experiments"},
        {"series", ARGUMENT_WORD, o->series, 0, 0, "NAME", "print the rate as a line of JSON, too"},
        {0},
    };
    const struct arguments arguments = {
        "fft1d",
        "The FFT of HPC Challenge: the discrete Fourier transform of one long row of complex\n"
        "numbers that lies across all PEs, seen as a matrix of N x N.",
        list};

    return arguments_read(&arguments, argc, argv);
}

static bool refuse(const char *format, int64_t a, int64_t b)
{
    fprintf(stderr, "fft1d: ");
    fprintf(stderr, format, (long long)a, (long long)b);
    fprintf(stderr, "\n");
    skua_exit(2);
    return false;
}

/* As many chares as were asked for on each PE, or a few more. */
static int64_t choose_chares(const struct options *o)
{
    int64_t wanted = o->per_pe * skua_pes(), chares = wanted < o->side ? wanted : o->side;

    while (o->side % chares != 0)
        chares++;
    return chares;
}

bool options_read(struct options *o, int argc, char **argv)
{
    struct told told = {0};

    *o = (struct options){.side = 1 << 10, .per_pe = 1, .repeat = 5};
    if (!read_line(o, &told, argc, argv))
        return false;
    if (told.log2 % 2)
        return refuse("--log2=%lld: not understood; it must be even", told.log2, 0);
    if (told.log2)
        o->side = INT64_C(1) << told.log2 / 2;
    if (o->chares == 0)
        o->chares = choose_chares(o);
    if (o->side % o->chares != 0)
        return refuse("%lld chares cannot share %lld rows equally", o->chares, o->side);
    o->check  = !told.no_check && (told.check || o->side * o->side <= CHECK_MOST);
    o->verify = !told.no_verify;
    return true;
}
