/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.c - non-blocking operations of external threads: handles, flushes, fences, completions.
 *
 * Every PE has external threads, which begin puts, gets, accumulates and atomics on all PEs and
 * wait for them in every possible way. One of them begins a put to a PE that serves it only after
 * the call has returned; others end without a wait, and their completions are delivered
 * nevertheless, even if the inbox of the PE is full.  The last ones wait while the job ends.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <skua/skua.h>

#include "tap.h"

#define PES     16 /* at most */
#define THREADS 3
#define WORDS   64
#define LARGE   20000 /* words of a put that takes several requests */
#define MANY    300   /* number of completions: more than a small inbox holds */

/* The memory of a PE for one external thread of the job. */
struct outside_slot {
    uint64_t word[WORDS], data, flag;
};

struct outside_memory {
    struct outside_slot slot[PES][THREADS];
    uint64_t            large[LARGE];
    uint64_t            sum, tickets, locked, early[THREADS];
    skua_notify         notified;
};

struct outside_thread {
    pthread_t   thread;
    int         pe, pes, number;
    skua_region region;
    skua_locks  locks;
    atomic_bool returned; /* the call */
};

struct outside_pe {
    skua_region region;
    int         ended; /* number of completions of the threads of this PE */
};

static long         times = 20;
static skua_pe_data pe_key;
static skua_handler ended;

static struct outside_thread last[PES]; /* the thread of each PE that waits while the job ends */

#define OFFSET(member) offsetof(struct outside_memory, member)

static skua_gaddr slot_at(const struct outside_thread *t, int pe, size_t offset)
{
    size_t slot = (size_t)(t->pe * THREADS + t->number) * sizeof(struct outside_slot);

    return skua_at(t->region, pe, OFFSET(slot) + slot + offset);
}

static uint64_t value_of(const struct outside_thread *t, long round, int pe, int word)
{
    return (((uint64_t)round * PES + (uint64_t)pe) * PES + (uint64_t)t->pe) * WORDS +
           (uint64_t)word;
}

/* ---- the functions of the threads ------------------------------------------------------------ */

static void begin_puts(const struct outside_thread *t, int pe, long round, uint64_t *from,
                       const skua_rma_params *params)
{
    for (int i = 0; i < WORDS; i++) {
        from[i] = value_of(t, round, pe, i);
        CHECK(skua_put_nb(slot_at(t, pe, (size_t)i * 8), &from[i], 8, params) >= 0);
    }
}

static void check_words(const struct outside_thread *t, int pe, long round, const uint64_t *word)
{
    for (int i = 0; i < WORDS; i++)
        CHECK(word[i] == value_of(t, round, pe, i));
}

/* Puts and gets with a handle of the thread's own. */
static void use_handles(const struct outside_thread *t, long round)
{
    uint64_t        from[PES][WORDS], to[PES][WORDS];
    skua_handle     puts = SKUA_HANDLE_INIT, gets = SKUA_HANDLE_INIT;
    skua_rma_params put = {.handle = &puts}, get = {.handle = &gets};

    for (int pe = 0; pe < t->pes; pe++)
        begin_puts(t, pe, round, from[pe], &put);
    skua_handle_wait(&puts);
    CHECK(skua_handle_test(&puts));
    for (int pe = 0; pe < t->pes; pe++)
        CHECK(skua_get_nb(to[pe], slot_at(t, pe, 0), sizeof to[pe], &get) >= 0);
    while (!skua_handle_test(&gets))
        sched_yield();
    for (int pe = 0; pe < t->pes; pe++)
        check_words(t, pe, round, to[pe]);
}

/* A flush of a PE, of a region, and of all. */
static void use_flushes(const struct outside_thread *t, long round)
{
    uint64_t from[PES][WORDS], to[WORDS];

    for (int pe = 0; pe < t->pes; pe++)
        begin_puts(t, pe, round, from[pe], NULL);
    for (int pe = 0; pe < t->pes; pe++) {
        if (round % 3 == 0)
            skua_flush(pe);
        else if (round % 3 == 1)
            skua_flush_region(t->region);
        else
            skua_flush_all();
        CHECK(skua_get(to, slot_at(t, pe, 0), sizeof to) == SKUA_OK);
        check_words(t, pe, round, to);
    }
}

/* A blocking operation, an atomic and a notification take effect after the operations in flight. */
static void mix_calls(const struct outside_thread *t, long round)
{
    int      pe    = (int)(round % t->pes);
    uint64_t value = (uint64_t)round + 1, later = value + 1, found = 0;

    CHECK(skua_put_nb(slot_at(t, pe, offsetof(struct outside_slot, data)), &value, 8, NULL) >= 0);
    skua_fence(pe);
    CHECK(skua_put(slot_at(t, pe, offsetof(struct outside_slot, data)), &later, 8) == SKUA_OK);
    CHECK(skua_get(&found, slot_at(t, pe, offsetof(struct outside_slot, data)), 8) == SKUA_OK);
    CHECK(found == later);
    CHECK(skua_put_nb(slot_at(t, pe, offsetof(struct outside_slot, flag)), &value, 8, NULL) >= 0);
    CHECK(skua_atomic(slot_at(t, pe, offsetof(struct outside_slot, flag)), SKUA_ATOMIC_SWAP,
                      SKUA_UINT64, &later, &found) == SKUA_OK);
    CHECK(found == value);
    CHECK(skua_notify_add(skua_at(t->region, pe, OFFSET(notified)), 1) == SKUA_OK);
}

/* Accumulates and atomics of all threads on the same words. */
static void add_up(const struct outside_thread *t)
{
    uint64_t        one    = 1, ticket[PES];
    skua_update     sum    = {.op = SKUA_SUM, .type = SKUA_UINT64};
    skua_handle     all    = SKUA_HANDLE_INIT;
    skua_rma_params params = {.handle = &all};

    for (int pe = 0; pe < t->pes; pe++) {
        ticket[pe] = UINT64_MAX;
        CHECK(skua_acc_nb(skua_at(t->region, pe, OFFSET(sum)), &one, 8, &sum, &params) >= 0);
        CHECK(skua_atomic_nb(skua_at(t->region, pe, OFFSET(tickets)), SKUA_ATOMIC_ADD, SKUA_UINT64,
                             &one, &ticket[pe], &params) >= 0);
    }
    skua_handle_wait(&all);
    for (int pe = 0; pe < t->pes; pe++)
        CHECK(ticket[pe] < (uint64_t)times * THREADS * (uint64_t)t->pes);
}

/* The next holder of a lock sees the puts of the previous one. */
static void use_lock(const struct outside_thread *t, long round)
{
    int             pe     = (int)(round % t->pes);
    skua_gaddr      at     = skua_at(t->region, pe, OFFSET(locked));
    uint64_t        value  = 0;
    skua_handle     put    = SKUA_HANDLE_INIT;
    skua_rma_params params = {.handle = &put};

    CHECK(skua_lock(t->locks, pe, 0));
    CHECK(skua_get(&value, at, 8) == SKUA_OK);
    value++;
    CHECK(skua_put_nb(at, &value, 8, &params) >= 0);
    skua_unlock(t->locks, pe, 0);
    CHECK(put.pending == 0);
}

static void put_large(const struct outside_thread *t)
{
    static uint64_t from[LARGE];
    skua_handle     large  = SKUA_HANDLE_INIT;
    skua_rma_params params = {.handle = &large};

    for (int i = 0; i < LARGE; i++)
        from[i] = (uint64_t)i;
    CHECK(skua_put_nb(skua_at(t->region, t->pes - 1, OFFSET(large)), from, sizeof from, &params) >=
          0);
    skua_handle_wait(&large);
}

/* ---- calls that do not wait -------------------------------------------------------------------
 */

/* The thread may end at once: PEs of the process complete the put, and its completion is a message
 * to the PE. */
static void put_and_leave(struct outside_thread *t)
{
    static const uint64_t value  = 7;
    skua_rma_params       params = {.remote = skua_done_send(t->pe, ended)};

    size_t early = OFFSET(early) + (size_t)t->number * sizeof value;

    CHECK(skua_put_nb(skua_at(t->region, t->pe, early), &value, sizeof value, &params) >= 0);
    t->returned = true;
}

static void *run_briefly(void *arg)
{
    put_and_leave(arg);
    return NULL;
}

/* PEs of the process receive the replies, many at a time. */
static void *run_many(void *arg)
{
    for (int i = 0; i < MANY; i++)
        put_and_leave(arg);
    return NULL;
}

/* The memory may be reused when the wait returns, although the job ends. */
static void *run_until_exit(void *arg)
{
    struct outside_thread *t      = arg;
    uint64_t              *to     = malloc((size_t)t->pes * LARGE * sizeof *to);
    skua_handle            gets   = SKUA_HANDLE_INIT;
    skua_rma_params        params = {.handle = &gets};

    for (int pe = 0; to && pe < t->pes; pe++) {
        skua_status status =
            skua_get_nb(to + (size_t)pe * LARGE, skua_at(t->region, pe, OFFSET(large)),
                        LARGE * sizeof *to, &params);

        CHECK(status >= 0 || status == SKUA_ERR_EXIT);
    }
    t->returned = true;
    skua_handle_wait(&gets);
    free(to);
    return NULL;
}

static void *run_outside(void *arg)
{
    struct outside_thread *t = arg;

    for (long round = 0; round < times; round++) {
        use_handles(t, round);
        use_flushes(t, round);
        mix_calls(t, round);
        add_up(t);
        use_lock(t, round);
    }
    if (t->pe == 0 && t->number == 0)
        put_large(t);
    put_and_leave(t);
    return NULL;
}

static void on_ended(skua_msg *msg)
{
    ((struct outside_pe *)skua_pe_data_get(pe_key))->ended++;
    skua_msg_free(msg);
}

static bool have_ended(void *threads)
{
    return ((struct outside_pe *)skua_pe_data_get(pe_key))->ended == *(int *)threads;
}

/* The PE serves no request until the call of its thread has returned. */
static void test_returns_early(struct outside_thread *t, const struct outside_memory *mine)
{
    CHECK(pthread_create(&t->thread, NULL, run_briefly, t) == 0);
    while (!t->returned)
        sched_yield();
    CHECK(pthread_join(t->thread, NULL) == 0);
    CHECK(skua_run_until(have_ended, &(int){1}));
    CHECK(mine->early[t->number] == 7);
    skua_sync();
}

static void test_many(struct outside_thread *t)
{
    CHECK(pthread_create(&t->thread, NULL, run_many, t) == 0);
    CHECK(skua_run_until(have_ended, &(int){1 + MANY}));
    CHECK(pthread_join(t->thread, NULL) == 0);
    skua_sync();
}

static void test_threads(struct outside_thread *threads)
{
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i].thread, NULL, run_outside, &threads[i]) == 0);
    CHECK(skua_run_until(have_ended, &(int){1 + MANY + THREADS}));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i].thread, NULL) == 0);
    skua_sync();
}

/* The program joins the thread. */
static void test_exit(struct outside_thread *t)
{
    CHECK(pthread_create(&t->thread, NULL, run_until_exit, t) == 0);
    while (!t->returned)
        skua_poll(WORDS);
    if (skua_pe() == 0)
        skua_exit(0);
}

/* Returns how often threads of the job have acquired the lock of this PE. */
static uint64_t holders(void)
{
    long rounds = times / skua_pes() + (skua_pe() < times % skua_pes());

    return (uint64_t)rounds * THREADS * (uint64_t)skua_pes();
}

static void start(int argc, char **argv)
{
    struct outside_pe     *self = skua_pe_data_get(pe_key);
    struct outside_thread  threads[THREADS];
    struct outside_memory *mine;
    skua_locks             locks;

    (void)argc, (void)argv;
    CHECK(skua_pes() <= PES);
    CHECK(skua_region_create(sizeof *mine, &self->region) == SKUA_OK);
    mine = skua_region_local(self->region);
    memset(mine, 0, sizeof *mine);
    CHECK(skua_locks_create(1, &locks) == SKUA_OK);
    for (int i = 0; i < THREADS; i++)
        threads[i] = (struct outside_thread){.pe     = skua_pe(),
                                             .pes    = skua_pes(),
                                             .number = i,
                                             .region = self->region,
                                             .locks  = locks};
    skua_sync();
    test_returns_early(&threads[0], mine);
    test_many(&threads[0]);
    test_threads(threads);
    CHECK(mine->sum == (uint64_t)times * THREADS * (uint64_t)skua_pes());
    CHECK(mine->tickets == mine->sum);
    CHECK(mine->locked == holders());
    CHECK(skua_pe() < skua_pes() - 1 || mine->large[LARGE - 1] == LARGE - 1);
    last[skua_pe()] = (struct outside_thread){
        .pe = skua_pe(), .pes = skua_pes(), .region = self->region, .locks = locks};
    test_exit(&last[skua_pe()]);
}

int main(int argc, char **argv)
{
    int code;

    if (argc > 1)
        times = atol(argv[1]);
    pe_key = skua_pe_data_register(sizeof(struct outside_pe));
    ended  = skua_handler_register("ended", on_ended);
    code   = skua_main(argc, argv, start);
    for (int pe = 0; pe < PES; pe++)
        CHECK(last[pe].pes == 0 || pthread_join(last[pe].thread, NULL) == 0);
    return code;
}
