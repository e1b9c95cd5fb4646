/* SPDX-License-Identifier: Apache-2.0 */
/* comm_graph_test.c - random messages between keys, compared with a plain table. */
#include "objects/measure/comm_graph.h"

#include "tests/tap.h"

#define COMM_TEST_KEYS 40

/* The edge between two keys, or NULL. */
static const struct ski_comm_edge *comm_test_find(const struct ski_comm_graph *graph, uint64_t from,
                                                  uint64_t to)
{
    for (uint64_t i = 0; i <= graph->mask; i++)
        if (graph->edge[i].messages && graph->edge[i].from == from && graph->edge[i].to == to)
            return &graph->edge[i];
    return NULL;
}

static void comm_test_add(struct ski_comm_graph *graph, uint64_t from, uint64_t to, size_t bytes)
{
    if (!ski_comm_graph_try(graph, from, to, bytes))
        ski_comm_graph_search(graph, from, to, bytes);
}

static void comm_test_random(void)
{
    static uint64_t        messages[COMM_TEST_KEYS][COMM_TEST_KEYS];
    static uint64_t        bytes[COMM_TEST_KEYS][COMM_TEST_KEYS];
    struct ski_comm_graph *graph = ski_comm_graph_create();
    uint64_t               seed  = tap_seed();
    uint32_t               edges = 0;
    bool                   same  = true;

    for (int i = 0; i < 5000; i++) {
        size_t from = tap_random(&seed) % COMM_TEST_KEYS, to = tap_random(&seed) % COMM_TEST_KEYS;
        size_t size = tap_random(&seed) % 100;

        messages[from][to]++;
        bytes[from][to] += size;
        comm_test_add(graph, from + 1, to + 1, size); /* no key is 0 */
    }
    for (unsigned from = 0; from < COMM_TEST_KEYS; from++)
        for (unsigned to = 0; to < COMM_TEST_KEYS; to++) {
            const struct ski_comm_edge *edge = comm_test_find(graph, from + 1, to + 1);

            edges += messages[from][to] > 0;
            same &= edge ? edge->messages == messages[from][to] && edge->bytes == bytes[from][to]
                         : messages[from][to] == 0;
        }
    OK(same && graph->count == edges, "%u edges are counted", edges);
    ski_comm_graph_clear(graph);
    OK(graph->count == 0 && !comm_test_find(graph, 1, 2), "none is left after clearing");
    ski_comm_graph_destroy(graph);
}

static void comm_test_bound(void)
{
    struct ski_comm_graph *graph = ski_comm_graph_create();

    for (uint64_t i = 1; i <= 200000; i++)
        comm_test_add(graph, i, i * 7, 1);
    OK(graph->count == 131072 && graph->mask < 1 << 18, "the number of edges is bounded");
    comm_test_add(graph, 3, 21, 1);
    OK(comm_test_find(graph, 3, 21)->messages == 2, "those that are known are counted on");
    ski_comm_graph_destroy(graph);
}

int main(void)
{
    skua_index one = skua_index1(5), two = skua_index2(5, 0), three = skua_index3(5, 6, 7);

    comm_test_random();
    comm_test_bound();
    OK(ski_comm_key(1, &one) != ski_comm_key(2, &one) &&
           ski_comm_key(1, &three) != ski_comm_key(1, &two) &&
           ski_comm_key(1, &one) != ski_comm_key_section(1),
       "keys differ");
    return tap_end();
}
