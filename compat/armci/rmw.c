/* SPDX-License-Identifier: Apache-2.0 */
/* rmw.c - read-modify-write operations, and notifications between two processes. */
#include "armci_impl.h"

static skua_status rmw_int(int op, skua_gaddr at, int value, int *old)
{
    uint32_t    before;
    skua_status status = op == ARMCI_SWAP ? skua_swap32(at, (uint32_t)*old, &before)
                                          : skua_fetch_add32(at, (uint32_t)value, &before);

    if (status == SKUA_OK)
        *old = (int)before;
    return status;
}

static skua_status rmw_long(int op, skua_gaddr at, long value, long *old)
{
    uint64_t    before;
    skua_status status = op == ARMCI_SWAP_LONG ? skua_swap64(at, (uint64_t)*old, &before)
                                               : skua_fetch_add64(at, (uint64_t)value, &before);

    if (status == SKUA_OK)
        *old = (long)before;
    return status;
}

/* Performs the operation by an atomic of the CPU. Atomics of Skua are also atomics of the CPU, at
 * the process that has the memory. */
static void rmw_mapped(int op, void *local, void *remote, int value)
{
    int  *word      = remote;
    long *long_word = remote;

    switch (op) {
    case ARMCI_FETCH_AND_ADD:
        *(int *)local = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
        break;
    case ARMCI_SWAP:
        *(int *)local = __atomic_exchange_n(word, *(int *)local, __ATOMIC_SEQ_CST);
        break;
    case ARMCI_FETCH_AND_ADD_LONG:
        *(long *)local = __atomic_fetch_add(long_word, (long)value, __ATOMIC_SEQ_CST);
        break;
    default: *(long *)local = __atomic_exchange_n(long_word, *(long *)local, __ATOMIC_SEQ_CST);
    }
}

int PARMCI_Rmw(int op, void *ploc, void *prem, int value, int proc)
{
    bool       is_long = op == ARMCI_FETCH_AND_ADD_LONG || op == ARMCI_SWAP_LONG;
    size_t     bytes   = is_long ? sizeof(long) : sizeof(int);
    skua_gaddr at;

    if (!is_long && op != ARMCI_FETCH_AND_ADD && op != ARMCI_SWAP)
        ski_armci_fail("ARMCI_Rmw", "there is no operation %d", op);
    if (!ploc)
        ski_armci_fail("ARMCI_Rmw", "an address is NULL");
    if (ski_armci_is_mapped(proc, prem, bytes) && (uintptr_t)prem % bytes == 0) {
        rmw_mapped(op, ploc, prem, value);
        return 0;
    }
    at = ski_armci_resolve("ARMCI_Rmw", proc, prem, bytes);
    ski_armci_check("ARMCI_Rmw",
                    is_long ? rmw_long(op, at, value, ploc) : rmw_int(op, at, value, ploc));
    return 0;
}
SKI_ARMCI_ALIAS(int, ARMCI_Rmw, (int op, void *ploc, void *prem, int value, int proc));

int armci_notify(int proc)
{
    struct ski_armci_process *to;
    uint64_t                  mine = (uint64_t)ski_armci.me * sizeof(skua_notify);

    ski_armci_check_process("armci_notify", proc);
    to = &ski_armci.process[proc];
    skua_flush(to->pe); /* completes accumulates too, which a notification could overtake */
    ski_armci_check("armci_notify",
                    skua_notify_add(skua_at(ski_armci.notifications, to->pe, mine), 1));
    return (int)++to->notified;
}

int armci_notify_wait(int proc, int *pval)
{
    struct ski_armci_process *from;
    skua_notify              *mine = skua_region_local(ski_armci.notifications);

    ski_armci_check_process("armci_notify_wait", proc);
    from = &ski_armci.process[proc];
    if (!skua_notify_wait(&mine[proc], from->awaited + 1))
        ski_armci_fail("armci_notify_wait", "the job ends");
    from->awaited++;
    if (pval)
        *pval = (int)from->awaited;
    return (int)from->awaited;
}
