/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_exit.h - the end of all PEs at once, by shmem_global_exit().
 */
#ifndef SHMEMI_JOB_EXIT_H
#define SHMEMI_JOB_EXIT_H

#include <stdint.h>

/** The exit word of this PE in symmetric memory, which another PE or thread sets to end the
 *  process: 0, or SHMEMI_EXIT_SET and the exit code. With SHMEMI_EXIT_JOB this PE ends the job of
 *  Skua. */
extern uint64_t *shmemi_exit_word;

#define SHMEMI_EXIT_SET ((uint64_t)1 << 32)
#define SHMEMI_EXIT_JOB ((uint64_t)1 << 33)

/** Ends the process as @p word says. */
void shmemi_exit_leave(uint64_t word) __attribute__((noreturn));

/** Ends the process if another PE has called shmem_global_exit(). */
static inline void shmemi_exit_check(void)
{
    uint64_t word = __atomic_load_n(shmemi_exit_word, __ATOMIC_ACQUIRE);

    if (__builtin_expect(word != 0, 0))
        shmemi_exit_leave(word);
}

#endif
