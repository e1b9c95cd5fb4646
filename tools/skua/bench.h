/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what a benchmark of `skua bench` is, and what it may use. */
#ifndef SKUA_BENCH_H
#define SKUA_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "plot.h"
#include "program.h"
#include "results.h"

struct bench_host {
    char skuarun[PROGRAM_PATH];
    int  cpu[2]; /* two different cores, if there are */
    int  cores;
    int  pes;        /* bench collectives */
    bool namespaces; /* bench network: between two of them, not over loopback */
};

struct bench {
    const char *name;
    /** Measure everything once more. */
    void (*run)(struct results *results, const struct bench_host *host, int round, int rounds);
    /** Tables for people, with the ratios that matter. */
    void (*print)(const struct results *results);
    /** A picture. */
    void (*plot)(const struct results *results, FILE *to);
};

extern const struct bench bench_channels, bench_collectives, bench_fft1d, bench_matmul3d,
    bench_messages, bench_network, bench_objects, bench_onesided, bench_pairs, bench_pingpong,
    bench_randomaccess, bench_stencil3d, bench_zerocopy;

/* ---- running (bench_common.c) -------------------------------------------- */

/** A program of a peer, and how it is called. */
struct bench_peer {
    const char *launcher; /* openmpi, mpich (their mpirun) or oshrun             */
    const char *program;
    const char *series, *argument; /* its command line; argument NULL: without   */
};

/** Run a program that prints results; a failure is said and left at that. */
void bench_run(struct results *results, char *const argv[]);

/** Run a program of Skua under skuarun, if it is there, with one more option. */
void bench_run_skua(struct results *results, const struct bench_host *host, const char *name,
                    int pes, int threads, const char *option);

/** The same with options of skuarun and arguments, words with spaces between. */
void bench_run_app(struct results *results, const struct bench_host *host, const char *name,
                   const char *options, const char *arguments);

/** Run a peer on @p ranks processes, each on a core of its own where there are
 *  enough; nothing if it, or its launcher, is not installed. */
void bench_run_peer(struct results *results, const struct bench_host *host,
                    const struct bench_peer *peer, int ranks);

/** Data from buffer to buffer and back over each MPI: series MPI-send, -pscw and -flag, metric
 *  roundtrip_us (bench_channels.c).  @p trips: "", or ",N" for N round trips of each size that
 *  apps/pingpong measures. */
void bench_run_mpi_channels(struct results *results, const struct bench_host *host, int round,
                            int rounds, const char *trips);

/** The launcher of a peer: that of an MPI by its Debian name or the plain one. */
bool bench_launcher(const char *launcher, char path[PROGRAM_PATH]);

/** Show what is going on, where somebody watches; NULL clears it. */
void bench_progress(const char *what);

/** The same, for a step of a round. */
void bench_step(int round, int rounds, const char *what);

/* ---- comparing ----------------------------------------------------------- */

/** a / b; 0, which stands for "not measured", if either is. */
double bench_ratio(double a, double b);

/** The head of a list of goals, and a line; @p relation is "<=" or ">=". */
void bench_print_goals_head(const char *title);
void bench_print_goal(const char *what, double measured, const char *relation, double goal);

/** A value in a column, '-' for none. */
void bench_print_value(double value, int width);

/** Add what @p series has of @p metric, over bytes, to a plot. */
void bench_plot_curve(struct curve *curve, const struct results *results, const char *series,
                      const char *metric, const size_t *sizes, size_t count);

#endif
