/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_zerocopy.c - skua bench zerocopy: data from memory of one PE to memory of another, with and
 * without copying it into a message (bench/zerocopy.c).  The goal is the break-even size.  With
 * --pes, more than two PEs are pairs that communicate at once, and a time is that of the slowest
 * pair.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "series.h"

#define WIDTH    10
#define GOAL     4096.0  /* break-even size, in bytes ... */
#define GOAL_TCP 32768.0 /* ... and between hosts */
#define SMALL    1024    /* bytes of the smallest message between hosts */

static const size_t sizes[] = {64,    256,   1024,   2048,   4096,    8192,   16384,
                               32768, 65536, 131072, 262144, 1048576, 4194304};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const series[] = {"skua", "skua-threads", "skua-shared", "skua-tcp",
                                     "floor-tcp"};
static const char *const titles[] = {"two processes", "two threads",
                                     "two processes that share malloc()",
                                     "two hosts over TCP (loopback)", "bare sockets (loopback)"};

enum { PROCESSES, THREADS, SHARED, BETWEEN_HOSTS, BARE };

/* The variants, as the program names them. */
static const char *const variants[] = {"copy", "get", "put", "send", "post"};

#define VARIANTS (sizeof variants / sizeof *variants)

static void bench_zerocopy_run_on(struct results *results, int pes)
{
    char *pin = bench_pin(results->host, pes);

    bench_step(results, titles[PROCESSES]);
    bench_run_job(results, "-n %d -t 1 --pin=%s @bench-zerocopy", pes, pin);
    bench_step(results, titles[SHARED]);
    bench_run_job(results, "-n %d -t 1%s%s --set=malloc_arena=4k @bench-zerocopy", pes,
                  pes > 2 ? " --pin=" : "", pes > 2 ? pin : "");
    bench_step(results, titles[THREADS]);
    bench_run_job(results, "-n %d -t %d --pin=%s @bench-zerocopy", pes, pes, pin);
    free(pin);
    bench_step(results, titles[BETWEEN_HOSTS]);
    if (pes == 2)
        bench_run_floor(results, "zerocopy");
    bench_run_between_hosts(results, pes, "bench-zerocopy", "1048576 1024");
}

static void bench_zerocopy_run(struct results *results)
{
    bench_run_each(results, bench_zerocopy_run_on);
}

static double bench_zerocopy_get(const struct results *r, const char *of, const char *variant,
                                 bool heap, size_t bytes)
{
    return results_get_metric(r, of, bytes, "%s%s_us", variant, heap ? "_heap" : "");
}

static void bench_zerocopy_print_table(const struct results *r, size_t of, bool heap)
{
    printf("\nOne way, microseconds: %s, memory of %s\n%-10s", titles[of],
           of == BARE ? "the program"
           : heap     ? "malloc()"
                      : "skua_buffer_alloc()",
           "bytes");
    for (size_t w = 0; w < VARIANTS; w++)
        printf("%*s", WIDTH, variants[w]);
    printf("\n");
    for (size_t i = 0; i < SIZES; i++) {
        printf("%-10zu", sizes[i]);
        for (size_t w = 0; w < VARIANTS; w++)
            bench_print_value(bench_zerocopy_get(r, series[of], variants[w], heap, sizes[i]),
                              WIDTH);
        printf("\n");
    }
}

static double bench_zerocopy_break_even(const struct results *r, const char *of,
                                        const char *variant, bool heap)
{
    char metric[32];

    snprintf(metric, sizeof metric, "%s%s_us", variant, heap ? "_heap" : "");
    return results_break_even(r, of, metric, heap ? "copy_heap_us" : "copy_us", sizes, SIZES);
}

static void bench_zerocopy_print_goals(const struct results *r, size_t of, bool heap)
{
    static const struct {
        const char *what, *heap, *variant;
    } goals[] = {
        {"get", "get, malloc() memory", "get"},
        {"put", "put, malloc() memory", "put"},
        {"nocopy argument", "nocopy argument, malloc() memory", "send"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_print_goal(heap ? goals[i].heap : goals[i].what,
                         bench_zerocopy_break_even(r, series[of], goals[i].variant, heap),
                         "<=", of == BETWEEN_HOSTS ? GOAL_TCP : GOAL);
}

/* Returns the smallest size from which on two messages, the descriptor and the request, and a put
 * of the data take less time than a message with copies of them: no get over a network without RMA
 * pays off below.  0: they were not measured. */
static double bench_zerocopy_get_limit(const struct results *r, bool heap)
{
    double small = bench_zerocopy_get(r, series[BETWEEN_HOSTS], "copy", heap, SMALL),
           from  = INFINITY;

    for (size_t i = SIZES; small > 0 && i-- > 0;) {
        double put  = bench_zerocopy_get(r, series[BETWEEN_HOSTS], "put", heap, sizes[i]);
        double copy = bench_zerocopy_get(r, series[BETWEEN_HOSTS], "copy", heap, sizes[i]);

        if (put > 0 && 2 * small + put >= copy)
            break;
        if (put > 0)
            from = (double)sizes[i];
    }
    return small > 0 ? from : 0;
}

/* Prints the goals that only jobs of several hosts have, and the limit of a get. */
static void bench_zerocopy_print_net_goals(const struct results *r, bool heap)
{
    double limit = bench_zerocopy_get_limit(r, heap);

    bench_print_goal(
        heap ? "nocopy argument into posted malloc() memory" : "nocopy argument into posted memory",
        bench_zerocopy_break_even(r, series[BETWEEN_HOSTS], "post", heap), "<=", GOAL_TCP);
    if (limit > 0)
        printf("%-62s%8.0f  a limit\n",
               heap ? "two messages and a put, malloc() memory: a get"
                    : "two messages and a put: a get",
               limit);
}

/* Prints the smallest size from which on a get by bare sockets, which is a descriptor, a request
 * and the data, takes less time than a message by bare sockets that is copied in and out. */
static void bench_zerocopy_print_bare_limit(const struct results *r)
{
    double limit = bench_zerocopy_break_even(r, series[BARE], "get", false);

    if (limit > 0)
        printf("%-62s%8.0f  a limit\n", "bare sockets: a get", limit);
}

static void bench_zerocopy_print_goals_head(size_t of)
{
    printf("\nSmallest size that is faster than copying, bytes: %s", titles[of]);
    bench_print_goals_head("");
}

static void bench_zerocopy_print_pairs(const struct results *r)
{
    for (size_t of = PROCESSES; of <= BETWEEN_HOSTS; of++)
        for (int heap = of == SHARED; heap < 2; heap++)
            bench_zerocopy_print_table(r, of, heap);
}

static void bench_zerocopy_print_two(const struct results *r)
{
    for (size_t of = PROCESSES; of <= THREADS; of++) {
        bench_zerocopy_print_table(r, of, false);
        bench_zerocopy_print_table(r, of, true);
        bench_zerocopy_print_goals_head(of);
        bench_zerocopy_print_goals(r, of, false);
        bench_zerocopy_print_goals(r, of, true);
    }
    bench_zerocopy_print_table(r, SHARED, true);
    bench_zerocopy_print_goals_head(SHARED);
    bench_zerocopy_print_goals(r, SHARED, true);
    for (int heap = 0; heap < 2; heap++)
        bench_zerocopy_print_table(r, BETWEEN_HOSTS, heap);
    bench_zerocopy_print_table(r, BARE, false);
    bench_zerocopy_print_goals_head(BETWEEN_HOSTS);
    for (int heap = 0; heap < 2; heap++) {
        bench_zerocopy_print_goals(r, BETWEEN_HOSTS, heap);
        bench_zerocopy_print_net_goals(r, heap);
    }
    bench_zerocopy_print_bare_limit(r);
}

static void bench_zerocopy_print_on(const struct results *r, int pes)
{
    bench_print_pairs_head(r, pes);
    if (pes == 2)
        bench_zerocopy_print_two(r);
    else
        bench_zerocopy_print_pairs(r);
}

static void bench_zerocopy_print(const struct results *r)
{
    bench_print_each(r, bench_zerocopy_print_on);
}

static const struct series bench_zerocopy_curves[] = {
    {"copy", "skua", "copy_us", .colour = "#444444", .dash = "5 4"},
    {"get", "skua", "get_us", .colour = "#d62728"},
    {"put", "skua", "put_us", .colour = "#1f77b4"},
    {"send", "skua", "send_us", .colour = "#2ca02c"},
    {"post", "skua", "post_us", .colour = "#9467bd"},
    {0}};

static const struct series_set bench_zerocopy_all = {
    .list    = bench_zerocopy_curves,
    .numbers = sizes,
    .count   = SIZES,
    .title   = "Data from one process to another, one way",
    .unit    = "microseconds",
    .label   = "bytes"};

const struct bench bench_zerocopy = {.name   = "zerocopy",
                                     .run    = bench_zerocopy_run,
                                     .print  = bench_zerocopy_print,
                                     .series = &bench_zerocopy_all,
                                     .pairs  = true};
