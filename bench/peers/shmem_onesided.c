/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_onesided.c - bench_onesided.h with OpenSHMEM, two PEs.
 *
 * usage: shmem_onesided SERIES
 *
 * OpenSHMEM has no accumulate, and no vector of segments: each segment is a put.  A notification is
 * a put of its own after a fence: put-with-signal came with OpenSHMEM 1.5, and Open MPI 4 has 1.4.
 */
#include <shmem.h>

#include "bench_onesided.h"

static char *memory;

static void *area(void)
{
    return memory;
}

static void barrier(const struct onesided_access *a)
{
    (void)a;
    shmem_barrier_all();
}

static void complete(const struct onesided_access *a)
{
    (void)a;
    shmem_quiet();
}

static void put_nb(const struct onesided_access *a)
{
    shmem_putmem_nbi(memory + a->offset, onesided_source + a->offset, a->bytes, a->pe);
}

static void get_nb(const struct onesided_access *a)
{
    shmem_getmem_nbi(onesided_result + a->offset, memory + a->offset, a->bytes, a->pe);
}

static void put_patch(const struct onesided_access *a)
{
    size_t row = a->side * sizeof(double);

    for (size_t i = 0; i < a->side; i++)
        shmem_putmem_nbi(memory + i * ONESIDED_SIDE * sizeof(double), onesided_source + i * row,
                         row, a->pe);
}

static void get_patch(const struct onesided_access *a)
{
    size_t row = a->side * sizeof(double);

    for (size_t i = 0; i < a->side; i++)
        shmem_getmem_nbi(onesided_result + i * row, memory + i * ONESIDED_SIDE * sizeof(double),
                         row, a->pe);
}

static void put_scatter(const struct onesided_access *a)
{
    for (size_t i = 0; i < ONESIDED_SIDE; i++)
        shmem_putmem_nbi(memory + onesided_index[i] * sizeof(double),
                         onesided_source + i * sizeof(double), sizeof(double), a->pe);
}

static void put(const struct onesided_access *a)
{
    switch (a->shape) {
    case ONESIDED_WHOLE: shmem_putmem(memory, onesided_source, a->bytes, a->pe); break;
    case ONESIDED_PATCH: put_patch(a); break;
    case ONESIDED_COLUMN:
        shmem_double_iput((double *)(void *)memory, (double *)(void *)onesided_source,
                          ONESIDED_SIDE, 1, ONESIDED_SIDE, a->pe);
        break;
    case ONESIDED_SCATTER: put_scatter(a); break;
    }
    shmem_quiet();
}

static void get(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE) {
        shmem_getmem(onesided_result, memory, a->bytes, a->pe);
        return;
    }
    get_patch(a);
    shmem_quiet();
}

static void fetch_add(const struct onesided_access *a)
{
    shmem_long_atomic_fetch_add((long *)(void *)(memory + ONESIDED_NUMBER), 1, a->pe);
}

static void notify(const struct onesided_access *a, uint64_t turn)
{
    shmem_putmem(memory, onesided_source, a->bytes, a->pe);
    shmem_fence();
    shmem_uint64_p((uint64_t *)(void *)(memory + ONESIDED_FLAG), turn, a->pe);
}

static void await(const struct onesided_access *a, uint64_t turn)
{
    (void)a;
    shmem_uint64_wait_until((uint64_t *)(void *)(memory + ONESIDED_FLAG), SHMEM_CMP_GE, turn);
}

static void allocate(const struct onesided_access *a)
{
    shmem_free(shmem_malloc(a->bytes));
}

static const struct onesided ops = {.area      = area,
                                    .barrier   = barrier,
                                    .put       = put,
                                    .get       = get,
                                    .fetch_add = fetch_add,
                                    .put_nb    = put_nb,
                                    .get_nb    = get_nb,
                                    .complete  = complete,
                                    .allocate  = allocate,
                                    .notify    = notify,
                                    .await     = await};

int main(int argc, char **argv)
{
    shmem_init();
    if (argc != 2 || shmem_n_pes() != 2) {
        fprintf(stderr, "usage: oshrun -n 2 shmem_onesided SERIES\n");
        shmem_global_exit(2);
    }
    onesided_fill();
    memory = shmem_malloc(ONESIDED_MEMORY);
    memset(memory, 0, ONESIDED_MEMORY);
    onesided_run(&ops, argv[1], shmem_my_pe());
    shmem_free(memory);
    shmem_global_exit(0); /* shmem_finalize() crashes in Open MPI up to 4.1.5 (Open MPI) */
}
