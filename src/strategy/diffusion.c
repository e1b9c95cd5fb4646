/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diffusion.c - the strategy diffusion: every PE gives load to its neighbours that have less.
 *
 * In a round a PE with k neighbours offers each neighbour below it 1/(k+1) of the difference of
 * their times (Cybenko 1989): the flow.  It fills a flow with its heaviest objects that fit.  A
 * rest that no object fits is rounded at random: the lightest object goes with the probability that
 * the rest is of its load, if the neighbour stays below the PE's time.  So small differences
 * vanish on average, also where all objects are heavier than a flow.
 *
 * The neighbourhood and the PE's own objects are all that it sees: time O(n log n) for n objects of
 * the PE, and memory, do not depend on the number of PEs.
 */
#include "base/memory.h"
#include "strategy/loads.h"
#include "strategy/random_bits.h"
#include "strategy/strategy.h"

/* The state of the decision of one PE in a round. */
struct diffusion {
    struct ski_loads loads;
    uint32_t        *sorted, count; /* its movable objects, the heaviest first; those given are
                                       removed */
    int32_t *to;
    uint64_t random;
};

static void diffusion_give(struct diffusion *d, uint32_t k, int32_t neighbour)
{
    uint32_t i = d->sorted[k];

    d->to[i] = neighbour;
    ski_loads_subtract(&d->loads, 0, i);
    ski_loads_add(&d->loads, neighbour, i);
}

/* Gives a neighbour objects of at most @p flow in all.  Returns what is left of it. */
static double diffusion_fill(struct diffusion *d, int32_t neighbour, double flow)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < d->count; k++) {
        double load = d->loads.load[d->sorted[k]];

        if (load <= flow) {
            diffusion_give(d, k, neighbour);
            flow -= load;
        } else {
            d->sorted[kept++] = d->sorted[k];
        }
    }
    d->count = kept;
    return flow;
}

/* Gives the lightest object with the probability rest / its load. */
static void diffusion_round(struct diffusion *d, int32_t neighbour, double rest)
{
    const struct ski_loads *loads = &d->loads;
    double                  load;

    if (d->count == 0)
        return;
    load = loads->load[d->sorted[d->count - 1]];
    if (loads->time[neighbour] + load * loads->rate[neighbour] < loads->time[0] &&
        ski_random_unit(&d->random) * load < rest)
        diffusion_give(d, --d->count, neighbour);
}

/* Returns the neighbour below @p time that has the least time of those not done, or -1. */
static int32_t diffusion_next(const struct diffusion *d, int32_t pes, double time, unsigned done)
{
    int32_t best = -1;

    for (int32_t p = 1; p < pes; p++)
        if (!(done >> p & 1) && d->loads.time[p] < time &&
            (best < 0 || d->loads.time[p] < d->loads.time[best]))
            best = p;
    return best;
}

/* Returns whether a problem is that of a neighbourhood: few PEs, and objects of the first alone. */
static bool diffusion_is_local(const skua_strategy_problem *problem)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        if (problem->object[i].pe != 0)
            return false;
    return problem->pes <= SKUA_NEIGHBOURS_MAX + 1;
}

skua_status ski_strategy_diffusion(const skua_strategy_problem *problem, int32_t *to)
{
    struct diffusion d    = {.to = to, .random = problem->seed};
    unsigned         done = 0;
    int32_t          next;
    double           time;

    if (!diffusion_is_local(problem))
        return SKUA_ERR_INVAL;
    ski_loads_init(&d.loads, problem, SKI_LOADS_MEASURED);
    d.sorted = ski_loads_sorted(&d.loads, problem, &d.count);
    time     = d.loads.time[0];
    while ((next = diffusion_next(&d, problem->pes, time, done)) > 0) {
        double flow = 2 * (time - d.loads.time[next]) / (d.loads.rate[0] + d.loads.rate[next]) /
                      (double)problem->pes;

        diffusion_round(&d, next, diffusion_fill(&d, next, flow));
        done |= 1u << next;
    }
    free(d.sorted);
    ski_loads_destroy(&d.loads);
    return SKUA_OK;
}
