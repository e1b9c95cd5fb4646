/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_store_test.c - PEs that are threads put their images into one store: in memfds the
 * generation that is kept survives one that fails and the process itself; files are written while
 * the threads go on, and a failure to write is a result.
 */
#include "checkpoint/image_store.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "checkpoint/checksum.h"
#include "checkpoint/store_memory.h"
#include "tests/tap.h"

enum { STORE_PES = 3, STORE_BYTES = 300000 };

/* What a thread that stands for a PE does. */
struct store_pe {
    struct ski_image_store *store;
    uint64_t                generation, kept;
    int32_t                 pe;
    bool                    last;
};

static struct ski_image_id store_id(uint64_t generation, int32_t pe)
{
    return (struct ski_image_id){.generation  = generation,
                                 .fingerprint = 5,
                                 .pe          = 6 + pe,
                                 .pes         = 9,
                                 .process     = 2,
                                 .processes   = 3,
                                 .first_pe    = 6,
                                 .process_pes = STORE_PES};
}

static void *store_pack(void *arg)
{
    struct store_pe        *pe = arg;
    struct ski_image_id     id = store_id(pe->generation, pe->pe);
    struct ski_image_writer writer;
    size_t                  bytes;

    ski_image_begin(&writer, ski_image_store_memory(pe->store, &id, pe->kept), &id, true);
    ski_image_section_begin(&writer, "data", 1);
    memset(ski_image_reserve(&writer, STORE_BYTES), (int)pe->generation + pe->pe, STORE_BYTES);
    ski_image_section_end(&writer);
    CHECK(ski_image_finish(&writer, &bytes) == SKUA_OK);
    pe->last = ski_image_store_add(pe->store, &id, bytes);
    return NULL;
}

/* Has the first @p count PEs pack, side by side.  Returns how many were told that they are last. */
static int store_pack_all(struct ski_image_store *store, uint64_t generation, uint64_t kept,
                          int count)
{
    pthread_t       thread[STORE_PES];
    struct store_pe pe[STORE_PES];
    int             last = 0;

    for (int i = 0; i < count; i++) {
        pe[i] = (struct store_pe){store, generation, kept, i, false};
        CHECK(pthread_create(&thread[i], NULL, store_pack, &pe[i]) == 0);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(thread[i], NULL);
        last += pe[i].last;
    }
    return last;
}

/* Returns whether the memfds have all images of a generation, with their contents. */
static bool store_has(const int fd[2], uint64_t generation)
{
    struct ski_image_id     first;
    struct ski_image_reader reader;
    char                    reason[SKI_IMAGE_REASON];
    uint32_t                version;
    size_t                  bytes;
    bool                    right = true;
    int                     at    = ski_store_memory_find(fd, generation, &first);

    for (int32_t i = 0; at >= 0 && right && i < STORE_PES; i++) {
        const void *image = ski_store_memory_map(at, i, &reader, &bytes, reason);
        const char *data  = image && ski_image_section_find(&reader, "data", &version)
                                ? ski_image_read(&reader, STORE_BYTES)
                                : NULL;

        right =
            data && data[0] == (char)(generation + (uint64_t)i) && data[STORE_BYTES - 1] == data[0];
        ski_store_memory_unmap(image, bytes);
    }
    return at >= 0 && right;
}

static void test_memory(const int fd[2])
{
    struct ski_image_store *store = ski_image_store_open(STORE_PES, fd);

    OK(store_pack_all(store, 1, 0, STORE_PES) == 1 && store_has(fd, 1),
       "images of PEs are in memory, and one PE is told that it is the last");
    OK(store_pack_all(store, 2, 1, STORE_PES) == 1 && store_has(fd, 1) && store_has(fd, 2),
       "two generations are there");
    OK(store_pack_all(store, 3, 2, 2) == 0 && store_has(fd, 2) && !store_has(fd, 3),
       "one that is not complete does not count");
    OK(store_pack_all(store, 4, 2, STORE_PES) == 1 && store_has(fd, 2) && store_has(fd, 4),
       "and the next one replaces it, not the one that is kept");
    ski_image_store_close(store);
    OK(store_has(fd, 4), "images outlive their store");
}

/* A process that is killed while its PEs pack. */
static void test_killed(const int fd[2])
{
    struct ski_image_store *store;
    int                     status;
    pid_t                   child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        struct ski_image_writer writer;
        struct ski_image_id     id = store_id(6, 0);

        store = ski_image_store_open(STORE_PES, fd);
        store_pack_all(store, 5, 4, STORE_PES);
        ski_image_begin(&writer, ski_image_store_memory(store, &id, 5), &id, true);
        raise(SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    OK(store_has(fd, 5) && !store_has(fd, 4) && !store_has(fd, 6),
       "a process that is killed leaves the generation that it completed");
    store = ski_image_store_open(STORE_PES, fd);
    OK(store_pack_all(store, 6, 5, STORE_PES) == 1 && store_has(fd, 5) && store_has(fd, 6),
       "its successor continues from there");
    ski_image_store_close(store);
}

/* A buddy has the image in pieces, the header last. */
static void test_buddy(const int fd[2])
{
    int                     copy[2] = {memfd_create("buddy", MFD_CLOEXEC), -1};
    struct ski_image_id     first;
    struct ski_image_reader reader;
    char                    reason[SKI_IMAGE_REASON];
    bool                    early = false;

    for (int32_t i = 0; i < STORE_PES; i++) {
        size_t      bytes;
        const char *image =
            ski_store_memory_map(ski_store_memory_find(fd, 6, &first), i, &reader, &bytes, reason);

        CHECK(image);
        CHECK(ski_store_memory_put(copy[0], i, SKI_IMAGE_HEADER, image + SKI_IMAGE_HEADER,
                                   bytes - SKI_IMAGE_HEADER));
        early |= store_has(copy, 6);
        CHECK(ski_store_memory_put(copy[0], i, 0, image, SKI_IMAGE_HEADER));
        ski_store_memory_unmap(image, bytes);
    }
    OK(!early && store_has(copy, 6), "a copy is complete with its last header");
    ski_store_memory_clear(copy[0]);
    OK(!store_has(copy, 6), "it can be cleared");
    close(copy[0]);
}

/* Files are written from anonymous memory. */
static void test_write(const char *path)
{
    struct ski_image_store *store = ski_image_store_open(STORE_PES, NULL);
    struct ski_write_result result;
    struct ski_store_file   file;
    char                    reason[SKI_STORE_REASON] = "";

    CHECK(ski_store_file_open(&file, path, reason));
    OK(!ski_image_store_take(store, true, &result), "there is no result without an order");
    for (uint64_t g = 1; g <= 2; g++) {
        CHECK(ski_store_file_prepare(&file, g, reason));
        CHECK(store_pack_all(store, g, g - 1, STORE_PES) == 1);
        ski_image_store_write(store, path, NULL, 0);
        OK(ski_image_store_take(store, true, &result) && result.ok && result.generation == g &&
               result.written.bytes > STORE_PES * STORE_BYTES,
           "the file of generation %d is written", (int)g);
        ski_store_file_remove(&file, g);
    }
    CHECK(store_pack_all(store, 3, 2, STORE_PES) == 1);
    ski_image_store_write(store, path, NULL, 0);
    OK(ski_image_store_take(store, true, &result) && !result.ok &&
           strstr(result.reason, "gen-000003: the directory cannot be opened"),
       "what cannot be written is a result: %s", result.reason);
    CHECK(ski_store_file_prepare(&file, 4, reason));
    CHECK(store_pack_all(store, 4, 2, STORE_PES) == 1);
    ski_image_store_write(store, path, NULL, 0);
    ski_image_store_close(store); /* waits */
    ski_store_file_remove(&file, 4);
    OK(rmdir(path) == 0, "a store that is closed has written all, and leaves nothing");
    ski_store_file_close(&file);
}

int main(void)
{
    char path[] = "/tmp/image_store_test-XXXXXX";
    int  fd[2]  = {memfd_create("image0", MFD_CLOEXEC), memfd_create("image1", MFD_CLOEXEC)};

    CHECK(fd[0] >= 0 && fd[1] >= 0 && mkdtemp(path));
    test_memory(fd);
    test_killed(fd);
    test_buddy(fd);
    close(fd[0]);
    close(fd[1]);
    if (ski_checksum_available())
        test_write(path);
    else
        rmdir(path);
    return tap_end();
}
