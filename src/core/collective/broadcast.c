/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.c - a message to every PE, down a spanning tree.
 *
 * Each PE gets a message of its own: the data as the user sent it, and behind
 * it, out of the handler's sight, a *tail* with what the tree needs.  A PE
 * first copies the message to its children, then runs the handler on it.
 *
 * Where the end is asked for, every PE makes a node that counts its handler
 * and its children; the last of them reports to the parent's node, by the name
 * (slot_table.h) that the parent has given it: no address leaves a PE.  The program asks by a
 * completion, and flow control (collective.h) every so often: messages without a priority are
 * handled in the order of sending everywhere, so the end of one is the end of those before it.
 */
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/collective/broadcast.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "core/message/message.h"
#include "core/message/msg_counts.h"

struct ski_broadcast_node {
    uint64_t        name;    /* ours for it                                 */
    int             open;    /* children and handler that have not finished */
    int             parent;  /* PE, or -1 at the root                       */
    uint64_t        above;   /* the parent's name for its node              */
    skua_completion done;    /* at the root                                 */
    uint64_t        cost;    /* at the root: bytes of the window that become free */
    uint32_t        handler; /* at the root: the user's ...                 */
    skua_msg       *msg;     /* ... and its message                         */
};

static struct ski_broadcast_tail *broadcast_tail_of(struct skua_msg *msg)
{
    return (struct ski_broadcast_tail *)(void *)((char *)skua_msg_data(msg) +
                                                 ski_msg_tail_offset(msg));
}

uint32_t ski_broadcast_handler(skua_msg *msg)
{
    return broadcast_tail_of(msg)->handler;
}

/* Makes @p msg, which has room behind its data, one that goes down the tree. */
static void broadcast_set_tail(skua_msg *msg, const struct ski_broadcast_tail *tail)
{
    msg->handler = SKI_HANDLER_BROADCAST;
    msg->flags |= SKI_MSG_TAIL;
    msg->source             = tail->parent;
    *broadcast_tail_of(msg) = *tail;
}

skua_msg *ski_broadcast_copy(skua_msg *msg, const struct ski_broadcast_tail *tail)
{
    struct skua_msg *copy = skua_msg_alloc(ski_msg_tail_offset(msg) + sizeof *tail);

    memcpy(copy, msg, sizeof *msg + msg->bytes);
    memcpy(ski_msg_words(copy), ski_msg_words(msg), 4 * (size_t)msg->bit_words);
    broadcast_set_tail(copy, tail);
    return copy;
}

/* Makes the node of this PE in @p tree: @p above is the name of the parent's. */
static struct ski_broadcast_node *broadcast_node_new(struct ski_pe         *self,
                                                     const struct ski_tree *tree, int parent,
                                                     uint64_t above)
{
    struct ski_broadcast_node *node = ski_malloc(sizeof *node);

    *node =
        (struct ski_broadcast_node){.open = tree->children + 1, .parent = parent, .above = above};
    node->name = ski_slots_add(&self->collectives->broadcasts, node);
    return node;
}

uint64_t ski_broadcast_node(struct ski_pe *self, const struct ski_tree *tree,
                            const struct ski_broadcast_tail *tail)
{
    return tail->above ? broadcast_node_new(self, tree, tail->parent, tail->above)->name : 0;
}

/* At the root: all handlers have returned. */
static void broadcast_over(struct ski_pe *self, const struct ski_broadcast_node *node)
{
    ski_window_release(self, node->cost, "broadcast", self->pe);
    skua_complete(node->done, NULL, 0);
    ski_window_open(self);
}

static void broadcast_finish_one(struct ski_pe *self, struct ski_broadcast_node *node)
{
    if (--node->open > 0)
        return;
    ski_slots_remove(&self->collectives->broadcasts, node->name);
    if (node->parent < 0)
        broadcast_over(self, node);
    else
        skua_send_copy(node->parent, (skua_handler){SKI_HANDLER_BROADCAST_DONE}, &node->above,
                       sizeof node->above);
    free(node);
}

void ski_on_broadcast_done(skua_msg *msg)
{
    struct ski_broadcast_node *node =
        ski_slots_find(&ski_self->collectives->broadcasts, *(const uint64_t *)skua_msg_data(msg));

    if (!node) {
        ski_net_drop(ski_self, msg);
        return;
    }
    skua_msg_free(msg);
    broadcast_finish_one(ski_self, node);
}

void ski_broadcast_pass_whole(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                              const struct ski_broadcast_tail *tail, bool near)
{
    for (int i = 0; i < tree->children; i++) {
        int pe = ski_tree_child(tree, i);

        if ((!near || ski_job_index(self->job, pe) >= 0) &&
            !ski_msg_try_tailed(self, pe, SKI_HANDLER_BROADCAST, msg, tail))
            ski_msg_post(self, pe, SKI_HANDLER_BROADCAST, ski_broadcast_copy(msg, tail));
    }
}

/* Sends @p msg to the children of this PE, whose node has the name @p node, or 0.  Returns the
 * message to deliver: @p msg, or a copy while the network reads from that. */
static skua_msg *broadcast_pass_on(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                                   uint32_t handler, uint64_t node)
{
    struct ski_broadcast_tail tail     = {tree->root, handler, self->pe, 0, node};
    bool                      segments = ski_segments_used(self, msg);

    if (segments)
        msg = ski_segments_send(self, msg, tree, &tail);
    ski_broadcast_pass_whole(self, msg, tree, &tail, segments);
    return msg;
}

/* Runs the user's handler on this PE's message. */
static void broadcast_run_handler(struct ski_pe *self, struct skua_msg *msg, uint32_t handler,
                                  int root, uint64_t name)
{
    struct ski_broadcast_node *node;

    msg->handler = (uint16_t)handler;
    msg->source  = root;
    msg->flags &= (uint8_t)~SKI_MSG_TAIL;
    self->handler[handler](msg);
    /* Found anew: a packet that lied may have ended it while the handler waited. */
    node = name ? ski_slots_find(&self->collectives->broadcasts, name) : NULL;
    if (node)
        broadcast_finish_one(self, node);
}

bool ski_broadcast_is_sound(const struct ski_pe *self, const struct ski_broadcast_tail *tail,
                            size_t bytes)
{
    return (uint32_t)tail->root < (uint32_t)self->pes && tail->root != self->pe &&
           (uint32_t)tail->parent < (uint32_t)self->pes &&
           ski_pe_has_handler(self, tail->handler) && ski_builtin_accepts(tail->handler, bytes);
}

/* One that came whole: it goes to the children first. */
static void broadcast_arrived(struct ski_pe *self, skua_msg *msg,
                              const struct ski_broadcast_tail *tail)
{
    struct ski_tree tree = ski_tree_at(self->pe, self->pes, tail->root, (int)ski_config.tree_arity);
    uint64_t        name = ski_broadcast_node(self, &tree, tail);

    msg = broadcast_pass_on(self, msg, &tree, tail->handler, name);
    broadcast_run_handler(self, msg, tail->handler, tail->root, name);
}

/* A message from this PE itself has been passed on: ski_broadcast_deliver(). */
void ski_on_broadcast(skua_msg *msg)
{
    struct ski_broadcast_tail tail = *broadcast_tail_of(msg);

    if (msg->source == ski_self->pe)
        broadcast_run_handler(ski_self, msg, tail.handler, tail.root, tail.above);
    else if (ski_broadcast_is_sound(ski_self, &tail, msg->bytes))
        broadcast_arrived(ski_self, msg, &tail);
    else
        ski_net_drop(ski_self, msg);
}

/* By the table of handlers, as if the message had come whole: a PE may be in a state in which
 * broadcasts are kept for later. */
void ski_broadcast_deliver(struct ski_pe *self, skua_msg *msg, const struct ski_tree *tree,
                           const struct ski_broadcast_tail *tail)
{
    ski_broadcast_pass_whole(self, msg, tree, tail, true);
    broadcast_set_tail(msg, tail); /* its parent is this PE */
    self->handler[SKI_HANDLER_BROADCAST](msg);
}

/* At the root of a broadcast whose end is asked for: the node holds the message. */
void ski_on_broadcast_here(skua_msg *msg)
{
    uint64_t                         name = *(const uint64_t *)skua_msg_data(msg);
    const struct ski_broadcast_node *node =
        ski_slots_find(&ski_self->collectives->broadcasts, name);

    skua_msg_free(msg);
    if (node)
        broadcast_run_handler(ski_self, node->msg, node->handler, ski_self->pe, name);
}

/* A message with the name of @p node, as urgent as the user's. */
static skua_msg *broadcast_carrier(struct ski_broadcast_node *node)
{
    const skua_msg *like = node->msg;
    skua_msg       *msg  = skua_msg_alloc_bits(sizeof node->name, 32 * (size_t)like->bit_room);

    *(uint64_t *)skua_msg_data(msg) = node->name;
    msg->flags                      = like->flags;
    msg->priority                   = like->priority;
    msg->bit_words                  = like->bit_words;
    memcpy(ski_msg_words(msg), ski_msg_words(node->msg), 4 * (size_t)like->bit_words);
    return msg;
}

/* Whether the end of a broadcast of @p msg is to be known here, and what of the window becomes
 * free then. */
static uint64_t broadcast_count(struct ski_pe *self, const skua_msg *msg, bool asked)
{
    struct ski_collectives *c    = self->collectives;
    uint64_t                cost = ski_call_cost(msg->bytes) * (uint64_t)self->job->local_pes;

    c->in_flight += cost;
    if (msg->flags & SKI_MSG_SPECIAL)
        return cost; /* it may overtake those before it */
    cost      = c->untold + cost;
    c->untold = asked || cost >= c->window / 8 ? 0 : cost;
    return c->untold ? 0 : cost;
}

static void broadcast_begin(struct ski_pe *self, uint32_t handler, skua_msg *msg,
                            skua_completion done, uint64_t cost)
{
    struct ski_tree tree = ski_tree_at(self->pe, self->pes, self->pe, (int)ski_config.tree_arity);
    struct ski_broadcast_node *node = NULL;

    if (done.kind || cost) {
        node          = broadcast_node_new(self, &tree, -1, 0);
        node->done    = done;
        node->cost    = cost;
        node->handler = handler;
    }
    msg = broadcast_pass_on(self, msg, &tree, handler, node ? node->name : 0);
    if (node)
        node->msg = msg;
    if (node)
        skua_send(self->pe, (skua_handler){SKI_HANDLER_BROADCAST_LOCAL}, broadcast_carrier(node));
    else {
        msg->handler = (uint16_t)handler;
        msg->source  = self->pe;
        ski_msg_post(self, self->pe, handler, msg);
    }
}

static void broadcast_begin_counted(struct ski_pe *self, uint32_t handler, skua_msg *msg,
                                    skua_completion done)
{
    uint64_t cost = broadcast_count(self, msg, done.kind != 0);

    broadcast_begin(self, handler, msg, done, cost);
}

/* A broadcast that found no room.  Its message counts as one that was sent (msg_counts.h). */
struct broadcast_deferred {
    struct ski_deferred base;
    uint32_t            handler;
    skua_completion     done;
    struct ski_list     message;
};

static void broadcast_begin_deferred(struct ski_pe *self, struct ski_deferred *base)
{
    struct broadcast_deferred *deferred = (struct broadcast_deferred *)base;

    self->held--;
    broadcast_begin_counted(self, deferred->handler, deferred->message.first, deferred->done);
}

static SKI_COLD void broadcast_later(struct ski_pe *self, uint32_t handler, skua_msg *msg,
                                     skua_completion done)
{
    struct broadcast_deferred waiting, *deferred = &waiting;
    bool                      waits = ski_window_waits(self);

    if (!waits)
        deferred = ski_malloc(sizeof *deferred);
    *deferred = (struct broadcast_deferred){
        .base.begin = broadcast_begin_deferred, .handler = handler, .done = done};
    ski_list_init(&deferred->message);
    ski_msg_hold_new(self, &deferred->message, msg);
    if (waits)
        ski_window_wait(self, &deferred->base);
    else
        ski_window_defer(self, &deferred->base);
}

void ski_broadcast(struct ski_pe *self, uint32_t handler, skua_msg *msg)
{
    broadcast_begin(self, handler, msg, skua_done_nothing(), 0);
}

void skua_broadcast(skua_handler handler, skua_msg *msg, skua_completion done)
{
    struct ski_pe *self = SKI_SELF();

    if (!ski_pe_has_handler(self, handler.id))
        ski_handler_misuse(__func__, handler.id);
    if (ski_ownership_checked(self))
        ski_ownership_send(self, SKI_RELEASE_BROADCAST, msg, handler.id,
                           __builtin_return_address(0), false);
    if (SKI_UNLIKELY(ski_window_full(self->collectives)))
        broadcast_later(self, handler.id, msg, done);
    else
        broadcast_begin_counted(self, handler.id, msg, done);
}
