/* SPDX-License-Identifier: Apache-2.0 */
/* decision.c - see decision.h. */
#include "balance/decision.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "objects/services/host_interconnect.h"
#include "strategy/loads.h"
#include "strategy/problem.h"
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

/* Returns whether each PE was gathered at most once. */
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

/* Half of a multicast: an object that sends to a section, or that a section delivers to. */
struct decision_half {
    uint64_t section; /* its key */
    uint64_t messages, bytes;
    uint32_t object;
};

static int decision_compare_halves(const void *a, const void *b)
{
    const struct decision_half *x = a, *y = b;

    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Edges as they are made: those between objects, and the halves of multicasts. */
struct decision_edges {
    skua_strategy_edge   *edge;
    struct decision_half *sent, *got;
    uint32_t              edges, sends, gets;
};

/* Edges that multicasts add, at most: each sender of a section reaches each member. */
#define DECISION_JOINED_MAX (1u << 20)

/* Returns the end of the halves that belong to the section of the one at @p at. */
static uint32_t decision_section_end(const struct decision_half *half, uint32_t count, uint32_t at)
{
    uint64_t section = half[at].section;

    while (at < count && half[at].section == section)
        at++;
    return at;
}

/* Adds an edge from each of some senders to each of some members of their section. */
static void decision_join_section(struct decision_edges *all, const struct decision_half *sent,
                                  uint32_t sends, const struct decision_half *got, uint32_t gets)
{
    for (uint32_t i = 0; i < sends; i++)
        for (uint32_t k = 0; k < gets; k++)
            if (sent[i].object != got[k].object && /* a member that has moved is listed twice */
                (k == 0 || got[k].object != got[k - 1].object))
                all->edge[all->edges++] = (skua_strategy_edge){sent[i].object, got[k].object,
                                                               sent[i].messages, sent[i].bytes};
}

/* Joins the halves of multicasts to edges; those of sections that would make too many are left
 * out. */
static void decision_join(struct decision_edges *all)
{
    uint64_t left = DECISION_JOINED_MAX;
    uint32_t s = 0, g = 0;

    qsort(all->sent, all->sends, sizeof *all->sent, decision_compare_halves);
    qsort(all->got, all->gets, sizeof *all->got, decision_compare_halves);
    while (s < all->sends && g < all->gets) {
        uint32_t s_end = decision_section_end(all->sent, all->sends, s),
                 g_end = decision_section_end(all->got, all->gets, g);
        uint64_t more  = (uint64_t)(s_end - s) * (g_end - g);

        if (all->sent[s].section < all->got[g].section) {
            s = s_end;
        } else if (all->sent[s].section > all->got[g].section) {
            g = g_end;
        } else {
            if (more <= left) {
                all->edge = ski_realloc(all->edge, (all->edges + more + 1) * sizeof *all->edge);
                decision_join_section(all, all->sent + s, s_end - s, all->got + g, g_end - g);
                left -= more;
            }
            s = s_end;
            g = g_end;
        }
    }
}

/* Sorts a gathered edge into those between objects and the halves of multicasts.  An edge that has
 * no object at either end is left out. */
static void decision_add_edge(struct decision_edges *made, const struct ski_comm_edge *edge,
                              const struct decision_key *from, const struct decision_key *to)
{
    if (from && to && to->object != from->object)
        made->edge[made->edges++] =
            (skua_strategy_edge){from->object, to->object, edge->messages, edge->bytes};
    else if (from && !to && edge->to & SKI_COMM_SECTION)
        made->sent[made->sends++] =
            (struct decision_half){edge->to, edge->messages, edge->bytes, from->object};
    else if (to && !from && edge->from & SKI_COMM_SECTION)
        made->got[made->gets++] =
            (struct decision_half){edge->from, edge->messages, edge->bytes, to->object};
}

/* Makes the edges of the problem; those to objects that are not listed are left out.  number[i] is
 * the object that was gathered as i. */
static void decision_make_edges(struct ski_decision *decision, const struct ski_gathered *all,
                                const uint32_t *number)
{
    struct decision_key  *keys = ski_malloc((all->objects + (size_t)1) * sizeof *keys);
    size_t                room = all->edges + (size_t)1;
    struct decision_edges made = {.edge = ski_malloc(room * sizeof *made.edge),
                                  .sent = ski_malloc(room * sizeof *made.sent),
                                  .got  = ski_malloc(room * sizeof *made.got)};

    for (uint32_t i = 0; i < all->objects; i++)
        keys[i] = (struct decision_key){all->key[i], number[i]};
    qsort(keys, all->objects, sizeof *keys, decision_compare_keys);
    for (uint32_t i = 0; i < all->edges; i++)
        decision_add_edge(&made, &all->edge[i],
                          decision_find_key(keys, all->objects, all->edge[i].from),
                          decision_find_key(keys, all->objects, all->edge[i].to));
    free(keys);
    decision_join(&made);
    free(made.sent);
    free(made.got);
    decision->edge = made.edge;
    decision_sort_edges(decision, made.edges);
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

/* Returns the mean share of idle time, by the clock: loads that the program reports have its own
 * unit. */
static double decision_idle(const struct ski_gathered *all)
{
    double idle = 0, wall = 0;

    for (uint32_t i = 0; i < all->pes; i++) {
        idle += all->pe[i].pe.idle;
        wall += all->pe[i].wall;
    }
    return idle > 0 && idle <= wall ? idle / wall : 0;
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
    decision->idle            = decision_idle(all);
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
    ski_log(SKI_LOG_ERROR, "the loads that PEs have sent are not valid: %s: no object moves", text);
    ski_decision_destroy(decision);
    return false;
}

/* Returns the hops of two hosts of this job, for strategies. */
static int decision_hops(const void *unused, int a, int b)
{
    (void)unused;
    return ski_host_interconnect_hops(a, b);
}

void ski_decision_use_hops(skua_strategy_problem *problem)
{
    if (problem->hosts > 1 && ski_host_interconnect_known())
        problem->hops = decision_hops;
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

/* Records how good the moves are.  All PEs wait meanwhile, so the loads are added up once, and
 * nothing is computed that only a report of a strategy needs (quality.h). */
static void decision_judge(struct ski_decision *decision)
{
    const skua_strategy_problem *problem = &decision->problem;
    struct ski_loads             loads;

    ski_loads_init(&loads, problem, SKI_LOADS_ALL);
    decision->max_before = ski_loads_max(&loads);
    decision->mean       = 0;
    for (int32_t p = 0; p < problem->pes; p++)
        decision->mean += loads.time[p] / problem->pes;
    decision->moved = decision->bytes = 0;
    for (uint32_t i = 0; i < problem->objects; i++) {
        if (decision->to[i] == problem->object[i].pe)
            continue;
        ski_loads_subtract(&loads, problem->object[i].pe, i);
        ski_loads_add(&loads, decision->to[i], i);
        decision->moved++;
        decision->bytes += problem->object[i].bytes;
    }
    decision->max_after = ski_loads_max(&loads);
    ski_loads_destroy(&loads);
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
