/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - Main, and what all have in common; see pairs.ci. */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <string.h>

#include "pairs.ci.h"

#define LIMIT 1e-10 /* of the largest element of |S - 1| and |S - S^T| */

int64_t states_in(int64_t block)
{
    int64_t left = options.states - block * options.grain;

    return left < options.grain ? left : options.grain;
}

/* Where a chunk begins in the numbers of a State. */
int64_t chunk_begin(int64_t z)
{
    return 2 * (options.points * z / options.chunks);
}

int64_t chunk_numbers(int64_t z)
{
    return chunk_begin(z + 1) - chunk_begin(z);
}

int64_t slots(void)
{
    return options.blocks * options.chunks;
}

void *take(int64_t numbers)
{
    void *memory = skua_channel_alloc((size_t)numbers * sizeof(double));

    if (!memory)
        skua_abort("no memory for states; see --states, --planes and --points");
    return memory;
}

void add(double *restrict to, const double *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* So many numbers as one, below 2^32: a sum of these is exact in any order. */
double bits_of(const double *at, int64_t count)
{
    uint64_t sum = 0, one;

    for (int64_t i = 0; i < count; i++) {
        memcpy(&one, &at[i], sizeof one);
        sum = (sum ^ one) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (double)(sum >> 32);
}

/* The larger one; and what is not a number is larger than all. */
double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

int64_t pairs_in_all(void)
{
    return options.planes * options.blocks * (options.blocks + 1) / 2 * options.chunks;
}

void insert_pairs(void)
{
    int64_t count = 0;

    for (int w = 0; w < options.planes; w++)
        for (int x = 0; x < options.blocks; x++)
            for (int y = x; y < options.blocks; y++)
                for (int z = 0; z < options.chunks; z++)
                    Pair_insert(Pair_at(pairs, w, x, y, z), (int)(count++ % skua_pes()));
}

static void start_task(struct task task)
{
    State_run_all(states, task);
    Pair_run_all(pairs, task);
    Ortho_run_all(orthos, task);
}

void start(Main *m, int way)
{
    m->started = skua_time();
    start_task((struct task){way, !options.forward, false, options.steps});
}

void start_check(int way)
{
    start_task((struct task){way, false, true, 1});
}

void stop(Main *m, int way, double bits)
{
    ways_stop(&m->best[way], m->started);
    m->bits[way] = bits;
}

void judge(Main *m, int way, struct outcome o)
{
    m->bits[way] += o.bits;
    m->outcome.away       = larger(m->outcome.away, o.away);
    m->outcome.asymmetric = larger(m->outcome.asymmetric, o.asymmetric);
}

/* Both ways give the same bits, where there were both. */
static bool same_bits(const Main *m)
{
    return !options.ways[MESSAGES] || !options.ways[CHANNELS] ||
           m->bits[MESSAGES] == m->bits[CHANNELS];
}

static bool report_checks(const Main *m)
{
    bool same = same_bits(m), unit = options.forward || m->outcome.away < LIMIT;
    bool symmetric = m->outcome.asymmetric < LIMIT;

    if (!options.forward)
        printf("|S - 1| = %.2g, %s %g; ", m->outcome.away, unit ? "below" : "NOT below", LIMIT);
    printf("|S - S^T| = %.2g, %s %g", m->outcome.asymmetric, symmetric ? "below" : "NOT below",
           LIMIT);
    if (options.ways[MESSAGES] && options.ways[CHANNELS])
        printf("; both ways: %s bits", same ? "the same" : "NOT the same");
    printf("\n");
    return same && unit && symmetric;
}

void report(const Main *m)
{
    int64_t rows = options.states * options.planes * slots();

    const struct ways_series series = {options.forward ? "pairs-forward" : "pairs", options.series,
                                       options.states};

    printf(
        "%lld states, %lld planes, %lld points; %lld pairs of blocks of %lld states, %lld chunks;"
        " %lld channels on %d PEs, %lld steps by %s\n",
        (long long)options.states, (long long)options.planes, (long long)options.points,
        (long long)pairs_in_all(), (long long)options.grain, (long long)options.chunks,
        (long long)(2 * rows), skua_pes(), (long long)options.steps, gemm_name());
    ways_report(m->best, options.steps, &series);
    skua_exit(report_checks(m) ? 0 : 1);
}
