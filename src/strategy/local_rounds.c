/* SPDX-License-Identifier: Apache-2.0 */
/* local_rounds.c - see local_rounds.h. */
#include "strategy/local_rounds.h"

#include "base/memory.h"
#include "base/seconds.h"
#include "strategy/loads.h"
#include "strategy/neighbours.h"
#include "strategy/random_bits.h"
#include "strategy/strategy.h"

/* The objects of PE p are number[start[p]] .. number[start[p + 1] - 1]. */
struct local_run {
    const skua_strategy         *strategy;
    const skua_strategy_problem *problem;
    int32_t                     *to, *next; /* the mapping before and after the round */
    uint32_t                    *start, *number;
    skua_strategy_object        *object; /* of one PE, and their destinations     */
    int32_t                     *decided;
    struct ski_loads             loads;
    double                       seconds;
};

uint64_t ski_local_seed(uint64_t seed, int round, int pe)
{
    uint64_t state = seed ^ (uint64_t)(uint32_t)round << 32 ^ (uint64_t)(uint32_t)pe;

    return ski_random_bits(&state);
}

static void local_sort_objects(struct local_run *run)
{
    const skua_strategy_problem *problem = run->problem;
    size_t                       pes     = (size_t)problem->pes;

    memset(run->start, 0, (pes + 2) * sizeof *run->start);
    for (uint32_t i = 0; i < problem->objects; i++)
        run->start[run->to[i] + 2]++;
    for (size_t p = 2; p < pes + 2; p++)
        run->start[p] += run->start[p - 1];
    for (uint32_t i = 0; i < problem->objects; i++)
        run->number[run->start[run->to[i] + 1]++] = i;
}

/* Makes the problem of one PE and lets it decide. */
static bool local_decide(struct local_run *run, int pe, int round, char *text)
{
    const skua_strategy_problem *whole = run->problem;
    int                          neighbour[SKUA_NEIGHBOURS_MAX];
    skua_strategy_pe             pes[SKUA_NEIGHBOURS_MAX + 1];
    int                          k    = ski_neighbours_of(pe, whole->pes, neighbour);
    uint32_t                     n    = run->start[pe + 1] - run->start[pe], *number;
    skua_strategy_problem        part = *whole;
    bool                         ok;

    number       = run->number + run->start[pe];
    pes[0]       = whole->pe[pe];
    part.pe      = pes;
    part.pes     = k + 1;
    part.objects = n;
    part.edges   = 0;
    part.object  = run->object;
    part.seed    = ski_local_seed(whole->seed, round, pe);
    for (int j = 0; j < k; j++) {
        pes[j + 1]            = whole->pe[neighbour[j]];
        pes[j + 1].background = run->loads.time[neighbour[j]];
    }
    for (uint32_t i = 0; i < n; i++) {
        run->object[i]      = whole->object[number[i]];
        run->object[i].pe   = 0;
        run->object[i].load = run->loads.load[number[i]];
    }
    run->seconds -= ski_seconds(CLOCK_THREAD_CPUTIME_ID);
    ok = ski_strategy_decide(run->strategy, &part, run->decided, text);
    run->seconds += ski_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (uint32_t i = 0; ok && i < n; i++)
        if (run->decided[i] > 0)
            run->next[number[i]] = neighbour[run->decided[i] - 1];
    return ok;
}

/* Moves what the PEs have decided.  Returns the number of objects that move. */
static uint32_t local_move(struct local_run *run)
{
    uint32_t moved = 0;

    for (uint32_t i = 0; i < run->problem->objects; i++) {
        if (run->to[i] == run->next[i])
            continue;
        ski_loads_subtract(&run->loads, run->to[i], i);
        ski_loads_add(&run->loads, run->next[i], i);
        run->to[i] = run->next[i];
        moved++;
    }
    return moved;
}

static bool local_run_rounds(struct local_run *run, int rounds, int *done, char *text)
{
    uint32_t moved = 1;

    for (*done = 0; *done < rounds && moved; (*done)++) {
        local_sort_objects(run);
        for (int pe = 0; pe < run->problem->pes; pe++)
            if (!local_decide(run, pe, *done, text))
                return false;
        moved = local_move(run);
    }
    return true;
}

static void local_stay(const skua_strategy_problem *problem, int32_t *to)
{
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = problem->object[i].pe;
}

bool ski_local_rounds(const skua_strategy *strategy, const skua_strategy_problem *problem,
                      int rounds, int32_t *to, struct ski_local_cost *cost, char *text)
{
    size_t           objects = (size_t)problem->objects + 1;
    struct local_run run     = {.strategy = strategy, .problem = problem, .to = to};
    int              done;
    bool             ok;

    if (rounds == 0)
        rounds = strategy->rounds ? strategy->rounds : 1;
    run.start   = ski_malloc(((size_t)problem->pes + 2) * sizeof *run.start);
    run.number  = ski_malloc(objects * sizeof *run.number);
    run.next    = ski_malloc(objects * sizeof *run.next);
    run.object  = ski_malloc(objects * sizeof *run.object);
    run.decided = ski_malloc(objects * sizeof *run.decided);
    ski_loads_init(&run.loads, problem, SKI_LOADS_ALL);
    local_stay(problem, to);
    local_stay(problem, run.next);
    ok = local_run_rounds(&run, rounds, &done, text);
    if (!ok)
        local_stay(problem, to);
    if (cost)
        *cost = (struct ski_local_cost){done, done ? run.seconds / done / problem->pes : 0};
    ski_loads_destroy(&run.loads);
    free(run.decided);
    free(run.object);
    free(run.next);
    free(run.number);
    free(run.start);
    return ok;
}
