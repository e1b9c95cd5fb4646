/* SPDX-License-Identifier: Apache-2.0 */
/* particles.c - see particles.h. */
#include "particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"

#define ZETA     2 /* the field of the angle              */
#define VELOCITY 3 /* the field of the angle of a substep */
#define TURN     (2 * M_PI)
#define SCAN     16 /* number of particles tested together */

/* The angle of a substep at unit velocity. With a normal distribution of velocities 0.065 % of the
 * particles per domain of the torus leave a domain on each side, as measured with GTC-P. */
#define SUBSTEP 0.0102

#define FAST_SHARE 1024 /* one particle in FAST_SHARE is fast */
#define FAST       16.0 /* by this factor: it may cross several domains */

int64_t particles_plane(char class)
{
    int psi = class == 'A' ? 90 : class == 'B' ? 180 : class == 'C' ? 360 : class == 'D' ? 720 : 0;
    int theta      = psi / 90 * 640; /* grid points of the outermost surface */
    int64_t points = 0;

    for (int i = 0; i <= psi && psi; i++) { /* radii from 0.1 to 0.9 */
        double r = 0.1 + 0.8 * i / psi;

        points += 2 * (int)(theta * r / 0.9 / 2 + 0.5) + 1;
    }
    return points;
}

/* Returns the number of particles that cross one end of a domain in all rounds of a shift: 1.5
 * times their expected number, 0.065 % of the particles for each domain of the torus. */
static int64_t particles_crossing(int64_t count, int domains)
{
    return count * domains / 1000;
}

/* Returns the length of the area of a side; behind the particles there is twice as much space. */
static int64_t particles_margin(int64_t count, int domains)
{
    int64_t crossing = particles_crossing(count, domains);

    return (crossing > count / 4 ? crossing : count / 4) + 1024;
}

int64_t particles_room(int64_t count, int domains)
{
    return (count + 2 * SHIFT_SIDES * particles_margin(count, domains) + 7) / 8 * 8;
}

int64_t particles_leaving_max(int64_t count, int domains)
{
    int64_t crossing = particles_crossing(count, domains);

    return (crossing < count / 8 ? count / 8 : crossing < count ? crossing : count) + 512;
}

static bool particles_make_list(struct particle_list *list, int64_t count)
{
    list->at    = malloc((size_t)count * sizeof *list->at);
    list->count = 0;
    return list->at != NULL;
}

bool particles_make(struct particles *p, double *memory, int domain, int domains, int64_t count)
{
    *p = (struct particles){.domain  = domain,
                            .domains = domains,
                            .least   = domain * (TURN / domains),
                            .most = domain + 1 == domains ? TURN : (domain + 1) * (TURN / domains),
                            .origin       = SHIFT_SIDES * particles_margin(count, domains),
                            .room         = particles_room(count, domains),
                            .most_leaving = particles_leaving_max(count, domains)};
    for (int f = 0; f < PARTICLE_FIELDS; f++)
        p->field[f] = memory + f * p->room;
    return particles_make_list(&p->leaving[SHIFT_LEFT], p->most_leaving) &&
           particles_make_list(&p->leaving[SHIFT_RIGHT], p->most_leaving) &&
           particles_make_list(&p->holes, p->room);
}

void particles_free(struct particles *p)
{
    free(p->leaving[SHIFT_LEFT].at);
    free(p->leaving[SHIFT_RIGHT].at);
    free(p->holes.at);
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* Returns a number in [0, 1) that depends on its arguments. */
static double particles_random(uint64_t particle, uint64_t field)
{
    return (double)(mix(particle * 64 + field + 1) >> 11) * 0x1p-53;
}

/* Returns the angle of a substep: a normal deviate, or 16 times such a deviate. */
static double particles_velocity(uint64_t particle)
{
    double u = 1 - particles_random(particle, 40), v = particles_random(particle, 41);
    double velocity = SUBSTEP * sqrt(-2 * log(u)) * cos(TURN * v);

    return mix(particle + 7) % FAST_SHARE == 0 ? FAST * velocity : velocity;
}

static double particles_wrap(double zeta)
{
    while (zeta >= TURN)
        zeta -= TURN;
    while (zeta < 0)
        zeta += TURN;
    return zeta < TURN ? zeta + 0.0 : 0; /* excludes a full turn, to which a tiny negative angle is
                                            rounded, and negative zero */
}

/* The expression is rounded once, however the compiler translates it, so all loops give the same
 * result. */
static double particles_next(double zeta, double velocity)
{
    return particles_wrap(zeta + velocity);
}

/* The initial numbers of the i-th particle of a domain. */
static void particles_initial(int domain, int domains, int64_t i, double z[PARTICLE_FIELDS])
{
    uint64_t particle = (uint64_t)domain << 40 | (uint64_t)i;
    double   width    = TURN / domains;

    for (int f = 0; f < PARTICLE_FIELDS; f++)
        z[f] = particles_random(particle, (uint64_t)f);
    z[ZETA]     = particles_wrap((domain + 0.999 * z[ZETA]) * width);
    z[VELOCITY] = particles_velocity(particle);
}

void particles_fill(struct particles *p, int64_t count)
{
    double z[PARTICLE_FIELDS];

    p->hi                        = p->origin + count;
    p->front[SHIFT_LEFT]         = particles_area_end(p, SHIFT_LEFT);
    p->front[SHIFT_RIGHT]        = particles_area_end(p, SHIFT_RIGHT);
    p->leaving[SHIFT_LEFT].count = p->leaving[SHIFT_RIGHT].count = p->holes.count = 0;
    for (int64_t i = 0; i < count; i++) {
        particles_initial(p->domain, p->domains, i, z);
        for (int f = 0; f < PARTICLE_FIELDS; f++)
            p->field[f][p->origin + i] = z[f];
    }
}

void particles_move(struct particles *p)
{
    for (int64_t i = p->origin; i < p->hi; i++)
        p->field[ZETA][i] = particles_next(p->field[ZETA][i], p->field[VELOCITY][i]);
}

/* ---- leaving -------------------------------------------------------------------------------- */

/* A particle moves along the shorter way around the torus. */
static int particles_side(const struct particles *p, double zeta)
{
    double beyond = (zeta - p->most) / TURN;

    return beyond - floor(beyond) < 0.5 ? SHIFT_RIGHT : SHIFT_LEFT;
}

static uint64_t particles_bits(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Returns true if one of SCAN particles is outside. Angles are not negative, so they are ordered as
 * their bits are, and one comparison of integers tests both limits, in a loop that compilers
 * vectorise. */
static bool particles_any_outside(const struct particles *p, const double *zeta)
{
    uint64_t least = particles_bits(p->least), width = particles_bits(p->most) - least;
    uint64_t bits[SCAN], outside                     = 0;

    memcpy(bits, zeta, sizeof bits);
    for (int i = 0; i < SCAN; i++)
        outside |= bits[i] - least >= width ? 1 : 0;
    return outside != 0;
}

/* Lists the particles of from .. to - 1 that are outside. */
static bool particles_scan_each(struct particles *p, int64_t from, int64_t to)
{
    const double *zeta = p->field[ZETA];

    for (int64_t i = from; i < to; i++) {
        struct particle_list *list;

        if (zeta[i] >= p->least && zeta[i] < p->most)
            continue;
        list = &p->leaving[particles_side(p, zeta[i])];
        if (list->count == p->most_leaving)
            return false;
        list->at[list->count++]       = (uint32_t)i;
        p->holes.at[p->holes.count++] = (uint32_t)i;
    }
    return true;
}

bool particles_scan(struct particles *p, int64_t from, int64_t to)
{
    for (; from + SCAN <= to; from += SCAN)
        if (particles_any_outside(p, p->field[ZETA] + from) &&
            !particles_scan_each(p, from, from + SCAN))
            return false;
    return particles_scan_each(p, from, to);
}

static void particles_copy(struct particles *p, int64_t to, int64_t from)
{
    for (int f = 0; f < PARTICLE_FIELDS; f++)
        p->field[f][to] = p->field[f][from];
}

static int particles_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Moves the particles of the area of a side into the holes from *@p first on. Those at *@p gone,
 * up to @p holes, have left the domain. Returns false if the arrays are too short. */
static bool particles_empty_area(struct particles *p, int side, uint32_t **gone,
                                 const uint32_t *holes, uint32_t **first, const uint32_t *last)
{
    int64_t end = particles_area_end(p, side);

    for (; p->front[side] < end; p->front[side]++) {
        if (*gone < holes && **gone == p->front[side]) {
            ++*gone;
            continue;
        }
        if (*first == last && p->hi == p->room)
            return false;
        particles_copy(p, *first < last ? *(*first)++ : p->hi++, p->front[side]);
    }
    return true;
}

/* Holes are filled from the front, with the particles of the areas, of which that of the right side
 * comes first, then with particles of the back. A hole in an area needs no filling. */
bool particles_compact(struct particles *p)
{
    uint32_t *gone = p->holes.at, *first = gone, *last = gone + p->holes.count, *holes;

    qsort(gone, (size_t)p->holes.count, sizeof *gone, particles_compare);
    while (first < last && *first < p->origin)
        first++;
    holes = first;
    if (!particles_empty_area(p, SHIFT_RIGHT, &gone, holes, &first, last) ||
        !particles_empty_area(p, SHIFT_LEFT, &gone, holes, &first, last))
        return false;
    while (first < last) {
        p->hi--;
        if (last[-1] == p->hi)
            last--;
        else
            particles_copy(p, *first++, p->hi);
    }
    p->holes.count = 0;
    return true;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static uint64_t particles_hash(const double z[PARTICLE_FIELDS])
{
    uint64_t hash = 0, bits;

    for (int f = 0; f < PARTICLE_FIELDS; f++) {
        memcpy(&bits, &z[f], sizeof bits);
        hash = mix(hash + bits + (uint64_t)f);
    }
    return hash;
}

void particles_add(const struct particles *p, struct particle_sum *sum)
{
    double z[PARTICLE_FIELDS];

    for (int64_t i = p->origin; i < p->hi; i++) {
        for (int f = 0; f < PARTICLE_FIELDS; f++)
            z[f] = p->field[f][i];
        sum->hash += particles_hash(z);
        sum->outside += z[ZETA] < p->least || z[ZETA] >= p->most;
    }
    sum->count += (uint64_t)(p->hi - p->origin);
}

void particles_expect(int domain, int domains, int64_t count, int64_t substeps,
                      struct particle_sum *sum)
{
    double z[PARTICLE_FIELDS];

    for (int64_t i = 0; i < count; i++) {
        particles_initial(domain, domains, i, z);
        for (int64_t s = 0; s < substeps; s++)
            z[ZETA] = particles_next(z[ZETA], z[VELOCITY]);
        sum->hash += particles_hash(z);
    }
    sum->count += (uint64_t)count;
}

/* ---- copying -------------------------------------------------------------------------------- */

void particles_pack(const struct particles *p, const struct particle_list *list, double *to)
{
    for (int64_t i = 0; i < list->count; i++)
        for (int f = 0; f < PARTICLE_FIELDS; f++)
            *to++ = p->field[f][list->at[i]];
}

void particles_unpack(struct particles *p, int64_t at, const double *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int f = 0; f < PARTICLE_FIELDS; f++)
            p->field[f][at + i] = *from++;
}

void particles_gather(const struct particles *p, const struct particle_list *list, int64_t first,
                      int64_t count, double *to, int64_t stride)
{
    const uint32_t *at = list->at + first;

    /* All fields of a particle together: the processor reads 12 arrays at the same time. */
    for (int64_t i = 0; i < count; i++)
        for (int f = 0; f < PARTICLE_FIELDS; f++)
            to[f * stride + i] = p->field[f][at[i]];
}
