/* SPDX-License-Identifier: Apache-2.0 */
/*
 * futex.h - sleeping on a 32-bit word in shared memory, and waking the sleepers.
 *
 * Processes share the word, so FUTEX_PRIVATE_FLAG is not used.
 */
#ifndef SKI_FUTEX_H
#define SKI_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SKI_FOREVER UINT64_MAX

/** Sleeps while *@p word == @p expected, for at most @p ns nanoseconds.  It may return early for
 * any reason, so the caller checks the word again. */
static inline void ski_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t ns)
{
    struct timespec  t     = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
    struct timespec *limit = ns == SKI_FOREVER ? NULL : &t;

    syscall(SYS_futex, word, FUTEX_WAIT, expected, limit, NULL, 0);
}

/** Wakes up to @p sleepers threads that sleep on @p word. */
static inline void ski_futex_wake(_Atomic uint32_t *word, int sleepers)
{
    syscall(SYS_futex, word, FUTEX_WAKE, sleepers, NULL, NULL, 0);
}

/** Wakes all threads that sleep on @p word. */
static inline void ski_futex_wake_all(_Atomic uint32_t *word)
{
    ski_futex_wake(word, INT_MAX);
}

#endif
