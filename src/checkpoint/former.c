/* SPDX-License-Identifier: Apache-2.0 */
/* former.c - see former.h. */
#include "checkpoint/former.h"

#include <pthread.h>

#include "base/config.h"
#include "base/log.h"
#include "checkpoint/store_file.h"

/* The checkpoint that this process reads; PEs that are threads of it take turns. */
static struct {
    pthread_mutex_t             mutex;
    bool                        opened;
    struct ski_store_checkpoint checkpoint;
} former = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static SKI_COLD _Noreturn void former_refuse(const char *reason)
{
    char offer[SKI_STORE_REASON] = "";

    ski_store_file_offer(ski_config.restart, offer, sizeof offer);
    ski_fatal("restart: %s%s%s", reason, *offer ? "; " : "", offer);
}

void ski_former_open(int pe, struct ski_former_image *image)
{
    char reason[SKI_STORE_REASON] = "";

    pthread_mutex_lock(&former.mutex);
    if (!former.opened)
        former.opened = ski_store_checkpoint_open(&former.checkpoint, ski_config.restart, reason);
    image->memory = former.opened ? ski_store_checkpoint_load(&former.checkpoint, pe,
                                                              &image->reader, &image->bytes, reason)
                                  : NULL;
    pthread_mutex_unlock(&former.mutex);
    if (!image->memory)
        former_refuse(reason);
}

void ski_former_close(struct ski_former_image *image)
{
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
