/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the hosts and CPUs of the PEs, the network between hosts, and a mesh over all PEs.
 *
 * A *host* is a set of PEs that share memory: those for which skua_shares_memory() returns true.
 * (With SKUA_SHARED_MEMORY=0 every process is a host of its own.)
 *
 * The *interconnect* is the network between the hosts: a tree of switches or a torus, if Slurm or a
 * file describes it (SKUA_TOPOLOGY). Its unit of distance is the hop.
 *
 * All functions are called on a PE, and are look-ups: they send no message. The first call that
 * concerns the interconnect or the names of hosts requests the nodes of all hosts from the
 * launcher.
 */
#ifndef SKUA_TOPOLOGY_H
#define SKUA_TOPOLOGY_H

#include <stddef.h>

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

/** Returns the name of the node that a host is on: that of Slurm, else the one that the operating
 *  system has. The text is valid until the end of the job. */
SKUA_API const char *skua_host_name(int host);

/** What is known of the network between hosts. */
typedef enum {
    SKUA_INTERCONNECT_UNKNOWN, /* nothing: all hosts are one hop from each other     */
    SKUA_INTERCONNECT_TREE,    /* hosts are linked to switches, these to others       */
    SKUA_INTERCONNECT_TORUS    /* hosts have coordinates in a torus, or in a mesh     */
} skua_interconnect_kind;

/** The largest number of dimensions of a torus. */
#define SKUA_TORUS_DIMS 6

/** The network between the hosts of a job. */
typedef struct {
    skua_interconnect_kind kind;                  /* which of the members below are set   */
    int                    switches;              /* of a tree: the number of switches    */
    int                    levels;                /* of a tree: switches from leaf to root */
    int                    dims;                  /* of a torus: the number of dimensions */
    int                    size[SKUA_TORUS_DIMS]; /* of a torus: its sizes                */
    int                    wraps; /* 1: a torus; 0: a mesh, whose ends are not linked */
} skua_interconnect;

/** Writes what is known of the network between the hosts to @p interconnect, of which @p bytes
 *  bytes are written: sizeof(skua_interconnect). */
SKUA_API void skua_interconnect_get(skua_interconnect *interconnect, size_t bytes);

/** Returns the name of a switch of a host: with @p level 0 the switch that the host is linked to,
 *  with 1 the switch that this one is linked to, and so on. Returns NULL above the root, and if the
 *  interconnect is not a tree. The text is valid until the end of the job. */
SKUA_API const char *skua_host_switch(int host, int level);

/** Writes the coordinates of a host in the torus to @p coord. Returns the number of dimensions, or
 *  0 if the interconnect is not a torus. */
SKUA_API int skua_host_coord(int host, int coord[SKUA_TORUS_DIMS]);

/** Returns the first host of the job at given coordinates of the torus, or -1 if there is none. */
SKUA_API int skua_host_at(const int coord[SKUA_TORUS_DIMS]);

/** Returns the distance of two hosts: 0 from a host to itself, else at least 1. In a tree it is the
 *  number of switches on the way, in a torus the number of links; 1 if nothing is known. */
SKUA_API int skua_host_hops(int a, int b);

/** Returns the distance of two PEs in the interconnect: that of their hosts, 0 on one host. */
SKUA_API int skua_hops(int a, int b);

/** Writes the @p count PEs that are nearest to @p pe to @p nearest, excluding @p pe,
 *  the nearest first. PEs of its host come before others, in the order of skua_distance() if @p pe
 *  is the calling PE; those of other hosts follow, host by host, in the order of hops. Hosts that
 *  are equally near, and equally near PEs of one host, are in the order of their numbers, beginning
 *  after @p pe. Returns the number of PEs written, which is less than @p count if the job has
 *  fewer. */
SKUA_API int skua_nearest(int pe, int count, int *nearest);

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
