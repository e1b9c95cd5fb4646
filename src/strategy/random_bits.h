/* SPDX-License-Identifier: Apache-2.0 */
/* random_bits.h - SplitMix64 of Steele, Lea and Flood: random numbers of a seed that are the same
 * on every machine. */
#ifndef SKI_RANDOM_BITS_H
#define SKI_RANDOM_BITS_H

#include <stdint.h>

/** Returns the next 64 random bits and advances @p state. */
static inline uint64_t ski_random_bits(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** Returns a random number of [0, 1). */
static inline double ski_random_unit(uint64_t *state)
{
    return (double)(ski_random_bits(state) >> 11) * 0x1p-53;
}

#endif
