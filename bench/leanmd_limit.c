/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leanmd_limit.c - the limit of leanmd: the forces of all pairs of cells, which are divided over
 * the PEs by their work.  The launcher of Skua starts and binds the processes; between the barriers
 * of a measurement the program does not call the runtime.
 *
 * Each PE has all atoms, at their first positions.  A step is over when all PEs have computed the
 * forces of their pairs.  Pairs are divided by their numbers of atoms at first, then by the time
 * that each took, the shortest of a few steps.
 *
 * Results, on P PEs: step-Ppe, seconds per step; idle-Ppe and waiting-Ppe, the part of it in
 * barriers, the mean of all PEs; uneven-Ppe, the time of the busiest PE outside of barriers,
 * relative to the mean.
 *
 * usage: bench-leanmd_limit SERIES X,Y,Z,ATOMS,STEPS[,MARGIN,DROPLET]
 */
#include <skua/skua.h>

#include "bench.h"
#include "bench_pieces.h"
#include "leanmd/start.h"

#define MEASURED_STEPS 3 /* in which the work of a pair is measured */

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct md_box        box;
    struct force_atoms  *cell;
    int                  first, end; /* of this PE's pairs; each cell is first in box_pairs() */
    double              *work;       /* of each pair */
    double               busy;       /* seconds in which this PE has computed */
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

/* Returns the number of pairs of all cells. */
static int all_pairs(void)
{
    return box_cells(&limit.box) * box_pairs();
}

/* Estimates the work of each pair, in pairs of atoms. */
static void estimate_work(void)
{
    limit.work = malloc((size_t)all_pairs() * sizeof *limit.work);
    for (int pair = 0; pair < all_pairs(); pair++) {
        double shift[3];
        int    first = pair / box_pairs(), second = second_cell(pair, shift);
        double work = (double)limit.cell[first].n * limit.cell[second].n;

        limit.work[pair] = first == second ? work / 2 : work;
    }
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
    int    pairs = all_pairs();
    double all = 0, before = 0;

    for (int i = 0; i < pairs; i++)
        all += limit.work[i];
    limit.first = limit.end = pairs;
    for (int i = 0; i < pairs; before += limit.work[i++]) {
        if (limit.first == pairs && before >= all * skua_pe() / skua_pes())
            limit.first = i;
        if (limit.end == pairs && before >= all * (skua_pe() + 1) / skua_pes())
            limit.end = i;
    }
}

/* Measures the work of each pair on the PE that has it, and tells all PEs. */
static void measure_work(void)
{
    skua_region region =
        bench_create_pieces((size_t)all_pairs() * sizeof(double), BENCH_BARRIER_PES);
    double *mine = skua_region_local(region);

    for (int try = 0; try < MEASURED_STEPS; try++)
        for (int i = limit.first; i < limit.end; i++) {
            double began = bench_now(), seconds;

            compute_pair(i);
            seconds = bench_now() - began;
            mine[i] = try == 0 || seconds < mine[i] ? seconds : mine[i];
        }
    skua_sync();
    memset(limit.work, 0, (size_t)all_pairs() * sizeof *limit.work);
    for (int pe = 0; pe < skua_pes(); pe++)
        for (int i = 0; i < all_pairs(); i++) /* a pair of another PE is 0 */
            limit.work[i] += ((const double *)bench_piece(region, pe))[i];
    skua_sync();
}

static void run_step(void)
{
    double began = bench_now();

    for (int i = limit.first; i < limit.end; i++)
        compute_pair(i);
    limit.busy += bench_now() - began;
    bench_barrier_wait(&limit.barrier);
}

/* Reports how long the PEs have computed, of @p seconds. */
static void report_busy(const char *series, double seconds)
{
    double mean = allreduce_double(SKUA_SUM, limit.busy) / skua_pes(),
           most = bench_largest(limit.busy);
    const struct {
        const char *name;
        double      value;
    } metrics[] = {
        {"idle", 1 - mean / seconds}, {"waiting", 1 - mean / seconds}, {"uneven", most / mean}};

    for (size_t i = 0; i < sizeof metrics / sizeof *metrics && skua_pe() == 0; i++) {
        char name[32];

        snprintf(name, sizeof name, "%s-%dpe", metrics[i].name, skua_pes());
        bench_report("leanmd", series, (size_t)box_cells(&limit.box), name, metrics[i].value);
    }
}

static void start(int argc, char **argv)
{
    struct md_box box = {.away = {1, 1, 1}, .margin = 2, .seed = 1};
    int           per_cell, steps, droplet = 0;
    double        began, seconds;

    if (argc < 3 || sscanf(argv[2], "%d,%d,%d,%d,%d,%lf,%d", &box.cells[0], &box.cells[1],
                           &box.cells[2], &per_cell, &steps, &box.margin, &droplet) < 5)
        skua_abort("usage: bench-leanmd_limit SERIES X,Y,Z,ATOMS,STEPS[,MARGIN,DROPLET]");
    box.per_cell = per_cell;
    box.droplet  = droplet;
    limit.box    = box;
    start_prepare(&limit.box);
    fill_cells();
    estimate_work();
    divide_pairs();
    measure_work();
    divide_pairs();
    bench_barrier_init(&limit.barrier);
    run_step();
    limit.busy = 0;
    began      = bench_now();
    for (int i = 0; i < steps; i++)
        run_step();
    seconds = bench_largest(bench_now() - began);
    report_busy(argv[1], seconds);
    bench_end_limit("leanmd", argv[1], (size_t)box_cells(&limit.box), "step", seconds / steps);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
