/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc_arena.h - memory of malloc() that all PEs of a host reach: the setting malloc_arena.
 *
 * Memory that a program takes from the system is its own; what other processes want of it goes
 * through the system, too, at 0.7 us a call, or is copied twice.  With skua-malloc.so loaded
 * before the system's library (src/preload/malloc.c) larger blocks that a PE takes come from the
 * arena instead, and are as good as those of skua_buffer_alloc(): everything that asks whether
 * memory is in the arena finds that it is.
 *
 * A block may be used and given back by any thread of the process, also when the PEs have ended:
 * the arena stays mapped.  A process that forks has one use of these blocks with its child, so the
 * child takes and gives back none (docs/decisions/0027-shared-malloc.md).
 */
#ifndef SKI_MALLOC_ARENA_H
#define SKI_MALLOC_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct ski_host;

/* What Skua does for malloc() and its kin. */
struct ski_share {
    /* Memory, 64-byte aligned, for a PE that wants so many bytes; NULL: take it elsewhere. */
    void *(*alloc)(size_t bytes);
    /* Bytes of a block from here that may be used; 0: it is not from here. */
    size_t (*bytes)(const void *block);
    /* Gives a block back; false: it is not from here. */
    bool (*free)(void *block);
};

/** The one function of skua-malloc.so beside those of the system: from now on it asks Skua.  Found
 *  by its name in a process where the library is. */
typedef void ski_share_ask_fn(const struct ski_share *share);
#define SKI_SHARE_ASK "skua_malloc_ask"

/** The PEs of this process are about to begin. */
void ski_share_open(const struct ski_host *host);

#endif
