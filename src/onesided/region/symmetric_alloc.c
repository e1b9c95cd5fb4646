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
struct vote {
    uint16_t kind;
    int16_t  status;
    uint32_t id;
    uint32_t members; /* of the region; those that leave */
    uint32_t unused;
    uint64_t key, number;
    uint64_t least, most; /* bytes that were asked for */
};

_Static_assert(sizeof(struct vote) == SKI_AGREE_LEAST && SKI_AGREE_LEAST <= SKUA_INLINE_MAX,
               "votes are small");

/* A round that is not over. */
struct ski_agreement {
    struct ski_agreement *next;
    struct ski_round      round; /* members and rank are known once we have called */
    bool                  called, done;
    int                   votes; /* of children */
    struct vote           sum;
    void                 *waiters;
};

/* How many rounds there have been of some members. */
struct ski_rounds {
    struct ski_rounds *next;
    uint64_t           key, count;
};

/* ---- rounds -------------------------------------------------------------------------- */

static uint64_t key_of(const int *pes, uint32_t members)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);

    for (uint32_t i = 0; pes && i < members; i++)
        key = (key ^ (uint32_t)pes[i]) * UINT64_C(0x100000001b3);
    return pes ? key : 0;
}

struct ski_round ski_round_next(struct ski_pe *self, const int *pes, uint32_t members,
                                uint32_t rank)
{
    struct ski_origin *origin = ski_origin_of(self);
    uint64_t           key    = key_of(pes, members);
    struct ski_rounds *rounds = origin->rounds;

    while (rounds && rounds->key != key)
        rounds = rounds->next;
    if (!rounds) {
        rounds         = ski_malloc(sizeof *rounds);
        *rounds        = (struct ski_rounds){origin->rounds, key, 0};
        origin->rounds = rounds;
    }
    return (struct ski_round){pes, members, rank, key, 2 * rounds->count++, false};
}

static struct ski_agreement *find(struct ski_origin *origin, uint64_t key, uint64_t number)
{
    struct ski_agreement *a = origin->agreements;

    while (a && (a->round.key != key || a->round.number != number))
        a = a->next;
    return a;
}

static struct ski_agreement *find_or_make(struct ski_origin *origin, uint64_t key, uint64_t number)
{
    struct ski_agreement *a = find(origin, key, number);

    if (a)
        return a;
    a                  = ski_calloc(1, sizeof *a);
    a->next            = origin->agreements;
    a->round.key       = key;
    a->round.number    = number;
    a->sum             = (struct vote){.key = key, .number = number, .least = UINT64_MAX};
    origin->agreements = a;
    return a;
}

static void forget(struct ski_origin *origin, struct ski_agreement *a)
{
    struct ski_agreement **at = &origin->agreements;

    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    free(a);
}

void ski_agree_end(struct ski_origin *origin)
{
    while (origin->agreements)
        forget(origin, origin->agreements);
    while (origin->rounds) {
        struct ski_rounds *gone = origin->rounds;
        origin->rounds          = gone->next;
        free(gone);
    }
}

/* ---- the tree ------------------------------------------------------------------------ */

/* The registrar may be a hidden PE. */
static void send(struct ski_pe *self, int pe, struct vote vote, unsigned kind)
{
    vote.kind = (uint16_t)kind;
    ski_msg_post(self, pe, SKI_HANDLER_AGREE,
                 ski_msg_copy(self, SKI_HANDLER_AGREE, &vote, sizeof vote));
}

static int pe_of(const struct ski_round *round, int rank)
{
    return round->pes ? round->pes[rank] : rank;
}

static struct ski_tree tree_of(const struct ski_round *round)
{
    return ski_tree_at((int)round->rank, (int)round->members, 0, ARITY);
}

static int registrar(const struct ski_pe *self)
{
    return ski_server(self->job, 0);
}

static void count(struct ski_agreement *a, const struct vote *vote)
{
    if (vote->status < a->sum.status)
        a->sum.status = vote->status;
    a->sum.least = vote->least < a->sum.least ? vote->least : a->sum.least;
    a->sum.most  = vote->most > a->sum.most ? vote->most : a->sum.most;
}

/* The outcome is known: pass it on. */
static void finish(struct ski_pe *self, struct ski_agreement *a, const struct vote *outcome)
{
    struct ski_tree tree = tree_of(&a->round);

    a->sum  = *outcome;
    a->done = true;
    for (int i = 0; i < tree.children; i++)
        send(self, pe_of(&a->round, ski_tree_child(&tree, i)), a->sum, DOWN);
    ski_wake_all(self, &a->waiters);
}

/* Goes on when we and all our children have voted. */
static void advance(struct ski_pe *self, struct ski_agreement *a)
{
    struct ski_tree tree;

    if (!a->called)
        return;
    tree = tree_of(&a->round);
    if (a->votes < tree.children)
        return;
    a->sum.members = a->round.members;
    if (a->round.rank > 0)
        send(self, pe_of(&a->round, ski_tree_parent(&tree)), a->sum, UP);
    else if (a->sum.status == SKUA_OK && a->sum.least == a->sum.most && !a->round.confirms)
        send(self, registrar(self), a->sum, ASK);
    else
        finish(self, a, &a->sum);
}

skua_status_t ski_agree(struct ski_pe *self, const struct ski_round *round, skua_status_t mine,
                        uint64_t bytes, uint32_t *id, uint64_t *other)
{
    struct ski_origin    *origin = ski_origin_of(self);
    struct ski_agreement *a      = find_or_make(origin, round->key, round->number);
    struct vote           vote   = {.status = (int16_t)mine, .least = bytes, .most = bytes};
    skua_status_t         status;

    a->round  = *round;
    a->called = true;
    count(a, &vote);
    advance(self, a);
    while (!a->done)
        if (!ski_wait_on(self, &a->waiters, (struct ski_call){"the creation of a region", NULL}))
            return SKUA_ERR_EXIT;
    status = (skua_status_t)a->sum.status;
    *id    = a->sum.id;
    *other = a->sum.least != bytes ? a->sum.least : a->sum.most;
    forget(origin, a);
    return status;
}

/* ---- the registrar --------------------------------------------------------------------- */

/* An id that was given, by its place. */
struct given {
    uint32_t generation, members, left, next_free;
    uint32_t hosts, room; /* that have told that their members have left ... */
    int32_t *ear;         /* ... and who listens there                       */
};

static struct {
    struct given *given;
    uint32_t      fresh, room, free_first, free_last;
} book;

static uint32_t take_place(void)
{
    uint32_t place = book.fresh ? book.fresh : 1;

    if (place < ski_region_root->common) {
        if (place >= book.room) {
            book.room  = 2 * place + 16;
            book.given = ski_realloc(book.given, book.room * sizeof *book.given);
        }
        book.given[place] = (struct given){0};
        book.fresh        = place + 1;
        return place;
    }
    place           = book.free_first;
    book.free_first = place ? book.given[place].next_free : 0;
    return place;
}

static void on_ask(const struct vote *vote, int who)
{
    struct vote   reply = *vote;
    uint32_t      place = take_place();
    struct given *given = &book.given[place];

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
    send(ski_self, who, reply, GIVEN);
}

static void on_left(const struct vote *vote, int who)
{
    uint32_t      place = vote->id & ((1u << SKI_REGION_INDEX_BITS) - 1);
    struct given *given;

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
        send(ski_self, given->ear[i], (struct vote){.id = vote->id}, FREE);
    given->hosts     = 0;
    given->next_free = 0;
    if (book.free_first)
        book.given[book.free_last].next_free = place;
    else
        book.free_first = place;
    book.free_last = place;
}

void ski_agree_left(uint32_t id, uint32_t members)
{
    struct ski_actor actor;

    if (!ski_act_begin(&actor))
        return;
    send(actor.self, registrar(actor.self), (struct vote){.id = id, .members = members}, LEFT);
    ski_act_end(&actor);
}

/* Whether it comes from where such votes come from, to where they go: what another PE says is not
 * written into the book of the registrar by others, and frees no region that is in use. */
static bool vote_is_sound(const struct ski_pe *self, int source, const struct vote *vote)
{
    if (vote->kind == ASK || vote->kind == LEFT)
        return self->pe == registrar(self) && vote->members > 0;
    if (vote->kind == FREE)
        return source == registrar(self) &&
               (ski_region_left(vote->id) || !ski_table_find((skua_region){vote->id}));
    return vote->kind <= FREE;
}

void ski_on_agree(skua_msg *msg)
{
    struct ski_origin    *origin = ski_origin_of(ski_self);
    struct vote           vote   = *(struct vote *)skua_msg_data(msg);
    int                   source = msg->source;
    struct ski_agreement *a;

    if (!vote_is_sound(ski_self, source, &vote)) {
        ski_far_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    if (vote.kind == ASK) {
        on_ask(&vote, source);
    } else if (vote.kind == LEFT) {
        on_left(&vote, ski_ear(ski_self->job, source));
    } else if (vote.kind == FREE) {
        ski_region_remove(vote.id);
    } else if (vote.kind == UP) {
        a = find_or_make(origin, vote.key, vote.number);
        a->votes++;
        count(a, &vote);
        advance(ski_self, a);
    } else if ((a = find(origin, vote.key, vote.number)) && a->called && !a->done) {
        finish(ski_self, a, &vote);
    }
}
