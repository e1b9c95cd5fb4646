/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c - the floor: two processes, or two threads, on different CPUs bounce a cache line, with
 * or without a memcpy of data into shared memory before.  No runtime is involved.
 *
 * usage: floor [threads] [cpu0 cpu1]
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

struct side {
    _Alignas(128) _Atomic uint32_t flag;
    _Alignas(128) char data[BENCH_BYTES];
};

static struct side *side; /* [2]: written by each for the other */
static char         source[2][BENCH_BYTES];
static int          cpu[2] = {0, 1};

/* One round trip: side 0 begins, side 1 answers. */
static void trip(int me, size_t bytes, uint32_t turn)
{
    for (int step = 0; step < 2; step++) {
        if (step == me) {
            if (bytes)
                memcpy(side[me].data, source[me], bytes);
            atomic_store_explicit(&side[me].flag, turn, memory_order_release);
        } else {
            while (atomic_load_explicit(&side[1 - me].flag, memory_order_acquire) != turn)
                ;
        }
    }
}

static void measure(int me, const char *series, size_t copied, size_t bytes)
{
    static _Thread_local uint32_t turn;
    int                           trips = bench_trips(copied);
    double                        best  = 1e9;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now(), time;
        for (int i = 0; i < trips; i++)
            trip(me, copied, ++turn);
        time = (bench_now() - start) / trips;
        if (time < best)
            best = time;
    }
    if (me == 0)
        bench_report("messages", series, bytes, "roundtrip_us", best * 1e6);
}

static void measure_all(int me, const char *suffix)
{
    char name[2][64];

    snprintf(name[0], sizeof name[0], "floor-flag%s", suffix);
    snprintf(name[1], sizeof name[1], "floor-copy%s", suffix);
    bench_pin(cpu[me]);
    for (size_t i = 0; i < BENCH_SIZES; i++) {
        measure(me, name[0], 0, bench_sizes[i]);
        measure(me, name[1], bench_sizes[i], bench_sizes[i]);
    }
}

static void *partner(void *arg)
{
    measure_all(1, arg);
    return NULL;
}

int main(int argc, char **argv)
{
    int       threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    pthread_t thread;

    if (argc > 2 + threads) {
        cpu[0] = atoi(argv[1 + threads]);
        cpu[1] = atoi(argv[2 + threads]);
    }
    side = mmap(NULL, 2 * sizeof *side, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (side == MAP_FAILED)
        return perror("mmap"), 1;
    memset(source, 1, sizeof source); /* maps its pages */
    if (threads) {
        pthread_create(&thread, NULL, partner, "-threads");
        measure_all(0, "-threads");
        pthread_join(thread, NULL);
    } else if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* without its partner it would spin forever */
        measure_all(1, "");
        _exit(0);
    } else {
        measure_all(0, "");
        wait(NULL);
    }
    return 0;
}
