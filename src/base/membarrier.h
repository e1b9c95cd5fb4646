/* SPDX-License-Identifier: Apache-2.0 */
/*
 * membarrier.h - a fence of which one side costs nothing.
 *
 * Two threads, also of different processes, that store one word and then load the other need a full
 * fence in between, so that at least one of them sees the store of the other.  The system call
 * membarrier(2) executes a fence on every CPU that runs a registered process.  If the thread on one
 * side makes this call, a compiler barrier is enough on the other side.
 */
#ifndef SKI_MEMBARRIER_H
#define SKI_MEMBARRIER_H

#include <stdatomic.h>
#include <stdbool.h>

/** Registers this process, whose threads may then use light fences.  Returns false if the system
 * does not support it. */
bool ski_membarrier_register(void);

/** Executes a full fence here and on all CPUs that run registered processes.  Returns false if the
 * system call has failed. */
bool ski_membarrier_heavy(void);

/** Orders a store before a load if this process is registered and the thread on the other side
 * calls ski_membarrier_heavy(): keeps the compiler from reordering them. */
static inline void ski_membarrier_light(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

#endif
