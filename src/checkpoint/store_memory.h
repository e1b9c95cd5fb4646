/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_memory.h - images of a process in memory that outlives it: two memfds.
 *
 * One memfd holds the images of the last checkpoint that all processes completed, the other one
 * those of the checkpoint that is being made.  The launcher makes the memfds and holds them, and
 * every process inherits those of its host; a process without such a launcher makes its own, which
 * vanish with it.
 *
 * The image of the i-th PE of the process begins at SKI_STORE_MEMORY_FIRST + i *
 * SKI_STORE_MEMORY_STRIDE: memfds are sparse, so PEs pack side by side without knowing their sizes.
 * An image is valid if its header is (image_format.h); a process has a generation if all its PEs
 * have an image of it.
 */
#ifndef SKI_STORE_MEMORY_H
#define SKI_STORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "checkpoint/image_format.h"

#define SKI_STORE_MEMORY_FIRST  ((off_t)1 << 16) /* a multiple of every page size */
#define SKI_STORE_MEMORY_STRIDE ((off_t)1 << 40)

/** Returns where the image of the i-th PE of a process begins in a memfd. */
static inline off_t ski_store_memory_offset(int32_t i)
{
    return SKI_STORE_MEMORY_FIRST + i * SKI_STORE_MEMORY_STRIDE;
}

/** Returns the generation of which memfd @p fd has the images of all PEs of a process, and sets
 *  @p first to the id of the first of them.  Returns 0 if it has none, or not of all PEs.  Only
 *  headers are read. */
uint64_t ski_store_memory_generation(int fd, struct ski_image_id *first);

/** Returns the memfd of the two at @p fd that has @p generation, or -1. */
int ski_store_memory_find(const int fd[2], uint64_t generation, struct ski_image_id *first);

/** Maps the image of the i-th PE of memfd @p fd for reading, checks it and prepares a reader of
 *  it.  Returns the image, which ski_store_memory_unmap() unmaps with @p bytes, or NULL with
 *  @p reason, of SKI_IMAGE_REASON bytes, written. */
const void *ski_store_memory_map(int fd, int32_t i, struct ski_image_reader *reader, size_t *bytes,
                                 char *reason);

/** Unmaps an image of ski_store_memory_map(). */
void ski_store_memory_unmap(const void *image, size_t bytes);

/** Copies the @p bytes bytes of an image, from its offset @p from on, into memfd @p fd as a part of
 *  the image of the i-th PE, as a buddy does that receives it in pieces.  Returns false, with errno
 *  set, if there is no memory.  The piece that has the header comes last, as a whole. */
bool ski_store_memory_put(int fd, int32_t i, size_t from, const void *data, size_t bytes);

/** Makes the images in memfd @p fd invalid and gives its memory back. */
void ski_store_memory_clear(int fd);

#endif
