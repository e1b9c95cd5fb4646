/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the model that ga_scf solves, and its solution by one process.
 *
 * A chain of sites with alternating bonds, so that there is a gap between occupied and empty
 * states. An electron feels the one-electron Hamiltonian h and the mean field of the others: the
 * Fock matrix is F = h + (V D + D V) / 2, D the density matrix, V a repulsion that falls off with
 * the distance.
 */
#ifndef GA_SCF_MODEL_H
#define GA_SCF_MODEL_H

/** Returns element (i, j) of the one-electron Hamiltonian. */
double model_hamiltonian(int i, int j);

/** Returns element (i, j) of the repulsion V. */
double model_repulsion(int i, int j);

/** Returns the least (@p side -1) or greatest (@p side 1) value that eigenvalues of the symmetric
 *  @p n x @p n matrix can have, by the discs of Gershgorin around its diagonal. */
double model_bound(const double *matrix, int n, int side);

/** Returns the energy of @p n sites after @p cycles cycles, by plain loops. */
double model_energy(int n, int cycles);

#endif
