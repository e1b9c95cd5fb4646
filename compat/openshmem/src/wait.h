/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.h - waiting for words in memory that other PEs write.
 *
 * The writer of a word may be any PE, by a plain store, so a wait polls: at full speed for a while,
 * then it yields its core between polls. Meanwhile it lets Skua make progress: often if some PE is
 * accessed through Skua, otherwise rarely.
 */
#ifndef SHMEMI_WAIT_H
#define SHMEMI_WAIT_H

#include "symmetric.h"

/** The state of a wait, which is zero before its first step. */
struct shmemi_wait {
    unsigned steps;
    uint32_t number, beats; /* of a long wait (wait_report.h) */
    uint64_t beat_at;       /* time of its next beat, in nanoseconds; 0: not known yet */
};

/** The number of polls at full speed: one value for PEs with a core each, and a smaller one for PEs
 *  that share cores, so that a waiting PE does not delay the PE for which it waits. */
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

/** Advances a wait between two polls. */
static inline void shmemi_wait_step(struct shmemi_wait *wait)
{
    if (++wait->steps < shmemi_job.spin)
        shmemi_wait_relax();
    else
        shmemi_wait_yield(wait);
}

/** Lets Skua make progress once, for a test that has failed. */
void shmemi_wait_progress(void);

/** Lets Skua make progress once in several calls; see shmemi_wait_poll(). */
void shmemi_wait_poll_net(void);

/** Called by routines that read a word, which may be mapped here. A program may call one in a loop
 *  until the word changes, and the PE that changes it may be on another host. */
static inline void shmemi_wait_poll(void)
{
    if (SHMEMI_UNLIKELY(shmemi_job.net))
        shmemi_wait_poll_net();
}

#endif
