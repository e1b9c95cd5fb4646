/* SPDX-License-Identifier: Apache-2.0 */
/* region_table.c - see region_table.h. */
#include "onesided/region/region_table.h"

#include "base/config.h"
#include "core/pe/pe.h"
#include "onesided/onesided.h"

#define FIRST_PLACE   1               /* place 0 is that of no region       */
#define PLACES_SPREAD UINT32_C(65536) /* the same on hosts of different sizes */
#define AGE           64              /* freed places that wait before reuse */

static struct ski_region none;

struct ski_regions      ski_regions = {&none, 0, -1, 0};
struct ski_region_root *ski_region_root;

static uint32_t        mask; /* places - 1 */
static struct ski_job *job;

skua_status_t ski_regions_create(struct ski_job *new_job)
{
    uint32_t                places = 64;
    struct ski_region_root *made;
    void                   *span;
    skua_status_t           status;

    uint32_t most = UINT32_C(1) << SKI_REGION_INDEX_BITS;

    if (ski_job_spread(new_job))
        most = PLACES_SPREAD;
    while (places < most && places < new_job->arena->bytes / 32768)
        places *= 2;
    status = ski_span_alloc(new_job->arena,
                            sizeof *made + (places + 1) * sizeof *made->table +
                                places * sizeof *made->labels,
                            SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    made  = span; /* a fresh arena is all zeros */
    *made = (struct ski_region_root){
        .places = places, .fresh = FIRST_PLACE, .table = (struct ski_region *)(made + 1)};
    if (ski_job_spread(new_job))
        made->fresh = made->common = places / 2;
    made->table  = (struct ski_region *)(((uintptr_t)made->table + 127) & ~(uintptr_t)127);
    made->labels = (struct ski_region_label *)(made->table + places);
    ski_onesided_root(new_job)->regions = made;
    return SKUA_OK;
}

void ski_regions_open(struct ski_job *our_job, int process)
{
    job              = our_job;
    ski_region_root  = ski_onesided_root(job)->regions;
    mask             = ski_region_root->places - 1;
    ski_regions      = (struct ski_regions){.table = &none, .process = process};
    ski_regions.busy = ski_config.order == SKUA_ORDER_STRICT;
    if (ski_config.direct) {
        ski_regions.table = ski_region_root->table;
        ski_regions.mask  = mask;
    }
}

struct ski_region *ski_table_take(void)
{
    uint32_t index = ski_region_root->free_first;

    /* Between hosts an id is remembered longer (rkey_cache.h). */
    uint32_t age = ski_region_root->common ? ski_region_root->common : AGE;

    if (ski_region_root->free_count <= age && ski_region_root->fresh < ski_region_root->places) {
        index = ski_region_root->fresh++;
        /* Ids of different hosts differ, as long as places are not used often: one
         * that strayed is recognised. */
        ski_region_root->table[index].generation = (uint32_t)job->process[0].number * 257;
    } else if (index) {
        ski_region_root->free_first = ski_region_root->table[index].next;
        ski_region_root->free_count--;
    } else {
        ski_error_fail(SKUA_ERR_NOMEM,
                       "all %u regions are in use; raise SKUA_ARENA_SIZE, which grows with them",
                       ski_region_root->places);
        return NULL;
    }
    return &ski_region_root->table[index];
}

static void put_place(struct ski_region *region)
{
    uint32_t index = (uint32_t)(region - ski_region_root->table);

    region->next = 0;
    if (ski_region_root->free_count++ == 0)
        ski_region_root->free_first = index;
    else
        ski_region_root->table[ski_region_root->free_last].next = index;
    ski_region_root->free_last = index;
}

/* Fills a place and makes it known. */
static void publish(struct ski_region *region, const struct ski_region *like, uint32_t id)
{
    region->first      = like->first;
    region->count      = like->count;
    region->kind       = like->kind;
    region->bytes      = like->bytes;
    region->stride     = like->stride;
    region->base       = like->base;
    region->members    = like->members;
    region->list       = like->list;
    region->process    = like->process;
    region->pid        = like->pid;
    region->refs       = 1;
    region->here       = like->here;
    region->pieces     = like->pieces;
    region->generation = id >> SKI_REGION_INDEX_BITS;
    atomic_store_explicit(&region->leaving, 0, memory_order_relaxed);
    /* Not 0: somebody with an old id may be about to take back his count. */
    atomic_fetch_and_explicit(&region->uses, ~SKI_REGION_CLOSED, memory_order_relaxed);
    /* Those who get the id from us also get the rest: by the lock, or by the
     * release of the message that carries it. */
    atomic_store_explicit(&region->id, id, memory_order_release);
}

uint32_t ski_table_publish(struct ski_region *region, const struct ski_region *like)
{
    uint32_t generation = (region->generation + 1) & ((1u << (32 - SKI_REGION_INDEX_BITS)) - 1);
    uint32_t id = generation << SKI_REGION_INDEX_BITS | (uint32_t)(region - ski_region_root->table);

    publish(region, like, id);
    return id;
}

bool ski_table_publish_as(uint32_t id, const struct ski_region *like)
{
    uint32_t index = id & ((1u << SKI_REGION_INDEX_BITS) - 1);

    if (index == 0 || index >= ski_region_root->common ||
        atomic_load_explicit(&ski_region_root->table[index].id, memory_order_relaxed)) {
        ski_error_fail(SKUA_ERR_NOMEM, "region %#x, as agreed on, has no place here", id);
        return false;
    }
    publish(&ski_region_root->table[index], like, id);
    return true;
}

uint32_t ski_table_make(const struct ski_region *like)
{
    struct ski_region *region;
    uint32_t           id = 0;

    ski_lock_acquire(&ski_region_root->lock);
    region = ski_table_take();
    if (region)
        id = ski_table_publish(region, like);
    ski_lock_release(&ski_region_root->lock);
    return id;
}

void ski_table_remove(struct ski_region *region)
{
    atomic_store_explicit(&region->id, 0, memory_order_relaxed);
    if (region < ski_region_root->table + ski_region_root->common)
        return; /* its place is not ours to give away */
    ski_lock_acquire(&ski_region_root->lock);
    put_place(region);
    ski_lock_release(&ski_region_root->lock);
}

struct ski_region *ski_table_find(skua_region region)
{
    struct ski_region *at = ski_region_root ? &ski_region_root->table[region.id & mask] : &none;

    return region.id && atomic_load_explicit(&at->id, memory_order_acquire) == region.id ? at
                                                                                         : NULL;
}

/* Where @p pe is in an ascending list, or -1. */
static int64_t find_in(const int32_t *list, int64_t n, int pe)
{
    int64_t lo = 0, hi = n - 1;

    while (lo <= hi) {
        int64_t middle = (lo + hi) / 2;
        if (list[middle] == pe)
            return middle;
        if (list[middle] < pe)
            lo = middle + 1;
        else
            hi = middle - 1;
    }
    return -1;
}

int64_t ski_region_rank(const struct ski_region *region, int pe)
{
    const int32_t *list = region->here ? region->here : region->list;
    int64_t        n    = ski_region_pieces(region);

    if (list)
        return find_in(list, n, pe);
    return pe >= region->first && pe - region->first < n ? pe - region->first : -1;
}

bool ski_region_member(const struct ski_region *region, int pe)
{
    if (!region->here)
        return ski_region_has(region, pe);
    return region->list ? find_in(region->list, region->members, pe) >= 0
                        : pe >= 0 && pe < (int32_t)region->members;
}

bool ski_region_has(const struct ski_region *region, int pe)
{
    return ski_region_rank(region, pe) >= 0;
}

int32_t ski_caller_pe(void)
{
    return ski_self && ski_self->pe < job->pes ? ski_self->pe
                                               : ski_job_first_pe(job, ski_regions.process);
}
