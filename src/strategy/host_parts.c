/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_parts.c - see host_parts.h.
 *
 * Time and memory are O(objects + edges + PEs) for all parts together, beside what the strategy
 * needs.
 */
#include "strategy/host_parts.h"

#include <string.h>

#include "base/memory.h"
#include "strategy/pe_heap.h"

/* ---- the problem between the hosts --------------------------------------------------------- */

/* Numbers the hosts that have PEs.  Returns how many there are. */
static int32_t host_parts_number(int32_t *part, const skua_strategy_problem *whole)
{
    int32_t parts = 0;

    memset(part, 0, (size_t)whole->hosts * sizeof *part);
    for (int32_t p = 0; p < whole->pes; p++)
        part[whole->pe[p].host] = 1;
    for (int32_t h = 0; h < whole->hosts; h++)
        part[h] = part[h] ? parts++ : -1;
    return parts;
}

/* Lists the PEs of each part. */
static void host_parts_list_pes(struct ski_host_parts *parts, const int32_t *part)
{
    const skua_strategy_problem *whole = parts->whole;
    size_t                       pes   = (size_t)whole->pes;
    int32_t                     *fill;

    parts->start    = ski_calloc((size_t)parts->top.pes + 1, sizeof *parts->start);
    parts->pe       = ski_malloc(pes * sizeof *parts->pe);
    parts->part_of  = ski_malloc(pes * sizeof *parts->part_of);
    parts->index_of = ski_malloc(pes * sizeof *parts->index_of);
    for (int32_t p = 0; p < whole->pes; p++)
        parts->start[part[whole->pe[p].host] + 1]++;
    for (int32_t h = 0; h < parts->top.pes; h++)
        parts->start[h + 1] += parts->start[h];
    fill = ski_malloc((size_t)parts->top.pes * sizeof *fill);
    memcpy(fill, parts->start, (size_t)parts->top.pes * sizeof *fill);
    for (int32_t p = 0; p < whole->pes; p++) {
        int32_t h = part[whole->pe[p].host], at = fill[h]++;

        parts->pe[at]      = p;
        parts->part_of[p]  = h;
        parts->index_of[p] = at - parts->start[h];
    }
    free(fill);
}

/* A host is a PE with the speeds of its PEs; its background is theirs, weighted by speed.  A PE
 * that is `full`, because its fixed work takes longer than the ideal time, is left out, unless all
 * PEs of the host are: it can take nothing, and others cannot relieve it. */
static skua_strategy_pe host_parts_sum(const struct ski_host_parts *parts, int32_t h,
                                       const bool *full, bool all)
{
    skua_strategy_pe sum = {0};

    for (int32_t k = parts->start[h]; k < parts->start[h + 1]; k++) {
        const skua_strategy_pe *pe    = &parts->whole->pe[parts->pe[k]];
        double                  speed = ski_pe_speed(pe);

        sum.host = sum.pe = pe->host;
        if (full[parts->pe[k]] && !all)
            continue;
        sum.background += speed * pe->background;
        sum.idle += speed * pe->idle;
        sum.speed += speed;
    }
    if (sum.speed > 0) {
        sum.background /= sum.speed;
        sum.idle /= sum.speed;
    }
    return sum;
}

static void host_parts_find_full(bool *full, const skua_strategy_problem *whole)
{
    struct ski_loads fixed;
    double           ideal = ski_loads_ideal(whole);

    ski_loads_init(&fixed, whole, SKI_LOADS_FIXED);
    for (int32_t p = 0; p < whole->pes; p++)
        full[p] = fixed.time[p] > ideal;
    ski_loads_destroy(&fixed);
}

/* Makes the PEs and objects of the problem between the hosts.  Immovable objects of a full PE that
 * is left out count nothing. */
static void host_parts_make_top(struct ski_host_parts *parts)
{
    const skua_strategy_problem *whole = parts->whole;
    bool                        *full  = ski_malloc((size_t)whole->pes * sizeof *full);
    struct ski_loads             loads;

    host_parts_find_full(full, whole);
    for (int32_t h = 0; h < parts->top.pes; h++) {
        parts->top_pe[h] = host_parts_sum(parts, h, full, false);
        if (parts->top_pe[h].speed > 0)
            continue;
        parts->top_pe[h] = host_parts_sum(parts, h, full, true);
        for (int32_t k = parts->start[h]; k < parts->start[h + 1]; k++)
            full[parts->pe[k]] = false;
    }
    ski_loads_init(&loads, whole, SKI_LOADS_ALL);
    for (uint32_t i = 0; i < whole->objects; i++) {
        skua_strategy_object *object = &parts->top_object[i];

        *object      = whole->object[i];
        object->pe   = parts->part_of[whole->object[i].pe];
        object->load = loads.load[i]; /* 1 if none is measured */
        if (!(object->flags & SKUA_OBJECT_MOVABLE) && full[whole->object[i].pe])
            object->load = 0;
    }
    ski_loads_destroy(&loads);
    free(full);
}

void ski_host_parts_init(struct ski_host_parts *parts, const skua_strategy_problem *whole)
{
    int32_t *part = ski_malloc((size_t)whole->hosts * sizeof *part);

    parts->whole   = whole;
    parts->top     = *whole;
    parts->top.pes = host_parts_number(part, whole);
    host_parts_list_pes(parts, part);
    parts->top_pe     = ski_malloc((size_t)parts->top.pes * sizeof *parts->top_pe);
    parts->top_object = ski_malloc(((size_t)whole->objects + 1) * sizeof *parts->top_object);
    host_parts_make_top(parts);
    parts->top.pe     = parts->top_pe;
    parts->top.object = parts->top_object;
    free(part);
}

void ski_host_parts_destroy(struct ski_host_parts *parts)
{
    free(parts->top_object);
    free(parts->top_pe);
    free(parts->index_of);
    free(parts->part_of);
    free(parts->pe);
    free(parts->start);
}

/* ---- the problem of a host ------------------------------------------------------------------ */

/* The objects of part h are number[start[h]] .. number[start[h + 1] - 1], ascending. */
struct host_part_lists {
    uint32_t *start, *number;
    uint32_t *index;    /* of each object: its index in its part  */
    uint32_t *edge_row; /* of each object: its first edge         */
};

/* The problem of one part, in memory for the largest. */
struct host_part {
    skua_strategy_problem problem;
    skua_strategy_pe     *pe;
    skua_strategy_object *object;
    skua_strategy_edge   *edge;
    int32_t              *to;
};

/* Lists the objects of each part, and finds where the edges of each object begin. */
static void host_parts_list_objects(struct host_part_lists      *lists,
                                    const struct ski_host_parts *parts, const int32_t *group)
{
    const skua_strategy_problem *whole = parts->whole;
    size_t                       hosts = (size_t)parts->top.pes, n = (size_t)whole->objects + 1;
    uint32_t                    *fill = ski_malloc(hosts * sizeof *fill);

    lists->start    = ski_calloc(hosts + 1, sizeof *lists->start);
    lists->number   = ski_malloc(n * sizeof *lists->number);
    lists->index    = ski_malloc(n * sizeof *lists->index);
    lists->edge_row = ski_calloc(n + 1, sizeof *lists->edge_row);
    for (uint32_t i = 0; i < whole->objects; i++)
        lists->start[group[i] + 1]++;
    for (size_t h = 0; h < hosts; h++)
        lists->start[h + 1] += lists->start[h];
    memcpy(fill, lists->start, hosts * sizeof *fill);
    for (uint32_t i = 0; i < whole->objects; i++) {
        lists->index[i]                 = fill[group[i]] - lists->start[group[i]];
        lists->number[fill[group[i]]++] = i;
    }
    for (uint32_t k = 0; k < whole->edges; k++)
        lists->edge_row[whole->edge[k].from + 1]++;
    for (uint32_t i = 0; i < whole->objects; i++)
        lists->edge_row[i + 1] += lists->edge_row[i];
    free(fill);
}

static void host_part_lists_destroy(struct host_part_lists *lists)
{
    free(lists->edge_row);
    free(lists->index);
    free(lists->number);
    free(lists->start);
}

/* Copies the objects of a part.  Those of other hosts get PE -1. */
static void host_part_take_objects(struct host_part *part, const struct ski_host_parts *parts,
                                   const struct host_part_lists *lists, int32_t h)
{
    const uint32_t *number = lists->number + lists->start[h];

    part->problem.objects = lists->start[h + 1] - lists->start[h];
    for (uint32_t k = 0; k < part->problem.objects; k++) {
        int32_t pe = parts->whole->object[number[k]].pe;

        part->object[k] = parts->whole->object[number[k]];
        if (part->object[k].flags & SKUA_OBJECT_MOVABLE)
            part->object[k].load = parts->top_object[number[k]].load;
        part->object[k].pe = parts->part_of[pe] == h ? parts->index_of[pe] : -1;
    }
}

/* Copies the edges inside a part; they stay sorted. */
static void host_part_take_edges(struct host_part *part, const struct ski_host_parts *parts,
                                 const struct host_part_lists *lists, const int32_t *group,
                                 int32_t h)
{
    uint32_t n = 0;

    for (uint32_t k = lists->start[h]; k < lists->start[h + 1]; k++) {
        uint32_t i = lists->number[k];

        for (uint32_t e = lists->edge_row[i]; e < lists->edge_row[i + 1]; e++) {
            const skua_strategy_edge *edge = &parts->whole->edge[e];

            if (group[edge->to] == h)
                part->edge[n++] = (skua_strategy_edge){lists->index[i], lists->index[edge->to],
                                                       edge->messages, edge->bytes};
        }
    }
    part->problem.edges = n;
}

/* Puts the objects of other hosts on the PEs that end them first, the heaviest first. */
static void host_part_place(struct host_part *part)
{
    skua_strategy_problem *p = &part->problem;
    struct ski_loads       loads;
    struct ski_pe_heaps    heaps;
    uint32_t               count, *sorted;

    for (uint32_t i = 0; i < p->objects; i++) /* counted on PE 0, and taken away again */
        part->to[i] = part->object[i].pe < 0 ? part->object[i].pe = 0, 1 : 0;
    ski_loads_init(&loads, p, SKI_LOADS_MEASURED);
    for (uint32_t i = 0; i < p->objects; i++)
        if (part->to[i])
            ski_loads_subtract(&loads, 0, i);
    ski_pe_heaps_init(&heaps, &loads);
    sorted = ski_loads_sorted(&loads, p, &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = sorted[k];

        if (!part->to[i])
            continue;
        part->object[i].pe = ski_pe_heaps_best(&heaps, loads.load[i]);
        ski_loads_add(&loads, part->object[i].pe, i);
        ski_pe_heaps_update(&heaps, part->object[i].pe);
    }
    free(sorted);
    ski_pe_heaps_destroy(&heaps);
    ski_loads_destroy(&loads);
}

static bool host_part_has_load(const struct host_part *part)
{
    for (uint32_t i = 0; i < part->problem.objects; i++)
        if (part->object[i].flags & SKUA_OBJECT_MOVABLE && part->object[i].load > 0)
            return true;
    return false;
}

static skua_status host_part_decide(struct host_part *part, const struct ski_host_parts *parts,
                                    int32_t h, skua_strategy_fn decide)
{
    part->problem.pes = parts->start[h + 1] - parts->start[h];
    for (int32_t k = 0; k < part->problem.pes; k++)
        part->pe[k] = parts->whole->pe[parts->pe[parts->start[h] + k]];
    host_part_place(part);
    for (uint32_t i = 0; i < part->problem.objects; i++)
        part->to[i] = part->object[i].pe;
    return host_part_has_load(part) ? decide(&part->problem, part->to) : SKUA_OK;
}

static void host_part_init(struct host_part *part, const skua_strategy_problem *whole)
{
    part->problem        = *whole;
    part->pe             = ski_malloc((size_t)whole->pes * sizeof *part->pe);
    part->object         = ski_malloc(((size_t)whole->objects + 1) * sizeof *part->object);
    part->edge           = ski_malloc(((size_t)whole->edges + 1) * sizeof *part->edge);
    part->to             = ski_malloc(((size_t)whole->objects + 1) * sizeof *part->to);
    part->problem.pe     = part->pe;
    part->problem.object = part->object;
    part->problem.edge   = part->edge;
}

static void host_part_destroy(struct host_part *part)
{
    free(part->to);
    free(part->edge);
    free(part->object);
    free(part->pe);
}

skua_status ski_host_parts_decide(const struct ski_host_parts *parts, const int32_t *group,
                                  skua_strategy_fn decide, int32_t *to)
{
    struct host_part_lists lists;
    struct host_part       part;
    skua_status            status = SKUA_OK;

    host_parts_list_objects(&lists, parts, group);
    host_part_init(&part, parts->whole);
    for (int32_t h = 0; h < parts->top.pes && status == SKUA_OK; h++) {
        host_part_take_objects(&part, parts, &lists, h);
        host_part_take_edges(&part, parts, &lists, group, h);
        status = host_part_decide(&part, parts, h, decide);
        for (uint32_t k = 0; k < part.problem.objects; k++)
            to[lists.number[lists.start[h] + k]] = parts->pe[parts->start[h] + part.to[k]];
    }
    host_part_destroy(&part);
    host_part_lists_destroy(&lists);
    return status;
}
