/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gtcshift_limit.c - the limit of gtcshift: its shift by copies in shared memory.  The launcher of
 * Skua starts and binds the processes; between the barriers of a measurement the program does not
 * call the runtime.
 *
 * In a round a PE packs the particles that leave each of its domains into a buffer of its piece,
 * and unpacks those of the neighbouring domains where they are.  A sum over all PEs, through
 * memory that each PE writes for itself, ends the round and tells whether there is another one; so
 * one buffer for each direction suffices.  Particles, packing and the check are those of the
 * application.
 *
 *   buffers   `packed` release -> `packed` acquire, of the PE of a neighbour
 *   sums      the barrier; those of two rounds are in different memory
 *
 * usage: bench-gtcshift_limit SERIES PARTICLES,DOMAINS,STEPS,REPEAT
 */
#include <skua/skua.h>

#include <math.h>

#include "bench.h"
#include "bench_pieces.h"
#include "gtcshift/particles.h"

#define LIMIT_PES    256
#define LIMIT_SHIFTS 2 /* in a step, as in the application */

/* The particles that a domain sends to both sides. */
struct limit_counts {
    int64_t count[SHIFT_SIDES];
};

/* The piece of a PE.  The counts of its domains and then their buffers follow it. */
struct limit_piece {
    BENCH_APART _Atomic uint64_t    packed;     /* rounds                            */
    BENCH_APART int64_t             leaving[2]; /* particles, by parity of the round */
    BENCH_APART struct particle_sum sum;
    BENCH_APART struct limit_counts counts[];
};

struct limit_domain {
    struct particles p;
    double          *memory;
    int64_t          fresh[2]; /* particles that have arrived: begin, end */
};

/* The state of a PE; it is thread-local, because PEs may be threads. */
static _Thread_local struct {
    struct limit_piece  *piece[LIMIT_PES];
    struct limit_domain *domain;
    int                  domains, domains_all, domains_max; /* of this PE, of all, of a PE */
    int                  steps, repeat;
    long long            particles;      /* of a domain in the beginning  */
    int64_t              buffer_doubles; /* of a direction                */
    uint64_t             packed, sums;   /* rounds, and sums of particles */
    struct bench_barrier barrier;
} limit;

/* Returns the buffer of a domain for its neighbour on a side. */
static double *limit_buffer(int domain, int side)
{
    struct limit_piece *piece = limit.piece[domain % skua_pes()];
    double             *first = (double *)(void *)(piece->counts + limit.domains_max);

    return first + (domain / skua_pes() * SHIFT_SIDES + side) * limit.buffer_doubles;
}

static struct limit_counts *limit_counts(int domain)
{
    return &limit.piece[domain % skua_pes()]->counts[domain / skua_pes()];
}

/* ---- a shift --------------------------------------------------------------------------- */

/* Returns the number of particles that have to leave the domains of this PE. */
static int64_t limit_scan(void)
{
    int64_t leaving = 0;

    for (int i = 0; i < limit.domains; i++) {
        struct limit_domain *d = &limit.domain[i];

        d->p.leaving[SHIFT_LEFT].count = d->p.leaving[SHIFT_RIGHT].count = 0;
        if (!particles_scan(&d->p, d->fresh[0], d->fresh[1]))
            skua_abort("too many particles leave domain %d", d->p.domain);
        d->fresh[0] = d->fresh[1] = d->p.hi;
        leaving += d->p.leaving[SHIFT_LEFT].count + d->p.leaving[SHIFT_RIGHT].count;
    }
    return leaving;
}

static void limit_pack(struct limit_domain *d)
{
    struct limit_counts *counts = limit_counts(d->p.domain);

    for (int side = 0; side < SHIFT_SIDES; side++) {
        counts->count[side] = d->p.leaving[side].count;
        particles_pack(&d->p, &d->p.leaving[side], limit_buffer(d->p.domain, side));
    }
}

static void limit_unpack(struct limit_domain *d)
{
    for (int side = 0; side < SHIFT_SIDES; side++) {
        int     from = particles_neighbour(&d->p, side);
        int64_t count;

        bench_wait_for(&limit.piece[from % skua_pes()]->packed, limit.packed);
        count = limit_counts(from)->count[!side];
        if (count > d->p.room - d->p.hi)
            skua_abort("domain %d has no memory for its particles", d->p.domain);
        particles_unpack(&d->p, d->p.hi, limit_buffer(from, !side), count);
        d->p.hi += count;
    }
    d->fresh[1] = d->p.hi;
}

static void limit_exchange(void)
{
    for (int i = 0; i < limit.domains; i++)
        limit_pack(&limit.domain[i]);
    bench_publish(&limit.piece[skua_pe()]->packed, ++limit.packed);
    for (int i = 0; i < limit.domains; i++)
        limit_unpack(&limit.domain[i]);
}

/* Returns the sum of a number of particles over all PEs. */
static int64_t limit_sum(int64_t leaving)
{
    uint64_t parity = limit.sums++ % 2;

    limit.piece[skua_pe()]->leaving[parity] = leaving;
    bench_barrier_wait(&limit.barrier);
    leaving = 0;
    for (int pe = 0; pe < skua_pes(); pe++)
        leaving += limit.piece[pe]->leaving[parity];
    return leaving;
}

static void limit_shift(void)
{
    for (int i = 0; i < limit.domains; i++) {
        limit.domain[i].fresh[0] = limit.domain[i].p.origin;
        limit.domain[i].fresh[1] = limit.domain[i].p.hi;
    }
    limit_scan();
    do
        limit_exchange();
    while (limit_sum(limit_scan()) > 0);
}

/* Returns the seconds of a shift on the slowest PE. */
static double limit_run(void)
{
    double seconds = 0;

    for (int i = 0; i < limit.domains; i++)
        particles_fill(&limit.domain[i].p, limit.particles);
    for (int s = 0; s < LIMIT_SHIFTS * limit.steps; s++) {
        double begin;

        for (int i = 0; i < limit.domains; i++)
            particles_move(&limit.domain[i].p);
        bench_barrier_wait(&limit.barrier);
        begin = bench_now();
        limit_shift();
        seconds += bench_now() - begin;
        for (int i = 0; i < limit.domains; i++)
            if (!particles_compact(&limit.domain[i].p))
                skua_abort("domain %d has no memory for its particles", limit.domain[i].p.domain);
    }
    return bench_largest(seconds) / (LIMIT_SHIFTS * limit.steps);
}

/* ---- check ----------------------------------------------------------------------------- */

/* Returns the sum over all PEs of @p own. */
static struct particle_sum limit_sum_all(const struct particle_sum *own)
{
    struct particle_sum sum = {0};

    limit.piece[skua_pe()]->sum = *own;
    bench_barrier_wait(&limit.barrier);
    for (int pe = 0; pe < skua_pes(); pe++) {
        sum.count += limit.piece[pe]->sum.count;
        sum.hash += limit.piece[pe]->sum.hash;
        sum.outside += limit.piece[pe]->sum.outside;
    }
    bench_barrier_wait(&limit.barrier); /* until all PEs have read the sums */
    return sum;
}

static void limit_check(void)
{
    struct particle_sum found = {0}, expected = {0};

    for (int i = 0; i < limit.domains; i++) {
        particles_add(&limit.domain[i].p, &found);
        particles_expect(limit.domain[i].p.domain, limit.domains_all, limit.particles,
                         LIMIT_SHIFTS * limit.steps, &expected);
    }
    found    = limit_sum_all(&found);
    expected = limit_sum_all(&expected);
    if (found.count != expected.count || found.hash != expected.hash || found.outside)
        skua_abort("particles are lost or in a wrong domain");
}

/* ---- main ------------------------------------------------------------------------------ */

static void limit_create_pieces(void)
{
    size_t      buffers = (size_t)limit.domains_max * SHIFT_SIDES * (size_t)limit.buffer_doubles;
    size_t      counts  = (size_t)limit.domains_max * sizeof(struct limit_counts);
    skua_region region;

    region = bench_create_pieces(sizeof(struct limit_piece) + counts + buffers * sizeof(double),
                                 LIMIT_PES);
    for (int pe = 0; pe < skua_pes(); pe++)
        limit.piece[pe] = bench_piece(region, pe);
    bench_barrier_init(&limit.barrier);
}

static void limit_create_domains(void)
{
    size_t room = (size_t)particles_room(limit.particles, limit.domains_all);

    limit.domains = (limit.domains_all - skua_pe() + skua_pes() - 1) / skua_pes();
    limit.domain  = calloc((size_t)limit.domains, sizeof *limit.domain);
    for (int i = 0; i < limit.domains && limit.domain; i++) {
        struct limit_domain *d = &limit.domain[i];

        d->memory = malloc(PARTICLE_FIELDS * room * sizeof *d->memory);
        if (!d->memory || !particles_make(&d->p, d->memory, skua_pe() + i * skua_pes(),
                                          limit.domains_all, limit.particles))
            skua_abort("there is no memory for the particles of PE %d", skua_pe());
    }
    if (!limit.domain)
        skua_abort("there is no memory for the domains of PE %d", skua_pe());
}

static void limit_free_domains(void)
{
    for (int i = 0; i < limit.domains; i++) {
        particles_free(&limit.domain[i].p);
        free(limit.domain[i].memory);
    }
    free(limit.domain);
}

static void limit_start(int argc, char **argv)
{
    double best = INFINITY;

    if (argc < 3 ||
        sscanf(argv[2], "%lld,%d,%d,%d", &limit.particles, &limit.domains_all, &limit.steps,
               &limit.repeat) < 4 ||
        limit.domains_all < 2 || limit.domains_all < skua_pes())
        skua_abort("usage: bench-gtcshift_limit SERIES PARTICLES,DOMAINS,STEPS,REPEAT, with a "
                   "domain for each PE");
    limit.domains_max = (limit.domains_all + skua_pes() - 1) / skua_pes();
    limit.buffer_doubles =
        particles_leaving_max(limit.particles, limit.domains_all) * PARTICLE_FIELDS;
    limit_create_pieces();
    limit_create_domains();
    for (int i = 0; i < limit.repeat; i++) {
        best = fmin(best, limit_run());
        limit_check();
    }
    limit_free_domains();
    bench_end_limit("gtcshift", argv[1], (size_t)limit.particles * (size_t)limit.domains_all,
                    "step", best);
}

int main(int argc, char **argv)
{
    return skua_main(argc, argv, limit_start);
}
