/* SPDX-License-Identifier: Apache-2.0 */
/*
 * orb.c - the strategy orb: orthogonal recursive bisection of the positions of objects.
 *
 * The PEs, ordered by host, are divided into two halves (any number of PEs), and the box that
 * contains the objects by a plane across its longest side, so that the loads of both sides have the
 * ratio of what the halves can take: for each PE the speed times what its fixed work leaves up to
 * the ideal time.  Then each half is divided in turn.  A plane is misplaced by at most half an
 * object, and later planes divide that error, so on equal PEs no time is above the ideal one by
 * more than the heaviest object.
 *
 * The object at which a plane stands is found by selection, as quicksort would go but into one side
 * only: O(n log P) in all.  Objects of equal coordinates are ordered by number.  Objects without a
 * load belong to the side where they are.  Those without a position are assigned last, as greedy
 * does.
 */
#include "base/memory.h"
#include "strategy/pe_heap.h"
#include "strategy/strategy.h"

struct orb_item {
    double   at[3];
    double   load;
    uint32_t number;
};

struct orb {
    const skua_strategy_problem *problem;
    struct ski_loads             loads;
    struct orb_item             *item;
    int32_t                     *pe;       /* PEs by host                                    */
    double                      *capacity; /* of each of these: loads that it can take        */
    int32_t                     *to;
};

static bool orb_before(const struct orb_item *a, const struct orb_item *b, int axis)
{
    return a->at[axis] != b->at[axis] ? a->at[axis] < b->at[axis] : a->number < b->number;
}

static void orb_swap(struct orb_item *a, struct orb_item *b)
{
    struct orb_item c = *a;

    *a = *b;
    *b = c;
}

/* Moves the median of the first, middle and last item to the end. */
static void orb_pivot(struct orb_item *item, uint32_t n, int axis)
{
    struct orb_item *first = item, *middle = item + n / 2, *last = item + n - 1;

    if (orb_before(middle, first, axis))
        orb_swap(middle, first);
    if (orb_before(last, first, axis))
        orb_swap(last, first);
    if (orb_before(middle, last, axis))
        orb_swap(middle, last);
}

/* Divides items so that those before the returned index come before the item there, and the others
 * after it. */
static uint32_t orb_partition(struct orb_item *item, uint32_t n, int axis)
{
    uint32_t kept = 0;

    orb_pivot(item, n, axis);
    for (uint32_t k = 0; k < n - 1; k++)
        if (orb_before(&item[k], &item[n - 1], axis))
            orb_swap(&item[k], &item[kept++]);
    orb_swap(&item[kept], &item[n - 1]);
    return kept;
}

static double orb_sum(const struct orb_item *item, uint32_t n)
{
    double sum = 0;

    for (uint32_t k = 0; k < n; k++)
        sum += item[k].load;
    return sum;
}

/* Reorders items along an axis, and returns how many of the first ones have a load of @p wanted, to
 * within half an object. */
static uint32_t orb_select(struct orb_item *item, uint32_t n, int axis, double wanted)
{
    uint32_t begin = 0;

    while (n > 0) {
        uint32_t at     = orb_partition(item + begin, n, axis);
        double   before = orb_sum(item + begin, at), load = item[begin + at].load;

        if (wanted < before) {
            n = at;
        } else if (wanted >= before + load) {
            wanted -= before + load;
            begin += at + 1;
            n -= at + 1;
        } else {
            return begin + at + (wanted - before > load / 2);
        }
    }
    return begin;
}

static int orb_longest_axis(const struct orb_item *item, uint32_t n)
{
    double low[3], high[3];
    int    best = 0;

    for (int k = 0; k < 3; k++) {
        low[k] = high[k] = item[0].at[k];
        for (uint32_t i = 1; i < n; i++) {
            low[k]  = item[i].at[k] < low[k] ? item[i].at[k] : low[k];
            high[k] = item[i].at[k] > high[k] ? item[i].at[k] : high[k];
        }
        if (high[k] - low[k] > high[best] - low[best])
            best = k;
    }
    return best;
}

static double orb_capacity(const struct orb *o, int32_t begin, int32_t end)
{
    double sum = 0;

    for (int32_t p = begin; p < end; p++)
        sum += o->capacity[p];
    return sum;
}

/* Divides items among the PEs begin .. end - 1. */
static void orb_divide(struct orb *o, struct orb_item *item, uint32_t n, int32_t begin, int32_t end)
{
    int32_t  middle = begin + (end - begin) / 2;
    double   left, all;
    uint32_t split;

    if (n == 0)
        return;
    if (end - begin == 1) {
        for (uint32_t k = 0; k < n; k++) {
            o->to[item[k].number] = o->pe[begin];
            ski_loads_add(&o->loads, o->pe[begin], item[k].number);
        }
        return;
    }
    left  = orb_capacity(o, begin, middle);
    all   = left + orb_capacity(o, middle, end);
    split = orb_select(item, n, orb_longest_axis(item, n),
                       orb_sum(item, n) * (all > 0 ? left / all : 0.5));
    orb_divide(o, item, split, begin, middle);
    orb_divide(o, item + split, n - split, middle, end);
}

/* Sorts the PEs by host and computes what each can take. */
static void orb_order_pes(struct orb *o)
{
    const skua_strategy_problem *problem = o->problem;
    double                       ideal   = ski_loads_ideal(problem);
    uint32_t                    *fill    = ski_calloc((size_t)problem->hosts + 1, sizeof *fill);

    for (int32_t p = 0; p < problem->pes; p++)
        fill[problem->pe[p].host + 1]++;
    for (int32_t h = 0; h < problem->hosts; h++)
        fill[h + 1] += fill[h];
    for (int32_t p = 0; p < problem->pes; p++) {
        uint32_t at   = fill[problem->pe[p].host]++;
        double   room = ideal - o->loads.time[p];

        o->pe[at]       = p;
        o->capacity[at] = room > 0 ? room / o->loads.rate[p] : 0;
    }
    free(fill);
}

/* Lists the movable objects that have a position.  Returns their number. */
static uint32_t orb_collect(struct orb *o)
{
    const skua_strategy_problem *problem = o->problem;
    const unsigned               both    = SKUA_OBJECT_MOVABLE | SKUA_OBJECT_POSITIONED;
    uint32_t                     n       = 0;

    for (uint32_t i = 0; i < problem->objects; i++) {
        const skua_strategy_object *object = &problem->object[i];

        if ((object->flags & both) != both)
            continue;
        o->item[n].load   = o->loads.load[i];
        o->item[n].number = i;
        memcpy(o->item[n++].at, object->position, sizeof object->position);
    }
    return n;
}

/* Assigns the objects without a position, the longest first, each to the PE that ends first with
 * it. */
static void orb_assign_rest(struct orb *o)
{
    struct ski_pe_heaps heaps;
    uint32_t            count, *sorted = ski_loads_sorted(&o->loads, o->problem, &count);

    ski_pe_heaps_init(&heaps, &o->loads);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = sorted[k];

        if (o->problem->object[i].flags & SKUA_OBJECT_POSITIONED)
            continue;
        o->to[i] = ski_pe_heaps_best(&heaps, o->loads.load[i]);
        ski_loads_add(&o->loads, o->to[i], i);
        ski_pe_heaps_update(&heaps, o->to[i]);
    }
    ski_pe_heaps_destroy(&heaps);
    free(sorted);
}

skua_status ski_strategy_orb(const skua_strategy_problem *problem, int32_t *to)
{
    struct orb o   = {.problem = problem, .to = to};
    size_t     pes = (size_t)problem->pes;

    ski_loads_init(&o.loads, problem, SKI_LOADS_FIXED);
    o.item     = ski_malloc(((size_t)problem->objects + 1) * sizeof *o.item);
    o.pe       = ski_malloc(pes * sizeof *o.pe);
    o.capacity = ski_malloc(pes * sizeof *o.capacity);
    orb_order_pes(&o);
    orb_divide(&o, o.item, orb_collect(&o), 0, problem->pes);
    orb_assign_rest(&o);
    free(o.capacity);
    free(o.pe);
    free(o.item);
    ski_loads_destroy(&o.loads);
    return SKUA_OK;
}
