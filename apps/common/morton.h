/* SPDX-License-Identifier: Apache-2.0 */
/* morton.h - keys on the Morton curve in three dimensions, of 21 bits each. */
#ifndef MORTON_H
#define MORTON_H

#include <stdint.h>

/** Moves bit i of the lower 21 bits to bit 3 i. */
static inline uint64_t morton_spread(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    return (x | x << 2) & UINT64_C(0x1249249249249249);
}

/** Returns the key of three coordinates. */
static inline uint64_t morton_key(const uint64_t at[3])
{
    return morton_spread(at[0]) | morton_spread(at[1]) << 1 | morton_spread(at[2]) << 2;
}

#endif
