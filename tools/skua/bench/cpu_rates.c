/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_rates.c - see cpu_rates.h. */
#include "cpu_rates.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"

#define CPU_RATES_S     0.004 /* seconds of a sample */
#define CPU_RATES_BYTES 65536 /* copied in a unit of work, within a cache */
#define CPU_RATES_ROOTS 512   /* computed in a unit of work */
#define CPU_RATES_EVEN  0.8   /* of the best rate, from which on CPUs work evenly */

/* A thread, which works on one CPU. */
struct cpu_rates_thread {
    pthread_t          id;
    const atomic_bool *begin; /* all threads are started */
    int                cpu;
    double             rate; /* units of work per second */
};

static double cpu_rates_roots(double from)
{
    double sum = 0;

    for (int i = 0; i < CPU_RATES_ROOTS; i++)
        sum += sqrt(from + i);
    return sum;
}

static void *cpu_rates_work(void *arg)
{
    struct cpu_rates_thread *thread = arg;
    char                    *memory[2];
    volatile double          result; /* which the compiler does not leave out */
    double                   start, now;
    int                      units = 0;

    ski_topology_bind(thread->cpu);
    for (int i = 0; i < 2; i++)
        memory[i] = memset(ski_malloc(CPU_RATES_BYTES), i, CPU_RATES_BYTES);
    while (!*thread->begin)
        sched_yield();
    start = ski_seconds(CLOCK_MONOTONIC);
    do {
        memcpy(memory[units % 2], memory[1 - units % 2], CPU_RATES_BYTES);
        result = cpu_rates_roots(memory[0][0]);
        units++;
        now = ski_seconds(CLOCK_MONOTONIC);
    } while (now - start < CPU_RATES_S);
    (void)result;
    thread->rate = units / (now - start);
    free(memory[0]);
    free(memory[1]);
    return NULL;
}

/* Measures on the first CPU of each core.  Returns how many there are, 0 if a thread cannot be
 * started. */
static int cpu_rates_sample(const struct ski_topology *topology, double *rate)
{
    struct cpu_rates_thread *thread = ski_calloc((size_t)topology->cores, sizeof *thread);
    atomic_bool              begin  = false;
    int                      n      = 0;

    for (; n < topology->cores; n++) {
        thread[n].begin = &begin;
        thread[n].cpu   = topology->cpu[n];
        if (pthread_create(&thread[n].id, NULL, cpu_rates_work, &thread[n]) != 0)
            break;
    }
    begin = true;
    for (int i = 0; i < n; i++) {
        pthread_join(thread[i].id, NULL);
        rate[i] = thread[i].rate;
    }
    free(thread);
    return n == topology->cores ? n : 0;
}

void cpu_rates_add(struct cpu_rates *rates, const double *rate, int cpus)
{
    double slowest = rate[0];

    for (int i = 0; i < cpus; i++) {
        slowest     = rate[i] < slowest ? rate[i] : slowest;
        rates->best = rate[i] > rates->best ? rate[i] : rates->best;
    }
    rates->slowest = ski_grow(rates->slowest, rates->samples, &rates->room, sizeof *rates->slowest);
    rates->slowest[rates->samples++] = slowest;
}

void cpu_rates_measure(struct cpu_rates *rates)
{
    double *rate;
    int     cpus;

    if (!rates->topology.cpu && ski_topology_load(&rates->topology) != SKUA_OK)
        return;
    rate = ski_calloc((size_t)rates->topology.cores, sizeof *rate);
    cpus = cpu_rates_sample(&rates->topology, rate);
    if (cpus > 0)
        cpu_rates_add(rates, rate, cpus);
    free(rate);
}

void cpu_rates_print(const struct cpu_rates *rates, FILE *to)
{
    double least = 1;
    size_t low   = 0;

    if (rates->samples == 0)
        return;
    for (size_t i = 0; i < rates->samples; i++) {
        double share = rates->slowest[i] / rates->best;

        least = share < least ? share : least;
        low += share < CPU_RATES_EVEN;
    }
    if (low == 0)
        fprintf(to, "Before %s%zu runs all CPUs worked at %.2f of the best rate or more.\n",
                rates->samples > 1 ? "each of " : "", rates->samples, least);
    else
        fprintf(to,
                "Before %zu of %zu runs a CPU worked at less than %.1f of the best rate (at %.2f): "
                "other programs or\n"
                "virtual machines disturb this host, so ratios vary; more rounds (--rounds) or a "
                "quiet hour help.\n",
                low, rates->samples, CPU_RATES_EVEN, least);
}

void cpu_rates_free(struct cpu_rates *rates)
{
    ski_topology_free(&rates->topology);
    free(rates->slowest);
    *rates = (struct cpu_rates){0};
}
