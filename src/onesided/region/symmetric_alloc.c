/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric_alloc.c - see symmetric_alloc.h. */
#include "onesided/region/symmetric_alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/collective/tree.h"
#include "core/sched/wait.h"
#include "onesided/rma/rma_pe.h"
#include "onesided/region/region_table.h"

#define ARITY 4

enum { UP, ASK, GIVEN, DOWN, LEFT, FREE };

/* On the wire: it fits a cell. */
struct symmetric_vote {
    uint16_t kind;
    int16_t  status;
    uint32_t id;
    uint32_t members; /* of the region; those that leave */
    uint32_t unused;
    uint64_t key, number;
    uint64_t least, most; /* bytes that were asked for */
};

_Static_assert(sizeof(struct symmetric_vote) == SKI_AGREE_LEAST &&
                   SKI_AGREE_LEAST <= SKUA_INLINE_MAX,
               "votes are small");

/* A round that is not over. */
struct ski_vote_state {
    struct ski_vote_state *next;
    struct ski_vote_round  round; /* members and rank are known once we have called */
    bool                   called, done;
    int                    votes; /* of children */
    struct symmetric_vote  sum;
    void                  *waiters;
};

/* How many rounds there have been of some members. */
struct ski_vote_counter {
    struct ski_vote_counter *next;
    uint64_t                 key, count;
};

/* ---- rounds -------------------------------------------------------------------------- */

static uint64_t vote_members_hash(const int *pes, uint32_t members)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; pes && i < members; i++)
        key = (key ^ (uint32_t)pes[i]) * UINT64_C(0x100000001b3);
    return pes ? key : 0;
}

struct ski_vote_round ski_vote_round_next(struct ski_pe *self, const int *pes, uint32_t members,
                                          uint32_t rank)
{
    struct ski_rma_pe       *origin = ski_rma_pe_of(self);
    uint64_t                 key    = vote_members_hash(pes, members);
    struct ski_vote_counter *rounds = origin->rounds;

    while (rounds && rounds->key != key)
        rounds = rounds->next;
    if (!rounds) {
        rounds         = ski_malloc(sizeof *rounds);
        *rounds        = (struct ski_vote_counter){origin->rounds, key, 0};
        origin->rounds = rounds;
    }
    return (struct ski_vote_round){pes, members, rank, key, 2 * rounds->count++, false};
}

static struct ski_vote_state *vote_find(struct ski_rma_pe *origin, uint64_t key, uint64_t number)
{
    struct ski_vote_state *a = origin->agreements;

    while (a && (a->round.key != key || a->round.number != number))
        a = a->next;
    return a;
}

static struct ski_vote_state *vote_find_or_add(struct ski_rma_pe *origin, uint64_t key,
                                               uint64_t number)
{
    struct ski_vote_state *a = vote_find(origin, key, number);

    if (a)
        return a;
    a                  = ski_calloc(1, sizeof *a);
    a->next            = origin->agreements;
    a->round.key       = key;
    a->round.number    = number;
    a->sum             = (struct symmetric_vote){.key = key, .number = number, .least = UINT64_MAX};
    origin->agreements = a;
    return a;
}

static void vote_remove(struct ski_rma_pe *origin, struct ski_vote_state *a)
{
    struct ski_vote_state **at = &origin->agreements;

    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

void ski_symmetric_vote_end(struct ski_rma_pe *origin)
{
    while (origin->agreements)
        vote_remove(origin, origin->agreements);
    while (origin->rounds) {
        struct ski_vote_counter *gone = origin->rounds;
        origin->rounds                = gone->next;
        free(gone);
    }
}

/* ---- the tree ------------------------------------------------------------------------ */

/* The registrar may be a hidden PE. */
static void vote_send(struct ski_pe *self, int pe, struct symmetric_vote vote, unsigned kind)
{
    vote.kind = (uint16_t)kind;
    ski_msg_post(self, pe, SKI_HANDLER_AGREE,
                 ski_msg_copy(self, SKI_HANDLER_AGREE, &vote, sizeof vote));
}

static int vote_pe(const struct ski_vote_round *round, int rank)
{
    return round->pes ? round->pes[rank] : rank;
}

static struct ski_tree vote_tree(const struct ski_vote_round *round)
{
    return ski_tree_at((int)round->rank, (int)round->members, 0, ARITY);
}

static int vote_registrar(const struct ski_pe *self)
{
    return ski_am_server(self->job, 0);
}

static void vote_count(struct ski_vote_state *a, const struct symmetric_vote *vote)
{
    if (vote->status < a->sum.status)
        a->sum.status = vote->status;
    a->sum.least = vote->least < a->sum.least ? vote->least : a->sum.least;
    a->sum.most  = vote->most > a->sum.most ? vote->most : a->sum.most;
}

/* The outcome is known: pass it on. */
static void vote_finish(struct ski_pe *self, struct ski_vote_state *a,
                        const struct symmetric_vote *outcome)
{
    struct ski_tree tree = vote_tree(&a->round);

    a->sum  = *outcome;
    a->done = true;
    for (int i = 0; i < tree.children; i++)
        vote_send(self, vote_pe(&a->round, ski_tree_child(&tree, i)), a->sum, DOWN);
    ski_wake_all(self, &a->waiters);
}

/* Goes on when we and all our children have voted. */
static void vote_advance(struct ski_pe *self, struct ski_vote_state *a)
{
    struct ski_tree tree;

    if (!a->called)
        return;
    tree = vote_tree(&a->round);
    if (a->votes < tree.children)
        return;
    a->sum.members = a->round.members;
    if (a->round.rank > 0)
        vote_send(self, vote_pe(&a->round, ski_tree_parent(&tree)), a->sum, UP);
    else if (a->sum.status == SKUA_OK && a->sum.least == a->sum.most && !a->round.confirms)
        vote_send(self, vote_registrar(self), a->sum, ASK);
    else
        vote_finish(self, a, &a->sum);
}

skua_status_t ski_symmetric_vote(struct ski_pe *self, const struct ski_vote_round *round,
                                 skua_status_t mine, uint64_t bytes, uint32_t *id, uint64_t *other)
{
    struct ski_rma_pe     *origin = ski_rma_pe_of(self);
    struct ski_vote_state *a      = vote_find_or_add(origin, round->key, round->number);
    struct symmetric_vote  vote   = {.status = (int16_t)mine, .least = bytes, .most = bytes};
    skua_status_t          status;

    a->round  = *round;
    a->called = true;
    vote_count(a, &vote);
    vote_advance(self, a);
    while (!a->done)
        if (!ski_wait_on(self, &a->waiters, (struct ski_call){"the creation of a region", NULL}))
            return SKUA_ERR_EXIT;
    status = (skua_status_t)a->sum.status;
    *id    = a->sum.id;
    *other = a->sum.least != bytes ? a->sum.least : a->sum.most;
    vote_remove(origin, a);
    return status;
}

/* ---- the registrar --------------------------------------------------------------------- */

/* An id that was given, by its place. */
struct symmetric_id {
    uint32_t generation, members, left, next_free;
    uint32_t hosts, room; /* that have told that their members have left ... */
    int32_t *ear;         /* ... and who listens there                       */
};

static struct {
    struct symmetric_id *given;
    uint32_t             fresh, room, free_first, free_last;
} book;

static uint32_t registrar_take_slot(void)
{
    uint32_t place = book.fresh ? book.fresh : 1;

    if (place < ski_region_root->common) {
        if (place >= book.room) {
            book.room  = 2 * place + 16;
            book.given = ski_realloc(book.given, book.room * sizeof *book.given);
        }
        book.given[place] = (struct symmetric_id){0};
        book.fresh        = place + 1;
        return place;
    }
    place           = book.free_first;
    book.free_first = place ? book.given[place].next_free : 0;
    return place;
}

static void registrar_on_ask(const struct symmetric_vote *vote, int who)
{
    struct symmetric_vote reply = *vote;
    uint32_t              place = registrar_take_slot();
    struct symmetric_id  *given = &book.given[place];

    if (place) {
        given->generation = (given->generation + 1) & ((1u << (32 - SKI_REGION_INDEX_BITS)) - 1);
        given->members    = vote->members;
        given->left       = 0;
        reply.id          = given->generation << SKI_REGION_INDEX_BITS | place;
    } else {
        ski_error_fail(SKUA_ERR_NOMEM, "all %u symmetric regions are in use",
                       ski_region_root->common - 1);
        reply.status = SKUA_ERR_NOMEM;
    }
    vote_send(ski_self, who, reply, GIVEN);
}

static void registrar_on_freed(const struct symmetric_vote *vote, int who)
{
    uint32_t             place = vote->id & ((1u << SKI_REGION_INDEX_BITS) - 1);
    struct symmetric_id *given;

    if (place == 0 || place >= book.fresh)
        return;
    given = &book.given[place];
    if (given->generation != vote->id >> SKI_REGION_INDEX_BITS || given->left >= given->members)
        return;
    given->left += vote->members;
    if (given->hosts == given->room) {
        given->room = 2 * given->room + 4;
        given->ear  = ski_realloc(given->ear, given->room * sizeof *given->ear);
    }
    given->ear[given->hosts++] = who;
    if (given->left < given->members)
        return;
    for (uint32_t i = 0; i < given->hosts; i++)
        vote_send(ski_self, given->ear[i], (struct symmetric_vote){.id = vote->id}, FREE);
    given->hosts     = 0;
    given->next_free = 0;
    if (book.free_first)
        book.given[book.free_last].next_free = place;
    else
        book.free_first = place;
    book.free_last = place;
}

void ski_symmetric_vote_freed(uint32_t id, uint32_t members)
{
    struct ski_caller actor;

    if (!ski_caller_enter(&actor))
        return;
    vote_send(actor.self, vote_registrar(actor.self),
              (struct symmetric_vote){.id = id, .members = members}, LEFT);
    ski_caller_leave(&actor);
}

/* Whether it comes from where such votes come from, to where they go: what another PE says is not
 * written into the book of the registrar by others, and frees no region that is in use. */
static bool vote_is_valid(const struct ski_pe *self, int source, const struct symmetric_vote *vote)
{
    if (vote->kind == ASK || vote->kind == LEFT)
        return self->pe == vote_registrar(self) && vote->members > 0;
    if (vote->kind == FREE)
        return source == vote_registrar(self) &&
               (ski_region_all_freed(vote->id) || !ski_region_table_find((skua_region){vote->id}));
    return vote->kind <= FREE;
}

void ski_on_agree(skua_msg *msg)
{
    struct ski_rma_pe     *origin = ski_rma_pe_of(ski_self);
    struct symmetric_vote  vote   = *(struct symmetric_vote *)skua_msg_data(msg);
    int                    source = msg->source;
    struct ski_vote_state *a;

    if (!vote_is_valid(ski_self, source, &vote)) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    if (vote.kind == ASK) {
        registrar_on_ask(&vote, source);
    } else if (vote.kind == LEFT) {
        registrar_on_freed(&vote, ski_reply_pe(ski_self->job, source));
    } else if (vote.kind == FREE) {
        ski_region_destroy(vote.id);
    } else if (vote.kind == UP) {
        a = vote_find_or_add(origin, vote.key, vote.number);
        a->votes++;
        vote_count(a, &vote);
        vote_advance(ski_self, a);
    } else if ((a = vote_find(origin, vote.key, vote.number)) && a->called && !a->done) {
        vote_finish(ski_self, a, &vote);
    }
}
