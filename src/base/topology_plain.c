/* SPDX-License-Identifier: Apache-2.0 */
/* topology_plain.c - the CPUs of the affinity mask, each taken for a core (see topology.h). */
#include <sched.h>
#include <stdlib.h>

#include "base/topology.h"

skua_status ski_topology_load(struct ski_topology *topology)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return SKUA_ERR_SYSTEM;
    topology->cpu  = calloc((size_t)CPU_COUNT(&set), sizeof(int));
    topology->cpus = 0;
    if (!topology->cpu)
        return SKUA_ERR_NOMEM;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            topology->cpu[topology->cpus++] = (int)i;
    topology->cores = topology->cpus;
    return SKUA_OK;
}

void ski_topology_print(FILE *to)
{
    struct ski_topology topology;

    if (ski_topology_load(&topology) != SKUA_OK)
        return;
    fprintf(to, "%d CPUs (built without hwloc: cores and caches are not known)\n", topology.cpus);
    ski_topology_free(&topology);
}
