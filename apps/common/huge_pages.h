/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages.h - large arrays in huge pages, where the kernel has them. */
#ifndef HUGE_PAGES_H
#define HUGE_PAGES_H

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20) /* bytes */

/** Allocates memory that free() releases, or returns NULL. */
static inline void *huge_alloc(size_t bytes)
{
    size_t whole  = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void  *memory = aligned_alloc(HUGE_PAGE, whole);

    if (memory)
        madvise(memory, whole, MADV_HUGEPAGE);
    return memory;
}

#endif
