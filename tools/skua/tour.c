/* SPDX-License-Identifier: Apache-2.0 */
/* tour.c - skua tour: starts the program examples/tour under skuarun. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/topology.h"
#include "commands.h"
#include "bench/program.h"

int command_tour(int argc, char **argv)
{
    char                skuarun[PROGRAM_PATH_BYTES], tour[PROGRAM_PATH_BYTES], pes[16];
    struct ski_topology topology = {.cores = 2};
    int                 cores;

    if (argc > 1) {
        int help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;

        if (!help) {
            fprintf(stderr, "skua tour: %s: unexpected argument (skua tour --help)\n", argv[1]);
            return 2;
        }
        puts("usage: skua tour\n\nRuns a few small programs on this machine, explains what each "
             "shows, and compares\ntheir times with what the hardware allows.");
        return 0;
    }
    if (!program_find("skuarun", skuarun) || !program_find("tour", tour)) {
        fprintf(stderr, "skua: this installation lacks the programs skuarun or tour\n");
        return 1;
    }
    if (ski_topology_load(&topology) == SKUA_OK)
        ski_topology_free(&topology);
    cores = ski_cpus_allowed(topology.cores);
    snprintf(pes, sizeof pes, "%d", cores < 2 ? 2 : cores > 8 ? 8 : cores);
    execl(skuarun, "skuarun", "-n", pes, tour, (char *)NULL);
    perror("skua: skuarun");
    return 1;
}
