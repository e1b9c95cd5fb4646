/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adjacency.h - the undirected communication graph of a problem: for each object, the
 * objects that it exchanges messages with, and the cost of these messages if the two are on
 * different PEs.
 *
 * The cost is in seconds: messages * seconds_per_message + bytes * seconds_per_byte.  If the
 * problem does not give them, SKI_SECONDS_PER_MESSAGE and SKI_SECONDS_PER_BYTE are used.
 */
#ifndef SKI_ADJACENCY_H
#define SKI_ADJACENCY_H

#include <skua/strategy.h>

/** Costs of messages between processes of a host, about. */
#define SKI_SECONDS_PER_MESSAGE 1e-6
#define SKI_SECONDS_PER_BYTE    1e-10

/* The partners of object i are partner[start[i]] .. partner[start[i + 1] - 1], ascending. */
struct ski_adjacency {
    uint32_t *start, *partner;
    double   *cost; /* of each partner */
};

/** Computes the adjacency of a problem. */
void ski_adjacency_init(struct ski_adjacency *adjacency, const skua_strategy_problem *problem);

/** Frees the memory of an adjacency. */
void ski_adjacency_destroy(struct ski_adjacency *adjacency);

#endif
