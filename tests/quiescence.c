/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quiescence.c - quiescence is detected, and never early.
 *
 * Random programs, one after another.  A program is a tree of work items: each starts more of them,
 * by messages of any size and priority, broadcasts, completions, user threads, handlers that wait
 * or poll, puts with a signal.  Several PEs request quiescence detection.
 *
 * The model is exact: a shared word of the host is incremented before a work item is started and
 * decremented after it is done; in the callback it must be 0.  In addition, and between hosts,
 * where there is no such word: after the callbacks the counts of all PEs, requested by an expedited
 * message, must agree, and no work item of this program may arrive later.
 *
 * usage: quiescence [PROGRAMS]
 */
#include <pthread.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <string.h>

#include "tap.h"

#define REQUESTS 3
#define PLACE    2048         /* bytes that a PE puts; each PE has its own destination */
#define PIECE    (17 * PLACE) /* bytes of the region on each PE: the last are counters */
#define FLOOD    300

struct work {
    uint32_t program;
    int32_t  fuel;
};

struct report {
    int64_t created, done;
};

struct mine {
    uint64_t         seed;
    skua_region      region;
    uint32_t         closed; /* the last program that is complete: none of its work may arrive */
    int              depth;  /* nesting depth of waiting handlers */
    int64_t          created, done;
    uint32_t         asked;       /* the program for which this PE has requested quiescence */
    _Atomic int64_t *outstanding; /* NULL: not all PEs share memory */
};

static skua_handler work_handler, nothing_handler, echo_handler, ask_handler, fired_handler,
    close_handler, report_handler;
static skua_pe_data mine_key;
static char         zeros[PLACE];

/* The state of a process, for its external thread. */
static skua_region outside_region;
static int         outside_pes;

/* The state of PE 0. */
static struct {
    uint32_t      program, programs;
    int           asked, fired, reports;
    struct report sum;
} run;

static struct mine *mine(void)
{
    return skua_pe_data_get(mine_key);
}

static uint64_t any(uint64_t n)
{
    return tap_random(&mine()->seed) % n;
}

static int any_pe(void)
{
    return (int)any((uint64_t)skua_pes());
}

/* ---- the model ------------------------------------------------------------------- */

static void count_created(int64_t n)
{
    mine()->created += n;
    if (mine()->outstanding)
        atomic_fetch_add(mine()->outstanding, n);
}

static void count_done(void)
{
    mine()->done++;
    if (mine()->outstanding)
        atomic_fetch_sub(mine()->outstanding, 1);
}

static void check_quiet(void)
{
    if (mine()->outstanding)
        CHECK(atomic_load(mine()->outstanding) == 0);
}

/* ---- work ------------------------------------------------------------------------ */

static void burn(struct work work);

static size_t any_size(void)
{
    switch (any(16)) {
    case 0: return 1000 + any(30000);
    case 1:
    case 2:
    case 3: return 50 + any(500);
    default: return sizeof(struct work) + any(8);
    }
}

static int32_t any_priority(void)
{
    static const int32_t some[] = {INT32_MIN, -1, 1, INT32_MAX};

    return any(2) ? 0 : some[any(4)];
}

static void by_message(struct work work)
{
    size_t    bytes = any_size();
    skua_msg *msg   = skua_msg_alloc(bytes);
    int       pe    = any_pe();

    memset(skua_msg_data(msg), 0, bytes);
    memcpy(skua_msg_data(msg), &work, sizeof work);
    count_created(1);
    if (any(2)) {
        skua_send_copy_prio(pe, work_handler, skua_msg_data(msg), bytes, any_priority());
        skua_msg_free(msg);
    } else {
        skua_msg_set_priority(msg, any_priority());
        skua_msg_set_expedited(msg, any(8) == 0);
        skua_send(pe, work_handler, msg);
    }
}

static void on_all_there(void *arg, const void *data, size_t bytes)
{
    struct work work;

    (void)data, (void)bytes;
    memcpy(&work, &arg, sizeof work);
    burn(work);
    count_done();
}

static skua_completion then(struct work work)
{
    void *arg;

    _Static_assert(sizeof arg == sizeof work, "it travels as a pointer");
    memcpy(&arg, &work, sizeof arg);
    count_created(1);
    return skua_done_call(on_all_there, arg);
}

static void by_broadcast(struct work work)
{
    skua_msg *msg = skua_msg_alloc(any_size());

    work.fuel = work.fuel < 2 ? work.fuel : 0;
    memset(skua_msg_data(msg), 0, skua_msg_size(msg));
    memcpy(skua_msg_data(msg), &work, sizeof work);
    count_created(skua_pes());
    skua_broadcast(work_handler, msg, any(2) ? then(work) : skua_done_nothing());
}

static void by_completion(struct work work)
{
    count_created(1);
    skua_complete(skua_done_send(any_pe(), work_handler), &work, sizeof work);
}

struct threaded {
    struct work work;
    int         yields;
};

static void ask_and_wait(void);

static void in_thread(void *arg)
{
    struct threaded *t = arg;

    for (int i = 0; i < t->yields; i++)
        skua_thread_yield();
    if (t->yields == 3)
        ask_and_wait();
    burn(t->work);
    free(t);
    count_done();
}

static void by_thread(struct work work)
{
    struct threaded *t = malloc(sizeof *t);

    *t = (struct threaded){work, (int)any(4)};
    count_created(1);
    skua_thread_detach(skua_thread_create(in_thread, t, 0));
}

/* Performs a put whose signal and completion are work items, on every path. */
static void by_put(struct work work)
{
    size_t          bytes = (size_t)8 << any(9);
    size_t          place = (size_t)skua_pe() % 15 * PLACE;
    skua_rma_params ends  = {.remote       = then((struct work){work.program, 0}),
                             .signal       = work_handler,
                             .signal_data  = &work,
                             .signal_bytes = sizeof work};

    count_created(1);
    CHECK(skua_put_nb(skua_at(mine()->region, any_pe(), place), zeros, bytes, &ends) >= 0);
}

/* Waits for an answer of another PE, in the scheduler or in a user thread. */
static void ask_and_wait(void)
{
    skua_counter    counter = SKUA_COUNTER_INIT;
    skua_completion done    = skua_done_count(&counter);

    skua_send_copy(any_pe(), echo_handler, &done, sizeof done);
    CHECK(skua_counter_wait(&counter, 1));
}

static void on_echo(skua_msg *msg)
{
    skua_completion done = *(skua_completion *)skua_msg_data(msg);

    skua_msg_free(msg);
    skua_complete(done, NULL, 0);
}

/* Computes long enough for several termination waves. */
static void poll_for(double seconds)
{
    for (double until = skua_time() + seconds; skua_time() < until;)
        skua_poll(any(5));
}

static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
}

/* The program continues while this handler has not returned. */
static void linger(void)
{
    if (skua_thread_self() || mine()->depth >= 3)
        return;
    mine()->depth++;
    if (any(2))
        ask_and_wait();
    else
        poll_for(any(8) ? 1e-6 : 3e-4);
    mine()->depth--;
}

/* Sends more messages at once than an inbox holds. */
static void flood(struct work work)
{
    int pe = any_pe();

    work.fuel = 0;
    for (int i = 0; i < FLOOD; i++) {
        count_created(1);
        skua_send_copy(pe, work_handler, &work, sizeof work);
    }
}

static void set_off(struct work work)
{
    switch (any(16)) {
    case 0: by_broadcast(work); break;
    case 1: by_completion(work); break;
    case 2: by_thread(work); break;
    case 3: by_put(work); break;
    default: by_message(work);
    }
}

static void burn(struct work work)
{
    if (work.fuel <= 0)
        return;
    work.fuel -= 1 + (int32_t)any(2);
    if (any(16) == 0)
        linger();
    if (any(400) == 0)
        flood(work);
    for (uint64_t i = any(4); i > 0; i--)
        set_off(work);
}

static void on_work(skua_msg *msg)
{
    struct work work = *(struct work *)skua_msg_data(msg);

    CHECK(work.program > mine()->closed);
    skua_msg_free(msg);
    burn(work);
    count_done();
}

/* ---- programs -------------------------------------------------------------------- */

static void on_quiet(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    check_quiet();
    CHECK(mine()->asked > mine()->closed);
    skua_send_copy(0, fired_handler, &mine()->asked, sizeof mine()->asked);
}

static void ask(uint32_t program)
{
    mine()->asked = program;
    skua_quiescence(skua_done_call(on_quiet, NULL));
}

static void on_ask(skua_msg *msg)
{
    uint32_t program = *(uint32_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    ask(program);
    count_done();
}

static void next_program(void)
{
    struct work work = {++run.program, (int32_t)any(7)};

    if (run.program > run.programs) {
        skua_exit(0);
        return;
    }
    run.asked = 1 + (int)any(REQUESTS);
    run.fired = 0;
    for (uint64_t i = any(3); i > 0; i--)
        set_off(work);
    ask(run.program);
    for (int i = 1; i < run.asked; i++) {
        count_created(1);
        skua_send_copy(any_pe(), ask_handler, &run.program, sizeof run.program);
    }
    for (uint64_t i = any(3); i > 0; i--)
        set_off(work);
}

static void on_fired(skua_msg *msg)
{
    CHECK(*(uint32_t *)skua_msg_data(msg) == run.program);
    skua_msg_free(msg);
    if (++run.fired < run.asked)
        return;
    run.reports = 0;
    run.sum     = (struct report){0, 0};
    for (int pe = 0; pe < skua_pes(); pe++) {
        msg = skua_msg_alloc(sizeof run.program);
        memcpy(skua_msg_data(msg), &run.program, sizeof run.program);
        skua_msg_set_expedited(msg, true);
        skua_send(pe, close_handler, msg);
    }
}

static void on_close(skua_msg *msg)
{
    struct report report = {mine()->created, mine()->done};

    mine()->closed = *(uint32_t *)skua_msg_data(msg);
    skua_msg_free(msg);
    skua_send_copy(0, report_handler, &report, sizeof report);
}

static void on_report(skua_msg *msg)
{
    const struct report *report = skua_msg_data(msg);

    run.sum.created += report->created;
    run.sum.done += report->done;
    skua_msg_free(msg);
    if (++run.reports < skua_pes())
        return;
    CHECK(run.sum.created == run.sum.done);
    next_program();
}

/* Waits for quiescence, on all PEs at once and before any work. */
static void wait_for_quiet(void)
{
    skua_counter counter = SKUA_COUNTER_INIT;

    for (int i = 0; i < 3; i++)
        skua_quiescence(skua_done_count(&counter));
    CHECK(skua_counter_wait(&counter, 3));
}

/* An external thread sends requests for its process: waves do not visit it, but its messages are
 * counted. */
static void *put_from_outside(void *arg)
{
    _Atomic bool   *over = arg;
    static char     some[64];
    skua_rma_params ends = {.signal = nothing_handler}; /* a message without an answer */

    for (int i = 0; i < 20; i++)
        CHECK(skua_put_nb(skua_at(outside_region, i % outside_pes, 15 * PLACE), some, sizeof some,
                          &ends) >= 0);
    atomic_store(over, true);
    return NULL;
}

static void wait_beside_a_thread(void)
{
    _Atomic bool over = false;
    pthread_t    thread;

    if (skua_pe() != skua_process_first(skua_process()))
        return;
    outside_region = mine()->region;
    outside_pes    = skua_pes();
    pthread_create(&thread, NULL, put_from_outside, &over);
    while (!atomic_load(&over))
        skua_poll(10);
    pthread_join(thread, NULL);
}

static uint64_t test_seed; /* of this process */

static void start(int argc, char **argv)
{
    mine()->seed = test_seed + (uint64_t)skua_pe() * 7919 + 1;
    CHECK(skua_region_create(PIECE, &mine()->region) == SKUA_OK);
    memset((char *)skua_region_local(mine()->region) + PIECE - 8, 0, 8);
    wait_beside_a_thread();
    wait_for_quiet();
    /* The last word of PE 0's piece, which no put touches. */
    if (tap_all_near())
        mine()->outstanding = skua_gaddr_local(skua_at(mine()->region, 0, PIECE - 8));
    skua_sync();
    if (skua_pe() != 0)
        return;
    run.programs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000;
    next_program();
}

int main(int argc, char **argv)
{
    test_seed       = tap_seed();
    work_handler    = skua_handler_register("work", on_work);
    nothing_handler = skua_handler_register("nothing", on_nothing);
    echo_handler    = skua_handler_register("echo", on_echo);
    ask_handler     = skua_handler_register("ask", on_ask);
    fired_handler   = skua_handler_register("fired", on_fired);
    close_handler   = skua_handler_register("close", on_close);
    report_handler  = skua_handler_register("report", on_report);
    mine_key        = skua_pe_data_register(sizeof(struct mine));
    return skua_main(argc, argv, start);
}
