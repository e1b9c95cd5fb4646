/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil3d_limit.c - the limit of stencil3d: its sweeps over planes that are distributed over the
 * PEs and lie in shared memory.  The launcher of Skua starts and binds the processes; between the
 * barriers of a measurement the program does not call the runtime.
 *
 * Nothing is copied: a PE reads the last plane of each of its two neighbours where it lies.  A PE
 * that begins sweep s knows that both neighbours have completed sweep s - 1, so it may overwrite
 * what they have read in it.
 *
 *   planes   `swept` release -> `swept` acquire, of the neighbours
 *
 * usage: bench-stencil3d_limit SERIES X,Y,Z,STEPS,REPEAT,BLOCKS
 */
#include <skua/skua.h>

#include <math.h>

#include "bench.h"
#include "bench_pieces.h"
#include "stencil3d/sweep.h"

#define LIMIT_PES   256
#define LIMIT_ERROR 1e-4

/* The piece of a PE.  Two sets of its planes follow it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t swept; /* sweeps that this PE has completed */
    BENCH_APART float            at[];
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece *piece[LIMIT_PES];
    int                 size[3], first, end; /* first to end: planes of this PE */
    uint64_t            sweep;
} limit;

static int first_plane(int pe)
{
    return (int)((int64_t)limit.size[2] * pe / skua_pes());
}

/* Returns a plane of a set. */
static float *plane_of(uint64_t set, int z)
{
    size_t plane = (size_t)limit.size[0] * (size_t)limit.size[1];
    int    pe    = skua_pe(), planes;

    z = (z + limit.size[2]) % limit.size[2];
    if (z < limit.first || z >= limit.end)
        for (pe = 0; z >= first_plane(pe + 1);)
            pe++;
    planes = first_plane(pe + 1) - first_plane(pe);
    return limit.piece[pe]->at +
           ((set % 2) * (size_t)planes + (size_t)(z - first_plane(pe))) * plane;
}

static void sweep_plane(float *to, const float *u, const float *above, const float *below)
{
    int x = limit.size[0], y = limit.size[1];

    for (int j = 0; j < y; j++) {
        size_t row = (size_t)j * (size_t)x, north = (size_t)((j + 1) % y) * (size_t)x,
               south = (size_t)((j + y - 1) % y) * (size_t)x;

        sweep_row(to + row, u + row, u + north, u + south, above + row, below + row,
                  u[row + (size_t)x - 1], u[row], 0, x);
    }
}

static void run_sweep(void)
{
    int      me = skua_pe(), pes = skua_pes();
    uint64_t from = limit.sweep, to = limit.sweep + 1;

    bench_wait_for(&limit.piece[(me + 1) % pes]->swept, limit.sweep);
    bench_wait_for(&limit.piece[(me + pes - 1) % pes]->swept, limit.sweep);
    for (int z = limit.first; z < limit.end; z++)
        sweep_plane(plane_of(to, z), plane_of(from, z), plane_of(from, z + 1),
                    plane_of(from, z - 1));
    limit.sweep++;
    bench_publish(&limit.piece[me]->swept, limit.sweep);
}

/* ---- the initial values, and the check ------------------------------------------------- */

/* Returns the cosine along one direction after @p steps steps. */
static double cosine(int d, int i, int steps)
{
    double angle = 2 * M_PI / limit.size[d];

    return pow((5 + 2 * cos(angle)) / 7, steps) * cos(angle * i);
}

static double value_at(int x, int y, int z, int steps)
{
    return 1 + (cosine(0, x, steps) + cosine(1, y, steps) + cosine(2, z, steps)) / 3;
}

static void fill_planes(void)
{
    for (int z = limit.first; z < limit.end; z++)
        for (int y = 0; y < limit.size[1]; y++)
            for (int x = 0; x < limit.size[0]; x++)
                plane_of(limit.sweep, z)[y * limit.size[0] + x] = (float)value_at(x, y, z, 0);
}

/* Compares some cells with their exact values. */
static void verify(int steps)
{
    for (int z = limit.first; z < limit.end; z++)
        for (int y = 0; y < limit.size[1]; y += 5)
            for (int x = 0; x < limit.size[0]; x += 3)
                if (!(fabs(plane_of(limit.sweep, z)[y * limit.size[0] + x] -
                           value_at(x, y, z, steps)) < LIMIT_ERROR))
                    skua_abort("cell %d, %d, %d is wrong", x, y, z);
}

/* ---- main ---------------------------------------------------------------------------- */

static void prepare(void)
{
    size_t      plane  = (size_t)limit.size[0] * (size_t)limit.size[1] * sizeof(float);
    size_t      planes = (size_t)limit.size[2] / (size_t)skua_pes() + 1;
    skua_region region =
        bench_create_pieces(sizeof(struct limit_piece) + 2 * planes * plane, LIMIT_PES);

    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    limit.first = first_plane(skua_pe());
    limit.end   = first_plane(skua_pe() + 1);
}

/* Returns the seconds of all steps on the slowest PE. */
static double run_steps(int steps)
{
    double start;

    fill_planes();
    skua_sync();
    start = bench_now();
    for (int step = 0; step < steps; step++)
        run_sweep();
    return bench_largest(bench_now() - start);
}

static void start(int argc, char **argv)
{
    int   *size = limit.size, steps, repeat, blocks;
    double best = INFINITY;

    if (argc < 3 || sscanf(argv[2], "%d,%d,%d,%d,%d,%d", &size[0], &size[1], &size[2], &steps,
                           &repeat, &blocks) < 6)
        skua_abort("usage: bench-stencil3d_limit SERIES X,Y,Z,STEPS,REPEAT,BLOCKS");
    if (size[2] < skua_pes())
        skua_abort("some of %d PEs would have no plane", skua_pes());
    prepare();
    for (int i = 0; i < repeat; i++) {
        best = fmin(best, run_steps(steps));
        verify(steps);
    }
    bench_end_limit("stencil3d", argv[1], (size_t)blocks, "step", best / steps);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, start);
}
