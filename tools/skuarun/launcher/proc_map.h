/* SPDX-License-Identifier: Apache-2.0 */
/* proc_map.h - maps the processes of a job to agents, starts the agents, and sends each of them its
 * job specification. */
#ifndef SKUARUN_PROC_MAP_H
#define SKUARUN_PROC_MAP_H

#include "launcher/remote_agent.h"

/** The processes of one epoch of the job, and the agents that start them. */
struct proc_map {
    int      pes, threads, processes;
    int     *agent_of;   /* by process */
    int      epoch;      /* 0: the job was not started with --survive */
    uint64_t generation; /* of images that the epoch restores; 0: none */
    int      formers;    /* processes of the epoch that wrote it       */
    int     *reader_of;  /* by former process: the agent whose PEs read its image */
};

/** Returns an array of *@p count agents, which the caller frees: one for each host, or one for each
 *  process where processes share no memory, ordered by their first process.  Spare hosts have one
 *  each. */
struct remote_agent *proc_map_create(const struct run_options *options, const struct hosts *hosts,
                                     int *count, struct proc_map *map);

/** Starts all agents, without waiting for any of them.  Returns false after printing the reason. */
bool proc_map_start_agents(const struct run_options *options, struct remote_agent *agent,
                           int count);

/** Sends each agent that has processes its job specification.  All agents have said hello, so it is
 * known which of them share a machine; those get disjoint sets of CPUs.  Returns false after
 * printing the reason. */
bool proc_map_send_specs(const struct run_options *options, const struct hosts *hosts,
                         const struct proc_map *map, struct remote_agent *agent, int count);

/** Frees what the map points to. */
void proc_map_free(const struct proc_map *map);

#endif
