/* SPDX-License-Identifier: Apache-2.0 */
/* quality.h - how good a mapping of objects to PEs is: times, moves, traffic. */
#ifndef SKI_QUALITY_H
#define SKI_QUALITY_H

#include <skua/strategy.h>

/* The quality of a mapping. */
struct ski_quality {
    double max, mean, ideal; /* seconds: of the longest PE, of all, and what is possible at best */
    uint32_t moved;          /* objects that are elsewhere than in the problem                   */
    uint64_t moved_bytes;    /* their size                                                       */
    uint64_t pe_bytes;       /* of messages between PEs                                          */
    uint64_t host_bytes;     /* of messages between hosts                                        */
    uint64_t hop_bytes;      /* of messages between hosts, times their distance                  */
};

/** Computes the quality of the mapping @p to, or of the present one if it is NULL.  If @p times is
 *  not NULL, the time of each PE is written to it. */
struct ski_quality ski_quality_of(const skua_strategy_problem *problem, const int32_t *to,
                                  double *times);

#endif
