/* SPDX-License-Identifier: Apache-2.0 */
/*
 * halo.c - heat conduction in a rod: each PE has a part of the rod and puts the cells at its ends
 * into the memory of its neighbours. Each PE waits for the cells of both neighbours.
 *
 * Two sets of halo cells are used alternately, so that a neighbour that is one step ahead does not
 * overwrite cells that are still in use.
 *
 * usage: halo [steps]
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 1000

struct halo { /* one neighbour writes it */
    skua_notify arrived;
    double      cell[2]; /* indexed by the parity of the step */
};

struct rod_part { /* a PE's part of the region */
    struct halo left, right;
};

static int steps = 1000;

/* Puts a cell into a halo of @p pe, at offset @p halo of its part, and notifies it. */
static void put_cell(skua_region region, int pe, size_t halo, int step, const double *value)
{
    size_t cell = offsetof(struct halo, cell) + (size_t)step % 2 * sizeof *value;

    skua_put_nb(
        skua_at(region, pe, halo + cell), value, sizeof *value,
        &(skua_rma_params){.notify = skua_at(region, pe, halo + offsetof(struct halo, arrived))});
}

/* Each neighbour has its own counter, since one of them may be a step ahead of the other. */
static void exchange(skua_region region, struct rod_part *mine, const double *u, int step)
{
    int pe = skua_pe(), pes = skua_pes();

    put_cell(region, (pe + pes - 1) % pes, offsetof(struct rod_part, right), step, &u[1]);
    put_cell(region, (pe + 1) % pes, offsetof(struct rod_part, left), step, &u[CELLS]);
    skua_notify_wait(&mine->left.arrived, (uint64_t)step + 1);
    skua_notify_wait(&mine->right.arrived, (uint64_t)step + 1);
    skua_flush_all(); /* the puts have read u, which may change now */
}

static void run(void *arg)
{
    static _Thread_local double u[CELLS + 2], v[CELLS + 2];
    skua_region                 region;
    struct rod_part            *mine;
    skua_future                 total = SKUA_FUTURE_INIT;
    double                      sum   = 0, start;

    (void)arg;
    skua_region_create(sizeof *mine, &region);
    mine = skua_region_local(region);
    memset(mine, 0, sizeof *mine);
    u[CELLS / 2] = skua_pe() == 0 ? 1000 : 0;
    skua_sync();
    start = skua_time();
    for (int step = 0; step < steps; step++) {
        exchange(region, mine, u, step);
        u[0]         = mine->left.cell[step % 2];
        u[CELLS + 1] = mine->right.cell[step % 2];
        for (int i = 1; i <= CELLS; i++)
            v[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1]);
        memcpy(u + 1, v + 1, CELLS * sizeof *u);
    }
    for (int i = 1; i <= CELLS; i++)
        sum += u[i];
    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, &sum, 1, skua_done_future(&total));
    sum = *(const double *)skua_future_wait(&total, NULL);
    if (skua_pe() == 0) {
        printf("%d steps on %d PEs took %.3f s; the heat is %.6f, initially 1000\n", steps,
               skua_pes(), skua_time() - start, sum);
        skua_exit(sum > 999.999 && sum < 1000.001 ? 0 : 1);
    }
    skua_future_clear(&total);
}

static void begin(int argc, char **argv)
{
    (void)argc, (void)argv;
    skua_thread_detach(skua_thread_create(run, NULL, 0));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = atoi(argv[1]);
    return skua_main(argc, argv, begin);
}
