/* SPDX-License-Identifier: Apache-2.0 */
/* casts.c - see casts.ci. */
#include "casts.ci.h"

_Static_assert(CELLS <= KEEPERS, "see send_kept()");

#define MOST 256 /* numbers in a multicast or broadcast */

static int casts_count(int round)
{
    return 1 + round * 61 % MOST;
}

static double casts_value(int round, int way, int i)
{
    return round * 1e6 + way * 1e4 + i;
}

static void casts_fill(double *x, int round, int way)
{
    for (int i = 0; i < casts_count(round); i++)
        x[i] = casts_value(round, way, i);
}

void send_rounds(void)
{
    skua_index   even[CELLS / 2];
    Cell_section section;
    double       x[MOST];

    for (int i = 0; i < CELLS / 2; i++)
        even[i] = skua_index1(2 * i);
    section = Cell_section_of(cells, even, CELLS / 2);
    for (int round = ROUNDS - 1; round >= 0; round--) {
        casts_fill(x, round, 0);
        Cell_values_section(section, round, 0, casts_count(round), x);
        casts_fill(x, round, 1);
        Cell_values_all(cells, round, 1, casts_count(round), x);
    }
}

int check(int round, int way, int n, const double *x)
{
    if (n != casts_count(round))
        skua_abort("a message of round %d has %d numbers", round, n);
    for (int i = 0; i < n; i++)
        if (x[i] != casts_value(round, way, i))
            skua_abort("number %d of a message of round %d is %g", i, round, x[i]);
    return 1;
}

void send_kept(int round)
{
    static Keeper_section all;
    static Cell_section   watchers;
    skua_index            index[KEEPERS];
    double                x[MOST] = {0};

    for (int i = 0; i < KEEPERS; i++)
        index[i] = skua_index1(i);
    if (round == 0) {
        all      = Keeper_section_of(keepers, index, KEEPERS);
        watchers = Cell_section_of(cells, index, CELLS);
    }
    casts_fill(x, round, 4);
    Cell_watch_section(watchers, round, casts_count(round), x);
    for (int way = 2; way < (has_second(round) ? 4 : 3); way++) {
        casts_fill(x, round, way);
        Keeper_values_section(all, round, way, casts_count(round), x);
    }
}

void wait_for_answer(int cell)
{
    skua_future answer = SKUA_FUTURE_INIT;

    Cell_answer(Cell_at(cells, cell % CELLS), skua_done_future(&answer));
    skua_future_wait(&answer, NULL);
    skua_future_clear(&answer);
}

void Cell_on_watch(Cell *self, int64_t round, int n, const double *x)
{
    check((int)round, 4, n, x);
    wait_for_answer(Cell_index(self) + 1);
    check((int)round, 4, n, x);
    skua_contribute_nothing(self, Main_watched_done(boss));
}

void check_shared(const double *x)
{
    static _Thread_local const double *first;

    if (!first)
        first = x;
    if (x != first)
        skua_abort("a keeper on PE %d has a copy of the multicast", skua_pe());
}
