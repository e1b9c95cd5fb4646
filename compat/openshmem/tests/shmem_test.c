/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_test.c - the complete test of OpenSHMEM: runs the parts of shmem_test.h.
 *
 * usage: shmem_test [exit pe|thread CODE | gets]
 *
 * With `gets' all PEs read from each other at the same time, which must not depend on a progress
 * thread.
 */
#include "shmem_test.h"

#include <mpp/shmem.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

int me, pes, next, prev;

/* A variable in .data, which keeps its value through the start and the end. */
static int variable = 7;

static void test_set_pes(void)
{
    me   = shmem_my_pe();
    pes  = shmem_n_pes();
    next = (me + 1) % pes;
    prev = (me + pes - 1) % pes;
}

/* Every PE waits for data of another one, which meanwhile waits itself: a call that waits serves
 * requests. The data are so large that Skua copies them also within a host. */
static int test_gets(void)
{
    enum { WORDS = 60000, TURNS = 20 };
    long *at = NULL, *to = malloc(WORDS * sizeof *to), *counter = NULL;

    shmem_init();
    test_set_pes();
    at      = shmem_malloc(WORDS * sizeof *at);
    counter = shmem_calloc(1, sizeof *counter);
    CHECK(at && counter && to);
    for (int i = 0; i < WORDS; i++)
        at[i] = 1000L * me + i % 1000;
    shmem_barrier_all();
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(shmem_long_g(at + turn, next) == 1000L * next + turn);
        shmem_long_get(to, at, WORDS, next);
        CHECK(to[WORDS - 1] == 1000L * next + 999);
        shmem_long_get_nbi(to, at, WORDS, prev);
        shmem_quiet();
        CHECK(to[WORDS - 1] == 1000L * prev + 999);
        shmem_long_iget(to, at, 1, 2, 500, next);
        CHECK(to[499] == 1000L * next + 998);
        CHECK(shmem_long_atomic_fetch_add(counter, 1, prev) == turn);
    }
    shmem_barrier_all();
    CHECK(*counter == TURNS);
    shmem_finalize();
    free(to);
    return 0;
}

/* Ends the job, from the PE or from another thread. */
static void *test_end(void *status)
{
    shmem_global_exit((int)(intptr_t)status);
    return NULL;
}

static void test_exit(const char *how, int status)
{
    pthread_t thread;

    if (me == pes - 1 && strcmp(how, "thread") == 0)
        CHECK(pthread_create(&thread, NULL, test_end, (void *)(intptr_t)status) == 0);
    else if (me == pes - 1)
        test_end((void *)(intptr_t)status);
    for (;;)
        shmem_barrier_all();
}

int main(int argc, char **argv)
{
    int  provided, major, minor;
    char name[SHMEM_MAX_NAME_LEN];

    if (argc > 1 && strcmp(argv[1], "gets") == 0)
        return test_gets();
    variable++;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    shmem_query_thread(&provided);
    CHECK(provided == SHMEM_THREAD_MULTIPLE && variable == 8);
    test_set_pes();
    if (argc > 3 && strcmp(argv[1], "exit") == 0)
        test_exit(argv[2], atoi(argv[3]));
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
