/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_gtcshift.c - skua bench gtcshift: Table II of "Experiences of Applying One-Sided
 * Communication to Nearest-Neighbor Communication" (Shan et al.).
 *
 * The columns are problems of growing size. In two domains 0.3 % of the particles move in a shift,
 * in 64 domains 8 %, as in the paper.
 */
#include "neighbours.h"
#include "scaling.h"

#define PLANE_A 32449 /* particles of a domain: one per grid point of class A */
#define PLANE_B 128893

static const struct neighbours_row bench_gtcshift_rows[] = {
    {"skua", "messages", "skua, messages"},
    {"skua", "pscw", "skua, PSCW"},
    {"skua", "signal", "skua, signalling put"},
    {"skua", "pipelined", "skua, pipelined"},
    {"openmpi", "send", "Open MPI, two-sided"},
    {"openmpi", "pscw", "Open MPI, PSCW"},
    {"openmpi", "pipelined", "Open MPI, PSCW, pipelined"},
    {"mpich", "send", "MPICH, two-sided"},
    {"mpich", "pscw", "MPICH, PSCW"},
    {"mpich", "pipelined", "MPICH, PSCW, pipelined"},
    {0}};

/* A problem: its name, and arguments of the application and of the peers. */
static const struct {
    const char *what, *arguments, *peer;
} bench_gtcshift_problems[] = {
    {"gtcshift, 200 particles", "--particles=200 --domains=2 --steps=20 --repeat=10",
     "200,2,20,10"},
    {"gtcshift, 5000 particles", "--particles=5000 --domains=2 --steps=20 --repeat=10",
     "5000,2,20,10"},
    {"gtcshift, class A", "--particles=32449 --domains=2 --steps=10 --repeat=5", "32449,2,10,5"},
    {"gtcshift, class B", "--particles=128893 --domains=2 --steps=5 --repeat=3", "128893,2,5,3"},
    {"gtcshift, class A, 64 domains", "--particles=32449 --domains=64 --steps=1 --repeat=2",
     "32449,64,1,2"},
};

#define PROBLEMS (sizeof bench_gtcshift_problems / sizeof *bench_gtcshift_problems)

/* Problems on 16 PEs. */
static const struct {
    const char *arguments, *peer;
} bench_gtcshift_wide_problems[] = {
    {"--particles=25 --domains=16 --steps=20 --repeat=5", "25,16,20,5"},
    {"--particles=5000 --domains=16 --steps=10 --repeat=5", "5000,16,10,5"},
    {"--particles=32449 --domains=16 --steps=5 --repeat=3", "32449,16,5,3"},
    {"--particles=128893 --domains=16 --steps=3 --repeat=2", "128893,16,3,2"},
    {"--particles=32449 --domains=64 --steps=2 --repeat=2", "32449,64,2,2"},
};

#define WIDE_PROBLEMS (sizeof bench_gtcshift_wide_problems / sizeof *bench_gtcshift_wide_problems)

static const struct neighbours_column bench_gtcshift_columns[] = {
    {"2 x 200", "step", 400, 400},
    {"2 x 5000", "step", 10000, 10000},
    {"2 x A", "step", 2 * PLANE_A, 2 * PLANE_A},
    {"2 x B", "step", 2 * PLANE_B, 2 * PLANE_B},
    {"64 x A", "step", 64 * PLANE_A, 64 * PLANE_A},
    {0}};

static const struct neighbours_column bench_gtcshift_wide_columns[] = {
    {"16 x 25", "step", 400, 400},
    {"16 x 5000", "step", 80000, 80000},
    {"16 x A", "step", 16 * PLANE_A, 16 * PLANE_A},
    {"16 x B", "step", 16 * PLANE_B, 16 * PLANE_B},
    {"64 x A", "step", 64 * PLANE_A, 64 * PLANE_A},
    {0}};

static const struct neighbours bench_gtcshift_all = {.app       = "gtcshift",
                                                     .what      = "A shift, domains x particles",
                                                     .row       = bench_gtcshift_rows,
                                                     .column    = bench_gtcshift_columns,
                                                     .wide      = bench_gtcshift_wide_columns,
                                                     .fast      = {"signal", "pipelined"},
                                                     .small     = "pipelined",
                                                     .goal      = 1.7,
                                                     .exchanges = 2}; /* particles, allreduce */

static void bench_gtcshift_run(struct results *results)
{
    for (size_t i = 0; i < PROBLEMS; i++) {
        bench_step(results, bench_gtcshift_problems[i].what);
        neighbours_run(&bench_gtcshift_all, results, bench_gtcshift_problems[i].arguments,
                       bench_gtcshift_problems[i].peer, 2);
    }
    for (size_t i = 0; i < PROBLEMS; i++) {
        bench_step(results, "gtcshift, over TCP");
        neighbours_run_tcp(&bench_gtcshift_all, results, bench_gtcshift_problems[i].arguments,
                           bench_gtcshift_problems[i].peer);
    }
    if (results->host->cores < NEIGHBOURS_PES)
        return;
    for (size_t i = 0; i < WIDE_PROBLEMS; i++) {
        bench_step(results, "gtcshift, 16 PEs");
        neighbours_run(&bench_gtcshift_all, results, bench_gtcshift_wide_problems[i].arguments,
                       bench_gtcshift_wide_problems[i].peer, NEIGHBOURS_PES);
    }
}

static void bench_gtcshift_print_paper(const struct results *r)
{
    static const char *const phases[] = {"scanning",  "packing",   "comm",
                                         "unpacking", "imbalance", NULL};

    printf("A shift between 64 domains of class A, 2 PEs: microseconds in each phase\n"
           "%-26s%11s%11s%11s%11s%11s%11s\n",
           "", "scanning", "packing", "comm", "unpacking", "imbalance", "total");
    neighbours_print_phases(&bench_gtcshift_all, r, phases, 64 * PLANE_A);
    printf("\nTable II of the paper: class C, 64 domains, 256 x 8 cores of a Cray XC40, seconds\n"
           "%-26s%11s%11s%11s%11s%11s%11s\n%-26s%11s%11s%11s%11s%11s%11s\n"
           "%-26s%11s%11s%11s%11s%11s%11s\n%-26s%11s%11s%11s%11s%11s%11s\n"
           "%-26s%11s%11s%11s%11s%11s%11s\n\n",
           "MPI, two-sided", "-", "17.2", "39.0", "4.9", "24.2", "85.3", "MPI, PSCW", "-", "17.2",
           "54.3", "4.9", "16.0", "92.5", "UPC++, signalling put", "-", "18.8", "18.4", "7.2",
           "15.1", "59.4", "MPI, PSCW, pipelined", "-", "with comm", "58.2", "0", "15.6", "73.7",
           "UPC++, pipelined", "-", "with comm", "34.8", "0", "14.8", "49.6");
}

static void bench_gtcshift_print(const struct results *r)
{
    neighbours_print(&bench_gtcshift_all, r, bench_gtcshift_print_paper);
}

static void bench_gtcshift_plot(const struct results *r, FILE *to)
{
    neighbours_plot(&bench_gtcshift_all, r, to);
}

const struct bench bench_gtcshift = {.name  = "gtcshift",
                                     .run   = bench_gtcshift_run,
                                     .print = bench_gtcshift_print,
                                     .plot  = bench_gtcshift_plot};

/* ---- any number of PEs ----------------------------------------------------- */

#define SHIFT_ARGUMENTS "--particles=5000 --domains=64 --steps=5 --repeat=3"

static void bench_gtcshift_scale(const struct scaling *scaling, struct results *results, int pes)
{
    (void)scaling;
    neighbours_run(&bench_gtcshift_all, results, SHIFT_ARGUMENTS, "5000,64,5,3", pes);
    if (pes > 1)
        neighbours_run_threads(&bench_gtcshift_all, results, SHIFT_ARGUMENTS " --pipelined", pes);
    scaling_run_limit(results, "gtcshift", "5000,64,5,3", pes);
}

const struct scaling scaling_gtcshift = {.name    = "gtcshift",
                                         .problem = "A shift between 64 domains of 5000 particles",
                                         .unit    = "microseconds per shift",
                                         .factor  = 1e6,
                                         .bytes   = 64 * 5000,
                                         .curve   = {{"skua-pipelined", "skua, pipelined"},
                                                     {"skua-signal", "skua, signal"},
                                                     {"skua-messages", "skua, messages"},
                                                     {"skua-threads-pipelined", "threads, pipelined"},
                                                     {"openmpi-send", "Open MPI"},
                                                     {"mpich-send", "MPICH"},
                                                     {"limit", "limit"}},
                                         .run     = bench_gtcshift_scale};
