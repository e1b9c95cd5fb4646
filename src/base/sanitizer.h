/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sanitizer.h - annotations for AddressSanitizer and ThreadSanitizer; empty in other builds.
 *
 * SKI_ASAN and SKI_TSAN are defined in builds with the respective sanitizer.  Poisoning makes an
 * access to freed arena memory an error.  Each process has its own shadow memory, so poisoning is
 * correct only where one process allocates and frees: ski_poison_on is set for jobs of one process.
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

/** Whether freed memory of the arena is poisoned; see ski_sanitizer_one_process(). */
extern bool ski_poison_on;

/** Makes an access to @p bytes at @p at an error. */
static inline void ski_poison(void *at, size_t bytes)
{
    if (ski_poison_on)
        ASAN_POISON_MEMORY_REGION(at, bytes);
}

/** Allows accesses to @p bytes at @p at again. */
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

/** A C11 fence.  ThreadSanitizer does not support fences and reports the accesses that they order
 *  as unordered, so a caller must use atomics for these accesses. */
#ifdef SKI_TSAN
#define ski_fence(order) atomic_signal_fence(order)
#else
#define ski_fence(order) atomic_thread_fence(order)
#endif

/** Registers memory outside the heap that may hold the only pointers to heap blocks, so that the
 *  blocks do not count as leaked.  Empty without AddressSanitizer. */
void ski_sanitizer_root_add(void *at, size_t bytes);

/** Ends what ski_sanitizer_root_add() began, with the same arguments. */
void ski_sanitizer_root_remove(void *at, size_t bytes);

/** Sets whether the job has one process, so that freed arena memory may be poisoned. */
void ski_sanitizer_one_process(bool one);

/** Returns the largest arena in bytes that the address layout of the sanitizer has room for. */
size_t ski_sanitizer_arena_max(void);

#endif
