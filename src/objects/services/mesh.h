/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh.h - arithmetic of a virtual mesh of PEs, and of routes through it.
 *
 * PE p has the coordinates of p in the mixed radix of the sizes, the last dimension fastest.  The
 * mesh may have a gap at its end: PEs that its sizes have room for, and which do not exist.
 *
 * A route corrects one coordinate after another, the last dimension first: inside a host at first,
 * then between hosts, so that the last hop, where an item needs no destination, is the expensive
 * one.  Where a hop would end in the gap it goes to the PE one back in the dimension before, which
 * always exists and is as near to any destination: only coordinates that are corrected later
 * change.  So no route has more hops than dimensions, and every PE sends to at most sum(size)
 * others.
 *
 * A *slot* numbers the PEs that a PE sends to: slot offset(k) + c is the neighbour whose coordinate
 * k is c.  The slot of dimension 0 with a PE's own coordinate is the PE itself.
 */
#ifndef SKI_MESH_H
#define SKI_MESH_H

#include <stdbool.h>

#include <skua/stream.h>
#include <skua/topology.h>

/** Sets *mesh to the mesh of @p size[0] x ... of @p pes PEs; size[0] 0: as large as needed. Returns
 * false if it has no room for them, or whole rows too many. */
bool ski_mesh_of(int pes, int dims, const int size[SKUA_MESH_DIMS], skua_mesh *mesh);

/** Returns a mesh of @p dims dimensions of about equal sizes, the last of them @p row. 0 stands for
 * dimensions that fit the number of PEs, or for any row. */
skua_mesh ski_mesh_choose(int pes, int dims, int row);

/** Returns the number of slots of a PE. */
int ski_mesh_slots(const skua_mesh *mesh);

/** Returns the PE that is slot @p slot of PE @p from. */
int ski_mesh_slot_pe(const skua_mesh *mesh, int from, int slot);

/** Returns whether a hop to slot @p slot is the last of a route. */
bool ski_mesh_slot_last(const skua_mesh *mesh, int slot);

/** Fills @p dim, from which skua_stream_route() computes the slot, on PE @p from, of the next hop
 * of a route. */
void ski_mesh_routes(const skua_mesh *mesh, int from, skua_stream_dim dim[SKUA_MESH_DIMS - 1]);

#endif
