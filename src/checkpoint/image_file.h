/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_file.h - the file image.NNNN of a checkpoint: the images of all PEs of process NNNN.
 *
 *     head      struct image_file_head of image_file.c, then for each PE: offset, stored bytes,
 *               bytes of the image, compressed or not
 *     images    one after the other, without a gap; a compressed one in blocks
 *
 * The head has a checksum of its own, which the manifest repeats: a file of another checkpoint is
 * refused.  Images are covered by the checksums of image_format.h, which are checked when an image
 * has been unpacked.
 *
 * Functions here may block and are called by one thread at a time; they log nothing.
 */
#ifndef SKI_IMAGE_FILE_H
#define SKI_IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/compressor.h"
#include "checkpoint/image_format.h"

#define SKI_IMAGE_FILE_REASON 512 /* room for the reason of a failure, without the path */

/* Images in memory that one file is made of. */
struct ski_image_span {
    const void *image;
    size_t      bytes;
};

/* The contents of a file. */
struct ski_image_file_source {
    struct ski_image_id          id;         /* of the first image            */
    const struct ski_image_span *image;      /* id.process_pes of them        */
    const struct ski_compressor *compressor; /* NULL: none               */
    int                          level;
};

/* The result of a write. */
struct ski_image_file_written {
    uint64_t bytes, head_sum;
};

/* A file that is open for reading. */
struct ski_image_file {
    int                     fd;
    struct ski_image_id     id; /* with pe = first_pe */
    uint64_t                bytes, head_sum;
    struct image_file_head *head;
};

/** Writes a file at @p path relative to directory @p folder, and waits until it is on the disk.
 *  Returns false, with @p reason written and no file left, if that fails. */
bool ski_image_file_write(int folder, const char *path, const struct ski_image_file_source *source,
                          struct ski_image_file_written *written, char *reason);

/** Opens a file and checks its head.  Returns false, with @p reason written, if it cannot be read,
 *  is damaged or is not an image file. */
bool ski_image_file_open(struct ski_image_file *file, int folder, const char *path, char *reason);

/** Reads the image of PE @p pe of the job, one of the process, into memory that
 *  ski_image_file_unload() frees, checks it and opens a reader of it.  Returns NULL, with @p reason
 *  written, if it is damaged or memory is short.  @p bytes is set to its size. */
void *ski_image_file_load(struct ski_image_file *file, int32_t pe, struct ski_image_reader *reader,
                          size_t *bytes, char *reason);

/** Frees an image of ski_image_file_load(). */
void ski_image_file_unload(void *image, size_t bytes);

/** Closes a file. */
void ski_image_file_close(struct ski_image_file *file);

#endif
