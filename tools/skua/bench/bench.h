/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - a benchmark of `skua bench`, and the functions that benchmarks share.
 *
 * A benchmark runs programs that print results (results.h): those of Skua from bench/ and apps/,
 * and those of peer libraries from bench/peers/.
 */
#ifndef SKUA_BENCH_H
#define SKUA_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include "plot.h"
#include "program.h"
#include "results.h"

#define BENCH_PES_MAX 8 /* numbers of PEs in a list of --pes */

struct series_set;

/** Where and how to measure. */
struct bench_host {
    char skuarun[PROGRAM_PATH_BYTES];
    int  cpu[2]; /* two CPUs, on different cores if there are two */
    int  cores;
    int  pes[BENCH_PES_MAX + 1]; /* --pes; 0 ends the list */
    bool pes_given;              /* the list is not the default */
    int  round, rounds;          /* the one that is being measured, and how many there are */
    bool namespaces;             /* network: --namespaces                   */

    const char *only; /* --only: the part to measure; NULL: all */
};

struct bench {
    const char *name;
    /** Measure everything once, in one round, and add the results. */
    void (*run)(struct results *results);
    /** Print tables and the goals. */
    void (*print)(const struct results *results);
    /** Write an SVG picture.  NULL: it shows `series'. */
    void (*plot)(const struct results *results, FILE *to);
    const struct series_set *series;
    /** Returns whether there is a part of that name, which --only measures.  NULL: no parts. */
    bool (*has_part)(const char *name);
    bool median;      /* a value is the median of the runs, not the best */
    bool several_pes; /* --pes: measured on each number of PEs of that list, from 2 on */
    bool pairs; /* so, and the numbers are even: half of the PEs communicate with the other half */
    bool every_pes; /* --pes: measured on each number, from 1 on; by default up to all cores */
    const int  *default_pes; /* so, and by default on these, of which 0 ends the list */
    const char *part_on_pes; /* the part of `skua bench scaling` that --pes measures */
};

/* The benchmarks, in the order of the list that --help prints: BENCH(NAME) for each. */
#define BENCH_EACH(BENCH)                                                                          \
    BENCH(messages)                                                                                \
    BENCH(onesided)                                                                                \
    BENCH(network)                                                                                 \
    BENCH(mixed)                                                                                   \
    BENCH(channels)                                                                                \
    BENCH(collectives)                                                                             \
    BENCH(scaling)                                                                                 \
    BENCH(prk)                                                                                     \
    BENCH(randomaccess)                                                                            \
    BENCH(fft1d)                                                                                   \
    BENCH(objects)                                                                                 \
    BENCH(pingpong)                                                                                \
    BENCH(stencil3d)                                                                               \
    BENCH(matmul3d)                                                                                \
    BENCH(lu)                                                                                      \
    BENCH(pairs)                                                                                   \
    BENCH(leanmd)                                                                                  \
    BENCH(barneshut)                                                                               \
    BENCH(fmm)                                                                                     \
    BENCH(fillboundary)                                                                            \
    BENCH(gtcshift)                                                                                \
    BENCH(balance)                                                                                 \
    BENCH(checkpoint)                                                                              \
    BENCH(zerocopy)                                                                                \
    BENCH(openshmem)                                                                               \
    BENCH(armci)

#define BENCH_DECLARE(name) extern const struct bench bench_##name;
BENCH_EACH(BENCH_DECLARE)

/* ---- running programs (bench_common.c) -------------------------------------- */

/** A program of a peer library and its command line. */
struct bench_peer {
    const char *launcher; /* openmpi or mpich, for their mpirun, or oshrun */
    const char *program;
    const char *series, *argument; /* its arguments; argument may be NULL  */
};

/** Runs a program that prints results and adds them.  If it fails, print that and continue. */
void bench_run(struct results *results, char *const argv[]);

/** Prints how evenly the CPUs of this host worked before the runs so far (cpu_rates.h). */
void bench_print_rates(FILE *to);

/** Runs a program of Skua, if it is installed, under skuarun.  @p format makes the rest of the
 * command line, whose words spaces separate: options of skuarun, '@' and the name of the program,
 * and its arguments, as in "-n %d @lu --size=%d". */
__attribute__((format(printf, 2, 3))) void bench_run_job(struct results *results,
                                                         const char     *format, ...);

/** Returns a list, as in "0,2,4", of the CPUs for @p pes PEs, @p threads of which make a process:
 * those of the setting `pin` auto.  The caller frees it.  NULL if there are fewer cores: then a
 * peer is not bound. */
char *bench_cpus(const struct bench_host *host, int pes, int threads);

/** Returns options of skuarun for bench_run_job(): @p pes PEs, @p threads of which make a process,
 * bound to the CPUs of bench_cpus() whatever the user's setting `pin`.  With fewer cores, skuarun
 * assigns the CPUs.  The caller frees the options. */
char *bench_bound_options(const struct bench_host *host, int pes, int threads);

/** A run of a peer that was stopped because it took too long. */
struct bench_stop {
    const char *program, *series;
    const char *of; /* the part of the benchmark, followed by '-'; "": there is only one */
    int         pes;
    double      seconds;
};

/** Adds a result that says that a run was stopped: metric stopped_s-PARTPpe, bytes 0. */
void bench_add_stopped(struct results *results, const struct bench_stop *stop);

/** Returns after how many seconds a run was stopped, or 0 if it was not. */
double bench_get_stopped(const struct results *results, const char *series, const char *of,
                         int pes);

/** Prints a line for each run that was stopped, to explain values that are missing in tables. */
void bench_print_stopped(const struct results *results);

/** Runs a peer, if it and its launcher are installed, with @p ranks processes, each bound to one of
 * the first cores, in the order of the machine, if there are enough.  If there are not, it is
 * stopped after three minutes. */
void bench_run_peer(struct results *results, const struct bench_peer *peer, int ranks);

/** The MPIs that are measured, as launchers and series. */
#define BENCH_MPIS 2
extern const char *const bench_mpis[BENCH_MPIS];

/** Runs the program peer-MPI-NAME of one of bench_mpis as bench_run_peer() does; @p argument may be
 * NULL. */
void bench_run_mpi(struct results *results, const char *mpi, const char *name, const char *series,
                   const char *argument, int ranks);

/** Runs a program of a peer library as @p ranks processes of @p threads threads, which bind
 * themselves to the CPUs of as many PEs of Skua in as many processes (bench_cpus()).  A program
 * that takes a minute is stopped. */
void bench_run_peer_threads(struct results *results, const struct bench_peer *peer, int ranks,
                            int threads);

/** Measures a floor (bench/floor.c) on two CPUs.  @p what is NULL: two processes that bounce a
 * cache line, or copy memory and set a flag; "threads": so do two threads; "tcp": two processes
 * that send the bytes of a buffer through a connection of this host and receive them in another
 * buffer; or "zerocopy": transfers over TCP on this host, with copies, without, and by a request of
 * the receiver. */
void bench_run_floor(struct results *results, char *what);

/** Calls @p run for each number of PEs of the host.  What its programs print on more than two has
 * metrics that end with the number of PEs. */
void bench_run_each(struct results *results, void (*run)(struct results *results, int pes));

/** Returns a list of CPUs that has one of host->cpu for the first half of @p pes PEs and the other
 * for the rest.  The caller frees it. */
char *bench_halves(const struct bench_host *host, int pes);

/** Returns a value of the option --pin of skuarun for the PEs of pairs: auto for two, and if there
 * is a core for each; else the list of bench_halves(), since the kernel lets pairs that share cores
 * run in turn.  The caller frees it. */
char *bench_pin(const struct bench_host *host, int pes);

/** Runs a program of Skua, if it is installed, with half of @p pes PEs on each of two hosts: two
 * processes that share no memory, connected by the driver tcp over loopback. */
void bench_run_between_hosts(struct results *results, int pes, const char *name,
                             const char *arguments);

/** Measures a round trip from buffer to buffer with each MPI (bench_channels.c) in pairs of @p
 * ranks processes: series MPI-send, -pscw and -flag, metric roundtrip_us.  @p trips is "", or ",N"
 * for N round trips of each size that apps/pingpong measures. */
void bench_run_mpi_channels(struct results *results, const char *trips, int ranks);

/** Finds the launcher of a peer: mpirun.NAME as Debian calls it, or mpirun.  Returns false if it is
 * not installed. */
bool bench_launcher(const char *launcher, char path[PROGRAM_PATH_BYTES]);

/** Sets what is shown when the next program starts (program_announce()): which step of which round
 * is being measured. */
void bench_step(const struct results *results, const char *what);

/** Announces a step whose name @p format makes, as bench_step() does. */
__attribute__((format(printf, 2, 3))) void bench_stepf(const struct results *results,
                                                       const char           *format, ...);

/* ---- comparing results ----------------------------------------------------------- */

/** A number of PEs within a host, or of processes that share no memory, over TCP. */
struct bench_setup {
    bool tcp;
    int  pes;
};

/** Writes the name of a series of @p library: LIBRARY-PES, or LIBRARY-tcp-PES. */
void bench_setup_series(char *to, size_t room, const char *library,
                        const struct bench_setup *setup);

/** Calls @p print for each number of PEs of the host, within it and then over TCP. */
void bench_setup_each(const struct results *results,
                      void (*print)(const struct results *, const struct bench_setup *));

/** Calls @p print for each number of PEs of the host with the results on them (results_select()).
 */
void bench_print_each(const struct results *results,
                      void (*print)(const struct results *results, int pes));

/** Prints a heading for the tables of pairs of PEs: none if they are the only ones and two. */
void bench_print_pairs_head(const struct results *results, int pes);

/** Writes the title of a plot of @p pes PEs: that of two PEs, or it after the number. */
void bench_title(char *to, size_t room, int pes, const char *title);

/** Returns a / b, or 0, which means "not measured", if a or b is 0. */
double bench_ratio(double a, double b);

/** Returns the shorter of two times; the other if one is 0, "not measured". */
double bench_shorter(double a, double b);

/** Returns the better value of bench_mpis: the larger one of a rate. */
double bench_better_mpi(const struct results *results, size_t bytes, const char *metric);

/** The size at which a series is worst relative to another, and how much worse it is there: more
 * than 1 where it is behind.  0: it was not measured. */
struct bench_worst {
    double ratio;
    size_t bytes;
};

/** Compares a series with another, each in its own metric, over @p count sizes. */
struct bench_worst bench_find_worst(const struct results *results, const char *series,
                                    const char *metric, const char *other, const char *other_metric,
                                    const size_t *sizes, size_t count);

/** Prints the heading of a list of goals. */
void bench_print_goals_head(const char *title);

/** Prints a goal and whether it is met; @p relation is "<", "<=" or ">=".  If @p goal is 0, there
 * is none: prints the value, if it was measured. */
void bench_print_goal(const char *what, double measured, const char *relation, double goal);

/** Prints a goal whose name @p format makes, as bench_print_goal() does. */
__attribute__((format(printf, 4, 5))) void bench_print_goalf(double measured, const char *relation,
                                                             double goal, const char *format, ...);

/** Prints a value in a column of that width, or '-' if it was not measured. */
void bench_print_value(double value, int width);

/** Adds the values of @p series in @p metric at each of @p sizes to a curve. */
void bench_plot_curve(struct plot_curve *curve, const struct results *results, const char *series,
                      const char *metric, const size_t *sizes, size_t count);

#endif
