/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc.c - skua-malloc.so: malloc() and its kin for programs whose PEs are to reach each other's
 * memory (core/pe/malloc_arena.h).
 *
 * The library is loaded before the system's, and calls Skua first once Skua is ready; blocks that
 * Skua does not want come from the system's own functions.  Functions that are not here, such as
 * valloc(), need not be: their memory is the system's, and free() finds out.
 *
 * Ordering.  A thread that loads `malloc_ready` sees what it points at, which never changes: it is
 * stored with release and loaded with acquire.  A thread that does not see it yet has no block of
 * Skua: another thread that does would have had to hand it over.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/pe/malloc_arena.h"

#define ALIGNED 64 /* all blocks of Skua are aligned so */

#define EXPORT __attribute__((visibility("default")))

/* The system's own functions, by the names that they have for this purpose. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t each);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void  __libc_free(void *block);

static const struct ski_malloc_hooks *_Atomic malloc_ready;

ski_malloc_set_hooks_fn EXPORT skua_malloc_set_hooks;

void skua_malloc_set_hooks(const struct ski_malloc_hooks *ready)
{
    atomic_store_explicit(&malloc_ready, ready, memory_order_release);
}

static inline const struct ski_malloc_hooks *malloc_hooks(void)
{
    return atomic_load_explicit(&malloc_ready, memory_order_acquire);
}

static void *malloc_shared(size_t bytes)
{
    const struct ski_malloc_hooks *skua = malloc_hooks();

    return skua ? skua->alloc(bytes) : NULL;
}

static size_t malloc_shared_bytes(const void *block)
{
    const struct ski_malloc_hooks *skua = malloc_hooks();

    return skua ? skua->bytes(block) : 0;
}

EXPORT void *malloc(size_t bytes)
{
    void *block = malloc_shared(bytes);

    return block ? block : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t each)
{
    size_t bytes;
    void  *block = __builtin_mul_overflow(count, each, &bytes) ? NULL : malloc_shared(bytes);

    return block ? memset(block, 0, bytes) : __libc_calloc(count, each);
}

EXPORT void free(void *block)
{
    const struct ski_malloc_hooks *skua = malloc_hooks();

    if (!skua || !skua->free(block))
        __libc_free(block);
}

/* The one function of the system that has no second name. */
static size_t malloc_system_usable_size(void *block)
{
    void *found = dlsym(RTLD_NEXT, "malloc_usable_size");
    size_t (*usable_size)(void *block);

    memcpy(&usable_size, &found, sizeof found);
    return usable_size(block);
}

EXPORT size_t malloc_usable_size(void *block)
{
    size_t bytes = malloc_shared_bytes(block);

    return bytes ? bytes : malloc_system_usable_size(block);
}

static void *malloc_move(void *to, void *block, size_t most)
{
    size_t had = block ? malloc_usable_size(block) : 0;

    if (had)
        memcpy(to, block, had < most ? had : most);
    free(block);
    return to;
}

/* A block of the system moves to Skua when it has grown enough. */
EXPORT void *realloc(void *block, size_t bytes)
{
    size_t ours = malloc_shared_bytes(block);
    void  *to;

    if (ours && bytes <= ours && bytes > ours / 2)
        return block;
    if (ours && bytes == 0) {
        free(block);
        return NULL;
    }
    to = ours ? malloc(bytes) : malloc_shared(bytes);
    if (to)
        return malloc_move(to, block, bytes);
    return ours ? NULL : __libc_realloc(block, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *block = alignment <= ALIGNED ? malloc_shared(bytes) : NULL;

    return block ? block : __libc_memalign(alignment, bytes);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    int   before = errno;
    void *got;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    got   = aligned_alloc(alignment, bytes);
    errno = before;
    if (!got)
        return ENOMEM;
    *block = got;
    return 0;
}
