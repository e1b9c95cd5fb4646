/* SPDX-License-Identifier: Apache-2.0 */
/* image_slots_test.c - the variable that names the image slots is read as it is written, or
 * refused; heads of images are checked; every process has a buddy on another host. */
#include "boot/image_slots.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "tests/tap.h"

static void test_image_slots_text(void)
{
    struct ski_image_slot  slot[] = {{0, {3, 4}, 1}, {65534, {1048575, 1048574}, 0}};
    struct ski_image_slots slots = {7, UINT64_MAX, 2, slot}, read = {0};
    char                  *text = ski_image_slots_text(&slots);

    OK(strcmp(text, "7,18446744073709551615;0:3:4:1;65534:1048575:1048574:0") == 0, "two slots");
    OK(ski_image_slots_parse(text, &read) && read.epoch == 7 && read.generation == UINT64_MAX &&
           read.count == 2 && memcmp(read.slot, slot, sizeof slot) == 0,
       "are read as they were written");
    OK(ski_image_slot_find(&read, 65534)->fd[1] == 1048574 && !ski_image_slot_find(&read, 1),
       "a slot is found by its process");
    free(text);
    free(read.slot);
}

static void test_image_slots_refused(void)
{
    static const char *const bad[] = {"",
                                      "1",
                                      "0,1",
                                      "x,1",
                                      "1,1;",
                                      "1,1;0:3",
                                      "1,1;0:3:4",
                                      "1,1;0:3:4:1;",
                                      "1,1;-1:3:4:1",
                                      "1,1;0:-3:4:1",
                                      "1,1;0:3:4:",
                                      "1,1;0:3:4:1 ",
                                      "1,1;0:3:4:2",
                                      "1,1;0:3:4:0x5",
                                      "1,1,0:3:4:0"};
    struct ski_image_slots   slots = {.epoch = 99};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        OK(!ski_image_slots_parse(bad[i], &slots) && slots.epoch == 99, "\"%s\" is refused",
           bad[i]);
}

/* Each of 7 processes on three hosts has a buddy on the next host. */
static void test_job_buddy(void)
{
    static const int      leader[] = {0, 0, 0, 3, 3, 5, 5}, local[] = {0, 1, 2};
    struct ski_job_params plan = {.pes             = 7,
                                  .pes_per_process = 1,
                                  .local           = local,
                                  .local_processes = 3,
                                  .leader          = leader,
                                  .pin             = "none"};
    struct ski_arena     *arena;
    struct ski_job       *job;
    int                   fd;

    if (ski_arena_create((size_t)16 << 20, 0, (size_t)1 << 20, &arena, &fd) != SKUA_OK ||
        ski_job_create(arena, &plan, &job) != SKUA_OK) {
        OK(false, "an arena");
        return;
    }
    OK(ski_job_buddy(job, 0) == 3 && ski_job_buddy(job, 1) == 4 && ski_job_buddy(job, 2) == 3,
       "a host with fewer processes has several copies each");
    OK(ski_job_buddy(job, 3) == 5 && ski_job_buddy(job, 4) == 6, "the next host");
    OK(ski_job_buddy(job, 5) == 0 && ski_job_buddy(job, 6) == 1, "the last host has the first");
    ski_arena_detach(arena);
    close(fd);
}

int main(void)
{
    ski_config_load();
    test_image_slots_text();
    test_image_slots_refused();
    test_job_buddy();
    return tap_end();
}
