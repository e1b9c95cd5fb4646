/* SPDX-License-Identifier: Apache-2.0 */
/* store_file_read.c - see store_file.h: reading. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "checkpoint/store_file.h"

#define STORE_MANIFEST_MAX ((off_t)1 << 30) /* bytes; a longer manifest is refused */

int ski_store_file_list(const char *path, struct ski_store_generation **list, char *reason)
{
    int fd    = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = fd < 0 ? -1 : ski_store_folder_list(fd, list);

    if (count < 0) {
        ski_store_refuse(reason, path, "the directory cannot be read: %s", strerror(errno));
        *list = NULL;
    }
    if (fd >= 0)
        close(fd);
    return count;
}

/* ---- the manifest ------------------------------------------------------------------------------
 */

/* Returns the text of a file and its length, or NULL with errno set. */
static char *store_read_text(int folder, const char *name, size_t *bytes)
{
    int         fd   = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char       *text = NULL;
    struct stat found;
    ssize_t     n = -1;

    if (fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
        found.st_size < STORE_MANIFEST_MAX) {
        text = ski_calloc(1, (size_t)found.st_size + 1);
        n    = read(fd, text, (size_t)found.st_size);
    } else if (fd >= 0) {
        errno = EINVAL;
    }
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        free(text);
        return NULL;
    }
    *bytes = (size_t)n;
    return text;
}

static bool store_read_manifest(struct ski_store_checkpoint *checkpoint, char *reason)
{
    char   why[SKI_MANIFEST_REASON];
    size_t bytes;
    char  *text = store_read_text(checkpoint->folder, SKI_MANIFEST_NAME, &bytes);
    bool   ok;

    if (!text)
        return ski_store_refuse(reason, checkpoint->path,
                                errno == ENOENT ? "the checkpoint was not completed: it has no "
                                                  "manifest"
                                                : "the manifest cannot be read: %s",
                                strerror(errno));
    ok = ski_manifest_parse(&checkpoint->manifest, text, bytes, why);
    free(text);
    return ok || ski_store_refuse(reason, checkpoint->path, "manifest: %s", why);
}

/* ---- the checkpoint ----------------------------------------------------------------------------
 */

/* Returns the path of the newest generation in a directory that is committed, or may be, or NULL.
 */
static char *store_find_newest(const char *path, char *reason)
{
    struct ski_store_generation *list;
    int                          count = ski_store_file_list(path, &list, reason);
    int                          i     = count - 1;
    char                        *whole = NULL;

    while (i >= 0 && list[i].state == SKI_STORE_UNFINISHED)
        i--;
    if (i >= 0)
        whole = ski_store_generation_path(path, list[i].number);
    else if (count >= 0)
        ski_store_refuse(reason, path, "the directory has no complete checkpoint");
    free(list);
    return whole;
}

/* Opens the checkpoint in the directory of generation @p number. */
static bool store_open_number(struct ski_store_checkpoint *checkpoint, uint64_t number,
                              char *reason)
{
    checkpoint->folder = open(checkpoint->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (checkpoint->folder < 0)
        return ski_store_refuse(reason, checkpoint->path, "the directory cannot be opened: %s",
                                strerror(errno));
    return store_read_manifest(checkpoint, reason) &&
           (checkpoint->manifest.generation == number ||
            ski_store_refuse(reason, checkpoint->path,
                             "the manifest is the one of generation %" PRIu64,
                             checkpoint->manifest.generation));
}

bool ski_store_checkpoint_open(struct ski_store_checkpoint *checkpoint, const char *path,
                               char *reason)
{
    uint64_t number = ski_store_path_generation(path);

    *checkpoint = (struct ski_store_checkpoint){.process = -1, .folder = -1};
    checkpoint->path =
        number ? ski_store_copy_text(path, strlen(path)) : store_find_newest(path, reason);
    if (!checkpoint->path)
        return false;
    if (store_open_number(checkpoint, ski_store_path_generation(checkpoint->path), reason))
        return true;
    ski_store_checkpoint_close(checkpoint);
    return false;
}

void ski_store_checkpoint_close(struct ski_store_checkpoint *checkpoint)
{
    if (checkpoint->process >= 0)
        ski_image_file_close(&checkpoint->file);
    ski_manifest_free(&checkpoint->manifest);
    if (checkpoint->folder >= 0)
        close(checkpoint->folder);
    free(checkpoint->path);
    checkpoint->path    = NULL;
    checkpoint->process = -1;
}

static int32_t store_process_of(const struct ski_manifest *manifest, int32_t pe)
{
    int32_t process = 0;

    while (pe >= manifest->image[process].first_pe + manifest->image[process].pes)
        process++;
    return process;
}

/* Returns whether a file is the one that the manifest lists for a process. */
static bool store_file_belongs(const struct ski_manifest *manifest, int32_t process,
                               const struct ski_image_file *file)
{
    const struct ski_manifest_image *image = &manifest->image[process];

    return file->bytes == image->bytes && file->head_sum == image->head_sum &&
           file->id.process == process && file->id.processes == manifest->processes &&
           file->id.first_pe == image->first_pe && file->id.process_pes == image->pes &&
           file->id.pes == manifest->pes && file->id.generation == manifest->generation &&
           file->id.fingerprint == manifest->fingerprint;
}

/* Opens the file of a process, unless it is open. */
static bool store_open_process(struct ski_store_checkpoint *checkpoint, int32_t process,
                               char *reason)
{
    char name[SKI_STORE_GENERATION], why[SKI_IMAGE_FILE_REASON];

    if (checkpoint->process == process)
        return true;
    if (checkpoint->process >= 0)
        ski_image_file_close(&checkpoint->file);
    checkpoint->process = -1;
    ski_store_image_name(process, name);
    if (!ski_image_file_open(&checkpoint->file, checkpoint->folder, name, why))
        return ski_store_refuse(reason, checkpoint->path, "%s: %s", name, why);
    if (store_file_belongs(&checkpoint->manifest, process, &checkpoint->file)) {
        checkpoint->process = process;
        return true;
    }
    ski_image_file_close(&checkpoint->file);
    return ski_store_refuse(reason, checkpoint->path,
                            "%s: it is not the file that the manifest names: it belongs to another "
                            "checkpoint or is damaged",
                            name);
}

void *ski_store_checkpoint_load(struct ski_store_checkpoint *checkpoint, int32_t pe,
                                struct ski_image_reader *reader, size_t *bytes, char *reason)
{
    char    name[SKI_STORE_GENERATION], why[SKI_IMAGE_FILE_REASON];
    int32_t process;
    void   *image;

    if (pe < 0 || pe >= checkpoint->manifest.pes) {
        ski_store_refuse(reason, checkpoint->path, "the checkpoint has no PE %" PRId32, pe);
        return NULL;
    }
    process = store_process_of(&checkpoint->manifest, pe);
    if (!store_open_process(checkpoint, process, reason))
        return NULL;
    image = ski_image_file_load(&checkpoint->file, pe, reader, bytes, why);
    if (!image) {
        ski_store_image_name(process, name);
        ski_store_refuse(reason, checkpoint->path, "%s: %s", name, why);
    }
    return image;
}

bool ski_store_checkpoint_verify(struct ski_store_checkpoint *checkpoint, char *reason)
{
    struct ski_image_reader reader;
    size_t                  bytes;

    for (int32_t pe = 0; pe < checkpoint->manifest.pes; pe++) {
        void *image = ski_store_checkpoint_load(checkpoint, pe, &reader, &bytes, reason);

        if (!image)
            return false;
        ski_image_file_unload(image, bytes);
    }
    return true;
}

/* ---- what there is instead ----------------------------------------------------------------------
 */

/* Writes the offer of the generation in the directory @p path if it is intact. */
static bool store_offer_one(const char *path, char *text, size_t size)
{
    struct ski_store_checkpoint checkpoint;
    char                        reason[SKI_STORE_REASON], when[32];
    bool                        intact;

    if (!ski_store_checkpoint_open(&checkpoint, path, reason))
        return false;
    intact = ski_store_checkpoint_verify(&checkpoint, reason);
    ski_manifest_time(checkpoint.manifest.time_ns, when);
    if (intact)
        snprintf(text, size, "checkpoint %" PRIu64 " of %s is intact: skuarun --restart %s",
                 checkpoint.manifest.generation, when, path);
    ski_store_checkpoint_close(&checkpoint);
    return intact;
}

/* Writes the offer of the newest intact generation before @p refused; 0 is the newest one of all.
 * Sets *@p committed to whether the directory has a generation with a manifest. */
static bool store_offer_before(const char *folder, uint64_t refused, char *text, size_t size,
                               bool *committed)
{
    struct ski_store_generation *list;
    char                         reason[SKI_STORE_REASON];
    int                          count   = ski_store_file_list(folder, &list, reason);
    bool                         offered = false;

    *committed = false;
    for (int i = count - 1; i >= 0 && !offered; i--) {
        if (list[i].state == SKI_STORE_UNFINISHED)
            continue;
        *committed = true;
        if (refused && list[i].number < refused) {
            char *path = ski_store_generation_path(folder, list[i].number);

            offered = store_offer_one(path, text, size);
            free(path);
        }
        refused = refused ? refused : list[i].number;
    }
    free(list);
    return offered;
}

void ski_store_file_offer(const char *path, char *text, size_t size)
{
    uint64_t refused = ski_store_path_generation(path);
    size_t   length  = refused ? ski_store_path_folder(path) : strlen(path);
    bool     committed, offered;
    char    *folder;

    folder  = length ? ski_store_copy_text(path, length) : ski_store_copy_text(".", 1);
    offered = store_offer_before(folder, refused, text, size, &committed);
    if (!committed)
        snprintf(text, size,
                 "name the directory that the former job wrote its checkpoints to "
                 "(SKUA_CHECKPOINT_DIR; skua checkpoint ls DIR lists them)");
    else if (!offered)
        snprintf(text, size, "there is no older checkpoint in %s that is intact", folder);
    free(folder);
}
