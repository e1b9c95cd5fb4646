/* SPDX-License-Identifier: Apache-2.0 */
/* balance_meta.c - see balance_meta.h. */
#include "balance/balance_meta.h"

#include <string.h>

#define META_FIRST 0.05 /* of the mean: the least excess for which a balancing is tried first */
#define META_LONG  100  /* sync points that are looked ahead at most                         */

static void meta_push(struct ski_balance_meta *meta, double excess)
{
    memmove(meta->excess + 1, meta->excess, sizeof meta->excess - sizeof *meta->excess);
    meta->excess[0] = excess;
    if (meta->known < SKI_META_TREND)
        meta->known++;
}

/* Returns the growth of the excess from one sync point to the next: the slope of the line with the
 * least squares of errors. */
static double meta_slope(const struct ski_balance_meta *meta)
{
    double n = meta->known, middle = (n - 1) / 2, above = 0, below = 0;

    for (uint32_t i = 0; i < meta->known; i++) {
        double x = middle - i; /* the newest comes first */

        above += x * meta->excess[i];
        below += x * x;
    }
    return below > 0 ? above / below : 0;
}

/* Returns what a balancing gains at the next @p ahead sync points. */
static double meta_gain(const struct ski_balance_meta *meta, uint32_t ahead)
{
    double slope = meta_slope(meta), gain = 0;

    for (uint32_t i = 1; i <= ahead; i++) {
        double excess = meta->excess[0] + slope * i;

        if (excess > meta->rest)
            gain += excess - meta->rest;
    }
    return gain;
}

bool ski_balance_meta_pays(struct ski_balance_meta *meta, double max, double mean)
{
    double   excess = max > mean ? max - mean : 0;
    uint32_t ahead;

    meta_push(meta, excess);
    meta->since++;
    if (!meta->tried)
        return excess > META_FIRST * mean;
    if (meta->settling) {
        meta->settling = false;
        meta->rest     = excess;
        return false;
    }
    ahead = meta->since < META_LONG ? meta->since : META_LONG;
    return meta_gain(meta, ahead) > meta->cost;
}

void ski_balance_meta_balanced(struct ski_balance_meta *meta, double seconds)
{
    meta->tried    = true;
    meta->settling = true;
    meta->cost     = seconds;
    meta->known    = 0;
    meta->since    = 0;
}
