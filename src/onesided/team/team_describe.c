/* SPDX-License-Identifier: Apache-2.0 */
/* team_describe.c - see team_describe.h. */
#include "onesided/team/team_describe.h"

#include <stdio.h>

static const char *const describe_names[SKI_COLLECTIVES] = {
    [SKI_COLLECTIVE_BARRIER]    = "skua_team_barrier",
    [SKI_COLLECTIVE_BROADCAST]  = "skua_team_broadcast",
    [SKI_COLLECTIVE_REDUCE]     = "skua_team_reduce",
    [SKI_COLLECTIVE_ALLREDUCE]  = "skua_team_allreduce",
    [SKI_COLLECTIVE_SCAN]       = "skua_team_scan",
    [SKI_COLLECTIVE_EXSCAN]     = "skua_team_exscan",
    [SKI_COLLECTIVE_GATHER]     = "skua_team_gather",
    [SKI_COLLECTIVE_GATHERV]    = "skua_team_gatherv",
    [SKI_COLLECTIVE_SCATTER]    = "skua_team_scatter",
    [SKI_COLLECTIVE_SCATTERV]   = "skua_team_scatterv",
    [SKI_COLLECTIVE_ALLGATHER]  = "skua_team_allgather",
    [SKI_COLLECTIVE_ALLGATHERV] = "skua_team_allgatherv",
    [SKI_COLLECTIVE_ALLTOALL]   = "skua_team_alltoall",
    [SKI_COLLECTIVE_ALLTOALLV]  = "skua_team_alltoallv",
    [SKI_COLLECTIVE_SPLIT]      = "skua_team_split",
};

/* The collectives that a call describes by its root. */
#define DESCRIBE_ROOTED                                                                            \
    (1u << SKI_COLLECTIVE_BROADCAST | 1u << SKI_COLLECTIVE_REDUCE | 1u << SKI_COLLECTIVE_GATHER |  \
     1u << SKI_COLLECTIVE_GATHERV | 1u << SKI_COLLECTIVE_SCATTER | 1u << SKI_COLLECTIVE_SCATTERV)

const char *ski_collective_name(unsigned collective)
{
    return collective < SKI_COLLECTIVES ? describe_names[collective] : "an unknown collective";
}

/* Returns whether a collective has an operator. */
static bool describe_combines(unsigned collective)
{
    return collective >= SKI_COLLECTIVE_REDUCE && collective <= SKI_COLLECTIVE_EXSCAN;
}

const char *ski_collective_describe(const struct ski_team_kind *kind, char text[SKI_DESCRIBE_STR])
{
    int n = snprintf(text, SKI_DESCRIBE_STR, "%s", ski_collective_name(kind->collective));

    if (describe_combines(kind->collective))
        n += snprintf(text + n, SKI_DESCRIBE_STR - (size_t)n, " of %s by %s",
                      ski_type_name((skua_type)kind->type), ski_op_name(ski_op_numbered(kind->op)));
    if (kind->collective < SKI_COLLECTIVES && DESCRIBE_ROOTED >> kind->collective & 1)
        snprintf(text + n, SKI_DESCRIBE_STR - (size_t)n, ", root %d", kind->root);
    return text;
}
