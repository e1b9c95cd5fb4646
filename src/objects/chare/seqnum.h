/* SPDX-License-Identifier: Apache-2.0 */
/* seqnum.h - numbers that are counted up for ever, and wrap around: of broadcasts, of
 * reductions, of journeys.  Two that are compared are never half a round apart. */
#ifndef SKI_SEQNUM_H
#define SKI_SEQNUM_H

#include <stdbool.h>
#include <stdint.h>

static inline bool ski_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

#endif
