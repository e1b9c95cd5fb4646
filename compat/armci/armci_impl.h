/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci_impl.h - declarations that the files of the ARMCI layer share.
 *
 * ARMCI names remote memory by (process, address); Skua by a region and an offset. The layer keeps
 * for each process the sorted list of its *pieces*: the memory that an ARMCI_Malloc() gave it,
 * which is a region of its own. The piece found last is tried first, so that an operation on it
 * costs one comparison more than the operation of Skua. Processes of a host map the arena at one
 * address, so the addresses of their pieces are valid in all of them.
 *
 * A process is *near* if it shares memory with the caller: operations on it are complete when they
 * return, and puts, gets and atomics on a piece that is mapped are the caller's own loads and
 * stores. Operations on other processes are started in strict order; a blocking one waits until its
 * local memory is free, a non-blocking one counts in one of a fixed number of handles of Skua.
 */
#ifndef SKI_ARMCI_IMPL_H
#define SKI_ARMCI_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <armci.h>
#include <armcix.h>
#include <skua/skua.h>

/** Defines @p name as a weak synonym of P@p name, for programs and profilers that redefine it. */
#define SKI_ARMCI_ALIAS(type, name, params) type name params __attribute__((weak, alias("P" #name)))

/** The memory that an allocation gave to one process. */
struct ski_armci_piece {
    uintptr_t   base;
    size_t      bytes;
    skua_region region;     /* region of the process that has the memory */
    uint64_t    allocation; /* a number that the members of its group agreed on */
    bool        mapped;     /* the caller accesses it by load and store, at base */
};

/** A process of the job. */
struct ski_armci_process {
    const struct ski_armci_piece *last;   /* found by the last search; never NULL */
    struct ski_armci_piece       *pieces; /* sorted by address */
    size_t                        count, room;
    int                           pe;
    int                           domain;
    bool                          near;
    uint64_t notified, awaited; /* numbers of notifications sent to it and received from it */
};

/** The state of the layer in this process. */
struct ski_armci_state {
    int                       starts; /* calls of ARMCI_Init() without their ARMCI_Finalize() */
    int                       me, size;
    struct ski_armci_process *process;       /* processes, by rank */
    ARMCI_Group               world, preset; /* preset: the default group */
    MPI_Comm                  domain;        /* the processes of the caller's domain */
    /* The first process of each domain; MPI_COMM_NULL on others. */
    MPI_Comm    masters;
    uint64_t    allocations;   /* the largest number of an allocation */
    skua_region notifications; /* a skua_notify of each sender, on each process */
    skua_locks  unaligned; /* one of each process: accumulates to elements that are not aligned */
};
extern struct ski_armci_state ski_armci;

/** The kind of an operation. */
enum ski_armci_verb { SKI_ARMCI_PUT, SKI_ARMCI_GET, SKI_ARMCI_ACC };

/** An operation, without its two layouts. */
struct ski_armci_op {
    const char         *call;
    enum ski_armci_verb verb;
    int                 process;
    bool                blocking;
    armci_hdl_t        *handle; /* handle of a non-blocking operation; NULL: implicit */
    skua_update         update; /* update of an accumulate */
    unsigned            align;  /* of its elements, as Skua requires it */
};

/** Returns whether addresses, sizes and distances of an accumulate, or-ed, are those of elements
 *  that Skua accumulates to. */
static inline bool ski_armci_is_aligned(const struct ski_armci_op *op, uintptr_t bits)
{
    return (bits & (op->align - 1)) == 0;
}

/** Ends the job with an error that names @p call. */
void ski_armci_fail(const char *call, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/** Ends the job if @p status is a failure of @p call. */
static inline void ski_armci_check(const char *call, skua_status status)
{
    if (__builtin_expect(status < 0, 0))
        ski_armci_fail(call, "%s", skua_status_str(status));
}

/** Returns true if process @p process exists. */
static inline bool ski_armci_is_process(int process)
{
    return (unsigned)process < (unsigned)ski_armci.size;
}

/** Ends the job if process @p process does not exist. */
static inline void ski_armci_check_process(const char *call, int process)
{
    if (!ski_armci_is_process(process))
        ski_armci_fail(call, "there is no process %d", process);
}

/** Returns true if @p bytes at @p at are in @p piece. */
static inline bool ski_armci_piece_has(const struct ski_armci_piece *piece, const void *at,
                                       size_t bytes)
{
    uintptr_t offset = (uintptr_t)at - piece->base;

    return offset < piece->bytes && bytes <= piece->bytes - offset;
}

/** Returns the piece of a process that contains @p at, by a search, or NULL. */
const struct ski_armci_piece *ski_armci_search(struct ski_armci_process *process, const void *at);

/** Returns the piece of a process that contains @p bytes at @p at, or NULL. */
static inline const struct ski_armci_piece *ski_armci_find(struct ski_armci_process *process,
                                                           const void *at, size_t bytes)
{
    const struct ski_armci_piece *piece = process->last;

    if (__builtin_expect(ski_armci_piece_has(piece, at, bytes), 1))
        return piece;
    piece = ski_armci_search(process, at);
    return piece && ski_armci_piece_has(piece, at, bytes) ? piece : NULL;
}

/** Returns true if the caller can access @p bytes at @p at of @p process by load and store. */
static inline bool ski_armci_is_mapped(int process, const void *at, size_t bytes)
{
    const struct ski_armci_piece *piece;

    if (!ski_armci_is_process(process))
        return false;
    piece = ski_armci_find(&ski_armci.process[process], at, bytes);
    return piece && piece->mapped;
}

/** Returns the global address of @p at, which is in @p piece of @p process. */
static inline skua_gaddr ski_armci_address(const struct ski_armci_process *process,
                                           const struct ski_armci_piece *piece, const void *at)
{
    return skua_at(piece->region, process->pe, (uintptr_t)at - piece->base);
}

/** Returns the global address of @p bytes at @p at of @p process, or ends the job with an error
 *  that names @p call. */
skua_gaddr ski_armci_resolve(const char *call, int process, const void *at, size_t bytes);

/** Performs or starts an operation between the layout @p remote, whose base `at` is an address of
 *  the process of @p op, and @p local. Ends the job if the remote memory is in no allocation. */
void ski_armci_transfer(const struct ski_armci_op *op, const skua_layout *remote,
                        const skua_layout *local);

/** Sets the update of an accumulate. Ends the job if there is no such @p datatype. */
void ski_armci_update(struct ski_armci_op *op, int datatype, const void *scale);

/** Marks a handle as complete, after an operation on a near process. */
static inline void ski_armci_handle_done(armci_hdl_t *handle)
{
    if (handle && !handle->aggregate)
        handle->target = 0;
}

/** Returns the handle of Skua that counts a started operation of the caller's @p handle. */
skua_handle *ski_armci_handle_use(armci_hdl_t *handle);

/** Allocates @p bytes on the calling member of @p group, as ARMCI_Malloc_group(). */
int ski_armci_malloc(const char *call, void **bases, armci_size_t bytes, const ARMCI_Group *group);

/** Frees an allocation as ARMCI_Free_group(). */
void ski_armci_free(const char *call, void *base, const ARMCI_Group *group);

/** Forgets the mutexes that the program has not destroyed; the end of the phase frees them. */
void ski_armci_mutexes_forget(void);

/** Fills in the members of a group whose communicator is set. */
void ski_armci_group_fill(ARMCI_Group *group);

/** Returns the rank in @p group of the process @p absolute, or -1. */
int ski_armci_group_rank_of(const ARMCI_Group *group, int absolute);

#endif
