/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_cxx.h - the generic names of OpenSHMEM in C++: functions that are overloaded for the types
 * of the typed routines, with a context and without. shmem.h includes this file.
 */
#ifndef SHMEM_CXX_H
#define SHMEM_CXX_H

/* An overload `name` with the parameters `params` that calls shmem_NAME_name, and one with a
 * context. `args` are the names of the parameters; `give` is `return` or empty. */
#define SHMEM_OVERLOAD(give, result, NAME, name, params, args)                                     \
    static inline result shmem_##name params                                                       \
    {                                                                                              \
        give shmem_##NAME##_##name args;                                                           \
    }
#define SHMEM_OVERLOAD_CTX(give, result, NAME, name, params, args)                                 \
    static inline result shmem_##name SHMEM_WITH_CTX params                                        \
    {                                                                                              \
        give shmem_ctx_##NAME##_##name SHMEM_PASS_CTX args;                                        \
    }                                                                                              \
    SHMEM_OVERLOAD(give, result, NAME, name, params, args)
#define SHMEM_WITH_CTX(...) (shmem_ctx_t ctx, __VA_ARGS__)
#define SHMEM_PASS_CTX(...) (ctx, __VA_ARGS__)

/* ---- put and get -------------------------------------------------------- */

#define SHMEM_OVERLOAD_RMA(NAME, T, ...)                                                           \
    SHMEM_OVERLOAD_CTX(, void, NAME, put, (T * to, const T *from, size_t n, int pe),               \
                       (to, from, n, pe))                                                          \
    SHMEM_OVERLOAD_CTX(, void, NAME, get, (T * to, const T *from, size_t n, int pe),               \
                       (to, from, n, pe))                                                          \
    SHMEM_OVERLOAD_CTX(, void, NAME, put_nbi, (T * to, const T *from, size_t n, int pe),           \
                       (to, from, n, pe))                                                          \
    SHMEM_OVERLOAD_CTX(, void, NAME, get_nbi, (T * to, const T *from, size_t n, int pe),           \
                       (to, from, n, pe))                                                          \
    SHMEM_OVERLOAD_CTX(, void, NAME, iput,                                                         \
                       (T * to, const T *from, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe),    \
                       (to, from, dst, sst, n, pe))                                                \
    SHMEM_OVERLOAD_CTX(, void, NAME, iget,                                                         \
                       (T * to, const T *from, ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe),    \
                       (to, from, dst, sst, n, pe))                                                \
    SHMEM_OVERLOAD_CTX(, void, NAME, p, (T * to, T value, int pe), (to, value, pe))                \
    SHMEM_OVERLOAD_CTX(return, T, NAME, g, (const T *from, int pe), (from, pe))                    \
    SHMEM_OVERLOAD_CTX(                                                                            \
        , void, NAME, put_signal,                                                                  \
        (T * to, const T *from, size_t n, uint64_t *sig, uint64_t signal, int op, int pe),         \
        (to, from, n, sig, signal, op, pe))                                                        \
    SHMEM_OVERLOAD_CTX(                                                                            \
        , void, NAME, put_signal_nbi,                                                              \
        (T * to, const T *from, size_t n, uint64_t *sig, uint64_t signal, int op, int pe),         \
        (to, from, n, sig, signal, op, pe))
SHMEM_RMA_TYPES_DISTINCT(SHMEM_OVERLOAD_RMA, )

/* ---- atomics ------------------------------------------------------------ */

#define SHMEM_OVERLOAD_AMO(NAME, T, ...)                                                           \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_add, (T * at, T value, int pe), (at, value, pe))       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_inc, (T * at, int pe), (at, pe))                       \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch_add, (T * at, T value, int pe),               \
                             (at, value, pe))                                                      \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch_inc, (T * at, int pe), (at, pe))              \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_compare_swap, (T * at, T cond, T value, int pe),    \
                             (at, cond, value, pe))                                                \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_add_nbi, (T * old, T * at, T value, int pe),     \
                       (old, at, value, pe))                                                       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_inc_nbi, (T * old, T * at, int pe),              \
                       (old, at, pe))                                                              \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_compare_swap_nbi,                                      \
                       (T * old, T * at, T cond, T value, int pe), (old, at, cond, value, pe))     \
    SHMEM_OVERLOAD(, void, NAME, add, (T * at, T value, int pe), (at, value, pe))                  \
    SHMEM_OVERLOAD(, void, NAME, inc, (T * at, int pe), (at, pe))                                  \
    SHMEM_OVERLOAD(return, T, NAME, fadd, (T * at, T value, int pe), (at, value, pe))              \
    SHMEM_OVERLOAD(return, T, NAME, finc, (T * at, int pe), (at, pe))                              \
    SHMEM_OVERLOAD(return, T, NAME, cswap, (T * at, T cond, T value, int pe), (at, cond, value, pe))
SHMEM_AMO_TYPES_DISTINCT(SHMEM_OVERLOAD_AMO, )

#define SHMEM_OVERLOAD_EXTENDED(NAME, T, ...)                                                      \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch, (const T *at, int pe), (at, pe))             \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_set, (T * at, T value, int pe), (at, value, pe))       \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_swap, (T * at, T value, int pe), (at, value, pe))   \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_nbi, (T * old, const T *at, int pe),             \
                       (old, at, pe))                                                              \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_swap_nbi, (T * old, T * at, T value, int pe),          \
                       (old, at, value, pe))                                                       \
    SHMEM_OVERLOAD(return, T, NAME, fetch, (const T *at, int pe), (at, pe))                        \
    SHMEM_OVERLOAD(, void, NAME, set, (T * at, T value, int pe), (at, value, pe))                  \
    SHMEM_OVERLOAD(return, T, NAME, swap, (T * at, T value, int pe), (at, value, pe))
SHMEM_AMO_EXTENDED_TYPES_DISTINCT(SHMEM_OVERLOAD_EXTENDED, )

#define SHMEM_OVERLOAD_BITWISE(NAME, T, ...)                                                       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_and, (T * at, T value, int pe), (at, value, pe))       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_or, (T * at, T value, int pe), (at, value, pe))        \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_xor, (T * at, T value, int pe), (at, value, pe))       \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch_and, (T * at, T value, int pe),               \
                             (at, value, pe))                                                      \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch_or, (T * at, T value, int pe),                \
                             (at, value, pe))                                                      \
    SHMEM_OVERLOAD_CTX(return, T, NAME, atomic_fetch_xor, (T * at, T value, int pe),               \
                             (at, value, pe))                                                      \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_and_nbi, (T * old, T * at, T value, int pe),     \
                       (old, at, value, pe))                                                       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_or_nbi, (T * old, T * at, T value, int pe),      \
                       (old, at, value, pe))                                                       \
    SHMEM_OVERLOAD_CTX(, void, NAME, atomic_fetch_xor_nbi, (T * old, T * at, T value, int pe),     \
                       (old, at, value, pe))
SHMEM_AMO_BITWISE_TYPES_DISTINCT(SHMEM_OVERLOAD_BITWISE, )

/* ---- waits and tests ---------------------------------------------------- */

/* V is `T` or, in the vector forms, `T *`. */
#define SHMEM_OVERLOAD_SYNC_SET(NAME, T, suffix, V)                                                \
    SHMEM_OVERLOAD(, void, NAME, wait_until_all##suffix,                                           \
                   (T * ivars, size_t n, const int *status, int cmp, V value),                     \
                   (ivars, n, status, cmp, value))                                                 \
    SHMEM_OVERLOAD(return, size_t, NAME, wait_until_any##suffix,                                   \
                         (T * ivars, size_t n, const int *status, int cmp, V value),               \
                         (ivars, n, status, cmp, value))                                           \
    SHMEM_OVERLOAD(                                                                                \
        return, size_t, NAME, wait_until_some##suffix,                                             \
              (T * ivars, size_t n, size_t * indices, const int *status, int cmp, V value),        \
              (ivars, n, indices, status, cmp, value))                                             \
    SHMEM_OVERLOAD(return, int, NAME, test_all##suffix,                                            \
                         (T * ivars, size_t n, const int *status, int cmp, V value),               \
                         (ivars, n, status, cmp, value))                                           \
    SHMEM_OVERLOAD(return, size_t, NAME, test_any##suffix,                                         \
                         (T * ivars, size_t n, const int *status, int cmp, V value),               \
                         (ivars, n, status, cmp, value))                                           \
    SHMEM_OVERLOAD(                                                                                \
        return, size_t, NAME, test_some##suffix,                                                   \
              (T * ivars, size_t n, size_t * indices, const int *status, int cmp, V value),        \
              (ivars, n, indices, status, cmp, value))
#define SHMEM_OVERLOAD_SYNC(NAME, T, ...)                                                          \
    SHMEM_OVERLOAD(return, int, NAME, test, (T * ivar, int cmp, T value), (ivar, cmp, value))      \
    SHMEM_OVERLOAD_SYNC_SET(NAME, T, , T)                                                          \
    SHMEM_OVERLOAD_SYNC_SET(NAME, T, _vector, T *)
SHMEM_SYNC_TYPES_DISTINCT(SHMEM_OVERLOAD_SYNC, )

/* shmem_wait_until() of long is the deprecated function of shmem.h. */
#define SHMEM_OVERLOAD_WAIT(NAME, T, ...)                                                          \
    SHMEM_OVERLOAD(, void, NAME, wait_until, (T * ivar, int cmp, T value), (ivar, cmp, value))
SHMEM_OVERLOAD_WAIT(int, int, )
SHMEM_OVERLOAD_WAIT(longlong, long long, )
SHMEM_OVERLOAD_WAIT(short, short, )
SHMEM_OVERLOAD_WAIT(ushort, unsigned short, )
SHMEM_INTEGERS_UNSIGNED(SHMEM_OVERLOAD_WAIT, )

/* ---- collectives -------------------------------------------------------- */

#define SHMEM_OVERLOAD_COLLECTIVE(NAME, T, ...)                                                    \
    SHMEM_OVERLOAD(return, int, NAME, broadcast,                                                   \
                         (shmem_team_t team, T * to, const T *from, size_t n, int root),           \
                         (team, to, from, n, root))                                                \
    SHMEM_OVERLOAD(return, int, NAME, collect,                                                     \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))                                                      \
    SHMEM_OVERLOAD(return, int, NAME, fcollect,                                                    \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))                                                      \
    SHMEM_OVERLOAD(return, int, NAME, alltoall,                                                    \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))                                                      \
    SHMEM_OVERLOAD(                                                                                \
        return, int, NAME, alltoalls,                                                              \
              (shmem_team_t team, T * to, const T *from, ptrdiff_t dst, ptrdiff_t sst, size_t n),  \
              (team, to, from, dst, sst, n))
SHMEM_RMA_TYPES_DISTINCT(SHMEM_OVERLOAD_COLLECTIVE, )

#define SHMEM_OVERLOAD_REDUCE_TYPE(NAME, T, op)                                                    \
    SHMEM_OVERLOAD(return, int, NAME, op##_reduce,                                                 \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))
/* `and`, `or` and `xor` are operators in C++, so the names are written out. */
#define SHMEM_OVERLOAD_BIT_REDUCE(NAME, T, ...)                                                    \
    SHMEM_OVERLOAD(return, int, NAME, and_reduce,                                                  \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))                                                      \
    SHMEM_OVERLOAD(return, int, NAME, or_reduce,                                                   \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))                                                      \
    SHMEM_OVERLOAD(return, int, NAME, xor_reduce,                                                  \
                         (shmem_team_t team, T * to, const T *from, size_t n),                     \
                         (team, to, from, n))
SHMEM_REDUCE_BITWISE_TYPES_DISTINCT(SHMEM_OVERLOAD_BIT_REDUCE, )
SHMEM_REDUCE_MINMAX_TYPES_DISTINCT(SHMEM_OVERLOAD_REDUCE_TYPE, max)
SHMEM_REDUCE_MINMAX_TYPES_DISTINCT(SHMEM_OVERLOAD_REDUCE_TYPE, min)
SHMEM_REDUCE_SUM_TYPES_DISTINCT(SHMEM_OVERLOAD_REDUCE_TYPE, sum)
SHMEM_REDUCE_SUM_TYPES_DISTINCT(SHMEM_OVERLOAD_REDUCE_TYPE, prod)

static inline int shmem_sync(shmem_team_t team)
{
    return shmem_team_sync(team);
}

#endif
