/* SPDX-License-Identifier: Apache-2.0 */
/* bench_objects.c - skua bench objects: array elements against plain handlers, malloc and loops. */
#include <stdlib.h>

#include "bench.h"
#include "series.h"

#define ELEMENT_BYTES 72 /* of an element in bench/objects.c, with its header   */
#define NODE_BYTES    56 /* of a single chare in bench/objects.c, with its header */

static const size_t sizes[] = {8, 32, 128, 1024, 4096, 16384};

#define SIZES (sizeof sizes / sizeof *sizes)

#define ROUNDTRIP     "roundtrip_us"
#define NET_ROUNDTRIP "net_roundtrip_us"

#define CHARM "charm++" /* the series of Charm++ */

/* ---- running ------------------------------------------------------------- */

/* Runs a peer for Charm++, if it was built, on @p pes threads of one process, each bound to the CPU
 * of a PE. */
static void bench_objects_run_peer(struct results *results, const char *peer, int pes)
{
    char  path[PROGRAM_PATH_BYTES], threads[16];
    char *cpus   = bench_cpus(results->host, pes, pes);
    char *argv[] = {path, threads, "++quiet", cpus ? "+pemap" : NULL, cpus, NULL};

    snprintf(threads, sizeof threads, "+p%d", pes);
    if (program_find(peer, path))
        bench_run(results, argv);
    free(cpus);
}

/* Runs the programs that are compared with Charm++, and those that are written for it. */
static void bench_objects_run_charm(struct results *results)
{
    static const struct {
        const char *program, *peer;
    } part[] = {{"charm", "peer-charm++-objects"}, {"charm_arrays", "peer-charm++-arrays"}};

    bench_step(results, "programs that are compared with Charm++");
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        bench_run_job(results, "-n 1 --pin=auto @bench-%s skua", part[i].program);
        bench_run_job(results, "-n 2 --pin=auto @bench-%s skua", part[i].program);
        bench_run_job(results, "-n 2 -t 2 --pin=auto @bench-%s skua-threads", part[i].program);
        bench_objects_run_peer(results, part[i].peer, 1);
        bench_objects_run_peer(results, part[i].peer, 2);
    }
}

static void bench_objects_run(struct results *results)
{
    bench_step(results, "objects on one PE");
    bench_run_job(results, "-n 1 -t 1 --pin=auto @bench-objects");
    bench_step(results, "objects on two PEs");
    bench_run_job(results, "-n 2 -t 1 --pin=auto @bench-objects");
    bench_step(results, "objects on two PEs, over TCP");
    bench_run_job(results, "-n 2 --pin=auto -s shared_memory=0 -s driver=tcp @bench-objects net");
    bench_objects_run_charm(results);
}

/* ---- tables -------------------------------------------------------------- */

static double bench_objects_get(const struct results *r, const char *series, size_t bytes,
                                const char *metric)
{
    return results_get(r, series, bytes, metric);
}

/* Returns the ratio of an element to another series. */
static double bench_objects_ratio(const struct results *r, size_t bytes, const char *metric,
                                  const char *other)
{
    return bench_ratio(bench_objects_get(r, "element", bytes, metric),
                       bench_objects_get(r, other, bytes, metric));
}

static void bench_objects_print_line(const char *what, double floor, double ours)
{
    printf("%-44s", what);
    bench_print_value(floor, 12);
    bench_print_value(ours, 12);
    bench_print_value(bench_ratio(ours, floor), 12);
    printf("\n");
}

static void bench_objects_print_head(const char *title, const char *floor)
{
    printf("%-44s%12s%12s%12s\n", title, floor, "element", "ratio");
}

static void bench_objects_print_roundtrips(const struct results *r, const char *title,
                                           const char *metric)
{
    bench_objects_print_head(title, "handler");
    for (size_t i = 0; i < SIZES; i++) {
        char what[32];

        snprintf(what, sizeof what, "%zu bytes", sizes[i]);
        bench_objects_print_line(what, bench_objects_get(r, "handler", sizes[i], metric),
                                 bench_objects_get(r, "element", sizes[i], metric));
    }
}

/* Returns the time of a program that is compared with Charm++, on @p pes PEs. */
static double bench_objects_program(const struct results *r, const char *series,
                                    const char *program, int pes, const char *unit)
{
    return results_get_metric(r, series, 0, "%s-%dpe_%s", program, pes, unit);
}

/* The programs of bench/charm.c and bench/charm_arrays.c. */
static const struct charm_program {
    const char *name, *unit, *what;
    int         pes; /* the smallest number of PEs */
} charm_programs[] = {
    {"queens-13-3", "ms", "13 queens, seeds of 3 rows, ms", 1},
    {"queens-14-4", "ms", "14 queens, seeds of 4 rows, ms", 1},
    {"fib", "ms", "92735 seeds without work, ms", 1},
    {"fib-large", "ms", "635621 seeds without work, ms", 1},
    {"spawn-tree", "ms", "500000 tasks, created by a tree, ms", 1},
    {"spawn", "ms", "500000 tasks, created by one PE, ms", 1},
    {"futures", "ms", "3193 threaded entries with futures, ms", 1},
    {"create", "ms", "creation of 10^6 elements, ms", 1},
    {"walk", "ns", "hop of a walk over 10^6 elements, ns", 1},
    {"local", "ns", "call of the local member of a group, ns", 1},
    {"pingpong-8", "ns", "array ping-pong, 8 bytes, ns", 1},
    {"pingpong-100", "ns", "array ping-pong, 100 bytes, ns", 1},
    {"pingpong-1000", "ns", "array ping-pong, 1000 bytes, ns", 1},
    {"pingpong-10000", "ns", "array ping-pong, 10000 bytes, ns", 1},
    {"pingpong-100000", "ns", "array ping-pong, 100000 bytes, ns", 1},
    {"forward", "ns", "one message of 1000 bytes sent on, ns", 1},
    {"jacobi", "ns", "jacobi, step of a block of 8 x 8 cells, ns", 1},
    {"rounds", "us", "broadcast + reduction, 1000 elements, us", 1},
    {"sections", "us", "section of 500 of them, us", 1},
    {"moves", "ns", "migration, 4 KB in the element, ns", 2},
    {"moves-owned", "ns", "migration, 4 KB that the element owns, ns", 2},
    {"priorities", "ns", "message with a priority, of 10000, ns", 1},
    {"quiescence", "us", "detection of quiescence, us", 1},
};

#define CHARM_PROGRAMS (sizeof charm_programs / sizeof *charm_programs)

static void bench_objects_print_programs(const struct results *r)
{
    static const struct {
        const char *series;
        int         pes;
    } column[] = {{"skua", 1}, {"skua", 2}, {"skua-threads", 2}, {CHARM, 1}, {CHARM, 2}};

    printf("\n%-44s%12s%12s%12s%12s%12s\n", "Programs that are compared with Charm++", "1 PE",
           "2 processes", "2 threads", "Charm++ 1", "Charm++ 2");
    for (const struct charm_program *p = charm_programs; p < charm_programs + CHARM_PROGRAMS; p++) {
        printf("%-44s", p->what);
        for (size_t c = 0; c < sizeof column / sizeof *column; c++)
            bench_print_value(
                bench_objects_program(r, column[c].series, p->name, column[c].pes, p->unit), 12);
        printf("\n");
    }
}

/* The goals of the programs: two processes, and one PE, against as many threads of Charm++. */
static void bench_objects_print_charm_goals(const struct results *r)
{
    for (const struct charm_program *p = charm_programs; p < charm_programs + CHARM_PROGRAMS; p++)
        for (int pes = p->pes; pes <= 2; pes++)
            bench_print_goalf(bench_ratio(bench_objects_program(r, "skua", p->name, pes, p->unit),
                                          bench_objects_program(r, CHARM, p->name, pes, p->unit)),
                              "<=", 0.95, "%s / Charm++, %d PE%s", p->name, pes,
                              pes > 1 ? "s" : "");
}

static void bench_objects_print_goals(const struct results *r)
{
    static const size_t small[] = {8, 32, 1024};
    double              loop    = bench_objects_get(r, "loop", 8, "all_ns");

    bench_print_goals_head("Goals");
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        bench_print_goalf(bench_objects_ratio(r, small[i], ROUNDTRIP, "handler"), "<=", 1.4,
                          "round trip of elements / handlers, %zu bytes", small[i]);
    bench_print_goal("round trip of elements / handlers over TCP, 32 bytes",
                     bench_objects_ratio(r, 32, NET_ROUNDTRIP, "handler"), "<=", 1.1);
    bench_print_goal("creating and deleting an element / malloc and free",
                     bench_objects_ratio(r, ELEMENT_BYTES, "life_ns", "malloc"), "<=", 10);
    bench_print_goal("broadcast to 100000 elements / loop over them",
                     bench_ratio(bench_objects_get(r, "element", 8, "broadcast_ns"), loop),
                     "<=", 3);
    bench_print_goal("reduction over 100000 elements / loop over them",
                     bench_ratio(bench_objects_get(r, "element", 8, "reduction_ns"), loop),
                     "<=", 3);
    bench_print_goal("14 queens on two processes / on one PE",
                     bench_ratio(bench_objects_program(r, "skua", "queens-14-4", 2, "ms"),
                                 bench_objects_program(r, "skua", "queens-14-4", 1, "ms")),
                     "<=", 0.6);
    bench_print_goal("635621 seeds without work on two processes / on one PE",
                     bench_ratio(bench_objects_program(r, "skua", "fib-large", 2, "ms"),
                                 bench_objects_program(r, "skua", "fib-large", 1, "ms")),
                     "<", 1);
    bench_print_goal("500000 tasks of a tree on two processes / on one PE",
                     bench_ratio(bench_objects_program(r, "skua", "spawn-tree", 2, "ms"),
                                 bench_objects_program(r, "skua", "spawn-tree", 1, "ms")),
                     "<", 1);
    bench_objects_print_charm_goals(r);
}

static void bench_objects_print(const struct results *r)
{
    double loop = bench_objects_get(r, "loop", 8, "all_ns");

    bench_objects_print_roundtrips(r, "Round trip between two processes, us", ROUNDTRIP);
    printf("\n");
    bench_objects_print_roundtrips(r, "Round trip over TCP, us", NET_ROUNDTRIP);
    printf("\n");
    bench_objects_print_head("Messages of 8 bytes between two PEs, millions/s", "handler");
    bench_objects_print_line("", 1e-6 * bench_objects_get(r, "handler", 8, "rate-messages"),
                             1e-6 * bench_objects_get(r, "element", 8, "rate-messages"));
    printf("\n");
    bench_objects_print_head("On one PE, ns", "handler");
    bench_objects_print_line("message of 8 bytes", bench_objects_get(r, "handler", 8, "local_ns"),
                             bench_objects_get(r, "element", 8, "local_ns"));
    bench_objects_print_line("message of 8 bytes, to 10^6 elements in turn",
                             bench_objects_get(r, "handler", 8, "local_ns"),
                             bench_objects_get(r, "element", 8, "many_ns"));
    bench_objects_print_head("", "malloc");
    bench_objects_print_line("creation and deletion of 10^6 blocks of 72 bytes",
                             bench_objects_get(r, "malloc", ELEMENT_BYTES, "life_ns"),
                             bench_objects_get(r, "element", ELEMENT_BYTES, "life_ns"));
    printf("\n");
    bench_objects_print_head("For each of 10^5 elements on two PEs, ns", "loop");
    bench_objects_print_line("broadcast", loop, bench_objects_get(r, "element", 8, "broadcast_ns"));
    bench_objects_print_line("reduction of a double", loop,
                             bench_objects_get(r, "element", 8, "reduction_ns"));
    printf("\nSingle chares of a tree, millions/s%21s%12s\n%-44s", "1 PE", "2 PEs", "");
    bench_print_value(1e-6 * bench_objects_get(r, "chare", NODE_BYTES, "rate-objects-1pe"), 12);
    bench_print_value(1e-6 * bench_objects_get(r, "chare", NODE_BYTES, "rate-objects-2pe"), 12);
    printf("\n");
    bench_objects_print_programs(r);
    bench_objects_print_goals(r);
}

/* ---- plot ---------------------------------------------------------------- */

static const struct series bench_objects_curves[] = {
    {"handler", .colour = "#444444", .dash = "5 4"}, {"element", .colour = "#d62728"}, {0}};

static const struct series_set bench_objects_all = {
    .list    = bench_objects_curves,
    .numbers = sizes,
    .count   = SIZES,
    .metric  = ROUNDTRIP,
    .title   = "Round trip between elements of an array on two processes",
    .unit    = "microseconds",
    .label   = "bytes"};

const struct bench bench_objects = {.name        = "objects",
                                    .run         = bench_objects_run,
                                    .print       = bench_objects_print,
                                    .series      = &bench_objects_all,
                                    .part_on_pes = "objects"};
