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
                                     int *count, struct proc_map *map)
{
    int                  most  = (options->pes + options->threads - 1) / options->threads;
    struct remote_agent *agent = ski_calloc((size_t)most, sizeof *agent);
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

        for (int end = first + processes; first < end; first += each) {
            for (int k = 0; k < each; k++)
                map->agent_of[first + k] = *count;
            agent[(*count)++] = (struct remote_agent){.host        = &hosts->host[i],
                                                      .first       = first,
                                                      .running     = each,
                                                      .conn        = {.in = -1, .out = -1},
                                                      .diagnostics = {.fd = -1}};
        }
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
    if (!getcwd(directory, PATH_MAX) ||
        getrandom(h->secret, sizeof h->secret, 0) != (ssize_t)sizeof h->secret) {
        fprintf(stderr, "skuarun: cannot get the working directory or random numbers: %s\n",
                strerror(errno));
        return false;
    }
    spec->setting = export_variables(options->exports, &h->setting_count);
    return true;
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
static void proc_map_count_host_pes(struct job_spec *spec, const struct remote_agent *agent,
                                    int count, int i)
{
    struct job_spec_head *h = &spec->head;

    h->host_pes = h->host_first_pe = 0;
    for (int other = 0; other < count; other++) {
        if (other == i)
            h->host_first_pe = h->host_pes;
        if (proc_map_shares_cpus(&agent[i], &agent[other]))
            h->host_pes += job_spec_pes(spec, other);
    }
    ski_assert(h->host_first_pe + job_spec_pes(spec, i) <= h->host_pes);
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
    h->cpus   = job_spec_pes(spec, h->agent);
    spec->cpu = *cpu + h->host_first_pe;
    return true;
}

static bool proc_map_send(struct job_spec *spec, struct remote_agent *agent, int count)
{
    int *cpu = NULL;
    bool ok  = true;

    spec->head.agents = count;
    for (int i = 0; i < count && ok; i++) {
        struct buffer to = {0};

        if (job_spec_pes(spec, i) == 0)
            continue;
        spec->head.agent = i;
        spec->head.cpus  = 0;
        spec->cpu        = NULL;
        proc_map_count_host_pes(spec, agent, count, i);
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
                         const struct proc_map *map, struct remote_agent *agent, int count)
{
    char            directory[PATH_MAX];
    struct job_spec spec = {0};
    bool            ok   = proc_map_common_spec(&spec, options, hosts, map, directory) &&
              proc_map_send(&spec, agent, count);

    free(spec.setting);
    return ok;
}

/* ---- the next epoch ------------------------------------------------------------------- */

static bool proc_map_is_connected(const struct remote_agent *agent)
{
    return agent->conn.in >= 0;
}

/* Whether the agent has the image of @p process that the next epoch restores. */
static bool proc_map_has_image(const struct proc_map *map, const struct remote_agent *agent,
                               int process)
{
    for (int i = 0; i < agent->records; i++)
        if (agent->record[i].process == process && agent->record[i].generation == map->generation)
            return true;
    return false;
}

/* Chooses the agent of @p process.  @p before: the one that it had, or -1. */
static int proc_map_choose(const struct proc_map *map, int process, int before,
                           const struct remote_agent *agent, int count)
{
    int best = -1;

    for (int i = 0; i < count; i++) {
        bool has  = proc_map_has_image(map, &agent[i], process);
        bool than = best >= 0 && proc_map_has_image(map, &agent[best], process);

        if (!proc_map_is_connected(&agent[i]))
            continue;
        if (best < 0 || has > than ||
            (has == than && best != before &&
             (i == before || agent[i].running < agent[best].running)))
            best = i;
    }
    return best;
}

bool proc_map_place(struct proc_map *map, int pes, int threads, struct remote_agent *agent,
                    int count)
{
    int  before    = map->processes;
    int *agent_was = map->agent_of;

    map->pes       = pes;
    map->threads   = threads < pes ? threads : pes;
    map->processes = (pes + map->threads - 1) / map->threads;
    map->agent_of  = ski_calloc((size_t)map->processes, sizeof *map->agent_of);
    for (int i = 0; i < count; i++)
        agent[i].running = 0;
    for (int i = 0; i < map->processes; i++) {
        int to = proc_map_choose(map, i, i < before ? agent_was[i] : -1, agent, count);

        if (to < 0) {
            free(agent_was);
            return false;
        }
        map->agent_of[i] = to;
        if (agent[to].running++ == 0)
            agent[to].first = i;
    }
    free(agent_was);
    return true;
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
