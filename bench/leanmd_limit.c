/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leanmd_limit.c - the limit of leanmd: the forces of all pairs of cells, which are divided over
 * the PEs by their work.  The launcher of Skua starts and binds the processes; between the barriers
 * of a measurement the program does not call the runtime.
 *
 * Each PE has all atoms, at their first positions.  A step is over when all PEs have computed the
 * forces of their pairs.
 *
 * usage: bench-leanmd_limit SERIES X,Y,Z,ATOMS,STEPS
 */
#include <skua/skua.h>

#include "bench.h"
#include "bench_pieces.h"
#include "leanmd/start.h"

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct md_box        box;
    struct force_atoms  *cell;
    int                  first, end; /* of this PE's pairs; each cell is first in box_pairs() */
    struct bench_barrier barrier;
    int64_t              force[2][3 * CELL_ATOMS_MAX + 1];
} limit;

/* Returns the number of pairs in which a cell is the first one, that with itself included. */
static int box_pairs(void)
{
    return box_neighbours(&limit.box) / 2 + 1;
}

/* Returns the second cell of a pair, and the vector to its corner. */
static int second_cell(int pair, double shift[3])
{
    int at[3], to[3], with;

    box_indices(&limit.box, pair / box_pairs(), at);
    with = box_neighbour(&limit.box, at, box_pairs() - 1 + pair % box_pairs(), 1);
    box_indices(&limit.box, with, to);
    box_shift(&limit.box, at, to, shift);
    return with;
}

/* Returns the work of a pair, in pairs of atoms. */
static double pair_work(int pair)
{
    double shift[3];
    int    first = pair / box_pairs(), second = second_cell(pair, shift);
    double work = (double)limit.cell[first].n * limit.cell[second].n;

    return first == second ? work / 2 : work;
}

static void compute_pair(int pair)
{
    double                    shift[3];
    int                       second = second_cell(pair, shift);
    const struct force_atoms *a = &limit.cell[pair / box_pairs()], *b = &limit.cell[second];

    if (a == b)
        force_within(a, false, limit.force[0]);
    else
        force_between(a, b, shift, false, limit.force[0], limit.force[1]);
}

static void fill_cells(void)
{
    limit.cell = malloc((size_t)box_cells(&limit.box) * sizeof *limit.cell);
    for (int c = 0; c < box_cells(&limit.box); c++) {
        struct md_atoms atoms = {0};
        double         *x     = malloc(3 * CELL_ATOMS_MAX * sizeof *x);
        int             at[3];

        box_indices(&limit.box, c, at);
        start_fill(&atoms, &limit.box, at);
        atoms_positions(&atoms, x);
        limit.cell[c] = (struct force_atoms){atoms.n, x};
        free(atoms.at);
    }
}

/* Gives this PE a range of pairs with its share of the work. */
static void divide_pairs(void)
{
    int    pairs = box_cells(&limit.box) * box_pairs();
    double all = 0, before = 0;

    for (int i = 0; i < pairs; i++)
        all += pair_work(i);
    limit.first = limit.end = pairs;
    for (int i = 0; i < pairs; before += pair_work(i++)) {
        if (limit.first == pairs && before >= all * skua_pe() / skua_pes())
            limit.first = i;
        if (limit.end == pairs && before >= all * (skua_pe() + 1) / skua_pes())
            limit.end = i;
    }
}

static void run_step(void)
{
    for (int i = limit.first; i < limit.end; i++)
        compute_pair(i);
    bench_barrier_wait(&limit.barrier);
}

static void start(int argc, char **argv)
{
    struct md_box box = {.away = {1, 1, 1}, .margin = 2, .seed = 1};
    int           per_cell, steps;
    double        started;

    if (argc < 3 || sscanf(argv[2], "%d,%d,%d,%d,%d", &box.cells[0], &box.cells[1], &box.cells[2],
                           &per_cell, &steps) < 5)
        skua_abort("usage: bench-leanmd_limit SERIES X,Y,Z,ATOMS,STEPS");
    box.per_cell = per_cell;
    limit.box    = box;
    start_prepare(&limit.box);
    fill_cells();
    divide_pairs();
    bench_barrier_init(&limit.barrier);
    run_step();
    started = bench_now();
    for (int i = 0; i < steps; i++)
        run_step();
    bench_end_limit("leanmd", argv[1], (size_t)box_cells(&limit.box), "step",
                    bench_largest(bench_now() - started) / steps);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
