/* SPDX-License-Identifier: Apache-2.0 */
/* atoms.c - see atoms.h. */
#include "atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"

#define TEMPERATURE 60.0  /* kelvin, of the velocities at the start            */
#define JITTER      0.003 /* largest displacement of an atom, of the unit cell */
#define BOLTZMANN   (1.380649e-23 * JOULE)

/* The droplet, an ellipsoid: its centre and its radii, of the edges of the box, and the part of the
 * sites around it that are filled.  With the default map, cells in order of x, the first of two PEs
 * has three quarters of the work, and the busiest of 16 twice the mean. */
static const double droplet_centre[3] = {0.25, 0.5, 0.5};
static const double droplet_radius[3] = {0.25, 0.45, 0.45};
static const double droplet_gas       = 0.25;

/* ---- the box ----------------------------------------------------------------------------- */

int box_cells(const struct md_box *box)
{
    return box->cells[0] * box->cells[1] * box->cells[2];
}

int box_number(const struct md_box *box, const int at[3])
{
    int number = 0;

    for (int d = 0; d < 3; d++)
        number = number * box->cells[d] + (at[d] + box->cells[d]) % box->cells[d];
    return number;
}

void box_indices(const struct md_box *box, int number, int at[3])
{
    for (int d = 2; d >= 0; d--) {
        at[d] = number % box->cells[d];
        number /= box->cells[d];
    }
}

int box_neighbours(const struct md_box *box)
{
    return (2 * box->away[0] + 1) * (2 * box->away[1] + 1) * (2 * box->away[2] + 1);
}

static int box_offset(const struct md_box *box, const int at[3], const int away[3], int i, int sign)
{
    int to[3];

    for (int d = 2; d >= 0; d--) {
        to[d] = at[d] + sign * (i % (2 * away[d] + 1) - away[d]);
        i /= 2 * away[d] + 1;
    }
    return box_number(box, to);
}

int box_neighbour(const struct md_box *box, const int at[3], int neighbour, int sign)
{
    return box_offset(box, at, box->away, neighbour, sign);
}

int box_beside(const struct md_box *box, const int at[3], int direction)
{
    return box_offset(box, at, (int[]){1, 1, 1}, direction, 1);
}

void box_shift(const struct md_box *box, const int from[3], const int to[3], double shift[3])
{
    for (int d = 0; d < 3; d++) {
        int by = to[d] - from[d];

        by -= by > box->away[d] ? box->cells[d] : 0;
        by += by < -box->away[d] ? box->cells[d] : 0;
        shift[d] = by * box->edge[d];
    }
}

/* The length of a unit cell of the lattice in one direction. */
static double box_unit(const struct md_box *box, int d)
{
    return box->edge[d] * box->cells[d] / box->unit[d];
}

/* Chooses a lattice with this number of unit cells in x and y if it has fewer sites than the
 * present one. */
static void box_try_lattice(struct md_box *box, int x, int y)
{
    int64_t row = INT64_C(2) * x * y, rows = row > 0 ? (box->atoms + row - 1) / row : 0;

    if (row <= 0 || (box->sites > 0 && row * rows >= box->sites))
        return;
    box->unit[0] = x;
    box->unit[1] = y;
    box->unit[2] = (int)rows;
    box->sites   = row * rows;
}

/* The unit cells of the lattice have two atoms and nearly equal edges; few sites stay empty. */
void box_prepare(struct md_box *box)
{
    double volume = 1, unit;
    int    most[2];

    for (int d = 0; d < 3; d++) {
        box->edge[d] = (CUTOFF + box->margin) / box->away[d];
        volume *= box->edge[d];
    }
    unit       = cbrt(2 * volume / (double)box->per_cell);
    box->atoms = box->per_cell * box_cells(box);
    for (int d = 0; d < 2; d++)
        most[d] = (int)ceil(box->edge[d] * box->cells[d] / unit) + 1;
    for (int x = most[0] - 2; x <= most[0]; x++)
        for (int y = most[1] - 2; y <= most[1]; y++)
            box_try_lattice(box, x, y);
}

/* ---- the start --------------------------------------------------------------------------- */

/* A random number in [0, 1): number @p i of a site. */
static double site_random(const struct md_box *box, int64_t site, int i)
{
    uint64_t x = mix(mix(box->seed + 1) + (uint64_t)site * 64 + (uint64_t)i);

    return (double)(x >> 11) * 0x1p-53;
}

/* A random velocity: the sum of four uniform numbers is nearly normal, and bounded. */
static double site_velocity(const struct md_box *box, int64_t site, int d)
{
    double sum = -2;

    for (int i = 0; i < 4; i++)
        sum += site_random(box, site, 4 + 4 * d + i);
    return sqrt(3 * BOLTZMANN * TEMPERATURE) * sum;
}

static bool site_filled(const struct md_box *box, int64_t site, const double x[3])
{
    double square = 0;

    if (!box->droplet)
        return (site + 1) * box->atoms / box->sites > site * box->atoms / box->sites;
    for (int d = 0; d < 3; d++) {
        double part = x[d] / (box->edge[d] * box->cells[d]) - droplet_centre[d];

        square += part * part / (droplet_radius[d] * droplet_radius[d]);
    }
    return square < 1 || site_random(box, site, 3) < droplet_gas;
}

/* Adds the atom at a site if there is one and it is in the cell. */
static void site_visit(struct md_atoms *atoms, const struct md_box *box, const int at[3],
                       const int u[3], int centre)
{
    int64_t site = (((int64_t)u[0] * box->unit[1] + u[1]) * box->unit[2] + u[2]) * 2 + centre;
    double  x[3];
    struct md_atom atom;

    for (int d = 0; d < 3; d++) {
        double jitter = JITTER * (2 * site_random(box, site, d) - 1);

        x[d]      = (u[d] + 0.25 + 0.5 * centre + jitter) * box_unit(box, d);
        atom.x[d] = x[d] - at[d] * box->edge[d];
        atom.v[d] = site_velocity(box, site, d);
        if (floor(x[d] / box->edge[d]) != at[d])
            return;
    }
    if (site_filled(box, site, x))
        atoms_arrive(atoms, &atom, 1);
}

void atoms_create(struct md_atoms *atoms, const struct md_box *box, const int at[3])
{
    int first[3], end[3], u[3];

    for (int d = 0; d < 3; d++) {
        first[d] = (int)floor(at[d] * box->edge[d] / box_unit(box, d));
        end[d]   = (int)fmin(box->unit[d], ceil((at[d] + 1) * box->edge[d] / box_unit(box, d)));
    }
    for (u[0] = first[0]; u[0] < end[0]; u[0]++)
        for (u[1] = first[1]; u[1] < end[1]; u[1]++)
            for (u[2] = first[2]; u[2] < end[2]; u[2]++)
                for (int centre = 0; centre < 2; centre++)
                    site_visit(atoms, box, at, u, centre);
}

/* ---- steps ------------------------------------------------------------------------------- */

void atoms_positions(const struct md_atoms *atoms, double *x)
{
    for (int d = 0; d < 3; d++)
        for (int i = 0; i < atoms->n; i++)
            *x++ = atoms->at[i].x[d];
}

void atoms_kick(struct md_atoms *atoms, const int64_t *force)
{
    const double scale = 0.5 * TIME_STEP / (double)(INT64_C(1) << FORCE_BITS);

    for (int d = 0; d < 3; d++)
        for (int i = 0; i < atoms->n; i++)
            atoms->at[i].v[d] += scale * (double)*force++;
}

void atoms_drift(struct md_atoms *atoms)
{
    for (int i = 0; i < atoms->n; i++)
        for (int d = 0; d < 3; d++)
            atoms->at[i].x[d] += TIME_STEP * atoms->at[i].v[d];
}

static int64_t sum_integer(double x)
{
    return llrint(x * (double)(INT64_C(1) << SUM_BITS));
}

static uint64_t atom_hash(const struct md_atom *atom)
{
    uint64_t word[sizeof *atom / sizeof(uint64_t)], hash = 0;

    memcpy(word, atom, sizeof word);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        hash = mix(hash + word[i]);
    return hash;
}

struct md_sums atoms_sum(const struct md_atoms *atoms, const int64_t *force)
{
    struct md_sums sums = {.atoms     = atoms->n,
                           .potential = force[3 * atoms->n] >> (FORCE_BITS - SUM_BITS)};

    for (const struct md_atom *atom = atoms->at; atom < atoms->at + atoms->n; atom++) {
        double square = 0;

        for (int d = 0; d < 3; d++) {
            square += atom->v[d] * atom->v[d];
            sums.momentum[d] += sum_integer(atom->v[d]);
        }
        sums.kinetic += sum_integer(0.5 * square);
        sums.speed += sum_integer(sqrt(square));
        sums.hash = (int64_t)((uint64_t)sums.hash + atom_hash(atom));
    }
    return sums;
}

/* ---- changing cells ----------------------------------------------------------------------- */

bool atoms_arrive(struct md_atoms *atoms, const struct md_atom *from, int n)
{
    if (n > CELL_ATOMS_MAX - atoms->n)
        return false;
    if (atoms->n + n > atoms->room) {
        atoms->room = 2 * (atoms->n + n);
        atoms->at   = realloc(atoms->at, (size_t)atoms->room * sizeof *atoms->at);
        if (!atoms->at)
            return false;
    }
    if (n > 0)
        memcpy(atoms->at + atoms->n, from, (size_t)n * sizeof *from);
    atoms->n += n;
    return true;
}

/* The direction in which an atom has left, whose position becomes relative to its new cell; -1: it
 * is not in a neighbour. */
static int atom_leaves(struct md_atom *atom, const struct md_box *box)
{
    int direction = 0;

    for (int d = 0; d < 3; d++) {
        double cells = floor(atom->x[d] / box->edge[d]);

        if (!(fabs(cells) <= 1))
            return -1;
        atom->x[d] -= cells * box->edge[d];
        direction = 3 * direction + (int)cells + 1;
    }
    return direction;
}

bool atoms_leave(struct md_atoms *atoms, const struct md_box *box, struct md_leaving *leaving)
{
    int direction[CELL_ATOMS_MAX], stay = 0, to = 0;

    for (int i = 0; i < atoms->n; i++)
        if ((direction[i] = atom_leaves(&atoms->at[i], box)) < 0)
            return false;
    for (int way = 0; way < DIRECTIONS; way++) {
        leaving->first[way] = to;
        for (int i = 0; i < atoms->n && way != STAYS; i++)
            if (direction[i] == way)
                leaving->at[to++] = atoms->at[i];
    }
    leaving->first[DIRECTIONS] = to;
    for (int i = 0; i < atoms->n; i++)
        if (direction[i] == STAYS)
            atoms->at[stay++] = atoms->at[i];
    atoms->n = stay;
    return true;
}
