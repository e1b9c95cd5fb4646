/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message_graph.c - the communication graph that a strategy receives: invocations, section
 * multicasts, section reductions and puts in channels are edges; broadcasts and reductions over the
 * array are not.
 *
 * Element 0 multicasts ROUNDS times to a section.  Its members contribute to reductions whose
 * results go to element 5, which invokes element 0 again for each.  Element 3 puts into a channel
 * of element 0 and contributes to a reduction over the array, as all do.  Then all reach a sync
 * point, at which the strategy of the program compares the edges with this traffic.
 */
#include <skua/skua.h>
#include <string.h>

#include "tap.h"

#define ELEMENTS 6
#define ROUNDS   3
#define LETTER   104 /* bytes of a multicast */
#define PACKET   256 /* bytes of a put       */

struct node {
    skua_section        section; /* section of element 0 */
    skua_object_channel channel;
    int                 rounds;
    bool                put;
    char                packet[PACKET];
};

/* The data of a multicast. */
struct letter {
    skua_section section;
    char         text[LETTER - sizeof(skua_section)];
};

static skua_class       node_class;
static skua_entry       begin_entry, open_entry, hear_entry, result_entry, again_entry, sync_entry;
static skua_channel_end in_end, out_end;
static skua_collection  nodes;  /* read-only */
static int              checks; /* number of checks by the strategy, on PE 0 */

static skua_ref node_ref(int i)
{
    return skua_element1(nodes, i);
}

/* ---- the strategy: it runs on PE 0 -------------------------------------------------- */

/* Edges as {from, to, messages, bytes}.  Objects are in the order of PEs, and a map places the
 * elements in their order. */
static const skua_strategy_edge expected[] = {
    {0, 1, ROUNDS, ROUNDS *LETTER},
    {0, 2, ROUNDS, ROUNDS *LETTER},
    {0, 3, 1, sizeof(skua_object_channel)},
    {0, 4, ROUNDS, ROUNDS *LETTER},
    {1, 5, ROUNDS, ROUNDS * 2 * sizeof(double)},
    {2, 5, ROUNDS, ROUNDS * 2 * sizeof(double)},
    {3, 0, 1, PACKET},
    {4, 5, ROUNDS, ROUNDS * 2 * sizeof(double)},
    {5, 0, ROUNDS, 0},
};

static skua_status decide_check(const skua_strategy_problem *problem, int32_t *to)
{
    uint32_t count = sizeof expected / sizeof *expected;

    (void)to;
    CHECK(problem->objects == ELEMENTS && problem->edges == count);
    for (uint32_t i = 0; i < count; i++)
        CHECK(memcmp(&problem->edge[i], &expected[i], sizeof *expected) == 0);
    checks++;
    return SKUA_OK;
}

static const skua_strategy check_strategy = {.name   = "check",
                                             .about  = "compares the edges",
                                             .flags  = SKUA_STRATEGY_NEEDS_GRAPH,
                                             .decide = decide_check};

/* ---- traffic ------------------------------------------------------------------------ */

static void node_buffer(void *self, uint64_t tag, skua_layout *at)
{
    struct node *n = self;

    (void)tag;
    *at = skua_layout_contiguous(n->packet, sizeof n->packet);
}

/* Element 0 continues when its results and the put have arrived. */
static void node_check_end(struct node *n)
{
    if (n->rounds == ROUNDS && n->put)
        skua_invoke_all(nodes, sync_entry, NULL, 0);
}

static void node_arrived(void *self, uint64_t tag)
{
    struct node *n = self;

    (void)tag;
    n->put = true;
    node_check_end(n);
}

static void node_multicast(const struct node *n)
{
    struct letter letter = {n->section, "a multicast"};

    skua_section_invoke(n->section, hear_entry, &letter, sizeof letter);
}

/* Runs on element 0. */
static void on_begin(void *self, const void *data, size_t bytes)
{
    struct node *n = self;

    CHECK(bytes == sizeof n->section);
    memcpy(&n->section, data, bytes);
    n->channel = skua_object_channel_create(self, in_end, 0);
    skua_invoke_copy(node_ref(3), open_entry, &n->channel, sizeof n->channel);
    node_multicast(n);
}

static void on_open(void *self, const void *data, size_t bytes)
{
    struct node *n = self;

    CHECK(bytes == sizeof n->channel);
    memcpy(&n->channel, data, bytes);
    skua_object_channel_open(self, node_ref(0), n->channel, out_end, 0);
    skua_object_channel_put(self, n->channel);
}

static void on_hear(void *self, const void *data, size_t bytes)
{
    const struct letter *letter = data;
    double               sum[2] = {1, 2};

    CHECK(bytes == LETTER);
    skua_section_contribute(letter->section, self,
                            skua_contribution_make(SKUA_SUM, SKUA_DOUBLE, sum, 2),
                            skua_done_invoke(node_ref(5), result_entry));
}

static void on_result(void *self, const void *data, size_t bytes)
{
    (void)self, (void)data;
    CHECK(bytes == 2 * sizeof(double));
    skua_invoke_copy(node_ref(0), again_entry, NULL, 0);
}

static void on_again(void *self, const void *data, size_t bytes)
{
    struct node *n = self;

    (void)data, (void)bytes;
    if (++n->rounds < ROUNDS)
        node_multicast(n);
    node_check_end(n);
}

static void on_sync(void *self, const void *data, size_t bytes)
{
    double one = 1;

    (void)data, (void)bytes;
    skua_contribute(self, SKUA_SUM, SKUA_DOUBLE, &one, 1, skua_done_nothing());
    skua_at_sync(self);
}

static void on_resume(void *self, const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    CHECK(skua_pe() != 0 || checks == 1);
    skua_contribute_nothing(self, skua_done_exit(0));
}

static int by_order(const skua_index *index, const skua_range *range, const int32_t *arg)
{
    (void)range, (void)arg;
    return index->at.x[0] * skua_pes() / ELEMENTS;
}

static uint32_t order_map;

static void begin(int argc, char **argv)
{
    skua_index     members[] = {skua_index1(1), skua_index1(2), skua_index1(4)};
    skua_array_def def       = {.size  = sizeof def,
                                .dims  = 1,
                                .range = {.dims = 1, .upper = {ELEMENTS}},
                                .map   = {.kind = order_map}};
    skua_section   section;

    (void)argc, (void)argv;
    nodes   = skua_array_create(node_class, &def, NULL, 0);
    section = skua_section_create(nodes, members, 3);
    skua_invoke_copy(node_ref(0), begin_entry, &section, sizeof section);
}

static void register_class(void)
{
    static const skua_class_def node = {
        .name = "node", .bytes = sizeof(struct node), .pup = skua_pup_plain};
    static const skua_channel_end_def in = {
        .name = "in", .buffer = node_buffer, .arrived = node_arrived};
    static const skua_channel_end_def out    = {.name = "out", .buffer = node_buffer};
    skua_balance_params               params = {.flags = SKUA_BALANCE_AT_SYNC};

    node_class    = skua_class_register(&node);
    begin_entry   = skua_method_register(node_class, "begin", on_begin, 0);
    open_entry    = skua_method_register(node_class, "open", on_open, 0);
    hear_entry    = skua_method_register(node_class, "hear", on_hear, 0);
    result_entry  = skua_method_register(node_class, "result", on_result, 0);
    again_entry   = skua_method_register(node_class, "again", on_again, 0);
    sync_entry    = skua_method_register(node_class, "sync", on_sync, 0);
    params.resume = skua_method_register(node_class, "resume", on_resume, 0);
    skua_class_set_balance(node_class, &params);
    in_end    = skua_channel_end_register(&in);
    out_end   = skua_channel_end_register(&out);
    order_map = skua_map_register("by-order", by_order);
}

int main(int argc, char **argv)
{
    register_class();
    skua_strategy_register(&check_strategy);
    skua_readonly_register("nodes", &nodes, sizeof nodes);
    return skua_program(argc, argv, begin);
}
