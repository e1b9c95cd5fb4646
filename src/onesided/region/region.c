/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.c - making and freeing regions.
 *
 * Creating a symmetric region on one host needs no message and no waiting (over several,
 * see symmetric_alloc.h).  The first of
 * its PEs to call makes it, with the pieces of all, and leaves a note in a list
 * of the arena; each other one looks for the first note for the same PEs that
 * it has not taken yet, and the last one to take a note removes it.  PEs call
 * in the same order, so that is the right one.
 */
#include "onesided/region/region.h"

#include <string.h>
#include <unistd.h>

#include "onesided/region/symmetric_alloc.h"
#include "onesided/channel/channel.h"
#include "onesided/region/rkey_cache.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region_table.h"

#define BUCKETS 256 /* of registered memory, in each process */

/* A symmetric region that not all of its PEs have asked for yet. */
struct ski_note {
    struct ski_note *next;
    size_t           bytes;
    skua_status_t    status; /* SKUA_OK, or the failure that all of them get */
    uint32_t         id, members, waiting;
    bool             everyone;    /* all PEs, else those of the list */
    uint64_t         key, number; /* of the round, where members are on other hosts: */
    char             like[sizeof(struct ski_region)]; /* what will be made when they agree; a
                                                         note is less aligned than that */
    uint8_t *taken;                                   /* a bit for each member           */
    int32_t  list[];
};

static struct ski_lock cache_lock; /* registered regions of this process */
static uint32_t        cache[BUCKETS];

static uint32_t index_of(uint32_t id)
{
    return id & (ski_region_root->places - 1);
}

/* ---- symmetric regions ---------------------------------------------------- */

static size_t piece_stride(size_t bytes)
{
    size_t grain = bytes < 4096 ? SKI_CACHE_LINE : 4096;

    return (bytes + (bytes == 0) + grain - 1) & ~(grain - 1);
}

/* The memory of @p pieces pieces of @p bytes, and of @p lists PEs behind them. */
static skua_status_t find_memory(size_t pieces, size_t bytes, size_t lists, struct ski_region *like)
{
    void         *span;
    skua_status_t status;

    if (bytes > SIZE_MAX / 4 / (pieces + 1))
        return ski_fail(SKUA_ERR_NOMEM, "a region of %zu times %zu bytes is larger than any memory",
                        pieces, bytes);
    like->bytes  = bytes;
    like->stride = piece_stride(bytes);
    status       = ski_span_alloc(ski_origin_job()->arena,
                                  pieces * like->stride + lists * sizeof(int32_t), SKI_UNIT_LARGE, &span);
    if (status == SKUA_OK)
        like->base = span;
    return status;
}

/* A region of @p n pieces, for PEs 0 .. n-1 or those of @p pes; its memory. */
static skua_status_t lay_out(const int *pes, uint32_t n, size_t bytes, struct ski_region *like)
{
    skua_status_t status;

    *like =
        (struct ski_region){.kind = SKI_REGION_SYMMETRIC, .count = n, .members = n, .process = -1};
    status = find_memory(n, bytes, pes ? n : 0, like);
    if (status != SKUA_OK || !pes)
        return status;
    like->first = pes[0];
    like->list  = (int32_t *)(void *)(like->base + n * like->stride);
    memcpy(like->list, pes, n * sizeof *pes);
    if (pes[n - 1] - pes[0] != (int)n - 1)
        like->count = 0; /* no neighbours: found by ski_locate() */
    return SKUA_OK;
}

/* The same, where some of the PEs are on other hosts: the pieces of those here. */
static skua_status_t lay_out_here(const int *pes, uint32_t n, size_t bytes, struct ski_region *like)
{
    const struct ski_job *job  = ski_origin_job();
    uint32_t              here = 0;
    skua_status_t         status;

    for (uint32_t i = 0; i < n; i++)
        here += ski_job_index(job, pes ? pes[i] : (int)i) >= 0;
    *like = (struct ski_region){
        .kind = SKI_REGION_SYMMETRIC, .members = n, .pieces = here, .process = -1};
    status = find_memory(here, bytes, here + (pes ? n : 0), like);
    if (status != SKUA_OK)
        return status;
    like->here = (int32_t *)(void *)(like->base + here * like->stride);
    for (uint32_t i = 0, at = 0; i < n; i++)
        if (ski_job_index(job, pes ? pes[i] : (int)i) >= 0)
            like->here[at++] = pes ? pes[i] : (int)i;
    like->first = like->here[0];
    if (like->here[here - 1] - like->first == (int)here - 1)
        like->count = here;
    if (pes) {
        like->list = like->here + here;
        memcpy(like->list, pes, n * sizeof *pes);
    }
    return SKUA_OK;
}

static bool same_members(const struct ski_note *note, const int *pes, uint32_t n)
{
    return note->everyone == !pes && note->members == n &&
           (!pes || memcmp(note->list, pes, n * sizeof *pes) == 0);
}

/* The first note for these PEs that member @p rank has not taken, or NULL; and
 * what points to it.  Caller holds the lock. */
static struct ski_note *find_note(const int *pes, uint32_t n, uint32_t rank,
                                  struct ski_note ***link)
{
    for (*link = &ski_region_root->notes; **link; *link = &(**link)->next)
        if (same_members(**link, pes, n) && !((**link)->taken[rank / 8] >> rank % 8 & 1))
            return **link;
    return NULL;
}

static void take_note(struct ski_pe *self, struct ski_note *note, struct ski_note **link,
                      uint32_t rank)
{
    note->taken[rank / 8] |= (uint8_t)(1 << rank % 8);
    if (--note->waiting > 0)
        return;
    *link = note->next;
    ski_pool_free(&self->pool, note);
}

/* A note for the others, at the end of the list that @p link is. */
static struct ski_note *leave_note(struct ski_pe *self, const int *pes, uint32_t n, size_t bytes,
                                   struct ski_note **link)
{
    size_t           list = pes ? n * sizeof(int32_t) : 0;
    struct ski_note *note = ski_pool_alloc(&self->pool, sizeof *note + list + (n + 7) / 8);

    if (!note)
        ski_fatal("no memory to make a region; raise SKUA_ARENA_SIZE");
    memset(note, 0, sizeof *note + list + (n + 7) / 8);
    note->bytes    = bytes;
    note->members  = n;
    note->waiting  = n;
    note->everyone = !pes;
    note->taken    = (uint8_t *)note->list + list;
    if (pes)
        memcpy(note->list, pes, list);
    *link = note;
    return note;
}

/* The first of the PEs makes the region; what comes of it is in the note, also a
 * failure, which is then that of all.  Caller holds the lock. */
static struct ski_note *make_first(struct ski_pe *self, const int *pes, uint32_t n, size_t bytes,
                                   struct ski_note **link)
{
    struct ski_note  *note = leave_note(self, pes, n, bytes, link);
    struct ski_region like, *region = NULL;

    note->status = lay_out(pes, n, bytes, &like);
    if (note->status != SKUA_OK)
        return note;
    region = ski_table_take();
    if (region) {
        note->id = ski_table_publish(region, &like);
    } else {
        ski_span_free(ski_origin_job()->arena, like.base);
        note->status = SKUA_ERR_NOMEM;
    }
    return note;
}

static skua_status_t create(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                            uint32_t rank, size_t bytes, skua_region *region)
{
    struct ski_note **link, *note;
    skua_status_t     status;
    size_t            theirs;

    ski_lock_acquire(&ski_region_root->lock);
    note = find_note(pes, n, rank, &link);
    if (!note)
        note = make_first(self, pes, n, bytes, link);
    theirs = note->bytes;
    status = note->status;
    if (status == SKUA_OK)
        region->id = note->id;
    take_note(self, note, link, rank);
    ski_lock_release(&ski_region_root->lock);
    if (theirs != bytes)
        ski_misuse("%s: %zu bytes here but %zu on another PE; is it called in the same order?",
                   call, bytes, theirs);
    return status;
}

/* ---- over several hosts ------------------------------------------------------ */

static struct ski_note *find_round(const struct ski_round *round, struct ski_note ***link)
{
    for (*link = &ski_region_root->notes; **link; *link = &(**link)->next)
        if ((**link)->key == round->key && (**link)->number == round->number)
            return **link;
    return NULL;
}

/* The first of the PEs here finds memory.  Caller holds the lock. */
static struct ski_note *make_round(struct ski_pe *self, const struct ski_round *round, size_t bytes,
                                   struct ski_note **link)
{
    struct ski_note  *note = leave_note(self, NULL, 0, bytes, link);
    struct ski_region like;

    note->key     = round->key;
    note->number  = round->number;
    note->status  = lay_out_here(round->pes, round->members, bytes, &like);
    note->waiting = like.pieces;
    memcpy(note->like, &like, sizeof like);
    return note;
}

/* The members have agreed on an id: the first one here makes the region. */
static skua_status_t publish_round(const struct ski_round *round, uint32_t id)
{
    struct ski_note **link, *note;
    struct ski_region like;
    bool              made = false;

    ski_lock_acquire(&ski_region_root->lock);
    note = find_round(round, &link);
    if (note) {
        memcpy(&like, note->like, sizeof like);
        if (!note->id && ski_table_publish_as(id, &like))
            note->id = id;
        made = note->id != 0;
    }
    ski_lock_release(&ski_region_root->lock);
    return made ? SKUA_OK : SKUA_ERR_NOMEM;
}

/* What `leaving` of a region is when all members here have freed it. */
static uint64_t region_all_left(const struct ski_region *region)
{
    uint32_t pieces = ski_region_pieces(region);

    return pieces > 64 ? pieces : UINT64_MAX >> (64 - pieces);
}

/* A region that was made here, and not everywhere, is as one that all have freed. */
static void region_give_up(uint32_t id)
{
    struct ski_region *region = ski_table_find((skua_region){id});

    /* Release: pairs with the acquire in ski_region_left(). */
    if (region)
        atomic_store_explicit(&region->leaving, region_all_left(region), memory_order_release);
}

/* The last one here forgets the note, and the memory if nothing came of it.  Where an id was
 * given and not all could use it, @p unused, it also gives that back: what was made here goes
 * when all others have done so (symmetric_alloc.h). */
static void close_round(struct ski_pe *self, const struct ski_round *round, uint32_t unused)
{
    struct ski_note **link, *note;
    struct ski_region like;
    uint32_t          members = 0;

    ski_lock_acquire(&ski_region_root->lock);
    note = find_round(round, &link);
    if (note && --note->waiting == 0) {
        *link = note->next;
        memcpy(&like, note->like, sizeof like);
        members = like.pieces;
        if (!note->id && note->status == SKUA_OK)
            ski_span_free(ski_origin_job()->arena, like.base);
        ski_pool_free(&self->pool, note);
    }
    ski_lock_release(&ski_region_root->lock);
    if (!unused || !members)
        return;
    region_give_up(unused);
    ski_agree_left(unused, members);
}

static skua_status_t create_apart(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                                  uint32_t rank, size_t bytes, skua_region *region)
{
    struct ski_round  round = ski_round_next(self, pes, n, rank);
    struct ski_note **link, *note;
    skua_status_t     status;
    uint32_t          id, none, unused = 0;
    uint64_t          other;

    ski_lock_acquire(&ski_region_root->lock);
    note = find_round(&round, &link);
    if (!note)
        note = make_round(self, &round, bytes, link);
    status = note->status;
    ski_lock_release(&ski_region_root->lock);
    status = ski_agree(self, &round, status, bytes, &id, &other);
    if (status == SKUA_ERR_EXIT)
        return status;
    if (other != bytes)
        ski_misuse("%s: %zu bytes here but %zu on another PE; is it called in the same order?",
                   call, bytes, (size_t)other);
    if (status == SKUA_OK) {
        struct ski_round confirm = round;

        confirm.number++;
        confirm.confirms = true;
        status           = publish_round(&round, id);
        status           = ski_agree(self, &confirm, status, bytes, &none, &other);
        unused           = status == SKUA_OK || status == SKUA_ERR_EXIT ? 0 : id;
    }
    if (status == SKUA_OK)
        region->id = id;
    close_round(self, &round, unused);
    return status;
}

/* ---- calls ------------------------------------------------------------------- */

static skua_status_t make(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                          uint32_t rank, size_t bytes, skua_region *region)
{
    return (ski_job_spread(self->job) ? create_apart : create)(self, call, pes, n, rank, bytes,
                                                               region);
}

skua_status_t skua_region_create(size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();
    skua_status_t  status =
        make(self, __func__, NULL, (uint32_t)self->pes, (uint32_t)self->pe, bytes, region);

    if (status == SKUA_OK)
        ski_region_made_at(region->id, __builtin_return_address(0));
    return status;
}

skua_status_t skua_region_create_on(const int *pes, int n, size_t bytes, skua_region *region)
{
    struct ski_pe *self = SKI_SELF();
    skua_status_t  status;
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
    status = make(self, __func__, pes, (uint32_t)n, (uint32_t)rank, bytes, region);
    if (status == SKUA_OK)
        ski_region_made_at(region->id, __builtin_return_address(0));
    return status;
}

/* ---- regions of one PE ----------------------------------------------------- */

skua_status_t skua_region_alloc(size_t bytes, skua_region *region)
{
    struct ski_region like;
    int               pe     = (ski_onesided_check(__func__), ski_caller_pe());
    skua_status_t     status = lay_out(NULL, 1, bytes, &like);
    uint32_t          id;

    if (status != SKUA_OK)
        return status;
    like.kind  = SKI_REGION_ALLOCATED;
    like.count = 0; /* it may be freed at any time, so its uses are counted */
    like.first = pe;
    id         = ski_table_make(&like);
    if (!id) {
        ski_span_free(ski_origin_job()->arena, like.base);
        return SKUA_ERR_NOMEM;
    }
    region->id = id;
    ski_region_made_at(id, __builtin_return_address(0));
    return SKUA_OK;
}

static uint32_t *bucket_of(const void *memory)
{
    return &cache[((uintptr_t)memory >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (BUCKETS - 1)];
}

/* The region of the same memory, if it is registered already; else NULL. */
static struct ski_region *find_registered(const void *memory, size_t bytes, int32_t pe)
{
    for (uint32_t i = *bucket_of(memory); i; i = ski_region_root->table[i].next) {
        struct ski_region *region = &ski_region_root->table[i];
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
    if ((!memory && bytes > 0) || bytes > UINTPTR_MAX - (uintptr_t)memory)
        return ski_refuse(SKUA_ERR_INVAL, "%s: %zu bytes at %p are no memory", __func__, bytes,
                          memory);
    ski_lock_acquire(&cache_lock);
    found = find_registered(memory, bytes, ski_caller_pe());
    if (found) {
        found->refs++;
        id = atomic_load_explicit(&found->id, memory_order_relaxed);
    } else {
        struct ski_region like = {.kind    = SKI_REGION_REGISTERED,
                                  .first   = ski_caller_pe(),
                                  .members = 1,
                                  .bytes   = bytes,
                                  .base    = memory,
                                  .process = ski_arena_contains(ski_origin_job()->arena, memory)
                                                 ? -1
                                                 : ski_regions.process,
                                  .pid     = getpid()};
        id                     = ski_table_make(&like);
        if (id) {
            ski_region_root->table[index_of(id)].next = *bucket_of(memory);
            *bucket_of(memory)                        = index_of(id);
        }
    }
    ski_lock_release(&cache_lock);
    if (!id)
        return SKUA_ERR_NOMEM;
    region->id = id;
    if (!found)
        ski_region_made_at(id, __builtin_return_address(0));
    return SKUA_OK;
}

/* Takes a registered region off its bucket. */
static void forget(struct ski_region *region)
{
    uint32_t *at = bucket_of(region->base);

    while (&ski_region_root->table[*at] != region)
        at = &ski_region_root->table[*at].next;
    *at = region->next;
}

/* Closes a region of one PE to new operations; false if some are in flight. */
static bool close_region(struct ski_region *region)
{
    uint32_t idle = 0;

    /* Acquire: pairs with the release of ski_region_release(). */
    return atomic_compare_exchange_strong_explicit(&region->uses, &idle, SKI_REGION_CLOSED,
                                                   memory_order_acquire, memory_order_relaxed);
}

static skua_status_t busy(const struct ski_region *region)
{
    char text[SKI_REGION_TEXT];

    return ski_refuse(
        SKUA_ERR_BUSY, "skua_region_free: operations on %s are in flight",
        ski_region_text(atomic_load_explicit(&region->id, memory_order_relaxed), text));
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
        return busy(region);
    if (closed) {
        ski_conceal(atomic_load_explicit(&region->id, memory_order_relaxed));
        ski_table_remove(region);
    }
    return SKUA_OK;
}

/* Notes that member @p rank has freed a symmetric region: 1 if all have now, 0 if
 * not, -1 if it had already.  Acquire and release: what all of them did with it
 * has happened before the last one frees it. */
static int leave(struct ski_region *region, int64_t rank)
{
    uint32_t pieces = ski_region_pieces(region);
    uint64_t bit    = UINT64_C(1) << rank % 64, before;

    if (pieces > 64) {
        before = atomic_fetch_add_explicit(&region->leaving, 1, memory_order_acq_rel);
        return before + 1 == pieces;
    }
    before = atomic_fetch_or_explicit(&region->leaving, bit, memory_order_acq_rel);
    if (before & bit)
        return -1;
    return (before | bit) == region_all_left(region);
}

bool ski_region_left(uint32_t id)
{
    const struct ski_region *region = ski_table_find((skua_region){id});

    /* Acquire: pairs with the release in leave(). */
    return region && region->kind == SKI_REGION_SYMMETRIC && region->here &&
           atomic_load_explicit(&region->leaving, memory_order_acquire) == region_all_left(region);
}

void ski_region_remove(uint32_t id)
{
    struct ski_region *region = ski_table_find((skua_region){id});
    void              *base   = region ? region->base : NULL;

    if (!region)
        return;
    ski_conceal(id);
    ski_table_remove(region); /* first: nobody finds what is not there any more */
    ski_span_free(ski_origin_job()->arena, base);
}

skua_status_t skua_region_free(skua_region id)
{
    struct ski_region *region = (ski_onesided_check(__func__), ski_table_find(id));
    int64_t            rank   = region ? ski_region_rank(region, ski_caller_pe()) : -1;
    int                last   = 1;
    char               text[SKI_REGION_TEXT];

    if (rank >= 0 && region->kind == SKI_REGION_REGISTERED)
        return deregister(region);
    if (rank >= 0 && region->kind == SKI_REGION_SYMMETRIC)
        last = leave(region, rank);
    if (rank < 0 || last < 0)
        return ski_refuse(SKUA_ERR_REGION, "skua_region_free: PE %d has no %s (freed already?)",
                          ski_caller_pe(), ski_region_text(id.id, text));
    if (ski_config.checked_channels && ski_self)
        ski_check_freed(ski_self, region->base + (size_t)rank * region->stride, region->bytes);
    if (!last)
        return SKUA_OK;
    if (region->kind == SKI_REGION_ALLOCATED && !close_region(region))
        return busy(region);
    if (region->here)
        ski_agree_left(id.id, region->pieces); /* those on other hosts may not have */
    else
        ski_region_remove(id.id);
    return SKUA_OK;
}
