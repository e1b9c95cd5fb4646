/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_test.c - a thread that the runtime did not start is noticed. */
#include "base/tasks.h"

#include <pthread.h>

#include "tests/tap.h"

static pthread_barrier_t tasks_started, tasks_counted;

static void *tasks_test_thread(void *arg)
{
    pthread_barrier_wait(&tasks_started);
    pthread_barrier_wait(&tasks_counted);
    return arg;
}

static void tasks_test_start(pthread_t *thread)
{
    pthread_create(thread, NULL, tasks_test_thread, NULL);
    pthread_barrier_wait(&tasks_started);
}

/* The first thread is there from the beginning to the end: ThreadSanitizer starts one of its own
 * with it, and a thread that has been joined may still be listed. */
int main(void)
{
    pthread_t thread[2];
    int       before;

    pthread_barrier_init(&tasks_started, NULL, 2);
    pthread_barrier_init(&tasks_counted, NULL, 3);
    tasks_test_start(&thread[0]);
    before = ski_tasks_count();
    OK(before >= 2, "a process has its threads");
    ski_tasks_set_own(before);
    OK(!ski_tasks_external(), "all threads are the runtime's");
    tasks_test_start(&thread[1]);
    OK(ski_tasks_count() == before + 1 && ski_tasks_external(), "another thread is noticed");
    ski_tasks_set_own(before + 1);
    OK(!ski_tasks_external(), "unless it is the runtime's, too");
    pthread_barrier_wait(&tasks_counted);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    pthread_barrier_destroy(&tasks_started);
    pthread_barrier_destroy(&tasks_counted);
    return tap_end();
}
