/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team_hosts.h - which members of a team share a host.
 *
 * Collectives of a team whose members are on several hosts, some of which have several members, are
 * hierarchical (schedule_hosts.h).  All members number the hosts in the same way.  A team has
 * tables, which are as long as those of its PEs; for SKUA_TEAM_ALL the list of the job is enough.
 */
#ifndef SKI_TEAM_HOSTS_H
#define SKI_TEAM_HOSTS_H

#include "boot/job.h"

struct ski_team;

/* The hosts of a team, each with its members in ascending order of ranks. */
struct ski_team_hosts {
    const struct ski_job *job;     /* of SKUA_TEAM_ALL, whose ranks are PEs; else NULL     */
    int32_t               hosts;   /* number of hosts that members are on */
    int32_t              *host_of; /* by rank: the number of its host                       */
    int32_t              *first;   /* by host: where its members begin in `rank`; and the end */
    int32_t              *rank;    /* the members of host 0, of host 1, ...                 */
};

/** Returns the hosts of @p team; NULL: all members are on one host, or each is on its own. */
struct ski_team_hosts *ski_team_hosts_make(const struct ski_job *job, const struct ski_team *team);

/** Frees what ski_team_hosts_make() returned, which may be NULL. */
void ski_team_hosts_free(struct ski_team_hosts *hosts);

/** Returns the number of the host of @p rank. */
static inline int ski_hosts_of(const struct ski_team_hosts *hosts, int rank)
{
    return hosts->job ? ski_job_host_of(hosts->job, rank) : hosts->host_of[rank];
}

/** Returns the number of members on @p host. */
static inline int ski_hosts_size(const struct ski_team_hosts *hosts, int host)
{
    return hosts->job ? ski_job_host_pes(hosts->job, host)
                      : hosts->first[host + 1] - hosts->first[host];
}

/** Returns the rank of member @p i of @p host. */
static inline int ski_hosts_rank(const struct ski_team_hosts *hosts, int host, int i)
{
    return hosts->job ? ski_job_host_pe(hosts->job, host, i) : hosts->rank[hosts->first[host] + i];
}

/** Returns how many members of @p host, from member @p i on, have consecutive ranks. */
int ski_hosts_run(const struct ski_team_hosts *hosts, int host, int i);

#endif
