/* SPDX-License-Identifier: Apache-2.0 */
/* region_table.c - see region_table.h. */
#include "onesided/region/region_table.h"

#include <skua/onesided.h>

#include "base/assert.h"
#include "base/config.h"
#include "core/pe/pe.h"

#define SLOT_FIRST   1               /* slot 0 belongs to no region                        */
#define SLOTS_SPREAD UINT32_C(65536) /* equal on all hosts, whatever their memory           */
#define SLOT_AGE     64              /* free slots that wait before one is used again      */

#define GENERATION_MASK ((1u << (32 - SKI_REGION_INDEX_BITS)) - 1)

static struct ski_region none;

struct ski_regions      ski_regions = {&none, 0, -1, 0};
struct ski_region_root *ski_region_root;

static uint32_t                          table_mask; /* slots - 1 */
static struct ski_job                   *table_job;
static const struct ski_region_observer *table_observers;

static uint32_t region_table_slots(const struct ski_job *job)
{
    uint32_t most =
        ski_job_is_distributed(job) ? SLOTS_SPREAD : UINT32_C(1) << SKI_REGION_INDEX_BITS;
    uint32_t slots = 64;

    while (slots < most && slots < job->arena->bytes / 32768)
        slots *= 2;
    return slots;
}

skua_status ski_regions_create(struct ski_job *job, struct ski_region_root **root)
{
    uint32_t                slots = region_table_slots(job);
    struct ski_region_root *made;
    void                   *span;
    skua_status             status;

    status = ski_span_alloc(
        job->arena, sizeof *made + (slots + 1) * sizeof *made->table + slots * sizeof *made->labels,
        &span);
    if (status != SKUA_OK)
        return status;
    made  = span; /* a fresh arena is all zeros */
    *made = (struct ski_region_root){
        .slots = slots, .fresh = SLOT_FIRST, .table = (struct ski_region *)(made + 1)};
    if (ski_job_is_distributed(job))
        made->fresh = made->common = slots / 2;
    made->table  = (struct ski_region *)(((uintptr_t)made->table + 127) & ~(uintptr_t)127);
    made->labels = (struct ski_region_label *)(made->table + slots);
    *root        = made;
    return SKUA_OK;
}

void ski_regions_open(struct ski_job *job, int process, struct ski_region_root *root,
                      const struct ski_region_observer *observers)
{
    ski_assert(root->slots > 0 && (root->slots & (root->slots - 1)) == 0);
    ski_assert(root->common < root->slots);
    table_job        = job;
    table_observers  = observers;
    ski_region_root  = root;
    table_mask       = root->slots - 1;
    ski_regions      = (struct ski_regions){.table = &none, .process = process};
    ski_regions.busy = ski_config.order == SKUA_ORDER_STRICT;
    if (ski_config.direct) {
        ski_regions.table = root->table;
        ski_regions.mask  = table_mask;
    }
}

void ski_regions_reset(void)
{
    ski_regions     = (struct ski_regions){&none, 0, -1, 0};
    ski_region_root = NULL;
    table_mask      = 0;
    table_job       = NULL;
}

/* ---- slots ----------------------------------------------------------------------------- */

struct ski_region *ski_region_table_alloc(void)
{
    struct ski_region_root *root  = ski_region_root;
    uint32_t                index = root->free_first;

    /* Other hosts remember an id longer (rkey_cache.h). */
    uint32_t age = root->common ? root->common : SLOT_AGE;

    if (root->free_count <= age && root->fresh < root->slots) {
        index = root->fresh++;
        /* Generations of different hosts begin apart, so that an id that is used with a PE of the
         * wrong host is recognised. */
        root->table[index].generation = (uint32_t)table_job->process[0].number * 257;
    } else if (index) {
        root->free_first = root->table[index].next;
        root->free_count--;
    } else {
        ski_error_fail(SKUA_ERR_NOMEM,
                       "all %u regions are in use; raise SKUA_ARENA_SIZE, which grows with them",
                       root->slots);
        return NULL;
    }
    ski_assert(index >= root->common && index < root->slots);
    ski_assert(atomic_load_explicit(&root->table[index].id, memory_order_relaxed) == 0);
    return &root->table[index];
}

static void region_table_free_slot(struct ski_region *region)
{
    struct ski_region_root *root  = ski_region_root;
    uint32_t                index = (uint32_t)(region - root->table);

    ski_assert(index > 0 && index < root->fresh);
    region->next = 0;
    if (root->free_count++ == 0)
        root->free_first = index;
    else
        root->table[root->free_last].next = index;
    root->free_last = index;
}

/* Fills a descriptor with what *@p like describes, and publishes its id. */
static void region_table_fill(struct ski_region *region, const struct ski_region *like, uint32_t id)
{
    uint32_t id_slot = (uint32_t)(region - ski_region_root->table);

    ski_assert((id & table_mask) == id_slot);
    ski_assert(like->count == 0 || like->kind == SKI_REGION_SYMMETRIC);
    if (id_slot < ski_region_root->common && id_slot >= ski_region_root->common_used)
        ski_region_root->common_used = id_slot + 1;
    region->first         = like->first;
    region->count         = like->count;
    region->kind          = like->kind;
    region->bytes         = like->bytes;
    region->stride        = like->stride;
    region->base          = like->base;
    region->members       = like->members;
    region->member_list   = like->member_list;
    region->local_list    = like->local_list;
    region->local_members = like->local_members;
    region->pieces        = like->pieces;
    region->left          = like->left;
    region->process       = like->process;
    region->pid           = like->pid;
    region->generation    = id >> SKI_REGION_INDEX_BITS;
    atomic_store_explicit(&region->freed, 0, memory_order_relaxed);
    /* The count itself stays: a thread with an old id may be about to take its own back. */
    atomic_fetch_and_explicit(&region->uses, ~SKI_REGION_CLOSED, memory_order_relaxed);
    /* Release: a PE that gets the id from this one sees the rest, by the lock or by the release of
     * the message that carries the id. */
    atomic_store_explicit(&region->id, id, memory_order_release);
}

uint32_t ski_region_table_publish(struct ski_region *region, const struct ski_region *like)
{
    uint32_t generation = (region->generation + 1) & GENERATION_MASK;
    uint32_t id = generation << SKI_REGION_INDEX_BITS | (uint32_t)(region - ski_region_root->table);

    region_table_fill(region, like, id);
    return id;
}

bool ski_region_table_publish_as(uint32_t id, const struct ski_region *like)
{
    uint32_t index = id & ((1u << SKI_REGION_INDEX_BITS) - 1);

    if (index == 0 || index >= ski_region_root->common ||
        atomic_load_explicit(&ski_region_root->table[index].id, memory_order_relaxed)) {
        ski_error_fail(SKUA_ERR_NOMEM,
                       "region %#x, which the hosts have agreed on, has no free slot on this host",
                       id);
        return false;
    }
    region_table_fill(&ski_region_root->table[index], like, id);
    return true;
}

/* ---- regions of the former job ------------------------------------------------------------ */

uint32_t ski_region_table_used(void)
{
    const struct ski_region_root *root = ski_region_root;

    return root->fresh > root->common ? root->fresh : root->common_used;
}

void ski_region_table_reserve(uint32_t used)
{
    struct ski_region_root *root = ski_region_root;

    ski_lock_acquire(&root->lock);
    used = used < root->slots ? used : root->slots;
    if (root->fresh < used) {
        root->reserved_first = root->fresh;
        root->reserved_end = root->fresh = used;
    }
    ski_lock_release(&root->lock);
}

void ski_region_table_unreserve(void)
{
    struct ski_region_root *root = ski_region_root;

    ski_lock_acquire(&root->lock);
    for (uint32_t i = root->reserved_first; i < root->reserved_end; i++)
        if (!atomic_load_explicit(&root->table[i].id, memory_order_relaxed))
            region_table_free_slot(&root->table[i]);
    root->reserved_first = root->reserved_end = 0;
    ski_lock_release(&root->lock);
}

const char *ski_region_table_restore(uint32_t id, const struct ski_region *like)
{
    struct ski_region_root *root   = ski_region_root;
    uint32_t                index  = id & ((1u << SKI_REGION_INDEX_BITS) - 1);
    bool                    common = like->kind == SKI_REGION_SYMMETRIC && root->common > 0;

    if (index >= root->slots)
        return "its number is beyond the regions of this job, whose table grows with "
               "SKUA_ARENA_SIZE; raise that";
    if (root->common > 0 && common != (index < root->common))
        return "its number is not possible on several hosts; restart on one, or on the former ones";
    if (index == 0 || atomic_load_explicit(&root->table[index].id, memory_order_relaxed) ||
        (!common && (index < root->reserved_first || index >= root->reserved_end)))
        return "another region has its number, one of a PE that was on another host; restart on "
               "the same hosts, or make it SKUA_REGION_TRANSIENT";
    region_table_fill(&root->table[index], like, id);
    return NULL;
}

uint32_t ski_region_table_add(const struct ski_region *like)
{
    struct ski_region *region;
    uint32_t           id = 0;

    ski_lock_acquire(&ski_region_root->lock);
    region = ski_region_table_alloc();
    if (region)
        id = ski_region_table_publish(region, like);
    ski_lock_release(&ski_region_root->lock);
    return id;
}

void ski_region_table_remove(struct ski_region *region)
{
    uint32_t id = atomic_load_explicit(&region->id, memory_order_relaxed);

    ski_assert(id != 0);
    /* First: a module that looks for the region under a lock of its own adds nothing after its
     * observer has removed what it had. */
    atomic_store_explicit(&region->id, 0, memory_order_relaxed);
    for (const struct ski_region_observer *o = table_observers; o->removed || o->piece_freed; o++)
        if (o->removed)
            o->removed(id);
    if (region < ski_region_root->table + ski_region_root->common)
        return; /* the registrar reuses common slots (symmetric_vote.h) */
    ski_lock_acquire(&ski_region_root->lock);
    region_table_free_slot(region);
    ski_lock_release(&ski_region_root->lock);
}

void ski_region_destroy(uint32_t id)
{
    struct ski_region *region = ski_region_table_find((skua_region){id});
    void              *base   = region ? region->base : NULL;

    if (!region)
        return;
    ski_region_table_remove(region); /* first, so that its id no longer finds the memory */
    ski_span_free(table_job->arena, base);
}

void ski_region_piece_freed(struct ski_pe *self, const char *piece, size_t bytes)
{
    for (const struct ski_region_observer *o = table_observers; o->removed || o->piece_freed; o++)
        if (o->piece_freed)
            o->piece_freed(self, piece, bytes);
}

struct ski_region *ski_region_table_find(skua_region region)
{
    struct ski_region *at =
        ski_region_root ? &ski_region_root->table[region.id & table_mask] : &none;

    return region.id && atomic_load_explicit(&at->id, memory_order_acquire) == region.id ? at
                                                                                         : NULL;
}

/* ---- members --------------------------------------------------------------------------- */

/* Returns the index of @p pe in an ascending list, or -1. */
static int64_t region_table_search(const int32_t *list, int64_t n, int pe)
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
    const int32_t *list = region->local_list ? region->local_list : region->member_list;
    int64_t        n    = ski_region_piece_count(region);

    if (list)
        return region_table_search(list, n, pe);
    return pe >= region->first && pe - region->first < n ? pe - region->first : -1;
}

char *ski_region_varied_piece(skua_gaddr at, uint64_t *bytes)
{
    const struct ski_region *region = ski_config.direct ? ski_region_table_find(at.region) : NULL;
    int64_t                  rank = region && region->pieces ? ski_region_rank(region, at.pe) : -1;

    if (rank < 0)
        return NULL;
    *bytes = ski_region_piece_bytes(region, rank);
    return ski_region_piece_at(region, rank);
}

bool ski_region_is_member(const struct ski_region *region, int pe)
{
    if (!region->local_list)
        return ski_region_rank(region, pe) >= 0;
    return region->member_list ? region_table_search(region->member_list, region->members, pe) >= 0
                               : pe >= 0 && pe < (int32_t)region->members;
}

/* ---- the end of a symmetric region -------------------------------------------------------- */

/* Returns the value of `freed` when all members of this host have freed the region. */
static uint64_t region_freed_by_all(const struct ski_region *region)
{
    uint32_t pieces = ski_region_piece_count(region);

    ski_assert(pieces > 0);
    return pieces > 64 ? pieces : UINT64_MAX >> (64 - pieces);
}

/* Acquire and release: what all members did with the region has happened before the last of them
 * frees its memory. */
int ski_region_leave(struct ski_region *region, int64_t rank)
{
    uint32_t          pieces = ski_region_piece_count(region);
    uint64_t          bit    = UINT64_C(1) << rank % 64, before;
    _Atomic uint64_t *bits   = region->left ? &region->left[rank / 64] : &region->freed;

    ski_assert(rank >= 0 && rank < pieces && (pieces > 64) == !!region->left);
    before = atomic_fetch_or_explicit(bits, bit, memory_order_acq_rel);
    if (before & bit)
        return -1;
    if (!region->left)
        return (before | bit) == region_freed_by_all(region);
    before = atomic_fetch_add_explicit(&region->freed, 1, memory_order_acq_rel);
    return before + 1 == pieces;
}

void ski_region_leave_all(struct ski_region *region)
{
    /* Release: pairs with the acquire in ski_region_all_freed(). */
    atomic_store_explicit(&region->freed, region_freed_by_all(region), memory_order_release);
}

/* Returns whether all members of this host have freed symmetric region @p region. */
static bool region_is_freed(const struct ski_region *region)
{
    /* Acquire: pairs with the release in ski_region_leave(). */
    return atomic_load_explicit(&region->freed, memory_order_acquire) ==
           region_freed_by_all(region);
}

bool ski_region_all_freed(uint32_t id)
{
    const struct ski_region *region = ski_region_table_find((skua_region){id});

    return region && region->kind == SKI_REGION_SYMMETRIC && region->local_list &&
           region_is_freed(region);
}

bool ski_region_close(struct ski_region *region)
{
    uint32_t idle = 0;

    ski_assert(region->kind != SKI_REGION_SYMMETRIC);
    /* Acquire: pairs with the release in ski_region_release(). */
    return atomic_compare_exchange_strong_explicit(&region->uses, &idle, SKI_REGION_CLOSED,
                                                   memory_order_acquire, memory_order_relaxed);
}

void ski_region_suspend(struct ski_region *region)
{
    atomic_fetch_or_explicit(&region->uses, SKI_REGION_CLOSED, memory_order_relaxed);
}

bool ski_region_drained(const struct ski_region *region)
{
    /* Acquire: pairs with the release in ski_region_release(). */
    return atomic_load_explicit(&region->uses, memory_order_acquire) == SKI_REGION_CLOSED;
}

void ski_region_resume(struct ski_region *region)
{
    atomic_fetch_and_explicit(&region->uses, ~SKI_REGION_CLOSED, memory_order_relaxed);
}
