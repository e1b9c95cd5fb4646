/* SPDX-License-Identifier: Apache-2.0 */
/* randomaccess.c - the updaters of randomaccess.ci. */
#include "randomaccess.ci.h"
#include "sequence.h"

void make_table(Updater *u)
{
    u->table = table_create(options.log2);
    u->total = PER_WORD * (u->table.end - u->table.first);
    u->laps  = PER_WORD * ((u->table.mask + 1) / (uint64_t)skua_pes() + 1) / (STEP * LAP) + 1;
}

void Updater_on_update(Updater *u, int n, const uint64_t *a)
{
    table_update(&u->table, a, (size_t)n);
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
    /* Local copies: the compiler knows that they do not change. */
    Updater_proxy all  = Updater_of(u);
    uint64_t      mask = u->table.mask, pes = (uint64_t)skua_pes(), a = u->a;
    uint64_t      left = u->total - u->made, count = left < STEP ? left : STEP;
    int           log2 = options.log2;

    for (uint64_t i = 0; i < count; i++) {
        a = sequence_next(a);
        Updater_update(Updater_at(all, table_owner(a & mask, pes, log2)), a);
    }
    u->a = a;
    u->made += count;
}
