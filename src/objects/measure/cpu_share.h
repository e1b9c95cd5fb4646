/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_share.h - the share of the time that a PE gets a CPU when it wants one.
 *
 * The times of elements are read from the clock (measure.h): the CPU time of a thread costs a
 * system call.  Where other programs, or other PEs, use the same CPU, part of that time is theirs.
 * The kernel knows for each thread how long it ran and how long it waited for a CPU while it was
 * runnable (/proc/thread-self/schedstat).  Their ratio over the time since a reset is the share;
 * the CPU time of an element is its time by the clock times the share of its PE.  That assumes that
 * the kernel interrupts all elements of a PE alike.
 *
 * With a kernel that does not have this file the share is 1.
 */
#ifndef SKI_CPU_SHARE_H
#define SKI_CPU_SHARE_H

#include <stdint.h>

/* The CPU of one thread. */
struct ski_cpu_share {
    int      file;        /* -1: there is none              */
    uint64_t ran, waited; /* nanoseconds before the reset   */
    uint64_t sampled;     /* ticks when `share` was updated */
    double   share;       /* since the reset                */
};

/** Begins to monitor the calling thread, and resets its share. */
void ski_cpu_share_open(struct ski_cpu_share *cpu);

/** Stops monitoring the thread. */
void ski_cpu_share_close(struct ski_cpu_share *cpu);

/** Restarts the share: it covers the time from now on. */
void ski_cpu_share_reset(struct ski_cpu_share *cpu);

/** Returns the share since the reset, above 0 and at most 1; it may be ten milliseconds old. */
double ski_cpu_share_get(struct ski_cpu_share *cpu);

#endif
