/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.c - the cost of chares, compared with lower layers in the same run.
 *
 *   element   elements of arrays          handler   plain handlers
 *   malloc    malloc() and free()         loop      a loop over pointers
 *
 * On one PE: messages to itself, creation and destruction of elements, a tree of single chares.  On
 * two: round trips and rates, a broadcast and a reduction over many elements.  PE 0 controls the
 * measurements in its start function; batches of series that are compared alternate.
 *
 * usage: objects [net], on one or two PEs; net: only round trips, of PEs that share no memory
 */
#include <skua/skua.h>

#include "bench.h"

#define BENCH     "objects"
#define LOCAL     100000 /* messages to the own PE in a batch */
#define BLOCKS    1000000
#define ELEMENTS  100000
#define LARGEST   16384
#define FIB       22
#define NET_TRIPS 500

static const size_t sizes[] = {8, 32, 128, 1024, 4096, LARGEST};

#define SIZES (sizeof sizes / sizeof *sizes)

/* An element that exchanges messages with its partner. */
struct pair {
    skua_ref partner;
};

/* An element of a large array. */
struct cell {
    double sum;
};

static skua_class   pair_class, cell_class, node_class;
static skua_entry   echo_entry, window_entry, add_entry, answer_entry;
static skua_handler echo_handler, window_handler, nothing_handler, loop_handler, reduce_handler;
static char         payload[LARGEST];

/* The state of the measurement, on PE 0. */
static struct {
    BENCH_APART long left; /* events until the measurement is over */
} at;

static bool is_over(void *arg)
{
    (void)arg;
    return at.left == 0;
}

static void wait_until_over(void)
{
    skua_run_until(is_over, NULL);
}

/* Replaces *@p best by the time since @p start per operation if that is smaller. */
static void keep_best(double *best, double start, double operations)
{
    double time = (bench_now() - start) / operations;

    if (*best == 0 || time < *best)
        *best = time;
}

/* Handles the message that arrives after all messages sent to this PE before. */
static void on_nothing(skua_msg *msg)
{
    skua_msg_free(msg);
    at.left = 0;
}

/* ---- round trips ----------------------------------------------------- */

static void on_echo_handler(skua_msg *msg)
{
    size_t bytes = skua_msg_size(msg);
    int    me    = skua_pe();

    skua_msg_free(msg);
    if (me == 0 && --at.left == 0)
        return;
    skua_send_copy(skua_pes() - 1 - me, echo_handler, payload, bytes);
}

static void make_pair(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data, (void)bytes;
    pair->partner = skua_element1(skua_collection_of(self), 1 - skua_index_of(self).at.x[0]);
}

static void on_echo(void *self, const void *data, size_t bytes)
{
    struct pair *pair = self;

    (void)data;
    if (skua_pe() == 0 && --at.left == 0)
        return;
    skua_invoke_copy_to(&pair->partner, echo_entry, payload, bytes);
}

/* Measures round trips by handlers and by elements.  The metric is in seconds times @p scale. */
static void measure_echo(const char *metric, skua_ref element_ref, size_t bytes, long trips,
                         double scale)
{
    double handler = 0, element = 0;

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        at.left = trips;
        skua_send_copy(skua_pes() - 1, echo_handler, payload, bytes);
        wait_until_over();
        keep_best(&handler, start, (double)trips);
        start   = bench_now();
        at.left = trips;
        skua_invoke_copy(element_ref, echo_entry, payload, bytes);
        wait_until_over();
        keep_best(&element, start, (double)trips);
    }
    bench_report(BENCH, "handler", bytes, metric, handler * scale);
    bench_report(BENCH, "element", bytes, metric, element * scale);
}

/* ---- rates ------------------------------------------------------------------------ */

/* Answers the last message of a window, which is marked. */
static void on_window_handler(skua_msg *msg)
{
    bool last = *(const char *)skua_msg_data(msg);

    skua_msg_free(msg);
    if (last)
        skua_send_copy(0, nothing_handler, NULL, 0);
}

static void on_window(void *self, const void *data, size_t bytes)
{
    (void)self, (void)bytes;
    if (*(const char *)data)
        skua_send_copy(0, nothing_handler, NULL, 0);
}

static double rate(bool element, skua_ref ref, int windows)
{
    double start = bench_now();

    for (int window = 0; window < windows; window++) {
        at.left = 1;
        for (int i = 1; i <= BENCH_WINDOW; i++) {
            char data[8] = {i == BENCH_WINDOW};

            if (element)
                skua_invoke_copy_to(&ref, window_entry, data, sizeof data);
            else
                skua_send_copy(skua_pes() - 1, window_handler, data, sizeof data);
        }
        wait_until_over();
    }
    return windows * (double)BENCH_WINDOW / (bench_now() - start);
}

static void measure_rate(skua_ref ref)
{
    double best[2] = {0, 0};

    for (int batch = 0; batch < 2 * BENCH_BATCHES; batch++) {
        double value = rate(batch % 2, ref, 40);

        if (value > best[batch % 2])
            best[batch % 2] = value;
    }
    bench_report(BENCH, "handler", 8, "rate-messages", best[0]);
    bench_report(BENCH, "element", 8, "rate-messages", best[1]);
}

/* ---- creation and destruction --------------------------------------------------------------- */

/* Blocks as large as an element: 64 bytes of the runtime and its own. */
static void measure_malloc(double *best)
{
    void **block = malloc(BLOCKS * sizeof *block);
    double start = bench_now();

    for (size_t i = 0; i < BLOCKS; i++) {
        block[i]            = malloc(64 + sizeof(struct cell));
        *(size_t *)block[i] = i;
    }
    for (size_t i = 0; i < BLOCKS; i++)
        free(block[i]);
    keep_best(best, start, BLOCKS);
    free(block);
}

/* Waits until this PE has handled the messages that were sent to it before. */
static void drain(void)
{
    at.left = 1;
    skua_send_copy(skua_pe(), nothing_handler, NULL, 0);
    wait_until_over();
}

/* Sends a message to each of the elements, in an order without locality. */
static void measure_many(skua_collection all, double *best)
{
    double start = bench_now(), one = 1;

    for (uint64_t i = 0; i < BLOCKS; i += 1000) {
        for (uint64_t j = i; j < i + 1000; j++)
            skua_invoke_copy(skua_element1(all, (int)(j * 618033 % BLOCKS)), add_entry, &one,
                             sizeof one);
        drain();
    }
    keep_best(best, start, BLOCKS);
}

static void measure_life(void)
{
    double blocks = 0, elements = 0, messages = 0;

    for (int batch = 0; batch < 5; batch++) {
        skua_collection all;
        double          start;

        measure_malloc(&blocks);
        start = bench_now();
        all   = skua_array_create1(cell_class, BLOCKS, NULL, 0);
        drain();
        if (skua_collection_local_count(all) != BLOCKS)
            skua_abort("elements are missing");
        skua_collection_destroy(all);
        drain();
        keep_best(&elements, start, BLOCKS);
        all = skua_array_create1(cell_class, BLOCKS, NULL, 0);
        drain();
        measure_many(all, &messages);
        skua_collection_destroy(all);
        drain();
    }
    bench_report(BENCH, "element", 8, "many_ns", messages * 1e9);
    bench_report(BENCH, "malloc", 64 + sizeof(struct cell), "life_ns", blocks * 1e9);
    bench_report(BENCH, "element", 64 + sizeof(struct cell), "life_ns", elements * 1e9);
}

/* ---- broadcasts and reductions -------------------------------------------------------------- */

static _Thread_local struct cell **cells; /* the elements of this PE */
static _Thread_local size_t        cell_count;

static void add_cell(void *self, void *arg)
{
    (void)arg;
    cells[cell_count++] = self;
}

/* The reference: a loop over pointers, without the runtime. */
static void on_loop(skua_msg *msg)
{
    skua_collection all = *(skua_collection *)skua_msg_data(msg);

    if (!cells) {
        cells = malloc(ELEMENTS * sizeof *cells);
        skua_collection_each(all, add_cell, NULL);
    }
    for (size_t i = 0; i < cell_count; i++)
        cells[i]->sum += 1;
    skua_msg_free(msg);
}

static void on_add(void *self, const void *data, size_t bytes)
{
    (void)bytes;
    ((struct cell *)self)->sum += *(const double *)data;
}

static void contribute(void *self, void *arg)
{
    skua_contribute_to(self, SKUA_SUM, SKUA_DOUBLE, &((struct cell *)self)->sum, 1, arg);
}

struct reduce {
    skua_collection all;
    skua_completion done;
};

static void on_reduce(skua_msg *msg)
{
    struct reduce *reduce = skua_msg_data(msg);

    skua_collection_each(reduce->all, contribute, &reduce->done);
    skua_msg_free(msg);
}

static void on_sum(void *arg, const void *data, size_t bytes)
{
    if (bytes != sizeof(double) || *(const double *)data != *(double *)arg)
        skua_abort("the sum is wrong");
    at.left = 0;
}

static skua_msg *message(const void *data, size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    memcpy(skua_msg_data(msg), data, bytes);
    return msg;
}

/* Runs a handler on all PEs, after the messages that were sent to them before, and waits. */
static void run_everywhere(skua_handler handler, const void *data, size_t bytes)
{
    skua_counter done = SKUA_COUNTER_INIT;

    skua_broadcast(handler, message(data, bytes), skua_done_count(&done));
    skua_counter_wait(&done, 1);
}

static void measure_all(void)
{
    skua_collection all  = skua_array_create1(cell_class, ELEMENTS, NULL, 0);
    double          loop = 0, broadcast = 0, reduction = 0, one = 1, sum = 0;
    struct reduce   reduce = {all, skua_done_call(on_sum, &sum)};

    for (int batch = 0; batch < 2 * BENCH_BATCHES; batch++) {
        double start = bench_now();

        run_everywhere(loop_handler, &all, sizeof all);
        keep_best(&loop, start, ELEMENTS);
        start = bench_now();
        skua_invoke_all(all, add_entry, &one, sizeof one);
        run_everywhere(nothing_handler, NULL, 0);
        keep_best(&broadcast, start, ELEMENTS);
        sum += 2 * ELEMENTS;
        start   = bench_now();
        at.left = 1;
        skua_broadcast(reduce_handler, message(&reduce, sizeof reduce), skua_done_nothing());
        wait_until_over();
        keep_best(&reduction, start, ELEMENTS);
    }
    bench_report(BENCH, "loop", 8, "all_ns", loop * 1e9);
    bench_report(BENCH, "element", 8, "broadcast_ns", broadcast * 1e9);
    bench_report(BENCH, "element", 8, "reduction_ns", reduction * 1e9);
}

/* ---- a tree of single chares ----------------------------------------------------------- */

struct tree_args {
    int             n;
    skua_completion done;
};

struct tree_node {
    skua_completion done;
    int             missing;
    int64_t         objects;
};

static void node_finish(struct tree_node *node)
{
    skua_complete(node->done, &node->objects, sizeof node->objects);
    skua_object_destroy(node);
}

static void make_node(void *self, const void *data, size_t bytes)
{
    const struct tree_args *args = data;
    struct tree_node       *node = self;

    (void)bytes;
    node->done    = args->done;
    node->objects = 1;
    for (int i = 1; args->n >= 2 && i <= 2; i++, node->missing++) {
        struct tree_args child = {args->n - i, skua_done_invoke(skua_ref_of(self), answer_entry)};

        skua_chare_create(node_class, SKUA_ANY_PE, &child, sizeof child);
    }
    if (node->missing == 0)
        node_finish(node);
}

static void on_answer(void *self, const void *data, size_t bytes)
{
    struct tree_node *node = self;

    (void)bytes;
    node->objects += *(const int64_t *)data;
    if (--node->missing == 0)
        node_finish(node);
}

static void on_tree(void *arg, const void *data, size_t bytes)
{
    (void)bytes;
    *(int64_t *)arg = *(const int64_t *)data;
    at.left         = 0;
}

static void measure_tree(void)
{
    int64_t          objects = 0;
    double           best    = 0;
    char             metric[32];
    struct tree_args root = {FIB, skua_done_call(on_tree, &objects)};

    for (int batch = 0; batch < BENCH_BATCHES; batch++) {
        double start = bench_now();

        at.left = 1;
        skua_chare_create(node_class, 0, &root, sizeof root);
        wait_until_over();
        keep_best(&best, start, (double)objects);
    }
    snprintf(metric, sizeof metric, "rate-objects-%dpe", skua_pes());
    bench_report(BENCH, "chare", sizeof(struct tree_node), metric, 1 / best);
}

/* ---- main ---------------------------------------------------------------------------- */

static void start(int argc, char **argv)
{
    skua_collection pairs;

    if (skua_pes() > 2)
        skua_abort("bench-objects needs one or two PEs");
    if (skua_pe() != 0)
        return;
    pairs = skua_array_create1(pair_class, 2, NULL, 0);
    if (argc > 1 && strcmp(argv[1], "net") == 0) {
        for (size_t i = 0; i < SIZES; i++)
            measure_echo("net_roundtrip_us", skua_element1(pairs, 1), sizes[i], NET_TRIPS, 1e6);
        skua_exit(0);
        return;
    }
    if (skua_pes() == 1) {
        measure_echo("local_ns", skua_element1(pairs, 1), 8, LOCAL, 1e9);
        measure_life();
    } else {
        for (size_t i = 0; i < SIZES; i++)
            measure_echo("roundtrip_us", skua_element1(pairs, 1), sizes[i], bench_trips(sizes[i]),
                         1e6);
        measure_rate(skua_element1(pairs, 1));
        measure_all();
    }
    measure_tree();
    skua_exit(0);
}

static void register_classes(void)
{
    static const skua_class_def pair = {.name      = "pair",
                                        .bytes     = sizeof(struct pair),
                                        .construct = make_pair},
                                cell = {.name = "cell", .bytes = sizeof(struct cell)},
                                node = {.name      = "node",
                                        .bytes     = sizeof(struct tree_node),
                                        .construct = make_node};

    pair_class   = skua_class_register(&pair);
    cell_class   = skua_class_register(&cell);
    node_class   = skua_class_register(&node);
    echo_entry   = skua_method_register(pair_class, "echo", on_echo, 0);
    window_entry = skua_method_register(pair_class, "window", on_window, 0);
    add_entry    = skua_method_register(cell_class, "add", on_add, 0);
    answer_entry = skua_method_register(node_class, "answer", on_answer, 0);
}

int main(int argc, char **argv)
{
    register_classes();
    echo_handler    = skua_handler_register("echo", on_echo_handler);
    window_handler  = skua_handler_register("window", on_window_handler);
    nothing_handler = skua_handler_register("nothing", on_nothing);
    loop_handler    = skua_handler_register("loop", on_loop);
    reduce_handler  = skua_handler_register("reduce", on_reduce);
    return skua_main(argc, argv, start);
}
