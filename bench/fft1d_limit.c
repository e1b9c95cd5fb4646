/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft1d_limit.c - the limit of fft1d: the transform of the application with one chare on each PE,
 * whose blocks lie in shared memory.  The launcher of Skua starts and binds the processes; between
 * the barriers of a measurement the program does not call the runtime.
 *
 * As in the application a block is not copied: after an exchange, the PE that it is for computes in
 * it, and after the next one the PE that it came from.
 *
 *   blocks   `phase` release (exchange) -> `phase` acquire (exchange)
 *
 * usage: bench-fft1d_limit SERIES LOG2
 */
#include <skua/skua.h>

#include <math.h>

#include "bench.h"
#include "bench_pieces.h"
#include "common/band_fft.h"
#include "common/fft_check.h"

#define LIMIT_PES     256
#define LIMIT_MIN     5   /* transforms that are measured, and */
#define LIMIT_SECONDS 0.5 /* their time; the fastest counts    */

/* The piece of a PE.  A block for each PE follows it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t phase; /* exchanges that this PE has reached */
    BENCH_APART number           at[];
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece *piece[LIMIT_PES];
    struct band_fft     band;
    uint64_t            phase;
} limit;

/* Sets the blocks that this PE computes in: its own, or those for it. */
static void use_blocks(void)
{
    int me = skua_pe();

    for (int pe = 0; pe < skua_pes(); pe++) {
        int owner = limit.phase % 2 ? pe : me, of = limit.phase % 2 ? me : pe;

        limit.band.block[pe] = limit.piece[owner]->at + of * transpose_block(&limit.band.shape);
    }
}

static void exchange_blocks(void)
{
    limit.phase++;
    bench_publish(&limit.piece[skua_pe()]->phase, limit.phase);
    for (int i = 1; i <= skua_pes(); i++)
        bench_wait_for(&limit.piece[(skua_pe() + i) % skua_pes()]->phase, limit.phase);
    use_blocks();
}

/* Returns the seconds of a transform on the slowest PE. */
static double transform_all(int sign)
{
    double start;

    skua_sync();
    start = bench_now();
    band_pack(&limit.band);
    exchange_blocks();
    band_columns(&limit.band, sign);
    exchange_blocks();
    band_rows(&limit.band, sign);
    exchange_blocks();
    band_unpack(&limit.band);
    return bench_largest(bench_now() - start);
}

static void prepare(int64_t side)
{
    struct transpose_shape shape  = transpose_shape_of(side, skua_pes(), 0);
    size_t                 blocks = (size_t)(transpose_block(&shape) * skua_pes());
    skua_region            region =
        bench_create_pieces(sizeof(struct limit_piece) + blocks * sizeof(number), LIMIT_PES);

    if (!band_create(&limit.band, &shape, skua_pe(), true))
        skua_abort("there is no memory for the transform");
    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    use_blocks();
}

/* Transforms the last result back and compares it with the input. */
static void verify(int64_t side)
{
    int64_t numbers = limit.band.shape.rows * side, first = limit.band.first * side;
    double  distance;

    transform_all(BACKWARD);
    distance = check_distance(limit.band.row, first, numbers, 1 / ((double)side * (double)side));
    if (check_error(distance, side * side) >= CHECK_LIMIT)
        skua_abort("the transform on PE %d is wrong", skua_pe());
}

static void start(int argc, char **argv)
{
    int     log2 = argc > 2 ? atoi(argv[2]) : 20;
    int64_t side = INT64_C(1) << log2 / 2;
    double  n = (double)side * (double)side, best = INFINITY, spent = 0;

    if (side % skua_pes() != 0)
        skua_abort("the number of PEs must divide the %lld rows", (long long)side);
    prepare(side);
    for (int i = 0; i < LIMIT_MIN || spent < LIMIT_SECONDS; i++) {
        double seconds;

        check_fill(limit.band.row, limit.band.first * side, limit.band.shape.rows * side);
        seconds = transform_all(FORWARD);
        best    = fmin(best, seconds);
        spent += seconds;
    }
    verify(side);
    bench_end_limit("fft1d", argc > 1 ? argv[1] : "limit", (size_t)n * sizeof(number), "rate",
                    5 * n * log2 / best);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
