/* SPDX-License-Identifier: Apache-2.0 */
/* proc_map.c - see proc_map.h. */
#include "launcher/proc_map.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/interconnect.h"
#include "base/topology.h"
#include "launcher/export.h"
#include "protocol/job_spec.h"

/* Returns an agent that is not started yet, with @p processes processes from @p first on.  The
 * agent of a spare host has none, and waits. */
static struct remote_agent proc_map_agent(const struct hosts_entry *host, int first, int processes)
{
    return (struct remote_agent){.host        = host,
                                 .first       = first,
                                 .running     = processes,
                                 .idle        = processes == 0,
                                 .conn        = {.in = -1, .out = -1},
                                 .diagnostics = {.fd = -1}};
}

struct remote_agent *proc_map_create(const struct run_options *options, const struct hosts *hosts,
                                     int *count, struct proc_map *map)
{
    int                  most  = (options->pes + options->threads - 1) / options->threads;
    struct remote_agent *agent = ski_calloc((size_t)(most + hosts->count), sizeof *agent);
    int                  first = 0;

    *count = 0;
    *map   = (struct proc_map){.pes       = options->pes,
                               .threads   = options->threads,
                               .processes = most,
                               .epoch     = options->survive ? 1 : 0,
                               .agent_of  = ski_calloc((size_t)most, sizeof *map->agent_of)};
    for (int i = 0; i < hosts->count; i++) {
        int processes = (hosts->host[i].pes + options->threads - 1) / options->threads;
        int each      = ski_config.shared_memory ? processes : 1;

        if (hosts->host[i].spare)
            agent[(*count)++] = proc_map_agent(&hosts->host[i], first, 0);
        for (int end = first + processes; first < end; first += each) {
            for (int k = 0; k < each; k++)
                map->agent_of[first + k] = *count;
            agent[(*count)++] = proc_map_agent(&hosts->host[i], first, each);
        }
    }
    ski_assert(first == most && *count <= most + hosts->count);
    return agent;
}

static bool proc_map_all_local(const struct hosts *hosts)
{
    for (int i = 0; i < hosts->count; i++)
        if (!hosts->host[i].local)
            return false;
    return true;
}

/* Fills in what is equal for all agents. */
static bool proc_map_common_spec(struct job_spec *spec, const struct run_options *options,
                                 const struct hosts *hosts, const struct proc_map *map,
                                 char directory[PATH_MAX])
{
    struct job_spec_head *h = &spec->head;

    *spec = (struct job_spec){.head      = {.pes             = map->pes,
                                            .pes_per_process = map->threads,
                                            .epoch           = map->epoch,
                                            .generation      = map->generation,
                                            .one_host        = proc_map_all_local(hosts),
                                            .label           = options->label,
                                            .verbose         = options->verbose,
                                            .terminal        = (uint8_t)isatty(STDOUT_FILENO)},
                              .agent_of  = map->agent_of,
                              .directory = directory,
                              .argument  = options->command};
    while (options->command[h->argument_count])
        h->argument_count++;
    if (!getcwd(directory, PATH_MAX)) {
        fprintf(stderr,
                "skuarun: cannot name the working directory, in which the other hosts start the "
                "program: %s\n",
                strerror(errno));
        return false;
    }
    if (getrandom(h->secret, sizeof h->secret, 0) != (ssize_t)sizeof h->secret) {
        fprintf(stderr, "skuarun: the system has no random numbers for the secret of the job: %s\n",
                strerror(errno));
        return false;
    }
    spec->setting = export_variables(options->exports, &h->setting_count);
    return true;
}

/* An agent in the order of machines. */
struct proc_map_rank {
    const struct remote_agent *agent;
    int                        index;
};

/* Orders agents that share their CPUs one after the other.  Where the kernel has no identifier of
 * its boot, agents of one host name share them. */
static int proc_map_compare_machines(const struct remote_agent *a, const struct remote_agent *b)
{
    int order = memcmp(&a->machine, &b->machine, sizeof a->machine);

    if (order == 0 && !a->machine.boot[0] && a->host != b->host)
        order = a->host < b->host ? -1 : 1;
    return order;
}

static int proc_map_compare_ranks(const void *a, const void *b)
{
    const struct proc_map_rank *x = a, *y = b;
    int                         order = proc_map_compare_machines(x->agent, y->agent);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The PEs of the job that share the CPUs of an agent: the number of its own, of those that come
 * before them, and of all. */
struct proc_map_share {
    int pes, first, all;
};

/* Sets the shares of the agents on one machine, which are @p count neighbours in the order. */
static void proc_map_share_machine(const struct proc_map_rank *rank, int count,
                                   struct proc_map_share *share)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        share[rank[i].index].first = sum;
        sum += share[rank[i].index].pes;
    }
    for (int i = 0; i < count; i++)
        share[rank[i].index].all = sum;
}

/* Returns the shares of all agents, in an array that the caller frees. */
static struct proc_map_share *proc_map_shares(const struct job_spec     *spec,
                                              const struct remote_agent *agent, int count)
{
    struct proc_map_share *share = ski_calloc((size_t)count, sizeof *share);
    struct proc_map_rank  *rank  = ski_calloc((size_t)count, sizeof *rank);
    int                    left  = spec->head.pes;

    for (int i = 0; i < job_spec_processes(&spec->head); i++) {
        int pes = left < spec->head.pes_per_process ? left : spec->head.pes_per_process;

        share[spec->agent_of[i]].pes += pes;
        left -= pes;
    }
    for (int i = 0; i < count; i++)
        rank[i] = (struct proc_map_rank){&agent[i], i};
    qsort(rank, (size_t)count, sizeof *rank, proc_map_compare_ranks);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1;
             end < count && proc_map_compare_machines(rank[first].agent, rank[end].agent) == 0;)
            end++;
        proc_map_share_machine(&rank[first], end - first, share);
    }
    free(rank);
    return share;
}

/* Processes of this host that share no memory have an agent each.  The CPUs of all their PEs are
 * chosen once, for the first agent; *@p cpu has them for the others. */
static bool proc_map_choose_cpus(struct job_spec *spec, const struct remote_agent *agent, int **cpu)
{
    struct job_spec_head *h = &spec->head;

    if (ski_config.shared_memory || !agent->host->local)
        return true;
    if (!*cpu) {
        *cpu = ski_calloc((size_t)h->host_pes, sizeof **cpu);
        if (ski_topology_assign(ski_config.pin, h->host_pes, h->pes_per_process, *cpu) != SKUA_OK)
            return false;
    }
    h->cpus   = h->host_pes;
    spec->cpu = *cpu;
    return true;
}

/* Fills in the processes whose images agent number @p agent reads. */
static void proc_map_set_reads(struct job_spec *spec, const struct proc_map *map, int agent)
{
    spec->head.reads = 0;
    for (int i = 0; i < map->formers; i++)
        if (map->reader_of[i] == agent)
            spec->read[spec->head.reads++] = i;
}

static bool proc_map_send_one(struct job_spec *spec, struct remote_agent *agent,
                              const struct proc_map_share *share, int **cpu)
{
    struct buffer to = {0};
    bool          ok;

    spec->head.cpus          = 0;
    spec->cpu                = NULL;
    spec->head.host_pes      = share->all;
    spec->head.host_first_pe = share->first;
    ok                       = proc_map_choose_cpus(spec, agent, cpu);
    if (ok) {
        job_spec_encode(spec, &to);
        frame_conn_send(&agent->conn, FRAME_SPEC, to.text, to.end, NULL, 0);
    }
    buffer_free(&to);
    return ok;
}

static bool proc_map_send(struct job_spec *spec, const struct proc_map *map,
                          struct remote_agent *agent, int count)
{
    struct proc_map_share *share = proc_map_shares(spec, agent, count);
    int                   *cpu   = NULL;
    bool                   ok    = true;

    spec->head.agents = count;
    spec->read        = ski_calloc((size_t)map->formers + 1, sizeof *spec->read);
    for (int i = 0; i < count && ok; i++) {
        if (share[i].pes == 0)
            continue;
        spec->head.agent = i;
        proc_map_set_reads(spec, map, i);
        ok = proc_map_send_one(spec, &agent[i], &share[i], &cpu);
    }
    free(spec->read);
    free(share);
    free(cpu);
    return ok;
}

bool proc_map_send_specs(const struct run_options *options, const struct hosts *hosts,
                         const struct proc_map *map, struct remote_agent *agent, int count)
{
    char            directory[PATH_MAX];
    struct job_spec spec = {0};
    bool            ok   = proc_map_common_spec(&spec, options, hosts, map, directory) &&
              proc_map_send(&spec, map, agent, count);

    free(spec.setting);
    return ok;
}

/* ---- starting agents ------------------------------------------------------------------ */

/* Prints where host @p host is in the interconnect, if a file describes it. */
static void proc_map_locate(const struct ski_interconnect *of, int host, const char *name)
{
    int  node = ski_interconnect_find(of, host, name);
    char text[SKI_INTERCONNECT_TEXT];

    if (node >= 0)
        fprintf(stderr, " (%s)", ski_interconnect_describe(of, node, text));
}

static void proc_map_announce(const struct remote_agent *agent, const struct ski_interconnect *of,
                              int host)
{
    if (agent->running == 0)
        fprintf(stderr, "skuarun: no process");
    else
        fprintf(stderr, "skuarun: process %d", agent->first);
    if (agent->running > 1)
        fprintf(stderr, " to %d", agent->first + agent->running - 1);
    fprintf(stderr, " on host %s", agent->host->name);
    proc_map_locate(of, host, agent->host->name);
    fprintf(stderr, "\n");
}

bool proc_map_start_agents(const struct run_options *options, struct remote_agent *agent, int count)
{
    struct ski_interconnect of = {0};
    char                    error[SKI_INTERCONNECT_TEXT];
    bool                    ok = true;

    if (options->verbose && ski_interconnect_is_file(ski_config.topology))
        ski_interconnect_read(&of, ski_config.topology, error); /* it was checked before */
    for (int i = 0; i < count && ok; i++) {
        if (options->verbose && (options->hosts || of.nodes > 0))
            proc_map_announce(&agent[i], &of, i);
        ok = remote_agent_start(&agent[i]);
    }
    ski_interconnect_destroy(&of);
    return ok;
}

void proc_map_free(const struct proc_map *map)
{
    free(map->agent_of);
    free(map->reader_of);
}
