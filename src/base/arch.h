/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - what differs between CPUs.
 *
 * Each arch_*.h defines
 *   ski_ticks()        the cycle counter, monotonic and common to all cores
 *   ski_ticks_rate()   its ticks per second, or 0 when it must be measured
 *   ski_order_stores() a store barrier: later stores become visible after earlier ones
 *   ski_order_swap()   makes the atomic read-modify-write before it a full barrier; an exchange
 *                      whose result is not used must be memory_order_seq_cst, since compilers make
 *                      a weaker one a store
 *   SKI_COPY_LARGE_MIN, SKI_COPY_LARGE_MAX  the sizes in bytes from which on, and below which,
 *                      another copy than memcpy() is faster; SIZE_MAX: never
 *   SKI_COPY_HALVES_MIN the size in bytes from which on such a copy is done as two streams
 *   SKI_COPY_VECTORS_MIN, SKI_COPY_VECTORS_MAX  the same for a loop of vector moves
 *   ski_string_moves_are_fast()  whether memcpy() is as fast as such a loop on this CPU; takes
 *                      microseconds in a virtual machine
 *   SKI_CMA_SLOW       1: one copy by the kernel between two processes takes longer than two copies
 *                      through the arena
 *   SKI_BROADCAST_WHOLE bytes of a broadcast between two hosts up to which segments gain nothing
 *   SKI_INBOX_AHEAD    cells of an inbox that a sender prefetches ahead; 0: none
 *   SKI_SLOTS_AHEAD    calls of small collectives after which a slot is used that a PE claims now
 *   SKI_MSG_PREFETCH   bytes of the largest message whose data its receiver prefetches for writing;
 *                      0: none
 *   ski_prefetch_polled() brings a cache line into the cache of this core, which polls another line
 *                         and will read this one afterwards
 *   ski_prefetch_write()  brings a cache line into the cache of this core, which will write it
 *   ski_claim_line()   brings a cache line into the cache of this core for writing, also if other
 *                      cores have it, too; the byte at its argument may be overwritten
 *   ski_fp_state()     how this thread computes with floating-point numbers (rounding, denormal
 *                      numbers, traps), and SKI_FP_FLAGS, the exceptions that were raised
 *   ski_fp_set_state() sets that
 *   ski_fp_traps()     whether an exception is a signal to a thread with such a state
 *   ski_context_pc()   the program counter in the context of a signal handler
 */
#ifndef SKI_ARCH_H
#define SKI_ARCH_H

#define SKI_CACHE_LINE 64

#define SKI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define SKI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define SKI_COLD        __attribute__((cold, noinline))

/* Marks a function that is compiled for several generations of a CPU and chosen at program start
 * (arch_x86_64.h).  Sanitizers do not support the resolver, which runs before their start. */
#define SKI_WIDE

#if defined(__aarch64__)
#include "base/arch_aarch64.h"
#elif defined(__x86_64__)
#include "base/arch_x86_64.h"
#else
#error "Skua runs on aarch64 and x86-64"
#endif

#endif
