/* SPDX-License-Identifier: Apache-2.0 */
/* comm_graph.c - see comm_graph.h. */
#include "objects/measure/comm_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define COMM_GRAPH_LEAST 256
#define COMM_GRAPH_MOST  131072 /* edges of a PE */

/* ---- keys ------------------------------------------------------------------------------ */

/* The key of an index of up to eight bytes, which are the low ones of @p word. */
static inline uint64_t comm_key_short(uint64_t id, uint64_t word)
{
    uint64_t key = (word ^ id * SKI_GOLDEN) * SKI_GOLDEN;

    return key ^ key >> 32;
}

static inline uint64_t comm_word(const void *index, uint32_t bytes)
{
    uint64_t word;

    memcpy(&word, index, sizeof word);
    return bytes < 8 ? word & ((UINT64_C(1) << 8 * bytes) - 1) : word;
}

uint64_t ski_comm_key(uint64_t id, const skua_index *index)
{
    return comm_key_short(id, index->bytes <= 8 ? comm_word(&index->at, index->bytes)
                                                : ski_index_hash(index));
}

uint64_t ski_comm_key_of(const struct ski_object *object)
{
    skua_index index;

    if (SKI_LIKELY(object->index_bytes <= 8))
        return comm_key_short(object->of->id, comm_word(object->index.raw, object->index_bytes));
    index = ski_object_index_get(object);
    return ski_comm_key(object->of->id, &index);
}

/* ---- edges ----------------------------------------------------------------------------- */

static void comm_graph_alloc(struct ski_comm_graph *graph, uint64_t room)
{
    graph->edge  = ski_calloc(room, sizeof *graph->edge);
    graph->mask  = room - 1;
    graph->shift = (unsigned)__builtin_clzll(room) + 1;
}

struct ski_comm_graph *ski_comm_graph_create(void)
{
    struct ski_comm_graph *graph = ski_calloc(1, sizeof *graph);

    comm_graph_alloc(graph, COMM_GRAPH_LEAST);
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

/* The slot of an edge, or the free one where it belongs. */
static inline struct ski_comm_edge *comm_graph_find(const struct ski_comm_graph *graph,
                                                    uint64_t from, uint64_t to)
{
    uint64_t at = (from ^ (to << 1 | to >> 63)) * SKI_GOLDEN >> graph->shift;

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

    if (graph->count == COMM_GRAPH_MOST)
        return NULL;
    if (4 * (uint64_t)++graph->count > 3 * (graph->mask + 1))
        comm_graph_grow(graph);
    edge       = comm_graph_find(graph, from, to);
    edge->from = from;
    edge->to   = to;
    return edge;
}

void ski_comm_graph_add(struct ski_comm_graph *graph, uint64_t from, uint64_t to, size_t bytes)
{
    struct ski_comm_edge *edge = comm_graph_find(graph, from, to);

    if (SKI_UNLIKELY(!edge->messages) && !(edge = comm_graph_insert(graph, from, to)))
        return;
    edge->messages++;
    edge->bytes += bytes;
}
