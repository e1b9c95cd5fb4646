/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_onesided.h - the measurements of `skua bench onesided`, for Skua, for the limits of the
 * machine, and for every peer.
 *
 * A library is a table of functions (struct onesided).  PE 0 is the origin and PE 1 the target. The
 * target's memory is an area of ONESIDED_AREA bytes, a matrix of ONESIDED_SIDE x ONESIDED_SIDE
 * doubles, followed by a flag and a number.  Both PEs go through all measurements in the same
 * order. A barrier begins each batch; while the origin works, the target waits in the next barrier
 * or, where the library needs it, serves.
 *
 * More than two PEs, which bench_network.h measures, are pairs of an origin and a target.  A
 * barrier of all of them begins a batch, which takes as long as on the slowest pair.
 *
 * The loops are inlined into onesided_run() with the table as a constant, so that no call through a
 * pointer is measured with an operation that takes two or three nanoseconds.
 */
#ifndef BENCH_ONESIDED_H
#define BENCH_ONESIDED_H

#include <stdint.h>

#include "bench.h"

/* Side of the matrix; also the number of segments of a column. */
#define ONESIDED_SIDE ((size_t)1024)
#define ONESIDED_AREA (ONESIDED_SIDE * ONESIDED_SIDE * sizeof(double))
#define ONESIDED_FLAG ONESIDED_AREA /* offset of the flag, on a cache line of its own         */
#define ONESIDED_NUMBER                                                                            \
    (ONESIDED_AREA + 256) /* offset of the number of fetch-and-add                  */
#define ONESIDED_MEMORY                                                                            \
    (ONESIDED_AREA + 512) /* bytes that a PE allocates                              */
#define ONESIDED_ALLOC        ((size_t)65536)
#define ONESIDED_BATCHES      30
#define ONESIDED_BATCHES_MOST 150 /* of any benchmark that uses this header */

#define ONESIDED_INLINE static inline __attribute__((always_inline))

static const size_t onesided_sizes[] = {8, 64, 512, 4096, 65536, 262144, 1048576, 4194304};

#define ONESIDED_SIZES (sizeof onesided_sizes / sizeof *onesided_sizes)

enum onesided_shape {
    ONESIDED_WHOLE,  /* contiguous                                     */
    ONESIDED_PATCH,  /* side x side elements of the matrix             */
    ONESIDED_COLUMN, /* the first column of the matrix                 */
    ONESIDED_SCATTER /* the elements of the matrix in onesided_index[] */
};

/* The data of an operation at the target; the data at the origin are contiguous. */
struct onesided_access {
    int                 pe; /* 1, or 0 for the area of the origin itself */
    enum onesided_shape shape;
    size_t              bytes, side, offset;
};

typedef void (*onesided_fn)(const struct onesided_access *a);
typedef void (*onesided_turn_fn)(const struct onesided_access *a, uint64_t turn);

/* The operations of a library; NULL: the library has no such operation. */
struct onesided {
    void *(*area)(void); /* returns the area of the calling PE */
    onesided_fn barrier;
    onesided_fn prepare; /* runs before accesses of another shape; not measured */

    /* Blocking operations, which are complete at the target when they return. */
    onesided_fn put, get, acc, fetch_add;

    /* A put that is blocking until its source may change. */
    onesided_fn put_local;

    /* Non-blocking: begin, any number of them, complete. */
    onesided_fn begin, put_nb, get_nb, complete;

    /* The part of the target in each access, if it has one. */
    onesided_fn serve;

    /* Allocates a->bytes collectively and frees them. */
    onesided_fn allocate;

    /* `notify` puts and notifies the target; `await` waits for the notification. */
    onesided_turn_fn notify, await;
};

/* The memory of the origin: the source of puts, the destination of gets. */
static _Alignas(4096) char onesided_source[ONESIDED_AREA];
static _Alignas(4096) char onesided_result[ONESIDED_AREA];

/* Indices into the matrix, all different, in an order that a prefetcher cannot predict. */
static size_t onesided_index[ONESIDED_SIDE];

static inline void onesided_fill(void)
{
    double  *source = (double *)(void *)onesided_source;
    uint32_t x      = 1;

    for (size_t i = 0; i < ONESIDED_AREA / sizeof *source; i++)
        source[i] = 1 + (double)(i % 7);
    memset(onesided_result, 1, sizeof onesided_result);
    for (size_t i = 0; i < ONESIDED_SIDE; i++) {
        x                 = x * 1664525 + 1013904223; /* full period: no index occurs twice */
        onesided_index[i] = x % (ONESIDED_SIDE * ONESIDED_SIDE);
    }
}

/* The amount of work.  bench_network.h changes it. */
static struct {
    const char *bench;
    int         batches;
    int         fewer;  /* divisor of the number of accesses in a batch */
    int         window; /* number of large accesses in flight */
} onesided_pace = {"onesided", ONESIDED_BATCHES, 1, 16};

/* The pair of the calling PE: `me' is 0 on its origin and 1 on its target. */
static struct {
    int pe[2]; /* the origin and the target */
    /* Replaces each of @p count values by the largest of all PEs; NULL: there is only one pair. */
    void (*largest)(double *value, int count);
} onesided_pair = {{0, 1}, NULL};

/* Sets the pair of PE @p pe of @p pes.  Returns whether it is the target. */
static inline int onesided_set_pair(int pe, int pes, void (*largest)(double *value, int count))
{
    int leads = bench_leads(pe, pes);

    onesided_pair.pe[!leads] = pe;
    onesided_pair.pe[leads]  = bench_partner(pe, pes);
    onesided_pair.largest    = pes > 2 ? largest : NULL;
    return !leads;
}

/* Returns the number of accesses in a batch, which takes at most a few milliseconds even with slow
 * libraries. */
static inline int onesided_trips(size_t bytes)
{
    int trips = bytes <= 512      ? 2000
                : bytes <= 8192   ? 300
                : bytes <= 65536  ? 100
                : bytes <= 262144 ? 20
                                  : 5;

    return trips > onesided_pace.fewer ? trips / onesided_pace.fewer : 1;
}

static inline int onesided_window(size_t bytes)
{
    return bytes >= 262144 ? onesided_pace.window : 64;
}

static inline void onesided_report(int me, const char *series, size_t bytes, const char *metric,
                                   double value)
{
    if (me == 0 && onesided_pair.pe[0] == 0)
        bench_report(onesided_pace.bench, series, bytes, metric, value);
}

static inline double onesided_less(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the time of the best batch.  Each is that of the slowest pair; a target has times of 0.
 */
static inline double onesided_best(double *time, int batches)
{
    double best = 1e9;

    if (onesided_pair.largest)
        onesided_pair.largest(time, batches);
    for (int i = 0; i < batches; i++)
        best = onesided_less(best, time[i]);
    return best;
}

/* ---- timing -------------------------------------------------------------- */

/* Hides the contents of memory, including *a, from the compiler, so that it can neither move
 * accesses out of a loop nor specialise them for a size. */
ONESIDED_INLINE void onesided_forget(const struct onesided_access *a)
{
    __asm__ volatile("" : : "r"(a) : "memory");
}

/* Calls @p fn(a) @p trips times.  Returns the seconds of one call. */
ONESIDED_INLINE double onesided_time(onesided_fn fn, const struct onesided_access *a, int trips)
{
    double start = bench_now();

    for (int i = 0; i < trips; i++) {
        onesided_forget(a);
        fn(a);
    }
    return (bench_now() - start) / trips;
}

/* Measures @p fn on the origin while the target calls @p partner, in microseconds. */
ONESIDED_INLINE void onesided_measure(const struct onesided *ops, const char *series, int me,
                                      const char *metric, onesided_fn fn, onesided_fn partner,
                                      const struct onesided_access *a)
{
    int    trips                       = onesided_trips(a->bytes);
    double time[ONESIDED_BATCHES_MOST] = {0};

    if (!fn)
        return;
    if (ops->prepare)
        ops->prepare(a);
    for (int batch = 0; batch < onesided_pace.batches; batch++) {
        ops->barrier(a);
        if (me == 0)
            time[batch] = onesided_time(fn, a, trips);
        else if (partner)
            onesided_time(partner, a, trips);
    }
    onesided_report(me, series, a->bytes, metric, onesided_best(time, onesided_pace.batches) * 1e6);
}

/* Starts a window of accesses to different parts of the areas and completes them. */
ONESIDED_INLINE void onesided_fly(const struct onesided *ops, onesided_fn fn,
                                  const struct onesided_access *a)
{
    struct onesided_access one    = *a;
    int                    window = onesided_window(a->bytes);

    if (ops->begin)
        ops->begin(a);
    for (int i = 0; i < window; i++) {
        one.offset = (size_t)i * a->bytes % ONESIDED_AREA;
        onesided_forget(&one);
        fn(&one);
    }
    if (ops->complete)
        ops->complete(a);
}

/* Measures a window of accesses, in GB/s. */
ONESIDED_INLINE void onesided_bandwidth(const struct onesided *ops, const char *series, int me,
                                        const char *metric, onesided_fn fn,
                                        const struct onesided_access *a)
{
    int    window = onesided_window(a->bytes), windows = onesided_trips(a->bytes) / window + 1;
    double time[ONESIDED_BATCHES_MOST] = {0};

    if (!fn)
        return;
    if (ops->prepare)
        ops->prepare(a);
    for (int batch = 0; batch < onesided_pace.batches; batch++) {
        double start;
        ops->barrier(a);
        start = bench_now();
        for (int i = 0; i < windows; i++) {
            if (me == 0)
                onesided_fly(ops, fn, a);
            else if (ops->serve)
                ops->serve(a);
        }
        if (me == 0)
            time[batch] = (bench_now() - start) / windows;
    }
    onesided_report(me, series, a->bytes, metric,
                    window * (double)a->bytes / onesided_best(time, onesided_pace.batches) * 1e-9);
}

/* Measures half a round trip of notify and await.  *@p turn counts the round trips. */
ONESIDED_INLINE void onesided_pingpong(const struct onesided *ops, const char *series, int me,
                                       const char *metric, onesided_turn_fn notify,
                                       onesided_turn_fn await, size_t bytes, uint64_t *turn)
{
    struct onesided_access a     = {.pe = onesided_pair.pe[1 - me], .bytes = bytes};
    int                    trips = onesided_trips(bytes);
    double                 time[ONESIDED_BATCHES_MOST] = {0};

    if (!notify)
        return;
    if (ops->prepare)
        ops->prepare(&a);
    for (int batch = 0; batch < onesided_pace.batches; batch++) {
        double start;
        ops->barrier(&a);
        start = bench_now();
        for (int i = 0; i < trips; i++) {
            ++*turn;
            if (me == 0)
                notify(&a, *turn);
            await(&a, *turn);
            if (me == 1)
                notify(&a, *turn);
        }
        if (me == 0)
            time[batch] = (bench_now() - start) / trips / 2;
    }
    onesided_report(me, series, bytes, metric, onesided_best(time, onesided_pace.batches) * 1e6);
}

/* ---- a target that computes ---------------------------------------------- */

#define ONESIDED_BUSY  50e-3 /* seconds for which the target does not call its library */
#define ONESIDED_TRIES 3

static inline void onesided_compute(double seconds)
{
    volatile double sum   = 0;
    double          start = bench_now();

    while (bench_now() - start < seconds)
        for (int i = 0; i < 1000; i++)
            sum = sum * 0.5 + i;
}

/* If the first access shows that the library needs the target, its time is the result. Otherwise as
 * many batches are measured as fit into the time. */
ONESIDED_INLINE double onesided_try_busy(onesided_fn fn, const struct onesided_access *a)
{
    double best, start;

    onesided_compute(ONESIDED_BUSY / 20); /* waits until the target has left the barrier */
    start = bench_now();
    best  = onesided_time(fn, a, 1);
    if (best > 1e-3)
        return best;
    for (int i = 0; i < 2 * ONESIDED_BATCHES && bench_now() - start < ONESIDED_BUSY / 2; i++)
        best = onesided_less(best, onesided_time(fn, a, onesided_trips(a->bytes)));
    return best;
}

/* Measures @p fn while the target computes. */
ONESIDED_INLINE void onesided_busy(const struct onesided *ops, const char *series, int me,
                                   const char *metric, onesided_fn fn, size_t bytes)
{
    struct onesided_access a    = {.pe = 1, .bytes = bytes};
    double                 best = 1e9;

    if (!fn)
        return;
    if (ops->prepare)
        ops->prepare(&a);
    for (int i = 0; i < ONESIDED_TRIES; i++) {
        ops->barrier(&a);
        if (me == 0)
            best = onesided_less(best, onesided_try_busy(fn, &a));
        else
            onesided_compute(ONESIDED_BUSY);
    }
    onesided_report(me, series, bytes, metric, best * 1e6);
}

/* ---- measurements ---------------------------------------------------- */

/* Checks that the data of a put and of a get arrives. */
static inline void onesided_check(const struct onesided *ops, int me)
{
    struct onesided_access a    = {.pe = onesided_pair.pe[1], .bytes = 4096};
    onesided_fn            fn[] = {ops->put, ops->get};

    if (ops->prepare)
        ops->prepare(&a);
    for (int i = 0; i < 2; i++) {
        ops->barrier(&a);
        if (me == 0)
            fn[i](&a);
        else if (ops->serve)
            ops->serve(&a);
        ops->barrier(&a);
    }
    if (memcmp(me == 0 ? onesided_result : ops->area(), onesided_source, a.bytes) != 0) {
        fprintf(stderr, "PE %d has wrong data after a %s\n", onesided_pair.pe[me],
                me ? "put" : "get");
        abort();
    }
}

ONESIDED_INLINE void onesided_by_size(const struct onesided *ops, const char *series, int me)
{
    uint64_t turn = 0;

    for (size_t i = 0; i < ONESIDED_SIZES; i++) {
        struct onesided_access a = {.pe = 1, .bytes = onesided_sizes[i]};
        onesided_measure(ops, series, me, "put_us", ops->put, ops->serve, &a);
        onesided_measure(ops, series, me, "get_us", ops->get, ops->serve, &a);
        onesided_measure(ops, series, me, "acc_us", ops->acc, ops->serve, &a);
        onesided_bandwidth(ops, series, me, "put_gbs", ops->put_nb, &a);
        onesided_bandwidth(ops, series, me, "get_gbs", ops->get_nb, &a);
        onesided_pingpong(ops, series, me, "notify_us", ops->notify, ops->await, a.bytes, &turn);
    }
}

ONESIDED_INLINE void onesided_by_patch(const struct onesided *ops, const char *series, int me)
{
    for (size_t n = 1; n <= ONESIDED_SIDE / 2; n *= 2) {
        struct onesided_access a = {1, ONESIDED_PATCH, n * n * sizeof(double), n, 0};
        onesided_measure(ops, series, me, "patch_put_us", ops->put, ops->serve, &a);
        onesided_measure(ops, series, me, "patch_get_us", ops->get, ops->serve, &a);
        onesided_measure(ops, series, me, "patch_acc_us", ops->acc, ops->serve, &a);
        if (ops->serve)
            continue; /* a program opens no epochs to access its own memory */
        a.pe = 0;
        onesided_measure(ops, series, me, "patch_local_put_us", ops->put, NULL, &a);
        onesided_measure(ops, series, me, "patch_local_get_us", ops->get, NULL, &a);
        onesided_measure(ops, series, me, "patch_local_acc_us", ops->acc, NULL, &a);
    }
}

ONESIDED_INLINE void onesided_single(const struct onesided *ops, const char *series, int me)
{
    struct onesided_access number  = {.pe = 1, .bytes = sizeof(int64_t)};
    struct onesided_access column  = {1, ONESIDED_COLUMN, ONESIDED_SIDE * sizeof(double), 0, 0};
    struct onesided_access scatter = {1, ONESIDED_SCATTER, ONESIDED_SIDE * sizeof(double), 0, 0};

    onesided_measure(ops, series, me, "fetchadd_us", ops->fetch_add, ops->serve, &number);
    onesided_measure(ops, series, me, "strided_put_us", ops->put, ops->serve, &column);
    onesided_measure(ops, series, me, "vector_put_us", ops->put, ops->serve, &scatter);
}

ONESIDED_INLINE void onesided_collective(const struct onesided *ops, const char *series, int me)
{
    struct onesided_access nothing = {.pe = 1}, memory = {.pe = 1, .bytes = ONESIDED_ALLOC};

    if (ops->serve)
        return; /* these do not depend on the kind of epoch */
    onesided_measure(ops, series, me, "barrier_us", ops->barrier, ops->barrier, &nothing);
    onesided_measure(ops, series, me, "alloc_us", ops->allocate, ops->allocate, &memory);
}

ONESIDED_INLINE void onesided_all_busy(const struct onesided *ops, const char *series, int me)
{
    if (ops->serve)
        return; /* an access of this kind waits for the target by definition */
    for (size_t bytes = 8; bytes <= 65536; bytes *= 8192) {
        onesided_busy(ops, series, me, "busy_put_us", ops->put, bytes);
        onesided_busy(ops, series, me, "busy_get_us", ops->get, bytes);
        onesided_busy(ops, series, me, "busy_acc_us", ops->acc, bytes);
    }
    onesided_busy(ops, series, me, "busy_fetchadd_us", ops->fetch_add, sizeof(int64_t));
}

/* Measures everything; both PEs call it. */
ONESIDED_INLINE void onesided_run(const struct onesided *ops, const char *series, int me)
{
    onesided_check(ops, me);
    onesided_by_size(ops, series, me);
    onesided_by_patch(ops, series, me);
    onesided_single(ops, series, me);
    onesided_collective(ops, series, me);
    onesided_all_busy(ops, series, me);
    ops->barrier(&(struct onesided_access){0});
}

#endif
