/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c - copies between two global addresses, neither of which need be on the caller: blocking,
 * with a handle, with a notification or signal at the destination, after an event, by an external
 * thread; copies that cross each other; and copies that are refused.
 *
 * PE p copies from PE p + 1 to PE p + 2, into the slot that only PE p writes.  A block consists of
 * numbers of its source, so a reader can check its source and that it is complete.
 *
 * usage: copies [rounds]
 */
#include <pthread.h>
#include <sched.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

#define WORDS 12000 /* words of the largest block: several packets */

/* The symmetric memory of each PE. */
struct shared {
    skua_notify arrived;
    uint64_t    source[WORDS], slot[2][WORDS];
};

static skua_handler                 signal_handler, unwanted_handler;
static _Thread_local skua_region    region; /* the region of the PE on this thread */
static _Thread_local struct shared *shared;
static _Thread_local int            signals, unwanted;

static int next(int by)
{
    return (skua_pe() + by) % skua_pes();
}

static skua_gaddr at(int pe, const void *mine)
{
    return skua_at(region, pe, (uint64_t)((const char *)mine - (const char *)shared));
}

static uint64_t number(int pe, int round, size_t i)
{
    return (uint64_t)pe << 48 | (uint64_t)round << 32 | i;
}

/* Fills the source of a round; all PEs see the slots of the others empty. */
static void begin(int round)
{
    skua_sync();
    for (size_t i = 0; i < WORDS; i++)
        shared->source[i] = number(skua_pe(), round, i);
    memset(shared->slot, 0, sizeof shared->slot);
    skua_sync();
}

/* Returns true if a slot of this PE has @p words of the previous PE. */
static bool holds(int slot, int round, size_t words)
{
    int from = next(skua_pes() - 1);

    for (size_t i = 0; i < words; i++)
        if (shared->slot[slot][i] != number(from, round, i))
            return false;
    return words == WORDS || shared->slot[slot][words] == 0;
}

static void test_blocking(int round, size_t words)
{
    skua_status status;

    begin(round);
    status = skua_copy(at(next(2), shared->slot[0]), at(next(1), shared->source), words * 8);
    skua_sync();
    CHECK(status == SKUA_OK && holds(0, round, words));
}

static void test_handle(int round, size_t words)
{
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_counter    local = SKUA_COUNTER_INIT, remote = SKUA_COUNTER_INIT;
    skua_rma_params params = {
        .handle = &handle, .local = skua_done_count(&local), .remote = skua_done_count(&remote)};
    bool started;

    begin(round);
    started = skua_copy_nb(at(next(2), shared->slot[0]), at(next(1), shared->source), words * 8,
                           &params) >= 0 &&
              skua_copy_nb(at(next(2), shared->slot[1]), at(next(1), shared->source), words * 8,
                           NULL) >= 0;
    skua_handle_wait(&handle);
    skua_counter_wait(&local, 1);
    skua_counter_wait(&remote, 1);
    skua_flush(next(2));
    skua_sync();
    CHECK(started && local.value == 1 && remote.value == 1 && holds(0, round, words) &&
          holds(1, round, words));
}

/* The PE whose copy ends here is the source of the signal, wherever the data come from. */
static void on_signal(skua_msg *msg)
{
    int caller = next(2 * skua_pes() - 2);

    signals += skua_msg_size(msg) == 3 && memcmp(skua_msg_data(msg), "abc", 3) == 0 &&
               shared->slot[1][0] != 0 && skua_msg_source(msg) == caller;
    skua_msg_free(msg);
}

static bool signal_came(void *arg)
{
    (void)arg;
    return signals > 0;
}

static void test_target(int round, size_t words)
{
    skua_rma_params notify = {.notify = at(next(2), &shared->arrived), .notify_add = 5};
    skua_rma_params signal = {.signal = signal_handler, .signal_data = "abc", .signal_bytes = 3};
    bool            here;

    signals = 0;
    begin(round);
    skua_copy_nb(at(next(2), shared->slot[0]), at(next(1), shared->source), words * 8, &notify);
    skua_notify_wait(&shared->arrived, 5);
    skua_notify_take(&shared->arrived, 5);
    here = holds(0, round, words);
    skua_copy_nb(at(next(2), shared->slot[1]), at(next(1), shared->source), words * 8, &signal);
    skua_run_until(signal_came, NULL);
    CHECK(here && signals == 1 && holds(1, round, words));
    skua_sync();
}

/* A copy of the first slot of another PE to its second one follows the copy that fills the first.
 */
static void test_after(int round, size_t words)
{
    skua_future     event  = SKUA_FUTURE_INIT;
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params first = {.remote = skua_done_future(&event)}, second = {.handle = &handle};
    skua_status     status;

    begin(round);
    status = skua_copy_after(&event, at(next(2), shared->slot[1]), at(next(2), shared->slot[0]),
                             words * 8, &second);
    CHECK(status == SKUA_PENDING && !skua_handle_test(&handle));
    skua_copy_nb(at(next(2), shared->slot[0]), at(next(1), shared->source), words * 8, &first);
    skua_handle_wait(&handle);
    skua_sync();
    CHECK(holds(1, round, words));
    skua_sync(); /* the next copy overwrites what was just read */
    status =
        skua_copy_after(&event, at(next(2), shared->slot[1]), at(next(1), shared->source), 8, NULL);
    skua_flush_all();
    skua_sync();
    CHECK(status >= 0 && shared->slot[1][0] == number(next(skua_pes() - 1), round, 0));
    skua_future_clear(&event);
}

/* Waits outside of the runtime, if the memory allows it, until @p partner is outside, too. */
static void leave_runtime(int partner)
{
    _Atomic uint64_t *theirs = skua_gaddr_local(at(partner, &shared->slot[1][0]));

    if (!theirs)
        return;
    atomic_store(theirs, 1);
    while (atomic_load((_Atomic uint64_t *)&shared->slot[1][0]) == 0)
        sched_yield();
}

/* Pairs of PEs copy each other's malloc() memory to PE 0, with notifications there, between
 * atomics. Each serves the request of its partner while its own copies are in flight, and must not
 * wait for these: they end when the partner has served them. */
static void test_crossing(void)
{
    enum { COPIES = 20 };
    int             me = skua_pe(), partner = me % 2 ? me + 1 : me - 1;
    int             copiers = (skua_pes() - 1) / 2 * 2;
    skua_rma_params params  = {.notify = at(0, &shared->arrived)};
    uint64_t       *memory = malloc(sizeof *memory), one = 1;
    skua_region     own, theirs;

    *memory = number(me, 0, 0);
    CHECK(skua_region_create_from(memory, sizeof *memory, &own) == SKUA_OK);
    memcpy(shared->source, &own, sizeof own);
    memset(shared->slot, 0, sizeof shared->slot);
    skua_sync();
    if (me > 0 && me <= copiers) {
        CHECK(skua_get(&theirs, at(partner, shared->source), sizeof theirs) == SKUA_OK);
        skua_sync();
        leave_runtime(partner);
        for (int i = 0; i < COPIES; i++)
            CHECK(skua_copy_nb(at(0, &shared->slot[0][me * COPIES + i]),
                               skua_at(theirs, partner, 0), 8, &params) >= 0 &&
                  skua_atomic_nb(at(0, &shared->slot[1][1]), SKUA_ATOMIC_ADD, SKUA_UINT64, &one,
                                 NULL, NULL) >= 0);
        skua_flush(0);
    } else {
        skua_sync();
    }
    if (me == 0) {
        CHECK(skua_notify_wait(&shared->arrived, (uint64_t)(copiers * COPIES)));
        skua_notify_take(&shared->arrived, (uint64_t)(copiers * COPIES));
    }
    for (int i = COPIES; me == 0 && i < (copiers + 1) * COPIES; i++)
        CHECK(shared->slot[0][i] == number(i / COPIES % 2 ? i / COPIES + 1 : i / COPIES - 1, 0, 0));
    skua_sync();
    CHECK(me > 0 || shared->slot[1][1] == (uint64_t)(copiers * COPIES));
    CHECK(skua_region_destroy(own) == SKUA_OK);
    free(memory);
}

/* The copies of an external thread. */
struct outside {
    skua_gaddr to[2], from, beyond, over;
    size_t     bytes;
};

/* Both copies are complete when the calls return. */
static void *copy_outside(void *arg)
{
    const struct outside *o      = arg;
    skua_handle           handle = SKUA_HANDLE_INIT;
    skua_rma_params       params = {.handle = &handle};

    CHECK(skua_copy(o->to[0], o->from, o->bytes) == SKUA_OK);
    CHECK(skua_copy_nb(o->to[1], o->from, o->bytes, &params) == SKUA_OK && handle.pending == 0);
    CHECK(skua_copy(o->beyond, o->from, 16) == SKUA_ERR_RANGE &&
          skua_copy(o->to[0], o->beyond, 16) == SKUA_ERR_RANGE);
    CHECK(skua_notify_add(o->over, 1) == SKUA_OK);
    return NULL;
}

static void test_outside(int round, size_t words)
{
    struct outside o = {.to     = {at(next(2), shared->slot[0]), at(next(2), shared->slot[1])},
                        .from   = at(next(1), shared->source),
                        .beyond = skua_at(region, next(2), sizeof *shared - 8),
                        .over   = at(skua_pe(), &shared->arrived),
                        .bytes  = words * 8};
    pthread_t      thread;

    begin(round);
    CHECK(pthread_create(&thread, NULL, copy_outside, &o) == 0);
    skua_notify_wait(&shared->arrived, 1);
    skua_notify_take(&shared->arrived, 1);
    CHECK(pthread_join(thread, NULL) == 0);
    skua_sync();
    CHECK(holds(0, round, words) && holds(1, round, words));
}

static void test_refused(void)
{
    skua_future event   = SKUA_FUTURE_INIT;
    skua_gaddr  beyond  = skua_at(region, next(1), sizeof *shared - 8);
    skua_gaddr  good    = at(next(2), shared->slot[0]);
    skua_gaddr  nothing = {0, {0}, 0};

    CHECK(skua_copy(good, beyond, 16) == SKUA_ERR_RANGE &&
          skua_copy(beyond, good, 16) == SKUA_ERR_RANGE &&
          skua_copy_nb(good, nothing, 8, NULL) == SKUA_ERR_REGION &&
          skua_copy_after(&event, nothing, good, 8, NULL) == SKUA_ERR_REGION);
}

static void on_unwanted(skua_msg *msg)
{
    unwanted++;
    skua_msg_free(msg);
}

/* The PE of another host refuses the copy: only it knows the size of its piece.  Then the signal
 * does not run.  One that ran would come before the message that follows. */
static void test_refused_signal(void)
{
    skua_handle     handle = SKUA_HANDLE_INIT;
    skua_rma_params params = {.handle = &handle, .signal = unwanted_handler};
    skua_region     varied;
    skua_gaddr      to, from = at(next(1), shared->source);
    skua_status     status;

    CHECK(skua_region_create_varied(64, &varied) == SKUA_OK);
    to     = skua_at(varied, next(2), 64 - 8);
    status = skua_copy_nb(to, from, 16, &params);
    CHECK(status == SKUA_ERR_RANGE || status == SKUA_PENDING);
    skua_handle_wait(&handle);
    signals            = 0;
    shared->slot[1][0] = 1; /* on_signal() expects data */
    skua_sync();
    skua_send_copy(next(2), signal_handler, "abc", 3);
    skua_run_until(signal_came, NULL);
    skua_sync();
    CHECK(unwanted == 0 && skua_copy(to, from, 16) == SKUA_ERR_RANGE);
    CHECK(skua_region_destroy(varied) == SKUA_OK);
}

static void start(int argc, char **argv)
{
    static const size_t words[] = {0, 1, 100, WORDS};

    int rounds = argc > 1 ? atoi(argv[1]) : 3;

    skua_region_create(sizeof *shared, &region);
    shared = skua_region_local(region);
    memset(shared, 0, sizeof *shared);
    skua_sync();
    for (int round = 1; round <= rounds; round++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            test_blocking(round, words[i]);
            test_handle(round, words[i]);
            test_outside(round, words[i]);
            if (words[i] > 0)
                test_target(round, words[i]);
            if (words[i] > 0)
                test_after(round, words[i]);
        }
    test_crossing();
    test_refused();
    test_refused_signal();
    skua_sync();
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    signal_handler   = skua_handler_register("signal", on_signal);
    unwanted_handler = skua_handler_register("unwanted", on_unwanted);
    return skua_main(argc, argv, start);
}
