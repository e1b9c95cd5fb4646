/* SPDX-License-Identifier: Apache-2.0 */
/* huge_pages.h - large arrays in huge pages, where the kernel has them. */
#ifndef HUGE_PAGES_H
#define HUGE_PAGES_H

#include <stdint.h>
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

/** Asks for huge pages where memory of malloc() contains whole ones. */
static inline void huge_advise(void *memory, size_t bytes)
{
    size_t before = (HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE) % HUGE_PAGE;

    if (memory && bytes >= before + HUGE_PAGE)
        madvise((char *)memory + before, (bytes - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
}

/** Allocates memory that free() releases, or returns NULL.  Other than that of huge_alloc() it is
 *  not aligned, so that malloc() can use it again for arrays of the same size. */
static inline void *huge_malloc(size_t bytes)
{
    void *memory = malloc(bytes);

    huge_advise(memory, bytes);
    return memory;
}

#endif
