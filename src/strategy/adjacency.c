/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adjacency.c - see adjacency.h.
 *
 * Edges are sorted by `from`, so one pass over them appends to each row partners in ascending order
 * twice: those that it sends to, and those that it receives from.  Each row is then merged.
 */
#include "strategy/adjacency.h"

#include "base/memory.h"

static void adjacency_count(struct ski_adjacency *a, const skua_strategy_problem *problem)
{
    for (uint32_t k = 0; k < problem->edges; k++) {
        a->start[problem->edge[k].from + 1]++;
        a->start[problem->edge[k].to + 1]++;
    }
    for (uint32_t i = 0; i < problem->objects; i++)
        a->start[i + 1] += a->start[i];
}

struct adjacency_entry {
    uint32_t partner;
    double   cost;
};

static int adjacency_compare(const void *a, const void *b)
{
    const struct adjacency_entry *x = a, *y = b;

    return x->partner < y->partner ? -1 : x->partner > y->partner;
}

static void adjacency_fill(struct adjacency_entry *entry, uint32_t *fill,
                           const skua_strategy_problem *problem)
{
    double message = problem->seconds_per_message, byte = problem->seconds_per_byte;

    if (message <= 0 && byte <= 0) {
        message = SKI_SECONDS_PER_MESSAGE;
        byte    = SKI_SECONDS_PER_BYTE;
    }
    for (uint32_t k = 0; k < problem->edges; k++) {
        const skua_strategy_edge *edge = &problem->edge[k];
        double cost = (double)edge->messages * message + (double)edge->bytes * byte;

        entry[fill[edge->from]++] = (struct adjacency_entry){edge->to, cost};
        entry[fill[edge->to]++]   = (struct adjacency_entry){edge->from, cost};
    }
}

/* Sorts the row of each object and adds what it has twice. */
static void adjacency_merge(struct ski_adjacency *a, struct adjacency_entry *entry,
                            uint32_t objects)
{
    uint32_t used = 0, begin = 0;

    for (uint32_t i = 0; i < objects; i++) {
        uint32_t end = a->start[i + 1], row = used;

        qsort(entry + begin, end - begin, sizeof *entry, adjacency_compare);
        a->start[i] = row;
        for (uint32_t k = begin; k < end; k++) {
            if (used == row || a->partner[used - 1] != entry[k].partner) {
                a->partner[used] = entry[k].partner;
                a->cost[used++]  = 0;
            }
            a->cost[used - 1] += entry[k].cost;
        }
        begin = end;
    }
    a->start[objects] = used;
}

void ski_adjacency_init(struct ski_adjacency *a, const skua_strategy_problem *problem)
{
    size_t                  entries = 2 * (size_t)problem->edges + 1, objects = problem->objects;
    struct adjacency_entry *entry = ski_malloc(entries * sizeof *entry);
    uint32_t               *fill  = ski_malloc((objects + 1) * sizeof *fill);

    a->start   = ski_calloc(objects + 1, sizeof *a->start);
    a->partner = ski_malloc(entries * sizeof *a->partner);
    a->cost    = ski_malloc(entries * sizeof *a->cost);
    adjacency_count(a, problem);
    memcpy(fill, a->start, (objects + 1) * sizeof *fill);
    adjacency_fill(entry, fill, problem);
    adjacency_merge(a, entry, problem->objects);
    free(fill);
    free(entry);
}

void ski_adjacency_destroy(struct ski_adjacency *a)
{
    free(a->start);
    free(a->partner);
    free(a->cost);
}
