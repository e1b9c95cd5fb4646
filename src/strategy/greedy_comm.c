/* SPDX-License-Identifier: Apache-2.0 */
/*
 * greedy_comm.c - the strategy greedy-comm: heaviest object first, near the objects that it talks
 * to.
 *
 * The candidates for an object are the PE that ends it first, its present PE and the PEs of its
 * partners.  A partner that has been assigned counts with the whole cost of their messages, one
 * that has not with half of it on its present PE, where it may stay.  The object goes to the
 * candidate that saves the most messages among those that it does not lift above the limit, which
 * is GREEDY_COMM_TOLERANCE above the ideal time, and among those where the messages cost more time
 * than the object would gain elsewhere.  O((n + e) log P).
 */
#include "base/memory.h"
#include "strategy/adjacency.h"
#include "strategy/pe_heap.h"
#include "strategy/strategy.h"

#define GREEDY_COMM_TOLERANCE 0.03

struct greedy_comm {
    const skua_strategy_problem *problem;
    struct ski_loads             loads;
    struct ski_pe_heaps          heaps;
    struct ski_adjacency         adjacency;
    bool                        *assigned; /* of each object                                */
    double                      *saved;    /* of each PE: messages with partners there      */
    int32_t                     *found;    /* PEs with such messages                        */
    int32_t                      founds;
    double                       limit;
    int32_t                     *to;
};

/* Finds the PEs of the objects that object @p i exchanges messages with, and the time that it would
 * save on each of them. */
static void greedy_comm_find(struct greedy_comm *g, uint32_t i)
{
    g->founds = 0;
    for (uint32_t k = g->adjacency.start[i]; k < g->adjacency.start[i + 1]; k++) {
        uint32_t j    = g->adjacency.partner[k];
        int32_t  pe   = g->to[j];
        double   cost = g->adjacency.cost[k] * (g->assigned[j] ? 1 : 0.5);

        if (!(cost > 0)) /* it would not mark its PE as found */
            continue;
        if (g->saved[pe] == 0)
            g->found[g->founds++] = pe;
        g->saved[pe] += cost;
    }
}

static void greedy_comm_forget(struct greedy_comm *g)
{
    for (int32_t k = 0; k < g->founds; k++)
        g->saved[g->found[k]] = 0;
}

static double greedy_comm_end(const struct greedy_comm *g, int32_t pe, double load)
{
    return g->loads.time[pe] + load * g->loads.rate[pe];
}

/* Returns the PE for object @p i: of those that would end soon enough, the one that saves most time
 * of messages. */
static int32_t greedy_comm_pick(struct greedy_comm *g, uint32_t i)
{
    double  load = g->loads.load[i];
    int32_t best = ski_pe_heaps_best(&g->heaps, load), now = g->to[i];
    double  first = greedy_comm_end(g, best, load), saved_first;

    greedy_comm_find(g, i);
    saved_first = g->saved[best];
    for (int32_t k = -1; k < g->founds; k++) {
        int32_t pe  = k < 0 ? now : g->found[k];
        double  end = greedy_comm_end(g, pe, load);
        bool    may = end <= g->limit || end - g->saved[pe] <= first - saved_first;

        if (may && (g->saved[pe] > g->saved[best] || (pe == now && g->saved[pe] == g->saved[best])))
            best = pe;
    }
    greedy_comm_forget(g);
    return best;
}

static void greedy_comm_assign(struct greedy_comm *g, const uint32_t *sorted, uint32_t count)
{
    for (uint32_t i = 0; i < g->problem->objects; i++)
        g->assigned[i] = !ski_loads_movable(&g->loads, g->problem, i);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = sorted[k];

        g->to[i]       = greedy_comm_pick(g, i);
        g->assigned[i] = true;
        ski_loads_add(&g->loads, g->to[i], i);
        ski_pe_heaps_update(&g->heaps, g->to[i]);
    }
}

skua_status ski_strategy_greedy_comm(const skua_strategy_problem *problem, int32_t *to)
{
    struct greedy_comm g = {.problem = problem, .to = to};
    uint32_t          *sorted, count;

    g.limit = ski_loads_ideal(problem) * (1 + GREEDY_COMM_TOLERANCE);
    ski_loads_init(&g.loads, problem, SKI_LOADS_FIXED);
    ski_pe_heaps_init(&g.heaps, &g.loads);
    ski_adjacency_init(&g.adjacency, problem);
    g.assigned = ski_malloc(((size_t)problem->objects + 1) * sizeof *g.assigned);
    g.saved    = ski_calloc((size_t)problem->pes, sizeof *g.saved);
    g.found    = ski_malloc((size_t)problem->pes * sizeof *g.found);
    sorted     = ski_loads_sorted(&g.loads, problem, &count);
    greedy_comm_assign(&g, sorted, count);
    free(sorted);
    free(g.found);
    free(g.saved);
    free(g.assigned);
    ski_adjacency_destroy(&g.adjacency);
    ski_pe_heaps_destroy(&g.heaps);
    ski_loads_destroy(&g.loads);
    return SKUA_OK;
}
