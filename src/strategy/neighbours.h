/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h - the graph over the PEs along which local strategies move objects.
 *
 * PE i is linked with i - 1 and i + 1, and with i - c and i + c for a c near the square root of the
 * number of PEs (all modulo the number of PEs): a torus of any number of PEs.  These links are
 * short, but load would take as many rounds to spread as the mesh is wide, squared.  Two long
 * links, along a random permutation forward and backward, make the graph an expander: its diameter
 * is logarithmic, and rounds hardly grow with the number of PEs.  The permutation is a Feistel
 * network, so a PE computes its neighbours and stores no table.
 *
 * Links are symmetric: each of two neighbours lists the other.
 */
#ifndef SKI_NEIGHBOURS_H
#define SKI_NEIGHBOURS_H

#include <skua/strategy.h>

/** Sets the neighbours of @p pe, one of @p pes PEs, in the order short links, long links, without
 *  itself and without duplicates.  Returns their number, at most SKUA_NEIGHBOURS_MAX. */
int ski_neighbours_of(int pe, int pes, int neighbour[SKUA_NEIGHBOURS_MAX]);

#endif
