/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tour.c - the features of Skua, one at a time, with timings relative to the floor.
 *
 * The floor is the limit of the machine: PE 0 and PE 1 bounce a cache line through shared memory.
 * All PEs of a host share the arena, so this program can measure it.
 *
 * PE 0 runs the tour in a user thread, so that each step reads from top to bottom.
 *
 * usage: tour [ROUNDS]
 */
#include <sched.h>
#include <skua/skua.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rounds = 2000; /* rounds of each measurement; an argument sets them */

static skua_handler token, bounce, greet;

static struct { /* the state of the tour, on PE 0 */
    skua_future future;
    int         rounds;
    double      floor_us; /* one way */
} tour;

static double seconds(double since)
{
    return skua_time() - since;
}

static void compare(const char *what, double us)
{
    if (tour.floor_us > 0)
        printf("      %-46s %7.3f us, %4.1f times the floor\n", what, us, us / tour.floor_us);
    else
        printf("      %-46s %7.3f us\n", what, us);
}

/* ---- the floor ------------------------------------------------------------- */

struct flags {
    _Alignas(128) _Atomic int ping;
    _Alignas(128) _Atomic int pong;
};

/* Yields the CPU from time to time, in case both PEs share one. */
static void await(_Atomic int *flag, int value)
{
    for (int tries = 1; atomic_load_explicit(flag, memory_order_acquire) != value; tries++)
        if (tries % 1000 == 0)
            sched_yield();
}

/* PE 1 answers until all round trips are done; meanwhile it runs no other handler. */
static void on_bounce(skua_msg *msg)
{
    struct flags *flags = *(struct flags **)skua_msg_data(msg);

    skua_msg_free(msg);
    for (int i = 1; i <= 10 * rounds; i++) {
        await(&flags->ping, i);
        atomic_store_explicit(&flags->pong, i, memory_order_release);
    }
}

static void step_floor(void)
{
    skua_msg     *memory = skua_msg_alloc(sizeof(struct flags) + 128);
    struct flags *flags =
        (struct flags *)(((uintptr_t)skua_msg_data(memory) + 127) & ~(uintptr_t)127);
    double start = 0;

    atomic_init(&flags->ping, 0);
    atomic_init(&flags->pong, 0);
    skua_send_copy(1, bounce, &flags,
                   sizeof flags); /* the arena has one address in all processes */
    for (int i = 1; i <= 10 * rounds; i++) {
        if (i == 10 * rounds / 2)
            start = skua_time();
        atomic_store_explicit(&flags->ping, i, memory_order_release);
        await(&flags->pong, i);
    }
    tour.floor_us = seconds(start) / (10 * rounds / 2) / 2 * 1e6;
    skua_msg_free(memory);
    printf("  1  The floor: PE 0 and PE 1 bounce a cache line through the arena.\n"
           "      %-46s %7.3f us\n",
           "one way", tour.floor_us);
}

/* ---- a ring ---------------------------------------------------------------- */

static void on_token(skua_msg *msg)
{
    if (skua_pe() == 0 && ++tour.rounds == rounds) {
        skua_msg_free(msg);
        skua_future_set(&tour.future, NULL, 0);
        return;
    }
    skua_send((skua_pe() + 1) % skua_pes(), token, msg); /* transfers ownership */
}

static double ring(size_t bytes)
{
    double start = skua_time();

    tour.rounds = 0;
    skua_send(1, token, skua_msg_alloc(bytes));
    skua_future_wait(&tour.future, NULL);
    skua_future_clear(&tour.future);
    return seconds(start) / rounds / skua_pes() * 1e6;
}

static bool all_share_memory(void)
{
    for (int pe = 0; pe < skua_pes(); pe++)
        if (!skua_shares_memory(pe))
            return false;
    return true;
}

static void step_ring(void)
{
    printf("  2  A ring: one message passes through %d PEs.  Its owner changes, its bytes stay.\n",
           skua_pes());
    ring(8); /* warm up */
    compare("a hop with 8 bytes", ring(8));
    if (all_share_memory()) /* over the network the bytes do move, which takes long */
        compare("a hop with 8 million bytes", ring(8000000));
}

/* ---- a broadcast ----------------------------------------------------------- */

static void on_greet(skua_msg *msg)
{
    skua_msg_free(msg);
}

static void broadcast(size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    memset(skua_msg_data(msg), 1, bytes);
    skua_broadcast(greet, msg, skua_done_future(&tour.future));
    skua_future_wait(&tour.future, NULL);
    skua_future_clear(&tour.future);
}

static void step_broadcast(void)
{
    double start;

    printf(
        "  3  A broadcast: a handler runs on every PE, and a completion reports the last run.\n");
    broadcast(8);
    start = skua_time();
    for (int i = 0; i < rounds; i++)
        broadcast(8);
    compare("until the completion", seconds(start) / rounds * 1e6);
}

/* ---- a reduction ----------------------------------------------------------- */

static skua_handler contribute;

/* Every PE contributes its number `rounds` times. */
static void on_contribute(skua_msg *msg)
{
    double value = skua_pe();

    skua_msg_free(msg);
    if (skua_pe() == 0)
        return; /* contributes in the thread of the tour */
    for (int i = 0; i < rounds; i++)
        skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, &value, 1, skua_done_nothing());
}

static void step_reduction(void)
{
    double value = 0, start, sum = 0;
    int    pes = skua_pes();

    printf("  4  A reduction: the sum of one number from each PE.\n");
    skua_broadcast(contribute, skua_msg_alloc(0), skua_done_nothing());
    start = skua_time();
    for (int i = 0; i < rounds; i++) {
        skua_reduce(0, SKUA_SUM, SKUA_DOUBLE, &value, 1, skua_done_future(&tour.future));
        sum = *(const double *)skua_future_wait(&tour.future, NULL);
        skua_future_clear(&tour.future);
    }
    compare(sum == pes * (pes - 1) / 2.0 ? "one of many in flight; the sum is right"
                                         : "one of many in flight; THE SUM IS WRONG",
            seconds(start) / rounds * 1e6);
}

/* ---- a put that runs a handler ---------------------------------------------- */

static skua_region  memory; /* PUT_BYTES on every PE */
static skua_handler arrived;

#define PUT_BYTES ((size_t)65536)

/* Puts bytes into the memory of @p pe, where a handler runs when they have arrived. */
static void put_and_signal(int pe, const void *data, size_t bytes)
{
    skua_put_nb(
        skua_at(memory, pe, 0), data, bytes,
        &(skua_rma_params){.signal = arrived, .signal_data = &bytes, .signal_bytes = sizeof bytes});
}

static void on_arrived(skua_msg *msg)
{
    size_t bytes = *(size_t *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (skua_pe() != 0)
        put_and_signal(0, skua_region_local(memory), bytes);
    else if (++tour.rounds == rounds)
        skua_future_set(&tour.future, NULL, 0);
    else
        put_and_signal(1, skua_region_local(memory), bytes);
}

static double put_round_trips(size_t bytes)
{
    double start = skua_time();

    tour.rounds = 0;
    put_and_signal(1, skua_region_local(memory), bytes);
    skua_future_wait(&tour.future, NULL);
    skua_future_clear(&tour.future);
    return seconds(start) / rounds / 2 * 1e6;
}

static void step_put(void)
{
    double start, word = 1;

    printf("  5  A put: PE 0 writes into the memory of PE 1, which does not participate.\n");
    start = skua_time();
    for (int i = 0; i < 100 * rounds; i++)
        skua_put(skua_at(memory, 1, 0), &word, sizeof word);
    printf("      %-46s %7.3f us\n", "8 bytes", seconds(start) / (100 * rounds) * 1e6);
    put_round_trips(8);
    compare("8 bytes that run a handler on PE 1", put_round_trips(8));
    compare("64 KB that run a handler on PE 1", put_round_trips(PUT_BYTES));
}

/* ---------------------------------------------------------------------------- */

static void run_tour(void *arg)
{
    (void)arg;
    printf("\nSkua on this machine: %d PEs in %d processes.\n\n", skua_pes(), skua_processes());
    if (skua_shares_memory(1))
        step_floor();
    else
        printf("  1  PE 0 and PE 1 share no memory: messages go through the network.\n");
    step_ring();
    step_broadcast();
    step_reduction();
    step_put();
    printf("\nThe programs are in examples/; docs/guide/ continues from here.\n\n");
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    (void)argc, (void)argv;
    if (skua_pes() < 2)
        skua_abort("the tour needs two PEs: skuarun -n 2");
    skua_region_create(PUT_BYTES, &memory);
    memset(skua_region_local(memory), 0, PUT_BYTES);
    skua_sync();
    if (skua_pe() == 0)
        skua_thread_detach(skua_thread_create(run_tour, NULL, 0));
}

int main(int argc, char **argv)
{
    if (argc > 1 && atoi(argv[1]) > 0)
        rounds = atoi(argv[1]);
    token      = skua_handler_register("token", on_token);
    bounce     = skua_handler_register("bounce", on_bounce);
    greet      = skua_handler_register("greet", on_greet);
    contribute = skua_handler_register("contribute", on_contribute);
    arrived    = skua_handler_register("arrived", on_arrived);
    return skua_main(argc, argv, start);
}
