/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - definitions of all benchmark programs, including those of peers: sizes, repetitions,
 * the clock, and the line of JSON that reports a result.
 *
 * A result is the best of several batches, since machines are shared and noisy.
 */
#ifndef BENCH_H
#define BENCH_H

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Aligns the first member of a struct such that no other data shares the cache lines of the struct,
 * nor the lines that an adjacent-line prefetcher fetches with them. */
#define BENCH_APART _Alignas(128)

#define BENCH_BATCHES 20
#define BENCH_BYTES   ((size_t)4000000) /* the largest size */

static const size_t bench_sizes[] = {0,     8,     100,   1000,   5000,   10000,   20000,
                                     30000, 40000, 70000, 100000, 500000, 1000000, 4000000};

#define BENCH_SIZES (sizeof bench_sizes / sizeof *bench_sizes)

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the number of round trips in a batch, which takes a few hundred microseconds. */
static inline int bench_trips(size_t bytes)
{
    return bytes <= 1000 ? 1000 : bytes <= 100000 ? 100 : 10;
}

/* Returns the number of round trips in a batch between hosts, where one takes ten times as long. */
static inline int bench_trips_net(size_t bytes)
{
    return bytes <= 1000 ? 100 : bytes <= 100000 ? 50 : 5;
}

/* Returns the number of batches of round trips.  Between hosts there are more, unless several pairs
 * of PEs may have to share cores. */
static inline int bench_batches(int net, int pes)
{
    return net && pes == 2 ? 5 * BENCH_BATCHES : BENCH_BATCHES;
}

static inline void bench_report(const char *bench, const char *series, size_t bytes,
                                const char *metric, double value)
{
    printf("{\"bench\":\"%s\",\"series\":\"%s\",\"bytes\":%zu,\"metric\":\"%s\",\"value\":%.6g}\n",
           bench, series, bytes, metric, value);
    fflush(stdout);
}

/* Returns the CPU of a thread that represents PE @p pe: the number at that place of the list in the
 * environment variable BENCH_CPUS, which `skua bench' sets, or that of the PE. */
static inline int bench_cpu_of(int pe)
{
    const char *list = getenv("BENCH_CPUS");

    for (int i = 0; list && i < pe; i++) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    return list && *list ? atoi(list) : pe;
}

static inline void bench_pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* Pairs of PEs: each PE of the first half leads a pair with its partner in the other half. */
static inline int bench_leads(int pe, int pes)
{
    return pe < pes / 2;
}

static inline int bench_partner(int pe, int pes)
{
    return bench_leads(pe, pes) ? pe + pes / 2 : pe - pes / 2;
}

/* Reads every byte in a way that the compiler cannot remove.  Several independent sums make memory
 * the bottleneck. */
static inline unsigned long bench_read(const void *data, size_t bytes)
{
    const unsigned long *word   = data;
    unsigned long        sum[8] = {0}, total = 0;
    size_t               lines = bytes / sizeof sum;

    for (size_t i = 0; i < lines; i++, word += 8)
        for (int k = 0; k < 8; k++)
            sum[k] += word[k];
    for (size_t i = lines * sizeof sum; i < bytes; i++)
        total += ((const unsigned char *)data)[i];
    for (int k = 0; k < 8; k++)
        total += sum[k];
    return total;
}

/* The number of messages in a window of the rate benchmarks. */
#define BENCH_WINDOW 256

/* Returns the number of windows in a batch: smaller with more than 2 PEs, since some peers are very
 * slow where processes outnumber CPUs. */
static inline int bench_windows(int pes)
{
    return pes > 2 ? 40 : 400;
}

/* Returns the number of batches of the rate benchmarks. */
static inline int bench_rate_batches(int pes)
{
    return pes > 2 ? 3 : 5;
}

#endif
