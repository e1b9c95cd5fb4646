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
#include <stddef.h>
#include <stdint.h>

/** The transfers, in the order in which they begin. */
enum transfer {
    TRANSFER_BODIES,     /* bodies, to the PE that owns their leaf */
    TRANSFER_GHOSTS,     /* bodies near the leaves of another PE */
    TRANSFER_SHARED,     /* parts of multipoles of boxes that several PEs share */
    TRANSFER_MULTIPOLES, /* multipoles of boxes that act on boxes of another PE */
    TRANSFERS
};

/** One PE's view of a job. */
struct comm {
    int pe, pes;

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
    /** Returns the time in seconds. */
    double (*time)(void);
    /** Prints an error and ends the job. */
    void (*fail)(struct comm *comm, const char *why);
};

#endif
