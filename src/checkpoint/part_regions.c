/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_regions.c - part `regions`: the pieces of regions that the PE has.
 *
 *      struct ski_saved_region | the list of members | zeros | the piece | struct ski_saved_region
 * ...
 *
 * On the same number of PEs a piece goes to the PE of the number that it had, which mostly has read
 * it itself; the first PE of a host that comes to a region allocates the pieces of all.  The pieces
 * of a varied region are allocated when all PEs have announced their sizes, so they are kept until
 * the job resumes.  On another number of PEs a region is redistributed in blocks, or refused:
 * the PE that reads a piece copies it to those of its host, and sends records to others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "checkpoint/checkpoint_pe.h"
#include "checkpoint/parts.h"
#include "onesided/region/region_saved.h"
#include "onesided/region/symmetric_alloc.h"
#include "onesided/region/symmetric_vote.h"
#include "onesided/sync/lock_remote.h"

#define REGIONS_CHUNK (1 << 20) /* bytes of a record */

/* A piece of a varied region, until the job resumes. */
struct ski_region_piece_kept {
    struct ski_region_piece_kept *next;
    struct ski_saved_region       saved;
    char                          data[];
};

/* A record: bytes at an offset of the piece of a PE, which follow. */
struct regions_block {
    struct ski_saved_region saved; /* in the present job */
    uint64_t                offset;
};

/* The id of a symmetric region, for the registrar. */
struct regions_id {
    uint32_t id, members;
};

/* Returns a refusal that names the region. */
static const char *regions_refuse(const struct ski_saved_region *saved, const char *why)
{
    static _Thread_local void *slot;
    const size_t               size = SKI_REGION_STR + 300;
    char                      *text = ski_thread_memory(&slot, size);

    snprintf(text, size, "region %#x%s%s%s: %s", saved->label.id, saved->label.name[0] ? " \"" : "",
             saved->label.name, saved->label.name[0] ? "\"" : "", why);
    return text;
}

/* ---- what cannot be saved ------------------------------------------------------------------ */

struct regions_refusal {
    char  *why;
    size_t room;
    bool   refused;
};

static bool regions_locks_held(const struct ski_saved_region *saved, const char *piece)
{
    if (saved->label.restart != SKI_REGION_LOCKS)
        return false;
    for (uint64_t i = 0; i < saved->bytes; i++)
        if (piece[i])
            return true;
    return ski_lock_queues_exist();
}

/* Writes why a region cannot be saved, if that is so and no other was refused before. */
static void regions_check(const struct ski_saved_region *saved, const int32_t *list,
                          const void *piece, void *arg)
{
    struct regions_refusal *to = arg;
    char                    text[SKI_REGION_STR];

    (void)list;
    if (to->refused)
        return;
    to->refused = true;
    if (ski_saved_region_is_leaving(saved))
        snprintf(
            to->why, to->room,
            "%s cannot be saved: some of its PEs have called skua_region_destroy(), and others "
            "have not; let all do so before the checkpoint, or after",
            ski_region_str(saved->label.id, text));
    else if (regions_locks_held(saved, piece))
        snprintf(to->why, to->room, "%s cannot be saved: a lock is held; release it before",
                 ski_region_str(saved->label.id, text));
    else
        to->refused = false;
}

bool ski_part_regions_possible(struct ski_pe *self, char *why, size_t room)
{
    struct regions_refusal to = {why, room, false};

    ski_region_each_saved(self, regions_check, &to);
    return !to.refused;
}

/* ---- saving ---------------------------------------------------------------------------------- */

static void regions_save_one(const struct ski_saved_region *saved, const int32_t *list,
                             const void *piece, void *to)
{
    ski_image_write(to, saved, sizeof *saved);
    if (saved->listed)
        ski_image_write(to, list, saved->listed * sizeof *list);
    ski_image_align(to);
    ski_image_write(to, piece, saved->bytes);
    ski_image_align(to);
}

void ski_part_regions_save(struct ski_pe *self, struct ski_image_writer *to,
                           const struct ski_image_common *common)
{
    (void)common;
    ski_region_each_saved(self, regions_save_one, to);
}

/* ---- the same number of PEs ------------------------------------------------------------------ */

/* Copies the piece of @p self into place. */
static void regions_fill(struct ski_pe *self, const struct ski_region *region,
                         const struct ski_saved_region *saved, const void *data)
{
    if (saved->bytes)
        memcpy(ski_region_piece_at(region, ski_region_rank(region, self->pe)), data, saved->bytes);
    ski_region_label_set(&saved->label);
}

/* Keeps the piece of a varied region until those of all PEs of this host are known. */
static const char *regions_keep(struct ski_pe *self, const struct ski_saved_region *saved,
                                const void *data)
{
    struct ski_region_piece_kept *kept = ski_malloc(sizeof *kept + saved->bytes);

    kept->next                      = ski_checkpoint_of(self)->pieces;
    kept->saved                     = *saved;
    ski_checkpoint_of(self)->pieces = kept;
    if (saved->bytes)
        memcpy(kept->data, data, saved->bytes);
    ski_symmetric_announce(self, saved->label.id, saved->bytes);
    return NULL;
}

/* Restores the piece of a region on the PE that had it in the former job. */
static const char *regions_place(struct ski_pe *self, const struct ski_saved_region *saved,
                                 const int32_t *list, const void *data)
{
    struct regions_id  id = {saved->label.id, saved->members};
    struct ski_region *region;
    const char        *why;

    if (ski_job_is_distributed(self->job) && saved->kind == SKI_REGION_SYMMETRIC &&
        self->pe == (list ? list[0] : 0))
        ski_record_send(self, 0, SKI_RECORD_REGION_ID, &id, sizeof id, NULL, 0);
    if (saved->varied)
        return regions_keep(self, saved, data);
    if (saved->kind == SKI_REGION_ALLOCATED)
        why = ski_saved_region_restore_local(self, saved, &region);
    else
        why = ski_symmetric_restore(saved->label.id, list, saved->members, saved->bytes, &region);
    if (!why)
        regions_fill(self, region, saved, data);
    return why;
}

void ski_part_regions_resume(struct ski_pe *self)
{
    struct ski_region_piece_kept *kept;

    while ((kept = ski_checkpoint_of(self)->pieces)) {
        struct ski_region *region;
        const char        *why = ski_symmetric_restore_varied(self, kept->saved.label.id, &region);

        if (why)
            ski_fatal("restart on PE %d: %s", self->pe, regions_refuse(&kept->saved, why));
        regions_fill(self, region, &kept->saved, kept->data);
        ski_checkpoint_of(self)->pieces = kept->next;
        free(kept);
    }
    ski_region_table_unreserve();
}

/* Sends a piece to the PE that it belongs to: images are read where they are (former.h). */
static void regions_send(struct ski_pe *self, int pe, const struct ski_saved_region *saved,
                         const int32_t *list, const void *data)
{
    size_t listed = saved->listed * sizeof *list;
    char  *head   = ski_malloc(sizeof *saved + listed);

    memcpy(head, saved, sizeof *saved);
    if (listed)
        memcpy(head + sizeof *saved, list, listed);
    ski_record_send(self, pe, SKI_RECORD_REGION_PIECE, head, sizeof *saved + listed, data,
                    saved->bytes);
    free(head);
}

/* ---- another number of PEs ------------------------------------------------------------------- */

/* Describes a region of blocks in this job. Returns false if it is too large. */
static bool regions_divide(const struct ski_pe *self, const struct ski_restart *restart,
                           struct ski_saved_region *saved)
{
    uint64_t grains, most;

    if (saved->bytes > SIZE_MAX / 4 / (uint64_t)restart->common.pes)
        return false;
    if (!saved->label.total)
        saved->label.total = saved->bytes * (uint64_t)restart->common.pes;
    grains         = (saved->label.total + saved->label.grain - 1) / saved->label.grain;
    most           = (grains + (uint64_t)self->pes - 1) / (uint64_t)self->pes;
    saved->bytes   = most * saved->label.grain;
    saved->members = (uint32_t)self->pes;
    return true;
}

/* Copies @p bytes to an offset of the piece of @p pe, or sends them there. */
static const char *regions_put(struct ski_pe *self, int pe, struct regions_block *block,
                               const char *data, uint64_t bytes)
{
    struct ski_region *region;
    const char        *why;

    if (ski_job_index(self->job, pe) >= 0) {
        why = ski_symmetric_restore(block->saved.label.id, NULL, block->saved.members,
                                    block->saved.bytes, &region);
        if (!why)
            memcpy(ski_region_piece_at(region, ski_region_rank(region, pe)) + block->offset, data,
                   bytes);
        return why;
    }
    for (uint64_t at = 0; at < bytes; at += REGIONS_CHUNK, block->offset += REGIONS_CHUNK)
        ski_record_send(self, pe, SKI_RECORD_REGION_BLOCK, block, sizeof *block, data + at,
                        bytes - at < REGIONS_CHUNK ? bytes - at : REGIONS_CHUNK);
    return NULL;
}

/* Sends the bytes of a piece to the PEs that have them in this job, which has another number of
 * PEs. */
static const char *regions_redistribute(struct ski_pe *self, const struct ski_restart *restart,
                                        const struct ski_saved_region *saved, const char *data)
{
    struct regions_block block = {.saved = *saved};
    uint64_t             at    = (uint64_t)restart->reading * saved->bytes; /* in the sequence */
    uint64_t             end   = at + saved->bytes;
    const char          *why   = NULL;

    if (!regions_divide(self, restart, &block.saved))
        return "it is larger than any memory";
    if (end > block.saved.label.total)
        end = block.saved.label.total;
    if (restart->reading == 0)
        ski_record_broadcast(self, SKI_RECORD_REGION_BLOCK, &block, sizeof block);
    while (at < end && !why) {
        uint64_t piece = at / block.saved.bytes;
        uint64_t next =
            (piece + 1) * block.saved.bytes < end ? (piece + 1) * block.saved.bytes : end;

        block.offset = at % block.saved.bytes;
        why          = regions_put(self, (int)piece, &block, data, next - at);
        data += next - at;
        at = next;
    }
    return why;
}

/* ---- records --------------------------------------------------------------------------------- */

const char *ski_record_region_id(struct ski_pe *self, struct ski_image_reader *record)
{
    struct regions_id id;

    if (self->pe != 0 || !ski_image_get(record, &id) ||
        !ski_symmetric_vote_restored(id.id, id.members))
        return "the number of a region is damaged";
    return NULL;
}

const char *ski_record_region_piece(struct ski_pe *self, struct ski_image_reader *record)
{
    struct ski_saved_region saved;
    const int32_t          *list = NULL;
    const char             *why;

    if (!ski_image_get(record, &saved) || saved.listed > ski_image_left(record) / sizeof *list)
        return "a piece of a region is damaged: its list of members is cut off";
    if (saved.listed)
        list = ski_image_read(record, saved.listed * sizeof *list);
    if (ski_image_left(record) != saved.bytes ||
        !ski_saved_region_valid(&saved, list, self->pe, self->pes))
        return "a piece of a region is damaged: its members or its size do not agree";
    why = regions_place(self, &saved, list, ski_image_read(record, saved.bytes));
    return why ? regions_refuse(&saved, why) : NULL;
}

const char *ski_record_region_block(struct ski_pe *self, struct ski_image_reader *record)
{
    struct regions_block block;
    struct ski_region   *region;
    const char          *why;

    if (!ski_image_get(record, &block) || block.saved.label.restart != SKUA_REGION_BLOCKS ||
        block.saved.kind != SKI_REGION_SYMMETRIC || block.saved.listed || block.saved.varied ||
        !ski_saved_region_valid(&block.saved, NULL, self->pe, self->pes) ||
        block.offset > block.saved.bytes ||
        ski_image_left(record) > block.saved.bytes - block.offset)
        return "a block of a region is damaged: its size, grain or offset do not agree";
    why = ski_symmetric_restore(block.saved.label.id, NULL, block.saved.members, block.saved.bytes,
                                &region);
    if (why)
        return regions_refuse(&block.saved, why);
    if (self->pe == 0 && ski_job_is_distributed(self->job))
        (void)ski_symmetric_vote_restored(block.saved.label.id, block.saved.members);
    ski_region_label_set(&block.saved.label);
    ski_image_copy(record,
                   ski_region_piece_at(region, ski_region_rank(region, self->pe)) + block.offset,
                   ski_image_left(record));
    return NULL;
}

/* ---- restoring ------------------------------------------------------------------------------- */

/* Reads a region and restores its piece, on this PE or on others. */
static const char *regions_restore_one(struct ski_pe *self, struct ski_image_reader *from,
                                       const struct ski_restart *restart)
{
    struct ski_saved_region saved;
    const int32_t          *list = NULL;
    const void             *data;
    const char             *why;

    if (!ski_image_get(from, &saved) || saved.listed > ski_image_left(from) / sizeof *list)
        return "a region is damaged: its list of members is cut off";
    if (saved.listed)
        list = ski_image_read(from, saved.listed * sizeof *list);
    ski_image_read_align(from);
    if (!(data = ski_image_read(from, saved.bytes)) ||
        !ski_saved_region_valid(&saved, list, restart->reading, restart->common.pes))
        return "a region is damaged: its members or its size do not agree";
    ski_image_read_align(from);
    if (restart->common.pes == self->pes && restart->reading != self->pe) {
        regions_send(self, restart->reading, &saved, list, data);
        return NULL;
    }
    if (restart->common.pes == self->pes)
        why = regions_place(self, &saved, list, data);
    else if (saved.label.restart == SKUA_REGION_BLOCKS && !list && !saved.varied &&
             saved.label.grain > 0 && saved.bytes % saved.label.grain == 0)
        why = regions_redistribute(self, restart, &saved, data);
    else
        why = "its pieces are those of another number of PEs; restart on that number, or let the "
              "program call skua_region_set_restart() with SKUA_REGION_BLOCKS or "
              "SKUA_REGION_TRANSIENT";
    return why ? regions_refuse(&saved, why) : NULL;
}

const char *ski_part_regions_restore(struct ski_pe *self, struct ski_image_reader *from,
                                     struct ski_restart *restart)
{
    const char *why = NULL;

    while (!why && ski_image_left(from) > 0)
        why = regions_restore_one(self, from, restart);
    return why;
}
