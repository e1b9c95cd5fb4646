/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scotch.c - the module skua-scotch.so: a graph is divided by Scotch; see partitioner.h.
 *
 * The parts are a complete graph with weights.  Scotch remaps: it begins with the present mapping
 * and weighs the cost of moves against that of cut edges.  Each call has a context of Scotch 7, so
 * calls do not share random numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <scotch.h>

#include "strategy/partitioner.h"

#define SCOTCH_IMBALANCE 0.02

/* Scotch's numbers may have 64 bits.  Returns a copy of @p n numbers, or NULL. */
static SCOTCH_Num *scotch_copy(const int32_t *from, size_t n)
{
    SCOTCH_Num *copy = malloc((n + 1) * sizeof *copy);

    for (size_t i = 0; copy && i < n; i++)
        copy[i] = from[i];
    return copy;
}

/* The arrays that Scotch refers to while it works. */
struct scotch_arrays {
    SCOTCH_Num *start, *partner, *vertex, *edge, *capacity, *now, *cost, *part;
};

static bool scotch_arrays_init(struct scotch_arrays *a, const struct ski_partition *g)
{
    size_t vertices = (size_t)g->vertices, edges = (size_t)g->start[g->vertices];

    a->start    = scotch_copy(g->start, vertices + 1);
    a->partner  = scotch_copy(g->partner, edges);
    a->vertex   = scotch_copy(g->vertex_weight, vertices);
    a->edge     = scotch_copy(g->edge_weight, edges);
    a->capacity = scotch_copy(g->capacity, (size_t)g->parts);
    a->now      = scotch_copy(g->now, vertices);
    a->cost     = scotch_copy(g->move_cost, vertices);
    a->part     = scotch_copy(g->now, vertices);
    if (!a->start || !a->partner || !a->vertex || !a->edge || !a->capacity || !a->now || !a->cost ||
        !a->part)
        return false;
    for (size_t i = 0; i < vertices; i++)
        a->part[i] = g->fixed[i] ? a->now[i] : -1; /* -1: Scotch decides */
    return true;
}

static void scotch_arrays_destroy(struct scotch_arrays *a)
{
    free(a->start);
    free(a->partner);
    free(a->vertex);
    free(a->edge);
    free(a->capacity);
    free(a->now);
    free(a->cost);
    free(a->part);
}

/* Initialises a context of one thread with random numbers of its own: results depend on the seed
 * alone. */
static bool scotch_context_init(SCOTCH_Context *context, int32_t seed)
{
    SCOTCH_contextInit(context);
    if (SCOTCH_contextOptionSetNum(context, SCOTCH_OPTIONNUMDETERMINISTIC, 1) != 0 ||
        SCOTCH_contextThreadSpawn(context, 1, NULL) != 0 || SCOTCH_contextRandomClone(context) != 0)
        return false;
    SCOTCH_contextRandomSeed(context, seed);
    SCOTCH_contextRandomReset(context);
    return true;
}

static bool scotch_remap(const struct ski_partition *g, struct scotch_arrays *a,
                         SCOTCH_Context *context, SCOTCH_Graph *graph, SCOTCH_Arch *arch,
                         SCOTCH_Strat *strategy)
{
    SCOTCH_Graph bound;
    bool         ok;

    if (SCOTCH_graphBuild(graph, 0, g->vertices, a->start, NULL, a->vertex, NULL,
                          g->start[g->vertices], a->partner, a->edge) != 0 ||
        SCOTCH_archCmpltw(arch, g->parts, a->capacity) != 0 ||
        SCOTCH_stratGraphMapBuild(strategy, SCOTCH_STRATSPEED | SCOTCH_STRATREMAP, g->parts,
                                  SCOTCH_IMBALANCE) != 0)
        return false;
    SCOTCH_graphInit(&bound);
    ok = SCOTCH_contextBindGraph(context, graph, &bound) == 0 &&
         SCOTCH_graphRemapFixed(&bound, arch, a->now, 1.0, a->cost, strategy, a->part) == 0;
    SCOTCH_graphExit(&bound);
    return ok;
}

static bool scotch_divide(const struct ski_partition *g, int32_t *part)
{
    struct scotch_arrays a = {0};
    SCOTCH_Context       context;
    SCOTCH_Graph         graph;
    SCOTCH_Arch          arch;
    SCOTCH_Strat         strategy;
    bool                 ok;

    SCOTCH_graphInit(&graph);
    SCOTCH_archInit(&arch);
    SCOTCH_stratInit(&strategy);
    ok = scotch_context_init(&context, g->seed) && scotch_arrays_init(&a, g) &&
         scotch_remap(g, &a, &context, &graph, &arch, &strategy);
    for (int32_t v = 0; ok && v < g->vertices; v++)
        part[v] = (int32_t)a.part[v];
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&graph);
    SCOTCH_contextExit(&context);
    scotch_arrays_destroy(&a);
    return ok;
}

extern const struct ski_partitioner ski_partitioner;

__attribute__((visibility("default")))
const struct ski_partitioner ski_partitioner = {SKI_PARTITIONER_VERSION, scotch_divide};
