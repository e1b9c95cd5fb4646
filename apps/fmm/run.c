/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - see run.h. */
#include "run.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "common/huge_pages.h"
#include "common/series.h"

#define FIELD_FACTOR 10  /* limit of the error of the field relative to that of the energy */
#define BODY_BYTES   400 /* memory of a solve for each body, about */
#define KEEP_MAX     ((size_t)1 << 30) /* bytes; more than INT_MAX would be trimmed */

static const char *const phase_names[PHASES] = {"tree", "up",   "near", "far",
                                                "down", "wait", "help"};

/* The fastest solve. */
struct run_best {
    double seconds, phase[PHASES];
};

static void run_progress(const struct comm *comm, int64_t done, int64_t all)
{
    if (comm->pe != 0)
        return;
    if (done < all)
        progress_show("solve %lld of %lld", (long long)done + 1, (long long)all);
    else
        progress_clear();
}

static void run_solve(struct solver *s, const struct fmm_options *o, struct run_best *best)
{
    struct comm      *comm  = s->comm;
    int64_t           first = o->particles * comm->pe / comm->pes;
    int64_t           n     = o->particles * (comm->pe + 1) / comm->pes - first;
    struct traveller *body  = bodies_create(&o->bodies, first, n);
    double            now, seconds;

    if (!body)
        comm->fail(comm, "there is not enough memory; use fewer --particles or more PEs");
    comm->done(comm);
    now = comm->time();
    solver_run(s, body, n);
    seconds = comm->time() - now;
    comm->max(comm, &seconds, 1);
    if (best->seconds == 0 || seconds < best->seconds) {
        best->seconds = seconds;
        memcpy(best->phase, s->seconds, sizeof best->phase);
        comm->sum(comm, best->phase, PHASES);
    }
}

static double run_energy(const struct solver *s)
{
    double sum = 0;

    for (int64_t i = 0; i < s->n; i++)
        sum += 0.5 * s->body[i].charge * s->field[i].potential;
    s->comm->sum(s->comm, &sum, 1);
    return sum;
}

static void run_print_series(const struct comm *comm, const struct fmm_options *o,
                             const struct run_best *best)
{
    struct series series = {"fmm", o->series, NULL, o->particles, comm->pes};

    series_print(&series, "step", best->seconds);
    for (int phase = 0; phase < PHASES; phase++)
        series_print(&series, phase_names[phase], best->phase[phase] / comm->pes);
}

static void run_print(const struct comm *comm, const struct fmm_options *o,
                      const struct run_best *best)
{
    printf(
        "%lld particles (%s, %s charges%s) on %d PEs, error %g: order %d, separation %d, leaves of "
        "%lld\n",
        (long long)o->particles, o->shape, o->charges, o->periodic ? ", periodic" : "", comm->pes,
        o->error, o->rule.order, o->rule.separation, (long long)o->rule.leaf);
    printf("mean seconds:");
    for (int phase = 0; phase < PHASES; phase++)
        printf(" %s %.4f%s", phase_names[phase], best->phase[phase] / comm->pes,
               phase < PHASES - 1 ? "," : "\n");
}

/* Prints the errors.  Returns true if they are within the limits. */
static bool run_print_errors(const struct fmm_options *o, const struct check_errors *e)
{
    bool good =
        e->energy <= o->error && e->potential <= o->error && e->field <= FIELD_FACTOR * o->error;

    printf("relative errors of %lld particles: energy %.2g, potential %.2g, field %.2g\n",
           (long long)e->bodies, e->energy, e->potential, e->field);
    if (!good)
        printf("an error exceeds its limit: %g, of the field %g\n", o->error,
               FIELD_FACTOR * o->error);
    return good;
}

/* The memory of a solve is advised in one piece: small pages that a smaller array has touched do
 * not become huge ones when a larger array reuses them. */
void run_keep_memory(const struct comm *comm, const struct fmm_options *o)
{
    size_t bytes = BODY_BYTES * (size_t)(o->particles / comm->pes);

    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    free(huge_malloc(bytes < KEEP_MAX ? bytes : KEEP_MAX));
}

bool run_fmm(struct comm *comm, const struct fmm_options *o)
{
    struct solver       s;
    struct run_best     best   = {0};
    struct check_errors errors = {0};
    double              energy;
    bool                good = true;

    run_keep_memory(comm, o);
    solver_create(&s, comm, &o->rule);
    for (int64_t i = 0; i < o->repeat; i++) {
        run_progress(comm, i, o->repeat);
        run_solve(&s, o, &best);
    }
    run_progress(comm, o->repeat, o->repeat);
    energy = run_energy(&s);
    if (o->check > 0)
        errors = check_solution(&s, o->particles, o->check, energy);
    if (comm->pe == 0) {
        run_print(comm, o, &best);
        if (o->check > 0)
            good = run_print_errors(o, &errors);
        printf("%.6f s, %.0f particles per second and PE\n", best.seconds,
               (double)o->particles / best.seconds / comm->pes);
        printf("result fmm: %lld particles, error %g, order %d; energy %.13g: %s\n",
               (long long)o->particles, o->error, o->rule.order, energy,
               o->check == 0 ? "not verified"
               : good        ? "passed"
                             : "FAILED");
        run_print_series(comm, o, &best);
    }
    solver_free(&s);
    return good;
}
