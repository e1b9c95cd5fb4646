/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - what a benchmark of `skua bench` is, and what it may use. */
#ifndef SKUA_BENCH_H
#define SKUA_BENCH_H

#include <stdio.h>

#include "program.h"
#include "results.h"

struct bench_host {
    char skuarun[PROGRAM_PATH];
    int  cpu[2]; /* two different cores, if there are */
    int  cores;
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

extern const struct bench bench_messages;

/** Run a program that prints results; a failure is said and left at that. */
void bench_run(struct results *results, char *const argv[]);

/** Show what is going on, where somebody watches; NULL clears it. */
void bench_progress(const char *what);

#endif
