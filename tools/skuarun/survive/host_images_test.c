/* SPDX-License-Identifier: Apache-2.0 */
/* host_images_test.c - the newest generation is the newest one of which all images are complete. */
#include "survive/host_images.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"
#include "checkpoint/image_store.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static void test_host_images_newest(void)
{
    struct image_record record[] = {{4, 1, 3, 6}, {4, 0, 3, 6}, {5, 0, 3, 6},
                                    {5, 2, 3, 6}, {4, 2, 3, 6}, {4, 1, 3, 6}};
    struct image_record mixed[]  = {{3, 0, 2, 2}, {3, 1, 4, 4}};

    OK(host_images_newest(record, 6) == 4, "5 lacks a process, 4 is complete");
    OK(host_images_newest(record, 2) == 0, "none is complete");
    OK(host_images_newest(record, 0) == 0, "there is none");
    OK(host_images_newest(mixed, 2) == 0, "images of jobs of different sizes do not mix");
}

/* Writes an image of a process of one PE, in a job of two. */
static void host_images_test_write(const struct ski_image_slot *slot, uint64_t generation,
                                   uint64_t kept)
{
    struct ski_image_id     id    = {.generation  = generation,
                                     .pe          = slot->process,
                                     .pes         = 2,
                                     .process     = slot->process,
                                     .processes   = 2,
                                     .first_pe    = slot->process,
                                     .process_pes = 1};
    struct ski_image_store *store = ski_image_store_open(1, slot->fd);
    struct ski_image_writer writer;
    size_t                  bytes;

    ski_image_begin(&writer, ski_image_store_memory(store, &id, kept), &id, false);
    OK(ski_image_finish(&writer, &bytes) == SKUA_OK && ski_image_store_add(store, &id, bytes),
       "an image of process %d", slot->process);
    ski_image_store_close(store);
}

static void test_host_images_epochs(struct ski_arena *arena)
{
    struct ski_job_params plan   = {.pes = 2, .pes_per_process = 1, .pin = "none"};
    struct host_images    images = {0};
    struct image_record  *record;
    struct ski_job       *job;
    int                   count;

    OK(ski_job_create(arena, &plan, &job) == SKUA_OK &&
           host_images_prepare(&images, job, &(struct host_images_plan){.epoch = 1}) &&
           images.slots.count == 2 && images.slots.epoch == 1,
       "a slot for each process");
    host_images_test_write(&images.slots.slot[0], 7, 0);
    host_images_test_write(&images.slots.slot[0], 8, 7);
    host_images_test_write(&images.slots.slot[1], 7, 0);
    record = host_images_scan(&images, &count);
    OK(count == 3 && host_images_newest(record, count) == 7, "7 is complete");
    free(record);
    OK(host_images_prepare(&images, job, &(struct host_images_plan){2, 7, (const int[]){1}, 1}) &&
           images.slots.count == 2 && !images.slots.slot[0].read && images.slots.slot[1].read,
       "the next epoch reads one of them");
    OK(host_images_prepare(&images, job, &(struct host_images_plan){2, 7, NULL, HOST_IMAGES_ALL}) &&
           images.slots.slot[0].read && images.slots.slot[1].read,
       "or both");
    record = host_images_scan(&images, &count);
    OK(count == 2 && record[0].generation == 7 && record[1].generation == 7, "has nothing else");
    free(record);
    host_images_close(&images);
}

int main(void)
{
    struct ski_arena *arena;
    int               fd;

    ski_config_load();
    if (ski_arena_create(16 * MIB, 0, MIB, &arena, &fd) != SKUA_OK)
        return 1;
    test_host_images_newest();
    test_host_images_epochs(arena);
    ski_arena_detach(arena);
    close(fd);
    return tap_end();
}
