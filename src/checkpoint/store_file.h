/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.h - a directory of checkpoints.
 *
 *     DIR/gen-000017/image.0000     the images of the PEs of process 0 (image_file.h)
 *     DIR/gen-000017/image.0001
 *     DIR/gen-000017/manifest       what the images are of (manifest.h)
 *
 * Writing.  Process 0 *prepares* a generation: it removes what an interrupted checkpoint left and
 * makes the directory.  Each process then writes its file under a temporary name, waits for the
 * disk, and renames it.  When all have done so, process 0 *commits*: it writes the manifest the
 * same way and waits for the directories.  The rename of the manifest is the moment at which the
 * checkpoint exists; whatever ends a job before leaves a directory without a manifest, which no
 * restart uses and the next checkpoint removes.  Older generations are removed after that.
 *
 * Process 0 holds a lock of the directory (flock()) as long as it has it open, so no second job
 * removes what this one is writing.
 *
 * Reading.  A restart reads the manifest and the images that it needs.  Everything is checked; what
 * is refused is named with its path and the reason.
 *
 * Functions here may block.  They log nothing and return a reason, which begins with the path.
 */
#ifndef SKI_STORE_FILE_H
#define SKI_STORE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/image_file.h"
#include "checkpoint/manifest.h"
#include "checkpoint/store_folder.h"

/* A directory that checkpoints are written to, in process 0. */
struct ski_store_file {
    int   fd;
    char *path;
};

/* A checkpoint that is open for reading. */
struct ski_store_checkpoint {
    struct ski_manifest   manifest;
    int                   folder;  /* descriptor of the directory of the generation */
    char                 *path;    /* path of that directory                        */
    int32_t               process; /* whose file is open; -1: none                 */
    struct ski_image_file file;
};

/* ---- writing ---- */

/** Opens directory @p path, which is made with its parents if it does not exist, and locks it.
 *  Returns false, with @p reason written, if it cannot be written or another job has it. */
bool ski_store_file_open(struct ski_store_file *store, const char *path, char *reason);

/** Closes a directory and unlocks it. */
void ski_store_file_close(struct ski_store_file *store);

/** Returns the number for the next generation: one more than any in the directory. */
uint64_t ski_store_file_next(const struct ski_store_file *store);

/** Removes generations that certainly have no manifest and makes the directory of @p generation. */
bool ski_store_file_prepare(struct ski_store_file *store, uint64_t generation, char *reason);

/** Writes the file of the process of @p source into its generation in directory @p path, which is
 *  prepared, and waits for the disk.  Every process calls it, in any thread.  If it fails, it
 * leaves the file of ski_store_failed_name() there. */
bool ski_store_file_write(const char *path, const struct ski_image_file_source *source,
                          struct ski_image_file_written *written, char *reason);

/** Makes the generation of @p manifest valid, and then removes older generations of the same
 *  program so that @p keep remain, two at least. */
bool ski_store_file_commit(struct ski_store_file *store, const struct ski_manifest *manifest,
                           unsigned keep, char *reason);

/** Removes a generation, its manifest first.  If the manifest cannot be removed, nothing is.  Files
 * that Skua does not write there stay, and so does the directory then. */
void ski_store_file_remove(struct ski_store_file *store, uint64_t generation);

/* ---- reading ---- */

/** Lists the generations in directory @p path, oldest first.  Returns their number, or -1 with
 *  @p reason written; the caller frees @p list. */
int ski_store_file_list(const char *path, struct ski_store_generation **list, char *reason);

/** Opens the checkpoint in @p path: a directory of a generation, or a directory of checkpoints, of
 *  which the newest that is committed is taken.  The images are not read yet. */
bool ski_store_checkpoint_open(struct ski_store_checkpoint *checkpoint, const char *path,
                               char *reason);

/** Reads and checks the image of PE @p pe and prepares a reader of it.  Returns the image, which
 *  ski_image_file_unload() frees with @p bytes, or NULL with @p reason written. */
void *ski_store_checkpoint_load(struct ski_store_checkpoint *checkpoint, int32_t pe,
                                struct ski_image_reader *reader, size_t *bytes, char *reason);

/** Reads and checks the images of all PEs.  Returns whether all are intact. */
bool ski_store_checkpoint_verify(struct ski_store_checkpoint *checkpoint, char *reason);

/** Closes a checkpoint. */
void ski_store_checkpoint_close(struct ski_store_checkpoint *checkpoint);

/** Writes, for the refusal of the checkpoint in @p path, what there is instead: the sentence
 *  names the newest older generation whose images are all intact and the command that restarts from
 *  it, says that there is none, or, if the directory has no checkpoint at all, which directory to
 *  name.  It reads these images. */
void ski_store_file_offer(const char *path, char *text, size_t size);

#endif
