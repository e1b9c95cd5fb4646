/* SPDX-License-Identifier: Apache-2.0 */
/* former.c - see former.h. */
#include "checkpoint/former.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "boot/image_slots.h"
#include "checkpoint/store_file.h"
#include "checkpoint/store_memory.h"
#include "core/pe/pe.h"

/* The checkpoint that this process reads; PEs that are threads of it take turns. */
static struct {
    pthread_mutex_t             mutex;
    bool                        opened;
    struct ski_store_checkpoint checkpoint;
} former = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Returns whether the images are in memory that outlived the previous job (boot/image_slots.h). */
static bool former_in_memory(void)
{
    return strcmp(ski_config.restart, SKI_RESTART_MEMORY) == 0;
}

static SKI_COLD _Noreturn void former_refuse(const char *reason)
{
    char offer[SKI_STORE_REASON] = "";

    if (!former_in_memory())
        ski_store_file_offer(ski_config.restart, offer, sizeof offer);
    ski_fatal("restart: %s%s%s", reason, *offer ? "; " : "", offer);
}

/* ---- in memory ------------------------------------------------------------------------- */

/* Returns the slot whose image this host reads and that comes after former PE @p after, with *@p id
 * of its first image; NULL: there is none. */
static const struct ski_image_slot *former_next_slot(int after, struct ski_image_id *id)
{
    const struct ski_image_slots *slots = ski_image_slots();
    const struct ski_image_slot  *next  = NULL;

    for (const struct ski_image_slot *s = slots->slot; s < slots->slot + slots->count; s++) {
        struct ski_image_id found;

        if (s->read && ski_store_memory_find(s->fd, slots->generation, &found) >= 0 &&
            found.first_pe > after && (!next || found.first_pe < id->first_pe)) {
            next = s;
            *id  = found;
        }
    }
    return next;
}

/* Returns former PE number @p n of those whose images this host reads, or -1. */
static int former_of_host(int n)
{
    struct ski_image_id id = {.first_pe = -1};

    for (int after = -1; former_next_slot(after, &id); after = id.first_pe) {
        if (n < id.process_pes)
            return id.first_pe + n;
        n -= id.process_pes;
    }
    return -1;
}

int ski_former_pe(const struct ski_pe *self, int i)
{
    if (!former_in_memory())
        return self->pe + i * self->pes;
    return former_of_host(ski_job_index(self->job, self->pe) + i * self->job->local_pes);
}

/* Maps the image of PE @p pe, which is in the slot of the process that it was in. */
static const void *former_map(int pe, struct ski_former_image *image, char *reason)
{
    const struct ski_image_slots *slots = ski_image_slots();
    struct ski_image_id           id;

    for (int i = 0; i < slots->count; i++) {
        int fd = ski_store_memory_find(slots->slot[i].fd, slots->generation, &id);

        if (fd >= 0 && pe >= id.first_pe && pe < id.first_pe + id.process_pes)
            return ski_store_memory_map(fd, pe - id.first_pe, &image->reader, &image->bytes,
                                        reason);
    }
    snprintf(reason, SKI_STORE_REASON, "this host has no image of PE %d in memory", pe);
    return NULL;
}

/* ---- images ------------------------------------------------------------------------------ */

static void former_load(int pe, struct ski_former_image *image, char *reason)
{
    pthread_mutex_lock(&former.mutex);
    if (!former.opened)
        former.opened = ski_store_checkpoint_open(&former.checkpoint, ski_config.restart, reason);
    image->memory = former.opened ? ski_store_checkpoint_load(&former.checkpoint, pe,
                                                              &image->reader, &image->bytes, reason)
                                  : NULL;
    pthread_mutex_unlock(&former.mutex);
}

void ski_former_open(int pe, struct ski_former_image *image)
{
    char reason[SKI_STORE_REASON] = "";

    image->mapped = former_in_memory();
    if (image->mapped)
        image->memory = (void *)(uintptr_t)former_map(pe, image, reason);
    else
        former_load(pe, image, reason);
    if (!image->memory)
        former_refuse(reason);
}

void ski_former_close(struct ski_former_image *image)
{
    if (image->mapped)
        ski_store_memory_unmap(image->memory, image->bytes);
    else
        ski_image_file_unload(image->memory, image->bytes);
}

void ski_former_end(void)
{
    pthread_mutex_lock(&former.mutex);
    if (former.opened)
        ski_store_checkpoint_close(&former.checkpoint);
    former.opened = false;
    pthread_mutex_unlock(&former.mutex);
}
