/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_format.h - the container of an image: the state of one PE at a sync point.
 *
 * An image is contiguous in memory and in a file:
 *
 *     header      struct image_header of image_format.c, 128 bytes
 *     data        sections, one after the other, each from a multiple of 16 on
 *     directory   one entry for each section: name, version, offset, bytes
 *     checksums   one for each chunk of 256 KiB of the data
 *
 * The header has the checksum of itself and of directory and checksums, so every byte that a reader
 * uses is covered.  Chunks are summed while a section is written, as soon as they are complete and
 * still in the cache.  The header is cleared before the first and written after the last byte: an
 * image in memory that survives a process is either complete or not an image.
 *
 * A writer belongs to one thread.  Numbers are in the order of bytes of the CPU; the magic number
 * of an image of the other order does not match.
 */
#ifndef SKI_IMAGE_FORMAT_H
#define SKI_IMAGE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <skua/status.h>

#include "checkpoint/image_memory.h"

#define SKI_IMAGE_CHUNK   ((size_t)1 << 18) /* bytes of data under one checksum      */
#define SKI_IMAGE_NAME    40                /* longest name of a section, with its 0 */
#define SKI_IMAGE_ALIGN   16                /* alignment of sections                 */
#define SKI_IMAGE_HEADER  128               /* bytes of the header                   */
#define SKI_IMAGE_REASON  256               /* room for the reason of a refusal      */
#define SKI_IMAGE_VERSION 1                 /* of the container                      */

/* The identity of an image.  The images of one checkpoint differ in pe, process and its PEs
 * alone. */
struct ski_image_id {
    uint64_t generation;  /* of the checkpoint, from 1 on                */
    uint64_t fingerprint; /* of the program: its classes and handlers    */
    int64_t  time_ns;     /* of the checkpoint, since the epoch, UTC     */
    int32_t  pe, pes;     /* this PE, and the PEs of the job             */
    int32_t  process, processes;
    int32_t  first_pe, process_pes; /* the PEs of the process            */
};

struct ski_image_entry; /* a section in the directory */

/* An image that is being written. */
struct ski_image_writer {
    struct ski_image_memory *memory;
    struct ski_image_id      id;
    struct ski_image_entry  *entry; /* the directory so far                          */
    uint64_t                *sum;   /* of the complete chunks                        */
    size_t                   used;  /* bytes from the header to the end of the data  */
    size_t                   sections, room_sections;
    size_t                   chunks, room_chunks;
    bool                     open;  /* between section_begin and section_end         */
    bool                     sums;  /* it has checksums                              */
    int                      error; /* errno of the first failure, or 0              */
};

/* An image that is being read.  Its memory stays the caller's and does not change meanwhile. */
struct ski_image_reader {
    struct ski_image_id           id;
    const unsigned char          *base;
    const struct ski_image_entry *entry;
    size_t                        sections;
    size_t                        at, end; /* the rest of the present section */
};

/** Begins an image in @p memory, whose former contents are no image from now on.  @p sums: it gets
 *  checksums while it is written, if this build has them. */
void ski_image_begin(struct ski_image_writer *writer, struct ski_image_memory *memory,
                     const struct ski_image_id *id, bool sums);

/** Adds checksums to a finished image in memory of this process, unless it has them: an image that
 * is written to a file needs them.  Returns the size of the image with them.  No other thread uses
 * it meanwhile. */
size_t ski_image_add_sums(void *image);

/** Begins a section.  @p name is unique in the image and shorter than SKI_IMAGE_NAME; sections do
 *  not nest. */
void ski_image_section_begin(struct ski_image_writer *writer, const char *name, uint32_t version);

/** Returns room for @p bytes bytes after what was written, to be filled by the caller before the
 *  next call with @p writer, or NULL if there is no memory: the image has then failed, and
 *  ski_image_finish() says so.  The address has no alignment but that of what was written before.
 */
void *ski_image_reserve(struct ski_image_writer *writer, size_t bytes);

/** Appends @p bytes bytes to the section. */
void ski_image_write(struct ski_image_writer *writer, const void *from, size_t bytes);

/** Appends zeros up to a multiple of SKI_IMAGE_ALIGN; ski_image_read_align() skips them. */
void ski_image_align(struct ski_image_writer *writer);

/** Ends the section. */
void ski_image_section_end(struct ski_image_writer *writer);

/** Ends the image and makes it valid.  Sets @p bytes to its size.  Returns SKUA_ERR_NOMEM, without
 * a line of the log, if memory ran out: writer->error is then the errno, and the memory holds no
 *  image.  The writer holds nothing afterwards. */
skua_status ski_image_finish(struct ski_image_writer *writer, size_t *bytes);

/** Returns the size of the image whose first @p bytes bytes, at least SKI_IMAGE_HEADER, are at
 *  @p image, and sets @p id.  Returns 0 if they are not the header of an image, with the reason
 *  written to @p reason, of SKI_IMAGE_REASON bytes. */
size_t ski_image_size(const void *image, size_t bytes, struct ski_image_id *id, char *reason);

/** Checks the image of @p bytes bytes at @p image, all of its checksums included, and prepares a
 *  reader of it.  @p image is aligned to SKI_IMAGE_ALIGN.  Returns false with the reason in
 *  @p reason, of SKI_IMAGE_REASON bytes, if it is damaged or of another version. */
bool ski_image_open(struct ski_image_reader *reader, const void *image, size_t bytes, char *reason);

/** Goes to the beginning of the section @p name and sets @p version.  Returns false, with the
 * reader at the end of no section, if the image has none of that name. */
bool ski_image_section_find(struct ski_image_reader *reader, const char *name, uint32_t *version);

/** Goes to section @p i, counted from 0, and returns its name, or NULL if the image has no more. */
const char *ski_image_section_at(struct ski_image_reader *reader, size_t i, uint32_t *version);

/** Returns the next @p bytes bytes of the section and moves past them, or NULL if the section is
 * shorter. */
const void *ski_image_read(struct ski_image_reader *reader, size_t bytes);

/** Copies the next @p bytes bytes of the section to @p to.  Returns false, with nothing copied, if
 *  the section is shorter. */
bool ski_image_copy(struct ski_image_reader *reader, void *to, size_t bytes);

/** Skips what ski_image_align() has written. */
void ski_image_read_align(struct ski_image_reader *reader);

/** Returns the bytes that are left of the present section. */
size_t ski_image_left(const struct ski_image_reader *reader);

#endif
