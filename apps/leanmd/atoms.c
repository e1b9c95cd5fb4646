/* SPDX-License-Identifier: Apache-2.0 */
/* atoms.c - see atoms.h. */
#include "atoms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"

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

/* Returns the direction in which an atom has left, and makes its position relative to its new cell.
 * Returns -1 if the atom is not in a neighbour. */
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
