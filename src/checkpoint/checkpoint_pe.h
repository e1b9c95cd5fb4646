/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint_pe.h - the state of checkpoints and restarts on a PE. */
#ifndef SKI_CHECKPOINT_PE_H
#define SKI_CHECKPOINT_PE_H

#include "checkpoint/image_part.h"
#include "core/data/msg_list.h"
#include "objects/model/objects_pe.h"

struct ski_buddy_copy;
struct ski_checkpoint_root;

/* The checkpoints of a PE. */
struct ski_checkpoint {
    struct ski_checkpoint_root *root; /* at PE 0 (checkpoint.c), else NULL */

    uint64_t writing; /* the generation whose file this PE reports on; 0: none (save_step.c) */

    struct ski_buddy_copy *copy; /* the copy that is being sent to the buddy, or NULL (buddy.c) */
    uint64_t               copy_bytes; /* of the image of this PE, which reports with the copy */

    /* In a job that is restarted (restore.c). */
    struct ski_restart           *restart;     /* once the common parts have arrived, or NULL */
    struct ski_list               early;       /* records that arrived before the common parts */
    int                           resumed_pes; /* at PE 0: PEs that have resumed       */
    uint64_t                      images;      /* at PE 0: images that these PEs have read */
    bool                          resumed;
    struct ski_section_members   *sections; /* whose root is here (part_sections.c) */
    struct ski_region_piece_kept *pieces;   /* of varied regions (part_regions.c) */
};

/** Returns the checkpoints of a PE; NULL: on a progress thread. */
static inline struct ski_checkpoint *ski_checkpoint_of(const struct ski_pe *self)
{
    return self->objects->slot[SKI_SLOT_CHECKPOINT];
}

#endif
