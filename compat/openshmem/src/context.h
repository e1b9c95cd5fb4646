/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.h - contexts: the PE numbers of their teams.
 *
 * Operations of all contexts of a PE complete together, so a context is the team in which its PEs
 * are numbered, and its options.
 */
#ifndef SHMEMI_CONTEXT_H
#define SHMEMI_CONTEXT_H

#include <shmem.h>

#include "symmetric.h"
#include "team.h"

struct shmem_ctx_handle {
    const struct shmem_team_handle *team;
    long                            options;
    struct shmem_ctx_handle        *next; /* next context of the team */
};

/** Ends the job if @p ctx is not a context. */
void shmemi_ctx_check(const char *call, shmem_ctx_t ctx);

/** Returns the number in the job of PE @p pe of @p ctx. Wrong arguments end the job. */
int shmemi_ctx_world_pe(const char *call, shmem_ctx_t ctx, int pe);

/** Destroys the contexts of @p team. */
void shmemi_ctx_destroy_all(struct shmem_team_handle *team);

/** Returns the number in the job of PE @p pe of @p ctx; in the default context PEs have their
 *  numbers in the job. */
static inline int shmemi_ctx_pe(const char *call, shmem_ctx_t ctx, int pe)
{
    return SHMEMI_LIKELY(ctx == SHMEM_CTX_DEFAULT) ? pe : shmemi_ctx_world_pe(call, ctx, pe);
}

#endif
