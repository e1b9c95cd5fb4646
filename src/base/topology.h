/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the CPUs of this host that we may use, and who runs where.
 *
 * Found with hwloc where it was there at build time (topology_hwloc.c), else
 * from the affinity mask alone (topology_plain.c).
 */
#ifndef SKI_TOPOLOGY_H
#define SKI_TOPOLOGY_H

#include <stdbool.h>
#include <stdio.h>

#include <skua/status.h>

#define SKI_CPU_ANY (-1)

struct ski_topology {
    int *cpu; /* numbers as the system has them: the first of every core in
                 order of nearness, then the second of every core, ...      */
    int cpus;
    int cores; /* so many of them are first ones */
};

/** Find the CPUs.  The caller frees it with ski_topology_free(). */
skua_status_t ski_topology_load(struct ski_topology *topology);

void ski_topology_free(struct ski_topology *topology);

/** Draw packages, caches and cores as an indented list. */
void ski_topology_print(FILE *to);

/** Whether @p text is a list of CPUs such as "0,2,4-7". */
bool ski_topology_is_list(const char *text);

/** Decide where @p pes PEs run: the CPU of each into cpu[], or SKI_CPU_ANY.
 *  @p policy is the setting `pin`.  With more PEs than CPUs, neighbours share
 *  one.  SKUA_ERR_INVAL, logged, for a policy that cannot be read. */
skua_status_t ski_topology_place(const char *policy, int pes, int *cpu);

/** Bind the calling thread.  SKI_CPU_ANY leaves it alone. */
void ski_topology_bind(int cpu);

/** Ask the system for short turns of the calling thread, which shares its CPU
 *  with other PEs: they wait for each other.  Linux before 6.12 ignores it. */
void ski_topology_short_turns(void);

#endif
