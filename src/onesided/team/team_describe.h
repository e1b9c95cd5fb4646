/* SPDX-License-Identifier: Apache-2.0 */
/* team_describe.h - the kind of a team collective: what all members must agree on, and its text. */
#ifndef SKI_TEAM_DESCRIBE_H
#define SKI_TEAM_DESCRIBE_H

#include <stdint.h>

#include "core/collective/collective.h"

/* Collectives. */
enum ski_collective {
    SKI_COLLECTIVE_BARRIER,
    SKI_COLLECTIVE_BROADCAST,
    SKI_COLLECTIVE_REDUCE,
    SKI_COLLECTIVE_ALLREDUCE,
    SKI_COLLECTIVE_SCAN,
    SKI_COLLECTIVE_EXSCAN,
    SKI_COLLECTIVE_GATHER,
    SKI_COLLECTIVE_GATHERV,
    SKI_COLLECTIVE_SCATTER,
    SKI_COLLECTIVE_SCATTERV,
    SKI_COLLECTIVE_ALLGATHER,
    SKI_COLLECTIVE_ALLGATHERV,
    SKI_COLLECTIVE_ALLTOALL,
    SKI_COLLECTIVE_ALLTOALLV,
    SKI_COLLECTIVE_SPLIT,
    SKI_COLLECTIVES /* their number */
};

/* The properties of a call that must be the same on all members. */
struct ski_team_kind {
    uint8_t  collective; /* enum ski_collective */
    uint8_t  type;       /* skua_type, of reductions */
    uint16_t op;         /* of reductions */
    int32_t  root;       /* rank, or 0 */
};

#define SKI_DESCRIBE_STR 160 /* bytes of a description */

/** Returns the public function of an enum ski_collective. */
const char *ski_collective_name(unsigned collective);

/** Describes a call for errors, in @p text: "skua_team_reduce of double by sum to rank 0". */
const char *ski_collective_describe(const struct ski_team_kind *kind, char text[SKI_DESCRIBE_STR]);

/** Returns whether two kinds of calls are the same. */
static inline bool ski_team_kind_equal(const struct ski_team_kind *a, const struct ski_team_kind *b)
{
    return a->collective == b->collective && a->type == b->type && a->op == b->op &&
           a->root == b->root;
}

/** Returns the operator of a struct ski_team_kind. */
static inline skua_op ski_op_numbered(uint16_t number)
{
    return (skua_op)number;
}

/** Applies the operator of a call to @p bytes: into = into (op) from. */
static inline void ski_team_combine(const struct ski_team_kind *kind, char *into, const char *from,
                                    size_t bytes)
{
    skua_type type = (skua_type)kind->type;

    if (bytes)
        ski_op_function(ski_op_numbered(kind->op), type)(into, from, bytes >> ski_type_shift(type),
                                                         type);
}

#endif
