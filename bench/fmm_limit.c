/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fmm_limit.c - the limit of fmm: copies of a solve on one PE, which exchange nothing.  The
 * launcher of Skua starts and binds the processes; between the barriers of a measurement the
 * program does not call the runtime.
 *
 * The slowest copy counts.  The time of one copy alone, divided by that of as many as there are
 * CPUs, is the efficiency that the machine allows: CPUs share clocks, caches and memory.
 *
 * With PROBLEM, the particles of a problem, the time is that which the copies would take for so
 * many particles in all, since the work is proportional to their number.
 *
 * usage: bench-fmm_limit SERIES PARTICLES,SOLVES[,PROBLEM]
 */
#include <skua/skua.h>

#include "bench.h"
#include "bench_pieces.h"
#include "fmm/run.h"
#include "fmm/solve.h"

static void limit_sum_counts(struct comm *comm, int64_t *at, size_t n)
{
    (void)comm, (void)at, (void)n;
}

static void limit_reduce(struct comm *comm, double *at, size_t n)
{
    (void)comm, (void)at, (void)n;
}

static void limit_ignore(struct comm *comm)
{
    (void)comm;
}

static void limit_wait(struct comm *comm, enum transfer transfer)
{
    (void)comm, (void)transfer;
}

static void limit_fail(struct comm *comm, const char *why)
{
    (void)comm;
    skua_abort("fmm_limit: PE %d: %s", skua_pe(), why);
}

/* The communication of a PE that is alone: there is none. */
static struct comm limit_comm = {.pes        = 1,
                                 .sum_counts = limit_sum_counts,
                                 .sum        = limit_reduce,
                                 .max        = limit_reduce,
                                 .poll       = limit_ignore,
                                 .wait       = limit_wait,
                                 .done       = limit_ignore,
                                 .time       = bench_now,
                                 .fail       = limit_fail};

/* Returns the seconds of the slowest copy of a solve. */
static double limit_solve(struct solver *s, const struct fmm_options *o,
                          struct bench_barrier *barrier)
{
    struct traveller *body = bodies_create(&o->bodies, 0, o->particles);
    double            started;

    if (!body)
        limit_fail(s->comm, "there is not enough memory: use fewer particles");
    bench_barrier_wait(barrier);
    started = bench_now();
    solver_run(s, body, o->particles);
    bench_barrier_wait(barrier);
    return bench_largest(bench_now() - started);
}

static void limit_start(int argc, char **argv)
{
    char                 particles[48];
    int                  solves, n, problem, read;
    double               best = 0;
    struct fmm_options   options;
    struct bench_barrier barrier;
    struct solver        solver;

    read = argc < 3 ? 0 : sscanf(argv[2], "%d,%d,%d", &n, &solves, &problem);
    if (read < 2)
        skua_abort("usage: bench-fmm_limit SERIES PARTICLES,SOLVES[,PROBLEM]");
    snprintf(particles, sizeof particles, "--particles=%d", n);
    if (!options_read(&options, 2, (char *[]){argv[0], particles, NULL}))
        return;
    run_keep_memory(&limit_comm, &options);
    bench_barrier_init(&barrier);
    solver_create(&solver, &limit_comm, &options.rule);
    for (int i = 0; i < solves; i++) {
        double seconds = limit_solve(&solver, &options, &barrier);

        best = i == 0 || seconds < best ? seconds : best;
    }
    solver_free(&solver);
    if (read == 3)
        best *= (double)problem / ((double)n * skua_pes());
    bench_end_limit("fmm", argv[1], (size_t)(read == 3 ? problem : n), "step", best);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, limit_start);
}
