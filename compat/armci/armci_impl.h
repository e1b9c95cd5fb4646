/* SPDX-License-Identifier: Apache-2.0 */
/*
 * armci_impl.h - what the files of the ARMCI layer share.
 *
 * ARMCI names remote memory by (process, address); Skua by a region and an offset. The layer keeps
 * for each process the sorted list of its *pieces*: the memory that an ARMCI_Malloc() gave it,
 * which is a region of its own. A piece that was found is tried first the next time, so that an
 * operation on it is one comparison away from the operation of Skua. Processes of a host map the
 * arena at one address, so the addresses of their pieces are valid in all of them.
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
    skua_region region;     /* of the process that has the memory */
    uint64_t    allocation; /* a number that the members of its group agreed on */
    bool        mapped;     /* the caller accesses it by load and store, at base */
};

/** A process of the job. */
struct ski_armci_process {
    const struct ski_armci_piece *last;   /* found by the last search; never NULL */
    struct ski_armci_piece       *pieces; /* by address */
    size_t                        count, room;
    int                           pe;
    int                           domain;
    bool                          near;
    uint64_t notified, awaited; /* notifications sent to it; received from it */
};

/** The state of the layer in this process. */
struct ski_armci_state {
    int                       starts; /* calls of ARMCI_Init() without their ARMCI_Finalize() */
    int                       me, size;
    struct ski_armci_process *process;       /* by rank */
    ARMCI_Group               world, preset; /* preset: the default group */
    MPI_Comm                  domain;        /* the processes of the caller's domain */
    MPI_Comm                  masters;       /* the first of each; MPI_COMM_NULL on others */
    uint64_t                  allocations;   /* the largest number given to one */
    skua_region               notifications; /* a skua_notify of each sender, on each process */
};
extern struct ski_armci_state ski_armci;

/** What an operation does with its data. */
enum ski_armci_verb { SKI_ARMCI_PUT, SKI_ARMCI_GET, SKI_ARMCI_ACC };

/** An operation: everything but its two layouts. */
struct ski_armci_op {
    const char         *call;
    enum ski_armci_verb verb;
    int                 process;
    bool                blocking;
    armci_hdl_t        *handle; /* of a non-blocking one; NULL: implicit */
    skua_update         update; /* of an accumulate */
};

/** Ends the job with an error that names @p call. */
void ski_armci_fail(const char *call, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/** Ends the job if @p status is a failure of @p call. */
static inline void ski_armci_check(const char *call, skua_status status)
{
    if (__builtin_expect(status < 0, 0))
        ski_armci_fail(call, "%s", skua_status_str(status));
}

/** Returns whether there is a process @p process. */
static inline bool ski_armci_is_process(int process)
{
    return (unsigned)process < (unsigned)ski_armci.size;
}

/** Ends the job if there is no process @p process. */
static inline void ski_armci_check_process(const char *call, int process)
{
    if (!ski_armci_is_process(process))
        ski_armci_fail(call, "there is no process %d", process);
}

/** Returns whether @p bytes at @p at lie in @p piece. */
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

/** Returns whether the caller accesses @p bytes at @p at of @p process by load and store. */
static inline bool ski_armci_is_mapped(int process, const void *at, size_t bytes)
{
    const struct ski_armci_piece *piece;

    if (!ski_armci_is_process(process))
        return false;
    piece = ski_armci_find(&ski_armci.process[process], at, bytes);
    return piece && piece->mapped;
}

/** Returns the global address of @p at, which lies in @p piece of @p process. */
static inline skua_gaddr ski_armci_address(const struct ski_armci_process *process,
                                           const struct ski_armci_piece *piece, const void *at)
{
    return skua_at(piece->region, process->pe, (uintptr_t)at - piece->base);
}

/** Finds @p bytes at @p at of @p process, or ends the job with an error of @p call. */
skua_gaddr ski_armci_resolve(const char *call, int process, const void *at, size_t bytes);

/** Performs or starts an operation between the layout @p remote, whose base `at` is an address of
 *  the process of @p op, and @p local. Ends the job if the remote memory is in no allocation. */
void ski_armci_transfer(const struct ski_armci_op *op, const skua_layout *remote,
                        const skua_layout *local);

/** Sets the update of an accumulate. Ends the job if there is no such @p datatype. */
void ski_armci_update(struct ski_armci_op *op, int datatype, const void *scale);

/** Marks a handle as complete: its operation was on a near process. */
static inline void ski_armci_handle_done(armci_hdl_t *handle)
{
    if (handle && !handle->aggregate)
        handle->target = 0;
}

/** Returns the handle of Skua that a started operation counts in, for the caller's @p handle. */
skua_handle *ski_armci_handle_use(armci_hdl_t *handle);

/** Allocates @p bytes on the calling member of @p group, as ARMCI_Malloc_group(). */
int ski_armci_malloc(const char *call, void **bases, armci_size_t bytes, const ARMCI_Group *group);

/** Frees an allocation as ARMCI_Free_group(). */
void ski_armci_free(const char *call, void *base, const ARMCI_Group *group);

/** Fills in the members of a group whose communicator is set. */
void ski_armci_group_fill(ARMCI_Group *group);

/** Returns the rank in @p group of the process @p absolute, or -1. */
int ski_armci_group_rank_of(const ARMCI_Group *group, int absolute);

#endif
