/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - the chare Main and shared functions; see pairs.ci. */
#include <inttypes.h>
#include <skua/skua.h>
#include <stdio.h>
#include <string.h>

#include "pairs.ci.h"

#define LIMIT 1e-10 /* for the largest element of |S - 1| and |S - S^T| */

int64_t states_in(int64_t block)
{
    int64_t left = options.states - block * options.grain;

    return left < options.grain ? left : options.grain;
}

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

int64_t tiles(void)
{
    return options.planes * slots();
}

Numbers *numbers_of(int64_t turn, int64_t from, const double *at, int64_t count)
{
    Numbers *numbers = Numbers_new((size_t)count);

    numbers->turn = turn;
    numbers->from = from;
    if (at)
        memcpy(numbers->at, at, (size_t)count * sizeof *at);
    return numbers;
}

double *alloc_numbers(int64_t numbers)
{
    double *memory = skua_channel_alloc((size_t)numbers * sizeof *memory);

    if (!memory)
        skua_abort("cannot allocate the states; use fewer --states, --planes or --points");
    return memory;
}

skua_layout layout_of(const double *at, int64_t numbers)
{
    return skua_layout_contiguous(at, (size_t)numbers * sizeof *at);
}

void require_channel(bool good)
{
    if (!good)
        skua_abort("cannot create a channel between a State and a Pair");
}

uint64_t bits_of(const double *at, int64_t count)
{
    uint64_t sum = 0, one;

    for (int64_t i = 0; i < count; i++) {
        memcpy(&one, &at[i], sizeof one);
        sum = (sum ^ one) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return mix(sum);
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

void start(struct pairs_task task)
{
    State_run_all(states, task);
    Pair_run_all(pairs, task);
    Ortho_run_all(orthos, task);
}

static bool report_checks(const Main *m)
{
    bool both      = options.variants[MESSAGES] && options.variants[CHANNELS];
    bool same      = !both || m->bits[MESSAGES] == m->bits[CHANNELS];
    bool unit      = options.forward || m->away < LIMIT;
    bool symmetric = m->asymmetric < LIMIT;

    printf("result pairs: %lld states, %lld planes, %lld points, %lld steps; ",
           (long long)options.states, (long long)options.planes, (long long)options.points,
           (long long)options.steps);
    if (!options.forward)
        printf("|S - 1| = %.2g, %s %g; ", m->away, unit ? "below" : "NOT below", LIMIT);
    printf("|S - S^T| = %.2g, %s %g; ", m->asymmetric, symmetric ? "below" : "NOT below", LIMIT);
    if (both)
        printf("both variants: %s bits; ", same ? "identical" : "NOT identical");
    printf("hash %016" PRIx64 ": %s\n", m->bits[options.variants[MESSAGES] ? MESSAGES : CHANNELS],
           same && unit && symmetric ? "passed" : "FAILED");
    return same && unit && symmetric;
}

void report(const Main *m)
{
    const struct variant_series series = {"pairs", options.series, options.grain};

    printf(
        "%lld states, %lld planes, %lld points; %lld pairs of blocks of %lld states, %lld chunks;"
        " %lld channels on %d PEs, %lld steps by %s\n",
        (long long)options.states, (long long)options.planes, (long long)options.points,
        (long long)pairs_in_all(), (long long)options.grain, (long long)options.chunks,
        (long long)(2 * options.states * tiles()), skua_pes(), (long long)options.steps,
        gemm_name());
    variant_report(m->best, options.steps, &series);
    skua_exit(report_checks(m) ? 0 : 1);
}
