/* SPDX-License-Identifier: Apache-2.0 */
/* balance_table.c - see balance_table.h. */
#include "balance_table.h"

#include <inttypes.h>

#include "base/memory.h"
#include "bench/bars.h"

/* The longest printed amount, with its terminating 0. */
enum { BALANCE_AMOUNT = 24 };

/* Prints a number of bytes in five characters or fewer: 0, 999, 1.23k, 45.6M. */
static const char *balance_bytes(char text[BALANCE_AMOUNT], uint64_t bytes)
{
    static const char units[] = " kMGTPE";
    double            value   = (double)bytes;
    int               unit    = 0;

    while (value >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        snprintf(text, BALANCE_AMOUNT, "%" PRIu64, bytes);
    else
        snprintf(text, BALANCE_AMOUNT, "%.3g%c", value, units[unit]);
    return text;
}

static double balance_ratio(const struct ski_quality *quality)
{
    return quality->mean > 0 ? quality->max / quality->mean : 1;
}

static void balance_print_row(FILE *to, const struct balance_row *row)
{
    const struct ski_quality *q = &row->quality;
    char                      a[BALANCE_AMOUNT], b[BALANCE_AMOUNT], c[BALANCE_AMOUNT];

    fprintf(to, "%-13s %10.4g %10.4g %8.3f %8" PRIu32 " %8s %8s %8s", row->name, q->max, q->mean,
            balance_ratio(q), q->moved, balance_bytes(a, q->moved_bytes),
            balance_bytes(b, q->pe_bytes), balance_bytes(c, q->host_bytes));
    if (row->rounds)
        fprintf(to, " %10.3g  (a PE in %d rounds)", row->seconds, row->rounds);
    else if (row->seconds > 0)
        fprintf(to, " %10.3g", row->seconds);
    fprintf(to, "\n");
}

void balance_table_print(FILE *to, const struct balance_row *rows, int count)
{
    fprintf(to, "%-13s %10s %10s %8s %8s %8s %8s %8s %10s\n", "", "max", "mean", "", "objects",
            "bytes", "bytes", "bytes", "decision");
    fprintf(to, "%-13s %10s %10s %8s %8s %8s %8s %8s %10s\n", "strategy", "s", "s", "max/mean",
            "moved", "moved", "PE-PE", "hosts", "s");
    for (int k = 0; k < count; k++)
        balance_print_row(to, &rows[k]);
}

void balance_table_print_json(FILE *to, const struct balance_row *rows, int count)
{
    for (int k = 0; k < count; k++) {
        const struct ski_quality *q = &rows[k].quality;

        fprintf(to,
                "{\"strategy\":\"%s\",\"max\":%.9g,\"mean\":%.9g,\"ideal\":%.9g,"
                "\"max_over_mean\":%.6g,\"moved\":%" PRIu32 ",\"moved_bytes\":%" PRIu64
                ",\"pe_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64 ",\"hop_bytes\":%" PRIu64
                ",\"rounds\":%d,\"seconds\":%.6g}\n",
                rows[k].name, q->max, q->mean, q->ideal, balance_ratio(q), q->moved, q->moved_bytes,
                q->pe_bytes, q->host_bytes, q->hop_bytes, rows[k].rounds, rows[k].seconds);
    }
}

void balance_table_draw(FILE *to, const skua_strategy_problem *problem,
                        const struct balance_row *rows, int count)
{
    struct bars *panel      = ski_malloc((size_t)count * sizeof *panel);
    double      *background = ski_malloc((size_t)problem->pes * sizeof *background);

    for (int32_t p = 0; p < problem->pes; p++)
        background[p] = problem->pe[p].background;
    for (int k = 0; k < count; k++)
        panel[k] = (struct bars){rows[k].name, problem->pes, background, rows[k].times};
    bars_write(panel, count, to);
    free(background);
    free(panel);
}
