/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cgroup.h - how much memory and CPU time the control groups of this process allow, and whether the
 * kernel has killed a process for exceeding its memory.
 *
 * A process belongs to one group of the unified hierarchy (version 2) or of each controller
 * (version 1).  Each ancestor of the group may set a limit; the smallest one applies.  In a
 * container the path of the group may not be visible below the mount point; the mount point itself
 * is then the group.
 */
#ifndef SKI_CGROUP_H
#define SKI_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#define SKI_CGROUP_ROOT "/sys/fs/cgroup"
#define SKI_CGROUP_SELF "/proc/self/cgroup"

/** Returns the bytes that the memory groups listed in the file @p self allow, with the
 *  hierarchies mounted below @p root; SIZE_MAX where no group sets a limit. */
size_t ski_cgroup_memory_max(const char *root, const char *self);

/** Returns how many CPUs' time the CPU groups listed in the file @p self allow, a part of a CPU
 * left out, but 1 at least; INT_MAX where no group sets a quota. */
int ski_cgroup_cpus(const char *root, const char *self);

/** Returns how many processes of the memory groups the kernel has killed for want of memory;
 *  0 where the kernel does not report it. */
uint64_t ski_cgroup_oom_kills(const char *root, const char *self);

/** Returns the bytes of memory that this process may use: those of the host, or fewer if its
 *  control groups or the limit of its addresses (ulimit -v) say so. */
size_t ski_memory_allowed(void);

/** Returns how many of @p cpus CPUs this process may use at a time: all, or fewer if its control
 *  groups set a quota. */
int ski_cpus_allowed(int cpus);

#endif
