/* SPDX-License-Identifier: Apache-2.0 */
/* barneshut.c - the chare Main and shared functions; see barneshut.ci. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barneshut.ci.h"
#include "common/series.h"
#include "common/variant.h"

/* ---- shared functions ------------------------------------------------------------------ */

Domain *domain_here(void)
{
    return Domain_here(Domain_at(domains, skua_pe()));
}

/* On average a cell contains 0.6 times its largest number of particles, so most Pieces own one
 * cell. */
int64_t choose_pieces(void)
{
    int64_t count = 2 * options.particles / options.per_piece;

    return count < skua_pes() ? skua_pes() : count;
}

int64_t pieces_of_job(void)
{
    return options.pieces;
}

int64_t piece_of_cell(const Domain *d, int64_t cell)
{
    return cell * pieces_of_job() / d->cells.count;
}

int64_t piece_first_cell(const Domain *d, int64_t piece)
{
    return (piece * d->cells.count + pieces_of_job() - 1) / pieces_of_job();
}

static void *require_memory(void *memory)
{
    if (!memory)
        skua_abort("cannot allocate memory; use fewer --particles");
    return memory;
}

void *allocate(int64_t count, size_t bytes)
{
    return require_memory(calloc(count > 0 ? (size_t)count : 1, bytes));
}

void *grow(void *memory, int64_t count, int64_t *room, size_t bytes)
{
    if (count <= *room)
        return memory;
    *room = count + *room / 2;
    return require_memory(realloc(memory, (size_t)*room * bytes));
}

/* ---- Main ------------------------------------------------------------------------------ */

void add_step(Main *m, struct body_sums sums, int64_t step)
{
    check_add_step(&m->run, &sums, step);
    if (step == 0)
        m->started = skua_time();
    m->seconds = skua_time() - m->started;
    variant_progress(&m->shown, step, options.steps);
}

void keep_samples(Main *m, int count, const struct check_sample *sample)
{
    Samples *samples = Samples_new((size_t)count);

    m->samples = count;
    m->sample  = allocate(count, sizeof *sample);
    memcpy(m->sample, sample, (size_t)count * sizeof *sample);
    memcpy(samples->sample, sample, (size_t)count * sizeof *sample);
    Domain_direct_all(domains, samples);
}

void compare_samples(Main *m, const double *direct)
{
    check_compare(&m->run, m->sample, direct, m->samples);
    free(m->sample);
}

static void report_times(const Main *m)
{
    const struct domain_times *t     = &m->times;
    double                     steps = (double)options.steps, all = steps * skua_pes();
    double                     rate = (double)(m->run.interactions - m->run.first) / m->seconds;

    printf("%lld pieces on %d PEs: %.6f s per step: decompose %.6f, build %.6f, forces %.6f\n",
           (long long)pieces_of_job(), skua_pes(), m->seconds / steps, t->decompose / all,
           t->build / all, t->forces / all);
    printf(
        "%.1f million interactions per second; idle %.1f %%; %.0f requests per step, %.0f merged\n",
        1e-6 * rate, 100 * (1 - t->busy / (m->seconds * skua_pes())), t->requests / steps,
        t->merged / steps);
    series_print(&(struct series){"barneshut", options.series, NULL, options.particles, skua_pes()},
                 "step", m->seconds / steps);
}

void report(const Main *m)
{
    bool good = check_report(&m->run, &options);

    if (options.steps > 0)
        report_times(m);
    skua_exit(good ? 0 : 1);
}
