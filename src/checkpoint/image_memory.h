/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_memory.h - memory that grows while an image is written to it.
 *
 * It is anonymous, or a part of a memfd that outlives the process.  It grows by mremap(), so its
 * bytes are never copied, but its address may change.  It keeps its pages when the next image is
 * written to it: only the first image pays for page faults.
 */
#ifndef SKI_IMAGE_MEMORY_H
#define SKI_IMAGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Memory for one image. */
struct ski_image_memory {
    unsigned char *base;   /* NULL until the first ski_image_memory_grow() */
    size_t         bytes;  /* mapped at base                               */
    int            fd;     /* -1: anonymous                                */
    off_t          offset; /* of base in the memfd                         */
};

/** Prepares anonymous memory.  Nothing is mapped yet. */
void ski_image_memory_anonymous(struct ski_image_memory *memory);

/** Prepares memory that is in the memfd @p fd from @p offset on, a multiple of the page size.
 *  The descriptor stays the caller's.  Nothing is mapped yet. */
void ski_image_memory_shared(struct ski_image_memory *memory, int fd, off_t offset);

/** Makes at least @p bytes bytes accessible at base, which may move.  Returns false, with errno
 *  set and the memory as it was, if the system has none.  Several threads may grow parts of one
 *  memfd that do not overlap. */
bool ski_image_memory_grow(struct ski_image_memory *memory, size_t bytes);

/** Returns whether a memfd may have @p bytes bytes: beyond the limit of the size of files
 *  (ulimit -f) the kernel would end the process by SIGXFSZ.  Sets errno to EFBIG if not. */
bool ski_image_memory_allowed(off_t bytes);

/** Unmaps the memory.  Contents in a memfd stay. */
void ski_image_memory_unmap(struct ski_image_memory *memory);

#endif
