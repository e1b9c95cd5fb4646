/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - the strategy graph: a partitioner (Scotch) divides the communication graph.
 *
 * Vertices are objects, weighted by load; edges are weighted by the cost of their messages
 * (adjacency.h).  The capacity of a part is what its PE can take up to the ideal time beside its
 * background; the partitioner itself counts immovable objects, which are fixed vertices.  It begins
 * with the present mapping and counts the cost to move an object; parts are then given to the PEs
 * that have most of them (relabel.h).
 *
 * A partitioner allows some imbalance, and more where single objects are heavy.  What it leaves
 * beyond refine's tolerance is refined, with few more moves.
 */
#include "strategy/graph.h"

#include <dlfcn.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/module.h"
#include "strategy/adjacency.h"
#include "strategy/loads.h"
#include "strategy/partitioner.h"
#include "strategy/random_bits.h"
#include "strategy/relabel.h"
#include "strategy/strategy.h"

/* The sum of weights, which has to fit 31 bits with what rounding adds. */
#define GRAPH_WEIGHTS ((double)(1 << 29))

struct graph {
    const skua_strategy_problem *problem;
    struct ski_loads             loads;
    struct ski_adjacency         adjacency;
    int32_t                     *start, *partner, *vertex, *edge, *capacity, *now, *cost;
    bool                        *fixed;
};

bool ski_graph_available(void)
{
    char path[4096];

    return ski_config.driver_path && ski_module_find("scotch", path, sizeof path);
}

static const struct ski_partitioner *graph_load(void)
{
    char                          reason[256];
    void                         *library = ski_module_open("scotch", reason, sizeof reason);
    const struct ski_partitioner *found   = library ? dlsym(library, SKI_PARTITIONER_SYMBOL) : NULL;

    if (found && found->version == SKI_PARTITIONER_VERSION)
        return found;
    ski_log(SKI_LOG_ERROR, "the strategy graph cannot be used: %s",
            library ? "skua-scotch.so belongs to another version of Skua" : reason);
    return NULL;
}

static double graph_scale(double sum)
{
    return sum > 0 ? GRAPH_WEIGHTS / sum : 0;
}

/* Loads and capacities, in one unit.  A part without room keeps a weight of 1. */
static void graph_weigh(struct graph *g)
{
    double ideal = ski_loads_ideal(g->problem), sum = 0, room, scale;

    for (int32_t p = 0; p < g->problem->pes; p++) {
        room = ideal - g->problem->pe[p].background;
        sum += room > 0 ? room / g->loads.rate[p] : 0;
    }
    scale = graph_scale(sum);
    for (int32_t p = 0; p < g->problem->pes; p++) {
        room           = (ideal - g->problem->pe[p].background) / g->loads.rate[p];
        g->capacity[p] = room * scale > 1 ? (int32_t)(room * scale) : 1;
    }
    sum = 0;
    for (uint32_t i = 0; i < g->problem->objects; i++)
        sum += g->loads.load[i];
    scale = graph_scale(sum);
    for (uint32_t i = 0; i < g->problem->objects; i++) {
        g->vertex[i] = 1 + (int32_t)(g->loads.load[i] * scale);
        g->now[i]    = g->problem->object[i].pe;
        g->fixed[i]  = !(g->problem->object[i].flags & SKUA_OBJECT_MOVABLE);
    }
}

/* Messages and moves, in one unit. */
static void graph_weigh_edges(struct graph *g)
{
    const struct ski_adjacency *a    = &g->adjacency;
    uint32_t                    ends = a->start[g->problem->objects];
    double                      byte = g->problem->seconds_per_byte, sum = 0, scale;

    byte = byte > 0 ? byte : SKI_SECONDS_PER_BYTE;
    for (uint32_t k = 0; k < ends; k++)
        sum += a->cost[k];
    for (uint32_t i = 0; i < g->problem->objects; i++)
        sum += (double)g->problem->object[i].bytes * byte;
    scale = graph_scale(sum);
    for (uint32_t k = 0; k < ends; k++) {
        g->partner[k] = (int32_t)a->partner[k];
        g->edge[k]    = 1 + (int32_t)(a->cost[k] * scale);
    }
    for (uint32_t i = 0; i < g->problem->objects; i++) {
        g->cost[i]  = (int32_t)((double)g->problem->object[i].bytes * byte * scale);
        g->start[i] = (int32_t)a->start[i];
    }
    g->start[g->problem->objects] = (int32_t)ends;
}

/* Makes the graph that a partitioner divides, with integers as its weights. */
static void graph_init(struct graph *g, const skua_strategy_problem *problem)
{
    size_t n = (size_t)problem->objects + 1, ends;

    g->problem = problem;
    ski_loads_init(&g->loads, problem, SKI_LOADS_ALL);
    ski_adjacency_init(&g->adjacency, problem);
    ends        = (size_t)g->adjacency.start[problem->objects] + 1;
    g->start    = ski_malloc(n * sizeof *g->start);
    g->vertex   = ski_malloc(n * sizeof *g->vertex);
    g->now      = ski_malloc(n * sizeof *g->now);
    g->cost     = ski_malloc(n * sizeof *g->cost);
    g->fixed    = ski_malloc(n * sizeof *g->fixed);
    g->partner  = ski_malloc(ends * sizeof *g->partner);
    g->edge     = ski_malloc(ends * sizeof *g->edge);
    g->capacity = ski_malloc((size_t)problem->pes * sizeof *g->capacity);
    graph_weigh(g);
    graph_weigh_edges(g);
}

static void graph_destroy(struct graph *g)
{
    free(g->capacity);
    free(g->edge);
    free(g->partner);
    free(g->fixed);
    free(g->cost);
    free(g->now);
    free(g->vertex);
    free(g->start);
    ski_adjacency_destroy(&g->adjacency);
    ski_loads_destroy(&g->loads);
}

/* Refines a mapping that a partitioner has made. */
static skua_status graph_refine(const skua_strategy_problem *problem, int32_t *to)
{
    skua_strategy_problem divided = *problem;
    skua_strategy_object *object  = ski_malloc(((size_t)problem->objects + 1) * sizeof *object);
    skua_status           status;

    for (uint32_t i = 0; i < problem->objects; i++) {
        object[i]    = problem->object[i];
        object[i].pe = to[i];
    }
    divided.object = object;
    status         = ski_strategy_refine(&divided, to);
    free(object);
    return status;
}

skua_status ski_strategy_graph(const skua_strategy_problem *problem, int32_t *to)
{
    const struct ski_partitioner *partitioner = graph_load();
    struct graph                  g;
    struct ski_partition          division;
    uint64_t                      state = problem->seed;
    bool                          ok;

    if (!partitioner)
        return SKUA_ERR_UNSUPPORTED;
    if (problem->pes == 1 || problem->objects == 0)
        return SKUA_OK;
    graph_init(&g, problem);
    division = (struct ski_partition){(int32_t)problem->objects,
                                      problem->pes,
                                      g.start,
                                      g.partner,
                                      g.vertex,
                                      g.edge,
                                      g.capacity,
                                      g.now,
                                      g.cost,
                                      g.fixed,
                                      (int32_t)(ski_random_bits(&state) >> 33)};
    ok       = partitioner->divide(&division, to);
    graph_destroy(&g);
    if (!ok)
        return SKUA_ERR_SYSTEM;
    ski_relabel(problem, to);
    return graph_refine(problem, to);
}
