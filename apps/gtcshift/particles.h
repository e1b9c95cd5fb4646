/* SPDX-License-Identifier: Apache-2.0 */
/*
 * particles.h - the particles of a toroidal domain, how they move, and the loops that copy them.
 *
 * The torus is divided along its angle zeta into domains of equal width. A particle has 12 numbers:
 * z0 .. z5, of which z2 is zeta and z3 is proportional to its velocity along the torus, and six
 * older values. Each number is an array of its own. The particles of a domain are at
 * origin .. hi - 1 of these arrays. Before the origin there is an area for each side, in which
 * particles may arrive; particles_compact() moves them behind the origin.
 *
 * A particle's path depends on nothing but its own numbers, so the set of all particles after some
 * steps can be computed without domains. An order-independent checksum compares it with the result.
 *
 * Both the application and its MPI peers use this file.
 */
#ifndef PARTICLES_H
#define PARTICLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARTICLE_FIELDS 12

/** The phases of a shift: the columns of Table II of the paper, with scanning separate from
 *  packing. */
enum { PHASE_SCANNING, PHASE_PACKING, PHASE_COMM, PHASE_UNPACKING, PHASE_IMBALANCE, PHASES };

/** The directions in which particles leave a domain. */
enum { SHIFT_LEFT, SHIFT_RIGHT, SHIFT_SIDES };

/** The particles that leave a domain in one direction, by number. */
struct particle_list {
    uint32_t *at;
    int64_t   count;
};

/** The particles of a domain. */
struct particles {
    int     domain, domains;
    double  least, most; /* zeta of the domain: least <= zeta < most */
    double *field[PARTICLE_FIELDS];
    int64_t origin, hi;
    int64_t room; /* length of an array */
    /* Particles that arrived in the area of each side: front .. particles_area_end() - 1. */
    int64_t front[SHIFT_SIDES];
    /* Largest number that may leave in one direction and round. */
    int64_t              most_leaving;
    struct particle_list leaving[SHIFT_SIDES];
    struct particle_list holes; /* indices that particles have left */
};

/** Sums over a set of particles that do not depend on their order. */
struct particle_sum {
    uint64_t count, hash, outside; /* outside: particles that are not in their domain */
};

/** Returns the number of grid points in a plane of GTC-P's problem sizes A to D, or 0: particles
 * per cell times this number is the number of particles of a domain. */
int64_t particles_plane(char class);

/** Returns the length of an array that suffices for each of @p domains domains that begin with
 *  @p count particles: the more domains, the more particles pass through each in a shift. */
int64_t particles_room(int64_t count, int domains);

/** Returns the number of particles that may leave such a domain in one direction in a round. */
int64_t particles_leaving_max(int64_t count, int domains);

/** Makes a domain in @p memory, of PARTICLE_FIELDS arrays of particles_room() doubles, and its
 *  lists. Returns false if there is no memory for these. */
bool particles_make(struct particles *p, double *memory, int domain, int domains, int64_t count);

/** Frees the lists of a domain. */
void particles_free(struct particles *p);

/** Stores the initial @p count particles in a domain. */
void particles_fill(struct particles *p, int64_t count);

/** Moves all particles by one substep. */
void particles_move(struct particles *p);

/** Appends the particles of from .. to - 1 that are outside the domain to its lists `leaving` and
 *  `holes`. Returns false if there are too many. */
bool particles_scan(struct particles *p, int64_t from, int64_t to);

/** Moves the particles of both areas, and others as needed, into the holes, and behind the last
 *  particle if there are too few holes. Returns false if the arrays are too short. */
bool particles_compact(struct particles *p);

/** Returns the number of particles that fit into the area of a side. */
static inline int64_t particles_area_room(const struct particles *p)
{
    return p->origin / SHIFT_SIDES;
}

/** Returns the end of the area of a side, in which particles are stored from the end to the front.
 */
static inline int64_t particles_area_end(const struct particles *p, int side)
{
    return side == SHIFT_LEFT ? p->origin : particles_area_room(p);
}

/** Adds the particles of a domain to a sum. */
void particles_add(const struct particles *p, struct particle_sum *sum);

/** Adds the initial particles of a domain to a sum, in their state after some substeps. */
void particles_expect(int domain, int domains, int64_t count, int64_t substeps,
                      struct particle_sum *sum);

/** Copies listed particles to @p to, one after another. */
void particles_pack(const struct particles *p, const struct particle_list *list, double *to);

/** Copies @p count particles, one after another, to the arrays from particle @p at on. */
void particles_unpack(struct particles *p, int64_t at, const double *from, int64_t count);

/** Copies the particles first .. first + count - 1 of a list: number f of the i-th one to
 *  to[f * stride + i]. */
void particles_gather(const struct particles *p, const struct particle_list *list, int64_t first,
                      int64_t count, double *to, int64_t stride);

/** Returns the domain to the left or right of a domain. */
static inline int particles_neighbour(const struct particles *p, int side)
{
    return (p->domain + (side == SHIFT_LEFT ? p->domains - 1 : 1)) % p->domains;
}

#endif
