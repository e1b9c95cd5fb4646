/* SPDX-License-Identifier: Apache-2.0 */
/* proc_map.h - maps the processes of a job to agents, starts the agents, and tells each of them
 * what to run. */
#ifndef SKUARUN_PROC_MAP_H
#define SKUARUN_PROC_MAP_H

#include "launcher/remote_agent.h"

/** The processes of one epoch of the job, and the agents that start them. */
struct proc_map {
    int      pes, threads, processes;
    int     *agent_of; /* by process */
    int      epoch;    /* 0: the job was not started with --survive */
    uint64_t generation;
};

/** Returns an array of *@p count agents, which the caller frees: one for each host, or one for each
 *  process where processes share no memory, ordered by their first process. */
struct remote_agent *proc_map_create(const struct run_options *options, const struct hosts *hosts,
                                     int *count, struct proc_map *map);

/** Map @p pes PEs to the agents that are connected.  A process stays with its agent if that has its
 *  image of map->generation, or goes to one that has, or else to the one with the fewest
 *  processes.  Returns false if no agent is connected. */
bool proc_map_place(struct proc_map *map, int pes, int threads, struct remote_agent *agent,
                    int count);

/** Start all agents, without waiting for any of them.  Returns false after printing the reason. */
bool proc_map_start_agents(const struct run_options *options, struct remote_agent *agent,
                           int count);

/** Send each agent that has processes its job specification.  All agents have said hello, so it is
 * known which of them share a machine; those get disjoint sets of CPUs.  Returns false after
 * printing the reason. */
bool proc_map_send_specs(const struct run_options *options, const struct hosts *hosts,
                         const struct proc_map *map, struct remote_agent *agent, int count);

#endif
