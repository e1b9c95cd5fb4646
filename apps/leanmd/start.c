/* SPDX-License-Identifier: Apache-2.0 */
/* start.c - see start.h. */
#include "start.h"

#include <math.h>

#include "common/numbers.h"

#define TEMPERATURE 60.0  /* kelvin, of the velocities at the start                     */
#define JITTER      0.003 /* largest displacement of an atom, relative to the unit cell */
#define BOLTZMANN   (1.380649e-23 * JOULE)

/* The droplet is an ellipsoid: its centre and radii, relative to the edges of the box, and the
 * fraction of the sites around it that are filled.  With the default map, cells in order of x, the
 * first of two PEs has three quarters of the work, and the busiest of 16 twice the mean. */
static const double droplet_centre[3] = {0.25, 0.5, 0.5};
static const double droplet_radius[3] = {0.25, 0.45, 0.45};
static const double droplet_gas       = 0.25;

/* Returns the length of a unit cell of the lattice in one direction. */
static double start_unit(const struct md_box *box, int d)
{
    return box->edge[d] * box->cells[d] / box->unit[d];
}

/* Chooses a lattice with this number of unit cells in x and y if it has fewer sites than the
 * present one. */
static void start_try_lattice(struct md_box *box, int x, int y)
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
void start_prepare(struct md_box *box)
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
            start_try_lattice(box, x, y);
}

/* Returns random number @p i of a site, in [0, 1). */
static double start_random(const struct md_box *box, int64_t site, int i)
{
    uint64_t x = mix(mix(box->seed + 1) + (uint64_t)site * 64 + (uint64_t)i);

    return (double)(x >> 11) * 0x1p-53;
}

/* Returns a random velocity. The sum of four uniform numbers is nearly normal, and bounded. */
static double start_velocity(const struct md_box *box, int64_t site, int d)
{
    double sum = -2;

    for (int i = 0; i < 4; i++)
        sum += start_random(box, site, 4 + 4 * d + i);
    return sqrt(3 * BOLTZMANN * TEMPERATURE) * sum;
}

static bool start_filled(const struct md_box *box, int64_t site, const double x[3])
{
    double square = 0;

    if (!box->droplet)
        return (site + 1) * box->atoms / box->sites > site * box->atoms / box->sites;
    for (int d = 0; d < 3; d++) {
        double part = x[d] / (box->edge[d] * box->cells[d]) - droplet_centre[d];

        square += part * part / (droplet_radius[d] * droplet_radius[d]);
    }
    return square < 1 || start_random(box, site, 3) < droplet_gas;
}

/* Adds the atom at a site if there is one and it is in the cell. */
static void start_visit(struct md_atoms *atoms, const struct md_box *box, const int at[3],
                        const int u[3], int centre)
{
    int64_t site = (((int64_t)u[0] * box->unit[1] + u[1]) * box->unit[2] + u[2]) * 2 + centre;
    double  x[3];
    struct md_atom atom;

    for (int d = 0; d < 3; d++) {
        double jitter = JITTER * (2 * start_random(box, site, d) - 1);

        x[d]      = (u[d] + 0.25 + 0.5 * centre + jitter) * start_unit(box, d);
        atom.x[d] = x[d] - at[d] * box->edge[d];
        atom.v[d] = start_velocity(box, site, d);
        if (floor(x[d] / box->edge[d]) != at[d])
            return;
    }
    if (start_filled(box, site, x))
        atoms_arrive(atoms, &atom, 1);
}

void start_fill(struct md_atoms *atoms, const struct md_box *box, const int at[3])
{
    int first[3], end[3], u[3];

    for (int d = 0; d < 3; d++) {
        first[d] = (int)floor(at[d] * box->edge[d] / start_unit(box, d));
        end[d]   = (int)fmin(box->unit[d], ceil((at[d] + 1) * box->edge[d] / start_unit(box, d)));
    }
    for (u[0] = first[0]; u[0] < end[0]; u[0]++)
        for (u[1] = first[1]; u[1] < end[1]; u[1]++)
            for (u[2] = first[2]; u[2] < end[2]; u[2]++)
                for (int centre = 0; centre < 2; centre++)
                    start_visit(atoms, box, at, u, centre);
}
