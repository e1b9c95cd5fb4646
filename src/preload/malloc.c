/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc.c - skua-malloc.so: malloc() and its kin for programs whose PEs shall reach each other's
 * memory (core/pe/malloc_arena.h).
 *
 * It is loaded before the system's library, and asks Skua first, from when that is ready; what
 * Skua does not want the system's own functions do.  Those that are not here, such as valloc(),
 * need not be: their memory is the system's, and free() finds out.
 *
 * Ordering.  Who loads `share` sees what it points at, which never changes: set with release,
 * loaded with acquire.  A thread that does not see it yet has no block of Skua's: it would have
 * been given it by one that does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/pe/malloc_arena.h"

#define ALIGNED 64 /* all blocks of Skua are */

#define EXPORT __attribute__((visibility("default")))

/* The system's, by the names that they have for this purpose. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t each);
extern void *__libc_realloc(void *block, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
extern void  __libc_free(void *block);

static const struct ski_share *_Atomic share;

ski_share_ask_fn EXPORT skua_malloc_ask;

void skua_malloc_ask(const struct ski_share *ready)
{
    atomic_store_explicit(&share, ready, memory_order_release);
}

static inline const struct ski_share *asked(void)
{
    return atomic_load_explicit(&share, memory_order_acquire);
}

static void *shared(size_t bytes)
{
    const struct ski_share *skua = asked();

    return skua ? skua->alloc(bytes) : NULL;
}

static size_t shared_bytes(const void *block)
{
    const struct ski_share *skua = asked();

    return skua ? skua->bytes(block) : 0;
}

EXPORT void *malloc(size_t bytes)
{
    void *block = shared(bytes);

    return block ? block : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t each)
{
    size_t bytes;
    void  *block = __builtin_mul_overflow(count, each, &bytes) ? NULL : shared(bytes);

    return block ? memset(block, 0, bytes) : __libc_calloc(count, each);
}

EXPORT void free(void *block)
{
    const struct ski_share *skua = asked();

    if (!skua || !skua->free(block))
        __libc_free(block);
}

/* The one function of the system that has no second name. */
static size_t system_usable_size(void *block)
{
    void *found = dlsym(RTLD_NEXT, "malloc_usable_size");
    size_t (*usable_size)(void *block);

    memcpy(&usable_size, &found, sizeof found);
    return usable_size(block);
}

EXPORT size_t malloc_usable_size(void *block)
{
    size_t bytes = shared_bytes(block);

    return bytes ? bytes : system_usable_size(block);
}

static void *move(void *to, void *block, size_t most)
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
    size_t ours = shared_bytes(block);
    void  *to;

    if (ours && bytes <= ours && bytes > ours / 2)
        return block;
    if (ours && bytes == 0) {
        free(block);
        return NULL;
    }
    to = ours ? malloc(bytes) : shared(bytes);
    if (to)
        return move(to, block, bytes);
    return ours ? NULL : __libc_realloc(block, bytes);
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    void *block = alignment <= ALIGNED ? shared(bytes) : NULL;

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
