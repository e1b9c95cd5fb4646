/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - see commit.h. */
#include "checkpoint/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <skua/version.h>

#include "base/config.h"

bool ski_commit_open(struct ski_commit *commit, const char *path, uint64_t *generation,
                     char *reason)
{
    uint64_t next;

    if (commit->opened && strcmp(commit->store.path, path) != 0) {
        ski_store_file_close(&commit->store);
        commit->opened = false;
    }
    if (!commit->opened)
        commit->opened = ski_store_file_open(&commit->store, path, reason);
    if (!commit->opened)
        return false;
    next        = ski_store_file_next(&commit->store);
    *generation = next > *generation ? next : *generation;
    return true;
}

bool ski_commit_begin(struct ski_commit *commit, const struct ski_image_id *id, int32_t hosts,
                      char *reason)
{
    struct ski_manifest *manifest = &commit->manifest;

    if (!ski_store_file_prepare(&commit->store, id->generation, reason)) {
        ski_store_file_close(&commit->store); /* the directory may have been replaced */
        commit->opened = false;
        return false;
    }
    ski_manifest_init(manifest, id->processes);
    manifest->generation  = id->generation;
    manifest->fingerprint = id->fingerprint;
    manifest->time_ns     = id->time_ns;
    manifest->pes         = id->pes;
    manifest->hosts       = hosts;
    snprintf(manifest->program, sizeof manifest->program, "%s", program_invocation_short_name);
    snprintf(manifest->skua, sizeof manifest->skua, "%s", SKUA_VERSION);
    commit->writing = true;
    commit->missing = id->processes;
    commit->failed  = false;
    return true;
}

bool ski_commit_add(struct ski_commit *commit, int32_t process, int32_t first_pe, int32_t pes,
                    const struct ski_image_file_written *written)
{
    struct ski_manifest_image *image = &commit->manifest.image[process];

    image->first_pe = first_pe;
    image->pes      = pes;
    if (written) {
        image->bytes    = written->bytes;
        image->head_sum = written->head_sum;
    }
    commit->failed |= !written;
    return --commit->missing == 0;
}

bool ski_commit_finish(struct ski_commit *commit, char *reason)
{
    bool ok =
        !commit->failed && ski_store_file_commit(&commit->store, &commit->manifest,
                                                 (unsigned)ski_config.checkpoint_keep, reason);

    if (!ok)
        ski_store_file_remove(&commit->store, commit->manifest.generation);
    ski_manifest_free(&commit->manifest);
    commit->writing = false;
    return ok;
}

/* ---- the end ---------------------------------------------------------------------------- */

/* Returns whether @p process has left the file that says that it could not write its image file. */
static bool commit_find_failed(const struct ski_commit *commit, int32_t process)
{
    char name[SKI_STORE_GENERATION], folder[SKI_STORE_GENERATION], path[2 * SKI_STORE_GENERATION];

    ski_store_generation_name(commit->manifest.generation, folder);
    ski_store_failed_name(process, name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return faccessat(commit->store.fd, path, F_OK, 0) == 0;
}

/* Adds the file of @p process if it is there.  It has its name once it is complete. */
static bool commit_find(struct ski_commit *commit, int32_t process, char *reason)
{
    struct ski_manifest_image *image = &commit->manifest.image[process];
    char                       path[64], why[SKI_IMAGE_FILE_REASON];
    struct ski_image_file      file;

    if (image->pes)
        return true;
    if (commit_find_failed(commit, process)) {
        snprintf(reason, SKI_STORE_REASON, "process %d could not write its file", (int)process);
        (void)ski_commit_add(commit, process, 0, 1, NULL);
        return true;
    }
    snprintf(path, sizeof path, "gen-%06llu/image.%04d",
             (unsigned long long)commit->manifest.generation, (int)process);
    if (!ski_image_file_open(&file, commit->store.fd, path, why))
        return false;
    (void)ski_commit_add(commit, process, file.id.first_pe, file.id.process_pes,
                         &(struct ski_image_file_written){file.bytes, file.head_sum});
    ski_image_file_close(&file);
    return true;
}

/* Looks for the files of all processes until they are there, or could not be written. */
static void commit_wait(struct ski_commit *commit, double seconds, char *reason)
{
    int32_t i = 0;

    for (int64_t left = (int64_t)(seconds * 1000); commit->missing > 0 && left > 0; left--) {
        for (i = 0; i < commit->manifest.processes; i++)
            if (!commit_find(commit, i, reason))
                break;
        if (commit->missing > 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (commit->missing > 0)
        snprintf(reason, SKI_STORE_REASON,
                 "process %d has not written its file in time; call skua_checkpoint_flush() before "
                 "skua_exit()",
                 (int)i);
}

bool ski_commit_close(struct ski_commit *commit, double seconds, char *reason)
{
    bool ok = true;

    if (!commit->opened)
        return true;
    if (commit->writing) {
        snprintf(reason, SKI_STORE_REASON, "a process could not write its file");
        commit_wait(commit, seconds, reason);
        commit->failed |= commit->missing > 0;
        ok = ski_commit_finish(commit, reason);
    }
    ski_store_file_close(&commit->store);
    commit->opened = false;
    return ok;
}
