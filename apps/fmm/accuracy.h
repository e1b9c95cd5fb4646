/* SPDX-License-Identifier: Apache-2.0 */
/* accuracy.h - order and separation of the fast multipole method by the accuracy that is asked for.
 */
#ifndef FMM_ACCURACY_H
#define FMM_ACCURACY_H

#include "solve.h"

#define ERROR_LEAST 1e-10
#define ERROR_MOST  1e-1

/** Sets the order, the separation and the bodies of a leaf, each unless it is given (not 0), so
 * that the relative errors of the energy and of potentials are at most @p error, with the least
 * work. */
void accuracy_choose(struct solve_rule *rule, double error);

#endif
