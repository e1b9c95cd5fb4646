/* SPDX-License-Identifier: Apache-2.0 */
/* fft1d.c - see fft1d.ci. */
#include "fft1d.ci.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fft_reference reference; /* on PE 0 */

/* ---- bands ----------------------------------------------------------------------------- */

static int64_t numbers_of(const Band *self)
{
    return self->part.shape.rows * self->part.shape.side;
}

static int64_t first_of(const Band *self)
{
    return self->part.first * self->part.shape.side;
}

void receive_block(Band *self, Block *block)
{
    self->held[block->from]       = block;
    self->part.block[block->from] = block->at;
}

void Band_on_create(Band *self)
{
    struct fft_shape shape =
        shape_of(options.side, options.chares, options.tile, !options.estimate);

    self->held = calloc((size_t)shape.chares, sizeof(Block *));
    if (!self->held || !part_create(&self->part, &shape, Band_index(self)))
        skua_abort("cannot allocate %" PRId64 " rows of %" PRId64 " numbers; use a smaller --log2",
                   shape.rows, shape.side);
    for (int64_t i = 0; i < shape.chares; i++) {
        Block *block = Block_new((size_t)shape_block(&shape));
        block->from  = i;
        receive_block(self, block);
    }
}

void Band_on_destroy(Band *self)
{
    for (int64_t i = 0; i < self->part.shape.chares; i++)
        if (self->held[i])
            Block_free(self->held[i]);
    free(self->held);
    part_destroy(&self->part);
}

/* Begins with the next element, so that not all elements send to one element at once. */
void send_blocks(Band *self)
{
    for (int64_t i = 1; i <= options.chares; i++) {
        int64_t to    = (Band_index(self) + i) % options.chares;
        Block  *block = self->held[to];

        self->held[to] = NULL;
        block->phase   = self->phase;
        block->from    = Band_index(self);
        Band_block(Band_at(Band_of(self), (int)to), block);
    }
}

void Band_on_fill(Band *self)
{
    check_fill(self->part.row, first_of(self), numbers_of(self));
    skua_contribute_nothing(self, Main_ready_done(main_proxy));
}

/* Sends our rows to PE 0. */
void Band_on_show(Band *self)
{
    Rows *rows = Rows_new((size_t)numbers_of(self));

    rows->first = first_of(self);
    memcpy(rows->at, self->part.row, rows->at_count * sizeof *rows->at);
    Main_rows(main_proxy, rows);
}

/* Compares the rows after the backward transform with the input. */
void Band_on_compare(Band *self)
{
    double scale    = 1 / ((double)options.side * (double)options.side);
    double distance = check_distance(self->part.row, first_of(self), numbers_of(self), scale);

    skua_contribute(self, SKUA_MAX, SKUA_DOUBLE, &distance, 1, Main_compared_done(main_proxy));
}

/* ---- the program, on PE 0 ---------------------------------------------------------------- */

static void show_progress(const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-40s\r%s", "", what);
}

void start(Main *self, int sign, const char *what)
{
    char text[40];

    snprintf(text, sizeof text, "%s (%d)", what, self->times + 1);
    show_progress(text);
    self->started = skua_time();
    Band_transform_all(self->bands, sign);
}

void stop(Main *self)
{
    double seconds = skua_time() - self->started;

    self->best = self->times == 0 || seconds < self->best ? seconds : self->best;
    self->times++;
}

void report(const Main *self)
{
    double n = (double)options.side * (double)options.side, rate = 5 * n * log2(n) / self->best;

    show_progress("");
    printf("%.0f numbers (%" PRId64 " x %" PRId64 "), %" PRId64 " chares, %d PEs\n", n,
           options.side, options.side, options.chares, skua_pes());
    printf("%.3f GF/s, %.3f per PE; %.6f s, best of %d\n", 1e-9 * rate, 1e-9 * rate / skua_pes(),
           self->best, self->times);
    if (options.series[0])
        printf("{\"bench\":\"fft1d\",\"series\":\"%s\",\"bytes\":%.0f,"
               "\"metric\":\"rate-%dpe\",\"value\":%.6g}\n",
               options.series, n * sizeof(number), skua_pes(), rate);
    fflush(stdout);
}

void make_reference(void)
{
    show_progress("FFTW on one PE");
    if (!reference_make(&reference, options.side * options.side))
        skua_abort("cannot allocate memory for the check by FFTW; use --no-check");
}

double compare_rows(const Rows *rows)
{
    return reference_distance(&reference, rows->at, rows->first, (int64_t)rows->at_count);
}

void free_reference(void)
{
    reference_free(&reference);
}

void check_result(Main *self, const char *what, double distance)
{
    double error = check_error(distance, options.side * options.side);
    bool   good  = error < CHECK_LIMIT;

    show_progress("");
    printf("%s: error %.3f, %s %.0f\n", what, error, good ? "below" : "NOT below", CHECK_LIMIT);
    self->wrong = self->wrong || !good;
}
