/* SPDX-License-Identifier: Apache-2.0 */
/* decision.c - see decision.h. */
#include "balance/decision.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "strategy/problem.h"
#include "strategy/quality.h"
#include "strategy/strategy.h"

/* ---- the problem ---------------------------------------------------------------------- */

/* Numbers the objects: those of PE p begin at first[p].  @p start has the number, among the
 * gathered ones, of the first object of each. */
static uint32_t *decision_number(const struct ski_gathered *all, int pes, uint32_t *start)
{
    uint32_t *first = ski_calloc((size_t)pes + 1, sizeof *first), before = 0;

    for (uint32_t i = 0; i < all->pes; i++) {
        start[all->pe[i].pe.pe]     = before;
        first[all->pe[i].pe.pe + 1] = all->pe[i].objects;
        before += all->pe[i].objects;
    }
    for (int pe = 0; pe < pes; pe++)
        first[pe + 1] += first[pe];
    return first;
}

/* Whether each PE was gathered at most once. */
static bool decision_is_distinct(const struct ski_gathered *all, int pes)
{
    bool *seen     = ski_calloc((size_t)pes, sizeof *seen);
    bool  distinct = true;

    for (uint32_t i = 0; i < all->pes; i++) {
        distinct &= !seen[all->pe[i].pe.pe];
        seen[all->pe[i].pe.pe] = true;
    }
    free(seen);
    return distinct;
}

/* An object by its key. */
struct decision_key {
    uint64_t key;
    uint32_t object;
};

static int decision_compare_keys(const void *a, const void *b)
{
    uint64_t x = ((const struct decision_key *)a)->key, y = ((const struct decision_key *)b)->key;

    return x < y ? -1 : x > y;
}

static const struct decision_key *decision_find_key(const struct decision_key *keys, uint32_t count,
                                                    uint64_t key)
{
    struct decision_key want = {key, 0};

    return bsearch(&want, keys, count, sizeof *keys, decision_compare_keys);
}

static int decision_compare_edges(const void *a, const void *b)
{
    const skua_strategy_edge *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Sorts the edges, and combines those between the same objects. */
static void decision_sort_edges(struct ski_decision *decision, uint32_t edges)
{
    skua_strategy_edge *edge = decision->edge;
    uint32_t            n    = 0;

    qsort(edge, edges, sizeof *edge, decision_compare_edges);
    for (uint32_t i = 0; i < edges; i++) {
        if (n > 0 && decision_compare_edges(&edge[n - 1], &edge[i]) == 0) {
            edge[n - 1].messages += edge[i].messages;
            edge[n - 1].bytes += edge[i].bytes;
        } else {
            edge[n++] = edge[i];
        }
    }
    decision->problem.edges = n;
}

/* Makes the edges of the problem; those to objects that are not listed are left out.  number[i] is
 * the object that was gathered as i. */
static void decision_make_edges(struct ski_decision *decision, const struct ski_gathered *all,
                                const uint32_t *number)
{
    struct decision_key *keys  = ski_malloc((all->objects + (size_t)1) * sizeof *keys);
    uint32_t             edges = 0;

    for (uint32_t i = 0; i < all->objects; i++)
        keys[i] = (struct decision_key){all->key[i], number[i]};
    qsort(keys, all->objects, sizeof *keys, decision_compare_keys);
    decision->edge = ski_malloc((all->edges + (size_t)1) * sizeof *decision->edge);
    for (uint32_t i = 0; i < all->edges; i++) {
        const struct decision_key *from = decision_find_key(keys, all->objects, all->edge[i].from);
        const struct decision_key *to   = decision_find_key(keys, all->objects, all->edge[i].to);

        if (from && to && to->object != from->object)
            decision->edge[edges++] = (skua_strategy_edge){
                from->object, to->object, all->edge[i].messages, all->edge[i].bytes};
    }
    free(keys);
    decision_sort_edges(decision, edges);
}

/* Places the PEs and objects in their order.  Returns the number of each object that was gathered.
 */
static uint32_t *decision_place(struct ski_decision *decision, const struct ski_gathered *all,
                                int pes)
{
    uint32_t *start  = ski_calloc((size_t)pes, sizeof *start);
    uint32_t *first  = decision_number(all, pes, start);
    uint32_t *number = ski_malloc((all->objects + (size_t)1) * sizeof *number);

    for (int pe = 0; pe < pes; pe++)
        decision->pe[pe] = (skua_strategy_pe){.speed = 1, .pe = pe};
    for (uint32_t i = 0; i < all->pes; i++)
        decision->pe[all->pe[i].pe.pe] = all->pe[i].pe;
    for (int pe = 0; pe < pes; pe++)
        for (uint32_t i = first[pe]; i < first[pe + 1]; i++) {
            uint32_t from = start[pe] + i - first[pe];

            decision->object[i]    = all->object[from];
            decision->object[i].pe = decision->to[i] = pe;
            number[from]                             = i;
        }
    free(start);
    free(first);
    return number;
}

/* Makes a problem of loads that were found valid, but for their values. */
static void decision_make(struct ski_decision *decision, const struct ski_gathered *all, int pes,
                          uint64_t seed)
{
    uint32_t *number;
    int32_t   hosts = 1;

    decision->pe     = ski_malloc((size_t)pes * sizeof *decision->pe);
    decision->object = ski_malloc((all->objects + (size_t)1) * sizeof *decision->object);
    decision->to     = ski_malloc((all->objects + (size_t)1) * sizeof *decision->to);
    number           = decision_place(decision, all, pes);
    for (int pe = 0; pe < pes; pe++)
        if (decision->pe[pe].host >= hosts)
            hosts = decision->pe[pe].host + 1;
    if (all->key)
        decision_make_edges(decision, all, number);
    free(number);
    decision->problem.size    = sizeof decision->problem;
    decision->problem.pes     = pes;
    decision->problem.hosts   = hosts;
    decision->problem.objects = all->objects;
    decision->problem.pe      = decision->pe;
    decision->problem.object  = decision->object;
    decision->problem.edge    = decision->edge;
    decision->problem.seed    = seed;
}

bool ski_decision_init(struct ski_decision *decision, const struct ski_gathered *all, int pes,
                       uint64_t seed)
{
    char text[SKI_PROBLEM_TEXT] = "a PE was gathered twice";

    *decision = (struct ski_decision){0};
    if (decision_is_distinct(all, pes)) {
        decision_make(decision, all, pes, seed);
        if (ski_problem_check(&decision->problem, text))
            return true;
    }
    ski_log(SKI_LOG_ERROR, "the loads that PEs have sent make no sense: %s: no object moves", text);
    ski_decision_destroy(decision);
    return false;
}

void ski_decision_destroy(struct ski_decision *decision)
{
    free(decision->pe);
    free(decision->object);
    free(decision->edge);
    free(decision->to);
    *decision = (struct ski_decision){0};
}

/* ---- the result ----------------------------------------------------------------------- */

/* Records how good the moves are. */
static void decision_judge(struct ski_decision *decision)
{
    const skua_strategy_problem *problem = &decision->problem;
    struct ski_quality           before  = ski_quality_of(problem, NULL, NULL);
    struct ski_quality           after   = ski_quality_of(problem, decision->to, NULL);
    double                       idle    = 0;

    for (int pe = 0; pe < problem->pes; pe++)
        idle += problem->pe[pe].idle;
    decision->max_before = before.max;
    decision->mean       = before.mean;
    decision->max_after  = after.max;
    decision->moved      = after.moved;
    decision->bytes      = after.moved_bytes;
    decision->idle       = idle > 0 ? idle / (idle + before.mean * problem->pes) : 0;
}

bool ski_decision_run(struct ski_decision *decision, const skua_strategy *strategy)
{
    const skua_strategy_problem *problem = &decision->problem;
    char                         text[SKI_STRATEGY_TEXT];
    bool                         valid = ski_strategy_decide(strategy, problem, decision->to, text);

    if (!valid)
        ski_log(SKI_LOG_ERROR, "%s: no object moves", text);
    decision_judge(decision);
    return valid;
}
