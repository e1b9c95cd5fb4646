/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pi.c - pi by numerical integration: each PE sums its share, and a reduction adds the shares.
 *
 * A user thread waits for the result, so the program reads from top to bottom.
 */
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>

static long steps = 100000000;

static void compute(void *arg)
{
    skua_future   total = SKUA_FUTURE_INIT;
    double        start = skua_time(), h = 1.0 / (double)steps, sum = 0;
    const double *pi;

    (void)arg;
    for (long i = skua_pe(); i < steps; i += skua_pes()) {
        double x = h * ((double)i + 0.5);
        sum += 4 * h / (1 + x * x);
    }
    skua_allreduce(SKUA_SUM, SKUA_DOUBLE, &sum, 1, skua_done_future(&total));
    pi = skua_future_wait(&total, NULL);
    if (skua_pe() == 0) {
        printf("pi is about %.12f; %ld steps took %.3f s on %d PEs\n", *pi, steps,
               skua_time() - start, skua_pes());
        skua_exit(0);
    }
    skua_future_clear(&total);
}

static void begin(int argc, char **argv)
{
    (void)argc, (void)argv;
    skua_thread_detach(skua_thread_create(compute, NULL, 0));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        steps = atol(argv[1]);
    return skua_main(argc, argv, begin);
}
