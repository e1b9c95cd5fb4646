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

struct remote_agent *proc_map_create(const struct run_options *options, const struct hosts *hosts,
                                     int *count)
{
    int                  most  = (options->pes + options->threads - 1) / options->threads;
    struct remote_agent *agent = ski_calloc((size_t)most, sizeof *agent);
    int                  first = 0;

    *count = 0;
    for (int i = 0; i < hosts->count; i++) {
        int processes = (hosts->host[i].pes + options->threads - 1) / options->threads;
        int each      = ski_config.shared_memory ? processes : 1;

        for (int end = first + processes; first < end; first += each)
            agent[(*count)++] = (struct remote_agent){.host        = &hosts->host[i],
                                                      .first       = first,
                                                      .here        = each,
                                                      .running     = each,
                                                      .conn        = {.in = -1, .out = -1},
                                                      .diagnostics = {.fd = -1}};
    }
    ski_assert(first == most && *count <= most);
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
                                 const struct hosts *hosts, char directory[PATH_MAX])
{
    struct job_spec_head *h = &spec->head;

    *spec = (struct job_spec){.head      = {.pes             = options->pes,
                                            .pes_per_process = options->threads,
                                            .one_host        = proc_map_all_local(hosts),
                                            .label           = options->label,
                                            .verbose         = options->verbose,
                                            .terminal        = (uint8_t)isatty(STDOUT_FILENO)},
                              .directory = directory,
                              .argument  = options->command};
    while (options->command[h->argument_count])
        h->argument_count++;
    if (!getcwd(directory, PATH_MAX) ||
        getrandom(h->secret, sizeof h->secret, 0) != (ssize_t)sizeof h->secret) {
        fprintf(stderr, "skuarun: cannot get the working directory or random numbers: %s\n",
                strerror(errno));
        return false;
    }
    spec->setting = export_variables(options->exports, &h->setting_count);
    return true;
}

/* Selects the processes of @p agent in the specification.  Returns the number of their PEs. */
static int proc_map_select(struct job_spec_head *h, const struct remote_agent *agent)
{
    h->first = agent->first;
    h->here  = agent->here;
    return job_spec_pes(h);
}

/* Whether two agents share their CPUs.  Where the kernel has no identifier of its boot, agents of
 * one host name do. */
static bool proc_map_shares_cpus(const struct remote_agent *a, const struct remote_agent *b)
{
    if (!a->machine.boot[0])
        return a->host == b->host;
    return memcmp(&a->machine, &b->machine, sizeof a->machine) == 0;
}

/* Counts the PEs that share the CPUs of agent[i], and those of them that come before its own. */
static void proc_map_count_host_pes(struct job_spec_head *h, const struct remote_agent *agent,
                                    int count, int i)
{
    h->host_pes = h->host_first_pe = 0;
    for (int other = 0; other < count; other++) {
        if (other == i)
            h->host_first_pe = h->host_pes;
        if (proc_map_shares_cpus(&agent[i], &agent[other]))
            h->host_pes += proc_map_select(h, &agent[other]);
    }
    proc_map_select(h, &agent[i]);
    ski_assert(h->host_first_pe + job_spec_pes(h) <= h->host_pes);
}

/* Processes of this host that share no memory have an agent each.  The CPUs of all their PEs are
 * chosen once, for the first agent; the others get theirs from *@p cpu. */
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
    h->cpus   = job_spec_pes(h);
    spec->cpu = *cpu + h->host_first_pe;
    return true;
}

/* Returns the first process of each agent, for the specification of all of them. */
static int *proc_map_agent_first(const struct remote_agent *agent, int count)
{
    int *first = ski_calloc((size_t)count, sizeof *first);

    for (int i = 0; i < count; i++)
        first[i] = agent[i].first;
    return first;
}

static bool proc_map_send(struct job_spec *spec, struct remote_agent *agent, int count)
{
    int *cpu = NULL;
    bool ok  = true;

    spec->head.agents = count;
    spec->agent_first = proc_map_agent_first(agent, count);
    for (int i = 0; i < count && ok; i++) {
        struct buffer to = {0};

        spec->head.cpus = 0;
        spec->cpu       = NULL;
        proc_map_count_host_pes(&spec->head, agent, count, i);
        ok = proc_map_choose_cpus(spec, &agent[i], &cpu);
        job_spec_encode(spec, &to);
        if (ok)
            frame_conn_send(&agent[i].conn, FRAME_SPEC, to.text, to.end, NULL, 0);
        buffer_free(&to);
    }
    free(cpu);
    return ok;
}

bool proc_map_send_specs(const struct run_options *options, const struct hosts *hosts,
                         struct remote_agent *agent, int count)
{
    char            directory[PATH_MAX];
    struct job_spec spec = {0};
    bool            ok   = proc_map_common_spec(&spec, options, hosts, directory) &&
              proc_map_send(&spec, agent, count);

    free(spec.setting);
    free(spec.agent_first);
    return ok;
}

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
    fprintf(stderr, "skuarun: process %d", agent->first);
    if (agent->here > 1)
        fprintf(stderr, " to %d", agent->first + agent->here - 1);
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
