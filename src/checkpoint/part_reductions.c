/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_reductions.c - part `reductions`: those of collections that are not complete.
 *
 *      number of collections whose root the PE is | struct oldest_saved of each
 *      struct ski_saved_partial | its data | struct ski_saved_partial ...
 *
 * objects/collective/array_reduction_saved.h says how they continue.
 */
#include "checkpoint/parts.h"
#include "core/sched/completion.h"
#include "objects/collective/array_reduction_saved.h"

/* The first reduction of a collection that is not complete. */
struct oldest_saved {
    uint64_t id;
    uint64_t number;
};

/* ---- saving ---------------------------------------------------------------------------- */

static bool reductions_is_root(const struct ski_collection *all)
{
    return all->state == SKI_EXISTS && all->root == all->self->pe;
}

static void reductions_count(struct ski_collection *all, void *count)
{
    *(uint64_t *)count += reductions_is_root(all);
}

static void reductions_save_oldest(struct ski_collection *all, void *to)
{
    struct oldest_saved saved = {all->id, ski_array_reduction_oldest(all)};

    if (reductions_is_root(all))
        ski_image_write(to, &saved, sizeof saved);
}

static void reductions_save_partial(const struct ski_saved_partial *partial, const void *data,
                                    void *to)
{
    ski_image_write(to, partial, sizeof *partial);
    ski_image_write(to, data, partial->bytes);
}

static void reductions_save_partials(struct ski_collection *all, void *to)
{
    if (all->state == SKI_EXISTS)
        ski_array_reduction_each_saved(all, reductions_save_partial, to);
}

void ski_part_reductions_save(struct ski_pe *self, struct ski_image_writer *to,
                              const struct ski_image_common *common)
{
    uint64_t count = 0;

    (void)common;
    ski_collections_each(self->objects, reductions_count, &count);
    ski_image_write_number(to, count);
    ski_collections_each(self->objects, reductions_save_oldest, to);
    ski_collections_each(self->objects, reductions_save_partials, to);
}

/* ---- restoring ------------------------------------------------------------------------- */

static struct ski_collection *reductions_collection(struct ski_pe *self, uint64_t id)
{
    struct ski_collection *all = ski_collection_find(self->objects, id);

    return all && all->state == SKI_DEFINED ? all : NULL;
}

const char *ski_record_oldest(struct ski_pe *self, struct ski_image_reader *record)
{
    struct oldest_saved    saved;
    struct ski_collection *all;

    while (ski_image_left(record) > 0) {
        if (!ski_image_get(record, &saved) || !(all = reductions_collection(self, saved.id)))
            return "a reduction is of no collection";
        ski_array_reduction_set_oldest(all, (uint32_t)saved.number);
    }
    return NULL;
}

const char *ski_record_partial(struct ski_pe *self, struct ski_image_reader *record)
{
    struct ski_saved_partial saved;
    struct ski_collection   *all;
    const void              *data;
    const char              *why;

    if (!ski_image_get(record, &saved) || !(data = ski_image_read(record, saved.bytes)) ||
        !(all = reductions_collection(self, saved.id)))
        return "a reduction in progress is not valid";
    if ((why = ski_completion_restore(&saved.to)))
        return why;
    return ski_array_reduction_add_saved(all, &saved, data)
               ? NULL
               : "a reduction in progress is not valid";
}

const char *ski_part_reductions_restore(struct ski_pe *self, struct ski_image_reader *from,
                                        struct ski_restart *restart)
{
    uint64_t                 count;
    const void              *oldest, *data;
    struct ski_saved_partial saved;
    struct ski_collection   *all;

    (void)restart;
    if (!ski_image_get(from, &count) || count > ski_image_left(from) / sizeof(struct oldest_saved))
        return "it is too short";
    oldest = ski_image_read(from, count * sizeof(struct oldest_saved));
    if (count > 0)
        ski_record_broadcast(self, SKI_RECORD_OLDEST, oldest, count * sizeof(struct oldest_saved));
    while (ski_image_left(from) > 0) {
        if (!ski_image_get(from, &saved) || !(data = ski_image_read(from, saved.bytes)) ||
            !(all = reductions_collection(self, saved.id)))
            return "a reduction in progress is not valid";
        ski_record_send(self, all->root, SKI_RECORD_PARTIAL, &saved, sizeof saved, data,
                        saved.bytes);
    }
    return NULL;
}
