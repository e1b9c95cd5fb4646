/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm.h - the communication that the fast multipole method needs; each variant implements it.
 *
 * Data move in *transfers*.  In each, a PE puts blocks of its memory into one contiguous range of
 * the window of another PE; both know the size of the range, and the sender knows its offset.  The
 * window of a transfer has the same size on every PE.  A PE expects the ranges that others put,
 * then puts its own, and waits for what it expects when it needs it.
 */
#ifndef FMM_COMM_H
#define FMM_COMM_H

#include <skua/layout.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/huge_pages.h"

/** The transfers, in the order in which they begin. */
enum transfer {
    TRANSFER_BODIES,     /* bodies, to the PE that owns their leaf */
    TRANSFER_GHOSTS,     /* bodies near the leaves of another PE */
    TRANSFER_SHARED,     /* parts of multipoles of boxes that several PEs share */
    TRANSFER_MULTIPOLES, /* multipoles of boxes that act on boxes of another PE */
    TRANSFERS
};

struct help_board;

/** One PE's view of a job. */
struct comm {
    int  pe, pes;
    bool shares; /* other PEs access the memory of comm_alloc(), at the same addresses */

    /** Replaces @p n numbers by their sums over all PEs.  Collective. */
    void (*sum_counts)(struct comm *comm, int64_t *at, size_t n);
    /** Replaces @p n numbers by their sums over all PEs.  Collective. */
    void (*sum)(struct comm *comm, double *at, size_t n);
    /** Replaces @p n numbers by their maxima over all PEs.  Collective. */
    void (*max)(struct comm *comm, double *at, size_t n);
    /** Replaces the window of a transfer by one of @p bytes on every PE and returns the address of
     *  the calling PE's window. Collective. */
    void *(*window)(struct comm *comm, enum transfer transfer, size_t bytes);
    /** Expects a put of @p pe into the window at @p offset. */
    void (*expect)(struct comm *comm, enum transfer transfer, int pe, size_t offset, size_t bytes);
    /** Starts to put the @p n blocks, relative to @p base, into the window of @p pe at @p offset.
     *  The blocks and the window must not change before the next done(). */
    void (*put)(struct comm *comm, enum transfer transfer, int pe, size_t offset, const void *base,
                const skua_block *block, size_t n);
    /** Lets puts proceed, in the middle of a computation, as long as some are under way. */
    void (*poll)(struct comm *comm);
    /** Waits for all puts that are expected. */
    void (*wait)(struct comm *comm, enum transfer transfer);
    /** Waits until all PEs have received all puts.  Collective. */
    void (*done)(struct comm *comm);
    /** Allocates memory that other PEs access, or returns NULL; never called unless @p shares. */
    void *(*shared_alloc)(size_t bytes);
    /** Frees memory of shared_alloc(). */
    void (*shared_free)(void *memory);
    /** Returns the memory in which PE @p pe describes its tasks (help.h), or NULL if this PE cannot
     *  access it.  It is zero at first. */
    struct help_board *(*board)(struct comm *comm, int pe);
    /** Lets other PEs proceed when this one has nothing to do; never called unless @p shares. */
    void (*yield)(struct comm *comm);
    /** Returns the time in seconds. */
    double (*time)(void);
    /** Prints an error and ends the job. */
    void (*fail)(struct comm *comm, const char *why);
};

/** Allocates memory, or returns NULL. */
static inline void *comm_alloc(struct comm *comm, size_t bytes)
{
    return comm->shares ? comm->shared_alloc(bytes) : huge_malloc(bytes);
}

/** Frees memory of comm_alloc(); NULL is allowed. */
static inline void comm_free(struct comm *comm, void *memory)
{
    if (!comm->shares)
        free(memory);
    else if (memory)
        comm->shared_free(memory);
}

/** Moves @p bytes into a larger piece of memory.  Returns NULL, and leaves them where they are, if
 *  there is none. */
static inline void *comm_grow(struct comm *comm, void *memory, size_t bytes, size_t larger)
{
    void *grown = comm_alloc(comm, larger);

    if (grown && bytes > 0)
        memcpy(grown, memory, bytes);
    if (grown)
        comm_free(comm, memory);
    return grown;
}

#endif
