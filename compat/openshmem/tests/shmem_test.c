/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_test.c - the complete test of OpenSHMEM: runs the parts of shmem_test.h.
 *
 * usage: shmem_test [exit CODE]
 */
#include "shmem_test.h"

#include <string.h>

int me, pes, next, prev;

/* A variable in .data, which keeps its value through the start and the end. */
static int variable = 7;

int main(int argc, char **argv)
{
    int  provided, major, minor;
    char name[SHMEM_MAX_NAME_LEN];

    variable++;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    shmem_query_thread(&provided);
    CHECK(provided == SHMEM_THREAD_MULTIPLE && variable == 8);
    me   = shmem_my_pe();
    pes  = shmem_n_pes();
    next = (me + 1) % pes;
    prev = (me + pes - 1) % pes;
    if (argc > 2 && strcmp(argv[1], "exit") == 0) {
        if (me == pes - 1)
            shmem_global_exit(atoi(argv[2]));
        for (;;)
            shmem_barrier_all();
    }
    CHECK(my_pe() == me && _my_pe() == me && num_pes() == pes && _num_pes() == pes);
    shmem_info_get_version(&major, &minor);
    shmem_info_get_name(name);
    CHECK(major == 1 && minor == 5 && strcmp(name, SHMEM_VENDOR_STRING) == 0);
    shmem_pcontrol(1);
    test_memory();
    test_rma();
    test_amo();
    test_wait();
    test_polling();
    test_teams();
    test_collectives();
    test_locks();
    test_threads();
    variable += 10;
    shmem_finalize();
    if (variable != 18)
        return 1;
    return 0;
}
