/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_armci.c - skua bench armci: Global Arrays and ARMCI on libskua-armci against ARMCI-MPI,
 * with each MPI, two processes.  With --pes, more than two are pairs that communicate at once, and
 * a time is that of the slowest pair.
 *
 * A series is LIBRARY-MPI, or LIBRARY-MPI-tcp for processes that share no memory, which measure an
 * operation on a target that computes and nothing else.  The plots are figures 4, 5 and 6 of the
 * paper on OSPRI: the latency and the bandwidth of remote patches, and the latency of local ones.
 */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "network.h"

#define SIDES    10 /* of patches: 1, 2, 4 ... 512 */
#define SMALL    5  /* of them, from 1 on, are small patches  */
#define LARGE    3  /* of them, up to 512, are large patches  */
#define SEGMENTS 1024
#define BUSY_US  500000.0 /* for which the target computes */

static const char *const libraries[] = {"skua", "armci-mpi"};

#define LIBRARIES (sizeof libraries / sizeof *libraries)

static const struct {
    const char *metric, *title, *what;
} patches[] = {
    {"put_us", "Put of a remote patch, microseconds", "put"},
    {"get_us", "Get of a remote patch, microseconds", "get"},
    {"acc_us", "Accumulate to a remote patch, microseconds", "accumulate"},
    {"local_put_us", "Put of a local patch, microseconds", "local put"},
    {"local_get_us", "Get of a local patch, microseconds", "local get"},
    {"local_acc_us", "Accumulate to a local patch, microseconds", "local accumulate"},
};

#define PATCHES (sizeof patches / sizeof *patches)

static const struct {
    const char *metric, *what;
} busy[] = {
    {"busy_put_us", "put"},
    {"busy_get_us", "get"},
    {"busy_acc_us", "accumulate"},
    {"busy_inc_us", "read_inc"},
};

#define BUSY (sizeof busy / sizeof *busy)

static int bench_armci_side(size_t i)
{
    return 1 << i;
}

static double bench_armci_get(const struct results *r, const char *library, const char *mpi,
                              size_t bytes, const char *metric)
{
    return results_get_series(r, bytes, metric, "%s-%s", library, mpi);
}

/* Returns the microseconds of a patch whose side is number @p i. */
static double bench_armci_patch(const struct results *r, const char *library, const char *mpi,
                                size_t i, const char *metric)
{
    size_t side = (size_t)bench_armci_side(i);

    return bench_armci_get(r, library, mpi, side * side * sizeof(double), metric);
}

/* ---- running ------------------------------------------------------------------ */

/* Runs the program of a library; over TCP it measures a computing target alone. */
static void bench_armci_run_one(struct results *results, const char *library, const char *mpi,
                                bool tcp, int pes)
{
    char              program[64], series[48];
    struct bench_peer peer = {mpi, program, series, tcp ? "busy" : NULL};

    snprintf(program, sizeof program, "%s-%s",
             strcmp(library, "skua") == 0 ? "bench-armci" : "peer-armci-mpi", mpi);
    snprintf(series, sizeof series, "%s-%s%s", library, mpi, tcp ? "-tcp" : "");
    network_use_tcp(tcp ? "lo" : NULL);
    bench_run_peer(results, &peer, pes);
    network_use_tcp(NULL);
}

static void bench_armci_run_on(struct results *results, int pes)
{
    for (size_t m = 0; m < BENCH_MPIS; m++)
        for (size_t l = 0; l < LIBRARIES; l++)
            for (int tcp = 0; tcp < 2; tcp++) {
                bench_stepf(results, "%s, %s%s", libraries[l], bench_mpis[m],
                            tcp ? ", over TCP" : "");
                bench_armci_run_one(results, libraries[l], bench_mpis[m], tcp, pes);
            }
}

static void bench_armci_run(struct results *results)
{
    bench_run_each(results, bench_armci_run_on);
}

/* ---- tables -------------------------------------------------------------------- */

static void bench_armci_print_head(const char *title, const char *first)
{
    char name[48];

    printf("\n%s\n%-12s", title, first);
    for (size_t m = 0; m < BENCH_MPIS; m++)
        for (size_t l = 0; l < LIBRARIES; l++) {
            snprintf(name, sizeof name, "%s-%s", libraries[l], bench_mpis[m]);
            printf("%19s", name);
        }
    printf("\n");
}

static void bench_armci_print_row(const struct results *r, const char *name, size_t bytes,
                                  const char *metric, const char *suffix)
{
    char mpi[32];

    printf("%-12s", name);
    for (size_t m = 0; m < BENCH_MPIS; m++) {
        snprintf(mpi, sizeof mpi, "%s%s", bench_mpis[m], suffix);
        for (size_t l = 0; l < LIBRARIES; l++)
            bench_print_value(bench_armci_get(r, libraries[l], mpi, bytes, metric), 19);
    }
    printf("\n");
}

static void bench_armci_print_patches(const struct results *r, size_t k)
{
    char name[24];

    bench_armci_print_head(patches[k].title, "patch");
    for (size_t i = 0; i < SIDES; i++) {
        int side = bench_armci_side(i);

        snprintf(name, sizeof name, "%d x %d", side, side);
        bench_armci_print_row(r, name, (size_t)side * (size_t)side * sizeof(double),
                              patches[k].metric, "");
    }
}

static void bench_armci_print_tables(const struct results *r)
{
    for (size_t k = 0; k < PATCHES; k++)
        bench_armci_print_patches(r, k);
    bench_armci_print_head("Single values, microseconds; a column has 1024 segments of 8 bytes",
                           "");
    bench_armci_print_row(r, "read_inc", sizeof(long), "read_inc_us", "");
    bench_armci_print_row(r, "put column", SEGMENTS * sizeof(double), "strided_put_us", "");
    bench_armci_print_row(r, "get column", SEGMENTS * sizeof(double), "strided_get_us", "");
    bench_armci_print_head("The target computes for half a second: slowest operation, microseconds",
                           "");
    for (size_t i = 0; i < BUSY; i++)
        bench_armci_print_row(r, busy[i].what, 0, busy[i].metric, "");
    bench_armci_print_head("A computing target over TCP: slowest operation, microseconds", "");
    for (size_t i = 0; i < BUSY; i++)
        bench_armci_print_row(r, busy[i].what, 0, busy[i].metric, "-tcp");
}

/* ---- goals ----------------------------------------------------------------------- */

/* Returns the largest ratio of Skua's time to ARMCI-MPI's over sides @p from to @p to - 1. */
static double bench_armci_worst(const struct results *r, const char *mpi, const char *metric,
                                size_t from, size_t to)
{
    double worst = 0;

    for (size_t i = from; i < to; i++)
        worst = fmax(worst, bench_ratio(bench_armci_patch(r, "skua", mpi, i, metric),
                                        bench_armci_patch(r, "armci-mpi", mpi, i, metric)));
    return worst;
}

static void bench_armci_print_patch_goals(const struct results *r, const char *mpi, size_t k)
{
    const char *metric = patches[k].metric;

    if (strstr(metric, "acc_us")) {
        bench_print_goalf(bench_ratio(1, bench_armci_worst(r, mpi, metric, 0, SIDES)), ">=", 1.5,
                          "%s rate / ARMCI-MPI's, worst", patches[k].what);
        return;
    }
    bench_print_goalf(bench_armci_worst(r, mpi, metric, 0, SMALL), "<=", 0.5,
                      "%s / ARMCI-MPI's, worst of 1 x 1 to 16 x 16", patches[k].what);
    bench_print_goalf(bench_ratio(1, bench_armci_worst(r, mpi, metric, SIDES - LARGE, SIDES)),
                      ">=", 1, "%s bandwidth / ARMCI-MPI's, worst from 128 x 128 on",
                      patches[k].what);
}

/* Prints the part of the computation that the slowest operation takes. */
static void bench_armci_print_busy_goal(const struct results *r, const char *mpi, const char *where)
{
    double worst = 0;

    for (size_t i = 0; i < BUSY; i++)
        worst = fmax(worst, bench_armci_get(r, "skua", mpi, 0, busy[i].metric));
    bench_print_goalf(worst / BUSY_US, "<=", 0.1,
                      "slowest operation / computation of the target, %s", where);
}

static void bench_armci_print_goals(const struct results *r, const char *mpi)
{
    char title[64], tcp[32];

    snprintf(title, sizeof title, "Goals with %s", mpi);
    bench_print_goals_head(title);
    for (size_t k = 0; k < PATCHES; k++)
        bench_armci_print_patch_goals(r, mpi, k);
    bench_print_goal("read_inc rate / ARMCI-MPI's",
                     bench_ratio(bench_armci_get(r, "armci-mpi", mpi, 8, "read_inc_us"),
                                 bench_armci_get(r, "skua", mpi, 8, "read_inc_us")),
                     ">=", 3);
    bench_print_goal("put of a column, nanoseconds of a segment",
                     bench_armci_get(r, "skua", mpi, SEGMENTS * sizeof(double), "strided_put_us") *
                         1000 / SEGMENTS,
                     "<=", 8);
    bench_print_goal("get of a column, nanoseconds of a segment",
                     bench_armci_get(r, "skua", mpi, SEGMENTS * sizeof(double), "strided_get_us") *
                         1000 / SEGMENTS,
                     "<=", 8);
    bench_armci_print_busy_goal(r, mpi, "one host");
    snprintf(tcp, sizeof tcp, "%s-tcp", mpi);
    bench_armci_print_busy_goal(r, tcp, "TCP");
}

static void bench_armci_print_on(const struct results *r, int pes)
{
    bench_print_pairs_head(r, pes);
    bench_armci_print_tables(r);
    for (size_t m = 0; pes == 2 && m < BENCH_MPIS; m++)
        bench_armci_print_goals(r, bench_mpis[m]);
}

static void bench_armci_print(const struct results *r)
{
    bench_print_each(r, bench_armci_print_on);
}

/* ---- plots ------------------------------------------------------------------------- */

#define CURVES (BENCH_MPIS * LIBRARIES)

static const struct {
    const char *title, *metric;
    bool        bandwidth;
} figures[] = {
    {"Figure 4: latency of remote patches, put", "put_us", false},
    {"Figure 4: latency of remote patches, get", "get_us", false},
    {"Figure 4: latency of remote patches, accumulate", "acc_us", false},
    {"Figure 5: bandwidth of remote patches, put", "put_us", true},
    {"Figure 5: bandwidth of remote patches, get", "get_us", true},
    {"Figure 5: bandwidth of remote patches, accumulate", "acc_us", true},
    {"Figure 6: latency of local patches, put", "local_put_us", false},
    {"Figure 6: latency of local patches, get", "local_get_us", false},
    {"Figure 6: latency of local patches, accumulate", "local_acc_us", false},
};

#define FIGURES (sizeof figures / sizeof *figures)

static void bench_armci_draw(struct plot_curve *curve, const struct results *r, size_t f,
                             const char *library, const char *mpi)
{
    for (size_t i = 0; i < SIDES; i++) {
        double side = bench_armci_side(i);
        double time = bench_armci_patch(r, library, mpi, i, figures[f].metric);
        double gbs  = bench_ratio(side * side * sizeof(double) * 1e-3, time);

        plot_curve_add(curve, side, figures[f].bandwidth ? gbs : time);
    }
}

/* Makes a figure of the results on one number of PEs. */
static struct plot bench_armci_figure(const struct results *r, size_t f, const char *title,
                                      struct plot_curve curve[CURVES])
{
    static const char *const names[CURVES]   = {"skua-openmpi", "armci-mpi-openmpi", "skua-mpich",
                                                "armci-mpi-mpich"};
    static const char *const colours[CURVES] = {"#d62728", "#1f77b4", "#ff9896", "#aec7e8"};

    for (size_t c = 0; c < CURVES; c++) {
        curve[c].name   = names[c];
        curve[c].colour = colours[c];
        curve[c].dash   = c < LIBRARIES ? "" : "5 4";
        bench_armci_draw(&curve[c], r, f, libraries[c % LIBRARIES], bench_mpis[c / LIBRARIES]);
    }
    return (struct plot){title, "side of the patch", figures[f].bandwidth ? "GB/s" : "microseconds",
                         curve, CURVES};
}

static void bench_armci_plot(const struct results *r, FILE *to)
{
    static struct plot_curve curve[BENCH_PES_MAX * FIGURES][CURVES];
    static struct plot       plots[BENCH_PES_MAX * FIGURES];
    static char              title[BENCH_PES_MAX * FIGURES][96];
    size_t                   count = 0;

    for (const int *pes = r->host->pes; *pes; pes++) {
        struct results on;

        results_select(r, *pes, &on);
        for (size_t f = 0; f < FIGURES; f++, count++) {
            bench_title(title[count], sizeof title[count], *pes, figures[f].title);
            plots[count] = bench_armci_figure(&on, f, title[count], curve[count]);
        }
        results_free(&on);
    }
    plot_write_all(plots, count, to);
}

const struct bench bench_armci = {.name  = "armci",
                                  .run   = bench_armci_run,
                                  .print = bench_armci_print,
                                  .plot  = bench_armci_plot,
                                  .pairs = true};
