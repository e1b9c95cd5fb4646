// SPDX-License-Identifier: Apache-2.0
//
// shmem_cxx_test.cc - OpenSHMEM in C++: the overloaded names, with a context and without, and the
// profiling interface, which builds with a sanitizer do not have.
#if __has_include(<pshmem.h>)
#include <pshmem.h>
#else
#include <shmem.h>
#define pshmem_sync       shmem_sync
#define pshmem_wait_until shmem_wait_until
#define pshmem_long_p     shmem_long_p
#endif

#include <cstdio>

static long          word;
static unsigned long bits;
static double        number, sum;
static uint64_t      signal_word;

int main()
{
    shmem_init();
    const int me = shmem_my_pe(), pes = shmem_n_pes(), next = (me + 1) % pes;
    long      value = me + 1;
    bool      right = true;

    shmem_put(&word, &value, 1, next);
    shmem_quiet();
    shmem_wait_until(&word, SHMEM_CMP_NE, 0);
    shmem_barrier_all();
    right = right && shmem_g(SHMEM_CTX_DEFAULT, &word, next) == me + 1;
    shmem_barrier_all();
    right = right && shmem_atomic_fetch_add(&word, 5L, next) == me + 1;
    shmem_atomic_or(SHMEM_CTX_DEFAULT, &bits, 6UL, next);
    shmem_put_signal(&number, &number, 0, &signal_word, 1, SHMEM_SIGNAL_SET, next);
    right  = right && shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1) == 1;
    number = me;
    shmem_sync(SHMEM_TEAM_WORLD);
    right = right && shmem_sum_reduce(SHMEM_TEAM_WORLD, &sum, &number, 1) == 0;
    right =
        right && sum == pes * (pes - 1) / 2.0 && bits == 6 && shmem_test(&bits, SHMEM_CMP_EQ, 6UL);
    static long psync[SHMEM_SYNC_SIZE];
    pshmem_sync(0, 0, pes, psync);
    pshmem_long_p(&word, 7, next);
    pshmem_wait_until(&word, SHMEM_CMP_EQ, 7);
    if (!right) {
        std::fprintf(stderr, "PE %d: wrong\n", me);
        shmem_global_exit(1);
    }
    shmem_finalize();
    return 0;
}
