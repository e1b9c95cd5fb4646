/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c - the translation of operations of ARMCI to operations of Skua.
 *
 * An operation on a near process is complete when the call returns. An operation on another host is
 * started. A blocking one is started in strict order and waits for its local completion (the data
 * of a put have been copied or sent, those of a get have arrived), as ARMCI requires; only a fence
 * waits for the answer of the target. Memory of the caller that is in no allocation is accessed
 * directly, which ARMCI permits.
 *
 * An accumulate to elements that are not aligned, which Skua refuses, is a get, an addition and a
 * put under a lock of the target.
 */
#include <stdlib.h>

#include "armci_impl.h"

/* ---- elements that are not aligned ------------------------------------------------- */

/* Returns the address, the size and the distances of the blocks of a layout, or-ed. */
static uintptr_t transfer_bits(const skua_layout *layout)
{
    uintptr_t bits = (uintptr_t)layout->at | layout->bytes;

    if (layout->kind == SKUA_LAYOUT_STRIDED)
        for (int i = 0; i < layout->strided.levels; i++)
            bits |= (uintptr_t)layout->strided.stride[i];
    if (layout->kind == SKUA_LAYOUT_INDEXED)
        for (size_t i = 0; i < layout->indexed.count; i++)
            bits |= (uintptr_t)layout->indexed.offset[i];
    return bits;
}

static bool transfer_is_aligned(const struct ski_armci_op *op, const skua_layout *remote,
                                const skua_layout *local)
{
    return ski_armci_is_aligned(op, transfer_bits(remote) | transfer_bits(local));
}

/* Accumulates @p bytes to packed elements of the caller. */
static skua_status transfer_add(const struct ski_armci_op *op, void *to, const void *from,
                                size_t bytes)
{
    skua_region region;
    skua_status status = skua_region_create_from(to, bytes, &region);

    if (status != SKUA_OK)
        return status;
    status = skua_acc(skua_at(region, skua_pe(), 0), from, bytes, &op->update);
    skua_region_destroy(region);
    return status;
}

/* Accumulates to elements that are not aligned. */
static skua_status transfer_unaligned(const struct ski_armci_op *op, skua_gaddr at,
                                      const skua_layout *remote, const skua_layout *local)
{
    int         pe    = ski_armci.process[op->process].pe;
    size_t      bytes = skua_layout_bytes(local);
    void       *sum = malloc(bytes), *add = malloc(bytes);
    skua_layout to = skua_layout_contiguous(sum, bytes), from = skua_layout_contiguous(add, bytes);
    skua_status status = sum && add ? SKUA_OK : SKUA_ERR_NOMEM;

    if (status == SKUA_OK && skua_lock(ski_armci.unaligned, pe, 0)) {
        skua_layout_copy(&from, local);
        skua_flush(pe);
        status = skua_get_layout(&to, at, remote);
        if (status == SKUA_OK)
            status = transfer_add(op, sum, add, bytes);
        if (status == SKUA_OK)
            status = skua_put_layout(at, remote, &to);
        skua_flush(pe);
        skua_unlock(ski_armci.unaligned, pe, 0);
    } else if (status == SKUA_OK) {
        status = SKUA_ERR_EXIT;
    }
    free(sum);
    free(add);
    return status;
}

/* ---- operations -------------------------------------------------------------------- */

static skua_status transfer_now(const struct ski_armci_op *op, skua_gaddr at,
                                const skua_layout *remote, const skua_layout *local)
{
    switch (op->verb) {
    case SKI_ARMCI_PUT: return skua_put_layout(at, remote, local);
    case SKI_ARMCI_GET: return skua_get_layout(local, at, remote);
    default:
        return transfer_is_aligned(op, remote, local)
                   ? skua_acc_layout(at, remote, local, &op->update)
                   : transfer_unaligned(op, at, remote, local);
    }
}

static skua_status transfer_start(const struct ski_armci_op *op, skua_gaddr at,
                                  const skua_layout *remote, const skua_layout *local,
                                  const skua_rma_params *params)
{
    switch (op->verb) {
    case SKI_ARMCI_PUT: return skua_put_layout_nb(at, remote, local, params);
    case SKI_ARMCI_GET: return skua_get_layout_nb(local, at, remote, params);
    default: return skua_acc_layout_nb(at, remote, local, &op->update, params);
    }
}

/* Performs an operation on a process of another host. */
static skua_status transfer_far(const struct ski_armci_op *op, skua_gaddr at,
                                const skua_layout *remote, const skua_layout *local)
{
    skua_counter    done   = SKUA_COUNTER_INIT;
    skua_rma_params params = {.size = sizeof params, .order = SKUA_UNORDERED};
    skua_status     status;

    if (op->verb == SKI_ARMCI_ACC && !transfer_is_aligned(op, remote, local)) {
        if (!op->blocking)
            ski_armci_handle_done(op->handle);
        return transfer_unaligned(op, at, remote, local);
    }
    if (op->blocking) {
        params.order = SKUA_ORDER_STRICT;
        params.local = skua_done_count(&done);
    } else if (op->handle) {
        params.handle = ski_armci_handle_use(op->handle);
    }
    status = transfer_start(op, at, remote, local, &params);
    if (op->blocking && status >= 0 && !skua_counter_wait(&done, 1))
        return SKUA_ERR_EXIT;
    return status;
}

/* Returns the bytes that a layout with one block, or a strided one, spans, or SIZE_MAX for more
 * than memory can have; *@p low is their begin, relative to the base. */
static size_t transfer_extent(const skua_layout *layout, ptrdiff_t *low)
{
    size_t extent = layout->bytes;

    *low = 0;
    for (int i = 0; layout->kind == SKUA_LAYOUT_STRIDED && i < layout->strided.levels; i++) {
        ptrdiff_t last = (ptrdiff_t)(layout->strided.count[i] - 1) * layout->strided.stride[i];

        *low += last < 0 ? last : 0;
        extent += (size_t)(last < 0 ? -last : last);
        if (extent > SIZE_MAX / 4) /* a level adds less than this */
            return SIZE_MAX;
    }
    return extent;
}

/* Ends the job unless one piece contains the whole remote side. The check is made here, since an
 * error of another host would arrive too late for the call to fail. Segments of an indexed layout
 * have been checked already (vector.c). */
static void transfer_check(const struct ski_armci_op *op, struct ski_armci_process *process,
                           const skua_layout *remote)
{
    ptrdiff_t low;
    size_t    extent;

    if (remote->kind != SKUA_LAYOUT_CONTIGUOUS && remote->kind != SKUA_LAYOUT_STRIDED)
        return;
    extent = transfer_extent(remote, &low);
    if (!ski_armci_find(process, (char *)remote->at + low, extent))
        ski_armci_resolve(op->call, op->process, (char *)remote->at + low, extent); /* fails */
}

/* Performs an operation of the caller on its own memory that is in no allocation. The layouts have
 * one block, or are strided. */
static skua_status transfer_self(const struct ski_armci_op *op, const skua_layout *remote,
                                 const skua_layout *local)
{
    skua_region region;
    skua_status status;
    ptrdiff_t   low;
    size_t      extent = transfer_extent(remote, &low);

    if (op->verb == SKI_ARMCI_PUT)
        skua_layout_copy(remote, local);
    else if (op->verb == SKI_ARMCI_GET)
        skua_layout_copy(local, remote);
    if (op->verb != SKI_ARMCI_ACC)
        return SKUA_OK;
    status = skua_region_create_from((char *)remote->at + low, extent, &region);
    if (status != SKUA_OK)
        return status;
    status = transfer_now(op, skua_at(region, skua_pe(), (uint64_t)-low), remote, local);
    skua_region_destroy(region);
    return status;
}

void ski_armci_transfer(const struct ski_armci_op *op, const skua_layout *remote,
                        const skua_layout *local)
{
    struct ski_armci_process     *process = &ski_armci.process[op->process];
    const struct ski_armci_piece *piece   = ski_armci_find(process, remote->at, 1);
    skua_status                   status;

    if (!piece && op->process == ski_armci.me) {
        status = transfer_self(op, remote, local);
    } else {
        skua_gaddr at;

        transfer_check(op, process, remote);
        at     = piece ? ski_armci_address(process, piece, remote->at)
                       : ski_armci_resolve(op->call, op->process, remote->at, 1);
        status = process->near ? transfer_now(op, at, remote, local)
                               : transfer_far(op, at, remote, local);
    }
    if (process->near && !op->blocking)
        ski_armci_handle_done(op->handle);
    ski_armci_check(op->call, status);
}

void ski_armci_update(struct ski_armci_op *op, int datatype, const void *scale)
{
    static const skua_type types[] = {
        [ARMCI_ACC_INT] = SKUA_INT32,         [ARMCI_ACC_LNG] = SKUA_INT64,
        [ARMCI_ACC_FLT] = SKUA_FLOAT,         [ARMCI_ACC_DBL] = SKUA_DOUBLE,
        [ARMCI_ACC_CPL] = SKUA_COMPLEX_FLOAT, [ARMCI_ACC_DCP] = SKUA_COMPLEX_DOUBLE,
    };

    _Static_assert(sizeof(int) == 4 && sizeof(long) == 8, "int and long have these sizes");
    if ((unsigned)datatype >= sizeof types / sizeof *types)
        ski_armci_fail(op->call, "there is no accumulate of type %d", datatype);
    op->update = (skua_update){SKUA_SUM, types[datatype], scale};
    op->align  = datatype == ARMCI_ACC_INT || datatype == ARMCI_ACC_FLT ? 4 : 8;
}
