/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.c - the updaters of randomaccess.ci. */
#include <inttypes.h>
#include <stdio.h>

#include "common/series.h"
#include "randomaccess.ci.h"
#include "sequence.h"

#define PREFETCH 64 /* distance of prefetches, in updates */

/* ---- the table ---------------------------------------------------------------------- */

/* Words are distributed in order and evenly over any number of PEs: word i is on PE
 * floor(i * PEs / 2^m), which takes one multiplication. */
static inline int owner(uint64_t i, uint64_t pes, int log2)
{
    return (int)(i * pes >> log2);
}

void make_table(Updater *u)
{
    u->table = table_create(options.log2);
    u->total = PER_WORD * (u->table.end - u->table.first);
    u->laps  = PER_WORD * ((u->table.mask + 1) / (uint64_t)skua_pes() + 1) / (STEP * LAP) + 1;
}

/* ---- updates ------------------------------------------------------------------------- */

/* Updates words of this PE, prefetching each word some updates ahead.  (The index is relative to
 * the beginning of our table: a pointer to where word 0 would be saves a subtraction, but Neoverse
 * cores ignore prefetches relative to such a pointer.) */
void Updater_on_update(Updater *u, int n, const uint64_t *a)
{
    uint64_t *t = u->table.word, first = u->table.first, mask = u->table.mask;
    int       i = 0;

    for (; i + PREFETCH < n; i++) {
        __builtin_prefetch(&t[(a[i + PREFETCH] & mask) - first], 1);
        t[(a[i] & mask) - first] ^= a[i];
    }
    for (; i < n; i++)
        t[(a[i] & mask) - first] ^= a[i];
}

void begin_sequence(Updater *u)
{
    u->a     = sequence_at(PER_WORD * u->table.first);
    u->made  = 0;
    u->shown = skua_time();
}

/* Generates the next numbers of this PE's part of the sequence. */
void make_numbers(Updater *u)
{
    Updater_proxy all =
        Updater_of(u); /* local copies: the compiler knows that they do not change */
    uint64_t mask = u->table.mask, pes = (uint64_t)skua_pes(), a = u->a;
    uint64_t left = u->total - u->made, count = left < STEP ? left : STEP;
    int      log2 = options.log2;

    for (uint64_t i = 0; i < count; i++) {
        a = sequence_next(a);
        Updater_update(Updater_at(all, owner(a & mask, pes, log2)), a);
    }
    u->a = a;
    u->made += count;
}

/* Shows progress on a terminal, every second. */
void show_progress(Updater *u)
{
    if (skua_pe() != 0 || !progress_due(&u->shown, skua_time()))
        return;
    if (u->made == u->total)
        progress_clear();
    else
        progress_show("%3.0f %% of the updates", 100 * (double)u->made / (double)u->total);
}

/* ---- report ------------------------------------------------------------------------- */

void report(double seconds)
{
    double words = (double)(UINT64_C(1) << options.log2), rate = PER_WORD * words / seconds;

    printf("table of 2^%d words (%.1f MiB), %.0f updates, %d PEs\n", options.log2,
           words * sizeof(uint64_t) / (1 << 20), PER_WORD * words, skua_pes());
    printf("%.6f GUP/s, %.6f per PE; %.3f s\n", 1e-9 * rate, 1e-9 * rate / skua_pes(), seconds);
    series_print(&(struct series){"randomaccess", options.series, NULL, 8, skua_pes()}, "rate",
                 rate);
}

/* The benchmark permits one wrong word in a hundred; this program permits none. */
void report_errors(uint64_t errors, double seconds)
{
    printf("%" PRIu64 " errors; verified in %.3f s\n", errors, seconds);
    skua_exit(errors ? 1 : 0);
}
