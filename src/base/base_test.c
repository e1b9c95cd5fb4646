/* SPDX-License-Identifier: Apache-2.0 */
/* base_test.c - the small things of base: status texts, clock, places, lock. */
#include <pthread.h>
#include <skua/status.h>
#include <skua/time.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/topology.h"
#include "base/vector.h"
#include "tests/tap.h"

static void test_status(void)
{
    OK(strcmp(skua_status_str(SKUA_OK), "success") == 0, "the text of success");
    OK(strcmp(skua_status_str(SKUA_ERR_NOMEM), "out of memory") == 0, "of a failure");
    OK(strcmp(skua_status_str((skua_status_t)-99), "unknown status") == 0, "of what is none");
}

static void test_clock(void)
{
    double   before = skua_time(), spent;
    uint64_t ticks  = ski_ns_to_ticks(1000000);

    usleep(20000);
    spent = skua_time() - before;
    OK(spent > 0.015 && spent < 60, "20 ms of sleep take %.1f ms", spent * 1e3);
    OK(ski_ticks_to_ns(ticks) > 990000 && ski_ticks_to_ns(ticks) < 1010000, "ticks to ns and back");
}

static void test_places(void)
{
    int                 cpu[16];
    struct ski_topology topology;

    OK(ski_topology_load(&topology) == SKUA_OK && topology.cpus >= 1 && topology.cores >= 1,
       "there is a CPU");
    OK(ski_topology_place("none", 3, cpu) == SKUA_OK && cpu[2] == SKI_CPU_ANY, "none");
    OK(ski_topology_place("4,1-2", 5, cpu) == SKUA_OK && cpu[0] == 4 && cpu[1] == 1 &&
           cpu[2] == 2 && cpu[3] == 4,
       "a list, and round again");
    OK(ski_topology_place("2-1", 1, cpu) == SKUA_ERR_INVAL, "a range that goes down");
    OK(ski_topology_place("1,,2", 1, cpu) == SKUA_ERR_INVAL, "a list with a gap");
    OK(ski_topology_place("cores", 1, cpu) == SKUA_ERR_INVAL, "an unknown word");
    OK(ski_topology_place("auto", 16, cpu) == SKUA_OK && cpu[0] == topology.cpu[0],
       "auto, in order");
    for (int i = 1; i < 16 && topology.cpus < 16; i++)
        if (cpu[i] == cpu[i - 1])
            goto together;
    OK(topology.cpus >= 16, "a CPU for each, or neighbours share one");
    ski_topology_free(&topology);
    return;
together:
    OK(1, "neighbours share a CPU where there are too few");
    ski_topology_free(&topology);
}

static struct ski_lock lock;
static long            guarded;

static void *count(void *arg)
{
    for (int i = 0; i < 100000; i++) {
        ski_lock_acquire(&lock);
        guarded++;
        ski_lock_release(&lock);
    }
    return arg;
}

static void test_lock(void)
{
    pthread_t thread[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    OK(guarded == 400000, "the lock excludes");
}

static void test_vector(void)
{
    struct ski_vector vector = {0};
    int               items[100], good = 1;

    OK(!ski_vector_pop(&vector), "an empty vector");
    for (int i = 0; i < 100; i++)
        ski_vector_push(&vector, &items[i]);
    for (int i = 99; i >= 0; i--)
        good &= ski_vector_pop(&vector) == &items[i];
    OK(good, "the newest comes out first");
    ski_vector_destroy(&vector);
}

int main(void)
{
    test_status();
    test_clock();
    test_places();
    test_lock();
    test_vector();
    return tap_end();
}
