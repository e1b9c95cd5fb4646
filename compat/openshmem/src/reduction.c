/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction.c - reductions over sets of PEs.
 *
 * A short reduction of a set that has boards (board.h) uses them. Any other short one puts the data
 * of every member into a buffer of every other one and combines there: one hop. A longer one is
 * divided into slices, one for each member, which gets its slice from all members, combines it and
 * puts the result to all: no data are sent twice, and all members share the work. No member
 * accesses the slice of another, so the source may be the destination. Members synchronise before
 * the reduction, for the sources, and after it, for the results.
 *
 * Elements are combined in the order of ranks, whatever the algorithm, so results are the same on
 * all members and from run to run.
 */
#include <complex.h>
#include <stdlib.h>

#include "board.h"
#include "rma.h"
#include "wait.h"

/* The largest set in which each member of a short reduction sends to each. */
#define REDUCTION_SHORT_MAX 64

/* The bytes that a member combines at a time, and the least bytes of a slice. */
#define REDUCTION_CHUNK     (16 * 1024)
#define REDUCTION_SLICE_MIN 1024

static void reduction_short(const char *call, const struct shmemi_set *set, void *dest,
                            const void *source, const struct shmemi_reduction *r)
{
    _Alignas(16) char into[SHMEMI_SHORT_BYTES];
    unsigned char     which[REDUCTION_SHORT_MAX];
    size_t            bytes = r->size * r->count;

    for (int i = 1; i < set->size; i++) {
        int rank = (set->me + i) % set->size;

        which[rank] = (unsigned char)shmemi_short_next(set, rank);
        shmemi_put(call, shmemi_short_buffer(set, which[rank], set->me), source, bytes,
                   shmemi_set_pe(set, rank));
        shmemi_flag_raise(set, rank);
    }
    for (int rank = 0; rank < set->size; rank++) {
        const void *from = source;

        if (rank != set->me) {
            shmemi_flag_take(set, rank);
            from = shmemi_short_buffer(set, which[rank], rank);
        }
        if (rank == 0)
            memcpy(into, from, bytes);
        else
            r->combine(into, from, r->count);
    }
    memcpy(dest, into, bytes);
}

/* Combines @p count elements of all members, from element @p first on, and puts the result to all.
 */
static void reduction_chunk(const char *call, const struct shmemi_set *set, void *dest,
                            const void *source, const struct shmemi_reduction *r, size_t first,
                            size_t count)
{
    _Alignas(16) char into[REDUCTION_CHUNK], from[REDUCTION_CHUNK];
    size_t            offset = first * r->size, bytes = count * r->size;

    for (int rank = 0; rank < set->size; rank++) {
        const char *at     = (const char *)source + offset;
        const void *mapped = shmemi_direct(at, bytes, shmemi_set_pe(set, rank));

        if (!mapped) {
            shmemi_get(call, from, at, bytes, shmemi_set_pe(set, rank));
            mapped = from;
        }
        if (rank == 0)
            memcpy(into, mapped, bytes);
        else
            r->combine(into, mapped, count);
    }
    for (int i = 0; i < set->size; i++)
        shmemi_put(call, (char *)dest + offset, into, bytes,
                   shmemi_set_pe(set, (set->me + i) % set->size));
}

/* Returns the number of elements in the slice of a member; the last slices may be empty. */
static size_t reduction_slice(const struct shmemi_set *set, const struct shmemi_reduction *r)
{
    size_t slice = (r->count + (size_t)set->size - 1) / (size_t)set->size;
    size_t least = REDUCTION_SLICE_MIN / r->size;

    return slice < least ? least : slice;
}

void shmemi_reduce(const char *call, const struct shmemi_set *set, void *dest, const void *source,
                   const struct shmemi_reduction *r)
{
    size_t slice, first, end, chunk = REDUCTION_CHUNK / r->size;

    if (r->count <= SHMEMI_SHORT_BYTES / r->size && set->size <= REDUCTION_SHORT_MAX) {
        if (SHMEMI_LIKELY(shmemi_board_serves(set)))
            shmemi_board_reduce(set, dest, source, r);
        else
            reduction_short(call, set, dest, source, r);
        return;
    }
    slice = reduction_slice(set, r);
    first = slice * (size_t)set->me;
    end   = first + slice < r->count ? first + slice : r->count;
    shmemi_sync(set);
    for (; first < end; first += chunk)
        reduction_chunk(call, set, dest, source, r, first,
                        end - first < chunk ? end - first : chunk);
    shmemi_quiet();
    shmemi_sync(set);
}

/* ---- operators ---------------------------------------------------------- */

#define REDUCTION_STEP_and(T, a, b)  (T)((a) & (b))
#define REDUCTION_STEP_or(T, a, b)   (T)((a) | (b))
#define REDUCTION_STEP_xor(T, a, b)  (T)((a) ^ (b))
#define REDUCTION_STEP_max(T, a, b)  ((a) > (b) ? (a) : (b))
#define REDUCTION_STEP_min(T, a, b)  ((a) < (b) ? (a) : (b))
#define REDUCTION_STEP_sum(T, a, b)  (T)((a) + (b))
#define REDUCTION_STEP_prod(T, a, b) (T)((a) * (b))

#define REDUCTION_COMBINE(NAME, T, op)                                                             \
    static void reduction_##op##_##NAME(void *into, const void *from, size_t count)                \
    {                                                                                              \
        T       *a = into;                                                                         \
        const T *b = from;                                                                         \
                                                                                                   \
        for (size_t i = 0; i < count; i++)                                                         \
            a[i] = REDUCTION_STEP_##op(T, a[i], b[i]);                                             \
    }

/* Active sets have bitwise reductions of signed types, unlike teams. */
#define REDUCTION_EXTRA_BITWISE(op)                                                                \
    REDUCTION_COMBINE(short, short, op)                                                            \
    SHMEM_INTEGERS_SIGNED(REDUCTION_COMBINE, op)
#define REDUCTION_EXTRA_MINMAX(op)
#define REDUCTION_EXTRA_SUM(op)

/* ---- the routines ------------------------------------------------------- */

static int reduction_team(const char *call, shmem_team_t handle, void *dest, const void *source,
                          const struct shmemi_reduction *r)
{
    struct shmem_team_handle *team = shmemi_team(handle);

    shmemi_check_running(call);
    if (!team)
        return -1;
    if (r->count > 0)
        shmemi_reduce(call, &team->set, dest, source, r);
    return 0;
}

#define REDUCTION_TEAM(NAME, T, op)                                                                \
    int shmem_##NAME##_##op##_reduce(shmem_team_t team, T *dest, const T *source, size_t nreduce)  \
    {                                                                                              \
        struct shmemi_reduction r = {reduction_##op##_##NAME, sizeof(T), nreduce};                 \
                                                                                                   \
        return reduction_team(__func__, team, dest, source, &r);                                   \
    }

#define REDUCTION_TO_ALL(NAME, T, op)                                                               \
    void shmem_##NAME##_##op##_to_all(T *dest, const T *source, int nreduce, int PE_start,          \
                                      int logPE_stride, int PE_size, T *pWrk, long *pSync)          \
    {                                                                                               \
        struct shmemi_set       set = shmemi_active_set(__func__, PE_start, logPE_stride, PE_size); \
        struct shmemi_reduction r   = {reduction_##op##_##NAME, sizeof(T), (size_t)nreduce};        \
                                                                                                    \
        (void)pWrk;                                                                                 \
        (void)pSync;                                                                                \
        if (nreduce > 0 && set.me >= 0)                                                             \
            shmemi_reduce(__func__, &set, dest, source, &r);                                        \
    }

#define REDUCTION_OPERATOR(op, TYPES, ...)                                                         \
    SHMEM_REDUCE_##TYPES##_TYPES(REDUCTION_COMBINE, op) REDUCTION_EXTRA_##TYPES(op)                \
        SHMEM_REDUCE_##TYPES##_TYPES(REDUCTION_TEAM, op)                                           \
            SHMEM_TO_ALL_##TYPES##_TYPES(REDUCTION_TO_ALL, op)
SHMEM_REDUCE_OPERATORS(REDUCTION_OPERATOR, )
