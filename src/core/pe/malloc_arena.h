/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc_arena.h - malloc() from the arena, so that all PEs of a host reach its blocks: the setting
 * malloc_arena.
 *
 * Memory that a program gets from the system belongs to its process; other processes reach it
 * through the system, at 0.7 us a call, or by two copies.  With skua-malloc.so loaded before the
 * system's library (src/preload/malloc.c) larger blocks that a PE allocates come from the arena
 * instead, and are treated as those of skua_buffer_alloc(): all code that asks whether memory is in
 * the arena finds that it is.
 *
 * A block may be used and freed by any thread of the process, also after the PEs have ended: the
 * arena stays mapped.  A process that forks shares these blocks with its child, so the child
 * allocates and frees none (docs/decisions/0027-shared-malloc.md).
 */
#ifndef SKI_MALLOC_ARENA_H
#define SKI_MALLOC_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct ski_host;

/* The functions of Skua that skua-malloc.so calls first. */
struct ski_malloc_hooks {
    /** Allocates @p bytes, aligned to 64, if the calling thread is a PE; NULL: the system's
     *  allocator is used. */
    void *(*alloc)(size_t bytes);
    /** Returns the usable bytes of a block of the arena; 0: it is not from the arena. */
    size_t (*bytes)(const void *block);
    /** Frees a block of the arena. Returns false if it is not from the arena. */
    bool (*free)(void *block);
};

/** The type of the function of skua-malloc.so that sets the hooks, found by its name in a process
 * where the library is loaded. */
typedef void ski_malloc_set_hooks_fn(const struct ski_malloc_hooks *hooks);
#define SKI_MALLOC_SET_HOOKS "skua_malloc_set_hooks"

/** Connects skua-malloc.so, if it is loaded and the setting asks for it.  Before PEs begin. */
void ski_malloc_arena_open(const struct ski_host *host);

/** Returns whether ski_malloc_arena_open() has connected it: blocks of the arena may be in use for
 * as long as the process lives. */
bool ski_malloc_arena_in_use(void);

#endif
