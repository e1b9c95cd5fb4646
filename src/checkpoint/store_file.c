/* SPDX-License-Identifier: Apache-2.0 */
/* store_file.c - see store_file.h: writing; store_file_read.c reads. */
#include "checkpoint/store_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/checksum.h"

/* ---- the directory -----------------------------------------------------------------------------
 */

/* Makes a directory and its parents.  What fails is seen when the directory is opened. */
static void store_make_folders(const char *path)
{
    char *copy = ski_store_copy_text(path, strlen(path));

    for (char *at = copy + 1; *copy && *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(copy, 0777);
            *at = '/';
        }
    mkdir(copy, 0777);
    free(copy);
}

bool ski_store_file_open(struct ski_store_file *store, const char *path, char *reason)
{
    if (!ski_checksum_available())
        return ski_store_refuse(reason, path,
                                "this Skua was built without xxHash, so it writes no "
                                "checkpoints to files (Debian: libxxhash-dev)");
    store_make_folders(path);
    store->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (store->fd < 0)
        return ski_store_refuse(reason, path, "the directory cannot be opened: %s",
                                strerror(errno));
    if (faccessat(store->fd, ".", W_OK | X_OK, AT_EACCESS) != 0 && errno != ENOSYS) {
        ski_store_refuse(reason, path, "the directory cannot be written: %s", strerror(errno));
    } else if (flock(store->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        ski_store_refuse(reason, path, "another job writes its checkpoints there");
    } else {
        store->path = ski_store_copy_text(path, strlen(path));
        return true;
    }
    close(store->fd);
    return false;
}

void ski_store_file_close(struct ski_store_file *store)
{
    close(store->fd);
    free(store->path);
    store->path = NULL;
}

uint64_t ski_store_file_next(const struct ski_store_file *store)
{
    struct ski_store_generation *list;
    int                          count = ski_store_folder_list(store->fd, &list);
    uint64_t                     next  = count > 0 ? list[count - 1].number + 1 : 1;

    free(list);
    return next;
}

/* ---- removing ----------------------------------------------------------------------------------
 */

static bool store_is_ours(const char *name)
{
    return strncmp(name, "image.", 6) == 0 || strcmp(name, SKI_MANIFEST_NAME) == 0 ||
           strcmp(name, SKI_MANIFEST_NAME SKI_STORE_TEMPORARY) == 0;
}

void ski_store_file_remove(struct ski_store_file *store, uint64_t generation)
{
    char           name[SKI_STORE_GENERATION];
    struct dirent *entry;
    DIR           *folder;
    int            fd;

    ski_store_generation_name(generation, name);
    fd = openat(store->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (unlinkat(fd, SKI_MANIFEST_NAME, 0) == 0) {
        fsync(fd); /* before any image is removed */
    } else if (errno != ENOENT) {
        close(fd); /* the checkpoint stays complete */
        return;
    }
    folder = fdopendir(fd);
    while (folder && (entry = readdir(folder)))
        if (store_is_ours(entry->d_name))
            unlinkat(fd, entry->d_name, 0);
    if (folder)
        closedir(folder);
    else
        close(fd);
    unlinkat(store->fd, name, AT_REMOVEDIR);
}

/* Returns whether a generation was committed by the same program. */
static bool store_same_program(struct ski_store_file *store, uint64_t generation,
                               uint64_t fingerprint)
{
    struct ski_store_checkpoint checkpoint;
    char                        reason[SKI_STORE_REASON];
    char                       *path = ski_store_generation_path(store->path, generation);
    bool                        same = false;

    if (ski_store_checkpoint_open(&checkpoint, path, reason)) {
        same = checkpoint.manifest.fingerprint == fingerprint;
        ski_store_checkpoint_close(&checkpoint);
    }
    free(path);
    return same;
}

/* Removes the oldest generations of the program but @p keep. */
static void store_prune(struct ski_store_file *store, uint64_t fingerprint, unsigned keep)
{
    struct ski_store_generation *list;
    int                          count = ski_store_folder_list(store->fd, &list);

    for (int i = count - 1; i >= 0; i--) {
        if (list[i].state != SKI_STORE_COMMITTED ||
            !store_same_program(store, list[i].number, fingerprint))
            continue;
        if (keep > 0)
            keep--;
        else
            ski_store_file_remove(store, list[i].number);
    }
    free(list);
}

/* ---- a generation ------------------------------------------------------------------------------
 */

bool ski_store_file_prepare(struct ski_store_file *store, uint64_t generation, char *reason)
{
    struct ski_store_generation *list;
    int                          count = ski_store_folder_list(store->fd, &list);
    char                         name[SKI_STORE_GENERATION];

    for (int i = 0; i < count; i++)
        if (list[i].state == SKI_STORE_UNFINISHED)
            ski_store_file_remove(store, list[i].number);
    free(list);
    ski_store_generation_name(generation, name);
    if (mkdirat(store->fd, name, 0777) != 0)
        return ski_store_refuse(reason, store->path, "%s cannot be created there: %s", name,
                                strerror(errno));
    fsync(store->fd);
    return true;
}

/* Opens the directory of a generation, whose path is @p path. */
static int store_open_generation(const char *path, char *reason)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        ski_store_refuse(reason, path, "the directory cannot be opened: %s", strerror(errno));
    return fd;
}

/* Gives a complete file its name and waits until the directory has it. */
static bool store_rename(int folder, const char *from, const char *to, const char *path,
                         char *reason)
{
    if (renameat(folder, from, folder, to) == 0 && fsync(folder) == 0)
        return true;
    return ski_store_refuse(reason, path, "%s cannot be renamed: %s", from, strerror(errno));
}

/* Leaves an empty file for process 0 to find, if it can no longer be told otherwise that the
 * process could not write its file. */
static void store_leave_failed(int folder, int32_t process)
{
    char name[SKI_STORE_GENERATION];
    int  fd;

    ski_store_failed_name(process, name);
    fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
}

/* Writes the file of a process into the directory @p path of its generation. */
static bool store_write_image(const char *path, const struct ski_image_file_source *source,
                              struct ski_image_file_written *written, char *reason)
{
    char name[SKI_STORE_GENERATION], temporary[SKI_STORE_GENERATION + sizeof SKI_STORE_TEMPORARY];
    char why[SKI_IMAGE_FILE_REASON];
    int  folder = store_open_generation(path, reason);
    bool ok;

    if (folder < 0)
        return false;
    ski_store_image_name(source->id.process, name);
    snprintf(temporary, sizeof temporary, "%s" SKI_STORE_TEMPORARY, name);
    ok = ski_image_file_write(folder, temporary, source, written, why);
    if (ok)
        ok = store_rename(folder, temporary, name, path, reason);
    else
        ski_store_refuse(reason, path, "%s: %s", name, why);
    if (!ok)
        store_leave_failed(folder, source->id.process);
    close(folder);
    return ok;
}

bool ski_store_file_write(const char *path, const struct ski_image_file_source *source,
                          struct ski_image_file_written *written, char *reason)
{
    char *whole = ski_store_generation_path(path, source->id.generation);
    bool  ok    = store_write_image(whole, source, written, reason);

    free(whole);
    return ok;
}

/* Writes a small file, and returns when it is on the disk. */
static bool store_write_text(int folder, const char *name, const char *text, size_t bytes)
{
    int  fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = fd >= 0;

    while (ok && bytes > 0) {
        ssize_t n = write(fd, text, bytes);

        ok = n > 0 || (n < 0 && errno == EINTR);
        text += n > 0 ? n : 0;
        bytes -= n > 0 ? (size_t)n : 0;
    }
    ok = ok && fsync(fd) == 0;
    if (fd >= 0 && close(fd) != 0)
        ok = false;
    return ok;
}

/* Writes a manifest into the directory @p path of its generation. */
static bool store_write_manifest(const char *path, const char *text, size_t bytes, char *reason)
{
    static const char temporary[] = SKI_MANIFEST_NAME SKI_STORE_TEMPORARY;
    int                                               folder = store_open_generation(path, reason);
    bool                                              ok;

    if (folder < 0)
        return false;
    ok = store_write_text(folder, temporary, text, bytes);
    if (ok) {
        ok = store_rename(folder, temporary, SKI_MANIFEST_NAME, path, reason);
    } else {
        ski_store_refuse(reason, path, "the manifest cannot be written: %s", strerror(errno));
        unlinkat(folder, temporary, 0);
    }
    close(folder);
    return ok;
}

bool ski_store_file_commit(struct ski_store_file *store, const struct ski_manifest *manifest,
                           unsigned keep, char *reason)
{
    char  *whole = ski_store_generation_path(store->path, manifest->generation);
    size_t bytes;
    char  *text = ski_manifest_text(manifest, &bytes);
    bool   ok   = store_write_manifest(whole, text, bytes, reason);

    free(text);
    free(whole);
    if (ok)
        store_prune(store, manifest->fingerprint, keep > 2 ? keep : 2);
    return ok;
}
