/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barneshut_limit.c - the limit of barneshut: the traversal of one tree for all leaves, which are
 * divided over the PEs by their interactions.  The launcher of Skua starts and binds the processes;
 * between the barriers of a measurement the program does not call the runtime.
 *
 * Each PE has the whole tree, of the first positions.  A step is over when all PEs have computed
 * the forces on the bodies of their leaves.
 *
 * usage: bench-barneshut_limit SERIES PARTICLES,STEPS
 */
#include <skua/skua.h>

#include "bench.h"
#include "bench_pieces.h"
#include "barneshut/whole_tree.h"

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct barneshut_options options;
    struct whole_tree        whole;
    int32_t                  first, end; /* of the nodes with this PE's leaves */
    struct bench_barrier     barrier;
} limit;

static void require(bool good)
{
    if (!good)
        skua_abort("not enough memory: use fewer particles");
}

/* Gives this PE a range of leaves with its share of the interactions. */
static void divide_leaves(void)
{
    int32_t  nodes  = limit.whole.tree.nodes;
    int64_t *before = calloc((size_t)nodes + 1, sizeof *before);
    int64_t  me = skua_pe(), pes = skua_pes();

    require(before != NULL);
    for (int32_t i = 0; i < nodes; i++)
        before[i + 1] = before[i] + whole_tree_forces(&limit.whole, i, limit.options.eps);
    while (before[limit.first] < before[nodes] / pes * me)
        limit.first++;
    for (limit.end = limit.first;
         limit.end < nodes &&
         (me == pes - 1 || before[limit.end] < before[nodes] / pes * (me + 1));)
        limit.end++;
    free(before);
}

static void run_step(void)
{
    for (int32_t i = limit.first; i < limit.end; i++)
        whole_tree_forces(&limit.whole, i, limit.options.eps);
    bench_barrier_wait(&limit.barrier);
}

static void start(int argc, char **argv)
{
    char   particles[48];
    int    steps, n;
    double started;

    if (argc < 3 || sscanf(argv[2], "%d,%d", &n, &steps) < 2)
        skua_abort("usage: bench-barneshut_limit SERIES PARTICLES,STEPS");
    snprintf(particles, sizeof particles, "--particles=%d", n);
    if (!options_read(&limit.options, 2, (char *[]){argv[0], particles, NULL}))
        return;
    require(whole_tree_create(&limit.whole, &limit.options));
    require(whole_tree_build(&limit.whole, &limit.options));
    divide_leaves();
    bench_barrier_init(&limit.barrier);
    started = bench_now();
    for (int i = 0; i < steps; i++)
        run_step();
    bench_end_limit("barneshut", argv[1], (size_t)n, "step",
                    bench_largest(bench_now() - started) / steps);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
