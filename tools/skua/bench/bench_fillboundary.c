/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_fillboundary.c - skua bench fillboundary: Table I of "Experiences of Applying One-Sided
 * Communication to Nearest-Neighbor Communication" (Shan et al.).
 *
 * The paper has 6.3 boxes of 32^3 cells per core on 4096 cores; the problem here has as many per
 * core, on the cores of this host. Its levels have boxes of 32^3 to 2^3 cells.
 */
#include "neighbours.h"
#include "scaling.h"

#define PER_PE    6  /* boxes      */
#define BOXES     12 /* on two PEs */
#define BOXES_PES 48 /* of --pes */

static const struct neighbours_row bench_fillboundary_rows[] = {
    {"skua", "messages", "skua, messages"},
    {"skua", "pscw", "skua, PSCW"},
    {"skua", "signal", "skua, signalling put"},
    {"skua", "channels", "skua, channels"},
    {"openmpi", "send", "Open MPI, two-sided"},
    {"openmpi", "pscw", "Open MPI, PSCW"},
    {"mpich", "send", "MPICH, two-sided"},
    {"mpich", "pscw", "MPICH, PSCW"},
    {0}};

/* Boxes of a PE, and cells along them. */
static const struct neighbours_column bench_fillboundary_columns[] = {
    {"1 x 2^3", "exchange", 1002, 1},
    {"6 x 2^3", "exchange", 6002, 2},
    {"6 x 4^3", "exchange", 6004, 4},
    {"6 x 8^3", "exchange", 6008, 8},
    {"6 x 16^3", "exchange", 6016, 16},
    {"6 x 32^3", "exchange", 6032, 32},
    {0}};

static const struct neighbours bench_fillboundary_all = {
    .app       = "fillboundary",
    .what      = "An exchange of ghost cells, boxes of each PE",
    .row       = bench_fillboundary_rows,
    .column    = bench_fillboundary_columns,
    .fast      = {"signal", "channels"},
    .small     = "channels",
    .goal      = 1.8,
    .exchanges = 1};

/* Measures both problems on @p pes PEs of this host. */
static void bench_fillboundary_run_host(struct results *results, int pes)
{
    char arguments[96], peer[48];

    snprintf(arguments, sizeof arguments,
             "--ball=%d --side=2 --levels=1 --rounds=20 --exchanges=500 --repeat=5", pes);
    snprintf(peer, sizeof peer, "%d,2,1,20,500,5", pes);
    neighbours_run(&bench_fillboundary_all, results, arguments, peer, pes);
    snprintf(arguments, sizeof arguments, "--ball=%d --rounds=20 --exchanges=50 --repeat=5",
             PER_PE * pes);
    snprintf(peer, sizeof peer, "%d,32,5,20,50,5", PER_PE * pes);
    neighbours_run(&bench_fillboundary_all, results, arguments, peer, pes);
}

static void bench_fillboundary_run(struct results *results)
{
    bench_step(results, "fillboundary, inside a host");
    bench_fillboundary_run_host(results, 2);
    bench_step(results, "fillboundary, over TCP");
    neighbours_run_tcp(&bench_fillboundary_all, results,
                       "--ball=2 --side=2 --levels=1 --rounds=5 --exchanges=100 --repeat=3",
                       "2,2,1,5,100,3");
    neighbours_run_tcp(&bench_fillboundary_all, results,
                       "--ball=12 --rounds=5 --exchanges=20 --repeat=3", "12,32,5,5,20,3");
    if (results->host->cores < NEIGHBOURS_PES)
        return;
    bench_step(results, "fillboundary, 16 PEs");
    bench_fillboundary_run_host(results, NEIGHBOURS_PES);
}

static void bench_fillboundary_print_paper(const struct results *r)
{
    static const char *const phases[] = {"packing",   "sending",   "waiting", "local",
                                         "unpacking", "addresses", NULL};

    printf("A round of 20 exchanges and an allreduce, %d boxes, 2 PEs: microseconds in each phase\n"
           "%-26s%11s%11s%11s%11s%11s%11s%11s\n",
           BOXES, "", "packing", "sending", "waiting", "local", "unpacking", "exchange", "total");
    neighbours_print_phases(&bench_fillboundary_all, r, phases, BOXES);
    printf("\nTable I of the paper: 1000 rounds on 4096 cores of a Cray XC40, seconds (sending\n"
           "includes the exchange of addresses there)\n"
           "%-26s%11s%11s%11s%11s%11s%11s%11s\n"
           "%-26s%11s%11s%11s%11s%11s%11s%11s\n"
           "%-26s%11s%11s%11s%11s%11s%11s%11s\n\n",
           "MPI, two-sided", "0.77", "0.20", "14.29", "0.48", "1.57", "-", "19.00", "MPI, PSCW",
           "0.93", "2.93", "7.50", "0.55", "0.62", "2.80", "14.40", "UPC++, signalling put", "0.69",
           "3.56", "3.60", "0.49", "0.73", "-", "10.50");
}

static void bench_fillboundary_print(const struct results *r)
{
    neighbours_print(&bench_fillboundary_all, r, bench_fillboundary_print_paper);
}

static void bench_fillboundary_plot(const struct results *r, FILE *to)
{
    neighbours_plot(&bench_fillboundary_all, r, to);
}

const struct bench bench_fillboundary = {.name  = "fillboundary",
                                         .run   = bench_fillboundary_run,
                                         .print = bench_fillboundary_print,
                                         .plot  = bench_fillboundary_plot};

/* ---- any number of PEs ----------------------------------------------------- */

#define BOXES_ARGUMENTS "--ball=48 --rounds=20 --exchanges=1 --repeat=3"

static void bench_fillboundary_scale(const struct scaling *scaling, struct results *results,
                                     int pes)
{
    (void)scaling;
    neighbours_run(&bench_fillboundary_all, results, BOXES_ARGUMENTS, "48,32,5,20,1,3", pes);
    if (pes > 1)
        neighbours_run_threads(&bench_fillboundary_all, results, BOXES_ARGUMENTS " --channels",
                               pes);
    scaling_run_limit(results, "fillboundary", "48,32,5,20,3", pes);
}

const struct scaling scaling_fillboundary = {
    .name    = "fillboundary",
    .problem = "20 exchanges of ghost cells and an allreduce, 48 boxes of 32^3 cells, 5 levels",
    .unit    = "microseconds per round",
    .factor  = 1e6,
    .bytes   = BOXES_PES,
    .curve   = {{"skua-channels", "skua, channels"},
                {"skua-signal", "skua, signal"},
                {"skua-messages", "skua, messages"},
                {"skua-threads-channels", "threads, channels"},
                {"openmpi-send", "Open MPI"},
                {"mpich-send", "MPICH"},
                {"limit", "limit"}},
    .run     = bench_fillboundary_scale};
