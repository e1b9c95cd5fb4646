/* SPDX-License-Identifier: Apache-2.0 */
/* neighbours.c - see neighbours.h. */
#include "strategy/neighbours.h"

#include "base/assert.h"
#include "strategy/random_bits.h"

enum { NEIGHBOURS_STEPS = 4 }; /* of the Feistel network */

/* Returns the number of bits of half of the network's domain, which has at least @p pes values and
 * less than four times as many. */
static unsigned neighbours_half(int pes)
{
    unsigned half = 1;

    while (UINT64_C(1) << (2 * half) < (uint64_t)pes)
        half++;
    return half;
}

static uint32_t neighbours_scramble(uint32_t value, unsigned step, unsigned half)
{
    uint64_t state = (uint64_t)step << 32 | value;

    return (uint32_t)(ski_random_bits(&state) & ((UINT64_C(1) << half) - 1));
}

/* Applies the permutation of the domain, or its inverse. */
static uint32_t neighbours_permute(uint32_t value, unsigned half, int inverse)
{
    uint32_t left = value >> half, right = value & ((UINT32_C(1) << half) - 1);

    for (unsigned k = 0; k < NEIGHBOURS_STEPS; k++) {
        uint32_t old = right;

        if (inverse) {
            right = left;
            left  = old ^ neighbours_scramble(left, NEIGHBOURS_STEPS - 1 - k, half);
        } else {
            right = left ^ neighbours_scramble(right, k, half);
            left  = old;
        }
    }
    return left << half | right;
}

/* Applies the permutation of the PEs: values beyond them are permuted again until one is a PE. */
static int neighbours_long_link(int pe, int pes, int inverse)
{
    unsigned half  = neighbours_half(pes);
    uint32_t value = (uint32_t)pe;

    do
        value = neighbours_permute(value, half, inverse);
    while (value >= (uint32_t)pes);
    return (int)value;
}

static int neighbours_root(int pes)
{
    int root = 1;

    while ((int64_t)root * root < pes)
        root++;
    return root;
}

static int neighbours_add(int pe, int found, int n, int neighbour[SKUA_NEIGHBOURS_MAX])
{
    for (int k = 0; k < n; k++)
        if (neighbour[k] == found)
            return n;
    if (found == pe)
        return n;
    neighbour[n] = found;
    return n + 1;
}

int ski_neighbours_of(int pe, int pes, int neighbour[SKUA_NEIGHBOURS_MAX])
{
    int64_t step[] = {1, neighbours_root(pes)};
    int     n      = 0;

    ski_assert(pe >= 0 && pe < pes);
    for (int k = 0; k < 2; k++) {
        n = neighbours_add(pe, (int)((pe + step[k]) % pes), n, neighbour);
        n = neighbours_add(pe, (int)((pe - step[k] % pes + pes) % pes), n, neighbour);
    }
    n = neighbours_add(pe, neighbours_long_link(pe, pes, 0), n, neighbour);
    return neighbours_add(pe, neighbours_long_link(pe, pes, 1), n, neighbour);
}
