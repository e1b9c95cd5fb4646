/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance_meta.h - whether a balancing pays for itself: the mode `auto`.
 *
 * At each sync point the time that was lost since the one before is known: the *excess*, the load
 * of the PE that has most minus the mean.  A balancing is expected to bring the excess down to what
 * it was after the last one.  It costs what the last one took, and its effect is expected to last
 * as long as that of the last one did: as many sync points as have passed since.  The excess of
 * these is extrapolated from its trend, a line through the last few.  If the sum of what is gained
 * exceeds the cost, balancing pays. The first time, when the cost is unknown, it is tried if
 * a twentieth of the time is lost.
 *
 * So a program whose loads do not change is balanced once or twice, and one whose loads drift as
 * often as the drift has cost what a balancing costs.  No state but this struct: a pure function of
 * the series.
 */
#ifndef SKI_BALANCE_META_H
#define SKI_BALANCE_META_H

#include <stdbool.h>
#include <stdint.h>

#define SKI_META_TREND 4 /* sync points that the trend is taken from */

/* The history of the sync points so far. */
struct ski_balance_meta {
    bool     tried;                  /* there was a balancing, so cost and rest are known         */
    bool     settling;               /* the next excess is that which the last balancing has left */
    double   cost;                   /* of the last balancing, in seconds                         */
    double   rest;                   /* the excess that it has left                               */
    double   excess[SKI_META_TREND]; /* of the last sync points, the newest first                 */
    uint32_t known;                  /* of them                                                   */
    uint32_t since;                  /* sync points since the last balancing                      */
};

/** Records the loads since the last sync point: the largest of a PE, and the mean.  Returns whether
 * a balancing now is expected to pay. */
bool ski_balance_meta_pays(struct ski_balance_meta *meta, double max, double mean);

/** Records that a balancing has taken @p seconds. */
void ski_balance_meta_balanced(struct ski_balance_meta *meta, double seconds);

#endif
