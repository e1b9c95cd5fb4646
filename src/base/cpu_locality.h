/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_locality.h - which core, cache, package and NUMA node a CPU belongs to, as /sys/devices/
 * system/cpu tells with or without hwloc.
 */
#ifndef SKI_CPU_LOCALITY_H
#define SKI_CPU_LOCALITY_H

#include <skua/topology.h>

/** Where the kernel describes the CPUs of the host. */
#define SKI_CPU_LOCALITY_ROOT "/sys/devices/system/cpu"

/** Reads the locality of a CPU under @p root, which is SKI_CPU_LOCALITY_ROOT except in tests.  What
 * the system does not tell is -1. */
skua_cpu ski_cpu_locality_read(const char *root, int cpu);

/** Returns how close two CPUs of one host are to each other. */
skua_nearness ski_cpu_locality_distance(const skua_cpu *a, const skua_cpu *b);

#endif
