/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_profile_test.c - the profiling interface: a program that defines routines of OpenSHMEM and
 * calls the library's by their second names. It also has variables with the names of old routines.
 */
#include <pshmem.h>
#include <stdio.h>

static int puts_seen, barriers_seen;
int        my_pe, num_pes;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

int main(void)
{
    static long from = 5, to;
    int         failed;

    pshmem_init();
    my_pe   = shmem_my_pe();
    num_pes = shmem_n_pes();
    shmem_long_put(&to, &from, 1, (my_pe + 1) % num_pes);
    shmem_barrier_all();
    failed = to != 5 || puts_seen != 1 || barriers_seen != 1 || pshmem_my_pe() != my_pe;
    if (failed)
        fprintf(stderr, "PE %d: to %ld, puts %d, barriers %d\n", my_pe, to, puts_seen,
                barriers_seen);
    pshmem_finalize();
    return failed;
}
