/* SPDX-License-Identifier: Apache-2.0 */
/* arch_aarch64.h - see arch.h. */
#ifndef SKI_ARCH_AARCH64_H
#define SKI_ARCH_AARCH64_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

static inline uint64_t ski_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline uint64_t ski_ticks_rate(void)
{
    uint64_t rate;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate;
}

/* Source and target are together between three quarters and three times as large as a cache of
 * 1 MB.  A copy of 1 MB takes 25 us by memcpy(), 22.5 with prefetches, 21.5 as two streams; larger
 * ones gain little, and lose if all cores copy. */
#define SKI_COPY_LARGE_MIN  ((size_t)384 << 10)
#define SKI_COPY_HALVES_MIN ((size_t)640 << 10)
#define SKI_COPY_LARGE_MAX  ((size_t)3 << 19)

#define SKI_COPY_VECTORS_MIN SIZE_MAX
#define SKI_COPY_VECTORS_MAX SIZE_MAX

static inline bool ski_string_moves_are_fast(void)
{
    return true;
}

/* An all-to-all of 1 MB takes 147 us, and 97 us with two copies. */
#define SKI_CMA_SLOW 1

#define SKI_BROADCAST_WHOLE ((size_t)512 << 10)

/* An atomic add does not wait for earlier stores, and prefetching does not change the rate. */
#define SKI_INBOX_AHEAD 0

#define SKI_SLOTS_AHEAD 2

#define SKI_MSG_PREFETCH 0

/* It costs half of a release fence, which also waits for loads. */
static inline void ski_order_stores(void)
{
    __asm__ volatile("dmb ishst" ::: "memory");
}

/* Without it a later load may overtake the store of the swap. */
static inline void ski_order_swap(void)
{
    __asm__ volatile("dmb ish" ::: "memory");
}

/* A load with acquire semantics keeps later loads waiting.  gcc may remove a call of a function
 * that does nothing but __builtin_prefetch(). */
static inline void ski_prefetch_polled(const void *at)
{
    __asm__ volatile("prfm pldl1keep, %0" : : "Q"(*(const char *)at));
}

static inline void ski_prefetch_write(const void *at)
{
    __asm__ volatile("prfm pstl1keep, %0" : : "Q"(*(const char *)at));
}

/* A prefetch for writing does nothing if this core has the line, though a store would wait until
 * others have dropped it. */
static inline void ski_claim_line(void *at)
{
    __atomic_store_n((char *)at, 0, __ATOMIC_RELAXED);
}

#define SKI_FP_FLAGS ((uint64_t)0x9f << 32) /* in fpsr, which is the upper half of a state */
#define SKI_FP_TRAPS ((uint64_t)0x9f00)     /* in fpcr, which is the lower half             */

static inline uint64_t ski_fp_state(void)
{
    uint64_t control, status;

    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=&r"(control), "=r"(status));
    return status << 32 | (uint32_t)control;
}

static inline void ski_fp_set_state(uint64_t state)
{
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(state & UINT32_MAX), "r"(state >> 32));
}

static inline bool ski_fp_traps(uint64_t state)
{
    return (state & SKI_FP_TRAPS) != 0;
}

static inline const void *ski_context_pc(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.pc;
}

#endif
