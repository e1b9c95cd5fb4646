/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft1d.c - the Fourier transform of one long row of complex numbers, by the rules of HPC
 * Challenge.
 *
 * n = N^2 numbers are seen as a matrix of N x N whose rows lie across the chares of an
 * array, and are transformed in six steps: transpose; transform the rows, of N each, and
 * multiply by exp(-2 pi i j k / n); transpose; transform the rows; transpose.  A transpose
 * lets every chare send a block to every other, so each of the three *phases* ends when C
 * blocks have come.  What is done with them is in transform.h.
 *
 * Blocks are messages, allocated once: whoever gets one computes in it and sends it back.
 * A chare may be a phase ahead of another, no more, since it needs a block of each: what
 * comes early waits.
 *
 * The result is in the natural order, and verified twice: it is compared with FFTW's
 * transform in one piece where that is not too large, and transformed back.
 */
#include <inttypes.h>
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "options.h"
#include "transform.h"

/* A block on its way. */
struct block {
    int64_t from, phase;
    int64_t unused[6]; /* the numbers begin with a line of the cache */
    number  at[];
};

/* What all chares shall do; then @p then happens on PE 0. */
struct order {
    int             sign; /* of a transform */
    skua_completion then;
};

struct chare {
    struct part  part;
    skua_msg   **held;  /* the blocks that are in part.block, or will be           */
    skua_msg   **early; /* those of the next phase                                 */
    int64_t      have;  /* of this phase                                           */
    int64_t      phase; /* counted through all transforms, three each              */
    bool         busy;  /* with a transform                                        */
    struct order order;
};

static struct options options; /* read-only: PE 0 reads them, all have them */
static skua_class     chare_class;
static skua_entry     fill_entry, transform_entry, block_entry, compare_entry, show_entry;
static skua_handler   rows_handler;

static struct { /* PE 0's */
    skua_collection  chares;
    int              times; /* transforms that were made */
    double           began, started, best;
    struct reference reference;
    double           distance; /* from the reference */
    int64_t          shown;    /* chares that have been compared with it */
} program;

/* ---- chares ---------------------------------------------------------------------------- */

static struct block *block_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static void construct(void *self, const void *data, size_t none)
{
    struct chare *c     = self;
    struct shape  shape = shape_of(options.side, options.chares, options.tile, !options.estimate);
    size_t        bytes = sizeof(struct block) + (size_t)shape_block(&shape) * sizeof(number);

    (void)data, (void)none;
    c->held  = calloc((size_t)shape.chares, sizeof *c->held);
    c->early = calloc((size_t)shape.chares, sizeof *c->early);
    if (!c->held || !c->early || !part_create(&c->part, &shape, skua_index_of(self).at.x[0]))
        skua_abort("no memory for %" PRId64 " rows of %" PRId64 " numbers; see --log2", shape.rows,
                   shape.side);
    for (int64_t i = 0; i < shape.chares; i++)
        c->held[i] = skua_msg_alloc(bytes);
}

static void destroy(void *self)
{
    struct chare *c = self;

    for (int64_t i = 0; i < c->part.shape.chares; i++)
        if (c->held[i])
            skua_msg_free(c->held[i]);
    free(c->held);
    free(c->early);
    part_destroy(&c->part);
}

/* The blocks that we hold, for the kernels. */
static void open_blocks(struct chare *c)
{
    for (int64_t i = 0; i < c->part.shape.chares; i++)
        c->part.block[i] = block_of(c->held[i])->at;
}

/* To each chare its block; our neighbour first, not all the same one. */
static void send_blocks(struct chare *c)
{
    int64_t chares = c->part.shape.chares, us = c->part.first / c->part.shape.rows;

    for (int64_t i = 1; i <= chares; i++) {
        int64_t   to         = (us + i) % chares;
        skua_msg *msg        = c->held[to];
        block_of(msg)->from  = us;
        block_of(msg)->phase = c->phase;
        c->held[to]          = NULL;
        skua_invoke(skua_element1(skua_collection_of(c), (int)to), block_entry, msg);
    }
    c->have = 0;
}

static void finish(struct chare *c)
{
    c->busy = false;
    skua_contribute_nothing(c, c->order.then);
}

/* All blocks of a phase are here. */
static void step(struct chare *c)
{
    open_blocks(c);
    switch (c->phase++ % 3) {
    case 0: part_columns(&c->part, c->order.sign); break;
    case 1: part_rows(&c->part, c->order.sign); break;
    case 2:
        part_unpack(&c->part);
        finish(c);
        return;
    }
    send_blocks(c);
}

static void take(struct chare *c, skua_msg *msg)
{
    c->held[block_of(msg)->from] = msg;
    c->have++;
}

static void take_early(struct chare *c)
{
    for (int64_t i = 0; i < c->part.shape.chares; i++)
        if (c->early[i]) {
            take(c, c->early[i]);
            c->early[i] = NULL;
        }
}

static void go_on(struct chare *c)
{
    while (c->busy && c->have == c->part.shape.chares) {
        step(c);
        if (c->busy)
            take_early(c);
    }
}

static void on_block(void *self, skua_msg *msg)
{
    struct chare *c = self;

    if (!c->busy || block_of(msg)->phase != c->phase) {
        c->early[block_of(msg)->from] = msg;
        return;
    }
    take(c, msg);
    go_on(c);
}

static void on_transform(void *self, const void *data, size_t bytes)
{
    struct chare *c = self;

    (void)bytes;
    memcpy(&c->order, data, sizeof c->order);
    open_blocks(c);
    part_pack(&c->part);
    c->busy = true;
    send_blocks(c);
    take_early(c);
    go_on(c);
}

static int64_t numbers_of(const struct part *part)
{
    return part->shape.rows * part->shape.side;
}

static void on_fill(void *self, const void *data, size_t bytes)
{
    struct chare *c = self;

    (void)bytes;
    memcpy(&c->order, data, sizeof c->order);
    check_fill(c->part.row, c->part.first * c->part.shape.side, numbers_of(&c->part));
    skua_contribute_nothing(c, c->order.then);
}

/* Transformed back: what we had in the beginning? */
static void on_compare(void *self, const void *data, size_t bytes)
{
    struct chare *c = self;
    double        distance =
        check_distance(c->part.row, c->part.first * c->part.shape.side, numbers_of(&c->part),
                       1 / ((double)c->part.shape.side * (double)c->part.shape.side));

    (void)bytes;
    memcpy(&c->order, data, sizeof c->order);
    skua_contribute(c, SKUA_MAX, SKUA_DOUBLE, &distance, 1, c->order.then);
}

/* Our rows to PE 0. */
static void on_show(void *self, const void *data, size_t bytes)
{
    const struct part *part = &((struct chare *)self)->part;
    size_t             size = (size_t)numbers_of(part) * sizeof(number);
    skua_msg          *msg  = skua_msg_alloc(sizeof(struct block) + size);

    (void)data, (void)bytes;
    block_of(msg)->from = part->first;
    memcpy(block_of(msg)->at, part->row, size);
    skua_send(0, rows_handler, msg);
}

/* ---- the program, on PE 0 ---------------------------------------------------------------- */

static void order_all(skua_entry entry, int sign, skua_done_fn then)
{
    struct order order = {sign, skua_done_call(then, NULL)};

    program.started = skua_time();
    skua_invoke_all(program.chares, entry, &order, sizeof order);
}

static void show_progress(const char *what)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%-40s\r%s", "", what);
}

static void report(void)
{
    double n    = (double)options.side * (double)options.side;
    double rate = 5 * n * log2(n) / program.best;

    show_progress("");
    printf("%.0f numbers (%" PRId64 " x %" PRId64 "), %" PRId64 " chares, %d PEs\n", n,
           options.side, options.side, options.chares, skua_pes());
    printf("%.3f GF/s, %.3f a PE; %.6f s, the best of %d\n", 1e-9 * rate, 1e-9 * rate / skua_pes(),
           program.best, program.times);
    if (options.series[0])
        printf("{\"bench\":\"fft1d\",\"series\":\"%s\",\"bytes\":%.0f,"
               "\"metric\":\"rate-%dpe\",\"value\":%.6g}\n",
               options.series, n * sizeof(number), skua_pes(), rate);
    fflush(stdout);
}

/* Says how large an error is; ends the job if it is too large. */
static bool accept(const char *what, double distance)
{
    double error = check_error(distance, options.side * options.side);
    bool   good  = error < CHECK_LIMIT;

    printf("%s: error %.3f, %s %.0f\n", what, error, good ? "below" : "NOT below", CHECK_LIMIT);
    if (!good)
        skua_exit(1);
    return good;
}

static void compared(void *arg, const void *data, size_t bytes)
{
    double distance = NAN;

    (void)arg;
    show_progress("");
    if (bytes == sizeof distance)
        memcpy(&distance, data, sizeof distance);
    if (accept("transformed back", distance))
        skua_exit(0);
}

static void transformed_back(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    order_all(compare_entry, 0, compared);
}

static void verify(void)
{
    if (!options.verify)
        skua_exit(0);
    show_progress("transforming back");
    order_all(transform_entry, BACKWARD, transformed_back);
}

/* Rows of a chare, to be compared. */
static void on_rows(skua_msg *msg)
{
    int64_t side = options.side, rows = side / options.chares;
    double  distance = reference_distance(&program.reference, block_of(msg)->at,
                                          block_of(msg)->from * side, rows * side);

    program.distance = distance > program.distance || isnan(distance) ? distance : program.distance;
    skua_msg_free(msg);
    if (++program.shown < options.chares)
        return;
    reference_free(&program.reference);
    show_progress("");
    if (accept("FFTW in one piece", program.distance))
        verify();
}

static void check(void)
{
    show_progress("FFTW in one piece");
    if (!reference_make(&program.reference, options.side * options.side))
        skua_abort("cannot transform so many numbers in one piece; see --no-check");
    order_all(show_entry, 0, NULL);
}

static void filled(void *arg, const void *data, size_t bytes);

static void transformed(void *arg, const void *data, size_t bytes)
{
    double now = skua_time(), seconds = now - program.started;
    char   text[40];

    (void)arg, (void)data, (void)bytes;
    program.best = program.times == 0 || seconds < program.best ? seconds : program.best;
    snprintf(text, sizeof text, "transform %d", ++program.times + 1);
    if (program.times < options.repeat || now - program.began < options.seconds) {
        show_progress(text);
        order_all(fill_entry, 0, filled);
        return;
    }
    report();
    if (options.check)
        check();
    else
        verify();
}

static void filled(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    if (program.times == 0)
        program.began = skua_time();
    order_all(transform_entry, FORWARD, transformed);
}

static void begin(int argc, char **argv)
{
    if (!options_read(&options, argc, argv))
        return;
    show_progress("planning");
    program.chares = skua_array1(chare_class, (int)options.chares, NULL, 0);
    order_all(fill_entry, 0, filled);
}

int main(int argc, char **argv)
{
    static const skua_class_def class = {"chare", sizeof(struct chare), construct, destroy, NULL};

    chare_class     = skua_class_register(&class);
    fill_entry      = skua_method_register(chare_class, "fill", on_fill, 0);
    transform_entry = skua_method_register(chare_class, "transform", on_transform, 0);
    block_entry     = skua_entry_register(chare_class, "block", on_block, 0);
    compare_entry   = skua_method_register(chare_class, "compare", on_compare, 0);
    show_entry      = skua_method_register(chare_class, "show", on_show, 0);
    rows_handler    = skua_register("rows", on_rows);
    skua_readonly("options", &options, sizeof options);
    return skua_program(argc, argv, begin);
}
