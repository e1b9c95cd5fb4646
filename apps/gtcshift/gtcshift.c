/* SPDX-License-Identifier: Apache-2.0 */
/* gtcshift.c - the steps, their check and their times; see gtcshift.h. */
#include "gtcshift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/allreduce.h"
#include "common/series.h"

#define SHIFTS_PER_STEP 2 /* substeps of a Runge-Kutta step of second order */

static const struct shift_protocol *const protocols[SHIFT_VARIANTS] = {
    &shift_messages, &shift_pscw, &shift_signal, &shift_pipelined};

/* The measurements of a protocol, combined over all PEs. */
struct shift_times {
    double shift;         /* seconds of a shift                              */
    double phase[PHASES]; /* seconds in each phase of a shift, mean over PEs */
    double moved;         /* number of particles moved in a shift            */
};

static skua_pe_data shift_key;

struct shift *shift_self(void)
{
    return *(struct shift **)skua_pe_data_get(shift_key);
}

/* ---- memory of a domain ------------------------------------------------------------------- */

int shift_owner(int domain)
{
    return domain % skua_pes();
}

/* Returns the bytes of the receive buffer of one side; pscw uses both as one buffer. */
static size_t shift_buffer_bytes(const struct shift *shift)
{
    size_t particles =
        (size_t)particles_leaving_max(shift->options.particles, (int)shift->options.domains);
    size_t bytes = particles * PARTICLE_FIELDS * sizeof(double) + sizeof(struct shift_packed);

    return (bytes + 127) / 128 * 128;
}

static size_t shift_domain_bytes(const struct shift *shift)
{
    size_t fields = PARTICLE_FIELDS *
                    (size_t)particles_room(shift->options.particles, (int)shift->options.domains);

    return (shift_field_offset(shift) + fields * sizeof(double) + 127) / 128 * 128;
}

static size_t shift_counts_bytes(const struct shift *shift)
{
    size_t bytes =
        sizeof(struct shift_counts) + shift_domains_most(shift) * sizeof(int64_t[SHIFT_SIDES]);

    return (bytes + 127) / 128 * 128;
}

/* Returns the address of the memory of a domain. */
static skua_gaddr shift_at(const struct shift *shift, int domain)
{
    return skua_at(shift->region, shift_owner(domain),
                   (size_t)(domain / skua_pes()) * shift->domain_bytes);
}

static void shift_make_domain(struct shift *shift, struct shift_domain *d, int number)
{
    char *memory = skua_gaddr_local(shift_at(shift, number));

    if (!particles_make(&d->p, (double *)(memory + shift_field_offset(shift)), number,
                        (int)shift->options.domains, shift->options.particles))
        skua_abort("cannot allocate the lists of a domain");
    d->slot = (struct shift_slot *)memory;
    for (int side = 0; side < SHIFT_SIDES; side++) {
        d->buffer[side] = memory + shift_buffer_offset(shift, side);
        d->sent[side]   = malloc(shift->buffer_bytes);
        d->there[side]  = shift_at(shift, particles_neighbour(&d->p, side));
        d->near[side]   = skua_gaddr_local(d->there[side]);
        if (!d->sent[side])
            skua_abort("cannot allocate the buffers of a domain");
    }
}

/* Returns the peer with number @p pe; adds it if there is none. */
static struct shift_peer *shift_make_peer(struct shift *shift, int pe)
{
    struct shift_peer *peer = shift->peer;

    while (peer < shift->peer + shift->peers && peer->pe != pe)
        peer++;
    if (peer < shift->peer + shift->peers)
        return peer;
    shift->peers++;
    peer->pe    = pe;
    peer->there = skua_at(shift->region, pe, shift_counts_offset(shift, skua_pe()));
    peer->here =
        skua_gaddr_local(skua_at(shift->region, skua_pe(), shift_counts_offset(shift, pe)));
    peer->sent = calloc(1, shift->counts_bytes);
    if (!peer->sent)
        skua_abort("cannot allocate the numbers of particles for PE %d", pe);
    return peer;
}

static void shift_make_peers(struct shift *shift)
{
    shift->peer = calloc((size_t)shift->domains * SHIFT_SIDES + 1, sizeof *shift->peer);
    if (!shift->peer)
        skua_abort("cannot allocate the state of the neighbours");
    for (int i = 0; i < shift->domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            shift->domain[i].peer[side] =
                shift_make_peer(shift, shift_owner(particles_neighbour(&shift->domain[i].p, side)));
}

static void shift_make(struct shift *shift)
{
    int domains = (int)shift->options.domains, pes = skua_pes();

    shift->buffer_bytes = shift_buffer_bytes(shift);
    shift->domain_bytes = shift_domain_bytes(shift);
    shift->counts_bytes = shift_counts_bytes(shift);
    shift->domains      = (domains - skua_pe() + pes - 1) / pes;
    shift->domain       = calloc((size_t)shift->domains, sizeof *shift->domain);
    if (!shift->domain || skua_region_create(shift_counts_offset(shift, pes), &shift->region))
        skua_abort("cannot allocate %d domains; use a smaller --class", shift->domains);
    for (int i = 0; i < shift->domains; i++)
        shift_make_domain(shift, &shift->domain[i], skua_pe() + i * pes);
    shift_make_peers(shift);
}

static void shift_free(struct shift *shift)
{
    for (int i = 0; i < shift->domains; i++) {
        for (int side = 0; side < SHIFT_SIDES; side++)
            free(shift->domain[i].sent[side]);
        particles_free(&shift->domain[i].p);
    }
    for (int i = 0; i < shift->peers; i++)
        free(shift->peer[i].sent);
    free(shift->peer);
    free(shift->domain);
}

/* ---- arrivals ----------------------------------------------------------------------------- */

void shift_check_count(const struct shift_domain *d, int64_t count)
{
    if (count < 0 || count > d->p.most_leaving)
        skua_abort("domain %d was told of %lld particles from a neighbour", d->p.domain,
                   (long long)count);
}

void shift_append(struct shift_domain *d, const double *from, int64_t count)
{
    if (count < 0 || count > d->p.room - d->p.hi)
        skua_abort("domain %d has no room for %lld particles", d->p.domain, (long long)count);
    particles_unpack(&d->p, d->p.hi, from, count);
    d->p.hi += count;
    d->fresh[1][1] = d->p.hi;
}

/* ---- the shift ---------------------------------------------------------------------------- */

/* Finds the particles that are to move on: among those that arrived, at first among all. */
static uint64_t shift_scan(struct shift *shift)
{
    uint64_t leaving = 0;

    for (int i = 0; i < shift->domains; i++) {
        struct shift_domain *d = &shift->domain[i];

        d->p.leaving[SHIFT_LEFT].count = d->p.leaving[SHIFT_RIGHT].count = 0;
        for (int r = 0; r < 2; r++) {
            if (!particles_scan(&d->p, d->fresh[r][0], d->fresh[r][1]))
                skua_abort("more than %lld particles leave domain %d at once",
                           (long long)d->p.most_leaving, d->p.domain);
            d->fresh[r][0] = d->fresh[r][1] = d->p.hi;
        }
        leaving += (uint64_t)(d->p.leaving[SHIFT_LEFT].count + d->p.leaving[SHIFT_RIGHT].count);
    }
    stopwatch_lap(&shift->watch, PHASE_SCANNING);
    return leaving;
}

/* Returns the number of particles that this PE has sent. */
static uint64_t shift_all(struct shift *shift, const struct shift_protocol *protocol)
{
    uint64_t leaving, sent = 0;

    stopwatch_start(&shift->watch);
    for (int i = 0; i < shift->domains; i++)
        memcpy(shift->domain[i].fresh,
               (int64_t[2][2]){{shift->domain[i].p.origin, shift->domain[i].p.hi}},
               sizeof shift->domain[i].fresh);
    leaving = shift_scan(shift);
    for (int round = 0; round <= shift->options.domains; round++) {
        uint64_t all = round == 0 ? 1 : allreduce_uint64(SKUA_SUM, leaving);

        stopwatch_lap(&shift->watch, PHASE_IMBALANCE);
        if (all == 0)
            return sent;
        sent += leaving;
        protocol->exchange(shift);
        shift->rounds++;
        leaving = shift_scan(shift);
    }
    skua_abort("particles still move after %lld rounds", (long long)shift->options.domains);
}

/* ---- measurement -------------------------------------------------------------------------- */

/* Resets all domains to their initial particles. */
static void shift_reset(struct shift *shift)
{
    skua_sync();
    shift->rounds = 0;
    memset((char *)skua_region_local(shift->region) + shift_counts_offset(shift, 0), 0,
           (size_t)skua_pes() * shift->counts_bytes);
    for (int i = 0; i < shift->domains; i++) {
        struct shift_domain *d = &shift->domain[i];

        particles_fill(&d->p, shift->options.particles);
        memset(d->slot, 0, SHIFT_SIDES * sizeof *d->slot);
    }
    skua_sync();
}

/* Shows progress on a terminal, once a second. */
static void shift_progress(const char *name, int64_t step, int64_t steps)
{
    static _Thread_local double shown;

    if (skua_pe() == 0 && progress_due(&shown, skua_time()))
        progress_show("%s: %lld of %lld steps", name, (long long)step, (long long)steps);
}

/* Moves and shifts the particles, and removes the holes. Returns the seconds of the shift on this
 * PE. */
static double shift_substep(struct shift *shift, const struct shift_protocol *protocol,
                            uint64_t *moved)
{
    double begin, seconds;

    for (int i = 0; i < shift->domains; i++)
        particles_move(&shift->domain[i].p);
    skua_sync();
    begin = stopwatch_now();
    *moved += shift_all(shift, protocol);
    seconds = stopwatch_now() - begin;
    for (int i = 0; i < shift->domains; i++)
        if (!particles_compact(&shift->domain[i].p))
            skua_abort("domain %d has no room for the particles that it received",
                       shift->domain[i].p.domain);
    begin = stopwatch_now();
    if (protocol->settled)
        protocol->settled(shift);
    return seconds + stopwatch_now() - begin;
}

/* Runs all steps of one protocol; @p watched steps measure the phases. */
static void shift_run(struct shift *shift, const struct shift_protocol *protocol, bool watched,
                      struct shift_times *times)
{
    int64_t  shifts  = SHIFTS_PER_STEP * shift->options.steps;
    double   seconds = 0;
    uint64_t moved   = 0;

    shift_reset(shift);
    if (protocol->open)
        protocol->open(shift);
    shift->watch = (struct stopwatch){.on = watched};
    for (int64_t i = 0; i < shifts; i++) {
        seconds += shift_substep(shift, protocol, &moved);
        shift_progress(protocol->name, i / SHIFTS_PER_STEP, shift->options.steps);
    }
    seconds      = allreduce_double(SKUA_MAX, seconds) / (double)shifts;
    times->moved = allreduce_double(SKUA_SUM, (double)moved) / (double)shifts;
    if (!watched && (times->shift == 0 || seconds < times->shift))
        times->shift = seconds;
    for (int p = 0; p < PHASES && watched; p++)
        times->phase[p] =
            allreduce_double(SKUA_SUM, shift->watch.seconds[p]) / skua_pes() / (double)shifts;
}

/* ---- check -------------------------------------------------------------------------------- */

static struct particle_sum shift_total(struct particle_sum sum)
{
    return (struct particle_sum){allreduce_uint64(SKUA_SUM, sum.count),
                                 allreduce_uint64(SKUA_SUM, sum.hash),
                                 allreduce_uint64(SKUA_SUM, sum.outside)};
}

/* Returns the sums over the particles of all domains. */
static struct particle_sum shift_particles(const struct shift *shift)
{
    struct particle_sum sum = {0};

    for (int i = 0; i < shift->domains; i++)
        particles_add(&shift->domain[i].p, &sum);
    return shift_total(sum);
}

/* Returns the sums that the particles of all domains must have after all steps. */
static struct particle_sum shift_expected(const struct shift *shift)
{
    struct particle_sum sum = {0};

    for (int i = 0; i < shift->domains; i++)
        particles_expect(shift->domain[i].p.domain, (int)shift->options.domains,
                         shift->options.particles, SHIFTS_PER_STEP * shift->options.steps, &sum);
    return shift_total(sum);
}

static bool shift_check(const struct shift *shift, const struct shift_protocol *protocol,
                        const struct particle_sum *expected)
{
    struct particle_sum found = shift_particles(shift);
    bool good = found.count == expected->count && found.hash == expected->hash && !found.outside;

    if (!good && skua_pe() == 0)
        printf("%s: %llu particles of %llu, %llu outside their domain, checksums %016llx and "
               "%016llx\n",
               protocol->name, (unsigned long long)found.count, (unsigned long long)expected->count,
               (unsigned long long)found.outside, (unsigned long long)found.hash,
               (unsigned long long)expected->hash);
    return good;
}

/* ---- report ------------------------------------------------------------------------------- */

static void shift_print_json(const struct shift *shift, int v, const char *metric, double value)
{
    const struct gtcshift_options *o = &shift->options;

    series_print(&(struct series){"gtcshift", o->series, protocols[v]->name,
                                  o->particles * o->domains, skua_pes()},
                 metric, value);
}

static void shift_print_times(const struct shift *shift, int v, const struct shift_times *times)
{
    static const char *const phase[PHASES] = {"scanning", "packing", "comm", "unpacking",
                                              "imbalance"};

    printf("%-10s%12.2f", protocols[v]->name, 1e6 * times->shift);
    for (int p = 0; p < PHASES; p++)
        printf("%11.2f", 1e6 * times->phase[p]);
    printf("\n");
    shift_print_json(shift, v, "step", times->shift);
    for (int p = 0; p < PHASES; p++)
        shift_print_json(shift, v, phase[p], times->phase[p]);
}

static void shift_report(const struct shift *shift, const struct shift_times *times,
                         const struct particle_sum *sum, bool good)
{
    const struct gtcshift_options *o = &shift->options;

    progress_clear();
    printf("%lld domains of %lld particles, %d PEs\n\n%-10s%12s%11s%11s%11s%11s%11s\n",
           (long long)o->domains, (long long)o->particles, skua_pes(), "us", "a shift", "scanning",
           "packing", "comm", "unpacking", "imbalance");
    for (int v = 0; v < SHIFT_VARIANTS; v++)
        if (o->variants[v])
            shift_print_times(shift, v, &times[v]);
    for (int v = 0; v < SHIFT_VARIANTS; v++)
        if (o->variants[v]) {
            printf("%.1f particles move in a shift\n", times[v].moved);
            break;
        }
    printf("result gtcshift: %lld domains, %llu particles, %lld steps, checksum %016llx: %s\n",
           (long long)o->domains, (unsigned long long)sum->count, (long long)o->steps,
           (unsigned long long)sum->hash, good ? "passed" : "FAILED");
}

/* ---- the program -------------------------------------------------------------------------- */

static void shift_main(struct shift *shift)
{
    struct shift_times  times[SHIFT_VARIANTS] = {0};
    struct particle_sum expected;
    bool                good = true;

    shift_make(shift);
    expected = shift_expected(shift);
    /* The phases of the last run are measured. */
    for (int64_t run = 0; run <= shift->options.repeat; run++)
        for (int v = 0; v < SHIFT_VARIANTS; v++)
            if (shift->options.variants[v]) {
                shift_run(shift, protocols[v], run == shift->options.repeat, &times[v]);
                good = shift_check(shift, protocols[v], &expected) && good;
            }
    skua_sync();
    if (skua_pe() == 0) {
        shift_report(shift, times, &expected, good);
        skua_exit(good ? 0 : 1);
    }
    skua_run(); /* serves the other PEs until the job ends */
    shift_free(shift);
}

static void shift_start(int argc, char **argv)
{
    struct shift *shift = calloc(1, sizeof *shift);

    if (!shift)
        skua_abort("cannot allocate the state of a PE");
    *(struct shift **)skua_pe_data_get(shift_key) = shift;
    if (options_read(&shift->options, argc, argv))
        shift_main(shift);
    free(shift);
}

int main(int argc, char **argv)
{
    shift_key = skua_pe_data_register(sizeof(struct shift *));
    shift_messages_register();
    return skua_main(argc, argv, shift_start);
}
