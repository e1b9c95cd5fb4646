/* SPDX-License-Identifier: Apache-2.0 */
/* futex_lock_test.c - threads that count under a lock lose nothing. */
#include "base/futex_lock.h"

#include <pthread.h>

#include "tests/tap.h"

#define THREADS 4
#define EACH    100000

static struct ski_lock lock_tested;
static long            lock_guarded;

static void *lock_test_count(void *arg)
{
    for (int i = 0; i < EACH; i++) {
        ski_lock_acquire(&lock_tested);
        lock_guarded++;
        ski_lock_release(&lock_tested);
    }
    return arg;
}

int main(void)
{
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, lock_test_count, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    OK(lock_guarded == (long)THREADS * EACH, "the lock excludes");
    OK(atomic_load(&lock_tested.state) == 0, "and is free in the end");
    return tap_end();
}
