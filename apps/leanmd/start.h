/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start.h - the atoms at the start, shared by leanmd and its MPI peer.
 *
 * Atoms begin on a body-centred lattice of the whole box with small random displacements: no two
 * overlap.  The atom at a site of the lattice depends only on the seed and the site, so any
 * distribution of the cells begins with the same atoms.
 */
#ifndef START_H
#define START_H

#include "atoms.h"

/** Computes the cells and the lattice of a box. */
void start_prepare(struct md_box *box);

/** Creates the atoms of the cell with these indices. */
void start_fill(struct md_atoms *atoms, const struct md_box *box, const int at[3]);

#endif
