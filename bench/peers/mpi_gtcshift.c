/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi_gtcshift.c - the shift of apps/gtcshift with MPI: two-sided, with MPI_Put between post,
 * start, complete and wait, and with such puts to the final place of each field (pipelined).
 * Particles, packing and the check are those of the application.
 *
 * As in GTC-P, numbers of particles are exchanged before the particles.  Both neighbours of a
 * domain share its receive buffer, so with puts a domain also sends them the position for their
 * particles; in the pipelined variant, that is a position in its arrays.
 *
 * usage: mpirun -n N mpi_gtcshift SERIES PARTICLES,DOMAINS,STEPS,REPEAT[,CHUNK]
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "common/stopwatch.h"
#include "gtcshift/particles.h"

#define RANKS_MAX       4096
#define SHIFTS_PER_STEP 2

struct shift_domain {
    struct particles p;
    double          *received, *sent[SHIFT_SIDES];
    int64_t          leave[SHIFT_SIDES], arrive[SHIFT_SIDES]; /* numbers of particles */
    /* Positions in this domain, and at the neighbours. */
    int64_t offer[SHIFT_SIDES], place[SHIFT_SIDES];
    int64_t fresh[2];
};

static int                  rank, ranks, all_domains, domains, steps, repeat, chunk = 1024;
static int64_t              particles;
static struct shift_domain *domain;
static MPI_Win              window;
static MPI_Group            neighbours;
static MPI_Request         *request;
static MPI_Status          *status;
static int                  requests;
static struct stopwatch     watch;

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);

    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 2);
    return memory;
}

/* ---- messages ------------------------------------------------------------------ */

static int tag(int number, int side)
{
    return number / ranks * SHIFT_SIDES + side;
}

static void receive(struct shift_domain *d, int side, void *to, int64_t bytes)
{
    MPI_Irecv(to, (int)bytes, MPI_BYTE, particles_neighbour(&d->p, side) % ranks,
              tag(d->p.domain, side), MPI_COMM_WORLD, &request[requests++]);
}

static void send(struct shift_domain *d, int side, const void *from, int64_t bytes)
{
    int to = particles_neighbour(&d->p, side);

    MPI_Isend(from, (int)bytes, MPI_BYTE, to % ranks, tag(to, !side), MPI_COMM_WORLD,
              &request[requests++]);
}

static void wait_all(void)
{
    MPI_Waitall(requests, request, status);
    requests = 0;
}

/* Sends a number to each neighbour of each domain, and receives theirs. */
static void exchange_numbers(size_t from, size_t to)
{
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            receive(&domain[i], side, (int64_t *)((char *)&domain[i] + to) + side, sizeof(int64_t));
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            send(&domain[i], side, (int64_t *)((char *)&domain[i] + from) + side, sizeof(int64_t));
    wait_all();
}

static void exchange_counts(void)
{
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            domain[i].leave[side] = domain[i].p.leaving[side].count;
    exchange_numbers(offsetof(struct shift_domain, leave), offsetof(struct shift_domain, arrive));
    stopwatch_lap(&watch, PHASE_COMM);
}

static void unpack(struct shift_domain *d)
{
    int64_t count = d->arrive[SHIFT_LEFT] + d->arrive[SHIFT_RIGHT];

    particles_unpack(&d->p, d->p.hi, d->received, count);
    d->p.hi += count;
    d->fresh[1] = d->p.hi;
}

static void unpack_all(void)
{
    for (int i = 0; i < domains; i++)
        unpack(&domain[i]);
    stopwatch_lap(&watch, PHASE_UNPACKING);
}

static void pack_all(void)
{
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            particles_pack(&domain[i].p, &domain[i].p.leaving[side], domain[i].sent[side]);
    stopwatch_lap(&watch, PHASE_PACKING);
}

static void shift_two_sided(void)
{
    const int64_t bytes = PARTICLE_FIELDS * sizeof(double);

    exchange_counts();
    pack_all();
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++) {
            struct shift_domain *d = &domain[i];

            receive(d, side, d->received + (side ? d->arrive[SHIFT_LEFT] * PARTICLE_FIELDS : 0),
                    d->arrive[side] * bytes);
        }
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            send(&domain[i], side, domain[i].sent[side], domain[i].leave[side] * bytes);
    wait_all();
    stopwatch_lap(&watch, PHASE_COMM);
    unpack_all();
}

/* ---- puts ----------------------------------------------------------------------- */

/* Returns the number of doubles of a domain in the window: its receive buffer, then its arrays. */
static int64_t buffer_doubles(void)
{
    return 2 * particles_leaving_max(particles, all_domains) * PARTICLE_FIELDS;
}

static int64_t domain_doubles(void)
{
    return buffer_doubles() + PARTICLE_FIELDS * particles_room(particles, all_domains);
}

/* Returns the displacement of a domain in the window of its rank. */
static MPI_Aint domain_at(int number)
{
    return (MPI_Aint)(number / ranks * domain_doubles());
}

/* Sends the neighbours the positions for their particles, in the receive buffer or, from @p base
 * on, in the arrays. */
static void exchange_places(bool arrays)
{
    for (int i = 0; i < domains; i++) {
        struct shift_domain *d = &domain[i];

        d->offer[SHIFT_LEFT]  = arrays ? d->p.hi : 0;
        d->offer[SHIFT_RIGHT] = d->offer[SHIFT_LEFT] + d->arrive[SHIFT_LEFT];
    }
    exchange_numbers(offsetof(struct shift_domain, offer), offsetof(struct shift_domain, place));
    stopwatch_lap(&watch, PHASE_COMM);
}

static void put(const double *from, int to, int64_t at, int64_t count)
{
    if (count)
        MPI_Put(from, (int)count, MPI_DOUBLE, to % ranks, domain_at(to) + (MPI_Aint)at, (int)count,
                MPI_DOUBLE, window);
}

static void shift_pscw(void)
{
    exchange_counts();
    exchange_places(false);
    pack_all();
    MPI_Win_post(neighbours, 0, window);
    MPI_Win_start(neighbours, 0, window);
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            put(domain[i].sent[side], particles_neighbour(&domain[i].p, side),
                domain[i].place[side] * PARTICLE_FIELDS, domain[i].leave[side] * PARTICLE_FIELDS);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    stopwatch_lap(&watch, PHASE_COMM);
    unpack_all();
}

/* Packs a chunk of a list, field by field, and puts each field to its final place. */
static void put_chunks(struct shift_domain *d, int side)
{
    const struct particle_list *list = &d->p.leaving[side];
    double                     *z    = d->sent[side];

    for (int64_t i = 0; i < list->count; i += chunk) {
        int64_t n = list->count - i < chunk ? list->count - i : chunk;

        particles_gather(&d->p, list, i, n, z, n);
        for (int f = 0; f < PARTICLE_FIELDS; f++, z += n)
            put(z, particles_neighbour(&d->p, side),
                buffer_doubles() + f * d->p.room + d->place[side] + i, n);
    }
}

static void shift_pipelined(void)
{
    exchange_counts();
    exchange_places(true);
    MPI_Win_post(neighbours, 0, window);
    MPI_Win_start(neighbours, 0, window);
    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            put_chunks(&domain[i], side);
    stopwatch_lap(&watch, PHASE_PACKING);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    stopwatch_lap(&watch, PHASE_COMM);
    for (int i = 0; i < domains; i++) {
        struct shift_domain *d = &domain[i];

        d->p.hi += d->arrive[SHIFT_LEFT] + d->arrive[SHIFT_RIGHT];
        d->fresh[1] = d->p.hi;
    }
}

/* ---- the shift -------------------------------------------------------------------- */

static const struct shift_protocol {
    const char *name;
    void (*exchange)(void);
} protocols[] = {{"send", shift_two_sided}, {"pscw", shift_pscw}, {"pipelined", shift_pipelined}};

#define PROTOCOLS (sizeof protocols / sizeof *protocols)

static int64_t scan(void)
{
    int64_t leaving = 0;

    for (int i = 0; i < domains; i++) {
        struct shift_domain *d = &domain[i];

        d->p.leaving[SHIFT_LEFT].count = d->p.leaving[SHIFT_RIGHT].count = 0;
        if (!particles_scan(&d->p, d->fresh[0], d->fresh[1]))
            MPI_Abort(MPI_COMM_WORLD, 3);
        d->fresh[0] = d->fresh[1] = d->p.hi;
        leaving += d->p.leaving[SHIFT_LEFT].count + d->p.leaving[SHIFT_RIGHT].count;
    }
    stopwatch_lap(&watch, PHASE_SCANNING);
    return leaving;
}

static void shift(const struct shift_protocol *protocol)
{
    int64_t leaving, all = 1;

    stopwatch_start(&watch);
    for (int i = 0; i < domains; i++) {
        domain[i].fresh[0] = domain[i].p.origin;
        domain[i].fresh[1] = domain[i].p.hi;
    }
    leaving = scan();
    for (int round = 0; all; round++) {
        if (round > 0)
            MPI_Allreduce(&leaving, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
        stopwatch_lap(&watch, PHASE_IMBALANCE);
        if (all == 0)
            return;
        protocol->exchange();
        leaving = scan();
    }
}

static double run(const struct shift_protocol *protocol)
{
    double seconds = 0, begin;

    for (int i = 0; i < domains; i++)
        particles_fill(&domain[i].p, particles);
    for (int s = 0; s < SHIFTS_PER_STEP * steps; s++) {
        for (int i = 0; i < domains; i++)
            particles_move(&domain[i].p);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = stopwatch_now();
        shift(protocol);
        seconds += stopwatch_now() - begin;
        for (int i = 0; i < domains; i++)
            if (!particles_compact(&domain[i].p))
                MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds / (SHIFTS_PER_STEP * steps);
}

static bool check(const struct particle_sum *expected)
{
    struct particle_sum sum = {0};

    for (int i = 0; i < domains; i++)
        particles_add(&domain[i].p, &sum);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum.count == expected->count && sum.hash == expected->hash && !sum.outside;
}

/* ---- the program -------------------------------------------------------------------- */

static void make_group(void)
{
    int       at[2 * RANKS_MAX], count = 0;
    bool      used[RANKS_MAX] = {false};
    MPI_Group world;

    for (int i = 0; i < domains; i++)
        for (int side = 0; side < SHIFT_SIDES; side++)
            used[particles_neighbour(&domain[i].p, side) % ranks] = true;
    for (int r = 0; r < ranks; r++)
        if (used[r])
            at[count++] = r;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, at, &neighbours);
    MPI_Group_free(&world);
}

static void make_domains(void)
{
    int64_t bytes = (all_domains + ranks - 1) / ranks * domain_doubles() * (int64_t)sizeof(double);
    double *memory;

    domains = (all_domains - rank + ranks - 1) / ranks;
    domain  = allocate((size_t)domains, sizeof *domain);
    request = allocate(4 * (size_t)domains, sizeof *request);
    status  = allocate(4 * (size_t)domains, sizeof *status);
    MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < domains; i++) {
        struct shift_domain *d = &domain[i];

        d->received = memory + i * domain_doubles();
        if (!particles_make(&d->p, d->received + buffer_doubles(), rank + i * ranks, all_domains,
                            particles))
            MPI_Abort(MPI_COMM_WORLD, 2);
        for (int side = 0; side < SHIFT_SIDES; side++)
            d->sent[side] = allocate((size_t)buffer_doubles() / 2, sizeof(double));
    }
    make_group();
}

static struct particle_sum expect(void)
{
    struct particle_sum sum = {0};

    for (int i = 0; i < domains; i++)
        particles_expect(domain[i].p.domain, all_domains, particles, SHIFTS_PER_STEP * steps, &sum);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void print(const char *series, const char *protocol, const char *metric, double value)
{
    if (rank == 0)
        printf("{\"bench\":\"gtcshift\",\"series\":\"%s-%s\",\"bytes\":%lld,"
               "\"metric\":\"%s-%dpe\",\"value\":%.6g}\n",
               series, protocol, (long long)particles * all_domains, metric, ranks, value);
}

static void report(const char *series, const struct shift_protocol *protocol, double seconds)
{
    static const char *const phase[PHASES] = {"scanning", "packing", "comm", "unpacking",
                                              "imbalance"};

    print(series, protocol->name, "step", seconds);
    MPI_Allreduce(MPI_IN_PLACE, watch.seconds, PHASES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int p = 0; p < PHASES; p++)
        print(series, protocol->name, phase[p],
              watch.seconds[p] / ranks / (SHIFTS_PER_STEP * steps));
}

int main(int argc, char **argv)
{
    struct particle_sum expected;
    double              best[PROTOCOLS] = {0};
    long long           count;
    bool                good = true;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3 ||
        sscanf(argv[2], "%lld,%d,%d,%d,%d", &count, &all_domains, &steps, &repeat, &chunk) < 4 ||
        ranks > RANKS_MAX || all_domains < ranks)
        MPI_Abort(MPI_COMM_WORLD, 2);
    particles = count;
    make_domains();
    expected = expect();
    for (int r = 0; r <= repeat; r++) /* the phases of the last run are measured */
        for (size_t p = 0; p < PROTOCOLS; p++) {
            double seconds;

            watch   = (struct stopwatch){.on = r == repeat};
            seconds = run(&protocols[p]);
            good    = check(&expected) && good;
            if (r < repeat && (best[p] == 0 || seconds < best[p]))
                best[p] = seconds;
            if (r == repeat)
                report(argv[1], &protocols[p], best[p]);
        }
    MPI_Win_free(&window);
    MPI_Finalize();
    return good ? 0 : 1;
}
