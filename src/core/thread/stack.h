/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - stacks for user threads, with a guard below each.
 *
 * Stacks are cut from large mappings of one size and kept for reuse.  A guard
 * is best made with MADV_GUARD_INSTALL (Linux 6.13), which costs no mapping of
 * its own: a hundred thousand of them would exceed vm.max_map_count twice.
 * Older kernels get mprotect(); when mappings run out, stacks go without a
 * guard, a warning says so, and thread.c checks their last word at every switch.
 *
 * A function with a large frame may skip what lies right below the stack, and write to the
 * stack of another thread.  So guards are 1 MiB of addresses; code with larger frames is
 * compiled with -fstack-clash-protection, which touches each page on the way.
 */
#ifndef SKI_STACK_H
#define SKI_STACK_H

#include <stdbool.h>
#include <stddef.h>

struct ski_stack {
    char  *low;     /* the guard's lowest byte       */
    size_t guard;   /* bytes of it                   */
    size_t bytes;   /* usable ones above it          */
    bool   guarded; /* the guard is more than a gap  */
};

struct ski_stacks {
    struct ski_stack_size *sizes; /* stack.c */
};

/** A stack of at least @p bytes; .low is NULL when the system has none left. */
struct ski_stack ski_stack_get(struct ski_stacks *stacks, size_t bytes);

/** For reuse.  Where many rest already its pages go back to the system. */
void ski_stack_put(struct ski_stacks *stacks, struct ski_stack stack);

void ski_stacks_destroy(struct ski_stacks *stacks);

#endif
