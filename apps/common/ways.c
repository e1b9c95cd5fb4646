/* SPDX-License-Identifier: Apache-2.0 */
/* ways.c - see ways.h. */
#include "common/ways.h"

#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <unistd.h>

static const char *const way_name[] = {"messages", "channels", "lent"};

void ways_stop(double *best, double started)
{
    double seconds = skua_time() - started;

    if (*best == 0 || seconds < *best)
        *best = seconds;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%32s\r", ""); /* no progress any more */
}

static void print_gain(const double *best, int way)
{
    double gain = 100 * (1 - best[way] / best[MESSAGES]);

    printf("   %.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

static void report_way(const double *best, int way, int64_t steps, const struct ways_series *series)
{
    double seconds = best[way] / (double)steps;

    printf("%-8s  %10.1f us a step", way_name[way], 1e6 * seconds);
    if (way != MESSAGES && best[MESSAGES] > 0)
        print_gain(best, way);
    printf("\n");
    if (series->name[0])
        printf("{\"bench\":\"%s\",\"series\":\"%s-%s\",\"bytes\":%lld,\"metric\":\"step-%dpe\","
               "\"value\":%.6g}\n",
               series->bench, series->name, way_name[way], (long long)series->size, skua_pes(),
               seconds);
}

void ways_report(const double *best, int64_t steps, const struct ways_series *series)
{
    for (int way = 0; way < WAYS; way++)
        if (best[way] > 0)
            report_way(best, way, steps, series);
}

void ways_progress(double *shown, int64_t step, int64_t steps)
{
    double now = skua_time();

    if (now - *shown < 1)
        return;
    *shown = now;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld of %lld steps ", (long long)step, (long long)steps);
}
