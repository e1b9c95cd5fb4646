/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric.c - see symmetric.h. */
#include "symmetric.h"

struct shmemi_job shmemi_job;

void shmemi_check_running(const char *call)
{
    if (!shmemi_job.running)
        skua_abort("%s: OpenSHMEM is not running; call it between shmem_init() and "
                   "shmem_finalize()",
                   call);
}

void shmemi_check_status(const char *call, int pe, skua_status status)
{
    if (status < 0 && status != SKUA_ERR_EXIT)
        skua_abort("%s: the operation on PE %d has failed: %s", call, pe, skua_status_str(status));
}

const struct shmemi_segment *shmemi_segment_of(const void *addr)
{
    for (int i = 0; i < SHMEMI_SEGMENTS; i++) {
        const struct shmemi_segment *s = &shmemi_job.segment[i];

        if ((uintptr_t)addr - s->base < s->bytes)
            return s;
    }
    return NULL;
}

/* With SHMEM_DEBUG, an access to the heap stays within the allocation that it begins in. */
static void symmetric_check_allocation(const char *call, const void *addr, size_t bytes)
{
    const struct shmemi_segment    *s      = &shmemi_job.segment[SHMEMI_HEAP];
    uintptr_t                       offset = (uintptr_t)addr - s->base;
    const struct shmemi_heap_block *block  = shmemi_heap_find(&shmemi_job.heap, offset);

    if (!block)
        skua_abort("%s: %p on PE %d is in the symmetric heap, but in no allocation; it may have "
                   "been freed",
                   call, addr, shmemi_job.pe);
    if (offset - block->offset > block->asked || bytes > block->asked - (offset - block->offset))
        skua_abort("%s: %zu bytes at %p on PE %d reach beyond the allocation of %zu bytes that "
                   "begins %zu bytes before",
                   call, bytes, addr, shmemi_job.pe, block->asked, offset - block->offset);
}

void *shmemi_locate(const char *call, const void *addr, size_t bytes, int pe, skua_gaddr *at)
{
    const struct shmemi_segment *s;
    uintptr_t                    offset;

    shmemi_check_running(call);
    if (pe < 0 || pe >= shmemi_job.pes)
        skua_abort("%s: PE %d does not exist; the PEs are 0 to %d", call, pe, shmemi_job.pes - 1);
    s = shmemi_segment_of(addr);
    if (!s)
        skua_abort("%s: %p on PE %d is not a symmetric address; use memory of shmem_malloc(), or a "
                   "global or static variable of the program",
                   call, addr, shmemi_job.pe);
    offset = (uintptr_t)addr - s->base;
    if (bytes > s->bytes - offset)
        skua_abort("%s: %zu bytes at %p on PE %d reach beyond the end of symmetric memory", call,
                   bytes, addr, shmemi_job.pe);
    if (shmemi_job.debug && s == &shmemi_job.segment[SHMEMI_HEAP] && offset < shmemi_job.heap_bytes)
        symmetric_check_allocation(call, addr, bytes);
    *at = skua_gaddr_add(s->at[pe], (ptrdiff_t)offset);
    return s->peer[pe] ? s->peer[pe] + offset : NULL;
}
