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
 * such runs counts.  All PEs make the same decisions, because they use the same time.
 */
#ifndef BENCH_SCALING_H
#define BENCH_SCALING_H

#include <stdint.h>

#include "bench.h"
#include "bench_names.h"

#define SCALING_RUN_S      0.01 /* seconds of a run that is measured         */
#define SCALING_RUNS       5    /* runs of a kernel of which the best counts */
#define SCALING_ROUNDS_MAX (1L << 22)
#define SCALING_PROGRAM_S  10 /* seconds after which a program stops measuring */

#define SCALING_BURST    32                    /* messages, or accesses, to one target in a round */
#define SCALING_WINDOW   8                     /* unacknowledged bursts of a sender               */
#define SCALING_BYTES    1024                  /* bytes of a put, a get or an accumulate          */
#define SCALING_WORDS    4096                  /* words on each PE over which atomics are spread  */
#define SCALING_REGION   (256 * SCALING_BYTES) /* bytes of a PE over which accumulates are spread */
#define SCALING_BLOCK    200                   /* bytes of a block that is allocated and freed   */
#define SCALING_BLOCKS   64                    /* blocks that a PE holds at a time               */
#define SCALING_ITEMS    4096                  /* items of a stream in a round of a PE           */
#define SCALING_FIB      34                    /* tasks: fib(34); a subtree below 18 is one task */
#define SCALING_FIB_LEAF 18

/* A kernel.  Its rate is rounds * each operations of every active PE in the time of a run. */
struct scaling_kernel {
    const char *name;
    void (*run)(long rounds);
    double each;            /* operations of an active PE in a round; 0: report microseconds */
    int (*active)(int pes); /* PEs that perform operations; NULL: all                        */
    int least;              /* least number of PEs of the kernel                             */
};

/* The functions of a library for one PE. */
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

/* Returns the partner of a PE in the second half, or -1 if the PE only receives. */
static inline int scaling_partner(int me, int pes)
{
    return me < pes / 2 ? me + pes / 2 : -1;
}

/* Each PE sends to all others in turn, starting with the next one; a single PE sends to itself. */
static inline int scaling_other(int me, int pes, long round)
{
    return pes == 1 ? 0 : (me + 1 + (int)(round % (pes - 1))) % pes;
}

/* ---- computation --------------------------------------------------------------------- */

static inline long scaling_fib(int n)
{
    return n < 2 ? n : scaling_fib(n - 1) + scaling_fib(n - 2);
}

/* Returns the number of tasks of the kernel tasks(n). */
static inline double scaling_fib_tasks(int n)
{
    return n < SCALING_FIB_LEAF ? 1 : 1 + scaling_fib_tasks(n - 1) + scaling_fib_tasks(n - 2);
}

/* ---- measuring ----------------------------------------------------------------------- */

/* Returns the seconds from the start of a run on the first PE to its end on the last PE.  The PEs
 * share a clock, since they share a host. */
static inline double scaling_time(const struct scaling_library *library,
                                  const struct scaling_kernel *kernel, long rounds)
{
    double first;

    library->barrier();
    first = bench_now();
    kernel->run(rounds);
    return library->largest(bench_now()) + library->largest(-first);
}

/* Returns the best time of a few runs, which excludes runs in which a PE lost its core for a
 * while. */
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

    while (time < SCALING_RUN_S / 2 && rounds < SCALING_ROUNDS_MAX) {
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

/* Measures the kernels of a list that ends with a name of NULL, or only those that @p only names,
 * separated by commas. */
static inline void scaling_measure_all(const struct scaling_library *library,
                                       const struct scaling_kernel *kernel, const char *only)
{
    double start = bench_now();

    for (; kernel->name; kernel++)
        if ((!only || bench_names_have(only, kernel->name)) &&
            library->largest(bench_now() - start) < SCALING_PROGRAM_S)
            scaling_measure(library, kernel);
}

#endif
