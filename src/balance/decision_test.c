/* SPDX-License-Identifier: Apache-2.0 */
/* decision_test.c - problems are in the order of PEs, whatever order loads came in; edges are found
 * by keys; nonsense is refused. */
#include "balance/decision.h"

#include "tests/tap.h"

static skua_status decision_test_far(const skua_strategy_problem *problem, int32_t *to)
{
    (void)problem;
    to[0] = 99;
    return SKUA_OK;
}

static skua_status decision_test_last(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = problem->pes - 1;
    return SKUA_OK;
}

static const skua_strategy decision_far  = {.name = "far", .decide = decision_test_far};
static const skua_strategy decision_last = {.name = "last", .decide = decision_test_last};

int main(void)
{
    struct ski_gathered_pe pe[]     = {{{.pe = 2, .host = 1, .idle = 1}, 2, 0, 4},
                                       {{.pe = 0, .background = 0.5}, 1, 0, 4},
                                       {{.pe = 1}, 0, 0, 2}};
    skua_strategy_object   object[] = {{.flags = SKUA_OBJECT_MOVABLE, .load = 3, .bytes = 10},
                                       {.flags = SKUA_OBJECT_MOVABLE, .load = 2, .bytes = 20},
                                       {.flags = SKUA_OBJECT_MOVABLE, .load = 1, .bytes = 30}};
    uint64_t               key[]    = {70, 80, 90};
    struct ski_comm_edge   edge[]   = {
            {.from = 90, .to = 70, .bytes = 5, .messages = 1},
            {.from = 90, .to = 70, .bytes = 6, .messages = 2},
            {.from = 70, .to = 80, .bytes = 7, .messages = 1},
            {.from = 70, .to = 444, .bytes = 7, .messages = 1},
            {.from = 80, .to = SKI_COMM_SECTION | 555, .bytes = 9, .messages = 3},
            {.from = SKI_COMM_SECTION | 555, .to = 80, .bytes = 9, .messages = 3},
            {.from = SKI_COMM_SECTION | 555, .to = 90, .bytes = 9, .messages = 3},
            {.from = 444, .to = 90, .bytes = 9, .messages = 3}};
    struct ski_gathered all = {
        .pes = 3, .objects = 3, .edges = 8, .pe = pe, .object = object, .key = key, .edge = edge};
    struct ski_decision made;

    ski_log_level = SKI_LOG_FATAL;
    OK(ski_decision_init(&made, &all, 3, 1), "a problem is made");
    OK(made.problem.objects == 3 && made.object[0].load == 1 && made.object[0].pe == 0 &&
           made.object[1].load == 3 && made.object[2].pe == 2,
       "objects are in the order of PEs");
    OK(made.problem.hosts == 2 && made.pe[2].idle == 1 && made.pe[0].background == 0.5,
       "PEs are, too");
    OK(made.idle == 0.1, "idle time is a share of the time by the clock, whatever loads are told");
    OK(made.problem.edges == 3 && made.edge[0].from == 0 && made.edge[0].to == 1 &&
           made.edge[0].messages == 3 && made.edge[0].bytes == 11 && made.edge[1].from == 1,
       "edges are sorted and combined");
    OK(made.edge[2].from == 2 && made.edge[2].to == 0 && made.edge[2].messages == 3 &&
           made.edge[2].bytes == 9,
       "a multicast is an edge from its sender to each other member of the section");
    OK(!ski_decision_run(&made, &decision_far) && made.moved == 0 && made.to[0] == 0,
       "a PE that does not exist is refused");
    OK(ski_decision_run(&made, &decision_last) && made.moved == 1 && made.bytes == 30 &&
           made.max_before == 5 && made.max_after == 6,
       "moves are counted, and loads predicted");
    ski_decision_destroy(&made);
    object[2].load = -1;
    OK(!ski_decision_init(&made, &all, 3, 1), "a load below 0 is refused");
    object[2].load = 1;
    pe[2].pe.pe    = 0;
    OK(!ski_decision_init(&made, &all, 3, 1), "a PE that was gathered twice is refused");
    return tap_end();
}
