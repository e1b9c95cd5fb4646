/* SPDX-License-Identifier: Apache-2.0 */
/* malloc_arena.c - see malloc_arena.h. */
#include "core/pe/malloc_arena.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "core/pe/pe.h"
#include "transport/host/host.h"

static bool forked;

static struct ski_heap *heaps; /* heap 0 of the host; set before anybody asks */

static bool is_ours(const void *block)
{
    return ski_arena_contains(heaps->arena, block);
}

static void *share_alloc(size_t bytes)
{
    struct ski_pe *self = ski_self;

    if (!self || bytes < ski_config.malloc_arena || forked)
        return NULL;
    return ski_pool_try(&self->pool, bytes);
}

static size_t share_bytes(const void *block)
{
    return is_ours(block) ? ski_block_bytes(heaps->arena, block) : 0;
}

static bool share_free(void *block)
{
    if (!is_ours(block))
        return false;
    if (forked)
        return true; /* it is our parent's */
    if (ski_self)
        ski_pool_give(&ski_self->pool, block);
    else if (ski_unit_of(heaps->arena, block)->kind == SKI_UNIT_LARGE)
        ski_span_free(heaps->arena, block);
    else
        ski_heap_return(heaps, block);
    return true;
}

static void note_fork(void)
{
    forked = true;
}

static ski_share_ask_fn *find_library(void)
{
    void             *found = dlsym(RTLD_DEFAULT, SKI_SHARE_ASK);
    ski_share_ask_fn *ask;

    memcpy(&ask, &found, sizeof found);
    return ask;
}

void ski_share_open(const struct ski_host *host)
{
    static const struct ski_share share = {share_alloc, share_bytes, share_free};
    ski_share_ask_fn             *ask;

    if (!ski_config.malloc_arena)
        return;
    ask = find_library();
    if (!ask) {
        ski_log(SKI_LOG_WARN, "SKUA_MALLOC_ARENA has no effect: skua-malloc.so is not loaded "
                              "(skuarun does it where it finds it; else set LD_PRELOAD to it)");
        return;
    }
    pthread_atfork(NULL, NULL, note_fork);
    heaps = host->heaps;
    ask(&share);
}
