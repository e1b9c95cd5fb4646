/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed.c - messages inside a host, in a job that spans other hosts as well.
 *
 * The PEs of the first host, which are threads of a process, are pairs of one of their first half,
 * which leads, and one of the other.  A pair exchanges messages: by handlers and by array elements,
 * there and back (roundtrip_us), and in windows (rate-messages).  With "busy", a leader also
 * exchanges a message with a PE of another host for every FAR_EVERY round trips or windows of
 * messages.  All pairs begin a batch together; it takes as long as on the slowest, and the rate is
 * that of the slowest.
 *
 * The kernel may let the other PE wait for a CPU, and a batch during which it does looks like one
 * without a network.  So a batch of round trips counts only if each of the messages to the other
 * host was answered before the next one was due.  A window of messages takes less time than an
 * answer, so that one is always in flight; a batch of windows counts only if a quarter of those due
 * were sent.  far-share is the number of them for each message inside the host, in the fastest
 * batch of windows.
 *
 * On a machine with few CPUs the PEs of the other host run on those of a pair, and while one
 * of them runs, a round trip stands still.  Another host has CPUs of its own: roundtrip_own_us
 * leaves out the time that a PE of the pair has waited for a CPU during the fastest batch of round
 * trips, as the kernel counts it (schedstat of proc(5)), of the two the longer, since both may have
 * waited at the same time.  What the switches cost remains a part of it.  roundtrip_us includes the
 * waits, and so does rate-messages: during a window of messages the work of one PE may hide the
 * waits of the other.
 *
 * usage: mixed SERIES [busy]
 */
#include <skua/skua.h>

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "bench.h"

#define BENCH         "mixed"
#define BYTES         8
#define TRIPS         2000
#define WINDOWS       40
#define MIXED_BATCHES (4 * BENCH_BATCHES) /* not all of them count */
#define FAR_EVERY     256 /* messages inside the host per message to the other host */

#define MIXED_PES      1024 /* of a host, at most */
#define SETTLING_TRIPS 64   /* before the measured ones, without messages to the other host */

static skua_handler echo_handler, window_handler, answer_handler, far_handler, pairs_handler;
static skua_class   pair_class;
static skua_entry   echo_entry, window_entry;
static char         payload[BYTES];

/* The state of a PE.  The members from `left` on are those of a leader. */
static _Thread_local struct {
    int             partner; /* the other PE of the pair */
    bool            leads;
    skua_collection pairs;    /* element i is on PE i                 */
    long            left;     /* events until the measurement is over */
    long            to_far;   /* messages until the next one to the other host; < 0: none is sent */
    bool            far_out;  /* a message to the other host has not returned yet */
    long            far_due;  /* messages to the other host that were due in a batch ... */
    long            far_sent; /* ... and that were sent: the one before was answered     */
    skua_ref        element;  /* the element on the partner */
    skua_team       leaders;  /* of all pairs */
} at;

/* Returns the number of PEs of a host. */
static int host_pes(void)
{
    return skua_pes() / skua_hosts();
}

static bool is_over(void *arg)
{
    (void)arg;
    return at.left == 0;
}

static bool has_returned(void *arg)
{
    (void)arg;
    return !at.far_out;
}

/* Counts @p messages of a leader, and sends a message to the other host when one is due. */
static void count_messages(long messages)
{
    if (at.to_far < 0 || (at.to_far -= messages) > 0)
        return;
    at.to_far = FAR_EVERY;
    at.far_due++;
    at.far_sent += !at.far_out;
    if (!at.far_out)
        skua_send_copy(skua_pes() - 1 - skua_pe(), far_handler, payload, sizeof payload);
    at.far_out = true;
}

static void on_far(skua_msg *msg)
{
    if (!at.leads) {
        skua_send(skua_msg_source(msg), far_handler, msg);
        return;
    }
    at.far_out = false;
    skua_msg_free(msg);
}

/* ---- time ------------------------------------------------------------------------ */

/* Descriptors of the schedstat of the PEs of the first host, plus 1; 0: none. */
static atomic_int mixed_schedstat[MIXED_PES];

/* A moment: the time, and the seconds that the leader and its partner have waited for a CPU so far.
 */
struct moment {
    double time, waited[2];
};

static void open_schedstat(int pe)
{
    if (pe < host_pes())
        atomic_store(&mixed_schedstat[pe], 1 + open("/proc/thread-self/schedstat", O_RDONLY));
}

/* Returns the seconds that a PE has waited for a CPU, or 0 if the kernel does not tell. */
static double waited_seconds(int pe)
{
    char               text[128];
    unsigned long long ran, waited;
    int                fd = atomic_load(&mixed_schedstat[pe]) - 1;
    ssize_t            n  = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : 0;

    if (n <= 0)
        return 0;
    text[n] = '\0';
    return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? 1e-9 * (double)waited : 0;
}

static struct moment moment_now(void)
{
    struct moment now = {.waited = {waited_seconds(skua_pe()), waited_seconds(at.partner)}};

    now.time = bench_now();
    return now;
}

/* The seconds of a measurement, with waits for a CPU and without. */
struct seconds {
    double all, own;
};

static struct seconds seconds_since(const struct moment *start)
{
    struct seconds took  = {.all = bench_now() - start->time};
    int            pe[2] = {skua_pe(), at.partner};
    double         waited[2];

    for (int i = 0; i < 2; i++)
        waited[i] = waited_seconds(pe[i]) - start->waited[i];
    took.own = took.all - (waited[0] > waited[1] ? waited[0] : waited[1]);
    return took;
}

/* ---- pairs ------------------------------------------------------------------------ */

/* Replaces each of @p count values by the largest of all leaders, which call this together. */
static void largest_of_leaders(double *value, size_t count)
{
    const skua_reduction largest = {SKUA_MAX, SKUA_DOUBLE, count};
    skua_counter         done    = SKUA_COUNTER_INIT;

    skua_team_allreduce(at.leaders, &largest, value, value, skua_done_count(&done));
    skua_counter_wait(&done, 1);
}

/* Returns when all leaders have called it. */
static void meet_leaders(void)
{
    skua_counter done = SKUA_COUNTER_INIT;

    skua_team_barrier(at.leaders, skua_done_count(&done));
    skua_counter_wait(&done, 1);
}

/* ---- round trips ----------------------------------------------------------------- */

/* Records that a message has returned to a leader. Returns true if another one follows. */
static bool trip_follows(void)
{
    count_messages(1);
    return --at.left > 0;
}

static void on_echo_handler(skua_msg *msg)
{
    skua_msg_free(msg);
    if (!at.leads || trip_follows())
        skua_send_copy(at.partner, echo_handler, payload, sizeof payload);
}

struct pair {
    skua_ref partner;
};

static void make_pair(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data, (void)bytes;
    pair->partner = skua_element1(skua_collection_of(self), at.partner);
}

static void on_echo(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data;
    if (!at.leads || trip_follows())
        skua_invoke_copy_to(&pair->partner, echo_entry, payload, bytes);
}

static void make_trips(long trips, bool element)
{
    at.left = trips;
    if (element)
        skua_invoke_copy_to(&at.element, echo_entry, payload, sizeof payload);
    else
        skua_send_copy(at.partner, echo_handler, payload, sizeof payload);
    skua_run_until(is_over, NULL);
}

/* Measures TRIPS round trips.  A wait for a CPU is counted when it ends: before the measurement
 * begins, the other host answers, and both PEs of a pair are running. */
static struct seconds roundtrip(bool element)
{
    long          to_far = at.to_far;
    struct moment start;

    at.to_far = -1;
    skua_run_until(has_returned, NULL);
    meet_leaders();
    make_trips(SETTLING_TRIPS, element);
    at.to_far = to_far;
    start     = moment_now();
    make_trips(TRIPS, element);
    return seconds_since(&start);
}

/* ---- rates ------------------------------------------------------------------------- */

static void on_window_handler(skua_msg *msg)
{
    bool last = *(const char *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (last)
        skua_send_copy(at.partner, answer_handler, NULL, 0);
}

static void on_window(void *self, const void *data, size_t bytes)
{
    (void)self, (void)bytes;
    if (*(const char *)data)
        skua_send_copy(at.partner, answer_handler, NULL, 0);
}

static void on_answer(skua_msg *msg)
{
    skua_msg_free(msg);
    at.left = 0;
}

/* Returns the seconds of WINDOWS windows of messages. */
static double send_windows(bool element)
{
    double start = bench_now();

    for (int window = 0; window < WINDOWS; window++) {
        at.left = 1;
        for (int i = 1; i <= BENCH_WINDOW; i++) {
            char data[BYTES] = {i == BENCH_WINDOW};

            if (element)
                skua_invoke_copy_to(&at.element, window_entry, data, sizeof data);
            else
                skua_send_copy(at.partner, window_handler, data, sizeof data);
        }
        count_messages(BENCH_WINDOW);
        skua_run_until(is_over, NULL);
    }
    return bench_now() - start;
}

/* The best results of a kind of message. */
struct best {
    struct seconds trips;
    double         rate; /* messages per second */
    double far_share;    /* messages to the other host for each one inside the host, at that rate */
};

/* Measures a batch of a kind of message. */
static void measure_batch(struct best *best, bool element)
{
    const double   messages = WINDOWS * (double)BENCH_WINDOW;
    struct seconds took;
    double         value[3]; /* seconds, and in the last whether the batch does not count */

    at.far_due = at.far_sent = 0;
    took                     = roundtrip(element);
    value[0]                 = took.all;
    value[1]                 = took.own;
    value[2]                 = at.far_sent < at.far_due;
    largest_of_leaders(value, 3);
    if (value[2] == 0 && value[0] < best->trips.all)
        best->trips = (struct seconds){value[0], value[1]};
    at.far_due = at.far_sent = 0;
    value[0]                 = send_windows(element);
    value[1]                 = 4 * at.far_sent < at.far_due;
    largest_of_leaders(value, 2);
    if (value[1] == 0 && messages > best->rate * value[0]) {
        best->rate      = messages / value[0];
        best->far_share = (double)at.far_sent / messages;
    }
}

static void report(const char *series, const struct best *best)
{
    if (best->trips.all < 1) {
        bench_report(BENCH, series, BYTES, "roundtrip_us", 1e6 * best->trips.all / TRIPS);
        bench_report(BENCH, series, BYTES, "roundtrip_own_us", 1e6 * best->trips.own / TRIPS);
    }
    if (best->rate > 0)
        bench_report(BENCH, series, BYTES, "rate-messages", best->rate);
    if (best->far_share > 0)
        bench_report(BENCH, series, BYTES, "far-share", best->far_share);
}

static void measure(const char *series)
{
    struct best best[2] = {{.trips = {1, 1}}, {.trips = {1, 1}}};
    char        name[2][64];

    snprintf(name[0], sizeof name[0], "%.40s-handler", series);
    snprintf(name[1], sizeof name[1], "%.40s-element", series);
    for (int batch = 0; batch < MIXED_BATCHES; batch++)
        for (int element = 0; element < 2; element++)
            measure_batch(&best[element], element);
    for (int i = 0; skua_pe() == 0 && i < 2; i++)
        report(name[i], &best[i]);
}

/* Tells a PE the array of the pairs. */
static void on_pairs(skua_msg *msg)
{
    memcpy(&at.pairs, skua_msg_data(msg), sizeof at.pairs);
    skua_msg_free(msg);
    at.left = 0;
}

/* Creates the array on PE 0.  A leader waits until it knows the array. */
static void create_pairs(void)
{
    at.left = 1;
    if (skua_pe() == 0) {
        skua_collection pairs = skua_array_create1(pair_class, skua_pes(), NULL, 0);
        skua_msg       *msg   = skua_msg_alloc(sizeof pairs);

        memcpy(skua_msg_data(msg), &pairs, sizeof pairs);
        skua_broadcast(pairs_handler, msg, skua_done_nothing());
    }
    if (at.leads)
        skua_run_until(is_over, NULL);
}

static void prepare(void)
{
    int me = skua_pe();

    if (skua_processes() != skua_hosts() || host_pes() % 2 != 0 || host_pes() > MIXED_PES)
        skua_abort("bench-mixed needs hosts of one process with an even number of PEs, at most %d",
                   MIXED_PES);
    at.leads   = bench_leads(me, host_pes());
    at.partner = me < host_pes() ? bench_partner(me, host_pes()) : me;
    open_schedstat(me);
    skua_team_split(SKUA_TEAM_ALL, at.leads ? 0 : SKUA_COLOR_NONE, 0, &at.leaders);
    create_pairs();
}

static void start(int argc, char **argv)
{
    prepare();
    if (!at.leads)
        return;
    at.to_far  = argc > 2 && strcmp(argv[2], "busy") == 0 ? FAR_EVERY : -1;
    at.element = skua_element1(at.pairs, at.partner);
    measure(argc > 1 ? argv[1] : "mixed");
    if (skua_pe() == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    static const skua_class_def pair = {
        .name = "pair", .bytes = sizeof(struct pair), .construct = make_pair};

    echo_handler   = skua_handler_register("echo", on_echo_handler);
    window_handler = skua_handler_register("window", on_window_handler);
    answer_handler = skua_handler_register("answer", on_answer);
    far_handler    = skua_handler_register("far", on_far);
    pairs_handler  = skua_handler_register("pairs", on_pairs);
    pair_class     = skua_class_register(&pair);
    echo_entry     = skua_method_register(pair_class, "echo", on_echo, 0);
    window_entry   = skua_method_register(pair_class, "window", on_window, 0);
    return skua_main(argc, argv, start);
}
