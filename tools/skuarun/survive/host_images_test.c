/* SPDX-License-Identifier: Apache-2.0 */
/* host_images_test.c - the newest generation is the newest one of which all images are complete. */
#include "survive/host_images.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/config.h"
#include "tests/tap.h"

#define MIB ((size_t)1 << 20)

static void test_host_images_newest(void)
{
    struct image_record record[] = {{4, 1, 6, 2, 0}, {4, 0, 6, 2, 0}, {5, 0, 6, 2, 0},
                                    {5, 2, 6, 2, 1}, {4, 2, 6, 2, 1}, {4, 1, 6, 2, 1}};
    struct image_record mixed[]  = {{3, 0, 2, 1, 0}, {3, 1, 4, 1, 0}};
    int                 pes      = 0;

    OK(host_images_newest(record, 6, &pes) == 4 && pes == 6, "5 lacks a process, 4 is complete");
    OK(host_images_newest(record, 2, &pes) == 0, "none is complete");
    OK(host_images_newest(record, 0, &pes) == 0, "there is none");
    OK(host_images_newest(mixed, 2, &pes) == 0, "images of jobs of different sizes do not mix");
}

static void host_images_test_write(int fd, int process, uint64_t generation)
{
    struct ski_image_head head = {.magic           = SKI_IMAGE_MAGIC,
                                  .generation      = generation,
                                  .process         = process,
                                  .pes             = 2,
                                  .pes_per_process = 1,
                                  .complete        = 1};

    OK(pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
           ftruncate(fd, SKI_IMAGE_OFFSET) == 0,
       "an image of process %d", process);
}

static void test_host_images_epochs(struct ski_arena *arena)
{
    struct ski_job_params plan   = {.pes = 2, .pes_per_process = 1, .pin = "none"};
    struct host_images    images = {0};
    struct image_record  *record;
    struct ski_job       *job;
    int                   count, pes;

    OK(ski_job_create(arena, &plan, &job) == SKUA_OK && host_images_prepare(&images, job, 1, 0) &&
           images.slots.count == 2 && images.slots.epoch == 1,
       "a slot for each process");
    host_images_test_write(images.slots.slot[0].fd[0], 0, 7);
    host_images_test_write(images.slots.slot[0].fd[1], 0, 8);
    host_images_test_write(images.slots.slot[1].fd[1], 1, 7);
    record = host_images_scan(&images, &count);
    OK(count == 3 && host_images_newest(record, count, &pes) == 7, "7 is complete");
    free(record);
    OK(host_images_prepare(&images, job, 2, 7) && images.slots.count == 2, "the next epoch");
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
