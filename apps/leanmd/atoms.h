/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms.h - the box, its cells and their atoms, shared by leanmd and its MPI peer.
 *
 * A periodic box is divided into cells.  Atoms nearer than cutoff + margin are in the same cell or
 * in neighbours, which are up to `away` cells away: the edge of a cell is (CUTOFF + margin) / away.
 * Positions are relative to the corner of the cell.  Atoms change their cell every few steps, so
 * the margin bounds how far they may move in between.
 */
#ifndef ATOMS_H
#define ATOMS_H

#include <stdbool.h>
#include <stdint.h>

#include "force.h"

#define DIRECTIONS 27 /* directions in which an atom can leave its cell */
#define STAYS      13 /* the direction of an atom that stays */

/** The box.  start_prepare() sets the members after `droplet`. */
struct md_box {
    int      cells[3], away[3];
    double   margin;   /* angstroms */
    int64_t  per_cell; /* mean number of atoms of a cell; of a droplet: in a cell inside it */
    uint64_t seed;
    bool     droplet; /* the box contains a dense droplet in a gas */
    double   edge[3]; /* edges of a cell */
    int      unit[3]; /* unit cells of the lattice in each direction */
    int64_t  sites;   /* number of sites of the lattice */
    int64_t  atoms;   /* number of sites that atoms fill if the box is even */
};

struct md_atom {
    double x[3], v[3];
};

/** The atoms of a cell. */
struct md_atoms {
    int             n, room;
    struct md_atom *at;
};

/** Atoms that leave a cell, ordered by direction. */
struct md_leaving {
    int            first[DIRECTIONS + 1];
    struct md_atom at[CELL_ATOMS_MAX];
};

/** Sums over atoms as integers: multiples of 2^-SUM_BITS. */
struct md_sums {
    int64_t kinetic, potential, momentum[3], speed; /* speed: sum of the magnitudes of velocities */
    int64_t atoms, hash;                            /* hash: hash of all positions and velocities */
};

#define SUM_BITS 44

/** Returns the number of cells. */
int box_cells(const struct md_box *box);

/** Returns the number of a cell, in row-major order; indices beyond the box are wrapped. */
int box_number(const struct md_box *box, const int at[3]);

/** Returns the indices of the cell with this number. */
void box_indices(const struct md_box *box, int number, int at[3]);

/** Returns the number of neighbours of a cell, including itself. */
int box_neighbours(const struct md_box *box);

/** Returns the number of a neighbour.  Neighbours are in lexicographic order of their offsets: the
 *  middle one is the cell itself, and the forces between a cell and the neighbours after the middle
 *  are computed once.  With @p sign -1, returns the cell of which this cell is that neighbour. */
int box_neighbour(const struct md_box *box, const int at[3], int neighbour, int sign);

/** Returns the number of the cell that an atom enters when it leaves in a direction. */
int box_beside(const struct md_box *box, const int at[3], int direction);

/** Computes the vector from the corner of a cell to that of another, across the faces of the box if
 *  that is shorter. */
void box_shift(const struct md_box *box, const int from[3], const int to[3], double shift[3]);

/** Copies the positions, 3 * n numbers, for the computation of forces. */
void atoms_positions(const struct md_atoms *atoms, double *x);

/** Accelerates all atoms by their forces for half a step. */
void atoms_kick(struct md_atoms *atoms, const int64_t *force);

/** Moves all atoms for a step. */
void atoms_drift(struct md_atoms *atoms);

/** Computes the sums over the atoms, whose forces contain the potential energy. */
struct md_sums atoms_sum(const struct md_atoms *atoms, const int64_t *force);

/** Removes the atoms that have left the cell.  Returns false if one is not in a neighbour. */
bool atoms_leave(struct md_atoms *atoms, const struct md_box *box, struct md_leaving *leaving);

/** Adds atoms that have left another cell.  Returns false if they are too many for a cell. */
bool atoms_arrive(struct md_atoms *atoms, const struct md_atom *from, int n);

#endif
