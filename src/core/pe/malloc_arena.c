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

static bool malloc_arena_forked;

static struct ski_heap *malloc_arena_heaps; /* heap 0 of the host; set before the hooks are */

static bool malloc_arena_is_ours(const void *block)
{
    return ski_arena_contains(malloc_arena_heaps->arena, block);
}

static void *malloc_arena_alloc(size_t bytes)
{
    struct ski_pe *self = ski_self;

    if (!self || bytes < ski_config.malloc_arena || malloc_arena_forked)
        return NULL;
    return ski_pool_try(&self->pool, bytes);
}

static size_t malloc_arena_bytes(const void *block)
{
    return malloc_arena_is_ours(block) ? ski_block_bytes(malloc_arena_heaps->arena, block) : 0;
}

static bool malloc_arena_free(void *block)
{
    if (!malloc_arena_is_ours(block))
        return false;
    if (malloc_arena_forked)
        return true; /* it is the parent's */
    if (ski_self)
        ski_pool_give(&ski_self->pool, block);
    else if (ski_unit_of(malloc_arena_heaps->arena, block)->kind == SKI_UNIT_LARGE)
        ski_span_free(malloc_arena_heaps->arena, block);
    else
        ski_heap_return(malloc_arena_heaps, block);
    return true;
}

static void malloc_arena_note_fork(void)
{
    malloc_arena_forked = true;
}

static ski_malloc_set_hooks_fn *malloc_arena_find_library(void)
{
    void                    *found = dlsym(RTLD_DEFAULT, SKI_MALLOC_SET_HOOKS);
    ski_malloc_set_hooks_fn *ask;

    memcpy(&ask, &found, sizeof found);
    return ask;
}

bool ski_malloc_arena_in_use(void)
{
    return malloc_arena_heaps != NULL;
}

void ski_malloc_arena_open(const struct ski_host *host)
{
    static const struct ski_malloc_hooks hooks = {malloc_arena_alloc, malloc_arena_bytes,
                                                  malloc_arena_free};
    ski_malloc_set_hooks_fn             *ask;

    if (!ski_config.malloc_arena)
        return;
    ask = malloc_arena_find_library();
    if (!ask) {
        ski_log(SKI_LOG_WARN, "SKUA_MALLOC_ARENA has no effect: skua-malloc.so is not loaded "
                              "(skuarun does it where it finds it; else set LD_PRELOAD to it)");
        return;
    }
    pthread_atfork(NULL, NULL, malloc_arena_note_fork);
    ski_assert(!malloc_arena_heaps && host->heaps);
    malloc_arena_heaps = host->heaps;
    ask(&hooks);
}
