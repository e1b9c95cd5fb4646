/* SPDX-License-Identifier: Apache-2.0 */
/* rma.c - see rma.h. */
#include "rma.h"

#include <shmem.h>

#include "context.h"
#include "wait.h"

/* ---- through Skua ------------------------------------------------------- */

/* Puts from a thread that is a PE, and waits until the source may change. */
static skua_status rma_put_on_pe(skua_gaddr to, const void *source, size_t bytes)
{
    skua_counter    left   = SKUA_COUNTER_INIT;
    skua_rma_params params = {.size = sizeof params, .local = skua_done_count(&left)};
    skua_status     status = skua_put_nb(to, source, bytes, &params);

    if (status >= 0 && left.value == 0)
        skua_counter_wait(&left, 1);
    return status;
}

/* Puts to memory that is mapped in this process. Returns false if Skua has to perform the put, to
 * *@p at. */
static bool rma_put_mapped(const char *call, void *dest, const void *source, size_t bytes, int pe,
                           skua_gaddr *at)
{
    void *to = bytes ? shmemi_locate(call, dest, bytes, pe, at) : NULL;

    if (to && !shmemi_copy(to, source, bytes))
        shmemi_check_status(call, pe, skua_put(*at, source, bytes));
    return to || bytes == 0;
}

/* Gets from memory that is mapped in this process. Returns false if Skua has to perform the get,
 * from *@p at. */
static bool rma_get_mapped(const char *call, void *dest, const void *source, size_t bytes, int pe,
                           skua_gaddr *at)
{
    const void *from = bytes ? shmemi_locate(call, source, bytes, pe, at) : NULL;

    if (from && !shmemi_copy(dest, from, bytes))
        shmemi_check_status(call, pe, skua_get(dest, *at, bytes));
    return from || bytes == 0;
}

void shmemi_put_net(const char *call, void *dest, const void *source, size_t bytes, int pe)
{
    skua_gaddr at;

    if (!rma_put_mapped(call, dest, source, bytes, pe, &at))
        shmemi_check_status(call, pe,
                            shmemi_on_pe() ? rma_put_on_pe(at, source, bytes)
                                           : skua_put(at, source, bytes));
}

void shmemi_get_net(const char *call, void *dest, const void *source, size_t bytes, int pe)
{
    skua_gaddr at;

    if (!rma_get_mapped(call, dest, source, bytes, pe, &at))
        shmemi_check_status(call, pe, skua_get(dest, at, bytes));
}

void shmemi_put_nbi_net(const char *call, void *dest, const void *source, size_t bytes, int pe)
{
    skua_gaddr at;

    if (!rma_put_mapped(call, dest, source, bytes, pe, &at))
        shmemi_check_status(call, pe, skua_put_nb(at, source, bytes, NULL));
}

void shmemi_get_nbi_net(const char *call, void *dest, const void *source, size_t bytes, int pe)
{
    skua_gaddr at;

    if (!rma_get_mapped(call, dest, source, bytes, pe, &at))
        shmemi_check_status(call, pe, skua_get_nb(dest, at, bytes, NULL));
}

/* ---- strided ------------------------------------------------------------ */

/* If the size of an element is a constant, single instructions move it. */
#define RMA_COPY_STRIDED(SIZE)                                                                     \
    for (size_t i = 0; i < count; i++)                                                             \
        memcpy((char *)to.at + (ptrdiff_t)i * to.step,                                             \
               (const char *)from.at + (ptrdiff_t)i * from.step, SIZE);

static void rma_copy_strided(struct shmemi_stride to, struct shmemi_stride from, size_t size,
                             size_t count)
{
    switch (size) {
    case 1: RMA_COPY_STRIDED(1) break;
    case 2: RMA_COPY_STRIDED(2) break;
    case 4: RMA_COPY_STRIDED(4) break;
    case 8: RMA_COPY_STRIDED(8) break;
    case 16: RMA_COPY_STRIDED(16) break;
    default: RMA_COPY_STRIDED(size)
    }
}

/* Returns the address at which the remote side of a strided transfer is mapped, or NULL and its
 * global address. */
static void *rma_locate_strided(const char *call, struct shmemi_stride remote, size_t size,
                                size_t count, int pe, skua_gaddr *at)
{
    size_t span;

    if (remote.step < (ptrdiff_t)size)
        skua_abort("%s: a stride of the remote side is %td elements; it has to be at least 1", call,
                   remote.step / (ptrdiff_t)size);
    if (__builtin_mul_overflow(count - 1, (size_t)remote.step, &span) ||
        __builtin_add_overflow(span, size, &span))
        skua_abort("%s: %zu elements at such a stride exceed the address space", call, count);
    return shmemi_locate(call, remote.at, span, pe, at);
}

static skua_layout rma_layout(struct shmemi_stride side, size_t size, size_t count)
{
    return skua_layout_strided(side.at, size, 1, &count, &side.step);
}

void shmemi_iput(const char *call, struct shmemi_stride dest, struct shmemi_stride source,
                 size_t size, size_t count, int pe)
{
    skua_layout remote, local;
    skua_gaddr  at;
    void       *to;

    if (count == 0)
        return;
    to = rma_locate_strided(call, dest, size, count, pe, &at);
    if (to) {
        rma_copy_strided((struct shmemi_stride){to, dest.step}, source, size, count);
        return;
    }
    remote = rma_layout(dest, size, count);
    local  = rma_layout(source, size, count);
    shmemi_check_status(call, pe, skua_put_layout(at, &remote, &local));
}

void shmemi_iget(const char *call, struct shmemi_stride dest, struct shmemi_stride source,
                 size_t size, size_t count, int pe)
{
    skua_layout remote, local;
    skua_gaddr  at;
    void       *from;

    if (count == 0)
        return;
    from = rma_locate_strided(call, source, size, count, pe, &at);
    if (from) {
        rma_copy_strided(dest, (struct shmemi_stride){from, source.step}, size, count);
        return;
    }
    remote = rma_layout(source, size, count);
    local  = rma_layout(dest, size, count);
    shmemi_check_status(call, pe, skua_get_layout(&local, at, &remote));
}

/* ---- order -------------------------------------------------------------- */

/* Orders stores to mapped memory.  ThreadSanitizer does not support fences. */
static void rma_fence_stores(void)
{
#ifdef __SANITIZE_THREAD__
    static int any;

    (void)__atomic_fetch_add(&any, 0, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/* Returns true if one segment of some PE is mapped and the other is not. Then puts to the first
 * overtake those to the second, unless these are complete. */
static bool rma_is_split(void)
{
    static int   split = -1;
    char *const *heap  = shmemi_job.segment[SHMEMI_HEAP].peer;
    char *const *data  = shmemi_job.segment[SHMEMI_DATA].peer;

    if (split < 0) {
        split = 0;
        for (int pe = 0; pe < shmemi_job.pes && shmemi_job.segment[SHMEMI_DATA].bytes; pe++)
            split |= !heap[pe] != !data[pe];
    }
    return split;
}

void shmemi_fence(void)
{
    /* Orders stores to mapped memory; pairs with the loads of other PEs after a wait or a get. */
    rma_fence_stores();
    if (shmemi_job.net && rma_is_split())
        skua_flush_all();
    else if (shmemi_job.net)
        skua_fence_all();
}

void shmemi_quiet(void)
{
    rma_fence_stores();
    if (shmemi_job.net)
        skua_flush_all();
}

void shmem_fence(void)
{
    shmemi_check_running(__func__);
    shmemi_fence();
}

void shmem_quiet(void)
{
    shmemi_check_running(__func__);
    shmemi_quiet();
}

void shmem_ctx_fence(shmem_ctx_t ctx)
{
    shmemi_check_running(__func__);
    if (ctx != SHMEM_CTX_INVALID)
        shmemi_fence();
}

void shmem_ctx_quiet(shmem_ctx_t ctx)
{
    shmemi_check_running(__func__);
    if (ctx != SHMEM_CTX_INVALID)
        shmemi_quiet();
}

/* ---- the routines ------------------------------------------------------- */

/* Defines a contiguous transfer and its form with a context; SIZE is the size of an element. */
#define RMA_TRANSFER(name, T, SIZE, move)                                                          \
    void shmem_##name(T *dest, const T *source, size_t nelems, int pe)                             \
    {                                                                                              \
        shmemi_##move(__func__, dest, source, shmemi_bytes(nelems, SIZE), pe);                     \
    }                                                                                              \
    void shmem_ctx_##name(shmem_ctx_t ctx, T *dest, const T *source, size_t nelems, int pe)        \
    {                                                                                              \
        shmemi_##move(__func__, dest, source, shmemi_bytes(nelems, SIZE),                          \
                      shmemi_ctx_pe(__func__, ctx, pe));                                           \
    }

#define RMA_STRIDED(name, T, SIZE, move)                                                           \
    void shmem_##name(T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,       \
                      int pe)                                                                      \
    {                                                                                              \
        shmemi_##move(__func__, (struct shmemi_stride){dest, dst * (ptrdiff_t)(SIZE)},             \
                      (struct shmemi_stride){(void *)(uintptr_t)source, sst * (ptrdiff_t)(SIZE)},  \
                      SIZE, nelems, pe);                                                           \
    }                                                                                              \
    void shmem_ctx_##name(shmem_ctx_t ctx, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, \
                          size_t nelems, int pe)                                                   \
    {                                                                                              \
        shmemi_##move(__func__, (struct shmemi_stride){dest, dst * (ptrdiff_t)(SIZE)},             \
                      (struct shmemi_stride){(void *)(uintptr_t)source, sst * (ptrdiff_t)(SIZE)},  \
                      SIZE, nelems, shmemi_ctx_pe(__func__, ctx, pe));                             \
    }

#define RMA_TRANSFERS(put, get, suffix, T, SIZE)                                                   \
    RMA_TRANSFER(put##suffix, T, SIZE, put)                                                        \
    RMA_TRANSFER(get##suffix, T, SIZE, get)                                                        \
    RMA_TRANSFER(put##suffix##_nbi, T, SIZE, put_nbi)                                              \
    RMA_TRANSFER(get##suffix##_nbi, T, SIZE, get_nbi)

#define RMA_TYPE(NAME, T, ...)                                                                     \
    RMA_TRANSFER(NAME##_put, T, sizeof(T), put)                                                    \
    RMA_TRANSFER(NAME##_get, T, sizeof(T), get)                                                    \
    RMA_TRANSFER(NAME##_put_nbi, T, sizeof(T), put_nbi)                                            \
    RMA_TRANSFER(NAME##_get_nbi, T, sizeof(T), get_nbi)                                            \
    RMA_STRIDED(NAME##_iput, T, sizeof(T), iput)                                                   \
    RMA_STRIDED(NAME##_iget, T, sizeof(T), iget)                                                   \
    void shmem_##NAME##_p(T *dest, T value, int pe)                                                \
    {                                                                                              \
        shmemi_put(__func__, dest, &value, sizeof value, pe);                                      \
    }                                                                                              \
    void shmem_ctx_##NAME##_p(shmem_ctx_t ctx, T *dest, T value, int pe)                           \
    {                                                                                              \
        shmemi_put(__func__, dest, &value, sizeof value, shmemi_ctx_pe(__func__, ctx, pe));        \
    }                                                                                              \
    T shmem_##NAME##_g(const T *source, int pe)                                                    \
    {                                                                                              \
        T value = 0;                                                                               \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        shmemi_get(__func__, &value, source, sizeof value, pe);                                    \
        return value;                                                                              \
    }                                                                                              \
    T shmem_ctx_##NAME##_g(shmem_ctx_t ctx, const T *source, int pe)                               \
    {                                                                                              \
        T value = 0;                                                                               \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        shmemi_get(__func__, &value, source, sizeof value, shmemi_ctx_pe(__func__, ctx, pe));      \
        return value;                                                                              \
    }
SHMEM_RMA_TYPES(RMA_TYPE, )

#define RMA_SIZE(BITS, ...)                                                                        \
    RMA_TRANSFERS(put, get, BITS, void, BITS / 8)                                                  \
    RMA_STRIDED(iput##BITS, void, BITS / 8, iput)                                                  \
    RMA_STRIDED(iget##BITS, void, BITS / 8, iget)
SHMEM_SIZES(RMA_SIZE, )
RMA_TRANSFERS(put, get, mem, void, 1)
