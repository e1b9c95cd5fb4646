/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - assigning PEs to CPUs, and binding threads (see topology.h).
 *
 * An assignment selects as many CPUs as there are PEs, or all if there are more PEs, and hands them
 * out in the order of the tree.  With fewer PEs than cores it selects one CPU of each core and may
 * skip the rest of a NUMA node or package, so that the PEs of a process stay together.
 */
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
#include "base/cgroup.h"
#include "base/cpu_locality.h"
#include "base/log.h"
#include "base/memory.h"

#define TIME_SLICE_NS   100000 /* the shortest that Linux grants */
#define IDLE_CPUS_OF_PE 2      /* idle CPUs for each PE: two may be threads of one core */

void ski_topology_free(struct ski_topology *topology)
{
    free(topology->cpu);
    free(topology->place);
    topology->cpu   = NULL;
    topology->place = NULL;
}

/* Returns the number of CPUs before place @p i that belong to the same core. */
static int topology_sibling(const struct ski_topology *topology, int i)
{
    int n = 0;

    while (i > n && topology->place[i - n - 1].core == topology->place[i].core)
        n++;
    return n;
}

/* Lists the numbers of the CPUs: one of each core, then a second of each core, ... */
static void topology_list_cpus(struct ski_topology *topology)
{
    int n = 0;

    for (int level = 0; n < topology->cpus; level++) {
        for (int i = 0; i < topology->cpus; i++)
            if (topology_sibling(topology, i) == level)
                topology->cpu[n++] = topology->place[i].cpu;
        if (level == 0)
            topology->cores = n;
    }
}

skua_status ski_topology_load(struct ski_topology *topology)
{
    skua_status status;

    *topology = (struct ski_topology){0};
    status    = ski_topology_read(topology);
    if (status != SKUA_OK)
        return status;
    if (topology->cpus <= 0) {
        ski_topology_free(topology);
        return SKUA_ERR_SYSTEM;
    }
    for (int i = 0; i < topology->cpus; i++) /* a CPU of an unknown core is a core */
        if (topology->place[i].core < 0)
            topology->place[i].core = topology->place[i].cpu;
    topology->cpu = calloc((size_t)topology->cpus, sizeof *topology->cpu);
    if (!topology->cpu) {
        ski_topology_free(topology);
        return SKUA_ERR_NOMEM;
    }
    topology_list_cpus(topology);
    return SKUA_OK;
}

int ski_topology_parse_list(const char *text, int *cpu, int most)
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
        for (; from <= to && n < most; from++)
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

    return ski_topology_parse_list(text, cpu, CPU_SETSIZE) > 0;
}

static skua_status topology_assign_list(const char *list, int pes, int *cpu)
{
    int given[CPU_SETSIZE];
    int n = ski_topology_parse_list(list, given, CPU_SETSIZE);

    if (n <= 0) {
        ski_log(SKI_LOG_ERROR, "SKUA_PIN=%s: expected auto, none or a list of CPUs such as 0,2,4-7",
                list);
        return SKUA_ERR_INVAL;
    }
    for (int i = 0; i < pes; i++)
        cpu[i] = given[i % n];
    return SKUA_OK;
}

/* Returns whether hwloc describes another machine than this one. */
static bool topology_is_synthetic(void)
{
    return getenv("HWLOC_SYNTHETIC") || getenv("HWLOC_XMLFILE");
}

/* Returns whether a quota of CPU time is below that of the CPUs. */
static bool topology_has_quota(const struct ski_topology *topology)
{
    return !topology_is_synthetic() && ski_cpus_allowed(topology->cpus) < topology->cpus;
}

static void topology_assign_none(int pes, int *cpu)
{
    for (int i = 0; i < pes; i++)
        cpu[i] = SKI_CPU_ANY;
}

/* Selects up to @p want CPUs, in the order of the tree: levels of siblings, each complete before
 * the next is used; of the last level, cores at even distances.  Returns their number. */
static int topology_select(const struct ski_topology *topology, int want, skua_cpu *selected)
{
    int level = 0, before = 0, of_level = 0, seen = 0, n = 0;

    for (;; level++) { /* finds the last level, and how many CPUs it has */
        of_level = 0;
        for (int i = 0; i < topology->cpus; i++)
            of_level += topology_sibling(topology, i) == level;
        if (before + of_level >= want || of_level == 0)
            break;
        before += of_level;
    }
    for (int i = 0; i < topology->cpus; i++) {
        int  sibling = topology_sibling(topology, i);
        bool take    = sibling < level;

        if (sibling == level) {
            long long rest = want - before;
            take           = (seen + 1) * rest / of_level > seen * rest / of_level;
            seen++;
        }
        if (take)
            selected[n++] = topology->place[i];
    }
    return n;
}

/* Returns the NUMA node of a CPU, or its package. */
static int topology_domain(const skua_cpu *cpu, bool package)
{
    return package ? cpu->package : cpu->numa;
}

/* Returns how many CPUs from @p cpu on, of @p count, are in its NUMA node or package. */
static int topology_room(const skua_cpu *cpu, int count, bool package)
{
    int n = 0;

    while (n < count && topology_domain(&cpu[n], package) == topology_domain(cpu, package))
        n++;
    return n;
}

/* Assigns CPUs of @p count such that no group crosses the end of a NUMA node, or of a package.
 * Returns false if there are too few CPUs for that. */
static bool topology_assign_groups(const skua_cpu *selected, int count, int pes, int group,
                                   bool package, int *cpu)
{
    int at = 0;

    for (int done = 0; done < pes;) {
        int size = pes - done < group ? pes - done : group, room;

        while ((room = topology_room(selected + at, count - at, package)) < size && at < count)
            at += room;
        if (count - at < size)
            return false;
        while (size-- > 0)
            cpu[done++] = selected[at++].cpu;
    }
    return true;
}

/* Assigns a CPU to each PE, in order, on a core of its own while there are cores.  The PEs of a
 * process are in one NUMA node, or else in one package, if there are enough CPUs for that.  A quota
 * of CPU time below that of the CPUs shows that other programs use these, too: PEs are not bound,
 * so that the system can move them to idle ones. */
static skua_status topology_assign_auto(int pes, int group, int *cpu)
{
    struct ski_topology topology;
    skua_status         status = ski_topology_load(&topology);
    skua_cpu           *selected;
    int                 n;

    if (status != SKUA_OK)
        return status;
    ski_assert(topology.cores > 0 && topology.cores <= topology.cpus && group > 0);
    if (topology_has_quota(&topology)) {
        topology_assign_none(pes, cpu);
        ski_topology_free(&topology);
        return SKUA_OK;
    }
    selected = ski_calloc((size_t)topology.cpus, sizeof *selected);
    n        = topology_select(&topology, pes < topology.cores ? topology.cores : pes, selected);
    if (pes > n || (!topology_assign_groups(selected, n, pes, group, false, cpu) &&
                    !topology_assign_groups(selected, n, pes, group, true, cpu)))
        for (int i = 0; i < pes; i++)
            cpu[i] = selected[pes <= n ? i : (int)((long long)i * n / pes)].cpu;
    free(selected);
    ski_topology_free(&topology);
    return SKUA_OK;
}

skua_status ski_topology_assign(const char *policy, int pes, int group, int *cpu)
{
    if (strcmp(policy, "auto") == 0)
        return topology_assign_auto(pes, group, cpu);
    if (strcmp(policy, "none") != 0)
        return topology_assign_list(policy, pes, cpu);
    topology_assign_none(pes, cpu);
    return SKUA_OK;
}

bool ski_topology_cpus_shared(const int *cpu, int all, int first, int count)
{
    for (int i = 0; i < all; i++)
        for (int own = first; own < first + count && (i < first || i >= first + count); own++)
            if (cpu[i] == cpu[own] && cpu[i] != SKI_CPU_ANY)
                return true;
    return false;
}

int ski_topology_idle_cpus(const int *cpu, int pes, int *idle, int most)
{
    cpu_set_t set;
    int       unbound = 0, n = 0;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 0;
    for (int i = 0; i < pes; i++)
        if (cpu[i] == SKI_CPU_ANY)
            unbound++;
        else
            CPU_CLR((size_t)cpu[i], &set);
    if (CPU_COUNT(&set) < IDLE_CPUS_OF_PE * pes + unbound ||
        ski_cpus_allowed(CPU_SETSIZE) < (IDLE_CPUS_OF_PE + 1) * pes)
        return 0;
    for (int i = 0; i < CPU_SETSIZE && n < most; i++)
        if (CPU_ISSET((size_t)i, &set))
            idle[n++] = i;
    return n;
}

void ski_topology_idle_list(const int *cpu, int pes, char to[SKI_IO_CPUS_TEXT])
{
    int idle[SKI_IO_CPUS_MAX], n = ski_topology_idle_cpus(cpu, pes, idle, SKI_IO_CPUS_MAX);

    snprintf(to, SKI_IO_CPUS_TEXT, "none");
    for (int i = 0, at = 0; i < n; i++)
        at += snprintf(to + at, SKI_IO_CPUS_TEXT - (size_t)at, i == 0 ? "%d" : ",%d", idle[i]);
}

/* Returns the NUMA node of a CPU, or -1. */
static int topology_find_numa(const struct ski_topology *topology, int cpu)
{
    for (int i = 0; i < topology->cpus; i++)
        if (topology->place[i].cpu == cpu)
            return topology->place[i].numa;
    return -1;
}

skua_status ski_topology_numa_of(const int *cpu, int count, int *numa)
{
    struct ski_topology topology  = {0};
    bool                synthetic = topology_is_synthetic();
    skua_status         status    = synthetic ? ski_topology_load(&topology) : SKUA_OK;

    /* For this machine, reading a few files takes less time than loading the whole tree. */
    for (int i = 0; i < count && status == SKUA_OK; i++)
        numa[i] = synthetic ? topology_find_numa(&topology, cpu[i])
                            : ski_cpu_locality_read(SKI_CPU_LOCALITY_ROOT, cpu[i]).numa;
    ski_topology_free(&topology);
    return status;
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

/* Reads the attributes of the calling thread. Returns false if the user chose another policy. */
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
