/* SPDX-License-Identifier: Apache-2.0 */
/* region_saved.c - see region_saved.h. */
#include "onesided/region/region_saved.h"

#include "base/assert.h"
#include "core/pe/pe.h"
#include "onesided/region/symmetric_alloc.h"

/* ---- saving -------------------------------------------------------------------------------- */

static struct ski_saved_region region_saved_describe(const struct ski_region *region, uint32_t id,
                                                     int64_t rank)
{
    struct ski_saved_region saved = {.kind    = region->kind,
                                     .members = region->members,
                                     .listed  = region->member_list ? region->members : 0,
                                     .varied  = region->pieces != NULL,
                                     .bytes   = ski_region_piece_bytes(region, rank),
                                     .label   = ski_region_label_get(id)};

    saved.label.id = id;
    return saved;
}

static void region_saved_visit(struct ski_pe *self, uint32_t first, uint32_t end,
                               ski_saved_region_fn fn, void *arg)
{
    for (uint32_t i = first; i < end; i++) {
        const struct ski_region *region = &ski_region_root->table[i];
        uint32_t                 id     = atomic_load_explicit(&region->id, memory_order_acquire);
        int64_t                  rank   = id ? ski_region_rank(region, self->pe) : -1;
        struct ski_saved_region  saved;

        if (rank < 0 || region->kind == SKI_REGION_REGISTERED)
            continue;
        saved = region_saved_describe(region, id, rank);
        if (saved.label.restart != SKUA_REGION_TRANSIENT)
            fn(&saved, region->member_list, ski_region_piece_at(region, rank), arg);
    }
}

void ski_region_each_saved(struct ski_pe *self, ski_saved_region_fn fn, void *arg)
{
    const struct ski_region_root *root = ski_region_root;

    region_saved_visit(self, 1, root->common_used, fn, arg);
    region_saved_visit(self, root->common ? root->common : 1, root->fresh, fn, arg);
}

bool ski_saved_region_is_leaving(const struct ski_saved_region *saved)
{
    const struct ski_region *region = ski_region_table_find((skua_region){saved->label.id});

    return region && saved->kind == SKI_REGION_SYMMETRIC &&
           atomic_load_explicit(&region->freed, memory_order_relaxed) != 0;
}

/* ---- restoring ------------------------------------------------------------------------------ */

bool ski_saved_region_valid(const struct ski_saved_region *saved, const int32_t *list, int pe,
                            int pes)
{
    bool found = !saved->listed;

    if (saved->label.id == 0 || saved->label.total / (uint64_t)pes > saved->bytes ||
        saved->varied > 1 || saved->label.name[SKI_REGION_NAME - 1] ||
        (saved->label.restart > SKUA_REGION_BLOCKS && saved->label.restart != SKI_REGION_LOCKS))
        return false;
    if (saved->kind == SKI_REGION_ALLOCATED)
        return saved->members == 1 && !saved->listed && !saved->varied;
    if (saved->kind != SKI_REGION_SYMMETRIC || (saved->listed && saved->listed != saved->members) ||
        (!saved->listed && saved->members != (uint32_t)pes) || (saved->listed && saved->varied))
        return false;
    for (uint32_t i = 0; i < saved->listed; i++) {
        if (list[i] < 0 || list[i] >= pes || (i > 0 && list[i] <= list[i - 1]))
            return false;
        found |= list[i] == pe;
    }
    return found;
}

const char *ski_saved_region_restore_local(struct ski_pe                 *self,
                                           const struct ski_saved_region *saved,
                                           struct ski_region            **region)
{
    struct ski_region like;
    const char       *why;

    ski_assert(saved->kind == SKI_REGION_ALLOCATED);
    if (ski_symmetric_lay_out(NULL, 1, saved->bytes, &like) != SKUA_OK)
        return "the arena has no room for it; raise SKUA_ARENA_SIZE";
    like.kind  = SKI_REGION_ALLOCATED;
    like.count = 0;
    like.first = self->pe;
    ski_lock_acquire(&ski_region_root->lock);
    why = ski_region_table_restore(saved->label.id, &like);
    ski_lock_release(&ski_region_root->lock);
    if (why)
        ski_span_free(self->job->arena, like.base);
    *region = ski_region_table_find((skua_region){saved->label.id});
    return why;
}
