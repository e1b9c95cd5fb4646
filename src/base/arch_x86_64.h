/* SPDX-License-Identifier: Apache-2.0 */
/* arch_x86_64.h - see arch.h. */
#ifndef SKI_ARCH_X86_64_H
#define SKI_ARCH_X86_64_H

#include <stdint.h>
#include <ucontext.h>

static inline uint64_t ski_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static inline uint64_t ski_ticks_rate(void)
{
    return 0; /* CPUID knows it only on some models: clock.c measures */
}

static inline void ski_order_stores(void)
{
    __asm__ volatile("" ::: "memory"); /* they are never reordered */
}

static inline void ski_order_swap(void)
{
    __asm__ volatile("" ::: "memory"); /* locked instructions are */
}

static inline const void *ski_context_pc(const void *ucontext)
{
    return (const void *)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}

#endif
