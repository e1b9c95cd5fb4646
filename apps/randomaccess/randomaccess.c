/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.c - the updaters of randomaccess.ci. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>

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

/* Returns the index of the first word of a PE. */
static uint64_t first_of(int pe)
{
    uint64_t pes = (uint64_t)skua_pes();

    return (((uint64_t)pe << options.log2) + pes - 1) / pes;
}

void make_table(Updater *u)
{
    size_t bytes;

    u->mask  = (UINT64_C(1) << options.log2) - 1;
    u->first = first_of(skua_pe());
    u->end   = first_of(skua_pe() + 1);
    u->total = PER_WORD * (u->end - u->first);
    u->laps  = PER_WORD * ((u->mask + 1) / (uint64_t)skua_pes() + 1) / (STEP * LAP) + 1;
    bytes    = (u->end - u->first + 1) * sizeof *u->table; /* + 1: a PE may have no word */
    u->table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (u->table == MAP_FAILED)
        skua_abort("cannot allocate %zu bytes of the table; use a smaller --log2", bytes);
    madvise(u->table, bytes, MADV_HUGEPAGE);
    for (uint64_t i = u->first; i < u->end; i++)
        u->table[i - u->first] = i;
}

uint64_t count_errors(const Updater *u)
{
    uint64_t errors = 0;

    for (uint64_t i = u->first; i < u->end; i++)
        errors += u->table[i - u->first] != i;
    return errors;
}

/* ---- updates ------------------------------------------------------------------------- */

/* Updates words of this PE, prefetching each word some updates ahead.  (The index is relative to
 * the beginning of our table: a pointer to where word 0 would be saves a subtraction, but Neoverse
 * cores ignore prefetches relative to such a pointer.) */
void Updater_on_update(Updater *u, int n, const uint64_t *a)
{
    uint64_t *t = u->table, first = u->first, mask = u->mask;
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
    u->a     = sequence_at(PER_WORD * u->first);
    u->made  = 0;
    u->shown = skua_time();
}

/* Generates the next numbers of this PE's part of the sequence. */
void make_numbers(Updater *u)
{
    Updater_proxy all  = Updater_of(u); /* local copies, which the compiler knows not to change */
    uint64_t      mask = u->mask, pes = (uint64_t)skua_pes(), a = u->a;
    uint64_t      left = u->total - u->made, count = left < STEP ? left : STEP;
    int           log2 = options.log2;

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
    double now = skua_time();

    if (skua_pe() != 0 || now - u->shown < 1)
        return;
    u->shown = now;
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
