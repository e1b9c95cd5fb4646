/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_pe.h - what a PE remembers for this layer. */
#ifndef SKI_CHECKPOINT_PE_H
#define SKI_CHECKPOINT_PE_H

#include "checkpoint/image_part.h"
#include "core/data/msg_list.h"
#include "objects/model/objects_pe.h"

struct checkpoint_request;

/* The checkpoints of a PE. */
struct ski_checkpoint {
    struct ski_image_memory memory; /* that images are written to */

    /* At PE 0. */
    struct checkpoint_request  *first, **last; /* requests; the first is under way           */
    struct checkpoint_progress *progress;      /* of the request that is under way, or NULL  */
    uint64_t                    generation;    /* of the last checkpoint                     */
    double                      made;          /* when the last checkpoint was made          */
    bool                        due;           /* one was asked for                          */

    /* In a job that is restarted (restore.h). */
    struct ski_restart *restart; /* once the common parts have come, or NULL */
    struct ski_list     early;   /* records that came before these           */
    uint64_t            reports; /* at PE 0: PEs that have resumed           */
    bool                resumed;
};

/** The checkpoints of a PE; NULL: on a progress thread. */
static inline struct ski_checkpoint *ski_checkpoint_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_CHECKPOINT];
}

#endif
