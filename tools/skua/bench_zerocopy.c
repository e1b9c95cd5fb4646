/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_zerocopy.c - data from memory of one PE to memory of another, copied into messages and
 * not (bench/zerocopy.c): the table, from which size on it pays, the plot.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define WIDTH 10
#define GOAL  4096.0 /* bytes */

static const size_t sizes[] = {64,    256,   1024,  2048,   4096,    8192,
                               16384, 32768, 65536, 262144, 1048576, 4194304};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const series[] = {"skua", "skua-threads", "skua-shared"};
static const char *const titles[] = {"two processes", "two threads",
                                     "two processes that share malloc()"};

enum { PROCESSES, THREADS, SHARED };

/* The ways, as the program names them. */
static const char *const ways[] = {"copy", "get", "put", "send", "post"};

#define WAYS (sizeof ways / sizeof *ways)

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    bench_step(round, rounds, titles[PROCESSES]);
    bench_run_skua(results, host, "bench-zerocopy", 2, 1, "--pin=auto");
    bench_step(round, rounds, titles[SHARED]);
    bench_run_skua(results, host, "bench-zerocopy", 2, 1, "--set=malloc_arena=4k");
    bench_step(round, rounds, titles[THREADS]);
    bench_run_skua(results, host, "bench-zerocopy", 2, 2, "--pin=auto");
}

static double value(const struct results *r, const char *of, const char *way, bool heap,
                    size_t bytes)
{
    char metric[32];

    snprintf(metric, sizeof metric, "%s%s_us", way, heap ? "_heap" : "");
    return results_get(r, of, bytes, metric);
}

static void print_table(const struct results *r, size_t of, bool heap)
{
    printf("\nOne way, microseconds: %s, memory of %s\n%-10s", titles[of],
           heap ? "malloc()" : "skua_buffer_alloc()", "bytes");
    for (size_t w = 0; w < WAYS; w++)
        printf("%*s", WIDTH, ways[w]);
    printf("\n");
    for (size_t i = 0; i < SIZES; i++) {
        printf("%-10zu", sizes[i]);
        for (size_t w = 0; w < WAYS; w++)
            bench_print_value(value(r, series[of], ways[w], heap, sizes[i]), WIDTH);
        printf("\n");
    }
}

/* From which size on, and at all that are larger, a way is faster than copying; 0: it was not
 * measured. */
static double pays_from(const struct results *r, const char *of, const char *way, bool heap)
{
    double from = INFINITY;

    for (size_t i = SIZES; i-- > 0;) {
        double copied = value(r, of, "copy", heap, sizes[i]);
        double moved  = value(r, of, way, heap, sizes[i]);

        if (moved == 0)
            return 0;
        if (moved >= copied)
            break;
        from = (double)sizes[i];
    }
    return from;
}

static void print_goals(const struct results *r, size_t of, bool heap)
{
    static const struct {
        const char *what, *heap, *way;
    } goals[] = {
        {"get", "get, memory of malloc()", "get"},
        {"put", "put, memory of malloc()", "put"},
        {"argument that is not copied", "the same, memory of malloc()", "send"},
    };

    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        bench_print_goal(heap ? goals[i].heap : goals[i].what,
                         pays_from(r, series[of], goals[i].way, heap), "<=", GOAL);
}

static void print_goals_head(size_t of)
{
    printf("\nBytes from which on it is faster than copying, %s", titles[of]);
    bench_print_goals_head("");
}

static void print(const struct results *r)
{
    for (size_t of = PROCESSES; of <= THREADS; of++) {
        print_table(r, of, false);
        print_table(r, of, true);
        print_goals_head(of);
        print_goals(r, of, false);
        print_goals(r, of, true);
    }
    print_table(r, SHARED, true);
    print_goals_head(SHARED);
    print_goals(r, SHARED, true);
}

static void plot(const struct results *r, FILE *to)
{
    struct curve curve[WAYS] = {{.name = "copy", .colour = "#444444", .dash = "5 4"},
                                {.name = "get", .colour = "#d62728", .dash = ""},
                                {.name = "put", .colour = "#1f77b4", .dash = ""},
                                {.name = "send", .colour = "#2ca02c", .dash = ""},
                                {.name = "post", .colour = "#9467bd", .dash = ""}};
    struct plot  picture = {"Data from one process to another, one way", "bytes", "microseconds",
                            curve, WAYS};

    for (size_t w = 0; w < WAYS; w++) {
        char metric[32];

        snprintf(metric, sizeof metric, "%s_us", ways[w]);
        bench_plot_curve(&curve[w], r, "skua", metric, sizes, SIZES);
    }
    plot_write(&picture, to);
}

const struct bench bench_zerocopy = {"zerocopy", run, print, plot};
