/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem_generic.h - the generic names of OpenSHMEM in C11: macros that select a typed routine by
 * the type of a pointer argument. A routine with an optional context is selected by its first
 * argument or, after a context, by its second. shmem.h includes this file.
 *
 * The result of a selection is a function, so that a call with wrong arguments gets the compiler's
 * message about the typed routine. A type without a routine selects a function that takes no
 * arguments and whose name says so.
 */
#ifndef SHMEM_GENERIC_H
#define SHMEM_GENERIC_H

/** The function that a call selects if OpenSHMEM has no such routine for the type; it is never
 *  defined. */
void shmem_no_routine_for_this_type(void);

#define SHMEM_ARG0(...)          SHMEM_ARG0_OF(__VA_ARGS__, 0)
#define SHMEM_ARG0_OF(a, ...)    a
#define SHMEM_ARG1(...)          SHMEM_ARG1_OF(__VA_ARGS__, 0, 0)
#define SHMEM_ARG1_OF(a, b, ...) b

#define SHMEM_CASE(NAME, T, before, after)                                                         \
    T * : before##NAME##after, const T * : before##NAME##after, volatile T * : before##NAME##after,

#define SHMEM_SELECT(TYPES, arg, before, after)                                                    \
    _Generic((arg), TYPES(SHMEM_CASE, before, after) default : shmem_no_routine_for_this_type)

#define SHMEM_CALL_CTX(TYPES, after, ...)                                                          \
    _Generic((SHMEM_ARG0(__VA_ARGS__)), shmem_ctx_t                                                \
             : SHMEM_SELECT(TYPES, SHMEM_ARG1(__VA_ARGS__), shmem_ctx_, after), default            \
             : SHMEM_SELECT(TYPES, SHMEM_ARG0(__VA_ARGS__), shmem_, after))(__VA_ARGS__)

#define SHMEM_CALL(TYPES, after, ...)                                                              \
    SHMEM_SELECT(TYPES, SHMEM_ARG0(__VA_ARGS__), shmem_, after)(__VA_ARGS__)

#define SHMEM_CALL_TEAM(TYPES, after, ...)                                                         \
    SHMEM_SELECT(TYPES, SHMEM_ARG1(__VA_ARGS__), shmem_, after)(__VA_ARGS__)

/* ---- put and get -------------------------------------------------------- */

#define shmem_put(...)        SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _put, __VA_ARGS__)
#define shmem_get(...)        SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _get, __VA_ARGS__)
#define shmem_put_nbi(...)    SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...)    SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _get_nbi, __VA_ARGS__)
#define shmem_iput(...)       SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _iput, __VA_ARGS__)
#define shmem_iget(...)       SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _iget, __VA_ARGS__)
#define shmem_p(...)          SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _p, __VA_ARGS__)
#define shmem_g(...)          SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _g, __VA_ARGS__)
#define shmem_put_signal(...) SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...)                                                                  \
    SHMEM_CALL_CTX(SHMEM_RMA_TYPES_DISTINCT, _put_signal_nbi, __VA_ARGS__)

/* ---- atomics ------------------------------------------------------------ */

#define SHMEM_CALL_AMO(after, ...) SHMEM_CALL_CTX(SHMEM_AMO_TYPES_DISTINCT, after, __VA_ARGS__)
#define SHMEM_CALL_EXTENDED(after, ...)                                                            \
    SHMEM_CALL_CTX(SHMEM_AMO_EXTENDED_TYPES_DISTINCT, after, __VA_ARGS__)
#define SHMEM_CALL_BITWISE(after, ...)                                                             \
    SHMEM_CALL_CTX(SHMEM_AMO_BITWISE_TYPES_DISTINCT, after, __VA_ARGS__)

#define shmem_atomic_add(...)              SHMEM_CALL_AMO(_atomic_add, __VA_ARGS__)
#define shmem_atomic_inc(...)              SHMEM_CALL_AMO(_atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)        SHMEM_CALL_AMO(_atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)        SHMEM_CALL_AMO(_atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)     SHMEM_CALL_AMO(_atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)    SHMEM_CALL_AMO(_atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)    SHMEM_CALL_AMO(_atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEM_CALL_AMO(_atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch(...)            SHMEM_CALL_EXTENDED(_atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)              SHMEM_CALL_EXTENDED(_atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)             SHMEM_CALL_EXTENDED(_atomic_swap, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)        SHMEM_CALL_EXTENDED(_atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)         SHMEM_CALL_EXTENDED(_atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_and(...)              SHMEM_CALL_BITWISE(_atomic_and, __VA_ARGS__)
#define shmem_atomic_or(...)               SHMEM_CALL_BITWISE(_atomic_or, __VA_ARGS__)
#define shmem_atomic_xor(...)              SHMEM_CALL_BITWISE(_atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)        SHMEM_CALL_BITWISE(_atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)         SHMEM_CALL_BITWISE(_atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)        SHMEM_CALL_BITWISE(_atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)    SHMEM_CALL_BITWISE(_atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)     SHMEM_CALL_BITWISE(_atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)    SHMEM_CALL_BITWISE(_atomic_fetch_xor_nbi, __VA_ARGS__)

/* The deprecated names. */
#define shmem_add(...)   SHMEM_CALL(SHMEM_AMO_TYPES_DISTINCT, _add, __VA_ARGS__)
#define shmem_inc(...)   SHMEM_CALL(SHMEM_AMO_TYPES_DISTINCT, _inc, __VA_ARGS__)
#define shmem_fadd(...)  SHMEM_CALL(SHMEM_AMO_TYPES_DISTINCT, _fadd, __VA_ARGS__)
#define shmem_finc(...)  SHMEM_CALL(SHMEM_AMO_TYPES_DISTINCT, _finc, __VA_ARGS__)
#define shmem_cswap(...) SHMEM_CALL(SHMEM_AMO_TYPES_DISTINCT, _cswap, __VA_ARGS__)
#define shmem_fetch(...) SHMEM_CALL(SHMEM_AMO_EXTENDED_TYPES_DISTINCT, _fetch, __VA_ARGS__)
#define shmem_set(...)   SHMEM_CALL(SHMEM_AMO_EXTENDED_TYPES_DISTINCT, _set, __VA_ARGS__)
#define shmem_swap(...)  SHMEM_CALL(SHMEM_AMO_EXTENDED_TYPES_DISTINCT, _swap, __VA_ARGS__)

/* ---- waits and tests ---------------------------------------------------- */

#define SHMEM_CALL_SYNC(after, ...) SHMEM_CALL(SHMEM_SYNC_TYPES_DISTINCT, after, __VA_ARGS__)

#define shmem_wait_until(...)             SHMEM_CALL_SYNC(_wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...)         SHMEM_CALL_SYNC(_wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)         SHMEM_CALL_SYNC(_wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)        SHMEM_CALL_SYNC(_wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)  SHMEM_CALL_SYNC(_wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)  SHMEM_CALL_SYNC(_wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEM_CALL_SYNC(_wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...)                   SHMEM_CALL_SYNC(_test, __VA_ARGS__)
#define shmem_test_all(...)               SHMEM_CALL_SYNC(_test_all, __VA_ARGS__)
#define shmem_test_any(...)               SHMEM_CALL_SYNC(_test_any, __VA_ARGS__)
#define shmem_test_some(...)              SHMEM_CALL_SYNC(_test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)        SHMEM_CALL_SYNC(_test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)        SHMEM_CALL_SYNC(_test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)       SHMEM_CALL_SYNC(_test_some_vector, __VA_ARGS__)

/* ---- collectives -------------------------------------------------------- */

#define shmem_broadcast(...) SHMEM_CALL_TEAM(SHMEM_RMA_TYPES_DISTINCT, _broadcast, __VA_ARGS__)
#define shmem_collect(...)   SHMEM_CALL_TEAM(SHMEM_RMA_TYPES_DISTINCT, _collect, __VA_ARGS__)
#define shmem_fcollect(...)  SHMEM_CALL_TEAM(SHMEM_RMA_TYPES_DISTINCT, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...)  SHMEM_CALL_TEAM(SHMEM_RMA_TYPES_DISTINCT, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEM_CALL_TEAM(SHMEM_RMA_TYPES_DISTINCT, _alltoalls, __VA_ARGS__)

#define SHMEM_CALL_BIT_REDUCE(after, ...)                                                          \
    SHMEM_CALL_TEAM(SHMEM_REDUCE_BITWISE_TYPES_DISTINCT, after, __VA_ARGS__)
#define shmem_and_reduce(...) SHMEM_CALL_BIT_REDUCE(_and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)  SHMEM_CALL_BIT_REDUCE(_or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHMEM_CALL_BIT_REDUCE(_xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)                                                                      \
    SHMEM_CALL_TEAM(SHMEM_REDUCE_MINMAX_TYPES_DISTINCT, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)                                                                      \
    SHMEM_CALL_TEAM(SHMEM_REDUCE_MINMAX_TYPES_DISTINCT, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)                                                                      \
    SHMEM_CALL_TEAM(SHMEM_REDUCE_SUM_TYPES_DISTINCT, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...)                                                                     \
    SHMEM_CALL_TEAM(SHMEM_REDUCE_SUM_TYPES_DISTINCT, _prod_reduce, __VA_ARGS__)

/* shmem_sync() of a team, or of an active set. */
#define shmem_sync(...)                                                                            \
    _Generic((SHMEM_ARG0(__VA_ARGS__)), shmem_team_t                                               \
             : shmem_team_sync, default                                                            \
             : shmem_sync)(__VA_ARGS__)

#endif
