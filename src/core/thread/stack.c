/* SPDX-License-Identifier: Apache-2.0 */
/* stack.c - see stack.h. */
#include "core/thread/stack.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/vector.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#define SLAB_BYTES  ((size_t)64 << 20) /* of addresses for stacks, mapped at a time */
#define GUARD_BYTES ((size_t)1 << 20)  /* a frame as large does not reach over it   */
#define GUARD_MIN   ((size_t)64 << 10) /* what compilers that probe stacks expect   */

/* All stacks of one size. */
struct ski_stack_size {
    struct ski_stack_size *next;
    size_t                 bytes, guard;
    struct ski_vector      warm;  /* lowest bytes of kept stacks that keep their pages */
    struct ski_vector      cold;  /* ... of those whose pages went back to the system  */
    struct ski_vector      slabs; /* mappings, to unmap at the end                     */
    size_t                 slab_bytes;
    char                  *fresh;       /* next stack of the last slab, unused */
    size_t                 fresh_bytes; /* left of that slab */
};

static size_t stack_page_bytes(void)
{
    static _Atomic size_t bytes;

    if (!bytes)
        bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

static size_t stack_round_to_page(size_t bytes)
{
    return (bytes + stack_page_bytes() - 1) & ~(stack_page_bytes() - 1);
}

/* How guards are made: found out once in a process. */
enum { MADVISE, MPROTECT, NONE };

static _Atomic int  stack_way[2];           /* of memory of the process, of shared memory */
static _Atomic long stack_guards_left = -1; /* that mprotect() may make */

/* Each guard costs two mappings: a quarter of what the system allows leaves as many for the rest of
 * the program. */
static long stack_guards_allowed(void)
{
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    long  maps = 65530;

    if (file) {
        if (fscanf(file, "%ld", &maps) != 1)
            maps = 65530;
        fclose(file);
    }
    return maps / 4;
}

static bool stack_protect(char *low, size_t bytes)
{
    if (stack_guards_left < 0)
        stack_guards_left = stack_guards_allowed();
    return atomic_fetch_sub(&stack_guards_left, 1) > 0 && mprotect(low, bytes, PROT_NONE) == 0;
}

bool ski_stack_guard(char *low, size_t bytes, bool shared)
{
    _Atomic int *way = &stack_way[shared];

    if (*way == MADVISE && madvise(low, bytes, MADV_GUARD_INSTALL) != 0)
        *way = MPROTECT;
    if (*way == MPROTECT && !stack_protect(low, bytes) && atomic_exchange(way, NONE) != NONE)
        ski_log(SKI_LOG_WARN, "stacks of user threads have no guard from here on: too many "
                              "mappings; raise vm.max_map_count");
    return *way != NONE;
}

bool ski_stack_guarded(bool shared)
{
    return stack_way[shared] != NONE;
}

/* Addresses cost nothing, except where the system counts all of them as memory. */
static size_t stack_guard_bytes(void)
{
    static _Atomic size_t bytes;
    FILE                 *file;
    int                   strict = 0;

    if (bytes)
        return bytes;
    file = fopen("/proc/sys/vm/overcommit_memory", "r");
    if (file) {
        if (fscanf(file, "%d", &strict) != 1)
            strict = 0;
        fclose(file);
    }
    bytes = stack_round_to_page(strict == 2 ? GUARD_MIN : GUARD_BYTES);
    return bytes;
}

/* Returns the list of the stacks of @p bytes, rounded up to pages, or creates it. */
static struct ski_stack_size *stack_size(struct ski_stacks *stacks, size_t bytes)
{
    struct ski_stack_size *size;

    bytes = stack_round_to_page(bytes);
    for (size = stacks->sizes; size; size = size->next)
        if (size->bytes == bytes)
            return size;
    size             = ski_calloc(1, sizeof *size);
    size->bytes      = bytes;
    size->guard      = stack_guard_bytes();
    size->slab_bytes = bytes + size->guard;
    if (size->slab_bytes < SLAB_BYTES)
        size->slab_bytes *= SLAB_BYTES / size->slab_bytes;
    size->next    = stacks->sizes;
    stacks->sizes = size;
    return size;
}

static bool stack_add_slab(struct ski_stack_size *size)
{
    char *slab = mmap(NULL, size->slab_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (slab == MAP_FAILED)
        return false;
    ski_vector_push(&size->slabs, slab);
    size->fresh       = slab;
    size->fresh_bytes = size->slab_bytes;
    return true;
}

static char *stack_fresh_stack(struct ski_stack_size *size)
{
    size_t each = size->guard + size->bytes;
    char  *low  = size->fresh;

    if (size->fresh_bytes < each) {
        if (!stack_add_slab(size))
            return NULL;
        low = size->fresh;
    }
    ski_assert(size->fresh_bytes >= each);
    size->fresh += each;
    size->fresh_bytes -= each;
    ski_stack_guard(low, size->guard, false);
    return low;
}

struct ski_stack ski_stack_get(struct ski_stacks *stacks, size_t bytes)
{
    struct ski_stack_size *size = stack_size(stacks, bytes);
    char                  *low  = ski_vector_pop(&size->warm);

    if (low)
        stacks->warm_bytes -= size->bytes;
    else
        low = ski_vector_pop(&size->cold);
    if (!low)
        low = stack_fresh_stack(size);
    return (struct ski_stack){low, size->guard, size->bytes, ski_stack_guarded(false)};
}

void ski_stack_put(struct ski_stacks *stacks, struct ski_stack stack)
{
    struct ski_stack_size *size = stack_size(stacks, stack.bytes);

    ski_assert(stack.low && size->bytes == stack.bytes && size->guard == stack.guard);
    if (stacks->warm_bytes + stack.bytes <= ski_config.stack_cache / 2) {
        stacks->warm_bytes += stack.bytes;
        ski_vector_push(&size->warm, stack.low);
        return;
    }
    madvise(stack.low + stack.guard, stack.bytes, MADV_DONTNEED);
    ski_vector_push(&size->cold, stack.low);
}

void ski_stacks_destroy(struct ski_stacks *stacks)
{
    while (stacks->sizes) {
        struct ski_stack_size *size = stacks->sizes;
        char                  *slab;

        while ((slab = ski_vector_pop(&size->slabs)))
            munmap(slab, size->slab_bytes);
        ski_vector_destroy(&size->slabs);
        ski_vector_destroy(&size->warm);
        ski_vector_destroy(&size->cold);
        stacks->sizes = size->next;
        free(size);
    }
    stacks->warm_bytes = 0;
}
