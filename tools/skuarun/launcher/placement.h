/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - on which agents the processes of the next epoch run, and which agents read the
 * images that it restores (skuarun --survive).
 *
 * An image is read by a PE of a host that has it; what is in it travels to the PEs that it belongs
 * to while it is restored.  So any process may run on any host, as long as each image is on a host
 * that has a process.  Own images and the copies of buddies allow a job to do without every other
 * host; placement_least() says how many processes are needed.
 *
 * A process stays with its agent.  One whose host is lost goes to the agent with the fewest
 * processes: a spare host, if there is one.  Agents that are left without processes stay connected
 * and keep their images: they are spare hosts from then on.
 */
#ifndef SKUARUN_PLACEMENT_H
#define SKUARUN_PLACEMENT_H

#include "launcher/proc_map.h"

/** Returns the least number of processes of an epoch that restores @p generation, at most
 *  @p wanted or what the images need.  Returns 0 if no agent is connected. */
int placement_least(const struct remote_agent *agent, int count, uint64_t generation, int wanted);

/** Maps @p pes PEs to the agents that are connected, and the images of map->generation to agents
 *  that read them.  The processes are at least placement_least().  Sets `running` of all agents.
 *  Returns false if no agent is connected. */
bool placement_make(struct proc_map *map, int pes, int threads, struct remote_agent *agent,
                    int count);

#endif
