/* SPDX-License-Identifier: Apache-2.0 */
/* strategies_test.c - every strategy against bounds, on made and random problems; wrong plug-ins.
 */
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "strategy/loads.h"
#include "strategy/local_rounds.h"
#include "strategy/neighbours.h"
#include "strategy/problem_make.h"
#include "strategy/quality.h"
#include "strategy/relabel.h"
#include "strategy/strategy.h"
#include "tests/tap.h"

/* What a strategy has made of a problem. */
struct strategies_test_result {
    struct ski_quality q;
    int32_t           *to;
    bool               ok;
};

static struct strategies_test_result strategies_test_run(const char                  *name,
                                                         const skua_strategy_problem *problem)
{
    struct strategies_test_result r;
    char                          text[SKI_STRATEGY_TEXT] = "not found";
    const skua_strategy          *strategy                = skua_strategy_find(name);

    r.to = ski_malloc(((size_t)problem->objects + 1) * sizeof *r.to);
    r.ok = strategy && (strategy->flags & SKUA_STRATEGY_LOCAL
                            ? ski_local_rounds(strategy, problem, 0, r.to, NULL, text)
                            : ski_strategy_decide(strategy, problem, r.to, text));
    if (r.ok)
        r.q = ski_quality_of(problem, r.to, NULL);
    else
        printf("# %s: %s\n", name, text);
    return r;
}

static struct ski_quality strategies_test_quality(const char                  *name,
                                                  const skua_strategy_problem *problem)
{
    struct strategies_test_result r = strategies_test_run(name, problem);

    free(r.to);
    return r.ok ? r.q : (struct ski_quality){.max = 1e300, .pe_bytes = UINT64_MAX};
}

static double strategies_test_heaviest(const skua_strategy_problem *problem)
{
    double most = 0;

    for (uint32_t i = 0; i < problem->objects; i++)
        most = problem->object[i].load > most ? problem->object[i].load : most;
    return most;
}

static double strategies_test_fixed(const skua_strategy_problem *problem)
{
    struct ski_loads loads;
    double           most;

    ski_loads_init(&loads, problem, SKI_LOADS_FIXED);
    most = ski_loads_max(&loads);
    ski_loads_destroy(&loads);
    return most * (1 + 1e-9); /* sums of another order are rounded in another way */
}

static struct ski_problem strategies_test_make(const char *kind, int pes, int hosts,
                                               uint32_t objects, uint64_t seed)
{
    struct ski_problem_size size = {pes, hosts, objects, seed};
    struct ski_problem      problem;
    char                    text[SKI_PROBLEM_TEXT] = "";

    if (!ski_problem_make(kind, &size, &problem) || !ski_problem_check(&problem.problem, text)) {
        printf("Bail out! %s: %s\n", kind, text);
        exit(1);
    }
    return problem;
}

/* ---- greedy and refine ---------------------------------------------------------------------- */

/* The least possible longest time, by trying all: for small problems. */
static double strategies_test_optimum(const skua_strategy_problem *problem, int32_t *to, uint32_t i,
                                      double best)
{
    if (i == problem->objects) {
        double now = ski_quality_of(problem, to, NULL).max;
        return now < best ? now : best;
    }
    for (int32_t k = 0; k < problem->pes; k++) {
        to[i] = k;
        best  = strategies_test_optimum(problem, to, i + 1, best);
    }
    return best;
}

static void test_strategies_greedy_optimum(uint64_t *seed)
{
    int bad = 0;

    for (int round = 0; round < 20; round++) {
        int                pes = 2 + (int)(tap_random(seed) % 2);
        struct ski_problem p   = strategies_test_make("random", pes, 1, 8, tap_random(seed));
        int32_t            to[8];
        double             best = strategies_test_optimum(&p.problem, to, 0, 1e300);

        bad += strategies_test_quality("greedy", &p.problem).max >
               best * (4 / 3.0 - 1 / (3.0 * pes)) + 1e-12;
        ski_problem_destroy(&p);
    }
    OK(bad == 0, "greedy is within 4/3 - 1/(3P) of the optimum (%d are not)", bad);
}

/* Two objects of each load 2P-1 .. P+1 and three of load P: greedy reaches its bound exactly. */
static void test_strategies_greedy_worst(void)
{
    enum { WORST_PES = 5, WORST_OBJECTS = 2 * WORST_PES + 1 };
    skua_strategy_pe      pe[WORST_PES]         = {{0}};
    skua_strategy_object  object[WORST_OBJECTS] = {{0}};
    skua_strategy_problem p                     = {
                            .pes = WORST_PES, .hosts = 1, .objects = WORST_OBJECTS, .pe = pe, .object = object};
    double max;

    for (int i = 0; i < WORST_OBJECTS; i++)
        object[i] = (skua_strategy_object){.flags = SKUA_OBJECT_MOVABLE,
                                           .load = i < WORST_OBJECTS - 1 ? 2 * WORST_PES - 1 - i / 2
                                                                         : WORST_PES};
    max = strategies_test_quality("greedy", &p).max;
    OK(max == 4 * WORST_PES - 1, "greedy reaches its bound where the bound is tight: %g of %d", max,
       3 * WORST_PES);
}

static void test_strategies_refine(uint64_t *seed)
{
    int worse = 0, many = 0, far = 0;

    for (int round = 0; round < 30; round++) {
        int                pes    = 2 + (int)(tap_random(seed) % 63);
        struct ski_problem p      = strategies_test_make(ski_problem_kinds[round % 6], pes, 1,
                                                         (uint32_t)pes * 20, tap_random(seed));
        struct ski_quality before = ski_quality_of(&p.problem, NULL, NULL);
        struct ski_quality refine = strategies_test_quality("refine", &p.problem);
        double             fixed  = strategies_test_fixed(&p.problem);
        double             bound  = before.ideal * 1.05 + strategies_test_heaviest(&p.problem);

        worse += refine.max > before.max * (1 + 1e-12);
        many += refine.moved > p.problem.objects / 2;
        far += refine.max > (bound > fixed ? bound : fixed);
        ski_problem_destroy(&p);
    }
    OK(worse == 0, "refine is never worse than before (%d are)", worse);
    OK(many == 0, "refine moves less than half of the objects (%d move more)", many);
    OK(far == 0, "refine comes near the ideal time (%d do not)", far);
}

static void test_strategies_refine_balanced(void)
{
    struct ski_problem p = strategies_test_make("even", 8, 2, 512, 1);

    OK(strategies_test_quality("refine", &p.problem).moved == 0,
       "refine moves nothing in a balanced problem");
    ski_problem_destroy(&p);
}

/* Two PEs, of which the first has ONES of the HYSTERESIS_OBJECTS objects of one second. */
#define HYSTERESIS_OBJECTS 2000

static struct ski_quality strategies_test_two(int32_t ones)
{
    skua_strategy_object  object[HYSTERESIS_OBJECTS] = {0};
    skua_strategy_pe      pe[2] = {{.speed = 1, .pe = 0}, {.speed = 1, .pe = 1}};
    skua_strategy_problem p     = {.size    = sizeof p,
                                   .pes     = 2,
                                   .hosts   = 1,
                                   .objects = HYSTERESIS_OBJECTS,
                                   .pe      = pe,
                                   .object  = object};

    for (int32_t i = 0; i < HYSTERESIS_OBJECTS; i++)
        object[i] = (skua_strategy_object){
            .pe = i >= ones, .load = 1, .bytes = 1, .flags = SKUA_OBJECT_MOVABLE};
    return strategies_test_quality("refine", &p);
}

/* A PE within the tolerance stays as it is; one above it becomes clearly better than that. */
static void test_strategies_refine_hysteresis(void)
{
    struct ski_quality within = strategies_test_two(1019), above = strategies_test_two(1021);

    OK(within.moved == 0, "refine leaves a PE alone that is 1.9 %% above the ideal time");
    OK(above.max <= 1005.5 && above.moved <= 21,
       "and brings one that is 2.1 %% above it to 0.5 %%: %g", above.max);
}

/* ---- all strategies -------------------------------------------------------------------------- */

static bool strategies_test_balances(const skua_strategy *strategy)
{
    return strcmp(strategy->name, "none") != 0 && strcmp(strategy->name, "rotate") != 0 &&
           strcmp(strategy->name, "random") != 0;
}

/* Runs a strategy twice on a problem.  Returns how many bounds it breaks. */
static int strategies_test_try(const skua_strategy *strategy, const skua_strategy_problem *p)
{
    struct strategies_test_result a = strategies_test_run(strategy->name, p),
                                  b = strategies_test_run(strategy->name, p);
    double fixed = strategies_test_fixed(p), ideal = ski_loads_ideal(p);
    double bound = ideal * 1.15 + strategies_test_heaviest(p);
    int    bad   = !a.ok || !b.ok;

    if (!bad && memcmp(a.to, b.to, p->objects * sizeof *a.to) != 0) {
        printf("# %s: two runs differ\n", strategy->name);
        bad++;
    }
    if (!bad && strategies_test_balances(strategy) && a.q.max > (bound > fixed ? bound : fixed)) {
        printf("# %s on %d PEs: %g, ideal %g\n", strategy->name, p->pes, a.q.max, ideal);
        bad++;
    }
    free(a.to);
    free(b.to);
    return bad;
}

static void test_strategies_all(uint64_t *seed)
{
    static const int     sizes[] = {1, 2, 3, 7, 16, 61};
    const skua_strategy *strategy;

    for (int s = 0; (strategy = skua_strategy_at(s)); s++) {
        int bad = 0;

        for (int k = 0; ski_problem_kinds[k]; k++)
            for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
                struct ski_problem p =
                    strategies_test_make(ski_problem_kinds[k], sizes[n], (sizes[n] + 3) / 4,
                                         (uint32_t)sizes[n] * 12, tap_random(seed));

                bad += strategies_test_try(strategy, &p.problem);
                ski_problem_destroy(&p);
            }
        OK(bad == 0, "%s: valid, the same in two runs, within its bound (%d are not)",
           strategy->name, bad);
    }
}

/* No object at all, and objects without a load. */
static void test_strategies_nothing(void)
{
    struct ski_problem   p = strategies_test_make("random", 5, 2, 100, 7);
    const skua_strategy *strategy;
    int                  empty = 0, uneven = 0;

    for (uint32_t i = 0; i < p.problem.objects; i++)
        p.object[i].load = 0;
    for (int s = 0; (strategy = skua_strategy_at(s)); s++)
        if (strategies_test_balances(strategy)) {
            struct ski_quality q = strategies_test_quality(strategy->name, &p.problem);

            if (q.max > 22)
                printf("# %s: %g objects on one of 5 PEs\n", strategy->name, q.max);
            uneven += q.max > 22;
        }
    p.problem.objects = p.problem.edges = 0;
    for (int s = 0; (strategy = skua_strategy_at(s)); s++)
        empty += strategies_test_try(strategy, &p.problem);
    OK(uneven == 0, "objects without loads are balanced by number (%d strategies do not)", uneven);
    OK(empty == 0, "a problem without objects (%d strategies fail)", empty);
    ski_problem_destroy(&p);
}

static void test_strategies_few_loads(void)
{
    struct ski_problem            p = strategies_test_make("even", 4, 1, 400, 1);
    struct strategies_test_result r;
    int                           moved = 0;

    for (uint32_t i = 0; i < 400; i++)
        p.object[i].load = p.object[i].pe == 0 && i % 4 == 0 ? 1 : 0;
    r = strategies_test_run("greedy", &p.problem);
    for (uint32_t i = 0; i < 400; i++)
        moved += p.object[i].load <= 0 && r.to[i] != p.object[i].pe;
    OK(moved == 0 && r.q.max < 8, "greedy leaves objects without a load where they are (%d)",
       moved);
    free(r.to);
    ski_problem_destroy(&p);
}

/* ---- positions, messages, hosts -------------------------------------------------------------- */

static void test_strategies_orb(uint64_t *seed)
{
    int bad = 0;

    for (int round = 0; round < 20; round++) {
        int                pes = 1 + (int)(tap_random(seed) % 100);
        struct ski_problem p =
            strategies_test_make(round % 2 ? "droplet" : "random", pes, 1, 2000, tap_random(seed));
        struct ski_quality q = strategies_test_quality("orb", &p.problem);

        bad += q.max > q.ideal + strategies_test_heaviest(&p.problem);
        ski_problem_destroy(&p);
    }
    OK(bad == 0, "orb is within the heaviest object of the ideal, on any number of PEs (%d)", bad);
}

/* Edges without messages: each object has more of them than there are PEs. */
static void test_strategies_empty_edges(void)
{
    struct ski_problem p   = strategies_test_make("droplet", 2, 1, 64, 3);
    int                bad = 0;

    for (uint32_t i = 0; i < p.problem.edges; i++)
        p.edge[i].messages = p.edge[i].bytes = 0;
    for (int k = 0; skua_strategy_at(k); k++)
        if (!(skua_strategy_at(k)->flags & SKUA_STRATEGY_LOCAL))
            bad += strategies_test_quality(skua_strategy_at(k)->name, &p.problem).max >= 1e300;
    OK(bad == 0, "edges without messages (%d strategies fail)", bad);
    ski_problem_destroy(&p);
}

static void test_strategies_traffic(void)
{
    struct ski_problem p      = strategies_test_make("droplet", 16, 4, 1728, 3);
    struct ski_quality random = strategies_test_quality("random", &p.problem);
    struct ski_quality greedy = strategies_test_quality("greedy", &p.problem);
    struct ski_quality comm   = strategies_test_quality("greedy-comm", &p.problem);
    struct ski_quality orb    = strategies_test_quality("orb", &p.problem);
    struct ski_quality refine = strategies_test_quality("refine", &p.problem);
    struct ski_quality levels = strategies_test_quality("hierarchical", &p.problem);
    struct ski_quality near   = strategies_test_quality("topology", &p.problem);

    OK(comm.pe_bytes < greedy.pe_bytes / 2, "greedy-comm has less than half of greedy's traffic");
    OK(orb.pe_bytes < random.pe_bytes / 3, "orb keeps neighbours together");
    OK(levels.host_bytes <= refine.host_bytes, "hierarchical has no more traffic between hosts "
                                               "than refine");
    OK(levels.moved <= 2 * refine.moved, "and does not move many more objects");
    OK(near.host_bytes < greedy.host_bytes / 3 && near.host_bytes <= refine.host_bytes,
       "topology keeps objects that talk on one host");
    if (skua_strategy_find("graph")) {
        struct ski_quality graph = strategies_test_quality("graph", &p.problem);

        OK(graph.pe_bytes < random.pe_bytes / 3 && graph.pe_bytes < comm.pe_bytes,
           "graph cuts few edges");
        OK(graph.moved < p.problem.objects, "and keeps objects where they are");
    }
    ski_problem_destroy(&p);
}

/* Hosts on a line: the distance of two is the difference of their numbers. */
static int strategies_test_line(const void *arg, int a, int b)
{
    (void)arg;
    return a > b ? a - b : b - a;
}

static void test_strategies_hops(void)
{
    struct ski_problem p = strategies_test_make("even", 32, 8, 4096, 1);
    struct ski_quality greedy, near;
    uint64_t           random = 5;

    p.problem.hops = strategies_test_line;
    for (uint32_t i = 0; i < p.problem.objects; i++) /* blocks of the grid on shuffled hosts */
        p.object[i].pe = (p.object[i].pe * 13 + (int32_t)(tap_random(&random) % 2)) % 32;
    greedy = strategies_test_quality("greedy-comm", &p.problem);
    near   = strategies_test_quality("topology", &p.problem);
    OK(near.hop_bytes < greedy.hop_bytes * 9 / 10,
       "topology shortens the ways between hosts: %.3g of %.3g", (double)near.hop_bytes,
       (double)greedy.hop_bytes);
    ski_problem_destroy(&p);
}

/* PEs whose labels are shifted by one get their old objects back. */
static void test_strategies_relabel(void)
{
    struct ski_problem p = strategies_test_make("even", 8, 2, 512, 1);
    int32_t            to[512];
    int                moved = 0;

    for (uint32_t i = 0; i < 512; i++)
        to[i] = (p.object[i].pe + 3) % 8;
    ski_relabel(&p.problem, to);
    for (uint32_t i = 0; i < 512; i++)
        moved += to[i] != p.object[i].pe;
    OK(moved == 0, "parts are given to the PEs that have them (%d objects move)", moved);
    ski_problem_destroy(&p);
}

/* ---- diffusion --------------------------------------------------------------------------------
 */

static void test_strategies_neighbours(void)
{
    int bad = 0;

    for (int pes = 1; pes < 200; pes++)
        for (int pe = 0; pe < pes; pe++) {
            int a[SKUA_NEIGHBOURS_MAX], n = ski_neighbours_of(pe, pes, a);

            bad += n > SKUA_NEIGHBOURS_MAX || (n == 0 && pes > 1);
            for (int k = 0; k < n; k++) {
                int b[SKUA_NEIGHBOURS_MAX], m = ski_neighbours_of(a[k], pes, b), found = 0;

                for (int j = 0; j < m; j++)
                    found += b[j] == pe;
                bad += found != 1 || a[k] == pe || a[k] < 0 || a[k] >= pes;
            }
        }
    OK(bad == 0, "links between neighbours are symmetric, without loops and duplicates (%d)", bad);
}

/* After r rounds, the longest time is at most the ideal one, a share of the first imbalance that
 * halves every few rounds, and the heaviest object. */
static void test_strategies_diffusion(void)
{
    static const int     sizes[]   = {64, 256, 1024};
    static const int     rounds[]  = {5, 10, 20, 40};
    static const double  share[]   = {0.6, 0.35, 0.15, 0.05};
    const skua_strategy *diffusion = skua_strategy_find("diffusion");
    char                 text[SKI_STRATEGY_TEXT];

    for (size_t n = 0; n < 3; n++) {
        struct ski_problem p =
            strategies_test_make("droplet", sizes[n], sizes[n] / 8, (uint32_t)sizes[n] * 20, 1);
        double   first = ski_quality_of(&p.problem, NULL, NULL).max;
        int32_t *to    = ski_malloc(p.problem.objects * sizeof *to);

        for (int k = 0; k < 4; k++) {
            struct ski_quality q;
            double             bound;

            ski_local_rounds(diffusion, &p.problem, rounds[k], to, NULL, text);
            q     = ski_quality_of(&p.problem, to, NULL);
            bound = q.ideal + share[k] * (first - q.ideal) + strategies_test_heaviest(&p.problem);
            OK(q.max <= bound, "diffusion, %d PEs, %d rounds: %.4f of at most %.4f, before %.4f",
               sizes[n], rounds[k], q.max, bound, first);
        }
        free(to);
        ski_problem_destroy(&p);
    }
}

/* ---- plug-ins ---------------------------------------------------------------------------------
 */

static skua_status strategies_test_out_of_range(const skua_strategy_problem *problem, int32_t *to)
{
    to[3] = problem->pes;
    return SKUA_OK;
}

static skua_status strategies_test_negative(const skua_strategy_problem *problem, int32_t *to)
{
    (void)problem;
    to[0] = -7;
    return SKUA_OK;
}

static skua_status strategies_test_moves_all(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = (to[i] + 1) % problem->pes;
    return SKUA_OK;
}

static skua_status strategies_test_fails(const skua_strategy_problem *problem, int32_t *to)
{
    to[0] = problem->pes - 1;
    return SKUA_ERR_NOMEM;
}

static void strategies_test_refused(const char *name, skua_strategy_fn decide, const char *words)
{
    skua_strategy        plugin = {sizeof plugin, name, "wrong", 0, 0, decide};
    struct ski_problem   p      = strategies_test_make("even", 4, 1, 16, 1);
    int32_t              to[16];
    char                 text[SKI_STRATEGY_TEXT] = "";
    int                  moved                   = 0;
    const skua_strategy *found;
    bool                 ok;

    p.object[5].flags = 0;
    skua_strategy_register(&plugin);
    found = skua_strategy_find(name);
    ok    = found && found->decide == decide && ski_strategy_decide(found, &p.problem, to, text);
    for (int i = 0; i < 16; i++)
        moved += to[i] != p.object[i].pe;
    OK(!ok && strstr(text, name) && strstr(text, words), "%s: refused: %s", name, text);
    OK(moved == 0, "%s: nothing moves", name);
    ski_problem_destroy(&p);
}

static void test_strategies_plug_ins(void)
{
    char text[SKI_STRATEGY_TEXT];
    int  last = 0;

    strategies_test_refused("wrong-range", strategies_test_out_of_range, "object 3 to PE 4");
    strategies_test_refused("wrong-negative", strategies_test_negative, "object 0 to PE -7");
    strategies_test_refused("wrong-immovable", strategies_test_moves_all, "object 5 from PE 1");
    strategies_test_refused("wrong-status", strategies_test_fails, "out of memory");
    while (skua_strategy_at(last))
        last++;
    OK(!skua_strategy_at(-1) && strcmp(skua_strategy_at(last - 1)->name, "wrong-status") == 0,
       "strategies of the program are last");
    OK(strstr(ski_strategy_names(text), "refine, greedy-comm") && strstr(text, "wrong-range"),
       "names: %s", text);
    OK(!skua_strategy_find("nix") && strstr(ski_strategy_explain("nix", text), "'nix'"), "%s",
       text);
    OK(strstr(ski_strategy_explain("graph", text), "libscotch-dev"), "%s", text);
}

/* Bounds that are proved hold for every seed; those that are measured are checked with one. */
int main(void)
{
    uint64_t seed = tap_seed(), fixed = 20;

    ski_config_load();
    test_strategies_greedy_optimum(&seed);
    test_strategies_greedy_worst();
    test_strategies_refine(&fixed);
    test_strategies_refine_balanced();
    test_strategies_refine_hysteresis();
    test_strategies_all(&fixed);
    test_strategies_nothing();
    test_strategies_few_loads();
    test_strategies_orb(&seed);
    test_strategies_empty_edges();
    test_strategies_traffic();
    test_strategies_hops();
    test_strategies_relabel();
    test_strategies_neighbours();
    test_strategies_diffusion();
    test_strategies_plug_ins();
    return tap_end();
}
