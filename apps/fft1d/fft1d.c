/* SPDX-License-Identifier: Apache-2.0 */
/* fft1d.c - see fft1d.ci. */
#include "fft1d.ci.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/huge_pages.h"
#include "common/series.h"
#include "common/variant.h"

static struct fft_reference reference; /* set on PE 0 */

/* ---- bands ----------------------------------------------------------------------------- */

static int64_t numbers_of(const Band *self)
{
    return self->band.shape.rows * self->band.shape.side;
}

static int64_t first_of(const Band *self)
{
    return self->band.first * self->band.shape.side;
}

void receive_block(Band *self, Block *block)
{
    self->held[block->from]       = block;
    self->band.block[block->from] = block->at;
}

static bool create_blocks(Band *self)
{
    const struct transpose_shape *shape = &self->band.shape;

    self->held = calloc((size_t)shape->chares, sizeof(Block *));
    for (int64_t i = 0; i < shape->chares && self->held; i++) {
        Block *block = Block_new((size_t)transpose_block(shape));
        block->from  = i;
        receive_block(self, block);
    }
    return self->held;
}

static bool create_sets(Band *self)
{
    size_t numbers = (size_t)(transpose_block(&self->band.shape) * self->band.shape.chares);

    for (int i = 0; i < 2; i++)
        self->set[i] = huge_alloc(numbers * sizeof(number));
    if (!self->set[0] || !self->set[1])
        return false;
    use_set(self);
    return true;
}

void use_set(Band *self)
{
    number *at = self->set[(self->phase + 1) % 2];

    for (int64_t i = 0; i < self->band.shape.chares; i++)
        self->band.block[i] = at + i * transpose_block(&self->band.shape);
}

void Band_on_create(Band *self)
{
    struct transpose_shape shape = transpose_shape_of(options.side, options.chares, options.tile);

    if (!band_create(&self->band, &shape, Band_index(self), !options.estimate) ||
        !(options.mesh ? create_sets(self) : create_blocks(self)))
        skua_abort("cannot allocate %" PRId64 " rows of %" PRId64 " numbers; use a smaller --log2",
                   shape.rows, shape.side);
}

void Band_on_pup(skua_pup *p, Band *self)
{
    skua_pup_value(p, &self->phase);
    if (skua_pup_unpacking(p))
        Band_on_create(self);
}

void Band_on_destroy(Band *self)
{
    for (int64_t i = 0; i < self->band.shape.chares && self->held; i++)
        if (self->held[i])
            Block_free(self->held[i]);
    free(self->held);
    free(self->set[0]);
    free(self->set[1]);
    band_destroy(&self->band);
}

/* Sends a block to each element. An element begins with its successor, so that not all elements
 * send to the same element at once. */
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

static void send_block_pieces(Band *self, int64_t to)
{
    int64_t          total = transpose_block(&self->band.shape);
    struct fft_piece piece = {.phase = self->phase, .from = (int32_t)Band_index(self)};

    for (; piece.first < total; piece.first += PIECE) {
        piece.count = (int32_t)(total - piece.first < PIECE ? total - piece.first : PIECE);
        memcpy(piece.at, self->band.block[to] + piece.first,
               (size_t)piece.count * sizeof *piece.at);
        Band_piece(Band_at(Band_of(self), (int)to), piece);
    }
}

void send_pieces(Band *self)
{
    for (int64_t i = 1; i <= options.chares; i++)
        send_block_pieces(self, (Band_index(self) + i) % options.chares);
}

/* Stores a piece.  It belongs to the present phase of this element or to the next one. */
void Band_on_piece(Band *self, struct fft_piece piece)
{
    int64_t block = transpose_block(&self->band.shape), *arrived = &self->arrived[piece.phase % 2];

    memcpy(self->set[piece.phase % 2] + piece.from * block + piece.first, piece.at,
           (size_t)piece.count * sizeof *piece.at);
    *arrived += piece.count;
    if (*arrived < block * options.chares)
        return;
    *arrived = 0;
    Band_complete(Band_self(self), piece.phase);
}

void Band_on_fill(Band *self)
{
    check_fill(self->band.row, first_of(self), numbers_of(self));
    skua_contribute_nothing(self, Main_ready_done(main_proxy));
}

/* Sends the rows of this element to PE 0. */
void Band_on_show(Band *self)
{
    Rows *rows = Rows_new((size_t)numbers_of(self));

    rows->first = first_of(self);
    memcpy(rows->at, self->band.row, rows->at_count * sizeof *rows->at);
    Main_rows(main_proxy, rows);
}

/* Compares the rows after the backward transform with the input. */
void Band_on_compare(Band *self)
{
    double scale    = 1 / ((double)options.side * (double)options.side);
    double distance = check_distance(self->band.row, first_of(self), numbers_of(self), scale);

    skua_contribute(self, SKUA_MAX, SKUA_DOUBLE, &distance, 1, Main_compared_done(main_proxy));
}

/* ---- the program, on PE 0 ---------------------------------------------------------------- */

void start(Main *self, int sign, const char *what)
{
    progress_show("%s (%d)", what, self->times + 1);
    self->started = skua_time();
    Band_transform_all(self->bands, sign);
}

void stop(Main *self)
{
    self->spent += skua_time() - self->started;
    variant_stop(&self->best, self->started);
    self->times++;
}

void report(const Main *self)
{
    double n = (double)options.side * (double)options.side, rate = 5 * n * log2(n) / self->best;

    printf("%.0f numbers (%" PRId64 " x %" PRId64 "), %" PRId64 " chares, %d PEs%s\n", n,
           options.side, options.side, options.chares, skua_pes(),
           options.mesh ? ", through the mesh" : "");
    printf("%.3f GF/s, %.3f per PE; %.6f s, best of %d\n", 1e-9 * rate, 1e-9 * rate / skua_pes(),
           self->best, self->times);
    series_print(
        &(struct series){"fft1d", options.series, NULL, (int64_t)(n * sizeof(number)), skua_pes()},
        "rate", rate);
    fflush(stdout);
}

void make_reference(void)
{
    progress_show("FFTW on one PE");
    if (!reference_make(&reference, options.side * options.side))
        skua_abort("cannot allocate memory for the check by FFTW; use --no-check");
}

double compare_rows(Main *self, const Rows *rows)
{
    for (size_t i = 0; i < rows->at_count; i++)
        self->checksum += fabs(rows->at[i].re) + fabs(rows->at[i].im);
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

    progress_clear();
    printf("%s: error %.3f, %s %.0f\n", what, error, good ? "below" : "NOT below", CHECK_LIMIT);
    self->wrong = self->wrong || !good;
}

/* The result has no errors: they differ from run to run, since FFTW measures which plan is fast. */
void report_result(const Main *self)
{
    printf("result fft1d: %" PRId64 " x %" PRId64 " numbers", options.side, options.side);
    if (options.check)
        printf(", checksum %.9g", self->checksum);
    if (options.check || !options.no_verify)
        printf(": %s\n", self->wrong ? "FAILED" : "passed");
    else
        printf(": not verified\n");
    skua_exit(self->wrong ? 1 : 0);
}
