/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective_calls.c - the collectives of OpenSHMEM, over teams and over active sets: checks their
 * arguments and calls collective.c.
 */
#include <shmem.h>

#include "collective.h"
#include "rma.h"

/* Returns the set of a team, or NULL for SHMEM_TEAM_INVALID. */
static const struct shmemi_set *collective_team_set(const char *call, shmem_team_t handle)
{
    struct shmem_team_handle *team = shmemi_team(handle);

    shmemi_check_running(call);
    return team ? &team->set : NULL;
}

/* ---- synchronisation ---------------------------------------------------- */

void shmem_sync_all(void)
{
    shmemi_sync(collective_team_set(__func__, SHMEM_TEAM_WORLD));
}

void shmem_barrier_all(void)
{
    const struct shmemi_set *world = collective_team_set(__func__, SHMEM_TEAM_WORLD);

    shmemi_quiet();
    shmemi_sync(world);
}

int shmem_team_sync(shmem_team_t team)
{
    const struct shmemi_set *set = collective_team_set(__func__, team);

    if (!set)
        return -1;
    shmemi_sync(set);
    return 0;
}

/* The parentheses prevent the expansion of the C11 macro of this name. */
void(shmem_sync)(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct shmemi_set set = shmemi_active_set("shmem_sync", PE_start, logPE_stride, PE_size);

    (void)pSync;
    if (set.me >= 0)
        shmemi_sync(&set);
}

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    struct shmemi_set set = shmemi_active_set(__func__, PE_start, logPE_stride, PE_size);

    (void)pSync;
    shmemi_quiet();
    if (set.me >= 0)
        shmemi_sync(&set);
}

/* ---- over teams --------------------------------------------------------- */

static void collective_check_root(const char *call, const struct shmemi_set *set, int root)
{
    if (root < 0 || root >= set->size)
        skua_abort("%s: the root %d does not exist; the PEs of the call are 0 to %d", call, root,
                   set->size - 1);
}

static int collective_team_broadcast(const char *call, shmem_team_t team, void *dest,
                                     const void *source, size_t bytes, int root)
{
    const struct shmemi_set *set = collective_team_set(call, team);

    if (!set)
        return -1;
    collective_check_root(call, set, root);
    shmemi_broadcast(call, set, dest, source, bytes, root);
    if (set->me == root && dest != source && bytes > 0)
        memmove(dest, source, bytes);
    return 0;
}

typedef void (*collective_blocks_fn)(const char *call, const struct shmemi_set *set, void *dest,
                                     const void *source, size_t bytes);

/* Runs a collective of blocks of one size. */
static int collective_team_blocks(const char *call, collective_blocks_fn run, shmem_team_t team,
                                  void *dest, const void *source, size_t bytes)
{
    const struct shmemi_set *set = collective_team_set(call, team);

    if (!set)
        return -1;
    run(call, set, dest, source, bytes);
    return 0;
}

static void collective_check_strides(const char *call, const struct shmemi_strided_blocks *blocks)
{
    if (blocks->dst < 1 || blocks->sst < 1)
        skua_abort("%s: the strides are %td and %td elements; they have to be at least 1", call,
                   blocks->dst, blocks->sst);
}

static int collective_team_alltoalls(const char *call, shmem_team_t team, void *dest,
                                     const void *source, struct shmemi_strided_blocks blocks)
{
    const struct shmemi_set *set = collective_team_set(call, team);

    if (!set)
        return -1;
    collective_check_strides(call, &blocks);
    shmemi_alltoalls(call, set, dest, source, &blocks);
    return 0;
}

#define COLLECTIVE_TEAM(prefix, suffix, T, SIZE)                                                   \
    int shmem_##prefix##broadcast##suffix(shmem_team_t team, T *dest, const T *source,             \
                                          size_t nelems, int PE_root)                              \
    {                                                                                              \
        return collective_team_broadcast(__func__, team, dest, source, shmemi_bytes(nelems, SIZE), \
                                         PE_root);                                                 \
    }                                                                                              \
    int shmem_##prefix##collect##suffix(shmem_team_t team, T *dest, const T *source,               \
                                        size_t nelems)                                             \
    {                                                                                              \
        return collective_team_blocks(__func__, shmemi_collect, team, dest, source,                \
                                      shmemi_bytes(nelems, SIZE));                                 \
    }                                                                                              \
    int shmem_##prefix##fcollect##suffix(shmem_team_t team, T *dest, const T *source,              \
                                         size_t nelems)                                            \
    {                                                                                              \
        return collective_team_blocks(__func__, shmemi_fcollect, team, dest, source,               \
                                      shmemi_bytes(nelems, SIZE));                                 \
    }                                                                                              \
    int shmem_##prefix##alltoall##suffix(shmem_team_t team, T *dest, const T *source,              \
                                         size_t nelems)                                            \
    {                                                                                              \
        return collective_team_blocks(__func__, shmemi_alltoall, team, dest, source,               \
                                      shmemi_bytes(nelems, SIZE));                                 \
    }                                                                                              \
    int shmem_##prefix##alltoalls##suffix(shmem_team_t team, T *dest, const T *source,             \
                                          ptrdiff_t dst, ptrdiff_t sst, size_t nelems)             \
    {                                                                                              \
        return collective_team_alltoalls(__func__, team, dest, source,                             \
                                         (struct shmemi_strided_blocks){dst, sst, SIZE, nelems});  \
    }
#define COLLECTIVE_TEAM_TYPE(NAME, T, ...) COLLECTIVE_TEAM(NAME##_, , T, sizeof(T))
SHMEM_RMA_TYPES(COLLECTIVE_TEAM_TYPE, )
COLLECTIVE_TEAM(, mem, void, 1)

/* ---- over active sets --------------------------------------------------- */

#define COLLECTIVE_ACTIVE_BLOCKS(name, run, BITS)                                                  \
    void shmem_##name##BITS(void *dest, const void *source, size_t nelems, int PE_start,           \
                            int logPE_stride, int PE_size, long *pSync)                            \
    {                                                                                              \
        struct shmemi_set set = shmemi_active_set(__func__, PE_start, logPE_stride, PE_size);      \
                                                                                                   \
        (void)pSync;                                                                               \
        if (set.me >= 0)                                                                           \
            run(__func__, &set, dest, source, shmemi_bytes(nelems, BITS / 8));                     \
    }

#define COLLECTIVE_ACTIVE_SET(BITS)                                                                \
    COLLECTIVE_ACTIVE_BLOCKS(collect, shmemi_collect, BITS)                                        \
    COLLECTIVE_ACTIVE_BLOCKS(fcollect, shmemi_fcollect, BITS)                                      \
    COLLECTIVE_ACTIVE_BLOCKS(alltoall, shmemi_alltoall, BITS)                                      \
    void shmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root,         \
                               int PE_start, int logPE_stride, int PE_size, long *pSync)           \
    {                                                                                              \
        struct shmemi_set set = shmemi_active_set(__func__, PE_start, logPE_stride, PE_size);      \
                                                                                                   \
        (void)pSync;                                                                               \
        collective_check_root(__func__, &set, PE_root);                                            \
        if (set.me >= 0)                                                                           \
            shmemi_broadcast(__func__, &set, dest, source, shmemi_bytes(nelems, BITS / 8),         \
                             PE_root);                                                             \
    }                                                                                              \
    void shmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,       \
                               size_t nelems, int PE_start, int logPE_stride, int PE_size,         \
                               long *pSync)                                                        \
    {                                                                                              \
        struct shmemi_set set = shmemi_active_set(__func__, PE_start, logPE_stride, PE_size);      \
        struct shmemi_strided_blocks blocks = {dst, sst, BITS / 8, nelems};                        \
                                                                                                   \
        (void)pSync;                                                                               \
        collective_check_strides(__func__, &blocks);                                               \
        if (set.me >= 0)                                                                           \
            shmemi_alltoalls(__func__, &set, dest, source, &blocks);                               \
    }
COLLECTIVE_ACTIVE_SET(32)
COLLECTIVE_ACTIVE_SET(64)
