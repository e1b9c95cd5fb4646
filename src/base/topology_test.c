/* SPDX-License-Identifier: Apache-2.0 */
/* topology_test.c - lists of CPUs, and the assignment of PEs to them. */
#include "base/topology.h"

#include "tests/tap.h"

static void test_topology_lists(void)
{
    int cpu[8];

    OK(ski_topology_is_list("0") && ski_topology_is_list("0,2,4-7"), "lists of CPUs");
    OK(!ski_topology_is_list("") && !ski_topology_is_list("1,") && !ski_topology_is_list("-1") &&
           !ski_topology_is_list("1-") && !ski_topology_is_list("1 2") &&
           !ski_topology_is_list("99999"),
       "texts that are not lists of CPUs");
    OK(ski_topology_assign("none", 3, cpu) == SKUA_OK && cpu[2] == SKI_CPU_ANY, "no binding");
    OK(ski_topology_assign("4,1-2", 5, cpu) == SKUA_OK && cpu[0] == 4 && cpu[1] == 1 &&
           cpu[2] == 2 && cpu[3] == 4 && cpu[4] == 1,
       "a list that is shorter than the PEs is used again");
    OK(ski_topology_assign("2-1", 1, cpu) == SKUA_ERR_INVAL, "a descending range is refused");
    OK(ski_topology_assign("1,,2", 1, cpu) == SKUA_ERR_INVAL, "a list with a gap is refused");
    OK(ski_topology_assign("cores", 1, cpu) == SKUA_ERR_INVAL, "an unknown word is refused");
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
    OK(ski_topology_assign("auto", pes, cpu) == SKUA_OK && cpu[0] == topology.cpu[0],
       "auto assigns the CPUs in order");
    for (int i = 1; i < pes; i++)
        changes += cpu[i] != cpu[i - 1];
    OK(changes == topology.cpus - 1, "neighbouring PEs share a CPU where there are too few");
    OK(ski_topology_assign("auto", 1, cpu) == SKUA_OK && cpu[0] == topology.cpu[0],
       "one PE has the first CPU");
    free(cpu);
    ski_topology_free(&topology);
}

int main(void)
{
    test_topology_lists();
    test_topology_auto();
    return tap_end();
}
