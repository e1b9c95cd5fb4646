/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_aware.c - the strategy topology: objects that talk come to one host, or to hosts that
 * are near each other.
 *
 *   1. Between hosts, greedy-comm groups the objects by their messages.  A second grouping begins
 *      with the present one, refined; a third is that of orb, or without positions that of graph.
 *      After steps 2 and 3, the one with the shortest ways is taken.
 *   2. Objects then move, one at a time, to a host of their partners where their messages travel
 *      fewer hops, if that host stays below the limit: TOPOLOGY_PASSES passes over all objects.
 *   3. Two groups exchange their hosts if that shortens the ways of messages, or of objects that
 *      have to move, and if the hosts can take the same load: TOPOLOGY_PASSES passes over all
 * pairs, for at most TOPOLOGY_HOSTS hosts.
 *   4. Inside each host, greedy-comm assigns the objects to PEs.
 *
 * The way of a message is its cost (adjacency.h) times the hops between the two hosts.
 */
#include "base/memory.h"
#include "strategy/adjacency.h"
#include "strategy/graph.h"
#include "strategy/host_parts.h"
#include "strategy/loads.h"
#include "strategy/problem.h"
#include "strategy/strategy.h"

#define TOPOLOGY_TOLERANCE 0.03
#define TOPOLOGY_PASSES    4
#define TOPOLOGY_HOSTS     128

struct topology_run {
    const skua_strategy_problem *top;
    struct ski_adjacency         adjacency;
    struct ski_loads             loads; /* of the hosts, as grouped */
    double                       limit;
    int32_t                     *group;
};

static int topology_hops(const struct topology_run *run, int32_t a, int32_t b)
{
    return ski_problem_hops(run->top, run->top->pe[a].host, run->top->pe[b].host);
}

/* ---- objects -------------------------------------------------------------------------------- */

/* Returns how far the messages of object @p i travel if it is on host @p h. */
static double topology_way(const struct topology_run *run, uint32_t i, int32_t h)
{
    double way = 0;

    for (uint32_t k = run->adjacency.start[i]; k < run->adjacency.start[i + 1]; k++)
        way +=
            run->adjacency.cost[k] * topology_hops(run, h, run->group[run->adjacency.partner[k]]);
    return way;
}

/* Up to eight hosts of partners are tried, so an object with many partners costs no more than
 * eight times their number. */
static int32_t topology_pick(const struct topology_run *run, uint32_t i)
{
    int32_t tried[8], n = 0, best = run->group[i];
    double  least = topology_way(run, i, best);

    for (uint32_t k = run->adjacency.start[i]; k < run->adjacency.start[i + 1] && n < 8; k++) {
        int32_t h = run->group[run->adjacency.partner[k]], seen = 0;
        double  way;

        while (seen < n && tried[seen] != h)
            seen++;
        if (seen < n || h == run->group[i])
            continue;
        tried[n++] = h;
        if (run->loads.time[h] + run->loads.load[i] * run->loads.rate[h] > run->limit)
            continue;
        way = topology_way(run, i, h);
        if (way < least) {
            least = way;
            best  = h;
        }
    }
    return best;
}

/* Makes one pass over all objects. Returns how many have moved. */
static uint32_t topology_improve(struct topology_run *run)
{
    uint32_t moved = 0;

    for (uint32_t i = 0; i < run->top->objects; i++) {
        int32_t h;

        if (!(run->top->object[i].flags & SKUA_OBJECT_MOVABLE))
            continue;
        h = topology_pick(run, i);
        if (h == run->group[i])
            continue;
        ski_loads_subtract(&run->loads, run->group[i], i);
        ski_loads_add(&run->loads, h, i);
        run->group[i] = h;
        moved++;
    }
    return moved;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The costs of messages between groups, and of the objects of group g that are on host h. */
struct topology_matrix {
    int32_t  hosts;
    double  *messages, *present;
    int32_t *host;  /* of each group */
    bool    *fixed; /* the group has objects that cannot move */
};

/* Sums the time of messages between any two groups, and the time to move what is on each host, by
 * group. */
static void topology_matrix_init(struct topology_matrix *m, const struct topology_run *run)
{
    size_t hosts = (size_t)run->top->pes;
    double byte  = run->top->seconds_per_byte;

    byte        = byte > 0 ? byte : SKI_SECONDS_PER_BYTE;
    m->hosts    = run->top->pes;
    m->messages = ski_calloc(hosts * hosts, sizeof *m->messages);
    m->present  = ski_calloc(hosts * hosts, sizeof *m->present);
    m->host     = ski_malloc(hosts * sizeof *m->host);
    m->fixed    = ski_calloc(hosts, sizeof *m->fixed);
    for (int32_t g = 0; g < m->hosts; g++)
        m->host[g] = g;
    for (uint32_t i = 0; i < run->top->objects; i++) {
        const skua_strategy_object *object = &run->top->object[i];
        size_t                      g      = (size_t)run->group[i];

        m->present[g * hosts + (size_t)object->pe] += (double)object->bytes * byte;
        m->fixed[g] |= !(object->flags & SKUA_OBJECT_MOVABLE);
        for (uint32_t k = run->adjacency.start[i]; k < run->adjacency.start[i + 1]; k++)
            m->messages[g * hosts + (size_t)run->group[run->adjacency.partner[k]]] +=
                run->adjacency.cost[k];
    }
}

static void topology_matrix_destroy(struct topology_matrix *m)
{
    free(m->fixed);
    free(m->host);
    free(m->present);
    free(m->messages);
}

/* Returns the ways of the messages of group @p g, and of its objects from where they are, on host
 * @p h; the messages with group @p other, whose way an exchange keeps, are left out. */
static double topology_group_way(const struct topology_matrix *m, const struct topology_run *run,
                                 int32_t g, int32_t h, int32_t other)
{
    const double *messages = m->messages + (size_t)g * (size_t)m->hosts;
    const double *present  = m->present + (size_t)g * (size_t)m->hosts;
    double        way      = 0;

    for (int32_t k = 0; k < m->hosts; k++) {
        if (messages[k] > 0 && k != g && k != other)
            way += 2 * messages[k] * topology_hops(run, h, m->host[k]);
        if (present[k] > 0)
            way += present[k] * topology_hops(run, h, k);
    }
    return way;
}

/* Hosts of the same speed and background can exchange groups. */
static bool topology_alike(const struct topology_run *run, int32_t a, int32_t b)
{
    const skua_strategy_pe *x = &run->top->pe[a], *y = &run->top->pe[b];
    double                  margin = TOPOLOGY_TOLERANCE * run->limit;

    return x->speed == y->speed && x->background - y->background <= margin &&
           y->background - x->background <= margin;
}

static bool topology_exchange(struct topology_matrix *m, const struct topology_run *run, int32_t a,
                              int32_t b)
{
    int32_t x = m->host[a], y = m->host[b];

    if (m->fixed[a] || m->fixed[b] || !topology_alike(run, x, y))
        return false;
    if (topology_group_way(m, run, a, y, b) + topology_group_way(m, run, b, x, a) >=
        (topology_group_way(m, run, a, x, b) + topology_group_way(m, run, b, y, a)) * (1 - 1e-9))
        return false;
    m->host[a] = y;
    m->host[b] = x;
    return true;
}

/* Exchanges the hosts of pairs of groups for as long as that pays. */
static void topology_exchange_groups(struct topology_run *run)
{
    struct topology_matrix m;
    bool                   changed = true;

    if (run->top->pes > TOPOLOGY_HOSTS)
        return;
    topology_matrix_init(&m, run);
    for (int pass = 0; pass < TOPOLOGY_PASSES && changed; pass++) {
        changed = false;
        for (int32_t a = 0; a < m.hosts; a++)
            for (int32_t b = a + 1; b < m.hosts; b++)
                changed |= topology_exchange(&m, run, a, b);
    }
    for (uint32_t i = 0; i < run->top->objects; i++)
        run->group[i] = m.host[run->group[i]];
    topology_matrix_destroy(&m);
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Groups the objects, beginning as @p start does.  Returns the ways of all messages, twice. */
static double topology_group(struct topology_run *run, skua_strategy_fn start)
{
    double way = 0;

    for (uint32_t i = 0; i < run->top->objects; i++)
        run->group[i] = run->top->object[i].pe;
    start(run->top, run->group);
    ski_loads_init(&run->loads, run->top, SKI_LOADS_ALL);
    for (uint32_t i = 0; i < run->top->objects; i++) {
        ski_loads_subtract(&run->loads, run->top->object[i].pe, i);
        ski_loads_add(&run->loads, run->group[i], i);
    }
    for (int pass = 0; pass < TOPOLOGY_PASSES && topology_improve(run); pass++)
        ;
    topology_exchange_groups(run);
    ski_loads_destroy(&run->loads);
    for (uint32_t i = 0; i < run->top->objects; i++)
        way += topology_way(run, i, run->group[i]);
    return way;
}

static bool topology_positioned(const skua_strategy_problem *problem)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].flags & SKUA_OBJECT_POSITIONED)
            return true;
    return false;
}

/* The groupings to begin with; NULL ends the list. */
static void topology_starts(const skua_strategy_problem *problem, skua_strategy_fn start[4])
{
    int n = 0;

    start[n++] = ski_strategy_greedy_comm;
    start[n++] = ski_strategy_refine;
    if (topology_positioned(problem))
        start[n++] = ski_strategy_orb;
    else if (ski_graph_available())
        start[n++] = ski_strategy_graph;
    start[n] = NULL;
}

skua_status ski_strategy_topology(const skua_strategy_problem *problem, int32_t *to)
{
    struct ski_host_parts parts;
    size_t                bytes = ((size_t)problem->objects + 1) * sizeof *to;
    struct topology_run   run   = {.top = &parts.top};
    int32_t              *best  = ski_malloc(bytes);
    double                least = -1;
    skua_strategy_fn      start[4];
    skua_status           status;

    run.group = ski_malloc(bytes);
    ski_host_parts_init(&parts, problem);
    ski_adjacency_init(&run.adjacency, run.top);
    run.limit = ski_loads_ideal(run.top) * (1 + TOPOLOGY_TOLERANCE);
    topology_starts(problem, start);
    for (int k = 0; start[k]; k++) {
        double way = topology_group(&run, start[k]);

        if (least >= 0 && way >= least)
            continue;
        least = way;
        memcpy(best, run.group, bytes - sizeof *best);
    }
    status = ski_host_parts_decide(&parts, best, ski_strategy_greedy_comm, to);
    ski_adjacency_destroy(&run.adjacency);
    ski_host_parts_destroy(&parts);
    free(run.group);
    free(best);
    return status;
}
