/* SPDX-License-Identifier: Apache-2.0 */
/* process_store.c - see process_store.h. */
#include "checkpoint/process_store.h"

#include "base/log.h"
#include "boot/image_slots.h"

static struct ski_image_store *process_store;

void ski_process_store_open(const struct ski_boot *boot)
{
    const struct ski_image_slot *slot = ski_image_slot_find(ski_image_slots(), boot->process);

    process_store =
        ski_image_store_open(ski_job_pes_of(boot->job, boot->process), slot ? slot->fd : NULL);
}

void ski_process_store_close(void)
{
    struct ski_write_result result;

    if (!process_store)
        return;
    if (ski_image_store_take(process_store, true, &result) && !result.ok)
        (void)ski_fail(SKUA_ERR_SYSTEM, "no checkpoint: %s", result.reason);
    ski_image_store_close(process_store);
    process_store = NULL;
}

struct ski_image_store *ski_process_store(void)
{
    return process_store;
}
