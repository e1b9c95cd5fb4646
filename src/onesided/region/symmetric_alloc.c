/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric_alloc.c - see symmetric_alloc.h. */
#include "onesided/region/symmetric_alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/pe/onesided_pe.h"
#include "onesided/region/symmetric_vote.h"

/* A symmetric region that not all of its PEs on this host have asked for yet; in the arena. */
struct ski_symmetric_pending {
    struct ski_symmetric_pending *next;
    size_t                        bytes;       /* of a piece                                 */
    skua_status                   status;      /* SKUA_OK, or the failure that all PEs get   */
    uint32_t                      id;          /* of the region; 0: it is not published yet  */
    uint32_t                      members;     /* on one host: PEs of the region             */
    uint32_t                      waiting;     /* PEs of this host that have not taken it    */
    bool                          all_pes;     /* the members are all PEs, else `list`       */
    uint64_t                      key, number; /* of the vote, on several hosts              */
    char like[sizeof(struct ski_region)];      /* the region that the vote publishes: its bytes, as
                                                  an entry has a smaller alignment */
    bool      laid_out; /* `like` and `status` are set, on several hosts             */
    uint64_t *sizes;    /* of a varied region: of each piece of this host, else NULL */
    uint8_t  *taken;    /* on one host: a bit for each member that has taken it      */
    int32_t   list[];
};

/* What members of a varied region vote for instead of a size that they have in common. */
#define SYMMETRIC_VARIED UINT64_MAX

/* ---- memory ----------------------------------------------------------------------------- */

/* Returns the bytes from a piece of @p bytes to the next: pieces do not share a cache line and, if
 * they have a page or more, no page.  An empty piece has an address of its own. */
static size_t symmetric_piece_stride(size_t bytes)
{
    size_t grain = bytes < 4096 ? SKI_CACHE_LINE : 4096;

    return (bytes + (bytes == 0) + grain - 1) & ~(grain - 1);
}

/* Returns the bytes of a bit for each of @p pieces, if `freed` has too few. */
static size_t symmetric_left_bytes(size_t pieces)
{
    return pieces > 64 ? (pieces + 63) / 64 * sizeof(uint64_t) : 0;
}

/* Clears these bits, which are at @p at, behind the pieces.  Returns what is behind them. */
static void *symmetric_clear_left(struct ski_region *like, size_t pieces, char *at)
{
    size_t bytes = symmetric_left_bytes(pieces);

    like->left = bytes ? memset(at, 0, bytes) : NULL;
    return at + bytes;
}

/* Allocates @p pieces pieces of @p bytes, and room for @p listed PE numbers after them, which
 * begins at *@p list. */
static skua_status symmetric_alloc_memory(size_t pieces, size_t bytes, size_t listed,
                                          struct ski_region *like, int32_t **list)
{
    void       *span;
    skua_status status;

    if (bytes > SIZE_MAX / 4 / (pieces + 1))
        return ski_fail(SKUA_ERR_NOMEM, "a region of %zu times %zu bytes is larger than any memory",
                        pieces, bytes);
    like->bytes  = bytes;
    like->stride = symmetric_piece_stride(bytes);
    status       = ski_span_alloc(
              ski_onesided_job()->arena,
              pieces * like->stride + symmetric_left_bytes(pieces) + listed * sizeof(int32_t), &span);
    if (status == SKUA_OK) {
        like->base = span;
        *list      = symmetric_clear_left(like, pieces, like->base + pieces * like->stride);
    }
    return status;
}

skua_status ski_symmetric_lay_out(const int *pes, uint32_t n, size_t bytes, struct ski_region *like)
{
    skua_status status;
    int32_t    *list;

    *like =
        (struct ski_region){.kind = SKI_REGION_SYMMETRIC, .count = n, .members = n, .process = -1};
    status = symmetric_alloc_memory(n, bytes, pes ? n : 0, like, &list);
    if (status != SKUA_OK || !pes)
        return status;
    like->first       = pes[0];
    like->member_list = memcpy(list, pes, n * sizeof *pes);
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
    status = symmetric_alloc_memory(here, bytes, here + (pes ? n : 0), like, &like->local_list);
    if (status != SKUA_OK)
        return status;
    for (uint32_t i = 0, at = 0; i < n; i++)
        if (ski_job_index(job, pes ? pes[i] : (int)i) >= 0)
            like->local_list[at++] = pes ? pes[i] : (int)i;
    like->first = like->local_list[0];
    if (like->local_list[here - 1] - like->first == (int)here - 1)
        like->count = here;
    if (pes) {
        like->member_list = memcpy(like->local_list + here, pes, n * sizeof *pes);
    }
    return SKUA_OK;
}

/* Places the pieces of a varied region, of @p sizes by the index of their PEs, one after another.
 * Returns the bytes of all; SIZE_MAX: no memory is so large. */
static size_t symmetric_place_pieces(const uint64_t *sizes, uint32_t n, struct ski_piece *pieces)
{
    size_t total = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (sizes[i] > SIZE_MAX / 4 || total > SIZE_MAX / 4)
            return SIZE_MAX;
        pieces[i] = (struct ski_piece){total, sizes[i]};
        total += symmetric_piece_stride(sizes[i]);
    }
    return total;
}

/* Lists the PEs of this host in ascending order, which is the order of their indices. */
static void symmetric_list_local(const struct ski_job *job, int32_t *list)
{
    int n = 0;

    for (int pe = 0; pe < job->pes; pe++)
        if (ski_job_index(job, pe) >= 0) {
            ski_assert(ski_job_index(job, pe) == n);
            list[n++] = pe;
        }
}

/* Allocates the pieces of this host of a varied region over all PEs. */
static skua_status symmetric_lay_out_varied(const uint64_t *sizes, struct ski_region *like)
{
    const struct ski_job *job    = ski_onesided_job();
    uint32_t              here   = (uint32_t)job->local_pes;
    struct ski_piece     *pieces = ski_malloc(here * sizeof *pieces);
    size_t                bytes  = symmetric_place_pieces(sizes, here, pieces);
    skua_status           status = SKUA_ERR_NOMEM;
    void                 *span;

    *like = (struct ski_region){.kind          = SKI_REGION_SYMMETRIC,
                                .members       = (uint32_t)job->pes,
                                .local_members = here,
                                .process       = -1};
    if (bytes == SIZE_MAX)
        status = ski_fail(status, "the pieces of a region are larger than any memory");
    else
        status = ski_span_alloc(
            job->arena,
            bytes + symmetric_left_bytes(here) + here * (sizeof *pieces + sizeof(int32_t)), &span);
    if (status == SKUA_OK) {
        struct ski_piece *placed;

        like->base   = span;
        placed       = symmetric_clear_left(like, here, like->base + bytes);
        like->pieces = memcpy(placed, pieces, here * sizeof *pieces);
        if (ski_job_is_distributed(job)) {
            like->local_list = (int32_t *)(void *)(placed + here);
            symmetric_list_local(job, like->local_list);
            like->first = like->local_list[0];
        }
    }
    free(pieces);
    return status;
}

/* ---- pending entries: the caller holds the lock of the root ------------------------------- */

/* Returns whether an entry is for the @p n PEs of @p pes; NULL: for all PEs. */
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

/* Counts one PE that has what it asked for. Returns true if it was the last, and the entry is
 * unlinked. */
static bool symmetric_unlink_if_last(struct ski_symmetric_pending **link)
{
    struct ski_symmetric_pending *entry = *link;

    ski_assert(entry->waiting > 0);
    if (--entry->waiting > 0)
        return false;
    *link = entry->next;
    return true;
}

static void symmetric_free_entry(struct ski_pe *self, struct ski_symmetric_pending *entry)
{
    if (entry->sizes)
        ski_pool_free(&self->pool, entry->sizes);
    ski_pool_free(&self->pool, entry);
}

/* ---- on one host -------------------------------------------------------------------------- */

/* Publishes a region that was laid out, or frees its memory if there is no slot. */
static void symmetric_publish_first(struct ski_symmetric_pending *entry,
                                    const struct ski_region      *like)
{
    struct ski_region *region = ski_region_table_alloc();

    if (region) {
        entry->id = ski_region_table_publish(region, like);
    } else {
        ski_span_free(ski_onesided_job()->arena, like->base);
        entry->status = SKUA_ERR_NOMEM;
    }
}

/* Creates the region, for the first of its PEs. The outcome is in the entry: a failure is that of
 * all. */
static void symmetric_create_first(struct ski_symmetric_pending *entry, const int *pes)
{
    struct ski_region like;

    entry->status = ski_symmetric_lay_out(pes, entry->members, entry->bytes, &like);
    if (entry->status == SKUA_OK)
        symmetric_publish_first(entry, &like);
}

/* Ends the job if this PE asks for another size than others: PEs have called in a different order.
 */
static void symmetric_check_size(const char *call, uint64_t bytes, uint64_t theirs)
{
    if (theirs == bytes)
        return;
    if (bytes == SYMMETRIC_VARIED || theirs == SYMMETRIC_VARIED)
        ski_misuse("%s: another PE creates a region of the other kind (equal or varied sizes); are "
                   "they created in the same order?",
                   call);
    ski_misuse("%s: %zu bytes here but %zu on another PE; is it called in the same order?", call,
               (size_t)bytes, (size_t)theirs);
}

/* Creates a region, or finds the one that another PE has created for this call, in a job on one
 * host. */
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
        symmetric_free_entry(self, entry);
    ski_lock_release(&ski_region_root->lock);
    symmetric_check_size(call, bytes, theirs);
    return status;
}

/* ---- on several hosts ---------------------------------------------------------------------- */

/* Returns the entry of a vote; the first PE of this host appends it. */
static struct ski_symmetric_pending *symmetric_entry_of(struct ski_pe               *self,
                                                        const struct ski_vote_round *round,
                                                        size_t                       bytes)
{
    struct ski_symmetric_pending **link = symmetric_find_round(round), *entry = *link;

    if (!entry) {
        entry         = symmetric_append(self, NULL, 0, bytes, link);
        entry->key    = round->key;
        entry->number = round->number;
    }
    return entry;
}

/* Allocates the memory of all PEs of this host, on the first of them. Returns the outcome. */
static skua_status symmetric_begin_round(struct ski_pe *self, const struct ski_vote_round *round,
                                         size_t bytes)
{
    struct ski_symmetric_pending *entry;
    struct ski_region             like;
    skua_status                   status;

    ski_lock_acquire(&ski_region_root->lock);
    entry = symmetric_entry_of(self, round, bytes);
    if (!entry->laid_out) {
        entry->laid_out = true;
        entry->status   = entry->sizes
                              ? symmetric_lay_out_varied(entry->sizes, &like)
                              : symmetric_lay_out_here(round->pes, round->members, bytes, &like);
        entry->waiting  = like.local_members;
        memcpy(entry->like, &like, sizeof like);
    }
    status = entry->status;
    ski_lock_release(&ski_region_root->lock);
    return status;
}

/* Publishes the region under the id that the members have agreed on, on the first PE of this host.
 * Returns the outcome. */
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

/* Gives an id back that not all members could use: the region here counts as freed by its members
 * on this host, and is removed when those of the other hosts have done the same. */
static void symmetric_give_up(uint32_t id, uint32_t members)
{
    struct ski_region *region = ski_region_table_find((skua_region){id});

    if (region)
        ski_region_leave_all(region);
    ski_symmetric_vote_freed(id, members);
}

/* Ends a round on this PE. The last PE of this host removes the entry, and frees the memory if no
 * region was made of it. If an id was given and not all members could use it, @p unused, that PE
 * gives it back. */
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
        symmetric_free_entry(self, entry);
    }
    ski_lock_release(&ski_region_root->lock);
    if (unused && members)
        symmetric_give_up(unused, members);
}

/* Creates a region in a job on several hosts, by two votes: the first agrees on the size and on an
 * id, the second confirms that every host has published the region.  A round has two numbers, one
 * for each vote.  If a host could not publish the region, all hosts give the id back. */
static skua_status symmetric_create_in_round(struct ski_pe *self, const char *call,
                                             const struct ski_vote_round *round, uint64_t bytes,
                                             skua_region *region)
{
    skua_status status;
    uint32_t    id, none, unused = 0;
    uint64_t    other;

    status = symmetric_begin_round(self, round, bytes);
    status = ski_symmetric_vote(self, round, status, bytes, &id, &other);
    if (status == SKUA_ERR_EXIT)
        return status;
    symmetric_check_size(call, bytes, other);
    if (status == SKUA_OK) {
        struct ski_vote_round confirm = *round;

        confirm.number++;
        confirm.confirms = true;
        status           = symmetric_publish_round(round, id);
        status           = ski_symmetric_vote(self, &confirm, status, bytes, &none, &other);
        unused           = status == SKUA_OK || status == SKUA_ERR_EXIT ? 0 : id;
    }
    if (status == SKUA_OK)
        region->id = id;
    symmetric_end_round(self, round, unused);
    return status;
}

static skua_status symmetric_create_on_hosts(struct ski_pe *self, const char *call, const int *pes,
                                             uint32_t n, uint32_t rank, size_t bytes,
                                             skua_region *region)
{
    struct ski_vote_round round = ski_vote_round_next(self, pes, n, rank);

    return symmetric_create_in_round(self, call, &round, bytes, region);
}

/* ---- varied regions ------------------------------------------------------------------------ */

/* Records the size of this PE's piece for the PE of this host that lays the region out. */
static void symmetric_note_size(struct ski_pe *self, const struct ski_vote_round *round,
                                size_t bytes)
{
    struct ski_symmetric_pending *entry;

    ski_lock_acquire(&ski_region_root->lock);
    entry = symmetric_entry_of(self, round, SYMMETRIC_VARIED);
    if (!entry->sizes) {
        entry->waiting = (uint32_t)self->job->local_pes;
        entry->sizes   = ski_pool_alloc(&self->pool, entry->waiting * sizeof *entry->sizes);
        if (!entry->sizes)
            ski_fatal("no memory to create a region: the arena is full; raise SKUA_ARENA_SIZE");
    }
    entry->sizes[self->index] = bytes;
    ski_lock_release(&ski_region_root->lock);
}

/* Creates a varied region on the first PE of the only host, when all sizes are known; the others
 * find it. */
static skua_status symmetric_create_varied_on_host(struct ski_pe               *self,
                                                   const struct ski_vote_round *round,
                                                   skua_region                 *region)
{
    struct ski_symmetric_pending **link, *entry;
    struct ski_region              like;
    skua_status                    status;

    ski_lock_acquire(&ski_region_root->lock);
    link  = symmetric_find_round(round);
    entry = *link;
    ski_assert(entry && entry->sizes);
    if (!entry->laid_out) {
        entry->laid_out = true;
        entry->status   = symmetric_lay_out_varied(entry->sizes, &like);
        if (entry->status == SKUA_OK)
            symmetric_publish_first(entry, &like);
    }
    status = entry->status;
    if (status == SKUA_OK)
        region->id = entry->id;
    if (symmetric_unlink_if_last(link))
        symmetric_free_entry(self, entry);
    ski_lock_release(&ski_region_root->lock);
    return status;
}

skua_status ski_symmetric_create_varied(struct ski_pe *self, const char *call, size_t bytes,
                                        skua_region *region)
{
    uint32_t              pes = (uint32_t)self->pes, rank = (uint32_t)self->pe, none;
    struct ski_vote_round gather = ski_vote_round_next(self, NULL, pes, rank);
    struct ski_vote_round round  = ski_vote_round_next(self, NULL, pes, rank);
    skua_status           status;
    uint64_t              other;

    gather.confirms = true; /* a vote without an id: afterwards all sizes have been recorded */
    symmetric_note_size(self, &round, bytes);
    status = ski_symmetric_vote(self, &gather, SKUA_OK, SYMMETRIC_VARIED, &none, &other);
    if (status != SKUA_OK)
        return status;
    symmetric_check_size(call, SYMMETRIC_VARIED, other);
    if (ski_job_is_distributed(self->job))
        return symmetric_create_in_round(self, call, &round, SYMMETRIC_VARIED, region);
    return symmetric_create_varied_on_host(self, &round, region);
}

skua_status ski_symmetric_create(struct ski_pe *self, const char *call, const int *pes, uint32_t n,
                                 uint32_t rank, size_t bytes, skua_region *region)
{
    ski_assert(rank < n);
    return (ski_job_is_distributed(self->job)
                ? symmetric_create_on_hosts
                : symmetric_create_on_host)(self, call, pes, n, rank, bytes, region);
}

/* ---- in a restarted job -------------------------------------------------------------------- */

#define SYMMETRIC_NO_MEMORY "the arena has no room for it; raise SKUA_ARENA_SIZE"

/* Allocates the pieces of this host, and publishes the region under the id that it had. */
static const char *symmetric_create_restored(uint32_t id, const int *pes, uint32_t n, size_t bytes)
{
    struct ski_job   *job = ski_onesided_job();
    struct ski_region like;
    const char       *why;

    if ((ski_job_is_distributed(job) ? symmetric_lay_out_here
                                     : ski_symmetric_lay_out)(pes, n, bytes, &like) != SKUA_OK)
        return SYMMETRIC_NO_MEMORY;
    why = ski_region_table_restore(id, &like);
    if (why)
        ski_span_free(job->arena, like.base);
    return why;
}

const char *ski_symmetric_restore(uint32_t id, const int *pes, uint32_t n, size_t bytes,
                                  struct ski_region **region)
{
    const char *why = NULL;

    ski_lock_acquire(&ski_region_root->lock);
    if (!ski_region_table_find((skua_region){id}))
        why = symmetric_create_restored(id, pes, n, bytes);
    ski_lock_release(&ski_region_root->lock);
    *region = ski_region_table_find((skua_region){id});
    if (*region && ((*region)->kind != SKI_REGION_SYMMETRIC || (*region)->members != n ||
                    (*region)->bytes != bytes || (*region)->pieces))
        why = "the images of two PEs differ";
    return why;
}

/* Returns the round of a varied region: no vote has its key. */
static struct ski_vote_round symmetric_restored_round(const struct ski_pe *self, uint32_t id)
{
    return (struct ski_vote_round){.members = (uint32_t)self->pes, .key = 1, .number = id};
}

void ski_symmetric_announce(struct ski_pe *self, uint32_t id, size_t bytes)
{
    struct ski_vote_round round = symmetric_restored_round(self, id);

    symmetric_note_size(self, &round, bytes);
}

const char *ski_symmetric_restore_varied(struct ski_pe *self, uint32_t id,
                                         struct ski_region **region)
{
    struct ski_vote_round         round = symmetric_restored_round(self, id);
    const char                   *why   = NULL;
    struct ski_symmetric_pending *entry;
    struct ski_region             like;

    if (symmetric_begin_round(self, &round, SYMMETRIC_VARIED) != SKUA_OK)
        return SYMMETRIC_NO_MEMORY;
    ski_lock_acquire(&ski_region_root->lock);
    entry = *symmetric_find_round(&round);
    if (entry) {
        memcpy(&like, entry->like, sizeof like);
        if (!entry->id && !(why = ski_region_table_restore(id, &like)))
            entry->id = id;
    }
    ski_lock_release(&ski_region_root->lock);
    symmetric_end_round(self, &round, 0);
    *region = ski_region_table_find((skua_region){id});
    return why;
}
