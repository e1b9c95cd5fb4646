/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - stacks for user threads, with a guard below each.
 *
 * Stacks are cut from large mappings, one list for each size, and kept for reuse.  A guard is best
 * made with MADV_GUARD_INSTALL (Linux 6.13), which needs no mapping of its own: a hundred thousand
 * of them would exceed vm.max_map_count twice.  Older kernels get mprotect(); when mappings run
 * out, stacks go without a guard, a warning says so, and sched/thread.c checks their last word at
 * every switch.
 *
 * A function with a large frame may step over what is right below the stack, and write to the
 * stack of another thread.  So guards are 1 MiB of addresses; code with larger frames is compiled
 * with -fstack-clash-protection, which touches each page on the way.
 */
#ifndef SKI_STACK_H
#define SKI_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* One stack; low is NULL if there is none. */
struct ski_stack {
    char  *low;     /* the guard's lowest byte       */
    size_t guard;   /* bytes of it                   */
    size_t bytes;   /* usable ones above it          */
    bool   guarded; /* the guard traps; else it is only a gap */
};

/* The stacks of a PE; zeroed memory has none. */
struct ski_stacks {
    struct ski_stack_size *sizes;      /* stack.c */
    size_t                 warm_bytes; /* of kept stacks that keep their pages */
};

/** Returns a stack of at least @p bytes; .low is NULL if the system has no memory for it. */
struct ski_stack ski_stack_get(struct ski_stacks *stacks, size_t bytes);

/** Keeps @p stack for reuse.  If half of the setting stack_cache would be exceeded, its pages go
 *  back to the system, and stacks that keep theirs are reused first.  The other half is for the
 *  slots of core/isomalloc. */
void ski_stack_put(struct ski_stacks *stacks, struct ski_stack stack);

/** Makes the @p bytes at @p low a guard in this process; @p shared: the memory is a shared mapping,
 *  which older kernels guard in another way.  Returns whether the guard traps.  A guard may be made
 *  again. */
bool ski_stack_guard(char *low, size_t bytes, bool shared);

/** Returns whether guards that were made in this process trap; @p shared: those in a shared
 *  mapping. */
bool ski_stack_guarded(bool shared);

/** Unmaps all stacks; none is in use. */
void ski_stacks_destroy(struct ski_stacks *stacks);

#endif
