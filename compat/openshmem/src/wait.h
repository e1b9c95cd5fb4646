/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - waiting for words in memory that other PEs write.
 *
 * The writer of a word may be any PE, by a plain store, so a wait polls: at full speed for a while,
 * then it yields its core between polls. Meanwhile it lets Skua make progress: often if some PE is
 * reached through Skua, else now and then.
 */
#ifndef SHMEMI_WAIT_H
#define SHMEMI_WAIT_H

#include "symmetric.h"

/** A wait: zeroed before its first step. */
struct shmemi_wait {
    unsigned steps;
};

/** Polls of a wait at full speed: while each PE has a core of its own, and where they share cores,
 * so that a PE that waits does not keep the one that it waits for from running. */
enum { SHMEMI_WAIT_SPIN = 1000, SHMEMI_WAIT_SPIN_SHARED = 4 };

/** Lets Skua make progress and other processes run. Leaves the process if the job ends. */
void shmemi_wait_yield(struct shmemi_wait *wait);

static inline void shmemi_wait_relax(void)
{
#if defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#else
    __asm__ volatile("pause" ::: "memory");
#endif
}

/** Called between two polls. */
static inline void shmemi_wait_step(struct shmemi_wait *wait)
{
    if (++wait->steps < shmemi_job.spin)
        shmemi_wait_relax();
    else
        shmemi_wait_yield(wait);
}

/** Lets Skua make progress once, for a test that has failed. */
void shmemi_wait_progress(void);

#endif
