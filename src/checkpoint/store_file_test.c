/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file_test.c - checkpoints in a directory: what was written comes back, plain and
 * compressed; any byte that has changed and any truncation is refused; a job that ends while it
 * writes, a full disk and a second job leave the checkpoint before as it was, and it is offered.
 */
#include "checkpoint/store_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/memory.h"
#include "checkpoint/checksum.h"
#include "checkpoint/commit.h"
#include "tests/tap.h"

enum { PES = 4, PROCESSES = 2, EACH = PES / PROCESSES };

static char                         root[] = "/dev/shm/store_file_test-XXXXXX"; /* or in /tmp */
static char                         path[96]; /* of the directory of checkpoints */
static const struct ski_compressor *packer;
static size_t                       taken_wrong; /* checkpoints that are wrong and not refused */

/* ---- making checkpoints ------------------------------------------------------------------------
 */

static struct ski_image_id id_of(uint64_t generation, int32_t pe)
{
    return (struct ski_image_id){.generation  = generation,
                                 .fingerprint = 99,
                                 .time_ns     = INT64_C(1794882000000000000),
                                 .pe          = pe,
                                 .pes         = PES,
                                 .process     = pe / EACH,
                                 .processes   = PROCESSES,
                                 .first_pe    = pe / EACH * EACH,
                                 .process_pes = EACH};
}

static size_t image_make(struct ski_image_memory *memory, uint64_t generation, int32_t pe,
                         size_t bytes)
{
    struct ski_image_id     id = id_of(generation, pe);
    struct ski_image_writer writer;
    size_t                  size;

    ski_image_memory_anonymous(memory);
    ski_image_begin(&writer, memory, &id, true);
    ski_image_section_begin(&writer, "data", 1);
    for (size_t i = 0; i < bytes; i++)
        ski_image_write(&writer, &(unsigned char){(unsigned char)(pe + (int)(i / 50))}, 1);
    ski_image_section_end(&writer);
    CHECK(ski_image_finish(&writer, &size) == SKUA_OK);
    return size;
}

/* Writes the file of a process. */
static bool process_write(uint64_t generation, int32_t process, size_t bytes, bool packed,
                          struct ski_image_file_written *written, char *reason)
{
    struct ski_image_memory      memory[EACH];
    struct ski_image_span        span[EACH];
    struct ski_image_file_source source = {.id         = id_of(generation, process * EACH),
                                           .image      = span,
                                           .compressor = packed ? packer : NULL,
                                           .level      = 3};
    bool                         ok;

    for (int32_t i = 0; i < EACH; i++) {
        size_t size = image_make(&memory[i], generation, process * EACH + i, bytes);

        span[i] = (struct ski_image_span){memory[i].base, size};
    }
    ok = ski_store_file_write(path, &source, written, reason);
    for (int32_t i = 0; i < EACH; i++)
        ski_image_memory_unmap(&memory[i]);
    return ok;
}

static bool checkpoint_make(struct ski_store_file *store, uint64_t generation, size_t bytes,
                            bool packed, char *reason)
{
    struct ski_manifest           manifest;
    struct ski_image_file_written written;
    bool                          ok = ski_store_file_prepare(store, generation, reason);

    ski_manifest_init(&manifest, PROCESSES);
    manifest.generation  = generation;
    manifest.fingerprint = 99;
    manifest.time_ns     = INT64_C(1794882000250000000);
    manifest.pes         = PES;
    manifest.hosts       = 1;
    strcpy(manifest.program, "a program");
    strcpy(manifest.skua, "1.0.0");
    for (int32_t i = 0; ok && i < PROCESSES; i++) {
        ok = process_write(generation, i, bytes, packed, &written, reason);
        manifest.image[i] =
            (struct ski_manifest_image){i * EACH, EACH, written.bytes, written.head_sum};
    }
    ok = ok && ski_store_file_commit(store, &manifest, 2, reason);
    ski_manifest_free(&manifest);
    return ok;
}

/* ---- reading them ------------------------------------------------------------------------------
 */

static bool image_right(struct ski_store_checkpoint *checkpoint, int32_t pe, size_t bytes,
                        char *reason)
{
    struct ski_image_reader reader;
    size_t                  size;
    uint32_t                version;
    void *image = ski_store_checkpoint_load(checkpoint, pe, &reader, &size, reason);
    bool  right = image && ski_image_section_find(&reader, "data", &version) &&
                 ski_image_left(&reader) == bytes;

    for (size_t i = 0; right && i < bytes; i++)
        right = *(const unsigned char *)ski_image_read(&reader, 1) ==
                (unsigned char)(pe + (int)(i / 50));
    taken_wrong += image && !right;
    ski_image_file_unload(image, size);
    return right;
}

/* Returns whether the checkpoint at @p where is generation @p generation and all its images are
 * right. */
static bool checkpoint_right(const char *where, uint64_t generation, size_t bytes, char *reason)
{
    struct ski_store_checkpoint checkpoint;
    bool                        right;

    if (!ski_store_checkpoint_open(&checkpoint, where, reason))
        return false;
    right = checkpoint.manifest.generation == generation && checkpoint.manifest.pes == PES;
    taken_wrong += !right;
    for (int32_t pe = PES - 1; right && pe >= 0; pe--)
        right = image_right(&checkpoint, pe, bytes, reason);
    ski_store_checkpoint_close(&checkpoint);
    return right;
}

static void test_generations(struct ski_store_file *store)
{
    struct ski_store_generation *list;
    char                         reason[SKI_STORE_REASON] = "";

    OK(ski_store_file_next(store) == 1, "the first generation of a directory is 1");
    for (uint64_t g = 1; g <= 3; g++)
        OK(checkpoint_make(store, g, 100, packer && g == 2, reason) &&
               checkpoint_right(path, g, 100, reason),
           "checkpoint %d is written and read: %s", (int)g, reason);
    OK(ski_store_file_list(path, &list, reason) == 2 && list[0].number == 2 &&
           list[1].number == 3 && list[0].state == SKI_STORE_COMMITTED,
       "two generations are kept");
    free(list);
    OK(ski_store_file_next(store) == 4, "numbers go on");
    OK(checkpoint_make(store, 4, 3 * SKI_IMAGE_CHUNK, packer != NULL, reason) &&
           checkpoint_right(path, 4, 3 * SKI_IMAGE_CHUNK, reason),
       "large images come back%s: %s", packer ? ", compressed" : "", reason);
}

/* ---- damage ------------------------------------------------------------------------------------
 */

static size_t file_read(const char *name, unsigned char **bytes)
{
    struct stat found;
    int         fd = open(name, O_RDONLY);

    CHECK(fd >= 0 && fstat(fd, &found) == 0);
    *bytes = ski_malloc((size_t)found.st_size + 1);
    CHECK(read(fd, *bytes, (size_t)found.st_size) == found.st_size);
    close(fd);
    return (size_t)found.st_size;
}

/* Changes one file, byte by byte, and returns the number of changes that are not refused. */
static size_t file_damage(const char *name, uint64_t generation, size_t bytes)
{
    unsigned char *whole;
    size_t         size = file_read(name, &whole), taken = 0;
    int            fd = open(name, O_WRONLY);
    char           reason[SKI_STORE_REASON];

    for (size_t i = 0; i < size; i++) {
        unsigned char changed = (unsigned char)(whole[i] ^ (1 << (i % 8)));

        CHECK(pwrite(fd, &changed, 1, (off_t)i) == 1);
        taken += checkpoint_right(path, generation, bytes, reason);
        CHECK(pwrite(fd, &whole[i], 1, (off_t)i) == 1);
    }
    for (size_t cut = size; cut-- > 0;) {
        CHECK(ftruncate(fd, (off_t)cut) == 0);
        taken += checkpoint_right(path, generation, bytes, reason);
    }
    CHECK(pwrite(fd, whole, size, 0) == (ssize_t)size && pwrite(fd, "x", 1, (off_t)size) == 1);
    taken += checkpoint_right(path, generation, bytes, reason);
    CHECK(ftruncate(fd, (off_t)size) == 0);
    close(fd);
    free(whole);
    return taken;
}

/* A bit that zstd does not look at may change: the image is right then. */
static void test_file_damage(uint64_t generation, size_t bytes, bool packed)
{
    static const char *const names[] = {"manifest", "image.0000", "image.0001"};
    char                     name[128], reason[SKI_STORE_REASON];

    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/gen-%06d/%s", path, (int)generation, names[i]);
        taken_wrong = 0;
        OK((file_damage(name, generation, bytes) == 0 || (packed && i > 0)) && taken_wrong == 0,
           "every changed byte and every truncation of %s is refused%s", names[i],
           packed ? ", or right (compressed)" : "");
    }
    OK(checkpoint_right(path, generation, bytes, reason), "and it is as it was: %s", reason);
}

static void test_refusals(void)
{
    char from[128], to[128], reason[SKI_STORE_REASON], offer[SKI_STORE_REASON];

    snprintf(from, sizeof from, "%s/gen-000005/image.0000", path);
    snprintf(to, sizeof to, "%s/gen-000006/image.0000", path);
    CHECK(unlink(to) == 0 && link(from, to) == 0);
    OK(!checkpoint_right(path, 6, 60, reason) && strstr(reason, "gen-000006: image.0000"),
       "a file of another checkpoint is refused: %s", reason);
    ski_store_file_offer(path, offer, sizeof offer);
    OK(strstr(offer, "checkpoint 5 of 2026-11-17T") && strstr(offer, "/gen-000005"),
       "the one before is offered: %s", offer);
    snprintf(to, sizeof to, "%s/gen-000006", path);
    ski_store_file_offer(to, offer, sizeof offer);
    OK(strstr(offer, "checkpoint 5 of "), "also by the name of the generation");
    snprintf(to, sizeof to, "%s/gen-000005", path);
    OK(checkpoint_right(to, 5, 60, reason), "and it is read: %s", reason);
    ski_store_file_offer(to, offer, sizeof offer);
    OK(strstr(offer, "there is no older checkpoint"), "there is none before: %s", offer);
    OK(!checkpoint_right(root, 1, 0, reason) && strstr(reason, "no complete checkpoint"),
       "a directory without any is refused: %s", reason);
    ski_store_file_offer(root, offer, sizeof offer);
    OK(strstr(offer, "SKUA_CHECKPOINT_DIR"), "the text says which one to name: %s", offer);
    OK(!checkpoint_right("/nonexistent", 1, 0, reason) && strstr(reason, "No such file"),
       "so is one that is not there: %s", reason);
}

/* ---- trouble while writing ----------------------------------------------------------------------
 */

/* A process that is killed when it has written one of two files. */
static void test_interrupted(struct ski_store_file *store)
{
    struct ski_image_file_written written;
    char                          reason[SKI_STORE_REASON] = "", name[128];
    struct stat                   found;
    int                           status;
    pid_t                         child;

    CHECK(ski_store_file_prepare(store, 8, reason));
    fflush(stdout);
    child = fork();
    if (child == 0) {
        process_write(8, 0, 50, false, &written, reason);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    OK(checkpoint_right(path, 7, 60, reason), "an interrupted checkpoint is not used: %s", reason);
    OK(checkpoint_make(store, 9, 60, false, reason) && checkpoint_right(path, 9, 60, reason),
       "the next one is: %s", reason);
    snprintf(name, sizeof name, "%s/gen-000008", path);
    OK(stat(name, &found) != 0 && errno == ENOENT, "and what was left has been removed");
}

/* A checkpoint whose manifest cannot be looked at, here a link to itself, may be complete. */
static void test_unreadable(struct ski_store_file *store)
{
    char        reason[SKI_STORE_REASON] = "", manifest[128], moved[128];
    struct stat found;

    snprintf(manifest, sizeof manifest, "%s/gen-000009/manifest", path);
    snprintf(moved, sizeof moved, "%s/moved", root);
    CHECK(rename(manifest, moved) == 0 && symlink("manifest", manifest) == 0);
    CHECK(ski_store_file_prepare(store, 10, reason));
    ski_store_file_remove(store, 10);
    OK(lstat(manifest, &found) == 0, "a checkpoint whose manifest cannot be looked at stays");
    OK(!checkpoint_right(path, 7, 60, reason) && strstr(reason, "gen-000009: the manifest cannot"),
       "a restart does not silently use an older one: %s", reason);
    CHECK(unlink(manifest) == 0 && mkdir(manifest, 0700) == 0);
    ski_store_file_remove(store, 9);
    CHECK(rmdir(manifest) == 0 && rename(moved, manifest) == 0);
    OK(checkpoint_right(path, 9, 60, reason), "so does one whose manifest cannot be removed: %s",
       reason);
}

/* A file that must not grow stands for a disk that is full. */
static void test_full(struct ski_store_file *store)
{
    struct rlimit before, small;
    char          reason[SKI_STORE_REASON] = "", name[128];
    bool          made;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small          = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    made = checkpoint_make(store, 10, 5000, false, reason);
    setrlimit(RLIMIT_FSIZE, &before);
    OK(!made && strstr(reason, "gen-000010: image.0000: writing failed after"),
       "a checkpoint that the disk does not hold fails: %s", reason);
    OK(checkpoint_right(path, 9, 60, reason), "the one before is used: %s", reason);
    snprintf(name, sizeof name, "%s/gen-000010/image.0000.failed", path);
    OK(access(name, F_OK) == 0, "a file says so");
    ski_store_file_remove(store, 10);
    OK(ski_store_file_next(store) == 10, "what was written of it can be removed");
}

/* The last checkpoint of a job, which one of two processes cannot write. */
static void test_last(void)
{
    struct ski_commit             commit                   = {.opened = false};
    struct ski_image_id           id                       = id_of(0, 0);
    char                          reason[SKI_STORE_REASON] = "", why[SKI_STORE_REASON];
    struct ski_image_file_written written;
    struct rlimit                 before, small;
    time_t                        began = time(NULL);

    CHECK(ski_commit_open(&commit, path, &id.generation, reason));
    CHECK(ski_commit_begin(&commit, &id, 1, reason));
    CHECK(process_write(id.generation, 0, 5000, false, &written, reason));
    getrlimit(RLIMIT_FSIZE, &before);
    small          = before;
    small.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK(!process_write(id.generation, 1, 5000, false, &written, why));
    setrlimit(RLIMIT_FSIZE, &before);
    OK(!ski_commit_close(&commit, 60, reason) && strstr(reason, "process 1 could not write"),
       "at the end of a job the process that failed is named: %s", reason);
    OK(time(NULL) - began < 30, "and not waited for");
}

static void test_directories(void)
{
    struct ski_store_file second;
    char                  reason[SKI_STORE_REASON], name[128];
    int                   fd;

    OK(!ski_store_file_open(&second, path, reason) && strstr(reason, "another job"),
       "a second job is refused: %s", reason);
    snprintf(name, sizeof name, "%s/file", root);
    fd = open(name, O_CREAT | O_WRONLY, 0600);
    close(fd);
    OK(!ski_store_file_open(&second, name, reason) && strstr(reason, "Not a directory"),
       "a file is no directory: %s", reason);
    if (geteuid() == 0)
        return; /* root may write everywhere */
    snprintf(name, sizeof name, "%s/closed", root);
    CHECK(mkdir(name, 0500) == 0);
    OK(!ski_store_file_open(&second, name, reason) && strstr(reason, "cannot be written"),
       "a directory that cannot be written is refused: %s", reason);
}

static void tree_remove(const char *name)
{
    DIR           *folder = opendir(name);
    struct dirent *entry;
    char           below[512];

    while (folder && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%s/%s", name, entry->d_name);
        if (unlink(below) != 0)
            tree_remove(below);
    }
    if (folder)
        closedir(folder);
    rmdir(name);
}

int main(void)
{
    struct ski_store_file store;
    char                  reason[SKI_STORE_REASON] = "";

    if (!mkdtemp(root))
        CHECK(mkdtemp(strcpy(root, "/tmp/store_file_test-XXXXXX")));
    CHECK(ski_config_load() == SKUA_OK);
    packer = ski_compressor_load(reason, sizeof reason);
    printf("# zstd: %s\n", packer ? "used" : reason);
    snprintf(path, sizeof path, "%s/run/checkpoints", root);
    if (!ski_checksum_available()) {
        OK(!ski_store_file_open(&store, path, reason) && strstr(reason, "xxHash"),
           "a build without checksums writes no files: %s", reason);
        tree_remove(root);
        return tap_end();
    }
    OK(ski_store_file_open(&store, path, reason), "a directory is made with its parents: %s",
       reason);
    test_generations(&store);
    CHECK(checkpoint_make(&store, 5, 60, false, reason));
    test_file_damage(5, 60, false);
    CHECK(checkpoint_make(&store, 6, 60, packer != NULL, reason));
    test_file_damage(6, 60, packer != NULL);
    test_refusals();
    CHECK(checkpoint_make(&store, 7, 60, false, reason));
    test_interrupted(&store);
    test_unreadable(&store);
    test_full(&store);
    test_directories();
    ski_store_file_close(&store);
    test_last();
    tree_remove(root);
    return tap_end();
}
