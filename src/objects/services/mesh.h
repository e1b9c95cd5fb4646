/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - arithmetic of a mesh over PEs, and of ways through it.
 *
 * PE p has the coordinates of p in the mixed radix of the sizes, the last dimension
 * fastest.  The mesh may have a gap at its end: PEs that its sizes have room for, and
 * which do not exist.
 *
 * A way corrects one coordinate after another, the last dimension first: inside a host
 * at first, then between hosts, so that the last hop, where an item need not be told its
 * destination any more, is the expensive one.  Where a hop would end in the gap it goes
 * to the PE one back in the dimension before, which always exists and is as near to any
 * goal: only dimensions corrected later are changed.  So no way has more hops than
 * dimensions, and every PE sends to at most sum(size) others.
 *
 * A *slot* numbers the PEs that a PE sends to: slot offset(k) + c is the neighbour whose
 * coordinate k is c.  The slot of dimension 0 with one's own coordinate is oneself.
 */
#ifndef SKI_MESH_H
#define SKI_MESH_H

#include <stdbool.h>

#include <skua/topology.h>

/** The mesh of @p size[0] x ... over @p pes PEs; size[0] 0: as large as needed.  False:
 *  it has no room for them, or room for whole rows too much. */
bool ski_mesh_of(int pes, int dims, const int size[SKUA_MESH_DIMS], skua_mesh *mesh);

/** One of @p dims dimensions, 0: as fits the number of PEs, of about equal sizes; its
 *  last is @p row, or any if that is 0. */
skua_mesh ski_mesh_choose(int pes, int dims, int row);

/** How many slots, and of a slot seen from @p from: the PE; whether it is the last hop. */
int  ski_mesh_slots(const skua_mesh *mesh);
int  ski_mesh_slot_pe(const skua_mesh *mesh, int from, int slot);
bool ski_mesh_slot_last(const skua_mesh *mesh, int slot);

/** The slot of the next hop @p from there @p to there. */
int ski_mesh_route(const skua_mesh *mesh, int from, int to);

#endif
