/* SPDX-License-Identifier: Apache-2.0 */
/* host_images.c - see host_images.h. */
#include "survive/host_images.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "checkpoint/store_memory.h"

static bool host_images_add(struct host_images *images, int process)
{
    struct ski_image_slots *slots = &images->slots;
    struct ski_image_slot   slot  = {.process = process, .fd = {-1, -1}};

    if (ski_image_slot_find(slots, process))
        return true;
    for (int i = 0; i < 2; i++)
        if ((slot.fd[i] = memfd_create("skua-image", MFD_CLOEXEC)) < 0) {
            fprintf(stderr, "skuarun: cannot make memory for the image of process %d: %s\n",
                    process, strerror(errno));
            if (i == 1)
                close(slot.fd[0]);
            return false;
        }
    slots->slot = ski_realloc(slots->slot, ((size_t)slots->count + 1) * sizeof *slots->slot);
    slots->slot[slots->count++] = slot;
    return true;
}

/* Returns whether this host keeps images of @p process: its own, or the copy for its buddy. */
static bool host_images_keeps(const struct ski_job *job, int process)
{
    int buddy = ski_job_buddy(job, process);

    return ski_job_has_process(job, process) || (buddy >= 0 && ski_job_has_process(job, buddy));
}

void host_images_keep(const struct host_images *images, uint64_t generation)
{
    struct ski_image_id id;

    for (int i = 0; i < images->slots.count; i++)
        for (int k = 0; k < 2; k++) {
            int fd = images->slots.slot[i].fd[k];

            if (generation && ski_store_memory_generation(fd, &id) == generation)
                continue;
            ski_store_memory_clear(fd);
        }
}

/* Returns whether the PEs of this host read the image of @p slot. */
static bool host_images_reads(const struct ski_image_slot   *slot,
                              const struct host_images_plan *plan)
{
    struct ski_image_id id;

    if (plan->generation == 0 || ski_store_memory_find(slot->fd, plan->generation, &id) < 0)
        return false;
    for (int i = 0; i < plan->reads; i++)
        if (plan->read[i] == slot->process)
            return true;
    return plan->reads == HOST_IMAGES_ALL;
}

bool host_images_prepare(struct host_images *images, const struct ski_job *job,
                         const struct host_images_plan *plan)
{
    host_images_keep(images, plan->generation);
    images->slots.epoch      = plan->epoch;
    images->slots.generation = plan->generation;
    for (int i = 0; i < images->slots.count; i++)
        images->slots.slot[i].read = host_images_reads(&images->slots.slot[i], plan);
    for (int process = 0; process < job->processes; process++)
        if (host_images_keeps(job, process) && !host_images_add(images, process))
            return false;
    return true;
}

struct image_record *host_images_scan(const struct host_images *images, int *count)
{
    struct image_record *record = ski_calloc(2 * (size_t)images->slots.count + 1, sizeof *record);

    *count = 0;
    for (int i = 0; i < images->slots.count; i++)
        for (int k = 0; k < 2; k++) {
            struct ski_image_id id;
            uint64_t generation = ski_store_memory_generation(images->slots.slot[i].fd[k], &id);

            if (generation && id.process == images->slots.slot[i].process)
                record[(*count)++] = (struct image_record){.generation = generation,
                                                           .process    = id.process,
                                                           .processes  = id.processes,
                                                           .pes        = id.pes};
        }
    return record;
}

void host_images_close(struct host_images *images)
{
    for (int i = 0; i < images->slots.count; i++) {
        close(images->slots.slot[i].fd[0]);
        close(images->slots.slot[i].fd[1]);
    }
    free(images->slots.slot);
    *images = (struct host_images){0};
}

/* ---- choice of a generation -------------------------------------------------------------- */

/* The newest generation comes first, in the order of processes. */
static int host_images_compare(const void *a, const void *b)
{
    const struct image_record *x = a, *y = b;

    if (x->generation != y->generation)
        return x->generation > y->generation ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

/* Returns whether the @p count records, of one generation and in the order of processes, have all
 * processes of the job that wrote them. */
static bool host_images_has_all(const struct image_record *record, int count)
{
    int next = 0;

    for (int i = 0; i < count; i++) {
        if (record[i].pes != record->pes || record[i].processes != record->processes)
            return false;
        next += record[i].process == next; /* copies have the number of the one before */
    }
    return next == record->processes;
}

uint64_t host_images_newest(struct image_record *record, int count)
{
    if (count > 0) /* record may be NULL */
        qsort(record, (size_t)count, sizeof *record, host_images_compare);
    for (int first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && record[end].generation == record[first].generation;)
            end++;
        if (host_images_has_all(&record[first], end - first))
            return record[first].generation;
    }
    return 0;
}
