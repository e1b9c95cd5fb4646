/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shmem.h - OpenSHMEM 1.5 on Skua.
 *
 * The library has every routine of the standard, including deprecated ones, with the standard's
 * meaning. Choices of the implementation are stated here; docs/guide/openshmem.md explains how
 * programs are built and run.
 *
 * - A PE is a process. The thread that calls shmem_init() also calls shmem_finalize().
 * - Symmetric memory is the heap (shmem_malloc()) and the global and static variables of the
 *   executable, not those of shared libraries. A put, get or atomic outside of it ends the job with
 *   a message that names the call; with SHMEM_DEBUG in the environment, so does an access that
 *   leaves the allocation in which it begins.
 * - A put is complete at the target when shmem_quiet() returns; between PEs of one host, when the
 *   put returns.
 * - pSync and pWrk arguments are accepted and not used.
 * - In C11 the generic names (shmem_put(), shmem_atomic_add(), ...) select by the type of an
 *   argument; in C++ they are overloaded functions.
 */
#ifndef SHMEM_H
#define SHMEM_H

#include <stddef.h>
#include <stdint.h>

#include "shmem_types.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- constants ---------------------------------------------------------- */

#define SHMEM_MAJOR_VERSION 1
#define SHMEM_MINOR_VERSION 5
#define SHMEM_MAX_NAME_LEN  64
#define SHMEM_VENDOR_STRING "Skua OpenSHMEM"

#define SHMEM_THREAD_SINGLE     0
#define SHMEM_THREAD_FUNNELED   1
#define SHMEM_THREAD_SERIALIZED 2
#define SHMEM_THREAD_MULTIPLE   3

#define SHMEM_CMP_EQ 0
#define SHMEM_CMP_NE 1
#define SHMEM_CMP_GT 2
#define SHMEM_CMP_GE 3
#define SHMEM_CMP_LT 4
#define SHMEM_CMP_LE 5

#define SHMEM_SIGNAL_SET 0
#define SHMEM_SIGNAL_ADD 1

#define SHMEM_CTX_PRIVATE    (1L << 0)
#define SHMEM_CTX_SERIALIZED (1L << 1)
#define SHMEM_CTX_NOSTORE    (1L << 2)

#define SHMEM_MALLOC_ATOMICS_REMOTE (1L << 0)
#define SHMEM_MALLOC_SIGNAL_REMOTE  (1L << 1)

#define SHMEM_TEAM_NUM_CONTEXTS (1L << 0)

#define SHMEM_SYNC_VALUE              0L
#define SHMEM_SYNC_SIZE               2
#define SHMEM_BARRIER_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_BCAST_SYNC_SIZE         SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_SYNC_SIZE        SHMEM_SYNC_SIZE
#define SHMEM_COLLECT_SYNC_SIZE       SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_SYNC_SIZE
#define SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_SYNC_SIZE
#define SHMEM_REDUCE_MIN_WRKDATA_SIZE 1

/* The deprecated names of constants. */
#define _SHMEM_MAJOR_VERSION           SHMEM_MAJOR_VERSION
#define _SHMEM_MINOR_VERSION           SHMEM_MINOR_VERSION
#define _SHMEM_MAX_NAME_LEN            SHMEM_MAX_NAME_LEN
#define _SHMEM_VENDOR_STRING           SHMEM_VENDOR_STRING
#define _SHMEM_CMP_EQ                  SHMEM_CMP_EQ
#define _SHMEM_CMP_NE                  SHMEM_CMP_NE
#define _SHMEM_CMP_GT                  SHMEM_CMP_GT
#define _SHMEM_CMP_GE                  SHMEM_CMP_GE
#define _SHMEM_CMP_LT                  SHMEM_CMP_LT
#define _SHMEM_CMP_LE                  SHMEM_CMP_LE
#define _SHMEM_SYNC_VALUE              SHMEM_SYNC_VALUE
#define _SHMEM_BARRIER_SYNC_SIZE       SHMEM_BARRIER_SYNC_SIZE
#define _SHMEM_BCAST_SYNC_SIZE         SHMEM_BCAST_SYNC_SIZE
#define _SHMEM_REDUCE_SYNC_SIZE        SHMEM_REDUCE_SYNC_SIZE
#define _SHMEM_COLLECT_SYNC_SIZE       SHMEM_COLLECT_SYNC_SIZE
#define _SHMEM_ALLTOALL_SYNC_SIZE      SHMEM_ALLTOALL_SYNC_SIZE
#define _SHMEM_ALLTOALLS_SYNC_SIZE     SHMEM_ALLTOALLS_SYNC_SIZE
#define _SHMEM_REDUCE_MIN_WRKDATA_SIZE SHMEM_REDUCE_MIN_WRKDATA_SIZE

/* ---- handles ------------------------------------------------------------ */

/** A communication context. */
typedef struct shmem_ctx_handle *shmem_ctx_t;

/** A team: an ordered set of PEs. */
typedef struct shmem_team_handle *shmem_team_t;

/** The parameters of a new team. */
typedef struct {
    int num_contexts; /* contexts that may exist at once; used with SHMEM_TEAM_NUM_CONTEXTS */
} shmem_team_config_t;

#define SHMEM_CTX_INVALID  ((shmem_ctx_t)0)
#define SHMEM_CTX_DEFAULT  ((shmem_ctx_t)1)
#define SHMEM_TEAM_INVALID ((shmem_team_t)0)
#define SHMEM_TEAM_WORLD   ((shmem_team_t)1)
#define SHMEM_TEAM_SHARED  ((shmem_team_t)2)

/* ---- setup, queries ----------------------------------------------------- */

/** Starts OpenSHMEM with SHMEM_THREAD_SINGLE. Collective. */
void shmem_init(void);

/** Starts OpenSHMEM with the thread level @p requested, which is stored in *provided: every level
 *  is supported. Collective. Returns 0. */
int shmem_init_thread(int requested, int *provided);

/** Stores the thread level that OpenSHMEM was started with in *provided. */
void shmem_query_thread(int *provided);

/** Ends OpenSHMEM: completes all communication and releases symmetric memory. Collective. */
void shmem_finalize(void);

/** Ends all PEs of the job with the exit code @p status. */
void shmem_global_exit(int status) __attribute__((noreturn));

/** Returns the number of the calling PE. */
int shmem_my_pe(void);

/** Returns the number of PEs. */
int shmem_n_pes(void);

/** Returns 1 if @p pe exists, and therefore can be accessed, and 0 if not. */
int shmem_pe_accessible(int pe);

/** Returns 1 if @p addr is a symmetric address that exists on @p pe, and 0 if not. */
int shmem_addr_accessible(const void *addr, int pe);

/** Returns an address at which the caller can load and store the object @p dest of @p pe, or
 *  NULL. */
void *shmem_ptr(const void *dest, int pe);

/** Stores the version of the standard in *major and *minor. */
void shmem_info_get_version(int *major, int *minor);

/** Stores the name of this library, at most SHMEM_MAX_NAME_LEN characters, at @p name. */
void shmem_info_get_name(char *name);

/** Sets the level of a profiling tool that replaces this function; without a tool it has no
 *  effect. */
void shmem_pcontrol(int level, ...);

/** Starts OpenSHMEM; @p npes is ignored. Deprecated: shmem_init(). */
void start_pes(int npes);

/** Returns the number of the calling PE. Deprecated: shmem_my_pe(). */
int _my_pe(void);

/** Returns the number of PEs. Deprecated: shmem_n_pes(). */
int _num_pes(void);

/* ---- memory ------------------------------------------------------------- */

/** Allocates @p size bytes of symmetric memory. Collective, with a barrier at its end. Returns NULL
 *  if @p size is 0 or the heap (SHMEM_SYMMETRIC_SIZE) is too full. */
void *shmem_malloc(size_t size);

/** Allocates @p size bytes as shmem_malloc() does. @p hints, of SHMEM_MALLOC_..., describe the use
 *  of the memory. */
void *shmem_malloc_with_hints(size_t size, long hints);

/** Allocates @p count elements of @p size bytes of zeroed symmetric memory, as shmem_malloc()
 *  does. */
void *shmem_calloc(size_t count, size_t size);

/** Allocates @p size bytes at a multiple of @p alignment, a power of two, as shmem_malloc()
 *  does. */
void *shmem_align(size_t alignment, size_t size);

/** Changes the size of the allocation @p ptr and returns its new address; its contents are kept up
 *  to the smaller size. Collective. Returns NULL, and leaves the allocation unchanged, if the heap
 *  is too full. */
void *shmem_realloc(void *ptr, size_t size);

/** Frees the allocation @p ptr; NULL has no effect. Collective, with a barrier at its beginning. An
 *  address that is not an allocation ends the job. */
void shmem_free(void *ptr);

/** The deprecated names of the calls above. */
void *shmalloc(size_t size);
void *shmemalign(size_t alignment, size_t size);
void *shrealloc(void *ptr, size_t size);
void  shfree(void *ptr);

/* ---- teams and contexts ------------------------------------------------- */

/** Returns the number of the calling PE in @p team, or -1 if it is not a member. */
int shmem_team_my_pe(shmem_team_t team);

/** Returns the number of PEs of @p team, or -1 for SHMEM_TEAM_INVALID. */
int shmem_team_n_pes(shmem_team_t team);

/** Stores the parameters of @p team in *config. Returns 0, or nonzero for SHMEM_TEAM_INVALID. */
int shmem_team_get_config(shmem_team_t team, long config_mask, shmem_team_config_t *config);

/** Returns the number in @p dest_team of PE @p src_pe of @p src_team, or -1 if it is not a
 *  member. */
int shmem_team_translate_pe(shmem_team_t src_team, int src_pe, shmem_team_t dest_team);

/** Creates a team of @p size PEs of @p parent_team: @p start and every @p stride-th from there.
 *  Collective over @p parent_team. Returns 0, or nonzero on all PEs if there is no such team. */
int shmem_team_split_strided(shmem_team_t parent_team, int start, int stride, int size,
                             const shmem_team_config_t *config, long config_mask,
                             shmem_team_t *new_team);

/** Creates the teams of the row and of the column of the calling PE, in @p parent_team arranged in
 *  rows of @p xrange PEs. Collective over @p parent_team. Returns 0, or nonzero on all PEs. */
int shmem_team_split_2d(shmem_team_t parent_team, int xrange,
                        const shmem_team_config_t *xaxis_config, long xaxis_mask,
                        shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config,
                        long yaxis_mask, shmem_team_t *yaxis_team);

/** Destroys @p team and the contexts that were created from it. Collective over its members. */
void shmem_team_destroy(shmem_team_t team);

/** Creates a context with @p options, of SHMEM_CTX_.... Returns 0, or nonzero. */
int shmem_ctx_create(long options, shmem_ctx_t *ctx);

/** Creates a context in which PEs have their numbers in @p team. Returns 0, or nonzero. */
int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx);

/** Stores the team of @p ctx in *team. Returns 0, or nonzero for SHMEM_CTX_INVALID. */
int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team);

/** Completes the operations of @p ctx and destroys it. */
void shmem_ctx_destroy(shmem_ctx_t ctx);

/* ---- order -------------------------------------------------------------- */

/** Orders the caller's puts, atomics and stores to each PE: those before the call take effect
 *  before those after it. */
void shmem_fence(void);

/** Orders the operations of @p ctx as shmem_fence() does. */
void shmem_ctx_fence(shmem_ctx_t ctx);

/** Waits until the caller's puts, atomics, stores and non-blocking gets are complete. */
void shmem_quiet(void);

/** Waits for the operations of @p ctx as shmem_quiet() does. */
void shmem_ctx_quiet(shmem_ctx_t ctx);

/* ---- put and get -------------------------------------------------------- */

/* A routine `shmem_name` and its form with a context, `shmem_ctx_name`. */
#define SHMEM_DECLARE(result, name, ...)                                                           \
    result shmem_##name(__VA_ARGS__);                                                              \
    result shmem_ctx_##name(shmem_ctx_t ctx, __VA_ARGS__);

/* The contiguous transfers of one kind of element. */
#define SHMEM_DECLARE_TRANSFERS(put, get, suffix, T)                                               \
    SHMEM_DECLARE(void, put##suffix, T *dest, const T *source, size_t nelems, int pe)              \
    SHMEM_DECLARE(void, get##suffix, T *dest, const T *source, size_t nelems, int pe)              \
    SHMEM_DECLARE(void, put##suffix##_nbi, T *dest, const T *source, size_t nelems, int pe)        \
    SHMEM_DECLARE(void, get##suffix##_nbi, T *dest, const T *source, size_t nelems, int pe)        \
    SHMEM_DECLARE(void, put##suffix##_signal, T *dest, const T *source, size_t nelems,             \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                         \
    SHMEM_DECLARE(void, put##suffix##_signal_nbi, T *dest, const T *source, size_t nelems,         \
                  uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)

/* The strided transfers: element i is dst * i, and sst * i, elements after the first. */
#define SHMEM_DECLARE_STRIDED(put, get, suffix, T)                                                 \
    SHMEM_DECLARE(void, put##suffix, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
                  size_t nelems, int pe)                                                           \
    SHMEM_DECLARE(void, get##suffix, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,       \
                  size_t nelems, int pe)

#define SHMEM_DECLARE_TYPE(NAME, T, ...)                                                           \
    SHMEM_DECLARE_TRANSFERS(NAME##_put, NAME##_get, , T)                                           \
    SHMEM_DECLARE_STRIDED(NAME##_iput, NAME##_iget, , T)                                           \
    SHMEM_DECLARE(void, NAME##_p, T *dest, T value, int pe)                                        \
    SHMEM_DECLARE(T, NAME##_g, const T *source, int pe)
SHMEM_RMA_TYPES(SHMEM_DECLARE_TYPE, )

#define SHMEM_DECLARE_SIZE(BITS, ...)                                                              \
    SHMEM_DECLARE_TRANSFERS(put, get, BITS, void)                                                  \
    SHMEM_DECLARE_STRIDED(iput, iget, BITS, void)
SHMEM_SIZES(SHMEM_DECLARE_SIZE, )
SHMEM_DECLARE_TRANSFERS(put, get, mem, void)

/* ---- atomics ------------------------------------------------------------ */

#define SHMEM_DECLARE_AMO(NAME, T, ...)                                                            \
    SHMEM_DECLARE(T, NAME##_atomic_compare_swap, T *dest, T cond, T value, int pe)                 \
    SHMEM_DECLARE(T, NAME##_atomic_fetch_inc, T *dest, int pe)                                     \
    SHMEM_DECLARE(void, NAME##_atomic_inc, T *dest, int pe)                                        \
    SHMEM_DECLARE(T, NAME##_atomic_fetch_add, T *dest, T value, int pe)                            \
    SHMEM_DECLARE(void, NAME##_atomic_add, T *dest, T value, int pe)                               \
    SHMEM_DECLARE(void, NAME##_atomic_compare_swap_nbi, T *fetch, T *dest, T cond, T value,        \
                  int pe)                                                                          \
    SHMEM_DECLARE(void, NAME##_atomic_fetch_inc_nbi, T *fetch, T *dest, int pe)                    \
    SHMEM_DECLARE(void, NAME##_atomic_fetch_add_nbi, T *fetch, T *dest, T value, int pe)           \
    T    shmem_##NAME##_cswap(T *dest, T cond, T value, int pe);                                   \
    T    shmem_##NAME##_finc(T *dest, int pe);                                                     \
    void shmem_##NAME##_inc(T *dest, int pe);                                                      \
    T    shmem_##NAME##_fadd(T *dest, T value, int pe);                                            \
    void shmem_##NAME##_add(T *dest, T value, int pe);
SHMEM_AMO_TYPES(SHMEM_DECLARE_AMO, )

#define SHMEM_DECLARE_AMO_EXTENDED(NAME, T, ...)                                                   \
    SHMEM_DECLARE(T, NAME##_atomic_fetch, const T *source, int pe)                                 \
    SHMEM_DECLARE(void, NAME##_atomic_set, T *dest, T value, int pe)                               \
    SHMEM_DECLARE(T, NAME##_atomic_swap, T *dest, T value, int pe)                                 \
    SHMEM_DECLARE(void, NAME##_atomic_fetch_nbi, T *fetch, const T *source, int pe)                \
    SHMEM_DECLARE(void, NAME##_atomic_swap_nbi, T *fetch, T *dest, T value, int pe)                \
    T    shmem_##NAME##_fetch(const T *source, int pe);                                            \
    void shmem_##NAME##_set(T *dest, T value, int pe);                                             \
    T    shmem_##NAME##_swap(T *dest, T value, int pe);
SHMEM_AMO_EXTENDED_TYPES(SHMEM_DECLARE_AMO_EXTENDED, )

#define SHMEM_DECLARE_AMO_BITWISE_OP(NAME, T, op)                                                  \
    SHMEM_DECLARE(void, NAME##_atomic_##op, T *dest, T value, int pe)                              \
    SHMEM_DECLARE(T, NAME##_atomic_fetch_##op, T *dest, T value, int pe)                           \
    SHMEM_DECLARE(void, NAME##_atomic_fetch_##op##_nbi, T *fetch, T *dest, T value, int pe)
#define SHMEM_DECLARE_AMO_BITWISE(NAME, T, ...)                                                    \
    SHMEM_DECLARE_AMO_BITWISE_OP(NAME, T, and)                                                     \
    SHMEM_DECLARE_AMO_BITWISE_OP(NAME, T, or)                                                      \
    SHMEM_DECLARE_AMO_BITWISE_OP(NAME, T, xor)
SHMEM_AMO_BITWISE_TYPES(SHMEM_DECLARE_AMO_BITWISE, )

/** Returns the signal at @p sig_addr of the calling PE. */
uint64_t shmem_signal_fetch(const uint64_t *sig_addr);

/** Waits until the signal at @p sig_addr of the calling PE satisfies the comparison @p cmp with
 *  @p cmp_value. Returns its value. */
uint64_t shmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value);

/* ---- waits and tests ---------------------------------------------------- */

/* V is `T cmp_value` or, in the vector forms, `T *cmp_values`. */
#define SHMEM_DECLARE_SYNC_SET(NAME, T, suffix, V)                                                  \
    void   shmem_##NAME##_wait_until_all##suffix(T *ivars, size_t nelems, const int *status,        \
                                                 int cmp, V);                                       \
    size_t shmem_##NAME##_wait_until_any##suffix(T *ivars, size_t nelems, const int *status,        \
                                                 int cmp, V);                                       \
    size_t shmem_##NAME##_wait_until_some##suffix(T *ivars, size_t nelems, size_t *indices,         \
                                                  const int *status, int cmp, V);                   \
    int    shmem_##NAME##_test_all##suffix(T *ivars, size_t nelems, const int *status, int cmp, V); \
    size_t shmem_##NAME##_test_any##suffix(T *ivars, size_t nelems, const int *status, int cmp,     \
                                           V);                                                      \
    size_t shmem_##NAME##_test_some##suffix(T *ivars, size_t nelems, size_t *indices,               \
                                            const int *status, int cmp, V);
#define SHMEM_DECLARE_SYNC(NAME, T, ...)                                                           \
    void shmem_##NAME##_wait_until(T *ivar, int cmp, T cmp_value);                                 \
    int  shmem_##NAME##_test(T *ivar, int cmp, T cmp_value);                                       \
    void shmem_##NAME##_wait(T *ivar, T cmp_value);                                                \
    SHMEM_DECLARE_SYNC_SET(NAME, T, , T cmp_value)                                                 \
    SHMEM_DECLARE_SYNC_SET(NAME, T, _vector, T *cmp_values)
SHMEM_SYNC_TYPES(SHMEM_DECLARE_SYNC, )

/** Waits until *ivar differs from @p cmp_value. Deprecated: shmem_long_wait_until(). */
void shmem_wait(long *ivar, long cmp_value);

/** Waits until *ivar satisfies the comparison @p cmp with @p cmp_value. Deprecated in this form; in
 *  C11 and C++ the name takes every type of atomics. */
void shmem_wait_until(long *ivar, int cmp, long cmp_value);

/* ---- collectives -------------------------------------------------------- */

/** Completes all operations of all PEs on the default context: shmem_quiet() and
 *  shmem_sync_all(). */
void shmem_barrier_all(void);

/** Waits until all PEs have made the call. */
void shmem_sync_all(void);

/** Waits until all PEs of @p team have made the call. Returns 0, or nonzero for
 *  SHMEM_TEAM_INVALID. */
int shmem_team_sync(shmem_team_t team);

/** Completes the caller's operations and waits for the PEs of an active set. Deprecated. */
void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync);

/** Waits for the PEs of an active set. Deprecated: shmem_team_sync(). In C11 and C++ the name with
 *  one argument is shmem_team_sync(). */
void shmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync);

#define SHMEM_DECLARE_COLLECTIVE(prefix, suffix, T)                                                \
    int shmem_##prefix##broadcast##suffix(shmem_team_t team, T *dest, const T *source,             \
                                          size_t nelems, int PE_root);                             \
    int shmem_##prefix##collect##suffix(shmem_team_t team, T *dest, const T *source,               \
                                        size_t nelems);                                            \
    int shmem_##prefix##fcollect##suffix(shmem_team_t team, T *dest, const T *source,              \
                                         size_t nelems);                                           \
    int shmem_##prefix##alltoall##suffix(shmem_team_t team, T *dest, const T *source,              \
                                         size_t nelems);                                           \
    int shmem_##prefix##alltoalls##suffix(shmem_team_t team, T *dest, const T *source,             \
                                          ptrdiff_t dst, ptrdiff_t sst, size_t nelems);
#define SHMEM_DECLARE_COLLECTIVE_TYPE(NAME, T, ...) SHMEM_DECLARE_COLLECTIVE(NAME##_, , T)
SHMEM_RMA_TYPES(SHMEM_DECLARE_COLLECTIVE_TYPE, )
SHMEM_DECLARE_COLLECTIVE(, mem, void)

#define SHMEM_DECLARE_REDUCE_TYPE(NAME, T, op)                                                     \
    int shmem_##NAME##_##op##_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce);
#define SHMEM_DECLARE_REDUCE(op, TYPES, ...)                                                       \
    SHMEM_REDUCE_##TYPES##_TYPES(SHMEM_DECLARE_REDUCE_TYPE, op)
SHMEM_REDUCE_OPERATORS(SHMEM_DECLARE_REDUCE, )

/* The deprecated reductions over active sets. */
#define SHMEM_DECLARE_TO_ALL_TYPE(NAME, T, op)                                                     \
    void shmem_##NAME##_##op##_to_all(T *dest, const T *source, int nreduce, int PE_start,         \
                                      int logPE_stride, int PE_size, T *pWrk, long *pSync);
#define SHMEM_DECLARE_TO_ALL(op, TYPES, ...)                                                       \
    SHMEM_TO_ALL_##TYPES##_TYPES(SHMEM_DECLARE_TO_ALL_TYPE, op)
SHMEM_REDUCE_OPERATORS(SHMEM_DECLARE_TO_ALL, )

/* The other deprecated collectives over active sets, by the size of the elements. */
#define SHMEM_DECLARE_ACTIVE_SET(BITS)                                                             \
    void shmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root,         \
                               int PE_start, int logPE_stride, int PE_size, long *pSync);          \
    void shmem_collect##BITS(void *dest, const void *source, size_t nelems, int PE_start,          \
                             int logPE_stride, int PE_size, long *pSync);                          \
    void shmem_fcollect##BITS(void *dest, const void *source, size_t nelems, int PE_start,         \
                              int logPE_stride, int PE_size, long *pSync);                         \
    void shmem_alltoall##BITS(void *dest, const void *source, size_t nelems, int PE_start,         \
                              int logPE_stride, int PE_size, long *pSync);                         \
    void shmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t nelems, int PE_start, int logPE_stride, int PE_size,         \
                               long *pSync);
SHMEM_DECLARE_ACTIVE_SET(32)
SHMEM_DECLARE_ACTIVE_SET(64)

/* ---- locks -------------------------------------------------------------- */

/** Acquires the symmetric lock @p lock, which is initially zero. Requests are granted in order. */
void shmem_set_lock(long *lock);

/** Releases @p lock after the caller's operations are complete. */
void shmem_clear_lock(long *lock);

/** Acquires @p lock if it is free. Returns 0 if the lock is acquired, and 1 if not. */
int shmem_test_lock(long *lock);

/* ---- cache control: deprecated, without effect -------------------------- */

void shmem_set_cache_inv(void);
void shmem_set_cache_line_inv(void *dest);
void shmem_clear_cache_inv(void);
void shmem_clear_cache_line_inv(void *dest);
void shmem_udcflush(void);
void shmem_udcflush_line(void *dest);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#include "shmem_cxx.h"
#elif defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#include "shmem_generic.h"
#endif

#endif
