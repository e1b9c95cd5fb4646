/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the hosts and CPUs of the PEs, and a mesh over all PEs.
 *
 * A *host* is a set of PEs that share memory: those for which skua_shares_memory() returns true.
 * (With SKUA_SHARED_MEMORY=0 every process is a host of its own.)
 *
 * All functions are called on a PE, and are look-ups: they send nothing.
 */
#ifndef SKUA_TOPOLOGY_H
#define SKUA_TOPOLOGY_H

#include <skua/api.h>

SKUA_BEGIN_DECLS

/** Returns the number of hosts of the job. */
SKUA_API int skua_hosts(void);

/** Returns the host of a PE, 0 .. skua_hosts()-1. Hosts are numbered in the order of their first
 *  PEs. */
SKUA_API int skua_host_of(int pe);

/** Returns the number of PEs of a host. */
SKUA_API int skua_host_pes(int host);

/** Returns the @p i-th PE of a host, in ascending order. */
SKUA_API int skua_host_pe(int host, int i);

/** The CPU that a PE runs on. CPUs and NUMA nodes have the numbers of the operating system; core,
 *  cache and package are identified by their first CPU. -1 is unknown: the PE is not bound to a CPU
 *  (SKUA_PIN=none, or a program that runs without a launcher), is on another host, or the system
 *  does not report it. */
typedef struct {
    int cpu;     /* the CPU itself */
    int core;    /* CPUs of a core share all caches */
    int cache;   /* CPUs that share the last-level cache */
    int package; /* a socket */
    int numa;    /* the NUMA node */
} skua_cpu;

/** Returns the CPU that @p pe runs on, with its core, cache, package and NUMA node. */
SKUA_API skua_cpu skua_cpu_of(int pe);

/** The distance of a PE from the caller, nearest first. */
typedef enum {
    SKUA_SAME_PE,      /* it is the caller */
    SKUA_SAME_CORE,    /* it shares a core */
    SKUA_SAME_CACHE,   /* it shares the last-level cache */
    SKUA_SAME_PACKAGE, /* it shares a socket */
    SKUA_SAME_HOST,    /* it shares memory; also if one of the CPUs is unknown */
    SKUA_ELSEWHERE     /* it is on another host */
} skua_nearness;

/** Returns the distance of a PE from the calling PE. */
SKUA_API skua_nearness skua_distance(int pe);

/** The largest number of dimensions of a mesh. */
#define SKUA_MESH_DIMS 3

/** A mesh of 1 to 3 dimensions over all PEs. PEs are laid out in row-major order and fill the mesh
 *  except for the end of its last row: the product of the sizes is at least the number of PEs.
 *  Every PE computes the same mesh. */
typedef struct {
    int pes, dims;             /* the number of PEs, and of dimensions */
    int size[SKUA_MESH_DIMS];  /* PEs along each dimension */
    int block[SKUA_MESH_DIMS]; /* distance in PEs between adjacent coordinates */
} skua_mesh;

/** Returns a mesh of @p dims dimensions; with 0, few PEs form a line, more a square or a cube. If
 *  all hosts have the same number of consecutive PEs, the last dimension is a host. */
SKUA_API skua_mesh skua_mesh_make(int dims);

/** Computes the coordinates of @p pe in @p mesh: sets mesh->dims entries of @p coord. */
SKUA_API void skua_mesh_coord(const skua_mesh *mesh, int pe, int coord[SKUA_MESH_DIMS]);

/** Returns the PE at given coordinates, or -1 if they are outside the mesh or in the gap at its
 *  end. */
SKUA_API int skua_mesh_pe(const skua_mesh *mesh, const int coord[SKUA_MESH_DIMS]);

SKUA_END_DECLS

#endif
