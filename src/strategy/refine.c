/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refine.c - the strategy refine: moves few objects, from PEs above a limit to PEs below it.
 *
 * An attempt has a limit.  The PE with the longest time, the donor, gives an object to the PE with
 * the most room below the limit: the lightest object that brings the donor to the limit, or else
 * the heaviest one that fits.  A donor that has none is left as it is.  No receiver rises above the
 * limit, so no attempt makes the longest time longer.
 *
 * PEs whose time is at most REFINE_TOLERANCE above the ideal time are not donors: differences that
 * small are noise of the measurement, and objects that followed it would move for ever.  A donor
 * gives until it is REFINE_AIM above the ideal time.  Because this is less than the tolerance, it
 * does not become a donor again as soon as a load changes a little.
 *
 * The first limit is REFINE_AIM above the ideal time, the second one REFINE_TOLERANCE, for objects
 * that are too large for the first.  An attempt that leaves no PE above the tolerance is taken.  If
 * there is none, the least limit that all donors reach is searched by bisection between the ideal
 * time and the longest one, and the attempt with the shortest longest time is taken.
 *
 * The objects of each PE are sorted once, by descending load.  In an attempt, next[] leads from an
 * object that has moved to the next one that has not (paths are halved), so each move takes
 * O(log n), and an attempt O(n + moves * log n).
 */
#include "base/memory.h"
#include "strategy/pe_heap.h"
#include "strategy/strategy.h"

#define REFINE_TOLERANCE 0.02
#define REFINE_AIM       0.005
#define REFINE_ATTEMPTS  11

/* The objects of PE p, if its time is above what is tolerated, are item[start[p]] .. item[start[p +
 * 1] - 1]; no other PE gives objects. */
struct refine_lists {
    uint32_t *start, *item, items;
    double   *load; /* of each item */
};

/* What the attempts of a search share. */
struct refine_state {
    const skua_strategy_problem *problem;
    struct refine_lists          lists;
    struct ski_loads             loads;            /* before any move */
    double                       ideal, tolerated; /* the longest time of a PE that is no donor */
};

struct refine_attempt {
    const struct refine_lists *lists;
    struct ski_loads           loads; /* with times of its own; the rest is of all attempts */
    struct ski_pe_heaps        receivers;
    struct ski_pe_heap         donors;
    uint32_t                  *next; /* of each place in the lists: itself, or a later one */
    double                     limit;
};

/* Lists the objects of PEs whose time is longer than @p tolerated, by PE and by descending load. */
static void refine_lists_init(struct refine_lists *lists, const struct ski_loads *loads,
                              const skua_strategy_problem *problem, double tolerated)
{
    uint32_t *sorted = ski_loads_sorted_above(loads, problem, tolerated, &lists->items), *fill;
    size_t    pes    = (size_t)problem->pes;

    lists->start = ski_calloc(pes + 1, sizeof *lists->start);
    lists->item  = ski_malloc(((size_t)lists->items + 1) * sizeof *lists->item);
    lists->load  = ski_malloc(((size_t)lists->items + 1) * sizeof *lists->load);
    for (uint32_t k = 0; k < lists->items; k++)
        lists->start[problem->object[sorted[k]].pe + 1]++;
    for (size_t p = 0; p < pes; p++)
        lists->start[p + 1] += lists->start[p];
    fill = ski_malloc(pes * sizeof *fill);
    memcpy(fill, lists->start, pes * sizeof *fill);
    for (uint32_t k = 0; k < lists->items; k++) {
        uint32_t at = fill[problem->object[sorted[k]].pe]++;

        lists->item[at] = sorted[k];
        lists->load[at] = loads->load[sorted[k]];
    }
    free(fill);
    free(sorted);
}

static void refine_lists_destroy(struct refine_lists *lists)
{
    free(lists->start);
    free(lists->item);
    free(lists->load);
}

/* Returns the first place of [from, end) that has not moved, or end. */
static uint32_t refine_skip(uint32_t *next, uint32_t from, uint32_t end)
{
    while (from < end && next[from] != from) {
        uint32_t after = next[from];

        if (after < end)
            next[from] = next[after];
        from = after;
    }
    return from < end ? from : end;
}

/* Returns the first place of [from, end) whose load is at most @p load, or end; loads descend. */
static uint32_t refine_search(const double *loads, uint32_t from, uint32_t end, double load)
{
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;

        if (loads[middle] <= load)
            end = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Returns the place of the object that the donor gives, or the end of its list.  Objects from
 * `fits` on are not heavier than the room; those before `light` bring the donor to the limit. */
static uint32_t refine_pick(struct refine_attempt *a, int32_t donor, double room)
{
    const struct refine_lists *lists  = a->lists;
    uint32_t                   end    = lists->start[donor + 1], fits, light, at;
    double                     excess = (a->loads.time[donor] - a->limit) / a->loads.rate[donor];

    fits  = refine_search(lists->load, lists->start[donor], end, room);
    light = refine_search(lists->load, fits, end, excess);
    at    = light > fits ? refine_skip(a->next, light - 1, end) : end;
    return at < end ? at : refine_skip(a->next, fits, end);
}

static void refine_move(struct refine_attempt *a, int32_t from, uint32_t at, int32_t pe,
                        int32_t *to)
{
    uint32_t i = a->lists->item[at];

    to[i]       = pe;
    a->next[at] = at + 1;
    ski_loads_subtract(&a->loads, from, i);
    ski_loads_add(&a->loads, pe, i);
    ski_pe_heaps_update(&a->receivers, from);
    ski_pe_heaps_update(&a->receivers, pe);
    if (a->loads.time[from] > a->limit)
        ski_pe_heap_update(&a->donors, from);
    else
        ski_pe_heap_remove(&a->donors, from);
}

/* Moves objects from all donors until they are at the limit or cannot give more. */
static void refine_run(struct refine_attempt *a, int32_t *to)
{
    int32_t donor;

    while ((donor = ski_pe_heap_first(&a->donors)) >= 0) {
        int32_t  pe   = ski_pe_heaps_roomiest(&a->receivers, a->limit);
        double   room = (a->limit - a->loads.time[pe]) / a->loads.rate[pe];
        uint32_t at;

        if (room <= 0)
            break;
        at = refine_pick(a, donor, room);
        if (at < a->lists->start[donor + 1])
            refine_move(a, donor, at, pe, to);
        else
            ski_pe_heap_remove(&a->donors, donor);
    }
}

/* Makes an attempt with a limit, in which PEs above @p donors give.  Returns the longest time that
 * it leaves. */
static double refine_try(const struct refine_state *state, double limit, double donors, int32_t *to)
{
    const skua_strategy_problem *problem = state->problem;
    size_t                       pes     = (size_t)problem->pes;
    struct refine_attempt a = {.lists = &state->lists, .loads = state->loads, .limit = limit};
    double                most;

    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = problem->object[i].pe;
    a.loads.time = memcpy(ski_malloc(pes * sizeof(double)), a.loads.time, pes * sizeof(double));
    ski_pe_heaps_init(&a.receivers, &a.loads);
    ski_pe_heap_init(&a.donors, a.loads.time, problem->pes, true);
    for (int32_t p = 0; p < problem->pes; p++)
        if (a.loads.time[p] > donors)
            ski_pe_heap_push(&a.donors, p);
    a.next = ski_malloc(((size_t)a.lists->items + 1) * sizeof *a.next);
    for (uint32_t k = 0; k < a.lists->items; k++)
        a.next[k] = k;
    refine_run(&a, to);
    most = ski_loads_max(&a.loads);
    free(a.next);
    ski_pe_heap_destroy(&a.donors);
    ski_pe_heaps_destroy(&a.receivers);
    free(a.loads.time);
    return most;
}

/* Searches the least limit that all donors reach; @p to is what the best attempt has decided. */
static void refine_search_limit(const struct refine_state *state, double now, double least,
                                int32_t *to)
{
    double tolerated = state->tolerated, low = state->ideal, high = now, best = now,
           limit     = state->ideal * (1 + REFINE_AIM);
    size_t   objects = state->problem->objects;
    int32_t *trial   = ski_malloc((objects + 1) * sizeof *trial);

    for (int k = 0; k < REFINE_ATTEMPTS; k++) {
        double donors = limit > tolerated ? limit : tolerated, most;

        if (donors >= high)
            break;
        most = refine_try(state, limit, donors, trial);
        if (most < best) {
            best = most;
            memcpy(to, trial, objects * sizeof *to);
        }
        if (most <= donors || most <= least) {
            high = limit;
            if (limit <= tolerated)
                break;
        } else {
            low = limit;
        }
        limit = limit < tolerated ? tolerated : (low + high) / 2;
    }
    free(trial);
}

skua_status ski_strategy_refine(const skua_strategy_problem *problem, int32_t *to)
{
    double              ideal = ski_loads_ideal(problem);
    struct refine_state state = {
        .problem = problem, .ideal = ideal, .tolerated = ideal * (1 + REFINE_TOLERANCE)};
    struct ski_loads fixed;
    double           most;

    ski_loads_init(&state.loads, problem, SKI_LOADS_ALL);
    most = ski_loads_max(&state.loads);
    if (most > state.tolerated) {
        ski_loads_init(&fixed, problem, SKI_LOADS_FIXED);
        refine_lists_init(&state.lists, &state.loads, problem, state.tolerated);
        refine_search_limit(&state, most, ski_loads_max(&fixed), to);
        refine_lists_destroy(&state.lists);
        ski_loads_destroy(&fixed);
    }
    ski_loads_destroy(&state.loads);
    return SKUA_OK;
}
