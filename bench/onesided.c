/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onesided.c - one-sided communication of Skua between two PEs, and the limits of the machine,
 * measured in the same memory:
 *
 *   limit   put and get: memcpy into and out of the peer's part of the region; accumulate: daxpy,
 *           fetch-add: an atomic add, strided, vector and indexed data: plain loops, all in the
 *           PE's own part; notification: memcpy and a flag, and the flag alone (flag_us)
 *   skua    the metrics of bench_onesided.h, and
 *           signal_us       a signalling put, one way, handler to handler
 *           call_us         skua_call() and its result, both ways
 *           indexed_put_us  the blocks of vector_put_us, as an indexed layout
 */
#include <skua/skua.h>

#include <stdatomic.h>
#include <stdbool.h>

#include "bench_skua.h"

static char *part[2]; /* the part of the region of each PE */

/* ---- limits -------------------------------------------------------------- */

static volatile uint64_t before;

static double *matrix(int pe)
{
    return (double *)(void *)part[pe];
}

static void *own_area(void)
{
    return part[skua_pe()];
}

static void copy_to(const struct onesided_access *a)
{
    memcpy(part[a->pe] + a->offset, onesided_source + a->offset, a->bytes);
}

static void copy_from(const struct onesided_access *a)
{
    memcpy(onesided_result + a->offset, part[a->pe] + a->offset, a->bytes);
}

static void copy_rows_to(const struct onesided_access *a)
{
    size_t row = a->side * sizeof(double);

    for (size_t i = 0; i < a->side; i++)
        memcpy(matrix(a->pe) + i * ONESIDED_SIDE, onesided_source + i * row, row);
}

static void copy_rows_from(const struct onesided_access *a)
{
    size_t row = a->side * sizeof(double);

    for (size_t i = 0; i < a->side; i++)
        memcpy(onesided_result + i * row, matrix(a->pe) + i * ONESIDED_SIDE, row);
}

/* The layouts of vector and indexed data at the target. */
static skua_layout indexed, list;
static skua_block  blocks[ONESIDED_SIDE];
static ptrdiff_t   offsets[ONESIDED_SIDE];

static void prepare(const struct onesided_access *a)
{
    if (skua_pe() != 0)
        return;
    prepare_rows(a);
    indexed = skua_layout_indexed(NULL, sizeof(double), ONESIDED_SIDE, offsets);
    list    = skua_layout_list(NULL, ONESIDED_SIDE, blocks);
    for (size_t i = 0; i < ONESIDED_SIDE; i++) {
        offsets[i] = (ptrdiff_t)(onesided_index[i] * sizeof(double));
        blocks[i]  = (skua_block){offsets[i], sizeof(double)};
    }
}

static void limit_put_shape(const struct onesided_access *a)
{
    const double *from = (const double *)(void *)onesided_source;
    double       *to   = matrix(0);

    if (a->shape == ONESIDED_PATCH)
        copy_rows_to(a);
    else if (a->shape == ONESIDED_COLUMN)
        for (size_t i = 0; i < ONESIDED_SIDE; i++)
            to[i * ONESIDED_SIDE] = from[i];
    else /* the blocks of the list, with a constant length of 8 bytes */
        for (size_t i = 0; i < ONESIDED_SIDE; i++)
            memcpy((char *)to + blocks[i].offset, from + i, sizeof(double));
}

static void limit_put_indexed(const struct onesided_access *a)
{
    const double *from = (const double *)(void *)onesided_source;
    double       *to   = matrix(0);

    (void)a;
    for (size_t i = 0; i < ONESIDED_SIDE; i++)
        to[onesided_index[i]] = from[i];
}

static void limit_put(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        copy_to(a);
    else
        limit_put_shape(a);
}

static void limit_get(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_WHOLE)
        copy_from(a);
    else
        copy_rows_from(a);
}

static void daxpy(double *restrict y, const double *restrict x, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        y[i] += factor * x[i];
}

static void limit_acc(const struct onesided_access *a)
{
    const double *from   = (const double *)(void *)onesided_source;
    double        factor = scale;

    if (a->shape == ONESIDED_WHOLE)
        daxpy(matrix(0), from, a->bytes / sizeof(double), factor);
    else
        for (size_t i = 0; i < a->side; i++)
            daxpy(matrix(0) + i * ONESIDED_SIDE, from + i * a->side, a->side, factor);
}

static void limit_fetch_add(const struct onesided_access *a)
{
    (void)a;
    before = atomic_fetch_add((_Atomic uint64_t *)(void *)(part[0] + ONESIDED_NUMBER), 1);
}

static _Atomic uint64_t *flag_of(int pe)
{
    return (_Atomic uint64_t *)(void *)(part[pe] + ONESIDED_FLAG);
}

static void limit_flag(const struct onesided_access *a, uint64_t turn)
{
    atomic_store_explicit(flag_of(a->pe), turn, memory_order_release);
}

static void limit_notify(const struct onesided_access *a, uint64_t turn)
{
    copy_to(a);
    limit_flag(a, turn);
}

static void limit_await(const struct onesided_access *a, uint64_t turn)
{
    while (atomic_load_explicit(flag_of(1 - a->pe), memory_order_acquire) < turn)
        ;
}

static const struct onesided limit = {.area      = own_area,
                                      .prepare   = prepare,
                                      .barrier   = barrier,
                                      .put       = limit_put,
                                      .get       = limit_get,
                                      .acc       = limit_acc,
                                      .fetch_add = limit_fetch_add,
                                      .put_nb    = copy_to,
                                      .get_nb    = copy_from,
                                      .notify    = limit_notify,
                                      .await     = limit_await};

/* ---- Skua ---------------------------------------------------------------- */

static void put_shape(const struct onesided_access *a)
{
    if (a->shape == ONESIDED_SCATTER)
        skua_put_layout(target(a), &list, packed_at(onesided_source));
    else
        put(a);
}

static void put_indexed(const struct onesided_access *a)
{
    skua_put_layout(target(a), &indexed, packed_at(onesided_source));
}

static void fetch_add(const struct onesided_access *a)
{
    uint64_t old;

    skua_fetch_add64(skua_at(memory, a->pe, ONESIDED_NUMBER), 1, &old);
    before = old;
}

static void allocate(const struct onesided_access *a)
{
    skua_region other;

    if (skua_region_create(a->bytes, &other) != SKUA_OK || skua_region_destroy(other) != SKUA_OK)
        skua_abort("cannot create another region");
}

/* Each turn sends one notification, so the counter at the target equals the turn. */
static void notify(const struct onesided_access *a, uint64_t turn)
{
    (void)turn;
    skua_put_nb(target(a), onesided_source, a->bytes,
                &(skua_rma_params){.notify = skua_at(memory, a->pe, ONESIDED_FLAG)});
}

static void await(const struct onesided_access *a, uint64_t turn)
{
    while (skua_notify_value((skua_notify *)(void *)(part[1 - a->pe] + ONESIDED_FLAG)) < turn)
        ;
}

static const struct onesided skua = {.area      = own_area,
                                     .barrier   = barrier,
                                     .prepare   = prepare,
                                     .put       = put_shape,
                                     .get       = get,
                                     .acc       = acc,
                                     .fetch_add = fetch_add,
                                     .put_nb    = put_nb,
                                     .get_nb    = get_nb,
                                     .complete  = complete,
                                     .allocate  = allocate,
                                     .notify    = notify,
                                     .await     = await};

/* ---- signalling put ------------------------------------------------------ */

static skua_handler signalled;

/* The progress of a PE in a series of signalling puts. */
static struct {
    BENCH_APART size_t bytes;
    int                left; /* number of round trips, on PE 0 */
} signals[2];

static void put_signal(int me)
{
    skua_put_nb(skua_at(memory, 1 - me, 0), onesided_source, signals[me].bytes,
                &(skua_rma_params){.signal = signalled});
}

static void on_signal(skua_msg *msg)
{
    int me = skua_pe();

    skua_msg_free(msg);
    if (me == 1 || --signals[0].left > 0)
        put_signal(me);
}

static bool signals_over(void *arg)
{
    (void)arg;
    return signals[0].left == 0;
}

static void measure_signal(const char *series, int me, size_t bytes)
{
    int    trips = onesided_trips(bytes);
    double best  = 1e9;

    signals[me].bytes = bytes;
    for (int batch = 0; batch < ONESIDED_BATCHES; batch++) {
        double start;
        skua_sync();
        if (me == 1)
            continue; /* the next skua_sync() runs its handlers */
        start           = bench_now();
        signals[0].left = trips;
        put_signal(0);
        skua_run_until(signals_over, NULL);
        best = onesided_less(best, (bench_now() - start) / trips / 2);
    }
    skua_sync();
    onesided_report(me, series, bytes, "signal_us", best * 1e6);
}

/* ---- remote call --------------------------------------------------------- */

static skua_function echo;

static void on_echo(const void *args, size_t bytes, skua_completion done)
{
    skua_complete(done, args, bytes);
}

static void call(const struct onesided_access *a)
{
    skua_future future = SKUA_FUTURE_INIT;
    uint64_t    number = before;

    skua_call(a->pe, echo, &number, sizeof number, skua_done_future(&future));
    before = *(const uint64_t *)skua_future_wait(&future, NULL);
    skua_future_clear(&future);
}

/* ---- main ---------------------------------------------------------------- */

static void clear(int me)
{
    skua_sync();
    memset(part[me], 0, ONESIDED_MEMORY);
    skua_sync();
}

static void run_limit(const char *series, int me)
{
    struct onesided_access scatter = {1, ONESIDED_SCATTER, ONESIDED_SIDE * sizeof(double), 0, 0};
    uint64_t               turn    = 0;

    clear(me);
    onesided_pingpong(&limit, series, me, "flag_us", limit_flag, limit_await, 8, &turn);
    clear(me);
    onesided_by_size(&limit, series, me);
    onesided_by_patch(&limit, series, me);
    onesided_single(&limit, series, me);
    onesided_measure(&limit, series, me, "indexed_put_us", limit_put_indexed, NULL, &scatter);
}

static void run_skua(const char *series, int me)
{
    struct onesided_access scatter = {1, ONESIDED_SCATTER, ONESIDED_SIDE * sizeof(double), 0, 0};
    struct onesided_access number  = {.pe = 1, .bytes = sizeof(uint64_t)};

    clear(me);
    onesided_run(&skua, series, me);
    onesided_measure(&skua, series, me, "indexed_put_us", put_indexed, NULL, &scatter);
    onesided_measure(&skua, series, me, "call_us", call, NULL, &number);
    for (size_t i = 0; i < ONESIDED_SIZES; i++)
        measure_signal(series, me, onesided_sizes[i]);
}

static void make_memory(int me)
{
    skua_region region;

    if (skua_region_create(ONESIDED_MEMORY, &region) != SKUA_OK)
        skua_abort("cannot create the region");
    if (me == skua_process_first(skua_process())) {
        memory = region;
        for (int pe = 0; pe < 2; pe++)
            part[pe] = skua_gaddr_local(skua_at(region, pe, 0));
    }
    skua_sync();
}

static void start(int argc, char **argv)
{
    bool threads = skua_processes() == 1;
    int  me      = skua_pe();

    (void)argc, (void)argv;
    if (skua_pes() != 2)
        skua_abort("bench-onesided needs two PEs: skuarun -n 2");
    make_memory(me);
    run_limit(threads ? "limit-threads" : "limit", me);
    run_skua(threads ? "skua-threads" : "skua", me);
    skua_sync();
    if (me == 0)
        skua_exit(0);
}

int main(int argc, char **argv)
{
    signalled = skua_handler_register("signalled", on_signal);
    echo      = skua_function_register("echo", on_echo);
    onesided_fill();
    return skua_main(argc, argv, start);
}
