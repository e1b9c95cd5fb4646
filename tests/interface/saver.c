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

void saver_report(Saver *self, const skua_completion *done)
{
    skua_contribute(self, SKUA_SUM, SKUA_INT64, &self->sum, 1, *done);
}
