/* SPDX-License-Identifier: Apache-2.0 */
/* membarrier_test.c - of two threads that store and then load, one sees the store of the other. */
#include "base/membarrier.h"

#include <pthread.h>

#include "tests/tap.h"

#define ROUNDS 500

/* One round: a word for each thread, and what it has seen of the other one. */
struct membarrier_round {
    _Alignas(128) _Atomic int word[2];
    int seen[2];
};

static struct membarrier_round rounds[ROUNDS];
static pthread_barrier_t       membarrier_begin;
static bool                    membarrier_failed;

static void *membarrier_light_thread(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&membarrier_begin);
        atomic_store_explicit(&rounds[i].word[0], 1, memory_order_relaxed);
        ski_membarrier_light();
        rounds[i].seen[0] = atomic_load_explicit(&rounds[i].word[1], memory_order_relaxed);
    }
    return arg;
}

static void membarrier_heavy_rounds(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&membarrier_begin);
        atomic_store_explicit(&rounds[i].word[1], 1, memory_order_relaxed);
        if (!ski_membarrier_heavy())
            membarrier_failed = true;
        rounds[i].seen[1] = atomic_load_explicit(&rounds[i].word[0], memory_order_relaxed);
    }
}

int main(void)
{
    pthread_t thread;
    int       missed = 0;

    if (!ski_membarrier_register())
        return tap_end();
    pthread_barrier_init(&membarrier_begin, NULL, 2);
    pthread_create(&thread, NULL, membarrier_light_thread, NULL);
    membarrier_heavy_rounds();
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&membarrier_begin);
    for (int i = 0; i < ROUNDS; i++)
        missed += !rounds[i].seen[0] && !rounds[i].seen[1];
    OK(missed == 0 && !membarrier_failed, "a fence by one of two threads serves both");
    return tap_end();
}
