/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - on which agents the processes of the next epoch run, and which agents read the
 * images that it restores (skuarun --survive).
 *
 * An image is read by a PE of a host that has it, which sends the objects in it to their PEs while
 * it is restored.  Any process may therefore run on any host, as long as each image is on a host
 * that has a process.  Every other host suffices, because each host has its own images and the
 * copies of the host before it; placement_least() returns how many processes are needed.
 *
 * A process stays with its agent.  One whose host is lost goes to the agent with the fewest
 * processes: a spare host, if there is one.  Agents that are left without processes stay connected
 * and keep their images: they are spare hosts from then on.
 */
#ifndef SKUARUN_PLACEMENT_H
#define SKUARUN_PLACEMENT_H

#include "launcher/proc_map.h"

/** Returns the least number of processes of an epoch that restores @p generation: @p wanted, or
 * more if the images need more.  Returns 0 if no agent is connected. */
int placement_least(const struct remote_agent *agent, int count, uint64_t generation, int wanted);

/** Maps @p pes PEs to the agents that are connected, and the images of map->generation to agents
 *  that read them.  The processes are at least placement_least().  Sets `running` of all agents.
 *  Returns false if no agent is connected. */
bool placement_make(struct proc_map *map, int pes, int threads, struct remote_agent *agent,
                    int count);

#endif
