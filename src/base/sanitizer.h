/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitizer.h - what the sanitizers must be told, and nothing in other builds.
 *
 * SKI_ASAN and SKI_TSAN say which one is in.  The fiber calls tell them about
 * stack switches of user threads (core/sched/thread.c); poisoning makes a touch of
 * freed arena memory an error.  Each process has a shadow memory of its own,
 * so poisoning is right only where one process frees and allocates:
 * ski_poison_on is set for jobs of one process.
 */
#ifndef SKI_SANITIZER_H
#define SKI_SANITIZER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define SKI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKI_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SKI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SKI_TSAN 1
#endif
#endif

#ifdef SKI_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

extern bool ski_poison_on;

static inline void ski_poison(void *at, size_t bytes)
{
    if (ski_poison_on)
        ASAN_POISON_MEMORY_REGION(at, bytes);
}

static inline void ski_unpoison(void *at, size_t bytes)
{
    ASAN_UNPOISON_MEMORY_REGION(at, bytes);
}
#else
static inline void ski_poison(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}

static inline void ski_unpoison(void *at, size_t bytes)
{
    (void)at, (void)bytes;
}
#endif

/** A fence of C11.  ThreadSanitizer does not know them; it sees the accesses that
 *  they order as unordered, which is what their callers must live with there. */
#ifdef SKI_TSAN
#define ski_fence(order) atomic_signal_fence(order)
#else
#define ski_fence(order) atomic_thread_fence(order)
#endif

/** Tell the sanitizer whether poisoning is right in this job (see above). */
void ski_sanitizer_one_process(bool one);

/** The largest arena the sanitizer's address layout has room for. */
size_t ski_sanitizer_arena_max(void);

#endif
