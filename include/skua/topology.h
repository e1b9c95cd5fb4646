/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - where the PEs of the job are: hosts, processors, and a mesh over all.
 *
 * A *host* here is what shares memory: PEs of one host are those that skua_near()
 * is true for.  (With SKUA_SHARE=0 every process is a host of its own.)
 *
 * All calls belong on a PE.  The first that asks for other hosts asks the launcher
 * about each of them once; after that all are look-ups.
 */
#ifndef SKUA_TOPOLOGY_H
#define SKUA_TOPOLOGY_H

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** Hosts of the job. */
SKUA_API int skua_hosts(void);

/** The host of a PE, 0 .. skua_hosts()-1: in the order of their first PEs. */
SKUA_API int skua_host_of(int pe);

/** How many PEs a host has, and the PE with number @p i among them, ascending. */
SKUA_API int skua_host_pes(int host);
SKUA_API int skua_host_pe(int host, int i);

/**
 * Where a PE runs.  Numbers of CPUs and NUMA nodes are the system's; core, cache and
 * package are each named by the first CPU they have.  -1: not known, since the PE is
 * bound to no CPU (SKUA_PIN=none, or a program that nobody launched), is on another
 * host, or the system does not say.
 */
typedef struct {
    int cpu;
    int core;    /* CPUs of a core share everything  */
    int cache;   /* CPUs that share the last cache   */
    int package; /* a socket                         */
    int numa;
} skua_place;

SKUA_API skua_place skua_place_of(int pe);

/** How far a PE is from the caller, nearest first. */
typedef enum {
    SKUA_SAME_PE,
    SKUA_SAME_CORE,
    SKUA_SAME_CACHE,
    SKUA_SAME_PACKAGE,
    SKUA_SAME_HOST, /* or where its CPU, or ours, is not known */
    SKUA_ELSEWHERE
} skua_nearness;

SKUA_API skua_nearness skua_distance(int pe);

/**
 * A mesh of 1 to 3 dimensions over all PEs.  PEs are laid out in order, the last
 * dimension fastest, and fill the mesh but for the end of its last row: the product
 * of the sizes is at least the number of PEs.  Every PE makes the same mesh.
 */
#define SKUA_MESH_DIMS 3

typedef struct {
    int pes, dims;
    int size[SKUA_MESH_DIMS];
    int block[SKUA_MESH_DIMS]; /* PEs from one coordinate to the next */
} skua_mesh;

/** A mesh of so many dimensions; 0 chooses: few PEs form a line, more a square or a
 *  cube.  Where hosts have equally many PEs, in order, the last dimension is a host. */
SKUA_API skua_mesh skua_mesh_make(int dims);

/** The coordinates of a PE: mesh->dims of them. */
SKUA_API void skua_mesh_coord(const skua_mesh *mesh, int pe, int coord[SKUA_MESH_DIMS]);

/** The PE there, or -1: outside, or in the gap at the end. */
SKUA_API int skua_mesh_pe(const skua_mesh *mesh, const int coord[SKUA_MESH_DIMS]);

SKUA_END_DECLS

#endif
