/* SPDX-License-Identifier: Apache-2.0 */
/* topology_plain.c - the CPUs of the affinity mask, without hwloc (see topology.h). */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu_locality.h"
#include "base/log.h"
#include "base/topology.h"

/* The most CPUs that Linux is built for.  It refuses a set that is smaller than its own. */
#define KERNEL_CPUS 8192

static int topology_compare(const void *a, const void *b)
{
    const skua_cpu *x = a, *y = b;

    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->numa != y->numa)
        return x->numa < y->numa ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

skua_status ski_topology_read(struct ski_topology *topology)
{
    cpu_set_t set[KERNEL_CPUS / CPU_SETSIZE]; /* PEs are bound to CPUs of the first */

    if (sched_getaffinity(0, sizeof set, set) < 0) {
        ski_log(SKI_LOG_ERROR, "cannot read the CPUs of this process: %s", strerror(errno));
        return SKUA_ERR_SYSTEM;
    }
    topology->place = calloc((size_t)CPU_COUNT(&set[0]), sizeof *topology->place);
    if (!topology->place)
        return SKUA_ERR_NOMEM;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set[0]))
            topology->place[topology->cpus++] =
                ski_cpu_locality_read(SKI_CPU_LOCALITY_ROOT, (int)i);
    qsort(topology->place, (size_t)topology->cpus, sizeof *topology->place, topology_compare);
    return SKUA_OK;
}

void ski_topology_print(FILE *to)
{
    struct ski_topology topology;

    if (ski_topology_load(&topology) != SKUA_OK)
        return;
    fprintf(to, "%d CPUs of %d cores (built without hwloc: caches are not shown)\n", topology.cpus,
            topology.cores);
    ski_topology_free(&topology);
}
