/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaling.h - an application on several numbers of PEs: `skua bench NAME --pes=1,2,4`; or a kernel
 * of `skua bench scaling`.
 *
 * The problem of an application does not grow with the number of PEs (strong scaling).  The
 * efficiency of a series on P PEs is the best time of any series but "limit" on one PE, divided by
 * P times its time on P PEs.  So the curves of all series share one reference, and a series that is
 * slow on one PE does not look efficient.  With --weak the problem has P times the work on P PEs,
 * as nearly as its sizes allow, and times are those of the work of one PE.  A kernel has as much
 * work for each PE on any number of them, and an efficiency of its kind (enum scaling_kind).
 */
#ifndef SKUA_SCALING_H
#define SKUA_SCALING_H

#include "bench.h"

#define SCALING_SERIES 8 /* of an application, at most */

/** The values that the efficiency on P PEs compares. */
enum scaling_kind {
    SCALING_STRONG,  /* the best time of any series on one PE with P times the time */
    SCALING_WEAK,    /* the rate of a PE with that on the fewest PEs of the series  */
    SCALING_SHARED,  /* the rate of all PEs with that on the fewest PEs             */
    SCALING_LATENCY, /* the time of the series "limit" with the time                */
    SCALING_GROWING, /* as SCALING_STRONG, of a problem that grows with the PEs     */
};

/** An application that can be measured on any number of PEs.  Its results, and those of its peers,
 * have the metric step-Ppe, seconds of a step on P PEs, or rate-Ppe, work of a second. */
struct scaling {
    const char *name;    /* of the benchmark          */
    const char *problem; /* what is computed; with a size, the text before it */
    const char *after;   /* the text after the size   */
    struct {
        int of_one, least, most; /* of the problem on one PE, in a measure of its own; 0: fixed */
        int multiple;            /* 2: a size is an even number; 0: it is any number              */
    } size;
    const char       *unit;   /* of the table              */
    double            factor; /* from a value to this unit */
    bool              rate;   /* the metric is rate-Ppe    */
    size_t            bytes;  /* member of the results     */
    const char       *kernel; /* NULL, or: the metric is rate-KERNEL-Ppe, or us-KERNEL-Ppe */
    enum scaling_kind kind;
    int least; /* kernel: PEs of the reference, 1 if 0: one PE alone does not communicate */
    struct {
        const char *series, *name;
    } curve[SCALING_SERIES]; /* fewer end with a series of NULL */
    /** Measures the problem once on @p pes PEs, with Skua and with its peers. */
    void (*run)(const struct scaling *scaling, struct results *results, int pes);
    /** Returns the member `bytes` of the results on @p pes PEs.  NULL: `bytes` on any number. */
    size_t (*bytes_on)(const struct scaling *scaling, int pes);
    /** Returns the work of the growing problem on @p pes PEs, relative to that on one PE.  NULL: it
     * is @p pes, or the metric is a rate. */
    double (*work_on)(const struct scaling *scaling, int pes);
    /** The goal for the rate of Skua relative to the series "limit", or 0: no goals are printed. */
    double of_limit;
    bool   alone; /* one PE has no goal for peers: its peer there is a program of one process */
};

/** Returns whether the problem of an application can grow with the number of PEs, or have another
 * size: --weak and --size. */
bool scaling_has_sizes(const struct scaling *scaling);

/** Writes what is computed, with the size of the problem. */
void scaling_describe(const struct scaling *scaling, char *text, size_t room);

/** Sets the cells of a box, of which the size is the edge of a cube on one PE.  If it grows with
 * the PEs, each factor of two of @p pes doubles z, y and x in turn; what is left multiplies z. */
void scaling_grow_cube(const struct scaling *scaling, int pes, int cells[3]);

/** Returns the binary logarithm of the size of a problem, of which the size is that on one PE: one
 * more for each doubling of the PEs if it grows with them, and the next multiple of size.multiple.
 */
int scaling_grow_log2(const struct scaling *scaling, int pes);

/** Returns the elements of a problem, of which the size is that on one PE: @p pes times as many if
 * it grows with the PEs. */
int scaling_grow_count(const struct scaling *scaling, int pes);

/** Returns the rows of square matrices, of which the size is that on one PE: if they grow with the
 * PEs, the multiple of @p unit whose cube is nearest to @p pes times that of one PE. */
int scaling_grow_rows(const struct scaling *scaling, int pes, int unit);

/** Lists the numbers of PEs to measure an application on: those of host->pes, and before them 1,
 * which efficiencies refer to, if it is not among them.  Returns their number. */
int scaling_list_pes(const struct bench_host *host, int pes[BENCH_PES_MAX + 1]);

/** Measures an application on @p pes PEs. */
void scaling_run_on(const struct scaling *scaling, struct results *results, int pes);

/** Measures an application on each number of PEs of scaling_list_pes(). */
void scaling_run(const struct scaling *scaling, struct results *results);

/** Adds the efficiencies to the results: the metric efficiency-Ppe of each series. */
void scaling_add_efficiencies(const struct scaling *scaling, struct results *results);

/** Prints values and efficiencies as a table. */
void scaling_print(const struct scaling *scaling, const struct results *results);

/** Returns the speed of Skua, of the best of its series as processes, relative to the best peer, or
 * 0 if one of them was not measured. */
double scaling_speed_of_peer(const struct scaling *scaling, const struct results *results, int pes);

/** Returns the speed of Skua, of the best of its series as processes, relative to the series
 * "limit", or 0 if one of them was not measured. */
double scaling_speed_of_limit(const struct scaling *scaling, const struct results *results,
                              int pes);

/** Prints the goals of an application on each number of PEs that have a core each: Skua against the
 * best peer and against the series "limit". */
void scaling_print_goals(const struct scaling *scaling, const struct results *results);

/** Draws the efficiencies of @p count applications or kernels over the number of PEs as one SVG
 * file, a plot for each. */
void scaling_plot(const struct scaling *scaling, size_t count, const struct results *results,
                  FILE *to);

/** Returns the value of a series on a number of PEs, or 0 if it was not measured. */
double scaling_value(const struct scaling *scaling, const struct results *results,
                     const char *series, int pes);

/** Returns the efficiency of a series on a number of PEs, or 0 if it was not measured. */
double scaling_efficiency(const struct scaling *scaling, const struct results *results,
                          const char *series, int pes);

/** Runs program peer-MPI-NAME of each MPI on @p ranks processes.  Its series is the MPI. */
void scaling_run_mpis(struct results *results, const char *name, const char *argument, int ranks);

/** Runs program bench-NAME_limit on @p pes processes.  Its series is "limit". */
void scaling_run_limit(struct results *results, const char *name, const char *argument, int pes);

/* The applications that --pes measures on any number of PEs: SCALING(NAME) for each. */
#define SCALING_EACH(SCALING)                                                                      \
    SCALING(barneshut)                                                                             \
    SCALING(fft1d)                                                                                 \
    SCALING(fillboundary)                                                                          \
    SCALING(fmm)                                                                                   \
    SCALING(gtcshift)                                                                              \
    SCALING(leanmd)                                                                                \
    SCALING(lu)                                                                                    \
    SCALING(matmul3d)                                                                              \
    SCALING(pairs)                                                                                 \
    SCALING(randomaccess)                                                                          \
    SCALING(stencil3d)

#define SCALING_DECLARE(name) extern const struct scaling scaling_##name;
SCALING_EACH(SCALING_DECLARE)

#endif
