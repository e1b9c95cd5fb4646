/* SPDX-License-Identifier: Apache-2.0 */
/* variant.c - see variant.h. */
#include "common/variant.h"

#include <math.h>
#include <skua/skua.h>
#include <stdio.h>

#include "common/series.h"

static const char *const variant_name[] = {"messages", "channels", "lent"};

void variant_stop(double *best, double started)
{
    double seconds = skua_time() - started;

    if (*best == 0 || seconds < *best)
        *best = seconds;
    progress_clear();
}

static void print_gain(const double *best, int variant)
{
    double gain = 100 * (1 - best[variant] / best[MESSAGES]);

    printf("   %.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

static void report_variant(const double *best, int variant, int64_t steps,
                           const struct variant_series *series)
{
    double seconds = best[variant] / (double)steps;

    printf("%-8s  %10.1f us per step", variant_name[variant], 1e6 * seconds);
    if (variant != MESSAGES && best[MESSAGES] > 0)
        print_gain(best, variant);
    printf("\n");
    series_print(&(struct series){series->bench, series->name, variant_name[variant], series->size,
                                  skua_pes()},
                 "step", seconds);
}

void variant_report(const double *best, int64_t steps, const struct variant_series *series)
{
    for (int variant = 0; variant < VARIANTS; variant++)
        if (best[variant] > 0)
            report_variant(best, variant, steps, series);
}

void variant_progress(double *shown, int64_t step, int64_t steps)
{
    if (progress_due(shown, skua_time()))
        progress_show("%lld of %lld steps", (long long)step, (long long)steps);
}
