/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.c - see placement.h.
 *
 * The agents that the images need are chosen by elimination: from the last agent to the first, one
 * is removed if all of its images are on remaining agents, until the requested number is left.
 * Where each host has the copies of the host before it, every other host remains.
 */
#include "launcher/placement.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

static bool placement_is_connected(const struct remote_agent *agent)
{
    return agent->conn.in >= 0;
}

static bool placement_has_image(const struct remote_agent *agent, uint64_t generation, int process)
{
    for (int i = 0; i < agent->records; i++)
        if (agent->record[i].process == process && agent->record[i].generation == generation)
            return true;
    return false;
}

/* Returns whether the agent has images of the generation. */
static bool placement_has_images(const struct remote_agent *agent, uint64_t generation)
{
    for (int i = 0; i < agent->records; i++)
        if (agent->record[i].generation == generation)
            return true;
    return false;
}

/* Returns whether agents other than @p one that are needed have each of its images. */
static bool placement_is_redundant(const struct remote_agent *agent, int count, const bool *needed,
                                   uint64_t generation, int one)
{
    for (int i = 0; i < agent[one].records; i++) {
        bool found = agent[one].record[i].generation != generation;

        for (int k = 0; k < count && !found; k++)
            found = k != one && needed[k] &&
                    placement_has_image(&agent[k], generation, agent[one].record[i].process);
        if (!found)
            return false;
    }
    return true;
}

/* Marks the agents that have to run a process, so that their images are read: all that have images,
 * or fewer if only @p wanted processes are to run.  Returns their number. */
static int placement_mark_needed(const struct remote_agent *agent, int count, uint64_t generation,
                                 int wanted, bool *needed)
{
    int sum = 0;

    for (int i = 0; i < count; i++) {
        needed[i] = generation > 0 && placement_is_connected(&agent[i]) &&
                    placement_has_images(&agent[i], generation);
        sum += needed[i];
    }
    for (int i = count - 1; i >= 0 && sum > wanted; i--)
        if (needed[i] && placement_is_redundant(agent, count, needed, generation, i)) {
            needed[i] = false;
            sum--;
        }
    return sum;
}

int placement_least(const struct remote_agent *agent, int count, uint64_t generation, int wanted)
{
    bool *needed    = ski_calloc((size_t)count + 1, sizeof *needed);
    int   least     = placement_mark_needed(agent, count, generation, wanted, needed);
    bool  connected = false;

    for (int i = 0; i < count; i++)
        connected |= placement_is_connected(&agent[i]);
    free(needed);
    return !connected ? 0 : least > wanted ? least : wanted;
}

/* ---- processes ------------------------------------------------------------------------------ */

static void placement_put(struct proc_map *map, int process, int to, struct remote_agent *agent)
{
    map->agent_of[process] = to;
    agent[to].running++;
}

/* Returns the connected agent with the fewest processes. */
static int placement_emptiest(const struct remote_agent *agent, int count)
{
    int best = -1;

    for (int i = 0; i < count; i++)
        if (placement_is_connected(&agent[i]) &&
            (best < 0 || agent[i].running < agent[best].running))
            best = i;
    return best;
}

/* Returns the last process of the agent that has the most, and more than one if it is needed. */
static int placement_movable(const struct proc_map *map, const struct remote_agent *agent,
                             const bool *needed)
{
    int best = -1;

    for (int i = map->processes - 1; i >= 0; i--) {
        int from = map->agent_of[i];

        if (agent[from].running > needed[from] &&
            (best < 0 || agent[from].running > agent[map->agent_of[best]].running))
            best = i;
    }
    return best;
}

/* Gives each agent that is needed a process. */
static void placement_fill_needed(struct proc_map *map, struct remote_agent *agent, int count,
                                  const bool *needed)
{
    for (int i = 0; i < count; i++) {
        int process;

        if (!needed[i] || agent[i].running > 0)
            continue;
        process = placement_movable(map, agent, needed);
        ski_assert(process >= 0);
        agent[map->agent_of[process]].running--;
        placement_put(map, process, i, agent);
    }
}

/* Sets the first process of each agent. */
static void placement_set_first(const struct proc_map *map, struct remote_agent *agent)
{
    for (int i = map->processes - 1; i >= 0; i--)
        agent[map->agent_of[i]].first = i;
}

/* Places processes with the agents that they had, @p before of them, and then the others. */
static void placement_place(struct proc_map *map, const int *agent_was, int before,
                            struct remote_agent *agent, int count)
{
    for (int i = 0; i < map->processes; i++) {
        map->agent_of[i] = -1;
        if (i < before && placement_is_connected(&agent[agent_was[i]]))
            placement_put(map, i, agent_was[i], agent);
    }
    for (int i = 0; i < map->processes; i++)
        if (map->agent_of[i] < 0)
            placement_put(map, i, placement_emptiest(agent, count), agent);
}

/* ---- images ------------------------------------------------------------------------------------
 */

/* Returns the agent that reads the image of @p process: the one that runs the process now, else the
 * one that reads the fewest. */
static int placement_reader(const struct proc_map *map, const struct remote_agent *agent, int count,
                            const int *reads, int process)
{
    int now  = process < map->processes ? map->agent_of[process] : -1;
    int best = -1;

    for (int i = 0; i < count; i++) {
        if (agent[i].running == 0 || !placement_has_image(&agent[i], map->generation, process))
            continue;
        if (i == now)
            return i;
        if (best < 0 || reads[i] < reads[best])
            best = i;
    }
    return best;
}

/* Returns the number of processes of the epoch that wrote the images. */
static int placement_formers(const struct remote_agent *agent, int count, uint64_t generation)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; generation > 0 && k < agent[i].records; k++)
            if (agent[i].record[k].generation == generation)
                return agent[i].record[k].processes;
    return 0;
}

static void placement_assign_images(struct proc_map *map, const struct remote_agent *agent,
                                    int count)
{
    int *reads = ski_calloc((size_t)count, sizeof *reads);

    free(map->reader_of);
    map->formers   = placement_formers(agent, count, map->generation);
    map->reader_of = ski_calloc((size_t)map->formers + 1, sizeof *map->reader_of);
    for (int i = 0; i < map->formers; i++) {
        map->reader_of[i] = placement_reader(map, agent, count, reads, i);
        ski_assert(map->reader_of[i] >= 0); /* an agent that is needed has a process */
        reads[map->reader_of[i]]++;
    }
    free(reads);
}

bool placement_make(struct proc_map *map, int pes, int threads, struct remote_agent *agent,
                    int count)
{
    int  *agent_was = map->agent_of;
    int   before    = map->processes;
    bool *needed;

    if (placement_emptiest(agent, count) < 0)
        return false;
    map->pes       = pes;
    map->threads   = threads < pes ? threads : pes;
    map->processes = (pes + map->threads - 1) / map->threads;
    map->agent_of  = ski_calloc((size_t)map->processes, sizeof *map->agent_of);
    needed         = ski_calloc((size_t)count, sizeof *needed);
    for (int i = 0; i < count; i++)
        agent[i].running = 0;
    placement_mark_needed(agent, count, map->generation, map->processes, needed);
    placement_place(map, agent_was, before, agent, count);
    placement_fill_needed(map, agent, count, needed);
    placement_set_first(map, agent);
    placement_assign_images(map, agent, count);
    free(agent_was);
    free(needed);
    return true;
}
