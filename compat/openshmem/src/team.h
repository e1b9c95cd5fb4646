/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - teams, and the sets of PEs that collectives run on.
 *
 * Every team of OpenSHMEM, and every active set, is given by its first PE, a stride and a size. A
 * set also has a *slot*: the part of the library's symmetric words that its collectives use. The
 * members of a new team agree on a slot that is free on all of them.
 */
#ifndef SHMEMI_TEAM_H
#define SHMEMI_TEAM_H

#include <shmem.h>
#include <stdbool.h>

/** Slots: of active sets, of the one of all PEs, of the world, of the shared team, of the end of
 * the job, and of teams that programs create. */
enum {
    SHMEMI_SLOT_ACTIVE_SET,
    SHMEMI_SLOT_ACTIVE_ALL,
    SHMEMI_SLOT_WORLD,
    SHMEMI_SLOT_SHARED,
    SHMEMI_SLOT_END,
    SHMEMI_SLOT_CREATED, /* the first one of these teams */
    SHMEMI_SLOTS = 256
};

struct shmemi_set {
    int  start, stride, size;
    int  me;     /* rank of this PE */
    int  slot;   /* slot of the words of its collectives */
    bool mapped; /* the symmetric memory of all members is mapped in this process */
};

struct shmem_team_handle {
    struct shmemi_set        set;
    shmem_team_config_t      config;
    struct shmem_ctx_handle *contexts;
};

/** Returns the PE with rank @p rank of @p set. */
static inline int shmemi_set_pe(const struct shmemi_set *set, int rank)
{
    return set->start + set->stride * rank;
}

/** Makes a set of PEs; its slot is @p slot. */
struct shmemi_set shmemi_set_make(int start, int stride, int size, int slot);

/** Returns the active set of a deprecated collective. Arguments that are wrong end the job; a
 * caller outside of the set is reported; then `me` of the set is negative. */
struct shmemi_set shmemi_active_set(const char *call, int start, int log_stride, int size);

/** Returns the team of a handle, or NULL for SHMEM_TEAM_INVALID. */
struct shmem_team_handle *shmemi_team(shmem_team_t handle);

/** Returns the handle of a team. */
shmem_team_t shmemi_team_handle(const struct shmem_team_handle *team);

/** Makes the predefined teams. */
void shmemi_teams_open(void);

/** Drops the contexts of the predefined teams. */
void shmemi_teams_close(void);

#endif
