/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy.h - the order and separation of the fast multipole method for a requested accuracy. */
#ifndef FMM_ACCURACY_H
#define FMM_ACCURACY_H

#include "solve.h"

#define ERROR_MIN 1e-10
#define ERROR_MAX 1e-1

/** Sets the order, the separation and the number of bodies of a leaf, each only if it is 0 (not
 *  given), so that the relative errors of the energy and of potentials are at most @p error, with
 *  the least work. */
void accuracy_choose(struct solve_rule *rule, double error);

#endif
