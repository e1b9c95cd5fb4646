/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitioner.h - the contract of skua-scotch.so, a module (base/module.h) that is loaded when the
 * strategy graph is used.
 *
 * scotch/scotch.c implements it with the library Scotch.
 */
#ifndef SKI_PARTITIONER_H
#define SKI_PARTITIONER_H

#include <stdbool.h>
#include <stdint.h>

#define SKI_PARTITIONER_VERSION 1
#define SKI_PARTITIONER_SYMBOL  "ski_partitioner"

/* A graph to divide.  The neighbours of vertex v are partner[start[v]] .. partner[start[v + 1] -
 * 1]; each edge stands in both rows.  Sums of weights fit 31 bits. */
struct ski_partition {
    int32_t        vertices, parts;
    const int32_t *start, *partner;
    const int32_t *vertex_weight, *edge_weight;
    const int32_t *capacity;  /* of each part: weights in proportion to these                   */
    const int32_t *now;       /* of each vertex: the part it is in                              */
    const int32_t *move_cost; /* of each vertex: in the unit of edge_weight                     */
    const bool    *fixed;     /* of each vertex: it stays                                       */
    int32_t        seed;
};

/* The functions of the module. */
struct ski_partitioner {
    unsigned version; /* SKI_PARTITIONER_VERSION */

    /** Divides a graph so that the parts have weights in proportion to their capacities, and few
     *  edges and moves are cut: sets the part of each vertex.  Returns false if the library fails.
     *  The result depends on the arguments alone.  May be called from several threads. */
    bool (*divide)(const struct ski_partition *graph, int32_t *part);
};

#endif
