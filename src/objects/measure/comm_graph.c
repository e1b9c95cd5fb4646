/* SPDX-License-Identifier: Apache-2.0 */
/* comm_graph.c - see comm_graph.h. */
#include "objects/measure/comm_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define COMM_GRAPH_MIN 256
#define COMM_GRAPH_MAX 131072 /* edges of a PE */

/* ---- keys ------------------------------------------------------------------------------ */

uint64_t ski_comm_key_long(uint64_t id, const skua_index *index)
{
    return (ski_index_hash(index) ^ id * SKI_GOLDEN) & ~SKI_COMM_SECTION;
}

uint64_t ski_comm_key_of(const struct ski_object *object)
{
    skua_index index = ski_object_index_get(object);

    return ski_comm_key(object->of->id, &index);
}

uint64_t ski_comm_key_section(uint64_t id)
{
    return id * SKI_GOLDEN | SKI_COMM_SECTION;
}

/* ---- edges ----------------------------------------------------------------------------- */

static void comm_graph_alloc(struct ski_comm_graph *graph, uint64_t room)
{
    graph->edge   = ski_calloc(room, sizeof *graph->edge);
    graph->mask   = room - 1;
    graph->shift  = (uint64_t)__builtin_clzll(room) + 1;
    graph->golden = SKI_GOLDEN;
}

struct ski_comm_graph *ski_comm_graph_create(void)
{
    struct ski_comm_graph *graph = ski_calloc(1, sizeof *graph);

    comm_graph_alloc(graph, COMM_GRAPH_MIN);
    return graph;
}

void ski_comm_graph_destroy(struct ski_comm_graph *graph)
{
    if (graph)
        free(graph->edge);
    free(graph);
}

void ski_comm_graph_clear(struct ski_comm_graph *graph)
{
    memset(graph->edge, 0, (graph->mask + 1) * sizeof *graph->edge);
    graph->count = 0;
}

/* Returns the slot of an edge, or the free one where it belongs. */
static inline struct ski_comm_edge *comm_graph_find(const struct ski_comm_graph *graph,
                                                    uint64_t from, uint64_t to)
{
    uint64_t at = (uint64_t)(ski_comm_graph_first(graph, from, to) - graph->edge);

    while (graph->edge[at].messages && (graph->edge[at].from != from || graph->edge[at].to != to))
        at = (at + 1) & graph->mask;
    return &graph->edge[at];
}

static void comm_graph_grow(struct ski_comm_graph *graph)
{
    struct ski_comm_edge *old  = graph->edge;
    uint64_t              room = graph->mask + 1;

    comm_graph_alloc(graph, 2 * room);
    for (uint64_t i = 0; i < room; i++)
        if (old[i].messages)
            *comm_graph_find(graph, old[i].from, old[i].to) = old[i];
    free(old);
}

/* Adds an edge that is new.  Returns its slot, or NULL if there are too many. */
static SKI_COLD struct ski_comm_edge *comm_graph_insert(struct ski_comm_graph *graph, uint64_t from,
                                                        uint64_t to)
{
    struct ski_comm_edge *edge;

    if (graph->count == COMM_GRAPH_MAX)
        return NULL;
    if (4 * (uint64_t)++graph->count > 3 * (graph->mask + 1))
        comm_graph_grow(graph);
    edge       = comm_graph_find(graph, from, to);
    edge->from = from;
    edge->to   = to;
    return edge;
}

void ski_comm_graph_search(struct ski_comm_graph *graph, uint64_t from, uint64_t to, size_t bytes)
{
    struct ski_comm_edge *edge = comm_graph_find(graph, from, to);

    if (SKI_UNLIKELY(!edge->messages) && !(edge = comm_graph_insert(graph, from, to)))
        return;
    edge->messages++;
    edge->bytes += bytes;
}
