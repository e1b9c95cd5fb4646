/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - where the time of leanmd goes, for `skua bench`. */
#ifndef METER_H
#define METER_H

#include <skua/skua.h>

#include "common/series.h"

/** The clock of the steps after the warm-up, on PE 0. */
struct md_meter {
    double   started, seconds; /* start and duration of these steps   */
    double   balancing;        /* seconds of the sync points of them  */
    uint64_t syncs;            /* sync points so far                  */
};

/** Starts the clock. */
void meter_start(struct md_meter *meter);

/** Adds the sync points since the last call, each as long as the last one. */
void meter_add_syncs(struct md_meter *meter);

/** Returns the seconds that this PE has had nothing to run. */
double meter_waited(void);

/** Prints the time of each of @p steps steps.  @p busy is the work of the PEs, @p waited the sum of
 *  the times in which they had nothing to run, in seconds. */
void meter_print(const struct md_meter *meter, const struct series *series, int64_t steps,
                 const skua_statistics *busy, double waited);

#endif
