/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - user threads: they keep their state across switches, synchronise with each other by
 * all primitives, and there may be very many of them.
 *
 * usage: threads [MANY]   MANY: the number of threads in the last test
 */
#include <fenv.h>
#include <skua/skua.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static skua_handler thread_handler;

/* ---- state ----------------------------------------------------------------- */

static void compute(void *arg)
{
    double *result = arg, sum = 0, seed = *result;
    char    local[2000];

    memset(local, (int)seed, sizeof local);
    for (int i = 0; i < 50; i++) {
        double kept = seed / (i + 1); /* lives in a register across the switch */
        skua_thread_yield();
        sum += kept;
        CHECK(local[i * 40] == (char)(int)seed);
    }
    *result = sum;
}

static void test_state(void)
{
    enum { THREADS = 20 };
    skua_thread *thread[THREADS];
    double       value[THREADS];

    for (int i = 0; i < THREADS; i++) {
        value[i]  = i + 1;
        thread[i] = skua_thread_create(compute, &value[i], i % 2 ? 0 : 32768);
    }
    for (int i = 0; i < THREADS; i++) {
        double sum = 0;
        skua_thread_join(thread[i]);
        for (int k = 0; k < 50; k++)
            sum += (double)(i + 1) / (k + 1);
        CHECK(value[i] == sum);
    }
}

/* Each thread rounds in its own way, and the scheduler as before. */
static void round_in_own_way(void *arg)
{
    const int *mode = arg;

    CHECK(fegetround() == FE_UPWARD); /* of the caller of skua_thread_create() */
    CHECK(fesetround(*mode) == 0);
    for (int i = 0; i < 10; i++) {
        skua_thread_yield();
        CHECK(fegetround() == *mode);
    }
}

static void test_rounding(void)
{
    static const int modes[] = {FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST, FE_UPWARD};
    skua_thread     *thread[4];

    CHECK(fesetround(FE_UPWARD) == 0);
    for (int i = 0; i < 4; i++)
        thread[i] = skua_thread_create(round_in_own_way, (void *)(uintptr_t)&modes[i], 0);
    CHECK(fesetround(FE_TONEAREST) == 0);
    for (int i = 0; i < 4; i++) {
        skua_thread_join(thread[i]);
        CHECK(fegetround() == FE_TONEAREST);
    }
}

/* ---- suspend and resume ---------------------------------------------------- */

static void sleeper(void *arg)
{
    int *wakes = arg;

    CHECK(skua_thread_self() != NULL);
    for (int i = 0; i < 3; i++) {
        skua_thread_suspend();
        ++*wakes;
    }
}

static void test_resume(void)
{
    int          wakes  = 0;
    skua_thread *thread = skua_thread_create(sleeper, &wakes, 0);

    CHECK(skua_thread_self() == NULL);
    skua_thread_resume(thread); /* a resume before the suspend is not lost */
    while (skua_poll(10))
        ;
    CHECK(wakes == 1);
    skua_thread_resume(thread);
    skua_thread_resume(thread); /* two resumes before it runs count as one */
    while (skua_poll(10))
        ;
    CHECK(wakes == 2);
    skua_thread_resume(thread);
    skua_thread_join(thread);
    CHECK(wakes == 3);
}

/* The neighbour resumes a thread of this PE, whose handle it received in a message. */
static void on_thread(skua_msg *msg)
{
    skua_thread *thread = *(skua_thread **)skua_msg_data(msg);
    int          pe     = skua_msg_source(msg);

    skua_msg_free(msg);
    skua_thread_resume_on(pe, thread);
}

static void test_resume_from_afar(void)
{
    int          wakes  = 0;
    skua_thread *thread = skua_thread_create(sleeper, &wakes, 0);

    for (int i = 1; i <= 3; i++) {
        skua_send_copy((skua_pe() + 1) % skua_pes(), thread_handler, &thread, sizeof thread);
        while (wakes < i)
            skua_run_count(1);
    }
    skua_thread_join(thread);
}

/* ---- mutex, condition, future ---------------------------------------------- */

struct shared {
    skua_mutex   mutex;
    skua_cond    filled, emptied;
    skua_future  future;
    skua_counter ended;
    int          inside, value, total, order;
};

static void in_turn(void *arg)
{
    struct shared *s = arg;

    for (int i = 0; i < 10; i++) {
        skua_mutex_lock(&s->mutex);
        CHECK(s->inside++ == 0);
        skua_thread_yield();
        s->inside--;
        s->total++;
        skua_mutex_unlock(&s->mutex);
    }
    skua_complete(skua_done_count(&s->ended), NULL, 0);
}

static void produce(void *arg)
{
    struct shared *s = arg;

    for (int i = 1; i <= 20; i++) {
        skua_mutex_lock(&s->mutex);
        while (s->value)
            skua_cond_wait(&s->emptied, &s->mutex);
        s->value = i;
        skua_cond_signal(&s->filled);
        skua_mutex_unlock(&s->mutex);
    }
}

static void consume(void *arg)
{
    struct shared *s = arg;

    for (int i = 1; i <= 20; i++) {
        skua_mutex_lock(&s->mutex);
        while (!s->value)
            skua_cond_wait(&s->filled, &s->mutex);
        CHECK(s->value == i);
        s->value = 0;
        skua_cond_broadcast(&s->emptied);
        skua_mutex_unlock(&s->mutex);
    }
}

static void await(void *arg)
{
    struct shared *s = arg;
    size_t         bytes;
    const char    *text = skua_future_wait(&s->future, &bytes);

    CHECK(bytes == 6 && strcmp(text, "hello") == 0);
    skua_complete(skua_done_count(&s->ended), NULL, 0);
}

static void test_waiting(void)
{
    struct shared s = {.mutex   = SKUA_MUTEX_INIT,
                       .filled  = SKUA_COND_INIT,
                       .emptied = SKUA_COND_INIT,
                       .future  = SKUA_FUTURE_INIT,
                       .ended   = SKUA_COUNTER_INIT};
    skua_thread  *pair[2];

    for (int i = 0; i < 5; i++)
        skua_thread_detach(skua_thread_create(in_turn, &s, 0));
    CHECK(skua_counter_wait(&s.ended, 5) && s.total == 50);
    CHECK(skua_mutex_trylock(&s.mutex) && !skua_mutex_trylock(&s.mutex));
    skua_mutex_unlock(&s.mutex);

    pair[0] = skua_thread_create(consume, &s, 0);
    pair[1] = skua_thread_create(produce, &s, 0);
    skua_thread_join(pair[1]);
    skua_thread_join(pair[0]);

    for (int i = 0; i < 3; i++)
        skua_thread_detach(skua_thread_create(await, &s, 0));
    while (skua_poll(10))
        ;
    CHECK(s.ended.value == 5);
    skua_future_set(&s.future, "hello", 6);
    CHECK(skua_counter_wait(&s.ended, 8));
    skua_future_clear(&s.future);
    CHECK(!s.future.ready);
}

/* ---- very many -------------------------------------------------------------- */

static void one_of_many(void *arg)
{
    skua_thread_yield();
    ++*(int *)arg;
    skua_thread_suspend();
    ++*(int *)arg;
}

static long resident_bytes(void)
{
    FILE *file  = fopen("/proc/self/statm", "r");
    long  pages = 0;

    CHECK(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void test_many(int many)
{
    skua_thread **thread = malloc((size_t)many * sizeof *thread);
    int           steps  = 0;
    long          before = resident_bytes();

    for (int i = 0; i < many; i++)
        thread[i] = skua_thread_create(one_of_many, &steps, 0);
    while (steps < many)
        skua_run_count(1);
    if (many >= 100000) /* all threads exist: about a page of stack each */
        CHECK((resident_bytes() - before) / many <= 2 * sysconf(_SC_PAGESIZE));
    for (int i = 0; i < many; i++)
        skua_thread_resume(thread[i]);
    for (int i = 0; i < many; i++)
        skua_thread_join(thread[i]);
    CHECK(steps == 2 * many);
    free(thread);
}

static void start(int argc, char **argv)
{
    test_state();
    test_rounding();
    test_resume();
    test_resume_from_afar();
    test_waiting();
    test_many(argc > 1 ? atoi(argv[1]) : 1000);
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    thread_handler = skua_handler_register("thread", on_thread);
    return skua_main(argc, argv, start);
}
