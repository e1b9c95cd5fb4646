/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_segment.c - see data_segment.h.
 *
 * The executable is the first object that dl_iterate_phdr() reports. Its writable PT_LOAD segment
 * begins with pages that the dynamic linker has made read-only (PT_GNU_RELRO); the rest, rounded to
 * pages, contains all variables and nothing of another mapping.
 *
 * A copy of these pages is made in a region of the arena, and mremap() with an old size of 0 maps
 * the pages of that copy a second time, in place of the original. The variables keep their
 * addresses and values, and the arena has them, too. The end of a phase of Skua releases the memory
 * of the region, so the values are moved back into private pages before.
 *
 * In a program that is linked with the static libraries the segment contains the variables of Skua,
 * which its threads may change during the copy; then the pages are not replaced.
 */
#include "data_segment.h"

#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct data_segment_range {
    uintptr_t begin, end; /* the writable segment that ends last */
    uintptr_t readonly;   /* end of its read-only part */
};

/* The callback of dl_iterate_phdr(), which begins with the executable; a nonzero result ends the
 * iteration. */
static int data_segment_scan(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct data_segment_range *range = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin          = info->dlpi_addr + header->p_vaddr;

        if (header->p_type == PT_LOAD && (header->p_flags & PF_W) &&
            begin + header->p_memsz > range->end) {
            range->begin = begin;
            range->end   = begin + header->p_memsz;
        } else if (header->p_type == PT_GNU_RELRO) {
            range->readonly = begin + header->p_memsz;
        }
    }
    return 1;
}

static void data_segment_find(struct shmemi_data_segment *segment)
{
    struct data_segment_range range = {0};
    uintptr_t                 page  = (uintptr_t)sysconf(_SC_PAGESIZE);

    *segment = (struct shmemi_data_segment){0};
    dl_iterate_phdr(data_segment_scan, &range);
    /* The linker protects only whole pages, so the page in which the read-only part ends is
     * writable. */
    range.begin &= ~(page - 1);
    range.readonly &= ~(page - 1);
    if (range.readonly > range.begin && range.readonly <= range.end)
        range.begin = range.readonly;
    range.end = (range.end + page - 1) & ~(page - 1);
    if (range.end <= range.begin)
        return;
    segment->base  = (char *)range.begin;
    segment->bytes = range.end - range.begin;
}

/* Sanitizers keep guards between variables and records of their addresses, so the pages are not
 * replaced. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DATA_SEGMENT_GUARDED true
#else
#define DATA_SEGMENT_GUARDED false
#endif

/* Replaces the pages of @p segment by those of a new region. */
static bool data_segment_share(struct shmemi_data_segment *segment)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), piece, copy;

    if (skua_region_create_local(segment->bytes + page, &segment->region) != SKUA_OK)
        return false;
    piece           = (uintptr_t)skua_region_local(segment->region);
    copy            = (piece + page - 1) & ~(page - 1);
    segment->offset = copy - piece;
    memcpy((void *)copy, segment->base, segment->bytes);
    segment->shared = mremap((void *)copy, 0, segment->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                             segment->base) == (void *)segment->base;
    if (!segment->shared)
        skua_region_destroy(segment->region);
    return segment->shared;
}

/* Returns true if the segment contains the variables of the libraries, one of which is
 * @p segment. */
static bool data_segment_is_static(const struct shmemi_data_segment *segment)
{
    return (uintptr_t)segment - (uintptr_t)segment->base < segment->bytes;
}

skua_status shmemi_data_segment_open(struct shmemi_data_segment *segment)
{
    data_segment_find(segment);
    if (!segment->base)
        return SKUA_OK;
    if (!DATA_SEGMENT_GUARDED && !data_segment_is_static(segment) && data_segment_share(segment))
        return SKUA_OK;
    segment->offset = 0;
    return skua_region_create_from(segment->base, segment->bytes, &segment->region);
}

void shmemi_data_segment_close(struct shmemi_data_segment *segment)
{
    struct shmemi_data_segment was = *segment;
    void                      *copy;

    if (!was.base)
        return;
    if (was.shared) {
        copy = mmap(NULL, was.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED)
            skua_abort("shmem_finalize: the system has no %zu bytes for the variables of the "
                       "program",
                       was.bytes);
        memcpy(copy, was.base, was.bytes);
        if (mremap(copy, was.bytes, was.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, was.base) !=
            (void *)was.base)
            skua_abort("shmem_finalize: the variables of the program cannot be moved back");
    }
    skua_region_destroy(was.region);
    segment->base = NULL;
}
