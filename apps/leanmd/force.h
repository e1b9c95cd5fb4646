/* SPDX-License-Identifier: Apache-2.0 */
/*
 * force.h - the forces between the atoms of two cells, shared by leanmd and its MPI peer.
 *
 * The potential is that of Lennard and Jones, cut off at r = CUTOFF and shifted by a constant
 * there:
 *
 *     E(r) = A / r^12 - B / r^6 - (A / CUTOFF^12 - B / CUTOFF^6),    F = (12 A / r^14 - 6 B / r^8)
 * r
 *
 * F is the gradient of E, and E is continuous: an atom that crosses the cutoff does not change the
 * energy.  (F has a step there of 0.004 of its attractive maximum, which the shift does not touch.)
 *
 * Lengths are in angstroms, times in femtoseconds; the mass of an atom is 1, so that forces are
 * accelerations.  Forces and energies leave this file as integers, multiples of 2^-FORCE_BITS. Sums
 * of integers do not depend on the order of the terms: a run gives the same bits on any number of
 * PEs, with any placement of the objects.
 */
#ifndef FORCE_H
#define FORCE_H

#include <stdbool.h>
#include <stdint.h>

#define MASS      1.67e-27                          /* kg                             */
#define JOULE     (1 / (MASS * 1e10))               /* in units of the program        */
#define FACTOR_A  (1.60694452e-134 * 1e120 * JOULE) /* A and B of the paper's Table 5 */
#define FACTOR_B  (1.031093844e-77 * 1e60 * JOULE)
#define CUTOFF    12.0
#define TIME_STEP 1.0

#define CELL_ATOMS_MAX 1024
#define FORCE_BITS     52 /* of the fraction of a force or a potential energy */

/** The positions of the atoms of a cell, relative to its corner: all in x, in y, in z. */
struct force_atoms {
    int           n;
    const double *x;
};

/** Returns the number of integers that describe the forces on @p n atoms: those in x, in y, in z,
 *  and the potential energy. */
static inline int force_count(int n)
{
    return 3 * n + 1;
}

/** Computes the forces between the atoms of one cell. */
void force_within(const struct force_atoms *a, bool energy, int64_t *fa);

/** Computes the forces between the atoms of two cells; @p shift leads from the corner of the first
 *  to that of the second.  The energy of the pair, if the caller requests it, is added to the first
 *  cell. */
void force_between(const struct force_atoms *a, const struct force_atoms *b, const double shift[3],
                   bool energy, int64_t *fa, int64_t *fb);

#endif
