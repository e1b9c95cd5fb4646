/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c - assigning PEs to CPUs, and binding threads (see topology.h). */
#include "base/topology.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/log.h"

#define TIME_SLICE_NS 100000 /* the shortest that Linux grants */

void ski_topology_free(struct ski_topology *topology)
{
    free(topology->cpu);
    topology->cpu = NULL;
}

/* Parses up to @p max numbers of a list such as "0,2,4-7".  Returns their number, or -1 if it is
 * not a list. */
static int topology_parse_list(const char *text, int *cpu, int max)
{
    int n = 0;

    for (;;) {
        char *end;
        long  from, to;

        if (!isdigit((unsigned char)*text))
            return -1;
        from = to = strtol(text, &end, 10);
        if (*end == '-') {
            if (!isdigit((unsigned char)end[1]))
                return -1;
            to = strtol(end + 1, &end, 10);
        }
        if (to < from || to >= CPU_SETSIZE)
            return -1;
        for (; from <= to && n < max; from++)
            cpu[n++] = (int)from;
        if (*end == '\0')
            return n;
        if (*end != ',')
            return -1;
        text = end + 1;
    }
}

bool ski_topology_is_list(const char *text)
{
    int cpu[CPU_SETSIZE];

    return topology_parse_list(text, cpu, CPU_SETSIZE) > 0;
}

static skua_status topology_assign_list(const char *list, int pes, int *cpu)
{
    int given[CPU_SETSIZE];
    int n = topology_parse_list(list, given, CPU_SETSIZE);

    if (n <= 0) {
        ski_log(SKI_LOG_ERROR, "SKUA_PIN=%s: expected auto, none or a list of CPUs such as 0,2,4-7",
                list);
        return SKUA_ERR_INVAL;
    }
    for (int i = 0; i < pes; i++)
        cpu[i] = given[i % n];
    return SKUA_OK;
}

static skua_status topology_assign_in_order(int pes, int *cpu)
{
    struct ski_topology topology;
    skua_status         status = ski_topology_load(&topology);
    int                 n;

    if (status != SKUA_OK)
        return status;
    ski_assert(topology.cores > 0 && topology.cores <= topology.cpus);
    n = pes <= topology.cores ? topology.cores : topology.cpus;
    for (int i = 0; i < pes; i++)
        cpu[i] = topology.cpu[pes <= n ? i : (int)((long long)i * n / pes)];
    ski_topology_free(&topology);
    return SKUA_OK;
}

skua_status ski_topology_assign(const char *policy, int pes, int *cpu)
{
    if (strcmp(policy, "auto") == 0)
        return topology_assign_in_order(pes, cpu);
    if (strcmp(policy, "none") != 0)
        return topology_assign_list(policy, pes, cpu);
    for (int i = 0; i < pes; i++)
        cpu[i] = SKI_CPU_ANY;
    return SKUA_OK;
}

void ski_topology_bind(int cpu)
{
    cpu_set_t set;

    if (cpu == SKI_CPU_ANY)
        return;
    ski_assert(cpu >= 0 && cpu < CPU_SETSIZE);
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) < 0)
        ski_log(SKI_LOG_WARN, "cannot bind to CPU %d (%s); see SKUA_PIN", cpu, strerror(errno));
}

/* struct sched_attr of the kernel, in its first version, which libc does not declare. */
struct topology_sched_attr {
    uint32_t size, policy;
    uint64_t flags;
    int32_t  nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* Reads the attributes of the calling thread; false: the user chose another policy. */
static bool topology_get_sched_attr(struct topology_sched_attr *s)
{
    *s = (struct topology_sched_attr){.size = sizeof *s};
    return syscall(SYS_sched_getattr, 0, s, sizeof *s, 0) == 0 && s->policy == SCHED_OTHER;
}

struct ski_time_slice ski_time_slice_get(void)
{
    struct topology_sched_attr s;

    return (struct ski_time_slice){topology_get_sched_attr(&s) ? s.runtime : 0};
}

void ski_time_slice_set(struct ski_time_slice slice)
{
    struct topology_sched_attr s;

    if (!slice.ns || !topology_get_sched_attr(&s))
        return;
    s.runtime = slice.ns;
    syscall(SYS_sched_setattr, 0, &s, 0);
}

void ski_topology_short_slices(void)
{
    ski_time_slice_set((struct ski_time_slice){TIME_SLICE_NS});
}
