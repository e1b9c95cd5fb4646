/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amo.c - see amo.h.
 *
 * Atomics of the processor change a word that is mapped in this process; Skua uses the same on
 * behalf of other hosts, so both may be applied to one word. An atomic is sequentially consistent:
 * a program that builds a lock from it needs no more.
 */
#include "amo.h"

#include <shmem.h>

#include "context.h"
#include "wait.h"

/* ---- through Skua ------------------------------------------------------- */

static skua_type amo_type(size_t bytes)
{
    return bytes == 4 ? SKUA_UINT32 : SKUA_UINT64;
}

/* Returns the global address of the word of @p amo, also of a mapped word, which is accessed
 * through Skua if calls are checked. */
static skua_gaddr amo_locate(const char *call, const struct shmemi_amo *amo)
{
    skua_gaddr at;

    if ((uintptr_t)amo->dest % amo->bytes)
        skua_abort("%s: %p on PE %d is not aligned to its %zu bytes", call, amo->dest,
                   shmemi_job.pe, amo->bytes);
    shmemi_locate(call, amo->dest, amo->bytes, amo->pe, &at);
    return at;
}

void shmemi_amo_net(const char *call, struct shmemi_amo amo, void *old)
{
    skua_gaddr at = amo_locate(call, &amo);

    shmemi_check_status(call, amo.pe,
                        skua_atomic(at, amo.op, amo_type(amo.bytes), amo.operand, old));
}

void shmemi_amo_nbi_net(const char *call, struct shmemi_amo amo, void *old)
{
    skua_gaddr at = amo_locate(call, &amo);

    shmemi_check_status(call, amo.pe,
                        skua_atomic_nb(at, amo.op, amo_type(amo.bytes), amo.operand, old, NULL));
}

/* ---- the routines ------------------------------------------------------- */

/* Defines an operation from two names: that of the processor and that of Skua. */
#define AMO_RMW(NAME, T, name, builtin, OP)                                                        \
    static inline T amo_##NAME##_##name(const char *call, T *dest, T value, int pe)                \
    {                                                                                              \
        T *at = shmemi_direct(dest, sizeof(T), pe);                                                \
        T  old;                                                                                    \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0))                                   \
            return builtin(at, value, __ATOMIC_SEQ_CST);                                           \
        shmemi_amo_net(call, (struct shmemi_amo){dest, sizeof(T), OP, &value, pe}, &old);          \
        return old;                                                                                \
    }                                                                                              \
    static inline void amo_##NAME##_##name##_nbi(const char *call, T *fetch, T *dest, T value,     \
                                                 int pe)                                           \
    {                                                                                              \
        T *at = shmemi_direct(dest, sizeof(T), pe);                                                \
                                                                                                   \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0)) {                                 \
            T old = builtin(at, value, __ATOMIC_SEQ_CST);                                          \
                                                                                                   \
            if (fetch)                                                                             \
                *fetch = old;                                                                      \
        } else {                                                                                   \
            shmemi_amo_nbi_net(call, (struct shmemi_amo){dest, sizeof(T), OP, &value, pe}, fetch); \
        }                                                                                          \
    }

/* Defines the public forms of such an operation: one that fetches, one that does not (internally
 * non-blocking), a non-blocking one, and each with a context. */
#define AMO_FETCH(NAME, T, public, name)                                                           \
    T shmem_##NAME##_##public(T * dest, T value, int pe)                                           \
    {                                                                                              \
        return amo_##NAME##_##name(__func__, dest, value, pe);                                     \
    }                                                                                              \
    T shmem_ctx_##NAME##_##public(shmem_ctx_t ctx, T * dest, T value, int pe)                      \
    {                                                                                              \
        return amo_##NAME##_##name(__func__, dest, value, shmemi_ctx_pe(__func__, ctx, pe));       \
    }                                                                                              \
    void shmem_##NAME##_##public##_nbi(T *fetch, T *dest, T value, int pe)                         \
    {                                                                                              \
        amo_##NAME##_##name##_nbi(__func__, fetch, dest, value, pe);                               \
    }                                                                                              \
    void shmem_ctx_##NAME##_##public##_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T value, int pe)    \
    {                                                                                              \
        amo_##NAME##_##name##_nbi(__func__, fetch, dest, value, shmemi_ctx_pe(__func__, ctx, pe)); \
    }
#define AMO_UPDATE(NAME, T, public, name)                                                          \
    void shmem_##NAME##_##public(T * dest, T value, int pe)                                        \
    {                                                                                              \
        amo_##NAME##_##name##_nbi(__func__, NULL, dest, value, pe);                                \
    }                                                                                              \
    void shmem_ctx_##NAME##_##public(shmem_ctx_t ctx, T * dest, T value, int pe)                   \
    {                                                                                              \
        amo_##NAME##_##name##_nbi(__func__, NULL, dest, value, shmemi_ctx_pe(__func__, ctx, pe));  \
    }

/* ---- add, increment, compare-and-swap ----------------------------------- */

#define AMO_INCREMENT(NAME, T)                                                                     \
    T shmem_##NAME##_atomic_fetch_inc(T *dest, int pe)                                             \
    {                                                                                              \
        return amo_##NAME##_add(__func__, dest, 1, pe);                                            \
    }                                                                                              \
    T shmem_ctx_##NAME##_atomic_fetch_inc(shmem_ctx_t ctx, T *dest, int pe)                        \
    {                                                                                              \
        return amo_##NAME##_add(__func__, dest, 1, shmemi_ctx_pe(__func__, ctx, pe));              \
    }                                                                                              \
    void shmem_##NAME##_atomic_fetch_inc_nbi(T *fetch, T *dest, int pe)                            \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, fetch, dest, 1, pe);                                        \
    }                                                                                              \
    void shmem_ctx_##NAME##_atomic_fetch_inc_nbi(shmem_ctx_t ctx, T *fetch, T *dest, int pe)       \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, fetch, dest, 1, shmemi_ctx_pe(__func__, ctx, pe));          \
    }                                                                                              \
    void shmem_##NAME##_atomic_inc(T *dest, int pe)                                                \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, NULL, dest, 1, pe);                                         \
    }                                                                                              \
    void shmem_ctx_##NAME##_atomic_inc(shmem_ctx_t ctx, T *dest, int pe)                           \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, NULL, dest, 1, shmemi_ctx_pe(__func__, ctx, pe));           \
    }

#define AMO_COMPARE_SWAP(NAME, T)                                                                  \
    static inline T amo_##NAME##_compare_swap(const char *call, T *dest, T cond, T value, int pe)  \
    {                                                                                              \
        T *at       = shmemi_direct(dest, sizeof(T), pe);                                          \
        T  pair[2]  = {cond, value};                                                               \
        T  previous = cond;                                                                        \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0))                                   \
            __atomic_compare_exchange_n(at, &previous, value, 0, __ATOMIC_SEQ_CST,                 \
                                        __ATOMIC_SEQ_CST);                                         \
        else                                                                                       \
            shmemi_amo_net(                                                                        \
                call, (struct shmemi_amo){dest, sizeof(T), SKUA_ATOMIC_COMPARE_SWAP, pair, pe},    \
                &previous);                                                                        \
        return previous;                                                                           \
    }                                                                                              \
    static inline void amo_##NAME##_compare_swap_nbi(const char *call, T *fetch, T *dest, T cond,  \
                                                     T value, int pe)                              \
    {                                                                                              \
        T pair[2] = {cond, value};                                                                 \
                                                                                                   \
        if (SHMEMI_LIKELY(shmemi_direct(dest, sizeof(T), pe)))                                     \
            *fetch = amo_##NAME##_compare_swap(call, dest, cond, value, pe);                       \
        else                                                                                       \
            shmemi_amo_nbi_net(                                                                    \
                call, (struct shmemi_amo){dest, sizeof(T), SKUA_ATOMIC_COMPARE_SWAP, pair, pe},    \
                fetch);                                                                            \
    }                                                                                              \
    T shmem_##NAME##_atomic_compare_swap(T *dest, T cond, T value, int pe)                         \
    {                                                                                              \
        return amo_##NAME##_compare_swap(__func__, dest, cond, value, pe);                         \
    }                                                                                              \
    T shmem_ctx_##NAME##_atomic_compare_swap(shmem_ctx_t ctx, T *dest, T cond, T value, int pe)    \
    {                                                                                              \
        return amo_##NAME##_compare_swap(__func__, dest, cond, value,                              \
                                         shmemi_ctx_pe(__func__, ctx, pe));                        \
    }                                                                                              \
    void shmem_##NAME##_atomic_compare_swap_nbi(T *fetch, T *dest, T cond, T value, int pe)        \
    {                                                                                              \
        amo_##NAME##_compare_swap_nbi(__func__, fetch, dest, cond, value, pe);                     \
    }                                                                                              \
    void shmem_ctx_##NAME##_atomic_compare_swap_nbi(shmem_ctx_t ctx, T *fetch, T *dest, T cond,    \
                                                    T value, int pe)                               \
    {                                                                                              \
        amo_##NAME##_compare_swap_nbi(__func__, fetch, dest, cond, value,                          \
                                      shmemi_ctx_pe(__func__, ctx, pe));                           \
    }

#define AMO_STANDARD(NAME, T, ...)                                                                 \
    AMO_RMW(NAME, T, add, __atomic_fetch_add, SKUA_ATOMIC_ADD)                                     \
    AMO_FETCH(NAME, T, atomic_fetch_add, add)                                                      \
    AMO_UPDATE(NAME, T, atomic_add, add)                                                           \
    AMO_INCREMENT(NAME, T)                                                                         \
    AMO_COMPARE_SWAP(NAME, T)                                                                      \
    T shmem_##NAME##_fadd(T *dest, T value, int pe)                                                \
    {                                                                                              \
        return amo_##NAME##_add(__func__, dest, value, pe);                                        \
    }                                                                                              \
    T shmem_##NAME##_finc(T *dest, int pe)                                                         \
    {                                                                                              \
        return amo_##NAME##_add(__func__, dest, 1, pe);                                            \
    }                                                                                              \
    void shmem_##NAME##_add(T *dest, T value, int pe)                                              \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, NULL, dest, value, pe);                                     \
    }                                                                                              \
    void shmem_##NAME##_inc(T *dest, int pe)                                                       \
    {                                                                                              \
        amo_##NAME##_add_nbi(__func__, NULL, dest, 1, pe);                                         \
    }                                                                                              \
    T shmem_##NAME##_cswap(T *dest, T cond, T value, int pe)                                       \
    {                                                                                              \
        return amo_##NAME##_compare_swap(__func__, dest, cond, value, pe);                         \
    }
SHMEM_AMO_TYPES(AMO_STANDARD, )

/* ---- bitwise ------------------------------------------------------------ */

#define AMO_BITWISE_OP(NAME, T, name, builtin, OP)                                                 \
    AMO_RMW(NAME, T, name, builtin, OP)                                                            \
    AMO_FETCH(NAME, T, atomic_fetch_##name, name)                                                  \
    AMO_UPDATE(NAME, T, atomic_##name, name)
#define AMO_BITWISE(NAME, T, ...)                                                                  \
    AMO_BITWISE_OP(NAME, T, and, __atomic_fetch_and, SKUA_ATOMIC_AND)                              \
    AMO_BITWISE_OP(NAME, T, or, __atomic_fetch_or, SKUA_ATOMIC_OR)                                 \
    AMO_BITWISE_OP(NAME, T, xor, __atomic_fetch_xor, SKUA_ATOMIC_XOR)
SHMEM_AMO_BITWISE_TYPES(AMO_BITWISE, )

/* ---- fetch, set, swap --------------------------------------------------- */

/* These also apply to floating-point numbers, whose bits the processor moves. */
#define AMO_EXTENDED(NAME, T, ...)                                                                 \
    static inline T amo_##NAME##_fetch(const char *call, const T *source, int pe)                  \
    {                                                                                              \
        const T *at = shmemi_direct(source, sizeof(T), pe);                                        \
        T        value;                                                                            \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0))                                   \
            __atomic_load(at, &value, __ATOMIC_SEQ_CST);                                           \
        else                                                                                       \
            shmemi_amo_net(call,                                                                   \
                           (struct shmemi_amo){(void *)(uintptr_t)source, sizeof(T),               \
                                               SKUA_ATOMIC_LOAD, NULL, pe},                        \
                           &value);                                                                \
        return value;                                                                              \
    }                                                                                              \
    static inline void amo_##NAME##_fetch_nbi(const char *call, T *fetch, const T *source, int pe) \
    {                                                                                              \
        if (SHMEMI_LIKELY(shmemi_direct(source, sizeof(T), pe)))                                   \
            *fetch = amo_##NAME##_fetch(call, source, pe);                                         \
        else                                                                                       \
            shmemi_amo_nbi_net(call,                                                               \
                               (struct shmemi_amo){(void *)(uintptr_t)source, sizeof(T),           \
                                                   SKUA_ATOMIC_LOAD, NULL, pe},                    \
                               fetch);                                                             \
    }                                                                                              \
    static inline void amo_##NAME##_set(const char *call, T *dest, T value, int pe)                \
    {                                                                                              \
        T *at = shmemi_direct(dest, sizeof(T), pe);                                                \
                                                                                                   \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0))                                   \
            __atomic_store(at, &value, __ATOMIC_SEQ_CST);                                          \
        else                                                                                       \
            shmemi_amo_nbi_net(                                                                    \
                call, (struct shmemi_amo){dest, sizeof(T), SKUA_ATOMIC_STORE, &value, pe}, NULL);  \
    }                                                                                              \
    static inline T amo_##NAME##_swap(const char *call, T *dest, T value, int pe)                  \
    {                                                                                              \
        T *at = shmemi_direct(dest, sizeof(T), pe);                                                \
        T  old;                                                                                    \
                                                                                                   \
        shmemi_wait_poll();                                                                        \
        if (SHMEMI_LIKELY(at && (uintptr_t)at % sizeof(T) == 0))                                   \
            __atomic_exchange(at, &value, &old, __ATOMIC_SEQ_CST);                                 \
        else                                                                                       \
            shmemi_amo_net(                                                                        \
                call, (struct shmemi_amo){dest, sizeof(T), SKUA_ATOMIC_SWAP, &value, pe}, &old);   \
        return old;                                                                                \
    }                                                                                              \
    static inline void amo_##NAME##_swap_nbi(const char *call, T *fetch, T *dest, T value, int pe) \
    {                                                                                              \
        if (SHMEMI_LIKELY(shmemi_direct(dest, sizeof(T), pe)))                                     \
            *fetch = amo_##NAME##_swap(call, dest, value, pe);                                     \
        else                                                                                       \
            shmemi_amo_nbi_net(                                                                    \
                call, (struct shmemi_amo){dest, sizeof(T), SKUA_ATOMIC_SWAP, &value, pe}, fetch);  \
    }                                                                                              \
    T shmem_##NAME##_atomic_fetch(const T *source, int pe)                                         \
    {                                                                                              \
        return amo_##NAME##_fetch(__func__, source, pe);                                           \
    }                                                                                              \
    T shmem_ctx_##NAME##_atomic_fetch(shmem_ctx_t ctx, const T *source, int pe)                    \
    {                                                                                              \
        return amo_##NAME##_fetch(__func__, source, shmemi_ctx_pe(__func__, ctx, pe));             \
    }                                                                                              \
    T shmem_##NAME##_fetch(const T *source, int pe)                                                \
    {                                                                                              \
        return amo_##NAME##_fetch(__func__, source, pe);                                           \
    }                                                                                              \
    void shmem_##NAME##_atomic_fetch_nbi(T *fetch, const T *source, int pe)                        \
    {                                                                                              \
        amo_##NAME##_fetch_nbi(__func__, fetch, source, pe);                                       \
    }                                                                                              \
    void shmem_ctx_##NAME##_atomic_fetch_nbi(shmem_ctx_t ctx, T *fetch, const T *source, int pe)   \
    {                                                                                              \
        amo_##NAME##_fetch_nbi(__func__, fetch, source, shmemi_ctx_pe(__func__, ctx, pe));         \
    }                                                                                              \
    void shmem_##NAME##_atomic_set(T *dest, T value, int pe)                                       \
    {                                                                                              \
        amo_##NAME##_set(__func__, dest, value, pe);                                               \
    }                                                                                              \
    void shmem_ctx_##NAME##_atomic_set(shmem_ctx_t ctx, T *dest, T value, int pe)                  \
    {                                                                                              \
        amo_##NAME##_set(__func__, dest, value, shmemi_ctx_pe(__func__, ctx, pe));                 \
    }                                                                                              \
    void shmem_##NAME##_set(T *dest, T value, int pe)                                              \
    {                                                                                              \
        amo_##NAME##_set(__func__, dest, value, pe);                                               \
    }                                                                                              \
    AMO_FETCH(NAME, T, atomic_swap, swap)                                                          \
    T shmem_##NAME##_swap(T *dest, T value, int pe)                                                \
    {                                                                                              \
        return amo_##NAME##_swap(__func__, dest, value, pe);                                       \
    }
SHMEM_AMO_EXTENDED_TYPES(AMO_EXTENDED, )
