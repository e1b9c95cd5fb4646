/* SPDX-License-Identifier: Apache-2.0 */
/* quality.c - see quality.h. */
#include "strategy/quality.h"

#include "base/memory.h"
#include "strategy/loads.h"
#include "strategy/problem.h"

static int32_t quality_pe(const skua_strategy_problem *problem, const int32_t *to, uint32_t i)
{
    return to ? to[i] : problem->object[i].pe;
}

static void quality_add_traffic(struct ski_quality *q, const skua_strategy_problem *problem,
                                const int32_t *to)
{
    for (uint32_t k = 0; k < problem->edges; k++) {
        const skua_strategy_edge *edge = &problem->edge[k];
        int32_t a = quality_pe(problem, to, edge->from), b = quality_pe(problem, to, edge->to);
        int     hops = ski_problem_hops(problem, problem->pe[a].host, problem->pe[b].host);

        q->pe_bytes += a != b ? edge->bytes : 0;
        q->host_bytes += hops > 0 ? edge->bytes : 0;
        q->hop_bytes += (uint64_t)hops * edge->bytes;
    }
}

struct ski_quality ski_quality_of(const skua_strategy_problem *problem, const int32_t *to,
                                  double *times)
{
    struct ski_quality q = {.ideal = ski_loads_ideal(problem)};
    struct ski_loads   loads;

    ski_loads_init(&loads, problem, SKI_LOADS_ALL);
    for (uint32_t i = 0; i < problem->objects; i++) {
        int32_t pe = quality_pe(problem, to, i);

        if (pe == problem->object[i].pe)
            continue;
        ski_loads_subtract(&loads, problem->object[i].pe, i);
        ski_loads_add(&loads, pe, i);
        q.moved++;
        q.moved_bytes += problem->object[i].bytes;
    }
    q.max = ski_loads_max(&loads);
    for (int32_t p = 0; p < problem->pes; p++)
        q.mean += loads.time[p] / problem->pes;
    if (times)
        memcpy(times, loads.time, (size_t)problem->pes * sizeof *times);
    quality_add_traffic(&q, problem, to);
    ski_loads_destroy(&loads);
    return q;
}
