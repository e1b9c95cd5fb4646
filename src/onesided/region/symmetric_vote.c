/* SPDX-License-Identifier: Apache-2.0 */
/* symmetric_vote.c - see symmetric_vote.h. */
#include "onesided/region/symmetric_vote.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/message/message.h"
#include "core/collective/pe_tree.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/sched/wait.h"
#include "onesided/pe/external_thread.h"
#include "onesided/region/region_pe.h"
#include "onesided/region/region_table.h"

#define VOTE_ARITY 4

enum {
    VOTE_UP,      /* to the parent: the votes of a subtree                          */
    VOTE_ASK,     /* from the first member to the registrar: an id is needed        */
    VOTE_GIVEN,   /* back: the id                                                   */
    VOTE_DOWN,    /* to a child: the outcome                                        */
    VOTE_FREED,   /* to the registrar: all members of a host have freed a region    */
    VOTE_DESTROY, /* to each host: the members of all hosts have freed a region      */
};

/* The message of this protocol; it fits into a cell. */
struct symmetric_vote {
    uint16_t kind;
    int16_t  status;
    uint32_t id;
    uint32_t members; /* of the region; FREED: of the host */
    uint32_t unused;
    uint64_t key, number;
    uint64_t least, most; /* bytes that the members asked for */
};

_Static_assert(sizeof(struct symmetric_vote) == SKI_SYMMETRIC_VOTE_MIN &&
                   SKI_SYMMETRIC_VOTE_MIN <= SKUA_INLINE_MAX,
               "a vote fits into a cell");

/* A vote that is not over. */
struct ski_vote_state {
    struct ski_vote_state *next;
    struct ski_vote_round  round; /* members and rank are set when this PE calls */
    bool                   called, done;
    int                    votes; /* of children, that have arrived */
    struct symmetric_vote  sum;
    void                  *waiters;
};

/* How many rounds some members have had. */
struct ski_vote_counter {
    struct ski_vote_counter *next;
    uint64_t                 key, count;
};

/* ---- counter -------------------------------------------------------------------------- */

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
    struct ski_region_pe    *pe      = ski_region_pe(self);
    uint64_t                 key     = vote_members_hash(pes, members);
    struct ski_vote_counter *counter = pe->vote_counters;

    while (counter && counter->key != key)
        counter = counter->next;
    if (!counter) {
        counter           = ski_malloc(sizeof *counter);
        *counter          = (struct ski_vote_counter){pe->vote_counters, key, 0};
        pe->vote_counters = counter;
    }
    return (struct ski_vote_round){pes, members, rank, key, 2 * counter->count++, false};
}

static struct ski_vote_state *vote_find(struct ski_region_pe *pe, uint64_t key, uint64_t number)
{
    struct ski_vote_state *a = pe->votes;

    while (a && (a->round.key != key || a->round.number != number))
        a = a->next;
    return a;
}

static struct ski_vote_state *vote_find_or_add(struct ski_region_pe *pe, uint64_t key,
                                               uint64_t number)
{
    struct ski_vote_state *a = vote_find(pe, key, number);

    if (a)
        return a;
    a               = ski_calloc(1, sizeof *a);
    a->next         = pe->votes;
    a->round.key    = key;
    a->round.number = number;
    a->sum          = (struct symmetric_vote){.key = key, .number = number, .least = UINT64_MAX};
    pe->votes       = a;
    return a;
}

static void vote_remove(struct ski_region_pe *pe, struct ski_vote_state *a)
{
    struct ski_vote_state **at = &pe->votes;

    while (*at != a) {
        ski_assert(*at);
        at = &(*at)->next;
    }
    *at = a->next;
    free(a);
}

void ski_symmetric_vote_end(struct ski_pe *self)
{
    struct ski_region_pe *pe = ski_region_pe(self);

    while (pe->votes)
        vote_remove(pe, pe->votes);
    while (pe->vote_counters) {
        struct ski_vote_counter *gone = pe->vote_counters;
        pe->vote_counters             = gone->next;
        free(gone);
    }
}

/* ---- the tree ------------------------------------------------------------------------ */

/* The registrar may be a hidden PE, so the message is posted rather than sent. */
static void vote_send(struct ski_pe *self, int pe, struct symmetric_vote vote, unsigned kind)
{
    vote.kind = (uint16_t)kind;
    ski_msg_post(self, pe, SKI_HANDLER_SYMMETRIC_VOTE,
                 ski_msg_copy(self, SKI_HANDLER_SYMMETRIC_VOTE, &vote, sizeof vote));
}

/* The position of this PE in the tree of a vote, which enters each host once (pe_tree.h). */
struct vote_tree {
    int parent; /* -1 at the first member */
    int children;
    int child[2 * VOTE_ARITY];
};

/* The members of a vote, from the point of view of a host. */
struct vote_hosts {
    int  hosts;   /* hosts that have members                                        */
    int  host;    /* rank of this one among them, in the order of their first ones  */
    int  members; /* on this host                                                   */
    int  rank;    /* of this PE among those                                         */
    int *entry;   /* by rank of a host: its first member                            */
    int *local;   /* members on this host                                           */
};

/* Lists the hosts of the members @p pes, and the members on this one. */
static void vote_list_hosts(const struct ski_pe *self, const struct ski_vote_round *round,
                            struct vote_hosts *v)
{
    const struct ski_job *job  = self->job;
    bool                 *seen = ski_calloc((size_t)job->hosts, sizeof *seen);

    for (uint32_t i = 0; i < round->members; i++) {
        int pe = round->pes[i], host = ski_job_host_of(job, pe);

        if (!seen[host]) {
            if (host == job->host_number)
                v->host = v->hosts;
            v->entry[v->hosts++] = pe;
        }
        seen[host] = true;
        if (host != job->host_number)
            continue;
        if (pe == self->pe)
            v->rank = v->members;
        v->local[v->members++] = pe;
    }
    free(seen);
}

static void vote_add_children(struct vote_tree *tree, const struct ski_tree *level, const int *pe)
{
    for (int i = 0; i < level->children; i++)
        tree->child[tree->children++] = pe[ski_tree_child(level, i)];
}

/* Returns the tree of some members: the first member of each host is its entry. */
static struct vote_tree vote_tree_of_list(const struct ski_pe         *self,
                                          const struct ski_vote_round *round)
{
    int              *lists = ski_malloc(2 * (size_t)round->members * sizeof *lists);
    struct vote_hosts v     = {.entry = lists, .local = lists + round->members};
    struct vote_tree  tree  = {.parent = -1};
    struct ski_tree   hosts, local;

    vote_list_hosts(self, round, &v);
    ski_assert(v.members > 0 && v.local[v.rank] == self->pe);
    hosts = ski_tree_at(v.host, v.hosts, 0, VOTE_ARITY);
    local = ski_tree_at(v.rank, v.members, 0, VOTE_ARITY);
    if (v.rank == 0)
        vote_add_children(&tree, &hosts, v.entry);
    vote_add_children(&tree, &local, v.local);
    if (v.rank > 0)
        tree.parent = v.local[ski_tree_parent(&local)];
    else if (v.host > 0)
        tree.parent = v.entry[ski_tree_parent(&hosts)];
    free(lists);
    return tree;
}

static struct vote_tree vote_tree(const struct ski_pe *self, const struct ski_vote_round *round)
{
    struct vote_tree   tree = {.parent = -1};
    struct ski_pe_tree all;

    if (round->pes)
        return vote_tree_of_list(self, round);
    all           = ski_pe_tree_at(self->job, self->pe, 0, VOTE_ARITY);
    tree.children = all.children;
    for (int i = 0; i < all.children; i++)
        tree.child[i] = ski_pe_tree_child(&all, i);
    if (!ski_pe_tree_is_root(&all))
        tree.parent = ski_pe_tree_parent(&all);
    return tree;
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

/* Passes the outcome to the children and wakes the caller. */
static void vote_finish(struct ski_pe *self, struct ski_vote_state *a,
                        const struct symmetric_vote *outcome)
{
    struct vote_tree tree = vote_tree(self, &a->round);

    ski_assert(a->called && !a->done);
    a->sum  = *outcome;
    a->done = true;
    for (int i = 0; i < tree.children; i++)
        vote_send(self, tree.child[i], a->sum, VOTE_DOWN);
    ski_wake_all(self, &a->waiters);
}

/* Passes the votes of this PE and its subtree on, once they are complete. */
static void vote_advance(struct ski_pe *self, struct ski_vote_state *a)
{
    struct vote_tree tree;

    if (!a->called)
        return;
    tree = vote_tree(self, &a->round);
    if (a->votes < tree.children)
        return;
    a->sum.members = a->round.members;
    if (tree.parent >= 0)
        vote_send(self, tree.parent, a->sum, VOTE_UP);
    else if (a->sum.status == SKUA_OK && a->sum.least == a->sum.most && !a->round.confirms)
        vote_send(self, vote_registrar(self), a->sum, VOTE_ASK);
    else
        vote_finish(self, a, &a->sum);
}

skua_status ski_symmetric_vote(struct ski_pe *self, const struct ski_vote_round *round,
                               skua_status mine, uint64_t bytes, uint32_t *id, uint64_t *other)
{
    struct ski_region_pe  *pe   = ski_region_pe(self);
    struct ski_vote_state *a    = vote_find_or_add(pe, round->key, round->number);
    struct symmetric_vote  vote = {.status = (int16_t)mine, .least = bytes, .most = bytes};
    skua_status            status;

    ski_assert(!a->called && round->rank < round->members);
    a->round  = *round;
    a->called = true;
    vote_count(a, &vote);
    vote_advance(self, a);
    while (!a->done)
        if (!ski_wait_on(self, &a->waiters, (struct ski_call){"the creation of a region", NULL}))
            return SKUA_ERR_EXIT;
    status = (skua_status)a->sum.status;
    *id    = a->sum.id;
    *other = a->sum.least != bytes ? a->sum.least : a->sum.most;
    vote_remove(pe, a);
    return status;
}

/* ---- the registrar --------------------------------------------------------------------- */

/* An id that the registrar has given out, by its slot. */
struct symmetric_id {
    uint32_t generation, next_free;
    uint32_t members, freed; /* of the region; of them, that have freed it     */
    uint32_t hosts, room;    /* whose members have all freed it ...            */
    int32_t *reply_pe;       /* ... and the PE of each that is notified of the end */
};

/* The lock is for PE 0 of a restarted job, whose registrar may be the progress thread. */
static struct {
    struct ski_lock      lock;
    struct symmetric_id *ids; /* by slot; of those from `fresh` on, the ones with members are of the
                                 former job */
    uint32_t fresh, room, free_first, free_last;
} registrar;

/* Makes room for the id of a slot. */
static struct symmetric_id *registrar_id(uint32_t slot)
{
    if (slot >= registrar.room) {
        uint32_t room = 2 * slot + 16;

        registrar.ids = ski_realloc(registrar.ids, room * sizeof *registrar.ids);
        memset(registrar.ids + registrar.room, 0, (room - registrar.room) * sizeof *registrar.ids);
        registrar.room = room;
    }
    return &registrar.ids[slot];
}

static uint32_t registrar_take_slot(void)
{
    uint32_t slot = registrar.fresh ? registrar.fresh : 1;

    while (slot < ski_region_root->common && registrar_id(slot)->members > 0)
        slot++;
    if (slot < ski_region_root->common) {
        registrar.fresh = slot + 1;
        return slot;
    }
    slot                 = registrar.free_first;
    registrar.free_first = slot ? registrar.ids[slot].next_free : 0;
    return slot;
}

/* Assigns an id to the region of a vote, and sends it to the first member. */
static void registrar_on_ask(const struct symmetric_vote *vote, int source)
{
    struct symmetric_vote reply = *vote;
    struct symmetric_id  *id;
    uint32_t              slot;

    ski_lock_acquire(&registrar.lock);
    slot = registrar_take_slot();
    if (slot) {
        id             = &registrar.ids[slot];
        id->generation = (id->generation + 1) & ((1u << (32 - SKI_REGION_INDEX_BITS)) - 1);
        id->members    = vote->members;
        id->freed      = 0;
        reply.id       = id->generation << SKI_REGION_INDEX_BITS | slot;
    } else {
        ski_error_fail(
            SKUA_ERR_NOMEM,
            "all %u symmetric regions are in use; skua_region_destroy() those that are not",
            ski_region_root->common - 1);
        reply.status = SKUA_ERR_NOMEM;
    }
    ski_lock_release(&registrar.lock);
    vote_send(ski_self, source, reply, VOTE_GIVEN);
}

bool ski_symmetric_vote_restored(uint32_t id, uint32_t members)
{
    uint32_t slot = id & ((1u << SKI_REGION_INDEX_BITS) - 1);

    if (slot == 0 || slot >= ski_region_root->common || members == 0)
        return false;
    ski_lock_acquire(&registrar.lock);
    registrar_id(slot)->generation = id >> SKI_REGION_INDEX_BITS;
    registrar_id(slot)->members    = members;
    ski_lock_release(&registrar.lock);
    return true;
}

/* Counts members of one host that have freed a region.  After the last ones all hosts free its
 * memory, and the id can be reused. */
static void registrar_count_freed(const struct symmetric_vote *vote, int reply_pe)
{
    uint32_t             slot = vote->id & ((1u << SKI_REGION_INDEX_BITS) - 1);
    struct symmetric_id *id;

    if (slot == 0 || slot >= registrar.room)
        return;
    id = &registrar.ids[slot];
    if (id->generation != vote->id >> SKI_REGION_INDEX_BITS || id->freed >= id->members)
        return;
    id->freed += vote->members;
    if (id->hosts == id->room) {
        id->room     = 2 * id->room + 4;
        id->reply_pe = ski_realloc(id->reply_pe, id->room * sizeof *id->reply_pe);
    }
    id->reply_pe[id->hosts++] = reply_pe;
    if (id->freed < id->members)
        return;
    for (uint32_t i = 0; i < id->hosts; i++)
        vote_send(ski_self, id->reply_pe[i], (struct symmetric_vote){.id = vote->id}, VOTE_DESTROY);
    id->hosts     = 0;
    id->next_free = 0;
    if (registrar.free_first)
        registrar.ids[registrar.free_last].next_free = slot;
    else
        registrar.free_first = slot;
    registrar.free_last = slot;
}

static void registrar_on_freed(const struct symmetric_vote *vote, int reply_pe)
{
    ski_lock_acquire(&registrar.lock);
    registrar_count_freed(vote, reply_pe);
    ski_lock_release(&registrar.lock);
}

void ski_symmetric_vote_reset(void)
{
    for (uint32_t slot = 1; slot < registrar.room; slot++)
        free(registrar.ids[slot].reply_pe);
    free(registrar.ids);
    memset(&registrar, 0, sizeof registrar);
}

void ski_symmetric_vote_freed(uint32_t id, uint32_t members)
{
    struct ski_caller caller;

    if (!ski_caller_enter(&caller))
        return;
    vote_send(caller.self, vote_registrar(caller.self),
              (struct symmetric_vote){.id = id, .members = members}, VOTE_FREED);
    ski_caller_leave(&caller);
}

/* Returns whether a vote comes from a PE that sends such votes, to one that receives them: only the
 * registrar keeps ids, and only the registrar ends a region, that its members have freed. */
static bool vote_is_valid(const struct ski_pe *self, int source, const struct symmetric_vote *vote)
{
    if (vote->kind == VOTE_ASK || vote->kind == VOTE_FREED)
        return self->pe == vote_registrar(self) && vote->members > 0;
    if (vote->kind == VOTE_DESTROY)
        return source == vote_registrar(self) &&
               (ski_region_all_freed(vote->id) || !ski_region_table_find((skua_region){vote->id}));
    return vote->kind <= VOTE_DESTROY;
}

void ski_on_symmetric_vote(skua_msg *msg)
{
    struct ski_region_pe  *pe     = ski_region_pe(ski_self);
    struct symmetric_vote  vote   = *(struct symmetric_vote *)skua_msg_data(msg);
    int                    source = msg->source;
    struct ski_vote_state *a;

    if (!vote_is_valid(ski_self, source, &vote)) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    if (vote.kind == VOTE_ASK) {
        registrar_on_ask(&vote, source);
    } else if (vote.kind == VOTE_FREED) {
        registrar_on_freed(&vote, ski_reply_pe(ski_self->job, source));
    } else if (vote.kind == VOTE_DESTROY) {
        ski_region_destroy(vote.id);
    } else if (vote.kind == VOTE_UP) {
        a = vote_find_or_add(pe, vote.key, vote.number);
        a->votes++;
        vote_count(a, &vote);
        vote_advance(ski_self, a);
    } else if ((a = vote_find(pe, vote.key, vote.number)) && a->called && !a->done) {
        vote_finish(ski_self, a, &vote);
    }
}
