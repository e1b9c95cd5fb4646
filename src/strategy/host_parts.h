/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_parts.h - a problem divided by hosts: the problem between the hosts, in which a host is one
 * fast PE, and for each host a problem with the PEs of that host only.
 */
#ifndef SKI_HOST_PARTS_H
#define SKI_HOST_PARTS_H

#include <skua/strategy.h>

/* Only hosts with PEs have a part.  The PEs of part h are pe[start[h]] .. pe[start[h + 1] - 1]. */
struct ski_host_parts {
    const skua_strategy_problem *whole;
    skua_strategy_problem        top; /* between the hosts: its PE h stands for part h */
    skua_strategy_pe            *top_pe;
    skua_strategy_object        *top_object;
    int32_t                     *start, *pe;
    int32_t                     *part_of, *index_of; /* of each PE: its part, and its index there */
};

/** Divides a problem, which the caller keeps. */
void ski_host_parts_init(struct ski_host_parts *parts, const skua_strategy_problem *whole);

/** Frees the memory of the parts. */
void ski_host_parts_destroy(struct ski_host_parts *parts);

/** Calls a strategy for each part.  Object i belongs to part group[i]; those that come from another
 *  host begin on the PE that ends them first.  @p to becomes the mapping of the whole problem. */
skua_status ski_host_parts_decide(const struct ski_host_parts *parts, const int32_t *group,
                                  skua_strategy_fn decide, int32_t *to);

#endif
