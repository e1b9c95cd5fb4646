/* SPDX-License-Identifier: Apache-2.0 */
/* store_memory.c - see store_memory.h. */
#include "checkpoint/store_memory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/image_memory.h"

/* Reads the header of the image of the i-th PE.  Returns the size of the image, or 0. */
static size_t store_memory_size(int fd, int32_t i, struct ski_image_id *id, char *reason)
{
    unsigned char header[SKI_IMAGE_HEADER];
    ssize_t       n = pread(fd, header, sizeof header, ski_store_memory_offset(i));

    return ski_image_size(header, n < 0 ? 0 : (size_t)n, id, reason);
}

/* Returns whether two images belong to one process at one checkpoint. */
static bool store_memory_same(const struct ski_image_id *a, const struct ski_image_id *b)
{
    return a->generation == b->generation && a->fingerprint == b->fingerprint &&
           a->process == b->process && a->processes == b->processes && a->first_pe == b->first_pe &&
           a->process_pes == b->process_pes && a->pes == b->pes;
}

uint64_t ski_store_memory_generation(int fd, struct ski_image_id *first)
{
    struct ski_image_id id;
    char                reason[SKI_IMAGE_REASON];

    if (store_memory_size(fd, 0, first, reason) == 0 || first->pe != first->first_pe)
        return 0;
    for (int32_t i = 1; i < first->process_pes; i++)
        if (store_memory_size(fd, i, &id, reason) == 0 || !store_memory_same(first, &id) ||
            id.pe != first->first_pe + i)
            return 0;
    return first->generation;
}

int ski_store_memory_find(const int fd[2], uint64_t generation, struct ski_image_id *first)
{
    for (int k = 0; k < 2; k++)
        if (fd[k] >= 0 && ski_store_memory_generation(fd[k], first) == generation)
            return fd[k];
    return -1;
}

const void *ski_store_memory_map(int fd, int32_t i, struct ski_image_reader *reader, size_t *bytes,
                                 char *reason)
{
    struct ski_image_id id;
    struct stat         found;
    void               *image;

    *bytes = store_memory_size(fd, i, &id, reason);
    if (*bytes == 0)
        return NULL;
    if (fstat(fd, &found) != 0 || found.st_size < ski_store_memory_offset(i) ||
        (uint64_t)(found.st_size - ski_store_memory_offset(i)) < *bytes) {
        snprintf(reason, SKI_IMAGE_REASON, "it is truncated");
        return NULL;
    }
    image = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, ski_store_memory_offset(i));
    if (image == MAP_FAILED) {
        snprintf(reason, SKI_IMAGE_REASON, "%zu bytes cannot be mapped", *bytes);
        return NULL;
    }
    if (ski_image_open(reader, image, *bytes, reason))
        return image;
    munmap(image, *bytes);
    return NULL;
}

void ski_store_memory_unmap(const void *image, size_t bytes)
{
    if (image)
        munmap((void *)(uintptr_t)image, bytes);
}

bool ski_store_memory_put(int fd, int32_t i, size_t from, const void *data, size_t bytes)
{
    const char *at = data;

    if (!ski_image_memory_allowed(ski_store_memory_offset(i) + (off_t)(from + bytes)))
        return false;
    while (bytes > 0) {
        ssize_t n = pwrite(fd, at, bytes, ski_store_memory_offset(i) + (off_t)from);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        from += (size_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

void ski_store_memory_clear(int fd)
{
    if (ftruncate(fd, 0) != 0)
        (void)ski_store_memory_put(fd, 0, 0, &(uint64_t){0}, sizeof(uint64_t));
}
