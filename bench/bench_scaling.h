/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_scaling.h - the measurements of `skua bench scaling`, for Skua, for every peer and for the
 * limit: kernels that run on any number of PEs.
 *
 *   rate-KERNEL-Ppe   operations that all PEs together perform in a second
 *   us-KERNEL-Ppe     microseconds of one operation in which all PEs take part
 *
 * A kernel runs a number of rounds; all PEs call it.  The number of rounds grows until a run takes
 * some milliseconds, from the first PE that begins to the last that ends, and the best of a few
 * such runs counts.  All PEs take the same decisions, because they decide by the same time.
 */
#ifndef BENCH_SCALING_H
#define BENCH_SCALING_H

#include <stdint.h>

#include "bench.h"

#define SCALING_RUN_S     0.01 /* seconds of a run that is measured             */
#define SCALING_RUNS      5    /* runs of a kernel of which the best counts     */
#define SCALING_MOST      (1L << 22)
#define SCALING_PROGRAM_S 10 /* seconds after which a program measures no more */

#define SCALING_BURST    32   /* messages, or accesses, to one target in a round        */
#define SCALING_WINDOW   8    /* bursts of a sender that have not been acknowledged     */
#define SCALING_BYTES    1024 /* of a put, a get or an accumulate                       */
#define SCALING_WORDS    4096 /* that atomics are spread over, on each PE               */
#define SCALING_REGION   (256 * SCALING_BYTES) /* bytes of a PE that accumulates are spread over */
#define SCALING_BLOCK    200  /* bytes of a block that is allocated and freed           */
#define SCALING_BLOCKS   64   /* blocks that a PE holds at a time                       */
#define SCALING_ITEMS    4096 /* items of a stream in a round of a PE                   */
#define SCALING_FIB      34   /* tasks: fib(34), whose subtrees below 18 are one task   */
#define SCALING_FIB_LEAF 18

/* A kernel.  Its rate is rounds * each operations of every active PE in the time of a run. */
struct scaling_kernel {
    const char *name;
    void (*run)(long rounds);
    double each;            /* operations of an active PE in a round; 0: report microseconds */
    int (*active)(int pes); /* PEs that perform operations; NULL: all                        */
    int least;              /* PEs that the kernel needs                                     */
};

/* A library, as one PE sees it. */
struct scaling_library {
    const char *series;
    int         me, pes;
    void (*barrier)(void);
    double (*largest)(double value); /* returns the largest value of all PEs */
};

/* ---- targets of senders --------------------------------------------------------------- */

static inline int scaling_half(int pes)
{
    return pes / 2;
}

static inline int scaling_all_but_one(int pes)
{
    return pes - 1;
}

static inline int scaling_one(int pes)
{
    (void)pes;
    return 1;
}

/* The partner of a PE in the second half, or -1 for a PE that only receives. */
static inline int scaling_partner(int me, int pes)
{
    return me < pes / 2 ? me + pes / 2 : -1;
}

/* Each PE sends to all others in turn, starting with the next one; one PE alone, to itself. */
static inline int scaling_other(int me, int pes, long round)
{
    return pes == 1 ? 0 : (me + 1 + (int)(round % (pes - 1))) % pes;
}

/* ---- computation --------------------------------------------------------------------- */

static inline long scaling_fib(int n)
{
    return n < 2 ? n : scaling_fib(n - 1) + scaling_fib(n - 2);
}

/* The number of tasks of the kernel tasks(n). */
static inline double scaling_fib_tasks(int n)
{
    return n < SCALING_FIB_LEAF ? 1 : 1 + scaling_fib_tasks(n - 1) + scaling_fib_tasks(n - 2);
}

/* ---- measuring ----------------------------------------------------------------------- */

/* Returns the seconds from the first PE's begin of a run to the last PE's end.  The PEs share a
 * clock, since they share a host. */
static inline double scaling_time(const struct scaling_library *library,
                                  const struct scaling_kernel *kernel, long rounds)
{
    double first;

    library->barrier();
    first = bench_now();
    kernel->run(rounds);
    return library->largest(bench_now()) + library->largest(-first);
}

/* Returns the best time of a few runs: a PE that lost its core for a while does not count. */
static inline double scaling_best(const struct scaling_library *library,
                                  const struct scaling_kernel *kernel, long rounds, int runs)
{
    double best = 1e9;

    for (int i = 0; i < runs; i++) {
        double time = scaling_time(library, kernel, rounds);

        best = time < best ? time : best;
    }
    return best;
}

/* Returns the number of rounds that take SCALING_RUN_S. */
static inline long scaling_rounds(const struct scaling_library *library,
                                  const struct scaling_kernel  *kernel)
{
    long   rounds = 1;
    double time   = scaling_best(library, kernel, rounds, 3);

    while (time < SCALING_RUN_S / 2 && rounds < SCALING_MOST) {
        rounds *= time < SCALING_RUN_S / 16 ? 8 : 2;
        time = scaling_best(library, kernel, rounds, time < SCALING_RUN_S / 16 ? 3 : 2);
    }
    return rounds;
}

static inline void scaling_report(const struct scaling_library *library, const char *unit,
                                  const char *name, double value)
{
    char metric[32];

    if (library->me != 0)
        return;
    snprintf(metric, sizeof metric, "%s-%s-%dpe", unit, name, library->pes);
    bench_report("scaling", library->series, 8, metric, value);
}

static inline void scaling_measure(const struct scaling_library *library,
                                   const struct scaling_kernel  *kernel)
{
    long   rounds;
    double best;
    int    active;

    if (library->pes < kernel->least)
        return;
    rounds = scaling_rounds(library, kernel);
    best   = scaling_best(library, kernel, rounds, SCALING_RUNS);
    active = kernel->active ? kernel->active(library->pes) : library->pes;
    if (kernel->each > 0)
        scaling_report(library, "rate", kernel->name,
                       active * kernel->each * (double)rounds / best);
    else
        scaling_report(library, "us", kernel->name, best / (double)rounds * 1e6);
}

/* Measures the kernels of a list that ends with a name of NULL, or the one that is @p only. */
static inline void scaling_measure_all(const struct scaling_library *library,
                                       const struct scaling_kernel *kernel, const char *only)
{
    double start = bench_now();

    for (; kernel->name; kernel++)
        if ((!only || strcmp(only, kernel->name) == 0) &&
            library->largest(bench_now() - start) < SCALING_PROGRAM_S)
            scaling_measure(library, kernel);
}

#endif
