/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_store.h - where the PEs of one process put their images, and what becomes of these.
 *
 * With memfds (store_memory.h) images are packed into them: the checkpoint in memory is complete
 * when the last PE of the process is.  Without, they are packed into anonymous memory.  Either way
 * the packed images are then written to a directory, if one is wanted, by the writer thread while
 * the program continues; the program stops for the packing alone.
 *
 * Memory is bounded: the packed state once, or twice with memfds.  It is kept from one checkpoint
 * to the next, so that only the first ones pay for page faults.
 *
 * Which memfd a checkpoint uses: the one that does not hold the generation that is to be kept, the
 * last one that all processes have.  So a checkpoint that fails never costs the one before it.
 *
 * All functions may be called by all PEs of the process, one after the other where it is said.
 */
#ifndef SKI_IMAGE_STORE_H
#define SKI_IMAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/image_format.h"
#include "checkpoint/writer_thread.h"

struct ski_image_store;

/** Makes the store of a process with @p pes PEs.  @p fd are two memfds, which stay the caller's and
 *  live as long as the store, or NULL. */
struct ski_image_store *ski_image_store_open(int32_t pes, const int *fd);

/** Returns the memory for the image @p id of a PE of the process.  @p kept is the last generation
 *  that all processes have, or 0.  No image of the process is being written to a directory: the
 *  result of the last ski_image_store_write() was taken. */
struct ski_image_memory *ski_image_store_memory(struct ski_image_store    *store,
                                                const struct ski_image_id *id, uint64_t kept);

/** Records that the image @p id is complete, with @p bytes bytes.  Returns true if it is the last
 *  one of the process: the caller then calls ski_image_store_write(), unless the checkpoint stays
 * in memory alone. */
bool ski_image_store_add(struct ski_image_store *store, const struct ski_image_id *id,
                         size_t bytes);

/** Returns the complete images of the generation that was added last, one for each PE of the
 *  process.  They stay until the generation after the next one begins. */
const struct ski_image_span *ski_image_store_images(const struct ski_image_store *store);

/** Begins to write the images of the generation that was added last to directory @p path, where the
 *  generation is prepared (store_file.h).  @p compressor is NULL to write them as they are. */
void ski_image_store_write(struct ski_image_store *store, const char *path,
                           const struct ski_compressor *compressor, int level);

/** Takes the result of ski_image_store_write().  Returns false if it is not done.  With @p wait it
 *  waits for it, as a process does that exits. */
bool ski_image_store_take(struct ski_image_store *store, bool wait,
                          struct ski_write_result *result);

/** Waits until nothing is being written and frees the store.  Images in memfds stay. */
void ski_image_store_close(struct ski_image_store *store);

#endif
