/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zerocopy.c - the one-way time of a transfer from memory of one PE to memory of another, with the
 * data copied into and out of a message, and without copies (skua/buffer.h, skua/nocopy.h).
 *
 * The value is half a round trip, in the best of several batches.  More than two PEs are pairs,
 * which begin each batch together: it takes as long as on the slowest pair.  Each variant is
 * measured with memory from skua_buffer_alloc() and, as ..._heap, from malloc(); with the setting
 * malloc_arena only from malloc().  The receiver notifies the sender when its memory may be reused;
 * that is part of the measured work.
 *
 * Inside a host the variants copy nothing, whatever their size.  Between hosts the runtime decides
 * how a nocopy part is sent.  A job of several hosts is the series skua-tcp, with the name of its
 * driver.  With the argument "threshold" the program reports only the smallest sizes that the
 * runtime sends without a copy; two numbers are the largest and the smallest size to measure.
 *
 *   copy   a message: memcpy, send, memcpy
 *   get    a message with a buffer descriptor; the receiver gets the data
 *   put    a put into the buffer of the receiver, whose descriptor the sender has
 *   send   a message with a nocopy part, which is used in place where possible
 *   post   a message with a nocopy part, into memory that the receiver provides
 */
#include <skua/skua.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/allreduce.h"

#define MAX_BYTES ((size_t)4 << 20)

static const size_t sizes[] = {64,    256,   1024,   2048,   4096,    8192,   16384,
                               32768, 65536, 131072, 262144, 1048576, 4194304};

#define SIZES (sizeof sizes / sizeof *sizes)

static skua_handler on_copy, on_get, on_buffer, on_part, on_post;

/* The state of a PE. */
static _Thread_local struct {
    char        *source, *target; /* the source and the destination of transfers */
    skua_buffer  peer_target;     /* descriptor of the peer's target             */
    skua_counter turn, reusable, received;
    int          peer, exchanges;
    bool         leads; /* this PE is in the first half */
} my;

/* ---- variants ------------------------------------------------------------------------------- */

static void send_copy(size_t bytes)
{
    skua_msg *msg = skua_msg_alloc(bytes);

    memcpy(skua_msg_data(msg), my.source, bytes);
    skua_send(my.peer, on_copy, msg);
}

static void take_copy(skua_msg *msg)
{
    memcpy(my.target, skua_msg_data(msg), skua_msg_size(msg));
    skua_msg_free(msg);
    skua_complete(skua_done_count(&my.turn), NULL, 0);
}

static skua_buffer source(size_t bytes)
{
    return skua_buffer_make(my.source, bytes, SKUA_REGISTER_NOW, skua_done_count(&my.reusable), 0);
}

static skua_buffer target(size_t bytes)
{
    return skua_buffer_make(my.target, bytes, SKUA_REGISTER_NOW, skua_done_count(&my.turn), 0);
}

static void send_buffer(size_t bytes)
{
    skua_buffer buffer = source(bytes);

    skua_send_copy(my.peer, on_get, &buffer, sizeof buffer);
}

static void take_buffer(skua_msg *msg)
{
    const skua_buffer *from = skua_msg_data(msg);
    skua_buffer        here = target(from->bytes);

    skua_buffer_get(&here, from);
    skua_msg_free(msg);
}

static void put(size_t bytes)
{
    skua_buffer here = source(bytes);

    skua_buffer_put(&here, &my.peer_target);
}

static void send_part(skua_handler handler, size_t bytes)
{
    skua_nocopy_argument part = {my.source, bytes, skua_done_count(&my.reusable), 0};

    skua_send(my.peer, handler, skua_nocopy_alloc(my.peer, 0, &part, 1));
}

static void send_in_place(size_t bytes)
{
    send_part(on_part, bytes);
}

static void send_posted(size_t bytes)
{
    send_part(on_post, bytes);
}

static void post(void *none, skua_msg *msg, void **to)
{
    (void)none, (void)msg;
    to[0] = my.target;
}

static void take_part(skua_msg *msg)
{
    if (!skua_nocopy_ready(msg, NULL))
        return;
    skua_nocopy_free(msg);
    skua_complete(skua_done_count(&my.turn), NULL, 0);
}

static void take_posted(skua_msg *msg)
{
    if (!skua_nocopy_ready(msg, post))
        return;
    skua_nocopy_free(msg);
    skua_complete(skua_done_count(&my.turn), NULL, 0);
}

/* ---- measuring ------------------------------------------------------------------------------ */

static void take_descriptor(skua_msg *msg)
{
    memcpy(&my.peer_target, skua_msg_data(msg), sizeof my.peer_target);
    skua_msg_free(msg);
    skua_complete(skua_done_count(&my.received), NULL, 0);
}

/* The PEs exchange the descriptors of their targets. */
static void exchange(size_t bytes)
{
    skua_buffer mine = target(bytes);

    skua_send_copy(my.peer, on_buffer, &mine, sizeof mine);
    skua_counter_wait(&my.received, ++my.exchanges);
    skua_sync();
}

static double batch(void (*send)(size_t bytes), size_t bytes, int trips)
{
    double start;

    my.turn = my.reusable = (skua_counter)SKUA_COUNTER_INIT;
    skua_sync();
    start = bench_now();
    for (int i = 1; i <= trips; i++) {
        if (my.leads)
            send(bytes);
        skua_counter_wait(&my.turn, i);
        if (!my.leads)
            send(bytes);
    }
    return (bench_now() - start) / trips / 2 * 1e6;
}

static struct {
    const char *name, *heap;
    void (*send)(size_t bytes);
} variants[] = {{"copy_us", "copy_heap_us", send_copy},
                {"get_us", "get_heap_us", send_buffer},
                {"put_us", "put_heap_us", put},
                {"send_us", "send_heap_us", send_in_place},
                {"post_us", "post_heap_us", send_posted}};

#define VARIANTS (sizeof variants / sizeof *variants)

static size_t most_bytes = MAX_BYTES, least_bytes;

static double best_batch(void (*send)(size_t bytes), size_t bytes)
{
    bool   net     = skua_hosts() > 1;
    int    trips   = net ? bench_trips_net(bytes) : bench_trips(bytes);
    int    batches = bench_batches(net, skua_pes());
    double best    = 1e30;

    for (int i = 0; i < batches; i++) {
        double time = batch(send, bytes, trips);

        if (skua_pes() > 2)
            time = allreduce_double(SKUA_MAX, my.leads ? time : 0);
        best = time < best ? time : best;
    }
    return best;
}

/* Variants that are compared are measured close to each other. */
static void measure_all(const char *series, bool heap)
{
    for (size_t s = 0; s < SIZES; s++) {
        if (sizes[s] < least_bytes || sizes[s] > most_bytes)
            continue;
        exchange(sizes[s]);
        for (size_t v = 0; v < VARIANTS; v++) {
            double best = best_batch(variants[v].send, sizes[s]);

            if (skua_pe() == 0)
                bench_report("zerocopy", series, sizes[s],
                             heap ? variants[v].heap : variants[v].name, best);
            skua_sync();
        }
    }
}

static void measure_buffers(const char *series)
{
    my.source = skua_buffer_alloc(MAX_BYTES);
    my.target = skua_buffer_alloc(MAX_BYTES);
    memset(my.source, 1, MAX_BYTES);
    memset(my.target, 1, MAX_BYTES);
    measure_all(series, false);
    skua_buffer_free(my.source);
    skua_buffer_free(my.target);
}

static void measure_heap(const char *series)
{
    char *source, *target;

    my.source = source = calloc(1, MAX_BYTES);
    my.target = target = calloc(1, MAX_BYTES);
    measure_all(series, true);
    free(source);
    free(target);
}

static void name_series(char *name, size_t size)
{
    const char *driver = getenv("SKUA_DRIVER");

    if (skua_hosts() > 1)
        snprintf(name, size, "skua-%s", driver ? driver : "net");
    else
        snprintf(name, size, "%s", skua_processes() > 1 ? "skua" : "skua-threads");
}

/* Reports the threshold of the runtime.  Between hosts the first transfers measure it. */
static void report_threshold(const char *series)
{
    my.source = skua_buffer_alloc(MAX_BYTES);
    my.target = skua_buffer_alloc(MAX_BYTES);
    for (int i = 0; i < 20; i++) {
        (void)skua_zero_copy_bytes(my.peer);
        exchange(64);
        (void)batch(send_buffer, 64, 10);
    }
    if (skua_pe() == 0)
        bench_report("zerocopy", series, 0, "threshold_bytes",
                     (double)skua_zero_copy_bytes(my.peer));
    skua_exit(0);
}

static void start(int argc, char **argv)
{
    char series[32];

    if (skua_pes() % 2 != 0)
        skua_abort("bench-zerocopy needs pairs of PEs: an even number, as in skuarun -n 2");
    my.leads = bench_leads(skua_pe(), skua_pes());
    my.peer  = bench_partner(skua_pe(), skua_pes());
    name_series(series, sizeof series);
    if (argc > 1 && strcmp(argv[1], "threshold") == 0) {
        report_threshold(series);
        return;
    }
    if (argc > 1)
        most_bytes = (size_t)atoll(argv[1]);
    if (argc > 2)
        least_bytes = (size_t)atoll(argv[2]);
    if (getenv("SKUA_MALLOC_ARENA")) {
        measure_heap("skua-shared");
        skua_exit(0);
        return;
    }
    measure_buffers(series);
    measure_heap(series);
    skua_exit(0);
}

int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "threshold") != 0)
        setenv("SKUA_ZCOPY_THRESHOLD_HOST", "1", 0); /* makes transfers of all sizes zero-copy */
    on_copy   = skua_handler_register("copy", take_copy);
    on_get    = skua_handler_register("get", take_buffer);
    on_buffer = skua_handler_register("buffer", take_descriptor);
    on_part   = skua_handler_register("part", take_part);
    on_post   = skua_handler_register("post", take_posted);
    return skua_main(argc, argv, start);
}
