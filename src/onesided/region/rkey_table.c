/* SPDX-License-Identifier: Apache-2.0 */
/* rkey_table.c - see rkey_table.h. */
#include "onesided/region/rkey_table.h"

#include <string.h>

#include "core/pe/pe.h"
#include "onesided/region/region_table.h"

/* Returns the entry of region @p id that is stored under @p pe: its PE, if the entry describes one
 * piece, or the first PE of its process. */
static struct ski_rkey_entry *rkey_table_entry(uint32_t id, int pe)
{
    uint64_t hash = ((uint64_t)(uint32_t)pe << 32 | id) * UINT64_C(0x9e3779b97f4a7c15);

    return &ski_region_root->rkeys->entry[hash >> 32 & (SKI_RKEY_TABLE_ENTRIES - 1)];
}

/* Returns whether @p entry describes the piece at @p at. */
static bool rkey_table_covers(const struct ski_rkey_entry *entry, skua_gaddr at)
{
    return entry->id == at.region.id && at.pe >= entry->info.first &&
           at.pe < entry->info.first + entry->info.count;
}

bool ski_rkey_table_find(const struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *info)
{
    int first = ski_job_first_pe(self->job, ski_job_process_of(self->job, at.pe));
    const struct ski_rkey_entry *entry;
    bool                         found;

    if (!ski_region_table_is_common(at.region.id) || !ski_region_root->rkeys)
        return false; /* or it is being created, which is as good */
    ski_lock_acquire(&ski_region_root->lock);
    entry = rkey_table_entry(at.region.id, first);
    if (!rkey_table_covers(entry, at))
        entry = rkey_table_entry(at.region.id, at.pe);
    found = rkey_table_covers(entry, at);
    if (found) {
        *info = entry->info;
        info->base += (uint64_t)(int64_t)(at.pe - entry->pe) * info->stride;
    }
    ski_lock_release(&ski_region_root->lock);
    return found;
}

/* Returns whether the values of a reply can be: the pieces belong to PEs of one process, and are in
 * one address space. */
static bool rkey_table_valid(const struct ski_job *job, int pe, const struct ski_rkey_info *info)
{
    int      process = ski_job_process_of(job, pe);
    uint64_t before, behind;

    if (info->count < 1 || info->count > job->pes_per_process || info->first < 0 ||
        info->first > pe || pe - info->first >= info->count ||
        info->first < ski_job_first_pe(job, process) ||
        info->first + info->count > ski_job_first_pe(job, process) + ski_job_pes_of(job, process))
        return false;
    before = (uint64_t)(pe - info->first);
    behind = (uint64_t)(info->first + info->count - pe);
    return info->count == 1 ||
           (info->stride >= info->bytes && info->stride <= info->base / (before + 1) &&
            info->stride <= (UINT64_MAX - info->base) / behind);
}

/* Creates the table unless it exists; the caller holds the lock.  False: the arena is full. */
static bool rkey_table_create(struct ski_pe *self)
{
    if (!ski_region_root->rkeys) {
        struct ski_rkey_table *made = ski_pool_alloc(&self->pool, sizeof *made);

        if (made)
            memset(made, 0, sizeof *made);
        ski_region_root->rkeys = made;
    }
    return ski_region_root->rkeys;
}

void ski_rkey_table_store(struct ski_pe *self, skua_gaddr at, const struct ski_rkey_info *info)
{
    int first = ski_job_first_pe(self->job, ski_job_process_of(self->job, at.pe));

    if (!ski_region_table_is_common(at.region.id) || !rkey_table_valid(self->job, at.pe, info))
        return;
    ski_lock_acquire(&ski_region_root->lock);
    /* A region that is being removed is either not found, or its entries are removed later. */
    if (ski_region_table_find(at.region) && rkey_table_create(self))
        *rkey_table_entry(at.region.id, info->count > 1 ? first : at.pe) =
            (struct ski_rkey_entry){at.region.id, at.pe, *info};
    ski_lock_release(&ski_region_root->lock);
}

void ski_rkey_table_remove(uint32_t id)
{
    if (!ski_region_table_is_common(id))
        return;
    ski_lock_acquire(&ski_region_root->lock); /* before the look at `rkeys`: see above */
    for (int i = 0; ski_region_root->rkeys && i < SKI_RKEY_TABLE_ENTRIES; i++)
        if (ski_region_root->rkeys->entry[i].id == id)
            ski_region_root->rkeys->entry[i].id = 0;
    ski_lock_release(&ski_region_root->lock);
}
