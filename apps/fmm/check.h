/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - comparison of a solution with the sum over all pairs, for a sample of the bodies. */
#ifndef FMM_CHECK_H
#define FMM_CHECK_H

#include "solve.h"

/** Relative errors over the sample. */
struct check_errors {
    /* Error of the energy of all bodies; an estimate unless all are checked. */
    double  energy;
    double  potential, field; /* root mean square errors */
    int64_t bodies;           /* number of bodies in the sample */
};

/** Computes the errors of a solution with total energy @p energy, for at most @p most of @p n
 *  bodies. The reference is direct summation or, with periodic boundaries, Ewald
 *  summation.  Collective. */
struct check_errors check_solution(const struct solver *s, int64_t n, int64_t most, double energy);

#endif
