/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seqnum.h - sequence numbers of 32 bits, which wrap around: of broadcasts, reductions, migrations.
 *
 * Two numbers that are compared are less than 2^31 apart.
 */
#ifndef SKI_SEQNUM_H
#define SKI_SEQNUM_H

#include <stdbool.h>
#include <stdint.h>

/** Returns whether sequence number @p a comes before @p b. */
static inline bool ski_seqnum_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

#endif
