/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - see context.h. */
#include "context.h"

#include <stdlib.h>

#include "rma.h"

/* Protects the lists of contexts. */
static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

/* Destroyed contexts, which stay allocated and have no team, so that their use is detected until
 * they are created again. */
static struct shmem_ctx_handle *context_destroyed;

void shmemi_ctx_check(const char *call, shmem_ctx_t ctx)
{
    shmemi_check_running(call);
    if (ctx == SHMEM_CTX_INVALID)
        skua_abort("%s: the context is SHMEM_CTX_INVALID", call);
    if (ctx != SHMEM_CTX_DEFAULT && !ctx->team)
        skua_abort("%s: the context has been destroyed, or its team has", call);
}

int shmemi_ctx_world_pe(const char *call, shmem_ctx_t ctx, int pe)
{
    shmemi_ctx_check(call, ctx);
    if (pe < 0 || pe >= ctx->team->set.size)
        skua_abort("%s: PE %d does not exist in the team of the context; its PEs are 0 to %d", call,
                   pe, ctx->team->set.size - 1);
    return shmemi_set_pe(&ctx->team->set, pe);
}

/* Returns a context without a team, or NULL. The caller holds the lock. */
static struct shmem_ctx_handle *context_take(void)
{
    struct shmem_ctx_handle *ctx = context_destroyed;

    if (!ctx)
        return calloc(1, sizeof *ctx);
    context_destroyed = ctx->next;
    return ctx;
}

/* Marks a context that is in no list of a team as destroyed. The caller holds the lock. */
static void context_put_back(struct shmem_ctx_handle *ctx)
{
    ctx->team         = NULL;
    ctx->next         = context_destroyed;
    context_destroyed = ctx;
}

int shmem_team_create_ctx(shmem_team_t handle, long options, shmem_ctx_t *ctx)
{
    struct shmem_team_handle *team = shmemi_team(handle);
    shmem_ctx_t               made;

    shmemi_check_running(__func__);
    *ctx = SHMEM_CTX_INVALID;
    if (!team || (options & ~(SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE)))
        return -1;
    pthread_mutex_lock(&context_lock);
    made = context_take();
    if (made) {
        *made          = (struct shmem_ctx_handle){team, options, team->contexts};
        team->contexts = made;
        *ctx           = made;
    }
    pthread_mutex_unlock(&context_lock);
    return made ? 0 : -1;
}

int shmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    return shmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    shmemi_check_running(__func__);
    *team = SHMEM_TEAM_INVALID;
    if (ctx == SHMEM_CTX_INVALID || (ctx != SHMEM_CTX_DEFAULT && !ctx->team))
        return -1;
    *team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : shmemi_team_handle(ctx->team);
    return 0;
}

void shmem_ctx_destroy(shmem_ctx_t ctx)
{
    struct shmem_ctx_handle **link;

    shmemi_check_running(__func__);
    if (ctx == SHMEM_CTX_INVALID)
        return;
    if (ctx == SHMEM_CTX_DEFAULT)
        skua_abort("%s: the default context cannot be destroyed", __func__);
    shmemi_ctx_check(__func__, ctx);
    shmemi_quiet();
    pthread_mutex_lock(&context_lock);
    shmemi_ctx_check(__func__, ctx); /* again: another thread may have destroyed it */
    for (link = &((struct shmem_team_handle *)ctx->team)->contexts; *link && *link != ctx;)
        link = &(*link)->next;
    if (*link) {
        *link = ctx->next;
        context_put_back(ctx);
    }
    pthread_mutex_unlock(&context_lock);
}

void shmemi_ctx_destroy_all(struct shmem_team_handle *team)
{
    pthread_mutex_lock(&context_lock);
    while (team->contexts) {
        struct shmem_ctx_handle *ctx = team->contexts;

        team->contexts = ctx->next;
        context_put_back(ctx);
    }
    pthread_mutex_unlock(&context_lock);
}
