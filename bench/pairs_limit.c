/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs_limit.c - the limit of pairs: the products of its blocks and the sums of their results, in
 * shared memory.  The launcher of Skua starts and binds the processes; between the barriers of a
 * measurement the program does not call the runtime.
 *
 * The states of a block on a plane are in the piece of a PE, where the products of all PEs read
 * them; rows are not copied.  A step is the forward products, the backward products, whose results
 * are in the piece of their PE, and their sums, each followed by a barrier.  The iteration that
 * computes T is left out: T is the unit matrix, so the states do not change, which is checked.
 *
 * usage: bench-pairs_limit SERIES STATES,PLANES,POINTS,GRAIN,STEPS,REPEAT
 */
#include <skua/skua.h>

#include <math.h>

#include "bench.h"
#include "bench_pieces.h"
#include "common/gemm.h"
#include "common/numbers.h"

#define LIMIT_PES 256

/* A pair of blocks on a plane, first <= second. */
struct limit_pair {
    int plane, block[2];
    int at; /* its number */
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    double              *piece[LIMIT_PES]; /* blocks of states, then results of pairs */
    struct limit_pair   *pair;             /* of this PE */
    int                  pairs;
    int                  states, planes, grain, steps, repeat;
    int                  blocks;    /* of states on a plane          */
    int64_t              numbers;   /* of a state on a plane         */
    double              *tile;      /* of S                          */
    double              *factor[2]; /* tiles of T: 0, and the unit matrix */
    struct bench_barrier barrier;
} limit;

/* Returns the numbers of a block of states. */
static int64_t limit_block_numbers(void)
{
    return limit.grain * limit.numbers;
}

/* Returns how many of @p count things a PE has, at most. */
static int64_t limit_share(int64_t count)
{
    return (count + skua_pes() - 1) / skua_pes();
}

/* Returns the states of a block on a plane. */
static double *limit_states(int plane, int block)
{
    int at = plane * limit.blocks + block;

    return limit.piece[at % skua_pes()] + at / skua_pes() * limit_block_numbers();
}

/* Returns the number of a pair. */
static int limit_pair_at(int plane, int first, int second)
{
    int before = first * limit.blocks - first * (first - 1) / 2; /* pairs of the blocks below */

    return plane * (limit.blocks * (limit.blocks + 1) / 2) + before + second - first;
}

/* Returns the results of a pair for its first or second block. */
static double *limit_results(int pair, int which)
{
    int64_t states = limit_share((int64_t)limit.planes * limit.blocks);

    return limit.piece[pair % skua_pes()] +
           (states + 2 * (int64_t)(pair / skua_pes()) + which) * limit_block_numbers();
}

/* ---- a step ---------------------------------------------------------------------------- */

static void limit_multiply_forward(const struct limit_pair *p)
{
    struct gemm shape = {limit.grain, limit.grain, (int)limit.numbers, false, true, 1, 0};

    gemm_double(&shape, limit_states(p->plane, p->block[0]), limit_states(p->plane, p->block[1]),
                limit.tile);
}

static void limit_multiply_backward(const struct limit_pair *p)
{
    int         n = (int)limit.numbers, g = limit.grain;
    struct gemm down = {g, n, g, false, false, 1, 0}, up = {g, n, g, true, false, 1, 0};
    double     *factor = limit.factor[p->block[0] == p->block[1]];

    gemm_double(&down, factor, limit_states(p->plane, p->block[1]), limit_results(p->at, 0));
    if (p->block[0] < p->block[1])
        gemm_double(&up, factor, limit_states(p->plane, p->block[0]), limit_results(p->at, 1));
}

/* Adds the results of all pairs of a block. */
static void limit_add_results(int plane, int block)
{
    double *to = limit_states(plane, block);

    for (int other = 0; other < limit.blocks; other++) {
        double *from = block <= other ? limit_results(limit_pair_at(plane, block, other), 0)
                                      : limit_results(limit_pair_at(plane, other, block), 1);

        if (other == 0)
            memcpy(to, from, (size_t)limit_block_numbers() * sizeof *to);
        else
            add_double(to, from, limit_block_numbers());
    }
}

static void limit_run_step(void)
{
    for (int i = 0; i < limit.pairs; i++)
        limit_multiply_forward(&limit.pair[i]);
    bench_barrier_wait(&limit.barrier);
    for (int i = 0; i < limit.pairs; i++)
        limit_multiply_backward(&limit.pair[i]);
    bench_barrier_wait(&limit.barrier);
    for (int at = skua_pe(); at < limit.planes * limit.blocks; at += skua_pes())
        limit_add_results(at / limit.blocks, at % limit.blocks);
    bench_barrier_wait(&limit.barrier);
}

/* Returns the seconds of all steps on the slowest PE. */
static double limit_run(int steps)
{
    double start;

    bench_barrier_wait(&limit.barrier);
    start = bench_now();
    for (int i = 0; i < steps; i++)
        limit_run_step();
    return bench_largest(bench_now() - start);
}

/* ---- contents -------------------------------------------------------------------------- */

/* Returns a number of a state. */
static double limit_number(int at, int64_t i)
{
    return (double)((at * 7 + i) % 13 - 6) / 16;
}

static void limit_fill(void)
{
    for (int at = skua_pe(); at < limit.planes * limit.blocks; at += skua_pes()) {
        double *to = limit_states(at / limit.blocks, at % limit.blocks);

        for (int64_t i = 0; i < limit_block_numbers(); i++)
            to[i] = limit_number(at, i);
    }
}

static void limit_check(void)
{
    for (int at = skua_pe(); at < limit.planes * limit.blocks; at += skua_pes()) {
        const double *to = limit_states(at / limit.blocks, at % limit.blocks);

        for (int64_t i = 0; i < limit_block_numbers(); i++)
            if (!(to[i] == limit_number(at, i)))
                skua_abort("the states of block %d are wrong", at % limit.blocks);
    }
}

/* ---- main ------------------------------------------------------------------------------ */

/* Lists the pairs of this PE. */
static void limit_list_pairs(int all)
{
    limit.pair = calloc((size_t)limit_share(all), sizeof *limit.pair);
    if (!limit.pair)
        skua_abort("there is no memory for the pairs of PE %d", skua_pe());
    for (int plane = 0; plane < limit.planes; plane++)
        for (int x = 0; x < limit.blocks; x++)
            for (int y = x; y < limit.blocks; y++) {
                int at = limit_pair_at(plane, x, y);

                if (at % skua_pes() == skua_pe())
                    limit.pair[limit.pairs++] = (struct limit_pair){plane, {x, y}, at};
            }
}

static void limit_create_tiles(void)
{
    size_t numbers = (size_t)limit.grain * (size_t)limit.grain;

    limit.tile = calloc(3 * numbers, sizeof *limit.tile);
    if (!limit.tile)
        skua_abort("there is no memory for the tiles of PE %d", skua_pe());
    limit.factor[0] = limit.tile + numbers;
    limit.factor[1] = limit.factor[0] + numbers;
    for (int i = 0; i < limit.grain; i++)
        limit.factor[1][i * (limit.grain + 1)] = 1;
}

static void limit_prepare(void)
{
    int         all  = limit.planes * (limit.blocks * (limit.blocks + 1) / 2);
    int64_t     each = limit_share((int64_t)limit.planes * limit.blocks) + 2 * limit_share(all);
    skua_region region =
        bench_create_pieces((size_t)(each * limit_block_numbers()) * sizeof(double), LIMIT_PES);

    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    bench_barrier_init(&limit.barrier);
    limit_list_pairs(all);
    limit_create_tiles();
    limit_fill();
}

static void limit_start(int argc, char **argv)
{
    double best = INFINITY;
    int    points;

    if (argc < 3 ||
        sscanf(argv[2], "%d,%d,%d,%d,%d,%d", &limit.states, &limit.planes, &points, &limit.grain,
               &limit.steps, &limit.repeat) < 6 ||
        limit.grain < 1 || limit.states % limit.grain != 0)
        skua_abort("usage: bench-pairs_limit SERIES STATES,PLANES,POINTS,GRAIN,STEPS,REPEAT, with "
                   "whole blocks of GRAIN states");
    limit.blocks  = limit.states / limit.grain;
    limit.numbers = 2 * (int64_t)points; /* a point is a complex number */
    limit_prepare();
    limit_run(1); /* touches all memory */
    for (int i = 0; i < limit.repeat; i++)
        best = fmin(best, limit_run(limit.steps));
    limit_check();
    free(limit.tile);
    free(limit.pair);
    bench_end_limit("pairs", argv[1], (size_t)limit.grain, "step", best / limit.steps);
}

int main(int argc, char **argv)
{
    gemm_prepare();
    return skua_main(argc, argv, limit_start);
}
