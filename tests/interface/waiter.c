/* SPDX-License-Identifier: Apache-2.0 */
/* waiter.c - the functions of the elements of waiter.ci. */
#include <skua/skua.h>

#include "waiter.ci.h"

static double waiter_value(int from, int64_t key, int i)
{
    return from * 1e6 + (double)key * 10 + i;
}

/* Returns the number of values of a note, some of which fit a cell. */
static int waiter_count(int64_t key)
{
    return (int)(key % 5) * 40 + 1;
}

void waiter_begin(Waiter *self, uint64_t seed)
{
    self->random = seed * 131 + (uint64_t)Waiter_index(self) + 1;
}

void waiter_move(Waiter *self)
{
    if (tap_random(&self->random) % 3 == 0)
        skua_migrate(self, (int)(tap_random(&self->random) % (unsigned)skua_pes()));
}

/* The right neighbour gets an even key, the left one an odd one. */
void waiter_send(Waiter *self)
{
    double x[200];
    int    here = Waiter_index(self);

    for (int side = 0; side < 2; side++) {
        int64_t key = 2 * self->step + side;
        int     to = (here + (side == 0 ? 1 : WAITERS - 1)) % WAITERS, n = waiter_count(key);

        for (int i = 0; i < n; i++)
            x[i] = waiter_value(here, key, i);
        Waiter_note(Waiter_at(Waiter_of(self), to), key, n, x);
        waiter_move(self);
    }
    if (self->step % 3 == 0)
        Waiter_plain(Waiter_at(Waiter_of(self), here));
}

void waiter_take(Waiter *self, int64_t key, int n, const double *x)
{
    int from = (Waiter_index(self) + (key % 2 == 0 ? WAITERS - 1 : 1)) % WAITERS;

    CHECK(key / 2 == self->step && n == waiter_count(key));
    for (int i = 0; i < n; i++)
        CHECK(x[i] == waiter_value(from, key, i));
    self->sum++;
    waiter_move(self);
}

void waiter_report(Waiter *self, const skua_completion *done)
{
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &self->sum, 1, *done);
}
