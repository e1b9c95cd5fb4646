/* SPDX-License-Identifier: Apache-2.0 */
/* arch_x86_64.h - see arch.h. */
#ifndef SKI_ARCH_X86_64_H
#define SKI_ARCH_X86_64_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                  \
    !defined(__SANITIZE_THREAD__)
#undef SKI_WIDE
#define SKI_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#endif

static inline uint64_t ski_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static inline uint64_t ski_ticks_rate(void)
{
    return 0; /* CPUID reports it only on some models, so clock.c measures it */
}

#define SKI_COPY_LARGE_MIN  SIZE_MAX
#define SKI_COPY_HALVES_MIN SIZE_MAX
#define SKI_COPY_LARGE_MAX  SIZE_MAX

/* From some KB on the memcpy() of glibc is `rep movsb`, which does not keep the target in the cache
 * of the core: copies of 100 KB to two buffers in turn take 4.2 us each by it, 2.2 by vector moves,
 * and another core that reads a buffer then has copy and data in 0.8 of the time.  Larger targets
 * that nothing reads are written faster by memcpy().  CPUs with "fast short rep mov" have other
 * string instructions: there vectors take 0.9 of the time of messages, and up to 1.2 of that of
 * channels and all-to-alls. */
#define SKI_COPY_VECTORS_MIN ((size_t)12 << 10)
#define SKI_COPY_VECTORS_MAX ((size_t)384 << 10)

static inline bool ski_string_moves_are_fast(void)
{
    unsigned a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & 1u << 4);
}

#define SKI_CMA_SLOW 0

/* 1 MB over loopback takes 158 us in four segments and 143 us in one. */
#define SKI_BROADCAST_WHOLE ((size_t)1 << 20)

/* A locked instruction waits for earlier stores, and so for the cache lines that they write. */
#define SKI_INBOX_AHEAD 8

/* A call of 64 bytes between two PEs of which each writes a line takes 0.27 us, and 0.32 with 2:
 * the line comes from the other core while that one is busy with its own part. */
#define SKI_SLOTS_AHEAD 4

/* A read brings a line that another core has written into both caches, and a later write has to
 * take it from the other one: a round trip of 100, 200 and 400 bytes takes 0.54, 0.60 and 0.67 us
 * without prefetches for writing, and 0.46, 0.49 and 0.55 with them. */
#define SKI_MSG_PREFETCH 512

static inline void ski_order_stores(void)
{
    __asm__ volatile("" ::: "memory"); /* the CPU does not reorder stores */
}

static inline void ski_order_swap(void)
{
    __asm__ volatile("" ::: "memory"); /* a locked instruction is a full barrier */
}

/* Later loads are begun before the poll has succeeded.  A prefetch at each poll takes the line from
 * the core that writes it: 64 bytes take up to twice as long. */
static inline void ski_prefetch_polled(const void *at)
{
    (void)at;
}

/* __builtin_prefetch() for a write does not request ownership of the line without an option of the
 * compiler.  A CPU without the instruction ignores it. */
static inline void ski_prefetch_write(const void *at)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)at));
}

static inline void ski_claim_line(void *at)
{
    ski_prefetch_write(at);
}

#define SKI_FP_FLAGS ((uint64_t)0x3f)   /* in mxcsr                                     */
#define SKI_FP_MASKS ((uint64_t)0x1f80) /* a bit for each exception that is not a signal */

static inline uint64_t ski_fp_state(void)
{
    return __builtin_ia32_stmxcsr();
}

static inline void ski_fp_set_state(uint64_t state)
{
    __builtin_ia32_ldmxcsr((unsigned)state);
}

static inline bool ski_fp_traps(uint64_t state)
{
    return (state & SKI_FP_MASKS) != SKI_FP_MASKS;
}

static inline const void *ski_context_pc(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}

#endif
