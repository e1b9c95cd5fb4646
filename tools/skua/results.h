/* SPDX-License-Identifier: Apache-2.0 */
/*
 * results.h - what benchmarks measured: the best value of each kind.
 *
 * Benchmark programs print a line of JSON for each result:
 *   {"bench":"messages","series":"skua-inline","bytes":8,"metric":"roundtrip_us","value":0.28}
 * Of repeated ones the best is kept: the largest rate (rate-..., ..._gbs), the
 * smallest of all else.
 */
#ifndef SKUA_RESULTS_H
#define SKUA_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct result {
    char   bench[32], series[48], metric[32];
    size_t bytes;
    double value;
};

struct results {
    struct result *list;
    size_t         count, room;
};

/** Take one in; of equal kind the better one stays. */
void results_add(struct results *results, const struct result *result);

/** Take in a line of JSON; false if it is none. */
bool results_read(struct results *results, const char *line);

/** The value, or 0 if there is none. */
double results_get(const struct results *results, const char *series, size_t bytes,
                   const char *metric);

void results_print_json(const struct results *results, FILE *to);
void results_print_csv(const struct results *results, FILE *to);
void results_free(struct results *results);

#endif
