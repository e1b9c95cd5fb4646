/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - see options.h. */
#include "options.h"

#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG2_MOST  40
#define SIDE_MOST  (INT64_C(1) << LOG2_MOST / 2)
#define CHECK_MOST (INT64_C(1) << 22) /* numbers that are compared without being asked to */

static const char help[] =
    "usage: skuarun -n PES fft1d [options]\n"
    "\n"
    "The FFT of HPC Challenge: the discrete Fourier transform of one long row of complex\n"
    "numbers that lies across all PEs, seen as a matrix of N x N.\n"
    "\n"
    "  --log2=M          2^M numbers, M even (default: 20)\n"
    "  --side=N          N * N numbers, for any N\n"
    "  --per-pe=K        at least K chares on each PE (default: 1); their number is the least\n"
    "                    that divides N and is so large\n"
    "  --chares=C        C chares in all; C must divide N\n"
    "  --repeat=R        R transforms, of which the fastest counts (default: 5)\n"
    "  --seconds=S       go on with them until S seconds are over (default: 0)\n"
    "  --estimate        let FFTW choose its ways without trying them\n"
    "  --check           compare with FFTW in one piece, on PE 0; without being asked to up to\n"
    "                    2^22 numbers\n"
    "  --no-check        do not\n"
    "  --no-verify       do not transform back to see whether that gives the same numbers\n"
    "  --tile=T          rows of a tile, at most 8: for experiments\n"
    "  --series=NAME     print the rate as a line of JSON, too\n"
    "  --help            this text\n";

/* Says it and ends the job. */
static bool stop(int code, const char *format, const char *what)
{
    fprintf(code ? stderr : stdout, format, what);
    skua_exit(code);
    return false;
}

static bool read_number(int64_t *number, const char *text, int64_t least, int64_t most)
{
    char *end;

    *number = strtoll(text, &end, 10);
    return *text && !*end && *number >= least && *number <= most;
}

static bool read_log2(struct options *options, const char *text)
{
    int64_t log2;

    if (!read_number(&log2, text, 2, LOG2_MOST) || log2 % 2 != 0)
        return false;
    options->side = INT64_C(1) << log2 / 2;
    return true;
}

static bool read_seconds(struct options *options, const char *text)
{
    char *end;

    options->seconds = strtod(text, &end);
    return *text && !*end && options->seconds >= 0;
}

static bool read_repeat(struct options *options, const char *text)
{
    int64_t repeat;

    if (!read_number(&repeat, text, 1, 1000000))
        return false;
    options->repeat = (int)repeat;
    return true;
}

/* The value of "--name=value", or NULL. */
static const char *value(const char *argument, const char *name)
{
    size_t length = strlen(name);

    return strncmp(argument, name, length) == 0 && argument[length] == '=' ? argument + length + 1
                                                                           : NULL;
}

static bool read_flag(struct options *options, const char *argument)
{
    if (strcmp(argument, "--estimate") == 0)
        options->estimate = true;
    else if (strcmp(argument, "--check") == 0)
        options->check = 1;
    else if (strcmp(argument, "--no-check") == 0)
        options->check = 0;
    else if (strcmp(argument, "--no-verify") == 0)
        options->verify = false;
    else
        return false;
    return true;
}

static bool read_one(struct options *options, const char *argument)
{
    const char *text;

    if ((text = value(argument, "--log2")))
        return read_log2(options, text);
    if ((text = value(argument, "--side")))
        return read_number(&options->side, text, 2, SIDE_MOST);
    if ((text = value(argument, "--chares")))
        return read_number(&options->chares, text, 1, SIDE_MOST);
    if ((text = value(argument, "--per-pe")))
        return read_number(&options->per_pe, text, 1, SIDE_MOST);
    if ((text = value(argument, "--tile")))
        return read_number(&options->tile, text, 1, 8);
    if ((text = value(argument, "--repeat")))
        return read_repeat(options, text);
    if ((text = value(argument, "--seconds")))
        return read_seconds(options, text);
    if ((text = value(argument, "--series")))
        return snprintf(options->series, sizeof options->series, "%s", text) > 0;
    return read_flag(options, argument);
}

/* What was not said. */
static void complete(struct options *options)
{
    int64_t wanted = options->per_pe * skua_pes();

    if (options->check < 0)
        options->check = options->side * options->side <= CHECK_MOST;
    if (options->chares > 0)
        return;
    options->chares = wanted < options->side ? wanted : options->side;
    while (options->side % options->chares != 0)
        options->chares++;
}

bool options_read(struct options *options, int argc, char **argv)
{
    char text[96];

    *options =
        (struct options){.side = 1 << 10, .per_pe = 1, .repeat = 5, .verify = true, .check = -1};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            return stop(0, "%s", help);
        if (!read_one(options, argv[i]))
            return stop(2, "fft1d: %s: not understood (fft1d --help)\n", argv[i]);
    }
    complete(options);
    if (options->side % options->chares == 0)
        return true;
    snprintf(text, sizeof text, "%lld chares cannot share %lld rows equally",
             (long long)options->chares, (long long)options->side);
    return stop(2, "fft1d: %s\n", text);
}
