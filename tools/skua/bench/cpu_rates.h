/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_rates.h - how evenly the CPUs of this host work while a benchmark measures.
 *
 * Where other programs run, or other virtual machines share the cores, a CPU works at half of its
 * rate for seconds, and a ratio of two runs says little if only one of them was disturbed.  So
 * before each program that a benchmark runs, a thread on each core does the same work for a few
 * milliseconds: it copies memory in the cache of the core and computes roots.  The benchmark prints
 * how far their rates were apart.
 */
#ifndef SKUA_CPU_RATES_H
#define SKUA_CPU_RATES_H

#include <stddef.h>
#include <stdio.h>

#include "base/topology.h"

/* Zeroed memory has no samples. */
struct cpu_rates {
    double  best;    /* rate of the fastest CPU in all samples          */
    double *slowest; /* rate of the slowest CPU, one for each sample    */
    size_t  samples, room;

    struct ski_topology topology; /* found by the first measurement */
};

/** Adds a sample: the rates of @p cpus CPUs, at least one. */
void cpu_rates_add(struct cpu_rates *rates, const double *rate, int cpus);

/** Measures the first CPU of each core, all at the same time, and adds the sample.  It takes about
 * five milliseconds; if threads cannot be started, nothing is added. */
void cpu_rates_measure(struct cpu_rates *rates);

/** Prints a sentence about the samples; nothing if there are none. */
void cpu_rates_print(const struct cpu_rates *rates, FILE *to);

/** Frees the samples. */
void cpu_rates_free(struct cpu_rates *rates);

#endif
