/* SPDX-License-Identifier: Apache-2.0 */
/* strategies_test.c - the strategies against bounds, on random problems. */
#include <string.h>

#include "base/memory.h"
#include "strategy/loads.h"
#include "strategy/random_bits.h"
#include "strategy/strategy.h"
#include "tests/tap.h"

enum { TEST_OBJECTS = 400 };

/* A problem with its memory. */
struct strategies_test_problem {
    skua_strategy_problem p;
    skua_strategy_pe      pe[64];
    skua_strategy_object  object[TEST_OBJECTS];
    int32_t               to[TEST_OBJECTS];
};

static double strategies_test_unit(uint64_t *seed)
{
    return (double)(tap_random(seed) >> 11) * 0x1p-53;
}

/* PEs of several speeds and backgrounds if @p varied; most objects on few PEs. */
static void strategies_test_make(struct strategies_test_problem *t, int pes, uint32_t objects,
                                 int varied, uint64_t *seed)
{
    memset(t, 0, sizeof *t);
    t->p = (skua_strategy_problem){.size    = sizeof t->p,
                                   .pes     = pes,
                                   .hosts   = (pes + 3) / 4,
                                   .objects = objects,
                                   .pe      = t->pe,
                                   .object  = t->object,
                                   .seed    = *seed};
    for (int p = 0; p < pes; p++)
        t->pe[p] = (skua_strategy_pe){varied ? strategies_test_unit(seed) : 0, 0,
                                      varied ? (double)(1 + tap_random(seed) % 3) : 0, p / 4, p};
    for (uint32_t i = 0; i < objects; i++) {
        double place = strategies_test_unit(seed);

        t->object[i] = (skua_strategy_object){
            .pe    = (int32_t)(place * place * pes),
            .flags = varied && i % 10 == 0 ? 0 : SKUA_OBJECT_MOVABLE,
            .load  = i % 7 == 6 ? 0 : strategies_test_unit(seed),
        };
    }
}

static double strategies_test_max(const skua_strategy_problem *p, const int32_t *to)
{
    double time[64], most = 0;

    for (int k = 0; k < p->pes; k++)
        time[k] = p->pe[k].background;
    for (uint32_t i = 0; i < p->objects; i++)
        time[to[i]] += p->object[i].load / ski_pe_speed(&p->pe[to[i]]);
    for (int k = 0; k < p->pes; k++)
        most = time[k] > most ? time[k] : most;
    return most;
}

static uint32_t strategies_test_moves(const skua_strategy_problem *p, const int32_t *to)
{
    uint32_t moves = 0;

    for (uint32_t i = 0; i < p->objects; i++)
        moves += to[i] != p->object[i].pe;
    return moves;
}

static double strategies_test_before(const skua_strategy_problem *p)
{
    int32_t to[TEST_OBJECTS];

    for (uint32_t i = 0; i < p->objects; i++)
        to[i] = p->object[i].pe;
    return strategies_test_max(p, to);
}

/* Runs a strategy and checks its result; returns the longest time. */
static double strategies_test_run(struct strategies_test_problem *t, const char *name)
{
    const skua_strategy *strategy = skua_strategy_find(name);
    char                 text[SKI_STRATEGY_TEXT];

    if (!strategy || !ski_strategy_decide(strategy, &t->p, t->to, text)) {
        OK(0, "%s: %s", name, strategy ? text : "not found");
        return 1e300;
    }
    return strategies_test_max(&t->p, t->to);
}

/* The least possible longest time, by trying all: for small problems. */
static double strategies_test_optimum(const skua_strategy_problem *p, int32_t *to, uint32_t i,
                                      double best)
{
    if (i == p->objects) {
        double now = strategies_test_max(p, to);
        return now < best ? now : best;
    }
    for (int32_t k = 0; k < p->pes; k++) {
        to[i] = k;
        best  = strategies_test_optimum(p, to, i + 1, best);
    }
    return best;
}

static void test_strategies_greedy_bound(uint64_t *seed)
{
    struct strategies_test_problem t;
    int                            bad = 0;

    for (int round = 0; round < 30; round++) {
        int     pes = 2 + (int)(tap_random(seed) % 2);
        int32_t to[TEST_OBJECTS];
        double  best;

        strategies_test_make(&t, pes, 8, 0, seed);
        best = strategies_test_optimum(&t.p, to, 0, 1e300);
        bad += strategies_test_run(&t, "greedy") > best * (4 / 3.0 - 1 / (3.0 * pes)) + 1e-12;
    }
    OK(bad == 0, "greedy is within 4/3 - 1/(3P) of the optimum (%d are not)", bad);
}

static void test_strategies_random_problems(uint64_t *seed)
{
    struct strategies_test_problem t;
    int                            worse = 0, greedy_bad = 0, refine_bad = 0, many = 0;

    for (int round = 0; round < 60; round++) {
        int    pes = 1 + (int)(tap_random(seed) % 64);
        double before, ideal, fixed = 0, greedy, refine;

        strategies_test_make(&t, pes, TEST_OBJECTS, round % 2, seed);
        before = strategies_test_before(&t.p);
        ideal  = ski_loads_ideal(&t.p);
        struct ski_loads all;
        ski_loads_init(&all, &t.p, SKI_LOADS_FIXED);
        fixed = ski_loads_max(&all);
        ski_loads_destroy(&all);
        greedy = strategies_test_run(&t, "greedy");
        greedy_bad += greedy > (ideal > fixed ? ideal : fixed) + 1;
        refine = strategies_test_run(&t, "refine");
        many += strategies_test_moves(&t.p, t.to) > TEST_OBJECTS * 3 / 4;
        worse += refine > before + 1e-9;
        refine_bad += refine > (ideal > fixed ? ideal : fixed) * 1.05 + 1;
    }
    OK(greedy_bad == 0, "greedy is within the heaviest object of the ideal (%d)", greedy_bad);
    OK(worse == 0, "refine is never worse than before (%d)", worse);
    OK(refine_bad == 0, "refine is near the ideal (%d)", refine_bad);
    OK(many == 0, "refine moves few objects (%d)", many);
}

int main(void)
{
    uint64_t seed = tap_seed();

    test_strategies_greedy_bound(&seed);
    test_strategies_random_problems(&seed);
    return tap_end();
}
