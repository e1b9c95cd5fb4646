/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hierarchical.c - the strategy hierarchical: refine between hosts, then refine inside each host.
 *
 * Between hosts, a host is one PE with the speeds of its PEs, so few objects cross the network.
 * Inside a host, objects that have arrived begin on the PEs that end them first.
 */
#include "base/memory.h"
#include "strategy/host_parts.h"
#include "strategy/strategy.h"

skua_status ski_strategy_hierarchical(const skua_strategy_problem *problem, int32_t *to)
{
    struct ski_host_parts parts;
    int32_t              *group = ski_malloc(((size_t)problem->objects + 1) * sizeof *group);
    skua_status           status;

    ski_host_parts_init(&parts, problem);
    for (uint32_t i = 0; i < problem->objects; i++)
        group[i] = parts.top_object[i].pe;
    status = ski_strategy_refine(&parts.top, group);
    if (status == SKUA_OK)
        status = ski_host_parts_decide(&parts, group, ski_strategy_refine, to);
    ski_host_parts_destroy(&parts);
    free(group);
    return status;
}
