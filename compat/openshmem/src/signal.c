/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.c - puts with a signal: the target sees the data once it sees the signal.
 *
 * Where memory is mapped, the update of the signal releases the stores before it. Otherwise a fence
 * of Skua orders the atomic after the put.
 */
#include <shmem.h>

#include "amo.h"
#include "context.h"
#include "rma.h"
#include "wait.h"

static void signal_check(const char *call, int op)
{
    if (op != SHMEM_SIGNAL_SET && op != SHMEM_SIGNAL_ADD)
        skua_abort("%s: %d is not a signal operation; use SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD",
                   call, op);
}

static void signal_update(const char *call, uint64_t *signal, uint64_t value, int op, int pe)
{
    uint64_t *at = shmemi_direct(signal, sizeof *signal, pe);

    if (!at || (uintptr_t)at % sizeof *at) {
        if (shmemi_job.net)
            skua_fence(pe);
        shmemi_amo_nbi_net(
            call,
            (struct shmemi_amo){signal, sizeof *signal,
                                op == SHMEM_SIGNAL_SET ? SKUA_ATOMIC_STORE : SKUA_ATOMIC_ADD,
                                &value, pe},
            NULL);
        return;
    }
    /* An earlier put to another segment of this PE may have used Skua. */
    if (SHMEMI_UNLIKELY(shmemi_job.net))
        skua_flush(pe);
    if (op == SHMEM_SIGNAL_SET)
        __atomic_store_n(at, value, __ATOMIC_RELEASE);
    else
        __atomic_fetch_add(at, value, __ATOMIC_RELEASE);
}

#define SIGNAL_PUT(name, T, SIZE, move)                                                            \
    void shmem_##name(T *dest, const T *source, size_t nelems, uint64_t *sig_addr,                 \
                      uint64_t signal, int sig_op, int pe)                                         \
    {                                                                                              \
        signal_check(__func__, sig_op);                                                            \
        shmemi_##move(__func__, dest, source, shmemi_bytes(nelems, SIZE), pe);                     \
        signal_update(__func__, sig_addr, signal, sig_op, pe);                                     \
    }                                                                                              \
    void shmem_ctx_##name(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems,                \
                          uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                 \
    {                                                                                              \
        signal_check(__func__, sig_op);                                                            \
        pe = shmemi_ctx_pe(__func__, ctx, pe);                                                     \
        shmemi_##move(__func__, dest, source, shmemi_bytes(nelems, SIZE), pe);                     \
        signal_update(__func__, sig_addr, signal, sig_op, pe);                                     \
    }

#define SIGNAL_TYPE(NAME, T, ...)                                                                  \
    SIGNAL_PUT(NAME##_put_signal, T, sizeof(T), put)                                               \
    SIGNAL_PUT(NAME##_put_signal_nbi, T, sizeof(T), put_nbi)
SHMEM_RMA_TYPES(SIGNAL_TYPE, )

#define SIGNAL_SIZE(BITS, ...)                                                                     \
    SIGNAL_PUT(put##BITS##_signal, void, BITS / 8, put)                                            \
    SIGNAL_PUT(put##BITS##_signal_nbi, void, BITS / 8, put_nbi)
SHMEM_SIZES(SIGNAL_SIZE, )
SIGNAL_PUT(putmem_signal, void, 1, put)
SIGNAL_PUT(putmem_signal_nbi, void, 1, put_nbi)

uint64_t shmem_signal_fetch(const uint64_t *sig_addr)
{
    shmemi_wait_poll();
    return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}
