/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tally.h - energies, momentum and number of atoms over a run, shared by leanmd and its MPI peer.
 *
 * A run is good if the energy changes by less than 1e-3 of |kinetic| + |potential|, the momentum by
 * less than 1e-12 of the sum of the |momenta| of the atoms, and the number of atoms not at all.
 */
#ifndef TALLY_H
#define TALLY_H

#include "atoms.h"

struct md_tally {
    int64_t        samples;
    struct md_sums first, last;
    double         drift, momentum; /* the largest relative changes so far */
};

/** Adds the sums at some step to the tally. */
void tally_add(struct md_tally *tally, const struct md_sums *sums);

/** Prints the line that begins with `result`; it does not depend on the number of PEs. Returns true
 *  if the run is good. */
bool tally_print(const struct md_tally *tally, const struct md_box *box, int64_t steps);

#endif
