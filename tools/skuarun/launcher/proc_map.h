/* SPDX-License-Identifier: Apache-2.0 */
/* proc_map.h - maps the processes of a job to agents, starts the agents, and tells each of them
 * what to run. */
#ifndef SKUARUN_PROC_MAP_H
#define SKUARUN_PROC_MAP_H

#include "launcher/remote_agent.h"

/** Returns an array of *@p count agents, which the caller frees: one for each host, or one for each
 *  process where processes share no memory, ordered by their first process. */
struct remote_agent *proc_map_create(const struct run_options *options, const struct hosts *hosts,
                                     int *count);

/** Start all agents, without waiting for any of them.  Returns false after printing the reason. */
bool proc_map_start_agents(const struct run_options *options, struct remote_agent *agent,
                           int count);

/** Send each agent its job specification.  All agents have said hello, so it is known which of them
 *  share a machine; those get disjoint sets of CPUs.  Returns false after printing the reason. */
bool proc_map_send_specs(const struct run_options *options, const struct hosts *hosts,
                         struct remote_agent *agent, int count);

#endif
