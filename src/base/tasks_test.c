/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_test.c - a thread that the runtime did not start is noticed. */
#include "base/tasks.h"

#include <pthread.h>

#include "tests/tap.h"

static pthread_barrier_t tasks_barrier;

static void *tasks_test_thread(void *arg)
{
    pthread_barrier_wait(&tasks_barrier); /* it is running */
    pthread_barrier_wait(&tasks_barrier); /* it was counted */
    return arg;
}

int main(void)
{
    int       before = ski_tasks_count();
    pthread_t thread;

    OK(before >= 1, "a process has a thread");
    ski_tasks_set_own(before);
    OK(!ski_tasks_external(), "all threads are the runtime's");
    pthread_barrier_init(&tasks_barrier, NULL, 2);
    pthread_create(&thread, NULL, tasks_test_thread, NULL);
    pthread_barrier_wait(&tasks_barrier);
    OK(ski_tasks_count() == before + 1 && ski_tasks_external(), "another thread is noticed");
    ski_tasks_set_own(before + 1);
    OK(!ski_tasks_external(), "unless it is the runtime's, too");
    pthread_barrier_wait(&tasks_barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&tasks_barrier);
    return tap_end();
}
