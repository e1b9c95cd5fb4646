/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.h - the distant images of a periodic box. */
#ifndef FMM_LATTICE_H
#define FMM_LATTICE_H

#include "expansion.h"

/** Adds the potential of all images of a box but those within @p separation, given its multipoles,
 * to its local expansion.  The sum goes over growing cubes of images; it exists if the box is
 * neutral. */
void lattice_add(double *local, const struct expansion *e, int separation, const double *multipole);

#endif
