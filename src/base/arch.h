/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - the few things that differ between CPUs.
 *
 * Each arch_*.h defines
 *   ski_ticks()        the cycle clock, monotonic and common to all cores
 *   ski_ticks_rate()   its ticks a second, or 0 when it must be measured
 *   ski_order_stores() keeps later stores behind earlier ones, for all who look
 *   ski_order_swap()   makes an atomic read-modify-write before it a full barrier
 *   SKI_COPY_AHEAD_*   from how many bytes to how many a copy is better fetched
 *                      ahead by software; LEAST = MOST: never
 *   ski_context_pc()   where the thread of a signal handler was executing
 */
#ifndef SKI_ARCH_H
#define SKI_ARCH_H

#define SKI_CACHE_LINE 64

#define SKI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SKI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SKI_COLD        __attribute__((cold, noinline))

/* Compiled for several generations of a CPU, chosen at start: arch_x86_64.h.
 * Sanitizers do not like what is called so early. */
#define SKI_WIDE

#if defined(__aarch64__)
#include "base/arch_aarch64.h"
#elif defined(__x86_64__)
#include "base/arch_x86_64.h"
#else
#error "Skua runs on aarch64 and x86-64"
#endif

#endif
