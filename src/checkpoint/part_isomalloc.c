/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_isomalloc.c - part `isomalloc`: how the isomalloc range was divided (struct
 * isomalloc_saved), and the records of its blocks.
 *
 * Elements whose class has threaded entries are in blocks of that range, and are restored there
 * with the threads that run in them (objects/location/thread_saved.h).  The owner of a block, which
 * follows from its address, is informed where the block is now: struct block_saved.
 *
 * If the range is another in this job, elements are restored elsewhere, and one with threads is
 * refused with the reason.
 */
#include "checkpoint/parts.h"
#include "core/isomalloc/isomalloc.h"
#include "objects/location/thread_saved.h"
#include "objects/model/element.h"

struct isomalloc_saved {
    uint64_t shares, layout; /* 0: the range was not mapped */
};

/* Where a block has been restored. */
struct block_saved {
    uint64_t at;
    int64_t  pe;
};

void ski_part_isomalloc_save(struct ski_pe *self, struct ski_image_writer *to,
                             const struct ski_image_common *common)
{
    struct isomalloc_saved saved = {ski_isomalloc_shares(), ski_isomalloc_layout()};

    (void)self, (void)common;
    ski_image_write(to, &saved, sizeof saved);
}

const char *ski_part_isomalloc_restore(struct ski_pe *self, struct ski_image_reader *from,
                                       struct ski_restart *restart)
{
    struct isomalloc_saved saved;

    (void)restart;
    if (!ski_image_get(from, &saved))
        return "it is too short";
    (void)ski_isomalloc_adopt(self, saved.shares, saved.layout);
    return NULL;
}

static void isomalloc_tell_owner(const void *block, void *arg)
{
    struct ski_pe     *self  = arg;
    struct block_saved saved = {(uintptr_t)block, self->pe};
    int                owner = ski_isomalloc_owner(block);

    if (owner != self->pe)
        ski_record_send(self, owner, SKI_RECORD_ISO_BLOCK, &saved, sizeof saved, NULL, 0);
}

void ski_part_isomalloc_placed(struct ski_object *object)
{
    struct ski_pe *self = object->of->self;

    if (ski_isomalloc_restores(self))
        ski_thread_saved_blocks(object, isomalloc_tell_owner, self);
}

const char *ski_record_iso_block(struct ski_pe *self, struct ski_image_reader *record)
{
    struct block_saved saved;

    if (!ski_image_get(record, &saved) || saved.pe < 0 || saved.pe >= self->pes ||
        !ski_isomalloc_restored(self, saved.at, (int)saved.pe))
        return "two elements or user threads have one address, or one that is not valid";
    return NULL;
}
