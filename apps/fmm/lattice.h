/* SPDX-License-Identifier: Apache-2.0 */
/* lattice.h - the distant images of a periodic box. */
#ifndef FMM_LATTICE_H
#define FMM_LATTICE_H

#include "expansion.h"

/** Adds the potential of all images of a box, except those within @p separation, to its local
 *  expansion. The sum is the limit over growing cubes of images, which exists if the box is
 *  neutral. */
void lattice_add(double *local, const struct expansion *e, int separation, const double *multipole);

#endif
