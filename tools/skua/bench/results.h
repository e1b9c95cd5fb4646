/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - the results of benchmark programs.
 *
 * A benchmark program prints a line of JSON for each result:
 *   {"bench":"messages","series":"skua-inline","bytes":8,"metric":"roundtrip_us","value":0.28}
 * Results with equal series, bytes and metric, of several runs, are one result.  Its value is the
 * best one: the largest of a rate (rate-...), bandwidth (..._gbs) or efficiency (eff...), the
 * smallest of any other metric.  A benchmark whose runs differ more than the time of an operation
 * does, because a run may get faster CPUs than another, uses the median of the runs instead.
 *
 * What a benchmark of two PEs measures on another number of them has a metric that ends with
 * -PESpe.
 */
#ifndef SKUA_RESULTS_H
#define SKUA_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define RESULTS_COLUMNS "bench,series,bytes,metric,value" /* the first line of CSV */

struct result {
    char   bench[32], series[48], metric[48];
    size_t bytes;
    double value;
};

/* The values of a result, one for each run, in ascending order. */
struct results_runs {
    double *value;
    size_t  count, room;
};

struct bench_host;

struct results {
    const struct bench_host *host; /* that is measured: bench.h */
    struct result           *list; /* with their best values */
    struct results_runs     *runs; /* of each result         */
    size_t                   count, room;
    bool                     median; /* results_get() and the printed values are medians */
    int pes; /* that programs of a benchmark of two PEs are run on now; 0: two */
};

/** Adds a result, or a run to the one of equal series, bytes and metric. */
void results_add(struct results *results, const struct result *result);

/** Adds a result that a program has printed.  If it ran on more than two PEs (results->pes), and
 * the metric does not end with their number, the number is appended. */
void results_add_measured(struct results *results, const struct result *result);

/** Makes a list of the results on @p pes PEs, whose metrics do not end with that number: of two,
 * those that have none, too.  The caller frees it. */
void results_select(const struct results *results, int pes, struct results *found);

/** Adds the result in a line of JSON.  Returns false if the line is not a result. */
bool results_read(struct results *results, const char *line);

/** Reads a line of JSON or CSV that holds a result and nothing else.  Returns false, and sets the
 * column of the first field that is wrong, if it does not. */
bool results_parse(const char *line, struct result *result, size_t *column);

/** Returns whether the metric is a rate, a bandwidth or an efficiency. */
bool results_more_is_better(const char *metric);

/** Returns a value, or 0 if it was not measured. */
double results_get(const struct results *results, const char *series, size_t bytes,
                   const char *metric);

/** Returns a value of the series whose name @p format makes, or 0 if it was not measured. */
__attribute__((format(printf, 4, 5))) double results_get_series(const struct results *results,
                                                                size_t bytes, const char *metric,
                                                                const char *format, ...);

/** Returns a value of the metric whose name @p format makes, or 0 if it was not measured. */
__attribute__((format(printf, 4, 5))) double results_get_metric(const struct results *results,
                                                                const char *series, size_t bytes,
                                                                const char *format, ...);

/** Returns the value of the best run, or 0 if it was not measured. */
double results_get_best(const struct results *results, const char *series, size_t bytes,
                        const char *metric);

/** Returns the smallest of @p sizes, which ascend, from which on @p metric is below @p than at
 * every size; INFINITY if it is above at the largest, 0 if it was not measured.  Sizes above the
 * largest that was measured are ignored. */
double results_break_even(const struct results *results, const char *series, const char *metric,
                          const char *than, const size_t *sizes, size_t count);

/** Prints all results as lines of JSON. */
void results_print_json(const struct results *results, FILE *to);

/** Prints all results as CSV, with a line of column names. */
void results_print_csv(const struct results *results, FILE *to);

/** Frees the list. */
void results_free(struct results *results);

#endif
