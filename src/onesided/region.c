/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.c - making, finding and freeing regions.
 *
 * Creating a symmetric region needs no message and no waiting.  The first of
 * its PEs to call makes it, with the pieces of all, and leaves a note in a list
 * of the arena; each other one looks for the first note for the same PEs that
 * it has not taken yet, and the last one to take a note removes it.  PEs call
 * in the same order, so that is the right one.
 */
#include "onesided/region.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "core/pe.h"
#include "onesided/onesided.h"

#define FIRST_PLACE 1   /* place 0 is that of no region            */
#define AGE         64  /* freed places that wait before reuse      */
#define BUCKETS     256 /* of registered memory, in each process    */

/* A symmetric region that not all of its PEs have asked for yet. */
struct note {
    struct note *next;
    uint32_t     id, members, waiting;
    bool         everyone; /* all PEs; else `list` of the region says who */
    uint8_t      taken[];  /* a bit for each member */
};

struct ski_region_root {
    struct ski_lock    lock; /* guards all of this, and what is not in use of the table */
    uint32_t           places, fresh;
    uint32_t           free_first, free_last, free_count;
    struct note       *notes;
    struct ski_region *table;
};

static struct ski_region none;

struct ski_regions ski_regions = {&none, 0, -1, 0};

static struct ski_region_root *root;
static uint32_t                mask; /* places - 1 */
static struct ski_job         *job;
static struct ski_lock         cache_lock; /* registered regions of this process */
static uint32_t                cache[BUCKETS];

/* ---- the table ----------------------------------------------------------- */

skua_status_t ski_regions_create(struct ski_job *new_job)
{
    uint32_t                places = 64;
    struct ski_region_root *made;
    void                   *span;
    skua_status_t           status;

    while (places < UINT32_C(1) << SKI_REGION_INDEX_BITS && places < new_job->arena->bytes / 32768)
        places *= 2;
    status = ski_span_alloc(new_job->arena, sizeof *made + (places + 1) * sizeof *made->table,
                            SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    made  = span; /* a fresh arena is all zeros */
    *made = (struct ski_region_root){
        .places = places, .fresh = FIRST_PLACE, .table = (struct ski_region *)(made + 1)};
    made->table = (struct ski_region *)(((uintptr_t)made->table + 127) & ~(uintptr_t)127);
    ski_onesided_root(new_job)->regions = made;
    return SKUA_OK;
}

void ski_regions_open(struct ski_job *our_job, int process)
{
    job              = our_job;
    root             = ski_onesided_root(job)->regions;
    mask             = root->places - 1;
    ski_regions      = (struct ski_regions){.table = &none, .process = process};
    ski_regions.busy = ski_config.order == SKUA_ORDER_STRICT;
    if (ski_config.direct) {
        ski_regions.table = root->table;
        ski_regions.mask  = mask;
    }
}

void ski_regions_close(void)
{
    ski_regions = (struct ski_regions){&none, 0, -1, 0};
    memset(cache, 0, sizeof cache);
    root = NULL;
}

/* A place that has been free for long, so that old ids are recognised. */
static struct ski_region *take_place(void)
{
    uint32_t index = root->free_first;

    if (root->free_count <= AGE && root->fresh < root->places) {
        index = root->fresh++;
    } else if (index) {
        root->free_first = root->table[index].next;
        root->free_count--;
    } else {
        ski_log(SKI_LOG_ERROR,
                "all %u regions are in use; raise SKUA_ARENA_SIZE, which grows with them",
                root->places);
        return NULL;
    }
    return &root->table[index];
}

static void put_place(struct ski_region *region)
{
    uint32_t index = (uint32_t)(region - root->table);

    region->next = 0;
    if (root->free_count++ == 0)
        root->free_first = index;
    else
        root->table[root->free_last].next = index;
    root->free_last = index;
}

/* Makes @p like, in a place of the table, known by an id. */
static uint32_t publish(struct ski_region *region, const struct ski_region *like)
{
    uint32_t generation = (region->generation + 1) & ((1u << (32 - SKI_REGION_INDEX_BITS)) - 1);
    uint32_t id         = generation << SKI_REGION_INDEX_BITS | (uint32_t)(region - root->table);

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
    region->generation = generation;
    atomic_store_explicit(&region->leaving, 0, memory_order_relaxed);
    /* Not 0: somebody with an old id may be about to take back his count. */
    atomic_fetch_and_explicit(&region->uses, ~SKI_REGION_CLOSED, memory_order_relaxed);
    /* Those who get the id from us also get the rest: by the lock, or by the
     * release of the message that carries it. */
    atomic_store_explicit(&region->id, id, memory_order_release);
    return id;
}

/* Makes a region like @p like; its id, or 0. */
static uint32_t make(const struct ski_region *like)
{
    struct ski_region *region;
    uint32_t           id = 0;

    ski_lock_acquire(&root->lock);
    region = take_place();
    if (region)
        id = publish(region, like);
    ski_lock_release(&root->lock);
    return id;
}

static void unmake(struct ski_region *region)
{
    atomic_store_explicit(&region->id, 0, memory_order_relaxed);
    ski_lock_acquire(&root->lock);
    put_place(region);
    ski_lock_release(&root->lock);
}

static struct ski_region *find(skua_region region)
{
    struct ski_region *at = root ? &root->table[region.id & mask] : &none;

    return region.id && atomic_load_explicit(&at->id, memory_order_acquire) == region.id ? at
                                                                                         : NULL;
}

/* ---- finding ---------------------------------------------------------------- */

/* The number of a PE's piece, or -1. */
static int64_t rank_of(const struct ski_region *region, int pe)
{
    int64_t lo = 0, hi = (int64_t)region->members - 1;

    if (!region->list)
        return pe >= region->first && pe - region->first <= hi ? pe - region->first : -1;
    while (lo <= hi) {
        int64_t middle = (lo + hi) / 2;
        if (region->list[middle] == pe)
            return middle;
        if (region->list[middle] < pe)
            lo = middle + 1;
        else
            hi = middle - 1;
    }
    return -1;
}

static bool is_member(const struct ski_region *region, int pe)
{
    return rank_of(region, pe) >= 0;
}

/* ---- symmetric regions ---------------------------------------------------- */

static size_t piece_stride(size_t bytes)
{
    size_t grain = bytes < 4096 ? SKI_CACHE_LINE : 4096;

    return (bytes + (bytes == 0) + grain - 1) & ~(grain - 1);
}

/* A region of @p n pieces, for PEs 0 .. n-1 or those of @p pes; its memory. */
static skua_status_t lay_out(const int *pes, uint32_t n, size_t bytes, struct ski_region *like)
{
    size_t        list_bytes = pes ? (n * sizeof(int32_t) + 63) & ~(size_t)63 : 0;
    void         *span;
    skua_status_t status;

    if (bytes > SIZE_MAX / 4 / n)
        return SKUA_ERR_NOMEM;
    *like  = (struct ski_region){.kind    = SKI_REGION_SYMMETRIC,
                                 .count   = n,
                                 .members = n,
                                 .bytes   = bytes,
                                 .stride  = piece_stride(bytes),
                                 .process = -1};
    status = ski_span_alloc(job->arena, n * like->stride + list_bytes, SKI_UNIT_LARGE, &span);
    if (status != SKUA_OK)
        return status;
    like->base = span;
    if (!pes)
        return SKUA_OK;
    like->first = pes[0];
    like->list  = (int32_t *)(void *)(like->base + n * like->stride);
    memcpy(like->list, pes, n * sizeof *pes);
    if (pes[n - 1] - pes[0] != (int)n - 1)
        like->count = 0; /* no neighbours: found by ski_locate() */
    return SKUA_OK;
}

static bool same_members(const struct note *note, const int *pes, uint32_t n)
{
    const struct ski_region *region = &root->table[note->id & mask];

    return note->everyone == !pes && note->members == n &&
           (!pes || memcmp(region->list, pes, n * sizeof *pes) == 0);
}

/* The first note for these PEs that member @p rank has not taken, or NULL; and
 * what points to it.  Caller holds the lock. */
static struct note *find_note(const int *pes, uint32_t n, uint32_t rank, struct note ***link)
{
    for (*link = &root->notes; **link; *link = &(**link)->next)
        if (same_members(**link, pes, n) && !((**link)->taken[rank / 8] >> rank % 8 & 1))
            return **link;
    return NULL;
}

static void take_note(struct ski_pe *self, struct note *note, struct note **link, uint32_t rank)
{
    note->taken[rank / 8] |= (uint8_t)(1 << rank % 8);
    if (--note->waiting > 0)
        return;
    *link = note->next;
    ski_pool_free(&self->pool, note);
}

/* Makes the region and leaves a note for the others.  Caller holds the lock;
 * @p link is the end of the list. */
static skua_status_t make_first(struct ski_pe *self, const int *pes, uint32_t n, size_t bytes,
                                struct note **link, struct note **made)
{
    struct ski_region like, *region;
    struct note      *note = ski_pool_alloc(&self->pool, sizeof *note + (n + 7) / 8);
    skua_status_t     status;

    if (!note)
        return SKUA_ERR_NOMEM;
    status = lay_out(pes, n, bytes, &like);
    region = status == SKUA_OK ? take_place() : NULL;
    if (!region) {
        if (status == SKUA_OK)
            ski_span_free(job->arena, like.base);
        ski_pool_free(&self->pool, note);
        return SKUA_ERR_NOMEM;
    }
    memset(note, 0, sizeof *note + (n + 7) / 8);
    note->id       = publish(region, &like);
    note->members  = n;
    note->waiting  = n;
    note->everyone = !pes;
    *link = *made = note;
    return SKUA_OK;
}

static skua_status_t create(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                            uint32_t rank, size_t bytes, skua_region *region)
{
    struct note **link, *note;
    skua_status_t status = SKUA_OK;
    size_t        theirs = bytes;

    ski_lock_acquire(&root->lock);
    note = find_note(pes, n, rank, &link);
    if (note)
        theirs = root->table[note->id & mask].bytes;
    else
        status = make_first(self, pes, n, bytes, link, &note);
    if (status == SKUA_OK && theirs == bytes) {
        region->id = note->id;
        take_note(self, note, link, rank);
    }
    ski_lock_release(&root->lock);
    if (theirs != bytes)
        ski_misuse("%s: %zu bytes here but %zu on another PE; is it called in the same order?",
                   call, bytes, theirs);
    return status;
}

skua_status_t skua_region_create(size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();

    return create(self, __func__, NULL, (uint32_t)self->pes, (uint32_t)self->pe, bytes, region);
}

skua_status_t skua_region_create_on(const int *pes, int n, size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();
    int            rank = -1;

    for (int i = 0; i < n; i++) {
        if (pes[i] < 0 || pes[i] >= self->pes || (i > 0 && pes[i] <= pes[i - 1]))
            return ski_refuse(SKUA_ERR_INVAL, "%s: entry %d of the list of PEs, %d, is %s",
                              __func__, i, pes[i],
                              i > 0 && pes[i] <= pes[i - 1] ? "out of order" : "no PE");
        if (pes[i] == self->pe)
            rank = i;
    }
    if (rank < 0)
        return ski_refuse(SKUA_ERR_INVAL, "%s: PE %d is not in its own list of PEs", __func__,
                          self->pe);
    return create(self, __func__, pes, (uint32_t)n, (uint32_t)rank, bytes, region);
}

/* ---- regions of one PE ----------------------------------------------------- */

/* The PE that stands for the caller: itself, or the first of its process. */
static int32_t caller_pe(void)
{
    return ski_self && ski_self->pe < job->pes ? ski_self->pe
                                               : job->process[ski_regions.process].first_pe;
}

skua_status_t skua_region_alloc(size_t bytes, skua_region *region)
{
    struct ski_region like;
    int               pe     = (ski_onesided_check(__func__), caller_pe());
    skua_status_t     status = lay_out(NULL, 1, bytes, &like);
    uint32_t          id;

    if (status != SKUA_OK)
        return status;
    like.kind  = SKI_REGION_ALLOCATED;
    like.first = pe;
    id         = make(&like);
    if (!id) {
        ski_span_free(job->arena, like.base);
        return SKUA_ERR_NOMEM;
    }
    region->id = id;
    return SKUA_OK;
}

static uint32_t *bucket_of(const void *memory)
{
    return &cache[((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (BUCKETS - 1)];
}

/* The region of the same memory, if it is registered already; else NULL. */
static struct ski_region *find_registered(const void *memory, size_t bytes, int32_t pe)
{
    for (uint32_t i = *bucket_of(memory); i; i = root->table[i].next) {
        struct ski_region *region = &root->table[i];
        if (region->base == memory && region->bytes == bytes && region->first == pe)
            return region;
    }
    return NULL;
}

skua_status_t skua_region_register(void *memory, size_t bytes, skua_region *region)
{
    struct ski_region *found;
    uint32_t           id = 0;

    ski_onesided_check(__func__);
    ski_lock_acquire(&cache_lock);
    found = find_registered(memory, bytes, caller_pe());
    if (found) {
        found->refs++;
        id = atomic_load_explicit(&found->id, memory_order_relaxed);
    } else {
        struct ski_region like = {
            .kind    = SKI_REGION_REGISTERED,
            .first   = caller_pe(),
            .members = 1,
            .bytes   = bytes,
            .base    = memory,
            .process = ski_arena_contains(job->arena, memory) ? -1 : ski_regions.process,
            .pid     = getpid()};
        id = make(&like);
        if (id) {
            root->table[id & mask].next = *bucket_of(memory);
            *bucket_of(memory)          = id & mask;
        }
    }
    ski_lock_release(&cache_lock);
    if (!id)
        return SKUA_ERR_NOMEM;
    region->id = id;
    return SKUA_OK;
}

/* Takes a registered region off its bucket. */
static void forget(struct ski_region *region)
{
    uint32_t *at = bucket_of(region->base);

    while (&root->table[*at] != region)
        at = &root->table[*at].next;
    *at = region->next;
}

/* Closes a registered region to new operations; false if some are in flight. */
static bool close_region(struct ski_region *region)
{
    uint32_t idle = 0;

    /* Acquire: pairs with the release of ski_region_release(). */
    return atomic_compare_exchange_strong_explicit(&region->uses, &idle, SKI_REGION_CLOSED,
                                                   memory_order_acquire, memory_order_relaxed);
}

static skua_status_t deregister(struct ski_region *region)
{
    bool last, closed = false;

    ski_lock_acquire(&cache_lock);
    last = region->refs == 1;
    if (last)
        closed = close_region(region);
    else
        region->refs--;
    if (closed)
        forget(region);
    ski_lock_release(&cache_lock);
    if (last && !closed)
        return ski_refuse(SKUA_ERR_BUSY,
                          "skua_region_free: operations on the registered memory are in flight");
    if (closed)
        unmake(region);
    return SKUA_OK;
}

skua_status_t skua_region_free(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), find(id));

    if (!region || !is_member(region, caller_pe())) {
        ski_log(SKI_LOG_ERROR, "skua_region_free: PE %d has no region %#x (freed already?)",
                caller_pe(), id.id);
        return SKUA_ERR_REGION;
    }
    if (region->kind == SKI_REGION_REGISTERED)
        return deregister(region);
    /* The last one frees it: acquire and release, so that what all did with it
     * has happened before. */
    if (region->kind == SKI_REGION_SYMMETRIC &&
        atomic_fetch_add_explicit(&region->leaving, 1, memory_order_acq_rel) + 1 < region->members)
        return SKUA_OK;
    ski_span_free(job->arena, region->base);
    unmake(region);
    return SKUA_OK;
}

/* ---- places ------------------------------------------------------------------ */

static skua_status_t outside(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                             const struct ski_region *region)
{
    if (!is_member(region, at.pe))
        ski_log(SKI_LOG_ERROR, "%s: PE %d has no piece of region %#x", call, at.pe, at.region.id);
    else
        ski_log(SKI_LOG_ERROR,
                "%s: bytes %" PRId64 " to %" PRId64 " are outside of the %" PRIu64
                " bytes that region %#x has on PE %d",
                call, (int64_t)at.offset + lo, (int64_t)at.offset + hi, region->bytes, at.region.id,
                at.pe);
    return SKUA_ERR_RANGE;
}

/* Whether lo .. hi from an offset lie in a piece; in 128 bits nothing overflows. */
static bool within(uint64_t offset, ptrdiff_t lo, ptrdiff_t hi, uint64_t bytes)
{
    __int128 begin = (__int128)offset + lo, end = (__int128)offset + hi;

    return begin >= 0 && end >= begin && end <= (__int128)bytes;
}

static skua_status_t no_region(const char *call, skua_gaddr at)
{
    ski_onesided_check(call);
    ski_log(SKI_LOG_ERROR, "%s: there is no region %#x (freed already?)", call, at.region.id);
    return SKUA_ERR_REGION;
}

void ski_region_hold(struct ski_region *region)
{
    atomic_fetch_add_explicit(&region->uses, 1, memory_order_acquire);
}

void ski_region_release(struct ski_region *region)
{
    /* Release: pairs with the acquire in deregister(). */
    atomic_fetch_sub_explicit(&region->uses, 1, memory_order_release);
}

skua_status_t ski_locate(const char *call, skua_gaddr at, ptrdiff_t lo, ptrdiff_t hi,
                         struct ski_place *place)
{
    struct ski_region *region  = find(at.region);
    bool               counted = region && region->kind == SKI_REGION_REGISTERED;
    int64_t            rank;

    if (!region)
        return no_region(call, at);
    if (counted) {
        ski_region_hold(region); /* from now on it stays, if it is still there */
        if (find(at.region) != region ||
            atomic_load_explicit(&region->uses, memory_order_relaxed) & SKI_REGION_CLOSED) {
            ski_region_release(region);
            return no_region(call, at);
        }
    }
    rank = rank_of(region, at.pe);
    if (rank < 0 || !within(at.offset, lo, hi, region->bytes)) {
        if (counted)
            ski_region_release(region);
        return outside(call, at, lo, hi, region);
    }
    *place = (struct ski_place){
        region,          region->base + (uint64_t)rank * region->stride + at.offset,
        region->process, region->pid,
        at.pe,           counted};
    return SKUA_OK;
}

void ski_place_drop(const struct ski_place *place)
{
    if (place->counted)
        ski_region_release(place->region);
}

size_t skua_region_size(skua_region id)
{
    struct ski_region *region = find(id);
    return region ? region->bytes : 0;
}

void *skua_region_mine(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), find(id));
    int64_t            rank   = region ? rank_of(region, caller_pe()) : -1;

    return rank < 0 ? NULL : region->base + (uint64_t)rank * region->stride;
}

void *skua_local(skua_gaddr at)
{
    char              *memory = ski_reach(at, 0);
    struct ski_region *region = find(at.region);
    int64_t            rank;

    if (memory || !region)
        return memory;
    rank = rank_of(region, at.pe);
    if (rank < 0 || at.offset > region->bytes ||
        (region->process >= 0 && region->process != ski_regions.process))
        return NULL;
    return region->base + (uint64_t)rank * region->stride + at.offset;
}
