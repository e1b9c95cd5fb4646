/* SPDX-License-Identifier: Apache-2.0 */
/* topology_test.c - lists of CPUs, the assignment of PEs to them, and the map, on this machine and
 * on synthetic ones. */
#include "base/topology.h"

#include <sched.h>
#include <string.h>

#include "base/cgroup.h"
#include "tests/tap.h"

static void test_topology_lists(void)
{
    int cpu[8];

    OK(ski_topology_is_list("0") && ski_topology_is_list("0,2,4-7"), "lists of CPUs");
    OK(!ski_topology_is_list("") && !ski_topology_is_list("1,") && !ski_topology_is_list("-1") &&
           !ski_topology_is_list("1-") && !ski_topology_is_list("1 2") &&
           !ski_topology_is_list("99999"),
       "texts that are not lists of CPUs");
    OK(ski_topology_assign("none", 3, 1, cpu) == SKUA_OK && cpu[2] == SKI_CPU_ANY, "no binding");
    OK(ski_topology_assign("4,1-2", 5, 1, cpu) == SKUA_OK && cpu[0] == 4 && cpu[1] == 1 &&
           cpu[2] == 2 && cpu[3] == 4 && cpu[4] == 1,
       "a list that is shorter than the PEs is used again");
    OK(ski_topology_assign("2-1", 1, 1, cpu) == SKUA_ERR_INVAL, "a descending range is refused");
    OK(ski_topology_assign("1,,2", 1, 1, cpu) == SKUA_ERR_INVAL, "a list with a gap is refused");
    OK(ski_topology_assign("cores", 1, 1, cpu) == SKUA_ERR_INVAL, "an unknown word is refused");
}

static void test_topology_shared(void)
{
    const int cpu[] = {0, 0, 1, 2, 1, SKI_CPU_ANY, SKI_CPU_ANY};

    OK(!ski_topology_cpus_shared(cpu, 7, 0, 2), "two PEs on one CPU that no other PE uses");
    OK(ski_topology_cpus_shared(cpu, 7, 0, 1) && ski_topology_cpus_shared(cpu, 7, 3, 2),
       "PEs on a CPU that others use, before or after them");
    OK(!ski_topology_cpus_shared(cpu, 7, 3, 1) && !ski_topology_cpus_shared(cpu, 7, 6, 1),
       "a PE with a CPU of its own, and one that is not bound");
}

/* With more PEs than CPUs, as many neighbours share a CPU as must. */
static void test_topology_auto(void)
{
    struct ski_topology topology;
    int                *cpu, pes, changes = 0;

    OK(ski_topology_load(&topology) == SKUA_OK && topology.cpus >= 1 && topology.cores >= 1 &&
           topology.cores <= topology.cpus,
       "this host has a CPU");
    pes = 3 * topology.cpus;
    cpu = calloc((size_t)pes, sizeof *cpu);
    if (ski_cpus_allowed(topology.cpus) < topology.cpus) {
        OK(ski_topology_assign("auto", pes, 1, cpu) == SKUA_OK && cpu[0] == SKI_CPU_ANY,
           "PEs whose control groups have a quota are not bound");
        free(cpu);
        ski_topology_free(&topology);
        return;
    }
    OK(ski_topology_assign("auto", pes, 1, cpu) == SKUA_OK && cpu[0] == topology.cpu[0],
       "auto assigns the CPUs in order");
    for (int i = 1; i < pes; i++)
        changes += cpu[i] != cpu[i - 1];
    OK(changes == topology.cpus - 1, "neighbouring PEs share a CPU where there are too few");
    OK(ski_topology_assign("auto", 1, 1, cpu) == SKUA_OK && cpu[0] == topology.cpu[0],
       "one PE has the first CPU");
    free(cpu);
    ski_topology_free(&topology);
}

#ifdef TEST_HWLOC
/* Machines that hwloc makes up from the variable HWLOC_SYNTHETIC. */
#define TEST_FOUR_NODES "pack:2 numa:2 core:4 pu:2" /* CPU 2n and 2n + 1 are core n */
#define TEST_SIX_CORES  "numa:2 core:6 pu:1"

/* Assigns CPUs on a synthetic machine and writes them as "0 2 4". */
static const char *test_topology_place(const char *machine, int pes, int group)
{
    static char text[512];
    int         cpu[64];
    size_t      at = 0;

    setenv("HWLOC_SYNTHETIC", machine, 1);
    text[0] = '\0';
    if (ski_topology_assign("auto", pes, group, cpu) != SKUA_OK)
        return "failed";
    for (int i = 0; i < pes; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? " " : "", cpu[i]);
    unsetenv("HWLOC_SYNTHETIC");
    return text;
}

#define PLACED(machine, pes, group, expected, what)                                                \
    do {                                                                                           \
        const char *placed = test_topology_place(machine, pes, group);                             \
        OK(strcmp(placed, expected) == 0, "%s: %s", what, placed);                                 \
    } while (0)

static void test_topology_placement(void)
{
    PLACED(TEST_FOUR_NODES, 1, 1, "0", "one PE");
    PLACED(TEST_FOUR_NODES, 6, 1, "0 2 4 6 8 10", "a core for each PE, in order");
    PLACED(TEST_FOUR_NODES, 16, 1, "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30",
           "a PE on each core, none on a second hardware thread");
    PLACED(TEST_FOUR_NODES, 20, 1, "0 2 4 6 7 8 10 12 14 15 16 18 20 22 23 24 26 28 30 31",
           "four second hardware threads are used, one in each NUMA node");
    PLACED("core:2 pu:2", 4, 2, "0 1 2 3", "the PEs of a process share a core when all are used");
    PLACED("core:2 pu:2", 8, 1, "0 0 1 1 2 2 3 3", "neighbours share a hardware thread");
    PLACED(TEST_SIX_CORES, 8, 4, "0 1 2 3 6 7 8 9", "a process stays in a NUMA node");
    PLACED(TEST_SIX_CORES, 12, 4, "0 1 2 3 4 5 6 7 8 9 10 11",
           "it crosses its end where no core may stay unused");
    PLACED("pack:2 numa:2 core:3 pu:1", 8, 4, "0 1 2 3 6 7 8 9",
           "a process larger than a NUMA node stays in a package");
    PLACED("pack:2 numa:2 core:3 pu:1", 7, 3, "0 1 2 3 4 5 6", "a smaller last process");
}

/* Returns the map of PEs with a prefix of "|" on a synthetic machine. */
static const char *test_topology_map(const char *machine, int pes)
{
    static char text[2048];
    int         pe[300], cpu[300];
    FILE       *to = tmpfile();
    size_t      n;

    setenv("HWLOC_SYNTHETIC", machine, 1);
    ski_topology_assign("auto", pes, 1, cpu);
    for (int i = 0; i < pes; i++)
        pe[i] = i;
    ski_topology_print_map(to, "|", pe, cpu, pes);
    unsetenv("HWLOC_SYNTHETIC");
    rewind(to);
    n       = fread(text, 1, sizeof text - 1, to);
    text[n] = '\0';
    fclose(to);
    return text;
}

#define MAPPED(machine, pes, expected, what)                                                       \
    do {                                                                                           \
        const char *map = test_topology_map(machine, pes);                                         \
        OK(strcmp(map, expected) == 0, "%s", what);                                                \
        if (strcmp(map, expected) != 0)                                                            \
            printf("# %s\n", map);                                                                 \
    } while (0)

static void test_topology_maps(void)
{
    MAPPED(TEST_FOUR_NODES, 6,
           "|package 0, NUMA node 0: [0 .] [1 .] [2 .] [3 .]\n"
           "|package 0, NUMA node 1: [4 .] [5 .] [. .] [. .]\n"
           "|2 NUMA nodes without a PE\n",
           "a map of cores and hardware threads");
    MAPPED("pack:1 core:2 pu:2", 8, "|package 0, NUMA node 0: [0-1 2-3] [4-5 6-7]\n",
           "hardware threads with two PEs");
    MAPPED("pack:2 numa:1 core:64 pu:2", 200,
           "|package 0, NUMA node 0: PEs 0-99 on 64 of 64 cores\n"
           "|package 1, NUMA node 1: PEs 100-199 on 64 of 64 cores\n",
           "many cores are summed up");
}

/* Runs with the affinity mask of one CPU, the last of this machine that the test may use. */
static void test_topology_mask(void)
{
    cpu_set_t           before, one;
    struct ski_topology topology;
    int                 last = 0;

    sched_getaffinity(0, sizeof before, &before);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &before))
            last = i;
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    sched_setaffinity(0, sizeof one, &one);
    setenv("HWLOC_THISSYSTEM", "1", 1); /* the mask applies to the synthetic machine */
    setenv("HWLOC_SYNTHETIC", "pack:2 core:128 pu:4", 1);
    OK(ski_topology_load(&topology) == SKUA_OK && topology.cpus == 1 && topology.cores == 1 &&
           topology.cpu[0] == last,
       "CPUs outside the affinity mask are not used");
    ski_topology_free(&topology);
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    sched_setaffinity(0, sizeof before, &before);
}

/* Returns the number of @p n idle CPUs that are listed. */
static int test_topology_listed(int n)
{
    return n < SKI_IO_CPUS_MAX ? n : SKI_IO_CPUS_MAX;
}

/* Threads other than those of PEs get CPUs if two are idle for each PE. */
static void test_topology_idle(void)
{
    cpu_set_t before;
    int       cpu[CPU_SETSIZE], idle[CPU_SETSIZE], n = 0;
    char      list[SKI_IO_CPUS_TEXT];
    bool      enough;

    sched_getaffinity(0, sizeof before, &before);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &before))
            cpu[n++] = i;
    enough = ski_cpus_allowed(n) >= 3;
    OK(ski_topology_idle_cpus(cpu, n, idle, CPU_SETSIZE) == 0, "no CPU is idle if all have a PE");
    ski_topology_idle_list(cpu, n, list);
    OK(strcmp(list, "none") == 0, "their list is `none'");
    ski_topology_idle_list(cpu, 1, list);
    OK(ski_topology_parse_list(list, idle, CPU_SETSIZE) ==
               (enough ? test_topology_listed(n - 1) : -1) &&
           (!enough || idle[0] == cpu[1]),
       "the list of those without a PE");
    OK(ski_topology_idle_cpus(cpu, 1, idle, CPU_SETSIZE) == (enough ? n - 1 : 0) &&
           (!enough || idle[0] == cpu[1]),
       "those without a PE are idle, unless they are few");
    cpu[0] = SKI_CPU_ANY;
    OK(ski_topology_idle_cpus(cpu, 1, idle, 1) == enough,
       "a PE that is not bound uses one of them");
    OK(ski_topology_parse_list("3,5-7", cpu, 3) == 3 && cpu[0] == 3 && cpu[2] == 6 &&
           ski_topology_parse_list("none", cpu, 3) < 0,
       "the first CPUs of a list");
}

static void test_topology_numa(void)
{
    const int cpu[] = {0, 8, 31, 77};
    int       numa[4];

    setenv("HWLOC_SYNTHETIC", TEST_FOUR_NODES, 1);
    OK(ski_topology_numa_of(cpu, 4, numa) == SKUA_OK && numa[0] == 0 && numa[1] == 1 &&
           numa[2] == 3 && numa[3] == -1,
       "the NUMA nodes of CPUs");
    unsetenv("HWLOC_SYNTHETIC");
}
#endif

int main(void)
{
    test_topology_lists();
    test_topology_shared();
    test_topology_auto();
#ifdef TEST_HWLOC
    test_topology_placement();
    test_topology_maps();
    test_topology_mask();
    test_topology_idle();
    test_topology_numa();
#endif
    return tap_end();
}
