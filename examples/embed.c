/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c - a library that uses Skua inside a plain program. mean() is an ordinary function: its
 * caller does not use Skua and need not know that mean() runs on all PEs of the job.
 *
 * usage: embed    alone, with SKUA_THREADS=4, or under skuarun
 */
#include <skua/skua.h>
#include <stdio.h>

/* ---- the library -------------------------------------------------------------------------- */

static const double *library_values; /* the values of this process, for all of its PEs */
static int           library_count;
static double        library_mean;

/* Every PE sums up a part of the values of its process; then all PEs add up sums and counts. */
static void library_sum(int argc, char **argv)
{
    int           pes     = skua_process_pes(skua_process());
    int           me      = skua_pe() - skua_process_first(skua_process());
    double        mine[2] = {0, 0};
    const double *all;
    skua_future   sum = SKUA_FUTURE_INIT;

    (void)argc, (void)argv;
    for (int i = me; i < library_count; i += pes) {
        mine[0] += library_values[i];
        mine[1] += 1;
    }
    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, mine, 2, skua_done_future(&sum));
    all = skua_future_wait(&sum, NULL);
    if (all && me == 0)
        library_mean = all[0] / all[1];
    skua_future_clear(&sum);
}

/* Returns the mean of the values of all processes. All processes call it. */
static double mean(const double *values, int count)
{
    skua_init_params params = {.size = sizeof params, .start = library_sum};

    library_values = values;
    library_count  = count;
    if (skua_init(&params) != SKUA_OK)
        return 0;
    library_sum(0, NULL); /* runs on this PE; the others run it as their start function */
    skua_finalize();
    return library_mean;
}

/* ---- the program -------------------------------------------------------------------------- */

int main(void)
{
    double values[1000];

    for (int step = 1; step <= 3; step++) {
        for (int i = 0; i < 1000; i++)
            values[i] = step * i;
        printf("step %d: mean %g\n", step, mean(values, 1000));
    }
    return 0;
}
