/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c - messages and one-sided operations of Skua between two PEs that share no memory: the
 * metrics of bench_network.h, and signal_us, a put whose arrival runs a handler, one way.
 *
 * usage: network SERIES [rails], on two PEs of different hosts, or of one with SKUA_SHARED_MEMORY=0
 *
 * More than two PEs, each a process, are pairs: one of the first half, the origin, with one of the
 * other half.
 *
 * With `rails' it measures messages of 1 to 16 MB alone, which several connections carry together.
 *
 * Messages go by pointer, from handler to handler: the received message is sent back.
 * The target of one-sided operations waits in a barrier, that is, in the scheduler.
 */
#include <skua/skua.h>

#include <stdbool.h>

#include "bench_network.h"
#include "bench_skua.h"

static skua_handler echo, flood, signalled;
static char        *own; /* the part of the region on this PE */

/* The state of a PE.  `left` is, on an origin, the number of missing answers and, on a target, the
 * number of messages of a window that have arrived. */
static struct {
    int    me;      /* 0: an origin, 1: a target */
    int    partner; /* the other PE of the pair  */
    int    left, window;
    size_t bytes;
} at;

static bool none_left(void *arg)
{
    (void)arg;
    return at.left == 0;
}

/* Replaces each value by the largest of all PEs. */
static void largest(double *value, int count)
{
    const skua_reduction all  = {SKUA_MAX, SKUA_DOUBLE, (size_t)count};
    skua_counter         done = SKUA_COUNTER_INIT;

    skua_team_allreduce(SKUA_TEAM_ALL, &all, value, value, skua_done_count(&done));
    skua_counter_wait(&done, 1);
}

/* Lets the batches of several pairs begin together.  A target answers during this call, or during
 * the next one of all PEs. */
static void begin_batch(void)
{
    if (skua_pes() > 2)
        skua_sync();
}

static skua_msg *message(size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    memset(skua_msg_data(msg), 1, bytes);
    return msg;
}

/* ---- messages ------------------------------------------------------------ */

static void on_echo(skua_msg *msg)
{
    if (at.me == 1 || --at.left > 0)
        skua_send(at.partner, echo, msg);
    else
        skua_msg_free(msg);
}

static void round_trips(size_t bytes)
{
    skua_msg *msg = message(bytes);

    at.left = onesided_trips(bytes);
    skua_send(at.partner, echo, msg);
    skua_run_until(none_left, NULL);
}

/* Returns the time of the best batch; the target answers while this PE does @p batch. */
static double best_batch(int me, size_t bytes, void (*batch)(size_t bytes))
{
    int    batches               = network_batches(bytes);
    double time[NETWORK_BATCHES] = {0};

    skua_sync();
    for (int i = 0; i < batches; i++) {
        double start;

        begin_batch();
        if (me != 0)
            continue;
        start = bench_now();
        batch(bytes);
        time[i] = bench_now() - start;
    }
    skua_sync(); /* the target answers during this call */
    return onesided_best(time, batches);
}

static void measure_messages(const char *series, int me, size_t bytes)
{
    double time = best_batch(me, bytes, round_trips);

    onesided_report(me, series, bytes, "message_us", time / onesided_trips(bytes) / 2 * 1e6);
}

/* ---- windows of messages ------------------------------------------------------- */

/* The target answers the last message of a window; the origin receives the answer. */
static void on_flood(skua_msg *msg)
{
    skua_msg_free(msg);
    if (at.me == 0)
        at.left = 0;
    else if (++at.left == at.window) {
        at.left = 0;
        skua_send_copy(at.partner, flood, NULL, 0);
    }
}

static void send_window(size_t bytes)
{
    at.left = 1;
    for (int i = 0; i < at.window; i++)
        skua_send(at.partner, flood, skua_msg_alloc(bytes));
    skua_run_until(none_left, NULL);
}

static void measure_flood(const char *series, int me, size_t bytes)
{
    double time;

    at.window = onesided_window(bytes);
    at.left   = 0;
    time      = best_batch(me, bytes, send_window);
    onesided_report(me, series, bytes, "message_gbs", at.window * (double)bytes / time * 1e-9);
}

/* ---- puts that run a handler ------------------------------------------------- */

static void put_signal(int to)
{
    skua_put_nb(skua_at(memory, to, 0), onesided_source, at.bytes,
                &(skua_rma_params){.signal = signalled});
}

static void on_signal(skua_msg *msg)
{
    skua_msg_free(msg);
    if (at.me == 1 || --at.left > 0)
        put_signal(at.partner);
}

static void signal_trips(size_t bytes)
{
    at.left = onesided_trips(bytes);
    put_signal(at.partner);
    skua_run_until(none_left, NULL);
}

static void measure_signal(const char *series, int me, size_t bytes)
{
    double time;

    at.bytes = bytes; /* of the answers of the target, too */
    time     = best_batch(me, bytes, signal_trips);
    onesided_report(me, series, bytes, "signal_us", time / onesided_trips(bytes) / 2 * 1e6);
}

/* ---- one-sided -------------------------------------------------------------- */

static void *area(void)
{
    return own;
}

static void fetch_add(const struct onesided_access *a)
{
    uint64_t old;

    skua_fetch_add64(skua_at(memory, a->pe, ONESIDED_NUMBER), 1, &old);
}

static void put_local(const struct onesided_access *a)
{
    skua_counter free_again = SKUA_COUNTER_INIT;

    skua_put_nb(target(a), onesided_source, a->bytes,
                &(skua_rma_params){.local = skua_done_count(&free_again)});
    skua_counter_wait(&free_again, 1);
}

static void notify(const struct onesided_access *a, uint64_t turn)
{
    (void)turn; /* the value of the counter at the target after this notification */
    skua_put_nb(target(a), onesided_source, a->bytes,
                &(skua_rma_params){.notify = skua_at(memory, a->pe, ONESIDED_FLAG)});
}

static void await(const struct onesided_access *a, uint64_t turn)
{
    (void)a;
    skua_notify_wait((skua_notify *)(void *)(own + ONESIDED_FLAG), turn);
}

/* ---- gets after pending puts ----------------------------------------------- */

static void put_ordered(const struct onesided_access *a, skua_order order)
{
    skua_put_nb(target(a), onesided_source + a->offset, a->bytes,
                &(skua_rma_params){.order = order});
}

static void get_ordered(const struct onesided_access *a, skua_order order)
{
    skua_handle handle = SKUA_HANDLE_INIT;

    skua_get_nb(onesided_result + a->offset, target(a), a->bytes,
                &(skua_rma_params){.order = order, .handle = &handle});
    skua_handle_wait(&handle);
}

static void put_unordered(const struct onesided_access *a)
{
    put_ordered(a, SKUA_UNORDERED);
}

static void put_partial(const struct onesided_access *a)
{
    put_ordered(a, SKUA_ORDER_PARTIAL);
}

static void put_strict(const struct onesided_access *a)
{
    put_ordered(a, SKUA_ORDER_STRICT);
}

static void get_unordered(const struct onesided_access *a)
{
    get_ordered(a, SKUA_UNORDERED);
}

static void get_partial(const struct onesided_access *a)
{
    get_ordered(a, SKUA_ORDER_PARTIAL);
}

static void get_strict(const struct onesided_access *a)
{
    get_ordered(a, SKUA_ORDER_STRICT);
}

static const struct network_behind behind[] = {
    {"behind_unordered_us", put_unordered, get_unordered},
    {"behind_partial_us", put_partial, get_partial},
    {"behind_strict_us", put_strict, get_strict},
    {NULL, NULL, NULL},
};

static const struct onesided skua = {.area      = area,
                                     .barrier   = barrier,
                                     .prepare   = prepare_rows,
                                     .acc       = acc,
                                     .put       = put,
                                     .put_local = put_local,
                                     .get       = get,
                                     .fetch_add = fetch_add,
                                     .put_nb    = put_nb,
                                     .get_nb    = get_nb,
                                     .complete  = complete,
                                     .notify    = notify,
                                     .await     = await};

/* ---- all ---------------------------------------------------------------------- */

static void make_memory(void)
{
    if (skua_region_create(ONESIDED_MEMORY, &memory) != SKUA_OK)
        skua_abort("cannot create the region");
    own = skua_gaddr_local(skua_at(memory, skua_pe(), 0));
    memset(own, 0, ONESIDED_MEMORY);
    skua_sync();
}

static void measure_rails(const char *series, int me)
{
    for (size_t i = 0; i < NETWORK_RAILS; i++) {
        measure_messages(series, me, network_rails[i]);
        measure_flood(series, me, network_rails[i]);
    }
}

static void measure_all(const char *series, int me)
{
    make_memory();
    for (size_t i = 0; i < NETWORK_SIZES; i++)
        measure_messages(series, me, network_sizes[i]);
    for (size_t i = 0; i < NETWORK_FLOODS; i++)
        measure_flood(series, me, network_floods[i]);
    for (size_t i = 0; i < NETWORK_SIZES; i++)
        measure_signal(series, me, network_sizes[i]);
    network_onesided(&skua, behind, series, me);
}

static void start(int argc, char **argv)
{
    const char *series = argc > 1 ? argv[1] : "skua";
    int         pes    = skua_pes();

    at.partner = bench_partner(skua_pe(), pes);
    if (pes % 2 != 0 || skua_processes() != pes || skua_shares_memory(at.partner))
        skua_abort("bench-network needs two processes that share no memory, or pairs of them: two "
                   "hosts, or SKUA_SHARED_MEMORY=0");
    at.me = onesided_set_pair(skua_pe(), pes, largest);
    if (argc > 2 && strcmp(argv[2], "rails") == 0)
        measure_rails(series, at.me);
    else
        measure_all(series, at.me);
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    echo      = skua_handler_register("echo", on_echo);
    flood     = skua_handler_register("flood", on_flood);
    signalled = skua_handler_register("signalled", on_signal);
    network_pace();
    onesided_fill();
    return skua_main(argc, argv, start);
}
