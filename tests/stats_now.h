/* SPDX-License-Identifier: Apache-2.0 */
/* stats_now.h - returns the counters of the calling PE by value, for tests. */
#ifndef STATS_NOW_H
#define STATS_NOW_H

#include <skua/skua.h>

static inline skua_stats stats_now(void)
{
    skua_stats stats;

    skua_stats_get(&stats, sizeof stats);
    return stats;
}

#endif
