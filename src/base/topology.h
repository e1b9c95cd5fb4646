/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - the CPUs that this process may use, and the binding of PEs to them.
 *
 * topology_hwloc.c finds the CPUs with hwloc, where it was present at build time; otherwise
 * topology_plain.c uses the affinity mask and what the kernel tells of each CPU.
 *
 * Placement of PEs, with `pin` auto:
 *   - each PE has a core of its own while there are enough; the second hardware threads of cores
 *     are used only when every core has a PE;
 *   - PEs follow the order of the tree (package, NUMA node, core, hardware thread), so neighbours
 *     share as much of the machine as they can;
 *   - the PEs of a process are in one NUMA node, or else in one package, where they fit and cores
 *     are left for it.
 */
#ifndef SKI_TOPOLOGY_H
#define SKI_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <skua/status.h>
#include <skua/topology.h>

/** In place of the number of a CPU: the PE is not bound. */
#define SKI_CPU_ANY (-1)

/* The CPUs of the affinity mask. */
struct ski_topology {
    int *cpu;  /* their numbers: the first CPU of every core, then the second of every core, ... */
    int  cpus; /* the number of CPUs                                                              */
    int cores; /* the number of cores, whose first CPUs come first                                */
    skua_cpu *place; /* the locality of each CPU, in the order of the tree                        */
};

/** Finds the CPUs.  The caller frees the result with ski_topology_free(). */
skua_status ski_topology_load(struct ski_topology *topology);

/** Fills in `place` and `cpus` of a zeroed @p topology, in the order of the tree; the CPUs of a
 * core are adjacent.  ski_topology_load() calls it; topology_hwloc.c or topology_plain.c defines
 * it. */
skua_status ski_topology_read(struct ski_topology *topology);

/** Frees what ski_topology_load() allocated. */
void ski_topology_free(struct ski_topology *topology);

/** Prints packages, caches and cores as an indented list. */
void ski_topology_print(FILE *to);

/** Parses the first @p most numbers of a list of CPUs such as "0,2,4-7".  Returns their number, or
 *  -1 if it is not a list. */
int ski_topology_parse_list(const char *text, int *cpu, int most);

/** Returns whether @p text is a list of CPUs such as "0,2,4-7". */
bool ski_topology_is_list(const char *text);

/** Assigns a CPU, or SKI_CPU_ANY, to each of @p pes PEs, @p group of which make a process.  @p
 * policy is the setting `pin`.  With more PEs than CPUs, neighbours share one.  SKUA_ERR_INVAL,
 * logged, for an invalid policy. */
skua_status ski_topology_assign(const char *policy, int pes, int group, int *cpu);

/** Returns whether one of the @p count CPUs from @p cpu[first] on is also among the others of the
 *  @p all CPUs at @p cpu.  SKI_CPU_ANY is not. */
bool ski_topology_cpus_shared(const int *cpu, int all, int first, int count);

#define SKI_IO_CPUS_MAX 64 /* CPUs of I/O threads (SKUA_IO_CPUS), at most */

/** Lists CPUs of the affinity mask for other threads than those of @p pes PEs, which are bound to
 * @p cpu: those without a PE, or all if the PEs are not bound; @p most at most.  Returns their
 * number; 0 if fewer than two CPUs are idle for each PE. */
int ski_topology_idle_cpus(const int *cpu, int pes, int *idle, int most);

#define SKI_IO_CPUS_TEXT (SKI_IO_CPUS_MAX * 8) /* bytes of a list of them, at most */

/** Writes the list of ski_topology_idle_cpus(), of SKI_IO_CPUS_MAX CPUs at most, as a value of
 *  SKUA_IO_CPUS; "none" if it is empty. */
void ski_topology_idle_list(const int *cpu, int pes, char to[SKI_IO_CPUS_TEXT]);

/** Finds the NUMA node of each of @p count CPUs; -1 if it is not known. */
skua_status ski_topology_numa_of(const int *cpu, int count, int *numa);

/** Prints the placement of @p count PEs on packages, NUMA nodes, cores and hardware threads: @p
 *  pe[i] is the number of the PE on CPU @p cpu[i].  Each line begins with @p prefix.  A NUMA node
 *  with many
 * cores is summed up in one line, and those without a PE are counted. */
void ski_topology_print_map(FILE *to, const char *prefix, const int *pe, const int *cpu, int count);

/** Binds the calling thread to a CPU.  SKI_CPU_ANY changes nothing. */
void ski_topology_bind(int cpu);

/* The time slice of a thread, in nanoseconds; 0: unknown, or of another scheduling policy. */
struct ski_time_slice {
    uint64_t ns;
};

/** Returns the time slice of the calling thread. */
struct ski_time_slice ski_time_slice_get(void);

/** Sets the time slice of the calling thread, unless it is unknown. */
void ski_time_slice_set(struct ski_time_slice slice);

/** Requests short time slices for the calling thread, which shares its CPU with other PEs that it
 *  waits for.  Linux before 6.12 ignores it. */
void ski_topology_short_slices(void);

#endif
