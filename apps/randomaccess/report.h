/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what randomaccess prints: its progress on a terminal, and its results. */
#ifndef REPORT_H
#define REPORT_H

#include <inttypes.h>
#include <stdio.h>

#include "common/series.h"
#include "options.h"
#include "table.h"

/** Shows on PE 0, every second, how many numbers it has @p made; *@p shown is the time of the last
 *  output. */
static inline void report_progress(double *shown, uint64_t made, uint64_t total)
{
    if (skua_pe() != 0 || !progress_due(shown, skua_time()))
        return;
    if (made == total)
        progress_clear();
    else
        progress_show("%3.0f %% of the updates", 100 * (double)made / (double)total);
}

/** Prints the rate of all updates in @p seconds. */
static inline void report_rate(const struct randomaccess_options *options, double seconds)
{
    double words = (double)(UINT64_C(1) << options->log2), rate = PER_WORD * words / seconds;

    printf("table of 2^%d words (%.1f MiB), %.0f updates, %d PEs\n", options->log2,
           words * sizeof(uint64_t) / (1 << 20), PER_WORD * words, skua_pes());
    printf("%.6f GUP/s, %.6f per PE; %.3f s\n", 1e-9 * rate, 1e-9 * rate / skua_pes(), seconds);
    series_print(&(struct series){"randomaccess", options->series, NULL, 8, skua_pes()}, "rate",
                 rate);
}

/** Prints the number of wrong words, and ends the job.  The benchmark permits one wrong word in a
 *  hundred; this program permits none. */
static inline void report_errors(uint64_t errors, double seconds)
{
    printf("%" PRIu64 " errors; verified in %.3f s\n", errors, seconds);
    skua_exit(errors ? 1 : 0);
}

#endif
