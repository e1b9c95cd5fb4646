/* SPDX-License-Identifier: Apache-2.0 */
/* meter.c - see meter.h. */
#include "meter.h"

void meter_add_syncs(struct md_meter *meter)
{
    skua_balance_stats stats;

    skua_balance_stats_get(&stats, sizeof stats);
    meter->balancing += (double)(stats.sync_points - meter->syncs) * stats.seconds;
    meter->syncs = stats.sync_points;
}

void meter_start(struct md_meter *meter)
{
    meter_add_syncs(meter);
    meter->balancing = 0;
    meter->started   = skua_time();
}

double meter_waited(void)
{
    skua_stats stats;

    skua_stats_get(&stats, sizeof stats);
    return 1e-9 * (double)stats.idle_ns;
}

/* Lines of JSON.  `bytes` is the number of cells.
 *     step-Ppe       seconds per step on P PEs, after the warm-up
 *     idle-Ppe       the part of this time that is not work of cells and computes
 *     uneven-Ppe     the work of cells and computes of the busiest PE, relative to the mean
 *     waiting-Ppe    the part of this time in which a PE has nothing to run, the mean of all PEs
 *     balancing-Ppe  the part of this time from the last element's arrival at a sync point to the
 *                    first resume; PEs wait in it
 * leanmd.c adds interval-Ppe: seconds per step in the --migrate steps before step `bytes`. */
void meter_print(const struct md_meter *meter, const struct series *series, int64_t steps,
                 const skua_statistics *busy, double waited)
{
    double each = meter->seconds / (double)steps, idle = 1 - busy->mean / meter->seconds,
           uneven = busy->mean > 0 ? busy->max / busy->mean : 1;

    printf("%d PEs: %.1f us per step, idle %.1f %%, max/mean %.3f\n", skua_pes(), 1e6 * each,
           100 * idle, uneven);
    series_print(series, "step", each);
    series_print(series, "idle", idle);
    series_print(series, "uneven", uneven);
    series_print(series, "waiting", waited / (skua_pes() * meter->seconds));
    series_print(series, "balancing", meter->balancing / meter->seconds);
}
