/* SPDX-License-Identifier: Apache-2.0 */
/* bench_objects.c - objects: what is run, the tables, the goals, the plot. */
#include "bench.h"

#define BLOCK 72 /* bytes of an element in bench/objects.c, with those of the runtime */
#define NODE  56 /* of a single object                                               */

static const size_t sizes[] = {8, 32, 128, 1024, 4096, 16384};

#define SIZES (sizeof sizes / sizeof *sizes)

#define ROUNDTRIP "roundtrip_us"

/* ---- running ------------------------------------------------------------- */

static void run(struct results *results, const struct bench_host *host, int round, int rounds)
{
    bench_step(round, rounds, "objects on one PE");
    bench_run_skua(results, host, "bench-objects", 1, 1, "--pin=auto");
    bench_step(round, rounds, "objects on two PEs");
    bench_run_skua(results, host, "bench-objects", 2, 1, "--pin=auto");
}

/* ---- tables -------------------------------------------------------------- */

static double get(const struct results *r, const char *series, size_t bytes, const char *metric)
{
    return results_get(r, series, bytes, metric);
}

/* Of an element, and of what it is compared with. */
static double ratio(const struct results *r, size_t bytes, const char *metric, const char *other)
{
    return bench_ratio(get(r, "element", bytes, metric), get(r, other, bytes, metric));
}

static void print_line(const char *what, double floor, double ours)
{
    printf("%-44s", what);
    bench_print_value(floor, 12);
    bench_print_value(ours, 12);
    bench_print_value(bench_ratio(ours, floor), 12);
    printf("\n");
}

static void print_head(const char *title, const char *floor)
{
    printf("%-44s%12s%12s%12s\n", title, floor, "element", "ratio");
}

static void print_roundtrips(const struct results *r)
{
    print_head("Round trip between two processes, us", "handler");
    for (size_t i = 0; i < SIZES; i++) {
        char what[32];

        snprintf(what, sizeof what, "%zu bytes", sizes[i]);
        print_line(what, get(r, "handler", sizes[i], ROUNDTRIP),
                   get(r, "element", sizes[i], ROUNDTRIP));
    }
}

static void print_goals(const struct results *r)
{
    static const size_t small[] = {8, 32, 1024};
    double              loop    = get(r, "loop", 8, "all_ns");

    bench_print_goals_head("Goals");
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char what[64];

        snprintf(what, sizeof what, "round trip of elements / of handlers, %zu bytes", small[i]);
        bench_print_goal(what, ratio(r, small[i], ROUNDTRIP, "handler"), "<=", 1.4);
    }
    bench_print_goal("creating and deleting an element / malloc and free",
                     ratio(r, BLOCK, "life_ns", "malloc"), "<=", 10);
    bench_print_goal("broadcast over 100000 elements / a loop over them",
                     bench_ratio(get(r, "element", 8, "broadcast_ns"), loop), "<=", 3);
    bench_print_goal("reduction over 100000 elements / a loop over them",
                     bench_ratio(get(r, "element", 8, "reduction_ns"), loop), "<=", 3);
}

static void print(const struct results *r)
{
    double loop = get(r, "loop", 8, "all_ns");

    print_roundtrips(r);
    printf("\n");
    print_head("Messages of 8 bytes between two PEs, millions/s", "handler");
    print_line("", 1e-6 * get(r, "handler", 8, "rate-messages"),
               1e-6 * get(r, "element", 8, "rate-messages"));
    printf("\n");
    print_head("On one PE, ns", "handler");
    print_line("message of 8 bytes", get(r, "handler", 8, "local_ns"),
               get(r, "element", 8, "local_ns"));
    print_line("the same, to 10^6 elements in turn", get(r, "handler", 8, "local_ns"),
               get(r, "element", 8, "many_ns"));
    print_head("", "malloc");
    print_line("life of a block of 72 bytes, of 10^6", get(r, "malloc", BLOCK, "life_ns"),
               get(r, "element", BLOCK, "life_ns"));
    printf("\n");
    print_head("For each of 10^5 elements on two PEs, ns", "loop");
    print_line("broadcast", loop, get(r, "element", 8, "broadcast_ns"));
    print_line("reduction of a double", loop, get(r, "element", 8, "reduction_ns"));
    printf("\nSingle objects of a tree, millions/s%20s%12s\n%-44s", "1 PE", "2 PEs", "");
    bench_print_value(1e-6 * get(r, "chare", NODE, "rate-objects-1pe"), 12);
    bench_print_value(1e-6 * get(r, "chare", NODE, "rate-objects-2pe"), 12);
    printf("\n");
    print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void plot(const struct results *r, FILE *to)
{
    struct curve curve[] = {{.name = "handler", .colour = "#444444", .dash = "5 4"},
                            {.name = "element", .colour = "#d62728", .dash = ""}};
    size_t       curves  = sizeof curve / sizeof *curve;
    struct plot  picture = {"Round trip between elements of an array on two processes", "bytes",
                            "microseconds", curve, curves};

    for (size_t c = 0; c < curves; c++)
        bench_plot_curve(&curve[c], r, curve[c].name, ROUNDTRIP, sizes, SIZES);
    plot_write(&picture, to);
}

const struct bench bench_objects = {"objects", run, print, plot};
