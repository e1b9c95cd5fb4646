/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h - a context switch, with the sanitizers kept informed.
 *
 * AddressSanitizer must know the bounds of the stack that is switched to, ThreadSanitizer sees
 * every user thread as a fiber of its own.  In other builds a fiber is only its context.
 */
#ifndef SKI_FIBER_H
#define SKI_FIBER_H

#include <stddef.h>

#include "base/sanitizer.h"
#include "core/thread/context.h"

#ifdef SKI_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct ski_fiber {
    void *context;
#ifdef SKI_ASAN
    void       *fake_stack;
    const void *bottom;
    size_t      bytes;
#endif
#ifdef SKI_TSAN
    void *tsan;
#endif
};

#if defined(SKI_ASAN)

static inline void ski_fiber_init(struct ski_fiber *fiber, void *bottom, size_t bytes)
{
    fiber->bottom = bottom;
    fiber->bytes  = bytes;
}

static inline void ski_fiber_destroy(struct ski_fiber *fiber)
{
    (void)fiber;
}

static inline void ski_fiber_leave(struct ski_fiber *from, struct ski_fiber *to, bool for_good)
{
    __sanitizer_start_switch_fiber(for_good ? NULL : &from->fake_stack, to->bottom, to->bytes);
}

/* Called first on a stack after a switch.  @p from, the fiber that was left, learns its bounds:
 * those of the scheduler's own stack are not known before. */
static inline void ski_fiber_arrive(struct ski_fiber *to, struct ski_fiber *from)
{
    __sanitizer_finish_switch_fiber(to->fake_stack, &from->bottom, &from->bytes);
}

#elif defined(SKI_TSAN)

static inline void ski_fiber_init(struct ski_fiber *fiber, void *bottom, size_t bytes)
{
    fiber->tsan = bottom ? __tsan_create_fiber(0) : __tsan_get_current_fiber();
    (void)bytes;
}

static inline void ski_fiber_destroy(struct ski_fiber *fiber)
{
    __tsan_destroy_fiber(fiber->tsan);
}

static inline void ski_fiber_leave(struct ski_fiber *from, struct ski_fiber *to, bool for_good)
{
    (void)from, (void)for_good;
    __tsan_switch_to_fiber(to->tsan, 0);
}

static inline void ski_fiber_arrive(struct ski_fiber *to, struct ski_fiber *from)
{
    (void)to, (void)from;
}

#else

static inline void ski_fiber_init(struct ski_fiber *fiber, void *bottom, size_t bytes)
{
    (void)fiber, (void)bottom, (void)bytes;
}

static inline void ski_fiber_destroy(struct ski_fiber *fiber)
{
    (void)fiber;
}

static inline void ski_fiber_leave(struct ski_fiber *from, struct ski_fiber *to, bool for_good)
{
    (void)from, (void)to, (void)for_good;
}

static inline void ski_fiber_arrive(struct ski_fiber *to, struct ski_fiber *from)
{
    (void)to, (void)from;
}

#endif

/** Switches stacks; returns after a switch back. */
static inline void ski_fiber_switch(struct ski_fiber *from, struct ski_fiber *to)
{
    ski_fiber_leave(from, to, false);
    ski_context_switch(&from->context, to->context);
    ski_fiber_arrive(from, to);
}

#endif
