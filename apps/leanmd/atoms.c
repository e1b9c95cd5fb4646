/* SPDX-License-Identifier: Apache-2.0 */
/* atoms.c - see atoms.h. */
#include "atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"

#define TEMPERATURE 60.0 /* kelvin, of the velocities at the start             */
#define JITTER      0.003
#define BOLTZMANN   (1.380649e-23 * JOULE)

/* The droplet, an ellipsoid: its centre and its radii, of the edges of the box, and the part of the
 * sites around it that are filled.  With the default map, cells in order of x, the first of two PEs
 * has three quarters of the work, and the busiest of 16 twice the mean. */
static const double droplet_centre[3] = {0.25, 0.5, 0.5};
static const double droplet_radius[3] = {0.25, 0.45, 0.45};
static const double droplet_gas       = 0.25;

struct md_memory atoms_memory = {malloc, free};

/* ---- the box ----------------------------------------------------------------------------- */

int box_cells(const struct md_box *box)
{
    return box->cells[0] * box->cells[1] * box->cells[2];
}

static int box_wrap(int i, int n)
{
    return (i % n + n) % n;
}

int box_number(const struct md_box *box, const int at[3])
{
    int i[3];

    for (int d = 0; d < 3; d++)
        i[d] = box_wrap(at[d], box->cells[d]);
    return (i[0] * box->cells[1] + i[1]) * box->cells[2] + i[2];
}

void box_indices(const struct md_box *box, int number, int at[3])
{
    at[2] = number % box->cells[2];
    at[1] = number / box->cells[2] % box->cells[1];
    at[0] = number / box->cells[2] / box->cells[1];
}

int box_neighbours(const struct md_box *box)
{
    return (2 * box->away[0] + 1) * (2 * box->away[1] + 1) * (2 * box->away[2] + 1);
}

void box_offset(const struct md_box *box, int neighbour, int offset[3])
{
    int y = 2 * box->away[1] + 1, z = 2 * box->away[2] + 1;

    offset[0] = neighbour / (y * z) - box->away[0];
    offset[1] = neighbour / z % y - box->away[1];
    offset[2] = neighbour % z - box->away[2];
}

void box_direction(int direction, int offset[3])
{
    offset[0] = direction / 9 - 1;
    offset[1] = direction / 3 % 3 - 1;
    offset[2] = direction % 3 - 1;
}

/* The length of a unit cell of the lattice in one direction. */
static double box_unit(const struct md_box *box, int d)
{
    return box->edge[d] * box->cells[d] / box->unit[d];
}

/* How well the lattice suits the atoms: its smallest distance, less if many sites would be empty.
 */
static double box_suits(const struct md_box *box)
{
    double x = box_unit(box, 0), y = box_unit(box, 1), z = box_unit(box, 2);
    double centre = sqrt(x * x + y * y + z * z) / 2, edge = fmin(x, fmin(y, z));

    return fmin(centre, edge) * (double)box->atoms / (double)box->sites;
}

/* Makes a lattice with these unit cells in x and y, and enough of them in z. */
static struct md_box box_lattice(const struct md_box *box, int x, int y)
{
    struct md_box with = *box;
    int64_t       rows = INT64_C(2) * x * y;

    with.unit[0] = x;
    with.unit[1] = y;
    with.unit[2] = (int)((box->atoms + rows - 1) / rows);
    with.sites   = rows * with.unit[2];
    return with;
}

/* Chooses the lattice among those whose unit cells have edges of about the same length. */
void box_prepare(struct md_box *box)
{
    struct md_box best;
    double        volume = 1, unit, x, y;

    for (int d = 0; d < 3; d++) {
        box->edge[d] = (CUTOFF + box->margin) / box->away[d];
        volume *= box->edge[d];
    }
    unit       = cbrt(2 * volume / (double)box->per_cell);
    x          = box->edge[0] * box->cells[0] / unit;
    y          = box->edge[1] * box->cells[1] / unit;
    box->atoms = box->per_cell * box_cells(box);
    best       = box_lattice(box, (int)ceil(x), (int)ceil(y));
    for (int i = (int)ceil(x / 2); i < 2 * x; i++)
        for (int j = (int)ceil(y / 2); j < 2 * y; j++) {
            struct md_box with = box_lattice(box, i, j);

            if (box_suits(&with) > box_suits(&best))
                best = with;
        }
    *box = best;
}

/* ---- the start --------------------------------------------------------------------------- */

/* A random number in [0, 1): number @p i of a site. */
static double site_random(const struct md_box *box, int64_t site, int i)
{
    uint64_t x = mix(mix(box->seed + 1) + (uint64_t)site * 64 + (uint64_t)i);

    return (double)(x >> 11) * 0x1p-53;
}

/* The lattice is body-centred, which includes the face-centred one: edges of 1 : 1 : sqrt(2). */
static double site_position(const struct md_box *box, const int u[3], int basis, int64_t site,
                            int d)
{
    double jitter = JITTER * (2 * site_random(box, site, d) - 1);

    return (u[d] + 0.25 + 0.5 * basis + jitter) * box_unit(box, d);
}

/* A random velocity: the sum of four uniform numbers is nearly normal, and bounded. */
static double site_velocity(const struct md_box *box, int64_t site, int d)
{
    double sum = -2;

    for (int i = 0; i < 4; i++)
        sum += site_random(box, site, 4 + 4 * d + i);
    return sqrt(3 * BOLTZMANN * TEMPERATURE) * sum;
}

static bool site_in_droplet(const struct md_box *box, const double x[3])
{
    double square = 0;

    for (int d = 0; d < 3; d++) {
        double away =
            (x[d] / (box->edge[d] * box->cells[d]) - droplet_centre[d]) / droplet_radius[d];

        square += away * away;
    }
    return square < 1;
}

static bool site_filled(const struct md_box *box, int64_t site, const double x[3])
{
    if (box->droplet)
        return site_in_droplet(box, x) || site_random(box, site, 3) < droplet_gas;
    return (site + 1) * box->atoms / box->sites > site * box->atoms / box->sites;
}

/* Adds the atom at a site if there is one and it is in the cell. */
static void site_visit(struct md_atoms *atoms, const struct md_box *box, const int at[3],
                       const int u[3], int basis)
{
    int64_t site = (((int64_t)u[0] * box->unit[1] + u[1]) * box->unit[2] + u[2]) * 2 + basis;
    double  x[3], atom[6];

    for (int d = 0; d < 3; d++) {
        int cell;

        x[d]        = site_position(box, u, basis, site, d);
        cell        = (int)floor(x[d] / box->edge[d]);
        atom[d]     = x[d] - cell * box->edge[d];
        atom[3 + d] = site_velocity(box, site, d);
        if (cell != at[d])
            return;
    }
    if (site_filled(box, site, x))
        atoms_arrive(atoms, atom, 1);
}

void atoms_create(struct md_atoms *atoms, const struct md_box *box, const int at[3])
{
    int first[3], end[3], u[3];

    *atoms = (struct md_atoms){0};
    for (int d = 0; d < 3; d++) { /* a unit cell more on each side: displacements */
        first[d] = (int)fmax(0, floor(at[d] * box->edge[d] / box_unit(box, d)) - 1);
        end[d]   = (int)fmin(box->unit[d], ceil((at[d] + 1) * box->edge[d] / box_unit(box, d)));
    }
    for (u[0] = first[0]; u[0] < end[0]; u[0]++)
        for (u[1] = first[1]; u[1] < end[1]; u[1]++)
            for (u[2] = first[2]; u[2] < end[2]; u[2]++)
                for (int basis = 0; basis < 2; basis++)
                    site_visit(atoms, box, at, u, basis);
}

void atoms_destroy(struct md_atoms *atoms)
{
    if (atoms->at)
        atoms_memory.free(atoms->at);
    *atoms = (struct md_atoms){0};
}

/* ---- steps ------------------------------------------------------------------------------- */

struct force_atoms atoms_positions(const struct md_atoms *atoms)
{
    return (struct force_atoms){atoms->n,
                                {atoms_of(atoms, 0), atoms_of(atoms, 1), atoms_of(atoms, 2)}};
}

void atoms_kick(struct md_atoms *atoms, const int64_t *force)
{
    const double scale = 0.5 * TIME_STEP / (double)(INT64_C(1) << FORCE_BITS);

    for (int d = 0; d < 3; d++) {
        double *v = atoms_of(atoms, 3 + d);

        for (int i = 0; i < atoms->n; i++)
            v[i] += scale * (double)force[d * atoms->n + i];
    }
}

void atoms_drift(struct md_atoms *atoms)
{
    for (int d = 0; d < 3; d++) {
        double *restrict x = atoms_of(atoms, d), *restrict v = atoms_of(atoms, 3 + d);

        for (int i = 0; i < atoms->n; i++)
            x[i] += TIME_STEP * v[i];
    }
}

static int64_t sum_integer(double x)
{
    return llrint(x * (double)(INT64_C(1) << SUM_BITS));
}

static uint64_t bits_of_double(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

void atoms_sum(const struct md_atoms *atoms, struct md_sums *sums)
{
    double kinetic = 0, speed = 0, momentum[3] = {0};

    for (int i = 0; i < atoms->n; i++) {
        double   square = 0;
        uint64_t hash   = 0;

        for (int d = 0; d < 3; d++) {
            double v = atoms_of(atoms, 3 + d)[i];

            square += v * v;
            momentum[d] += v;
            hash = mix(hash + bits_of_double(v));
            hash = mix(hash + bits_of_double(atoms_of(atoms, d)[i]));
        }
        kinetic += 0.5 * square;
        speed += sqrt(square);
        sums->hash = (int64_t)((uint64_t)sums->hash + hash);
    }
    sums->kinetic += sum_integer(kinetic);
    sums->speed += sum_integer(speed);
    sums->atoms += atoms->n;
    for (int d = 0; d < 3; d++)
        sums->momentum[d] += sum_integer(momentum[d]);
}

/* ---- changing cells ----------------------------------------------------------------------- */

static void atoms_get(const struct md_atoms *atoms, int i, double *atom)
{
    for (int d = 0; d < 6; d++)
        atom[d] = atoms_of(atoms, d)[i];
}

static void atoms_put(struct md_atoms *atoms, int i, const double *atom)
{
    for (int d = 0; d < 6; d++)
        atoms_of(atoms, d)[i] = atom[d];
}

bool atoms_allocate(struct md_atoms *atoms)
{
    atoms->at = atoms_memory.alloc(6 * (size_t)atoms->room * sizeof *atoms->at);
    return atoms->at != NULL;
}

static bool atoms_reserve(struct md_atoms *atoms, int n)
{
    struct md_atoms more = {0, n + n / 4 + 8, NULL};

    if (n <= atoms->room)
        return true;
    if (n > CELL_ATOMS_MAX || !atoms_allocate(&more))
        return false;
    for (int d = 0; d < 6 && atoms->n; d++)
        memcpy(atoms_of(&more, d), atoms_of(atoms, d), (size_t)atoms->n * sizeof *more.at);
    more.n = atoms->n;
    if (atoms->at)
        atoms_memory.free(atoms->at);
    *atoms = more;
    return true;
}

bool atoms_arrive(struct md_atoms *atoms, const double *from, int n)
{
    if (n > CELL_ATOMS_MAX || !atoms_reserve(atoms, atoms->n + n))
        return false;
    for (int i = 0; i < n; i++)
        atoms_put(atoms, atoms->n + i, from + 6 * i);
    atoms->n += n;
    return true;
}

/* The direction in which an atom has left, whose position becomes relative to its new cell. */
static int atom_leaves(double *atom, const struct md_box *box, bool *near)
{
    int direction = 0;

    for (int d = 0; d < 3; d++) {
        double cells = floor(atom[d] / box->edge[d]);

        *near = *near && fabs(cells) <= 1;
        atom[d] -= cells * box->edge[d];
        direction = 3 * direction + (int)cells + 1;
    }
    return direction;
}

bool atoms_leave(struct md_atoms *atoms, const struct md_box *box, struct md_leaving *leaving)
{
    signed char direction[CELL_ATOMS_MAX];
    double      atom[6];
    bool        near = true;
    int         stay = 0, to = 0;

    for (int i = 0; i < atoms->n && near; i++) {
        atoms_get(atoms, i, atom);
        direction[i] = (signed char)atom_leaves(atom, box, &near);
        for (int d = 0; d < 3; d++)
            atoms_of(atoms, d)[i] = atom[d];
    }
    for (int way = 0; way < DIRECTIONS && near; way++) {
        leaving->first[way] = to;
        for (int i = 0; i < atoms->n && way != STAYS; i++)
            if (direction[i] == way)
                atoms_get(atoms, i, leaving->at + 6 * to++);
    }
    leaving->first[DIRECTIONS] = to;
    for (int i = 0; i < atoms->n && near; i++)
        if (direction[i] == STAYS) {
            atoms_get(atoms, i, atom);
            atoms_put(atoms, stay++, atom);
        }
    atoms->n = stay;
    return near;
}
