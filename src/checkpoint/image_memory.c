/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_memory.c - see image_memory.h.
 *
 * A memfd is extended by fallocate(): unlike ftruncate() this never shrinks a file that another
 * thread has extended further.  It reserves the pages, so that a host without memory for them is an
 * error here, and not SIGBUS at the first access.
 */
#include "checkpoint/image_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/assert.h"

/* Memory grows in multiples of this: a multiple of every page size. */
#define IMAGE_MEMORY_STEP ((size_t)1 << 16)

/* Pages are reserved by calls for at most so many bytes: one that a signal interrupts gives back
 * what it has reserved, so a longer one might never come to an end. */
#define IMAGE_MEMORY_RESERVE ((size_t)1 << 22)

void ski_image_memory_anonymous(struct ski_image_memory *memory)
{
    *memory = (struct ski_image_memory){.fd = -1};
}

void ski_image_memory_shared(struct ski_image_memory *memory, int fd, off_t offset)
{
    ski_assert(fd >= 0 && offset % (off_t)IMAGE_MEMORY_STEP == 0);
    *memory = (struct ski_image_memory){.fd = fd, .offset = offset};
}

static void *image_memory_map(struct ski_image_memory *memory, size_t bytes)
{
    if (memory->base)
        return mremap(memory->base, memory->bytes, bytes, MREMAP_MAYMOVE);
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                memory->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED,
                memory->fd, memory->offset);
}

bool ski_image_memory_allowed(off_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= (rlim_t)bytes)
        return true;
    errno = EFBIG;
    return false;
}

/* Reserves the pages of the memfd from those that are mapped up to @p bytes. */
static bool image_memory_reserve(const struct ski_image_memory *memory, size_t bytes)
{
    size_t at = memory->bytes;

    if (!ski_image_memory_allowed(memory->offset + (off_t)bytes))
        return false;
    while (at < bytes) {
        size_t more = bytes - at < IMAGE_MEMORY_RESERVE ? bytes - at : IMAGE_MEMORY_RESERVE;

        if (fallocate(memory->fd, 0, memory->offset + (off_t)at, (off_t)more) == 0)
            at += more;
        else if (errno != EINTR)
            return false;
    }
    return true;
}

bool ski_image_memory_grow(struct ski_image_memory *memory, size_t bytes)
{
    size_t quarter = memory->bytes + memory->bytes / 4;
    void  *base;

    if (bytes <= memory->bytes)
        return true;
    bytes = bytes > quarter ? bytes : quarter;
    bytes = (bytes + IMAGE_MEMORY_STEP - 1) / IMAGE_MEMORY_STEP * IMAGE_MEMORY_STEP;
    if (memory->fd >= 0 && !image_memory_reserve(memory, bytes))
        return false;
    base = image_memory_map(memory, bytes);
    if (base == MAP_FAILED)
        return false;
    memory->base  = base;
    memory->bytes = bytes;
    return true;
}

void ski_image_memory_unmap(struct ski_image_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->bytes);
    memory->base  = NULL;
    memory->bytes = 0;
}
