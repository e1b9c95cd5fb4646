/* SPDX-License-Identifier: Apache-2.0 */
/* loads.c - see loads.h. */
#include "strategy/loads.h"

#include <math.h>

#include "base/assert.h"
#include "base/memory.h"

static bool loads_none_measured(const skua_strategy_problem *problem)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].flags & SKUA_OBJECT_MOVABLE && problem->object[i].load > 0)
            return false;
    return true;
}

static void loads_init_objects(struct ski_loads *loads, const skua_strategy_problem *problem,
                               bool by_number)
{
    for (uint32_t i = 0; i < problem->objects; i++) {
        const skua_strategy_object *object = &problem->object[i];

        loads->load[i] = by_number && object->flags & SKUA_OBJECT_MOVABLE ? 1 : object->load;
    }
}

void ski_loads_init(struct ski_loads *loads, const skua_strategy_problem *problem,
                    enum ski_loads_of which)
{
    loads->pes     = problem->pes;
    loads->objects = problem->objects;
    loads->time    = ski_malloc((size_t)problem->pes * sizeof *loads->time);
    loads->rate    = ski_malloc((size_t)problem->pes * sizeof *loads->rate);
    loads->load    = ski_malloc(((size_t)problem->objects + 1) * sizeof *loads->load);
    for (int32_t p = 0; p < problem->pes; p++) {
        loads->time[p] = problem->pe[p].background;
        loads->rate[p] = 1 / ski_pe_speed(&problem->pe[p]);
    }
    loads_init_objects(loads, problem, which != SKI_LOADS_MEASURED && loads_none_measured(problem));
    for (uint32_t i = 0; i < problem->objects; i++)
        if (which != SKI_LOADS_FIXED || !ski_loads_movable(loads, problem, i))
            ski_loads_add(loads, problem->object[i].pe, i);
}

void ski_loads_destroy(struct ski_loads *loads)
{
    free(loads->time);
    free(loads->rate);
    free(loads->load);
}

double ski_loads_max(const struct ski_loads *loads)
{
    double most = loads->time[0];

    for (int32_t p = 1; p < loads->pes; p++)
        if (loads->time[p] > most)
            most = loads->time[p];
    return most;
}

/* ---- sorting ------------------------------------------------------------------------------ */

struct loads_item {
    double   load;
    uint32_t number;
};

static int loads_compare(const void *a, const void *b)
{
    const struct loads_item *x = a, *y = b;

    if (x->load != y->load)
        return x->load > y->load ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

uint32_t *ski_loads_sorted(const struct ski_loads *loads, const skua_strategy_problem *problem,
                           uint32_t *count)
{
    return ski_loads_sorted_above(loads, problem, -INFINITY, count);
}

uint32_t *ski_loads_sorted_above(const struct ski_loads      *loads,
                                 const skua_strategy_problem *problem, double above,
                                 uint32_t *count)
{
    struct loads_item *item   = ski_malloc(((size_t)loads->objects + 1) * sizeof *item);
    uint32_t          *sorted = ski_malloc(((size_t)loads->objects + 1) * sizeof *sorted);
    uint32_t           n      = 0;

    for (uint32_t i = 0; i < loads->objects; i++)
        if (loads->time[problem->object[i].pe] > above && ski_loads_movable(loads, problem, i))
            item[n++] = (struct loads_item){loads->load[i], i};
    qsort(item, n, sizeof *item, loads_compare);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = item[i].number;
    free(item);
    *count = n;
    return sorted;
}

/* ---- the ideal time ------------------------------------------------------------------------ */

/* A PE with its fixed time, from which on it can take load. */
struct loads_floor {
    double time, speed;
};

static int loads_compare_floors(const void *a, const void *b)
{
    const struct loads_floor *x = a, *y = b;

    return x->time < y->time ? -1 : x->time > y->time;
}

/* Distributes @p load over PEs sorted by their fixed times, the lowest first (water filling). */
static double loads_fill(const struct loads_floor *pe, int32_t pes, double load)
{
    double speed = 0, level = pe[0].time;

    for (int32_t p = 0; p < pes; p++) {
        double room = (pe[p].time - level) * speed; /* below the floor of this PE */

        if (p > 0 && room >= load)
            break;
        load -= room;
        level = pe[p].time;
        speed += pe[p].speed;
    }
    ski_assert(speed > 0);
    return level + load / speed;
}

double ski_loads_ideal(const skua_strategy_problem *problem)
{
    struct loads_floor *pe = ski_malloc((size_t)problem->pes * sizeof *pe);
    struct ski_loads    fixed;
    double              load = 0;

    ski_loads_init(&fixed, problem, SKI_LOADS_FIXED);
    for (int32_t p = 0; p < problem->pes; p++)
        pe[p] = (struct loads_floor){fixed.time[p], ski_pe_speed(&problem->pe[p])};
    for (uint32_t i = 0; i < problem->objects; i++)
        if (ski_loads_movable(&fixed, problem, i))
            load += fixed.load[i];
    qsort(pe, (size_t)problem->pes, sizeof *pe, loads_compare_floors);
    load = loads_fill(pe, problem->pes, load);
    ski_loads_destroy(&fixed);
    free(pe);
    return load;
}
