/* SPDX-License-Identifier: Apache-2.0 */
/* team_hosts.c - see team_hosts.h. */
#include "onesided/team/team_hosts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "onesided/team/team.h"

/* Numbers the hosts of the members in the order of their lowest ranks; fills host_of.  Returns
 * their number. */
static int team_number_hosts(const struct ski_job *job, const struct ski_team *team,
                             int32_t *host_of)
{
    int32_t *number = ski_malloc((size_t)job->hosts * sizeof *number);
    int      hosts  = 0;

    for (int host = 0; host < job->hosts; host++)
        number[host] = -1;
    for (int rank = 0; rank < team->size; rank++) {
        int32_t *host = &number[ski_job_host_of(job, ski_team_pe_at(team, rank))];

        if (*host < 0)
            *host = hosts++;
        host_of[rank] = *host;
    }
    free(number);
    return hosts;
}

/* Sorts the ranks by host. */
static void team_list_hosts(struct ski_team_hosts *hosts, int size)
{
    for (int rank = 0; rank < size; rank++)
        hosts->first[hosts->host_of[rank] + 1]++;
    for (int host = 0; host < hosts->hosts; host++)
        hosts->first[host + 1] += hosts->first[host];
    for (int rank = size - 1; rank >= 0; rank--) /* each host from its end to its begin */
        hosts->rank[--hosts->first[hosts->host_of[rank] + 1]] = rank;
    for (int host = 0; host < hosts->hosts; host++) /* `first` is where the next host begins */
        hosts->first[host] = hosts->first[host + 1];
    hosts->first[hosts->hosts] = size;
}

struct ski_team_hosts *ski_team_hosts_make(const struct ski_job *job, const struct ski_team *team)
{
    struct ski_team_hosts *hosts;

    if (!ski_job_is_mixed(job))
        return NULL;
    hosts = ski_calloc(1, sizeof *hosts);
    if (!team->pe) {
        hosts->job   = job;
        hosts->hosts = job->hosts;
        return hosts;
    }
    hosts->host_of = ski_malloc((size_t)team->size * sizeof *hosts->host_of);
    hosts->hosts   = team_number_hosts(job, team, hosts->host_of);
    if (hosts->hosts == 1 || hosts->hosts == team->size) {
        ski_team_hosts_free(hosts);
        return NULL;
    }
    hosts->first = ski_calloc((size_t)hosts->hosts + 1, sizeof *hosts->first);
    hosts->rank  = ski_malloc((size_t)team->size * sizeof *hosts->rank);
    team_list_hosts(hosts, team->size);
    return hosts;
}

void ski_team_hosts_free(struct ski_team_hosts *hosts)
{
    if (!hosts)
        return;
    free(hosts->host_of);
    free(hosts->first);
    free(hosts->rank);
    free(hosts);
}

int ski_hosts_run(const struct ski_team_hosts *hosts, int host, int i)
{
    int size = ski_hosts_size(hosts, host), first = ski_hosts_rank(hosts, host, i), run = 1;

    while (i + run < size && ski_hosts_rank(hosts, host, i + run) == first + run)
        run++;
    return run;
}
