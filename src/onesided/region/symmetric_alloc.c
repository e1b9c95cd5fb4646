/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric_alloc.c - see symmetric_alloc.h. */
#include "onesided/region/symmetric_alloc.h"

#include <string.h>

#include "base/assert.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/symmetric_vote.h"

/* A symmetric region that not all of its PEs on this host have asked for yet; in the arena. */
struct ski_symmetric_pending {
    struct ski_symmetric_pending *next;
    size_t                        bytes;
    skua_status                   status; /* SKUA_OK, or the failure that all of them get */
    uint32_t                      id, members, waiting;
    bool                          all_pes;     /* else those of the list        */
    uint64_t                      key, number; /* of the vote, on several hosts */
    char                          like[sizeof(struct ski_region)]; /* what the vote publishes; an
                                                              entry is less aligned than that */
    uint8_t *taken;                                                /* a bit for each member */
    int32_t  list[];
};

/* ---- memory ----------------------------------------------------------------------------- */

static size_t symmetric_piece_stride(size_t bytes)
{
    size_t grain = bytes < 4096 ? SKI_CACHE_LINE : 4096;

    return (bytes + (bytes == 0) + grain - 1) & ~(grain - 1);
}

/* Allocates @p pieces pieces of @p bytes, and room for @p listed PE numbers behind them. */
static skua_status symmetric_alloc_memory(size_t pieces, size_t bytes, size_t listed,
                                          struct ski_region *like)
{
    void       *span;
    skua_status status;

    if (bytes > SIZE_MAX / 4 / (pieces + 1))
        return ski_fail(SKUA_ERR_NOMEM, "a region of %zu times %zu bytes is larger than any memory",
                        pieces, bytes);
    like->bytes  = bytes;
    like->stride = symmetric_piece_stride(bytes);
    status =
        ski_span_alloc(ski_onesided_job()->arena, pieces * like->stride + listed * sizeof(int32_t),
                       SKI_UNIT_LARGE, &span);
    if (status == SKUA_OK)
        like->base = span;
    return status;
}

skua_status ski_symmetric_lay_out(const int *pes, uint32_t n, size_t bytes, struct ski_region *like)
{
    skua_status status;

    *like =
        (struct ski_region){.kind = SKI_REGION_SYMMETRIC, .count = n, .members = n, .process = -1};
    status = symmetric_alloc_memory(n, bytes, pes ? n : 0, like);
    if (status != SKUA_OK || !pes)
        return status;
    like->first       = pes[0];
    like->member_list = (int32_t *)(void *)(like->base + n * like->stride);
    memcpy(like->member_list, pes, n * sizeof *pes);
    if (pes[n - 1] - pes[0] != (int)n - 1)
        like->count = 0; /* not consecutive: not plain */
    return SKUA_OK;
}

/* Allocates the pieces of this host, where some of the members are on others. */
static skua_status symmetric_lay_out_here(const int *pes, uint32_t n, size_t bytes,
                                          struct ski_region *like)
{
    const struct ski_job *job  = ski_onesided_job();
    uint32_t              here = 0;
    skua_status           status;

    for (uint32_t i = 0; i < n; i++)
        here += ski_job_index(job, pes ? pes[i] : (int)i) >= 0;
    ski_assert(here > 0); /* the caller is one of them */
    *like = (struct ski_region){
        .kind = SKI_REGION_SYMMETRIC, .members = n, .local_members = here, .process = -1};
    status = symmetric_alloc_memory(here, bytes, here + (pes ? n : 0), like);
    if (status != SKUA_OK)
        return status;
    like->local_list = (int32_t *)(void *)(like->base + here * like->stride);
    for (uint32_t i = 0, at = 0; i < n; i++)
        if (ski_job_index(job, pes ? pes[i] : (int)i) >= 0)
            like->local_list[at++] = pes ? pes[i] : (int)i;
    like->first = like->local_list[0];
    if (like->local_list[here - 1] - like->first == (int)here - 1)
        like->count = here;
    if (pes) {
        like->member_list = like->local_list + here;
        memcpy(like->member_list, pes, n * sizeof *pes);
    }
    return SKUA_OK;
}

/* ---- pending entries: the caller holds the lock of the root ------------------------------- */

static bool symmetric_same_members(const struct ski_symmetric_pending *entry, const int *pes,
                                   uint32_t n)
{
    return entry->all_pes == !pes && entry->members == n &&
           (!pes || memcmp(entry->list, pes, n * sizeof *pes) == 0);
}

/* Finds the first entry for these PEs that member @p rank has not taken: *link, or NULL there. */
static struct ski_symmetric_pending **symmetric_find(const int *pes, uint32_t n, uint32_t rank)
{
    struct ski_symmetric_pending **link = &ski_region_root->pending;

    while (*link &&
           !(symmetric_same_members(*link, pes, n) && !((*link)->taken[rank / 8] >> rank % 8 & 1)))
        link = &(*link)->next;
    return link;
}

/* Finds the entry of a vote: *link, or NULL there. */
static struct ski_symmetric_pending **symmetric_find_round(const struct ski_vote_round *round)
{
    struct ski_symmetric_pending **link = &ski_region_root->pending;

    while (*link && ((*link)->key != round->key || (*link)->number != round->number))
        link = &(*link)->next;
    return link;
}

/* Appends an entry at @p link, the end of the list. */
static struct ski_symmetric_pending *symmetric_append(struct ski_pe *self, const int *pes,
                                                      uint32_t n, size_t bytes,
                                                      struct ski_symmetric_pending **link)
{
    size_t                        list  = pes ? n * sizeof(int32_t) : 0;
    size_t                        size  = sizeof(struct ski_symmetric_pending) + list + (n + 7) / 8;
    struct ski_symmetric_pending *entry = ski_pool_alloc(&self->pool, size);

    ski_assert(!*link);
    if (!entry)
        ski_fatal("no memory to create a region: the arena is full; raise SKUA_ARENA_SIZE");
    memset(entry, 0, size);
    entry->bytes   = bytes;
    entry->members = n;
    entry->waiting = n;
    entry->all_pes = !pes;
    entry->taken   = (uint8_t *)entry->list + list;
    if (pes)
        memcpy(entry->list, pes, list);
    *link = entry;
    return entry;
}

/* Counts one PE that has what it asked for; true: it was the last, and the entry is unlinked. */
static bool symmetric_unlink_if_last(struct ski_symmetric_pending **link)
{
    struct ski_symmetric_pending *entry = *link;

    ski_assert(entry->waiting > 0);
    if (--entry->waiting > 0)
        return false;
    *link = entry->next;
    return true;
}

/* ---- on one host -------------------------------------------------------------------------- */

/* The first of the PEs creates the region.  The outcome stands in the entry: a failure is that of
 * all. */
static void symmetric_create_first(struct ski_symmetric_pending *entry, const int *pes)
{
    struct ski_region like, *region;

    entry->status = ski_symmetric_lay_out(pes, entry->members, entry->bytes, &like);
    if (entry->status != SKUA_OK)
        return;
    region = ski_region_table_alloc();
    if (region) {
        entry->id = ski_region_table_publish(region, &like);
    } else {
        ski_span_free(ski_onesided_job()->arena, like.base);
        entry->status = SKUA_ERR_NOMEM;
    }
}

/* PEs that ask for different sizes have called in a different order. */
static void symmetric_check_size(const char *call, size_t bytes, size_t theirs)
{
    if (theirs != bytes)
        ski_misuse("%s: %zu bytes here but %zu on another PE; is it called in the same order?",
                   call, bytes, theirs);
}

static skua_status symmetric_create_on_host(struct ski_pe *self, const char *call, const int *pes,
                                            uint32_t n, uint32_t rank, size_t bytes,
                                            skua_region *region)
{
    struct ski_symmetric_pending **link, *entry;
    skua_status                    status;
    size_t                         theirs;

    ski_lock_acquire(&ski_region_root->lock);
    link  = symmetric_find(pes, n, rank);
    entry = *link;
    if (!entry) {
        entry = symmetric_append(self, pes, n, bytes, link);
        symmetric_create_first(entry, pes);
    }
    theirs = entry->bytes;
    status = entry->status;
    if (status == SKUA_OK)
        region->id = entry->id;
    entry->taken[rank / 8] |= (uint8_t)(1 << rank % 8);
    if (symmetric_unlink_if_last(link))
        ski_pool_free(&self->pool, entry);
    ski_lock_release(&ski_region_root->lock);
    symmetric_check_size(call, bytes, theirs);
    return status;
}

/* ---- on several hosts ---------------------------------------------------------------------- */

/* The first PE of this host allocates the memory of all its PEs; returns the outcome. */
static skua_status symmetric_begin_round(struct ski_pe *self, const struct ski_vote_round *round,
                                         size_t bytes)
{
    struct ski_symmetric_pending **link, *entry;
    struct ski_region              like;
    skua_status                    status;

    ski_lock_acquire(&ski_region_root->lock);
    link  = symmetric_find_round(round);
    entry = *link;
    if (!entry) {
        entry          = symmetric_append(self, NULL, 0, bytes, link);
        entry->key     = round->key;
        entry->number  = round->number;
        entry->status  = symmetric_lay_out_here(round->pes, round->members, bytes, &like);
        entry->waiting = like.local_members;
        memcpy(entry->like, &like, sizeof like);
    }
    status = entry->status;
    ski_lock_release(&ski_region_root->lock);
    return status;
}

/* The members have agreed on an id: the first PE of this host publishes the region. */
static skua_status symmetric_publish_round(const struct ski_vote_round *round, uint32_t id)
{
    struct ski_symmetric_pending *entry;
    struct ski_region             like;
    bool                          made = false;

    ski_lock_acquire(&ski_region_root->lock);
    entry = *symmetric_find_round(round);
    if (entry) {
        memcpy(&like, entry->like, sizeof like);
        if (!entry->id && ski_region_table_publish_as(id, &like))
            entry->id = id;
        made = entry->id != 0;
    }
    ski_lock_release(&ski_region_root->lock);
    return made ? SKUA_OK : SKUA_ERR_NOMEM;
}

/* Gives an id back that not all members could use: the region here is as one that its members on
 * this host have freed, and goes when those of the other hosts have done the same. */
static void symmetric_give_up(uint32_t id, uint32_t members)
{
    struct ski_region *region = ski_region_table_find((skua_region){id});

    if (region)
        ski_region_leave_all(region);
    ski_symmetric_vote_freed(id, members);
}

/* The last PE of this host removes the entry, and frees the memory if no region came of it.  If an
 * id was given and not all members could use it, @p unused, that PE gives it back. */
static void symmetric_end_round(struct ski_pe *self, const struct ski_vote_round *round,
                                uint32_t unused)
{
    struct ski_symmetric_pending **link, *entry;
    struct ski_region              like;
    uint32_t                       members = 0;

    ski_lock_acquire(&ski_region_root->lock);
    link  = symmetric_find_round(round);
    entry = *link;
    if (entry && symmetric_unlink_if_last(link)) {
        memcpy(&like, entry->like, sizeof like);
        members = like.local_members;
        if (!entry->id && entry->status == SKUA_OK)
            ski_span_free(ski_onesided_job()->arena, like.base);
        ski_pool_free(&self->pool, entry);
    }
    ski_lock_release(&ski_region_root->lock);
    if (unused && members)
        symmetric_give_up(unused, members);
}

static skua_status symmetric_create_on_hosts(struct ski_pe *self, const char *call, const int *pes,
                                             uint32_t n, uint32_t rank, size_t bytes,
                                             skua_region *region)
{
    struct ski_vote_round round = ski_vote_round_next(self, pes, n, rank);
    skua_status           status;
    uint32_t              id, none, unused = 0;
    uint64_t              other;

    status = symmetric_begin_round(self, &round, bytes);
    status = ski_symmetric_vote(self, &round, status, bytes, &id, &other);
    if (status == SKUA_ERR_EXIT)
        return status;
    symmetric_check_size(call, bytes, (size_t)other);
    if (status == SKUA_OK) {
        struct ski_vote_round confirm = round;

        confirm.number++;
        confirm.confirms = true;
        status           = symmetric_publish_round(&round, id);
        status           = ski_symmetric_vote(self, &confirm, status, bytes, &none, &other);
        unused           = status == SKUA_OK || status == SKUA_ERR_EXIT ? 0 : id;
    }
    if (status == SKUA_OK)
        region->id = id;
    symmetric_end_round(self, &round, unused);
    return status;
}

skua_status ski_symmetric_create(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                                 uint32_t rank, size_t bytes, skua_region *region)
{
    ski_assert(rank < n);
    return (ski_job_is_distributed(self->job)
                ? symmetric_create_on_hosts
                : symmetric_create_on_host)(self, call, pes, n, rank, bytes, region);
}
