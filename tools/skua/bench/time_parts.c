/* SPDX-License-Identifier: Apache-2.0 */
/* time_parts.c - see time_parts.h. */
#include "time_parts.h"

#include <stdio.h>

struct time_parts time_parts_of(const struct results *results, const char *series, size_t bytes,
                                int pes)
{
    double step             = results_get_metric(results, series, bytes, "step-%dpe", pes),
           idle             = results_get_metric(results, series, bytes, "idle-%dpe", pes),
           uneven           = results_get_metric(results, series, bytes, "uneven-%dpe", pes),
           waiting          = results_get_metric(results, series, bytes, "waiting-%dpe", pes);
    struct time_parts parts = {.step = step, .work = step * (1 - idle)};

    if (step == 0 || uneven < 1)
        return (struct time_parts){0};
    parts.balancing = step * results_get_metric(results, series, bytes, "balancing-%dpe", pes);
    parts.uneven    = parts.work * (uneven - 1);
    parts.waiting   = step * waiting - parts.uneven - parts.balancing;
    if (parts.waiting < 0)
        parts.waiting = 0;
    parts.runtime = step - parts.work - parts.uneven - parts.balancing - parts.waiting;
    return parts;
}

void time_parts_print_head(void)
{
    printf("%-36s%7s%8s%8s%11s%9s%9s\n", "", "step", "work", "uneven", "balancing", "waiting",
           "runtime");
}

void time_parts_print(const struct time_parts *parts, double work, const char *what)
{
    if (parts->step == 0 || work <= 0)
        return;
    printf("%-36s%7.1f%8.1f%8.1f%11.1f%9.1f%9.1f\n", what, 100 * parts->step / work,
           100 * parts->work / work, 100 * parts->uneven / work, 100 * parts->balancing / work,
           100 * parts->waiting / work, 100 * parts->runtime / work);
}
