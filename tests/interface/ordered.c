/* SPDX-License-Identifier: Apache-2.0 */
/* ordered.c - see ordered.ci. */
#include "ordered.ci.h"

#define LENGTH 2000

static int freed; /* on PE 0 */

int released(void)
{
    return freed;
}

static void array_free(void *arg, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    free(arg);
    freed++;
}

void cast(Walker_proxy walkers, Walker_section some, int number)
{
    double *x = malloc(LENGTH * sizeof *x);

    for (int i = 0; i < LENGTH; i++)
        x[i] = number + i;
    if (number % 2) {
        Walker_all_nocopy_all(walkers, number, LENGTH, x, skua_done_call(array_free, x));
        Walker_some_section(some, number);
    } else {
        Walker_all_all(walkers, number);
        Walker_some_nocopy_section(some, number, LENGTH, x, skua_done_call(array_free, x));
    }
}

/* A walker migrates after each call, and the last quarter of them end half way. */
static void step(Walker *self, int number)
{
    int index = Walker_index(self);

    if (index >= elements - elements / 4 && number > casts / 2)
        skua_object_destroy(self);
    else
        skua_migrate(self, (skua_pe() + 1 + (index + number) % 3) % skua_pes());
}

static void check(int number, int n, const double *x)
{
    CHECK(n == LENGTH && x[0] == number && x[n - 1] == number + n - 1);
}

void Walker_on_create(Walker *self)
{
    (void)self;
}

void Walker_on_all(Walker *self, int number)
{
    CHECK(number == ++self->calls);
    step(self, number);
}

void Walker_on_all_nocopy(Walker *self, int number, int n, const double *x)
{
    check(number, n, x);
    Walker_on_all(self, number);
}

void Walker_on_some(Walker *self, int number)
{
    CHECK(number == ++self->casts);
    step(self, number);
}

void Walker_on_some_nocopy(Walker *self, int number, int n, const double *x)
{
    check(number, n, x);
    Walker_on_some(self, number);
}

void Walker_on_end(Walker *self)
{
    int sum = self->calls + self->casts;

    skua_contribute(self, SKUA_SUM, SKUA_INT32, &sum, 1, Main_seen_done(main_proxy));
}
