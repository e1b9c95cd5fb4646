/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c - skua_resize(): the number of PEs that the program asks for, in the memory of the job,
 * where the launcher or its agent finds it, and a checkpoint that is due.
 */
#include <skua/checkpoint.h>

#include "base/log.h"
#include "boot/image_slots.h"
#include "core/pe/pe.h"

skua_status skua_resize(int pes)
{
    struct ski_pe *self = SKI_SELF();

    if (pes < 1 || pes > SKI_JOB_PES_MAX)
        return ski_refuse(SKUA_ERR_INVAL, "%s: a job has 1 to %d PEs, not %d", __func__,
                          SKI_JOB_PES_MAX, pes);
    if (ski_image_slots()->epoch == 0)
        return ski_refuse(SKUA_ERR_UNSUPPORTED,
                          "%s: only a job of `skuarun --survive' can change its number of PEs",
                          __func__);
    atomic_store(&self->job->resize, (uint32_t)pes); /* before the checkpoint that it waits for */
    skua_checkpoint_make_due();
    return SKUA_OK;
}
