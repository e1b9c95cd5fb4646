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

/** Prints the result, and ends the job.  The benchmark permits one wrong word in a hundred; this
 *  program permits none.  @p seconds is the time of the verification, if there was one. */
static inline void report_result(const struct randomaccess_options *options, uint64_t errors,
                                 double seconds)
{
    if (options->verify)
        printf("verified in %.3f s\n", seconds);
    printf("result randomaccess: %" PRIu64 " words, %" PRIu64 " updates, ",
           UINT64_C(1) << options->log2, (uint64_t)PER_WORD << options->log2);
    if (options->verify)
        printf("%" PRIu64 " errors: %s\n", errors, errors ? "FAILED" : "passed");
    else
        printf("not verified\n");
    skua_exit(errors ? 1 : 0);
}

#endif
