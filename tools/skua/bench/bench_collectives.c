/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_collectives.c - skua bench collectives: barrier, broadcast and reductions against MPI.
 *
 * Within a host each PE is a process.  Over TCP the processes share no memory and each library is
 * told to use loopback alone; these series have the suffix -tcp.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "network.h"

static const size_t sizes[] = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

#define SIZES (sizeof sizes / sizeof *sizes)

static const char *const libraries[] = {"skua", "openmpi", "mpich"};

#define LIBRARIES (sizeof libraries / sizeof *libraries)

static const struct {
    const char *metric, *title, *what, *mpi;
} kinds[] = {
    {"allreduce_us", "Allreduce, sum of doubles, microseconds", "allreduce", "MPI_Allreduce"},
    {"reduce_us", "Reduce, sum of doubles, roots in turn, microseconds", "reduce", "MPI_Reduce"},
    {"broadcast_us", "Broadcast, roots in turn, microseconds", "broadcast", "MPI_Bcast"},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- running ------------------------------------------------------------------ */

static void bench_collectives_run_skua(struct results *results, const struct bench_host *host,
                                       const char *suffix)
{
    char options[64], series[48];

    snprintf(options, sizeof options, "-n %d --set=driver=tcp", host->pes);
    snprintf(series, sizeof series, "skua%s", suffix);
    bench_run_app(results, host, "bench-collectives", options, series);
}

static void bench_collectives_run_mpi(struct results *results, const struct bench_host *host,
                                      const char *mpi, const char *suffix)
{
    char              program[64], series[48];
    struct bench_peer peer = {mpi, program, series, NULL};

    snprintf(program, sizeof program, "peer-%s-collectives", mpi);
    snprintf(series, sizeof series, "%s%s", mpi, suffix);
    bench_run_peer(results, host, &peer, host->pes);
}

static void bench_collectives_run(struct results *results, const struct bench_host *host, int round,
                                  int rounds)
{
    for (int tcp = 0; tcp < 2; tcp++) {
        const char *suffix = tcp ? "-tcp" : "";

        network_use_tcp(tcp ? "lo" : NULL); /* which includes SKUA_SHARE=0 */
        bench_step(round, rounds, tcp ? "skua over TCP" : "skua");
        bench_collectives_run_skua(results, host, suffix);
        for (size_t i = 1; i < LIBRARIES; i++) {
            bench_step(round, rounds, libraries[i]);
            bench_collectives_run_mpi(results, host, libraries[i], suffix);
        }
    }
    network_use_tcp(NULL);
}

/* ---- tables -------------------------------------------------------------------- */

static double bench_collectives_get(const struct results *r, const char *library,
                                    const char *suffix, size_t bytes, const char *metric)
{
    char series[48];

    snprintf(series, sizeof series, "%s%s", library, suffix);
    return results_get(r, series, bytes, metric);
}

static void bench_collectives_print_row(const struct results *r, const char *name,
                                        const char *suffix, size_t bytes, const char *metric)
{
    double mine = bench_collectives_get(r, "skua", suffix, bytes, metric);

    printf("%10s", name);
    for (size_t i = 0; i < LIBRARIES; i++)
        bench_print_value(bench_collectives_get(r, libraries[i], suffix, bytes, metric), 12);
    for (size_t i = 1; i < LIBRARIES; i++)
        bench_print_value(
            bench_ratio(mine, bench_collectives_get(r, libraries[i], suffix, bytes, metric)), 12);
    printf("\n");
}

static void bench_collectives_print_head(const char *title, const char *first)
{
    printf("\n%s\n%10s", title, first);
    for (size_t i = 0; i < LIBRARIES; i++)
        printf("%12s", libraries[i]);
    for (size_t i = 1; i < LIBRARIES; i++)
        printf("%4s%8s", "/", libraries[i]);
    printf("\n");
}

static void bench_collectives_print_tables(const struct results *r, const char *suffix)
{
    bench_collectives_print_head("Sync and barrier, microseconds", "");
    bench_collectives_print_row(r, "sync", suffix, 0, "sync_us");
    bench_collectives_print_row(r, "barrier", suffix, 0, "barrier_us");
    for (size_t k = 0; k < KINDS; k++) {
        bench_collectives_print_head(kinds[k].title, "bytes");
        for (size_t i = 0; i < SIZES; i++) {
            char bytes[24];

            snprintf(bytes, sizeof bytes, "%zu", sizes[i]);
            bench_collectives_print_row(r, bytes, suffix, sizes[i], kinds[k].metric);
        }
    }
}

/* ---- goals ----------------------------------------------------------------------- */

/* Prints the largest ratio to an MPI over all sizes, and its size. */
static void bench_collectives_print_worst(const struct results *r, const char *suffix, size_t k,
                                          const char *mpi)
{
    double worst = 0;
    size_t bytes = 0;
    char   text[96];

    for (size_t i = 0; i < SIZES; i++) {
        double ratio =
            bench_ratio(bench_collectives_get(r, "skua", suffix, sizes[i], kinds[k].metric),
                        bench_collectives_get(r, mpi, suffix, sizes[i], kinds[k].metric));

        if (ratio > worst) {
            worst = ratio;
            bytes = sizes[i];
        }
    }
    snprintf(text, sizeof text, "%s / %s of %s, worst: %zu B", kinds[k].what, kinds[k].mpi, mpi,
             bytes);
    bench_print_goal(text, worst, "<=", 1);
}

static void bench_collectives_print_goals(const struct results *r, const char *suffix,
                                          const char *title)
{
    bench_print_goals_head(title);
    for (size_t i = 1; i < LIBRARIES; i++) {
        double barrier = bench_collectives_get(r, libraries[i], suffix, 0, "barrier_us");
        char   text[96];

        for (size_t k = 0; k < KINDS; k++)
            bench_collectives_print_worst(r, suffix, k, libraries[i]);
        snprintf(text, sizeof text, "barrier / MPI_Barrier of %s", libraries[i]);
        bench_print_goal(
            text, bench_ratio(bench_collectives_get(r, "skua", suffix, 0, "barrier_us"), barrier),
            "<=", 1);
        snprintf(text, sizeof text, "sync / MPI_Barrier of %s", libraries[i]);
        bench_print_goal(
            text, bench_ratio(bench_collectives_get(r, "skua", suffix, 0, "sync_us"), barrier),
            "<=", 1);
    }
}

static void bench_collectives_print(const struct results *r)
{
    printf("Within a host, each PE a process\n");
    bench_collectives_print_tables(r, "");
    printf("\nOver TCP, between processes that share no memory\n");
    bench_collectives_print_tables(r, "-tcp");
    bench_collectives_print_goals(r, "", "Goals, within a host");
    bench_collectives_print_goals(r, "-tcp", "Goals, over TCP");
}

/* ---- plot -------------------------------------------------------------------------- */

static void bench_collectives_plot(const struct results *r, FILE *to)
{
    static const char *const colours[LIBRARIES] = {"#d62728", "#2ca02c", "#8c564b"};
    static const char *const names[]            = {"skua-tcp", "openmpi-tcp", "mpich-tcp"};
    static struct plot_curve curve[2][2 * LIBRARIES];
    struct plot plots[2] = {{"Allreduce", "bytes", "microseconds", curve[0], 2 * LIBRARIES},
                            {"Reduce", "bytes", "microseconds", curve[1], 2 * LIBRARIES}};

    for (size_t p = 0; p < 2; p++)
        for (size_t c = 0; c < 2 * LIBRARIES; c++) {
            struct plot_curve *one = &curve[p][c];

            one->name   = c < LIBRARIES ? libraries[c] : names[c - LIBRARIES];
            one->colour = colours[c % LIBRARIES];
            one->dash   = c < LIBRARIES ? "" : "5 4";
            bench_plot_curve(one, r, one->name, kinds[p].metric, sizes, SIZES);
        }
    plot_write_all(plots, 2, to);
}

const struct bench bench_collectives = {"collectives", bench_collectives_run,
                                        bench_collectives_print, bench_collectives_plot};
