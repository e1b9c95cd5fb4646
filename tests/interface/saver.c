/* SPDX-License-Identifier: Apache-2.0 */
/* saver.c - the functions of the elements of saver.ci. */
#include <skua/skua.h>

#include "saver.ci.h"

void saver_add(Saver *self, int64_t key, int64_t x)
{
    CHECK(key == self->step);
    self->sum += x * (self->step + 1);
}

void saver_add_row(Saver *self, int64_t key, int n, const double *v)
{
    CHECK(key == self->step);
    for (int i = 0; i < n; i++)
        self->sum += (int64_t)v[i] * (i + 1);
}

/* Each saver uses the multicast in place, as all of them wait for it: those on one PE have one
 * message. */
void saver_check_shared(Saver *self, const double *v)
{
    Saver_proxy all = Saver_of(self);

    self->shared = (uintptr_t)v;
    for (int i = 0; i < SAVER_ROWS * SAVER_COLUMNS; i++) {
        skua_index   index = skua_index2(i / SAVER_COLUMNS, i % SAVER_COLUMNS);
        const Saver *other = skua_object_local(skua_element(all.all, index));

        CHECK(!other || other->shared == 0 || other->shared == self->shared);
    }
}

void saver_add_kept(Saver *self, int n, const double *v)
{
    for (int i = 0; i < n; i++)
        self->sum += (int64_t)v[i] * (n - i);
}

void Teller_on_create(Teller *self)
{
    (void)self;
}

/* A member that was restored from a checkpoint receives items, too. */
void Teller_on_item(Teller *self, int64_t items, skua_completion done)
{
    CHECK(self->items == items);
    self->items++;
    skua_complete(done, NULL, 0);
}

void saver_report(Saver *self, const skua_completion *done)
{
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &self->sum, 1, *done);
}
