/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - handles of non-blocking operations, fences and the barrier.
 *
 * An armci_hdl_t has 8 bytes, may be at any address, and may be dropped without a wait. So it holds
 * only a number: the index, plus 1, of one of a fixed set of handles of Skua; 0 means complete. The
 * handles are used in turn, and a wait completes all operations that share a handle.
 */
#include <stdatomic.h>

#include "armci_impl.h"

#define HANDLE_COUNT 256

static skua_handle handle_set[HANDLE_COUNT];
static unsigned    handle_next;

/* Returns the handle of Skua that belongs to @p handle, or NULL if it is complete. */
static skua_handle *handle_of(const armci_hdl_t *handle)
{
    return handle && handle->target > 0 && handle->target <= HANDLE_COUNT
               ? &handle_set[handle->target - 1]
               : NULL;
}

skua_handle *ski_armci_handle_use(armci_hdl_t *handle)
{
    if (!handle->aggregate || !handle_of(handle))
        handle->target = (int)(handle_next++ % HANDLE_COUNT) + 1;
    return handle_of(handle);
}

void ARMCI_INIT_HANDLE(armci_hdl_t *hdl)
{
    *hdl = (armci_hdl_t){0, 0};
}

void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t *handle)
{
    handle->aggregate = 1;
}

void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t *handle)
{
    handle->aggregate = 0;
}

int PARMCI_Wait(armci_hdl_t *hdl)
{
    skua_handle *handle = handle_of(hdl);

    if (handle) {
        skua_handle_wait(handle);
        hdl->target = 0;
    }
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Wait, (armci_hdl_t * hdl));

int PARMCI_Test(armci_hdl_t *hdl)
{
    skua_handle *handle = handle_of(hdl);

    if (handle) {
        skua_poll(1);
        if (!skua_handle_test(handle))
            return 1;
        hdl->target = 0;
    }
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Test, (armci_hdl_t * hdl));

void PARMCI_Fence(int proc)
{
    ski_armci_check_process("ARMCI_Fence", proc);
    skua_flush(ski_armci.process[proc].pe);
    atomic_thread_fence(memory_order_seq_cst);
}
SKI_ARMCI_ALIAS(void, ARMCI_Fence, (int proc));

void PARMCI_AllFence(void)
{
    skua_flush_all();
    atomic_thread_fence(memory_order_seq_cst);
}
SKI_ARMCI_ALIAS(void, ARMCI_AllFence, (void));

void ARMCI_GroupFence(ARMCI_Group *group)
{
    for (int i = 0; i < group->size; i++)
        PARMCI_Fence(group->grp_to_abs[i]);
}

int PARMCI_WaitProc(int proc)
{
    PARMCI_Fence(proc);
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_WaitProc, (int proc));

int PARMCI_WaitAll(void)
{
    PARMCI_AllFence();
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_WaitAll, (void));

void PARMCI_Barrier(void)
{
    PARMCI_AllFence();
    MPI_Barrier(ski_armci.world.comm);
}
SKI_ARMCI_ALIAS(void, ARMCI_Barrier, (void));

void ARMCIX_Progress(void)
{
    skua_poll(16);
}
