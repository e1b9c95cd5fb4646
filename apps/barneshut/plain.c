/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plain.c - barneshut without the runtime: one process, one tree, the same traversal and kernel.
 *
 * The peer of barneshut: its time, divided by that of a parallel run and its number of PEs, is the
 * parallel efficiency.  The lines of the result are identical.
 */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "common/series.h"
#include "options.h"
#include "whole_tree.h"

struct plain {
    struct barneshut_options options;
    struct whole_tree        whole;
    struct check_run         run;
};

/* The parser of options prints on PE 0 of a job and ends it; here it ends the process. */
void skua_exit(int code)
{
    exit(code);
}

int skua_pe(void)
{
    return 0;
}

static double plain_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void plain_require(bool good)
{
    if (good)
        return;
    fprintf(stderr, "barneshut-plain: cannot allocate memory; use fewer --particles\n");
    exit(1);
}

static int64_t plain_forces(struct plain *p)
{
    int64_t interactions = 0;

    for (int32_t i = 0; i < p->whole.tree.nodes; i++)
        interactions += whole_tree_forces(&p->whole, i, p->options.eps);
    return interactions;
}

static void plain_step(struct plain *p, int64_t step)
{
    int64_t          n    = p->options.particles;
    double           half = 0.5 * p->options.dt;
    struct body_sums sums = {0};

    if (step > 0) {
        bodies_kick(p->whole.body, p->whole.field, n, half);
        bodies_drift(p->whole.body, n, p->options.dt);
    }
    plain_require(whole_tree_build(&p->whole, &p->options));
    sums.interactions = plain_forces(p);
    if (step > 0)
        bodies_kick(p->whole.body, p->whole.field, n, half);
    bodies_add(&sums, p->whole.body, p->whole.field, n);
    check_add_step(&p->run, &sums, step);
}

static void plain_compare(struct plain *p)
{
    int64_t              n = p->options.particles, samples = 0;
    struct check_sample *sample = malloc((size_t)n * sizeof *sample);
    double              *direct = calloc((size_t)n, 3 * sizeof *direct);

    plain_require(sample && direct);
    for (int64_t k = 0; k < n; k++)
        if (check_is_sample(p->whole.body[k].id))
            sample[samples++] = check_sample_of(&p->whole.body[k], &p->whole.field[k]);
    check_add_direct(direct, sample, samples, p->whole.tree.point, n, p->options.eps);
    check_compare(&p->run, sample, direct, samples);
    free(sample);
    free(direct);
}

static void plain_report(const struct plain *p, double seconds)
{
    int64_t steps = p->options.steps;

    printf("%.6f s per step, %.1f million interactions per second\n", seconds / (double)steps,
           1e-6 * (double)(p->run.interactions - p->run.first) / seconds);
    series_print(&(struct series){"barneshut", p->options.series, NULL, p->options.particles, 1},
                 "step", seconds / (double)steps);
}

int main(int argc, char **argv)
{
    struct plain p = {0};
    double       started;
    bool         good;

    options_read(&p.options, argc, argv);
    plain_require(whole_tree_create(&p.whole, &p.options));
    plain_step(&p, 0);
    started = plain_time();
    for (int64_t step = 1; step <= p.options.steps; step++)
        plain_step(&p, step);
    started = plain_time() - started;
    if (!p.options.no_check)
        plain_compare(&p);
    good = check_report(&p.run, &p.options);
    if (p.options.steps > 0)
        plain_report(&p, started);
    tree_free(&p.whole.tree);
    free(p.whole.body);
    free(p.whole.field);
    return good ? 0 : 1;
}
