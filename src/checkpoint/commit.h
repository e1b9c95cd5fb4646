/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit.h - at PE 0: the directory that checkpoints are written to, and the generation in it whose
 * files the processes are writing (store_file.h).
 *
 * The directory stays open, and locked, from one checkpoint to the next.  All functions may block
 * in system calls, but none writes more than a manifest.
 */
#ifndef SKI_COMMIT_H
#define SKI_COMMIT_H

#include "checkpoint/store_file.h"

/* The directory, and the generation that is being written. */
struct ski_commit {
    struct ski_store_file store;
    bool                  opened;
    bool                  writing;  /* a generation is prepared, and not committed */
    struct ski_manifest   manifest; /* manifest of that generation                 */
    int32_t               missing;  /* files that processes have not written       */
    bool                  failed;   /* one of them has failed                      */
};

/** Opens directory @p path, unless it is open.  Sets *generation to the number of the next
 *  generation, or leaves it if it is higher.  Returns false with @p reason, of SKI_STORE_REASON
 *  bytes, written. */
bool ski_commit_open(struct ski_commit *commit, const char *path, uint64_t *generation,
                     char *reason);

/** Makes the directory of generation @p id->generation, which @p hosts hosts write to. */
bool ski_commit_begin(struct ski_commit *commit, const struct ski_image_id *id, int32_t hosts,
                      char *reason);

/** Records that @p process, with @p pes PEs from @p first_pe on, has written its file, or has
 *  failed: @p written is NULL.  Returns true if it is the last one. */
bool ski_commit_add(struct ski_commit *commit, int32_t process, int32_t first_pe, int32_t pes,
                    const struct ski_image_file_written *written);

/** Makes the generation valid, all of whose files are written, or removes it if one has failed. */
bool ski_commit_finish(struct ski_commit *commit, char *reason);

/** At the end of the process: waits up to @p seconds for files that other processes are still
 *  writing, makes the generation valid if all appear, and closes the directory.  A process that
 * could not write its file is not waited for.  Returns false, with @p reason written, if a
 * generation is lost. */
bool ski_commit_close(struct ski_commit *commit, double seconds, char *reason);

#endif
