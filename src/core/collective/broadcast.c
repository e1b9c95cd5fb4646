/* SPDX-License-Identifier: Apache-2.0 */
/*
 * broadcast.c - a message to every PE, down a spanning tree (tree.h).
 *
 * Each PE gets a message of its own: the data of the user and after it, hidden from the handler, a
 * *tail* with what forwarding needs.  A PE sends copies of the message to its children, then runs
 * the handler on it.
 *
 * If the end of a broadcast is awaited, each PE has a node that counts its handler and its
 * children.  When all of them have finished, the PE reports to the node of its parent, which it
 * knows by a handle (slot_table.h), not by an address.  The program awaits the end with a
 * completion.  Flow control (collective.h) awaits the end of some broadcasts only: messages without
 * a priority are handled in the order in which they were sent on every PE, so the end of one
 * implies the end of those before it.
 */
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/broadcast.h"
#include "core/pe/builtin.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/message/ownership.h"
#include "core/message/inbox_send.h"
#include "core/message/message.h"
#include "core/message/msg_counts.h"

/* A broadcast, whose end is awaited, on one PE. */
struct ski_broadcast_node {
    uint64_t        handle;      /* of this node                                      */
    int             unfinished;  /* of the children and the handler                   */
    int             parent;      /* PE, or -1 at the root                             */
    uint64_t        parent_node; /* handle of the parent's node                       */
    skua_completion done;        /* at the root                                       */
    uint64_t        cost;        /* at the root: bytes of the window that it releases */
    uint32_t        handler;     /* at the root: of the user                          */
    skua_msg       *msg;         /* at the root: for `handler`                        */
};

uint32_t ski_broadcast_handler(skua_msg *msg)
{
    return ski_broadcast_tail_of(msg)->handler;
}

/* Writes @p tail after the data of @p msg, which has room for it, and addresses @p msg to
 * ski_on_broadcast(). */
static void broadcast_set_tail(skua_msg *msg, const struct ski_broadcast_tail *tail)
{
    msg->handler = SKI_HANDLER_BROADCAST;
    msg->flags |= SKI_MSG_TAIL;
    msg->source                 = tail->parent;
    *ski_broadcast_tail_of(msg) = *tail;
}

skua_msg *ski_broadcast_copy(skua_msg *msg, const struct ski_broadcast_tail *tail)
{
    struct skua_msg *copy = skua_msg_alloc(ski_msg_tail_offset(msg) + sizeof *tail);

    memcpy(copy, msg, sizeof *msg + msg->bytes);
    memcpy(ski_msg_words(copy), ski_msg_words(msg), 4 * (size_t)msg->bit_words);
    broadcast_set_tail(copy, tail);
    return copy;
}

/* Adds the node of this PE in @p tree; @p parent_node is the handle of the parent's node. */
static struct ski_broadcast_node *broadcast_node_new(struct ski_pe                   *self,
                                                     const struct ski_broadcast_tree *tree,
                                                     int parent, uint64_t parent_node)
{
    struct ski_broadcast_node *node = ski_malloc(sizeof *node);

    *node = (struct ski_broadcast_node){
        .unfinished = tree->children + 1, .parent = parent, .parent_node = parent_node};
    node->handle = ski_slots_add(&self->collectives->broadcasts, node);
    ski_assert(node->handle);
    return node;
}

uint64_t ski_broadcast_node(struct ski_pe *self, const struct ski_broadcast_tree *tree,
                            const struct ski_broadcast_tail *tail)
{
    return tail->parent_node
               ? broadcast_node_new(self, tree, tail->parent, tail->parent_node)->handle
               : 0;
}

/* Completes a broadcast at the root, after all handlers have returned. */
static void broadcast_complete(struct ski_pe *self, const struct ski_broadcast_node *node)
{
    ski_window_release(&self->collectives->window, node->cost, "broadcast", self->pe);
    skua_complete(node->done, NULL, 0);
    ski_window_open(self, &self->collectives->window);
}

/* Counts a child or the handler of @p node as finished; the last one ends the node. */
static void broadcast_finish_one(struct ski_pe *self, struct ski_broadcast_node *node)
{
    ski_assert(node->unfinished > 0);
    if (--node->unfinished > 0)
        return;
    ski_slots_remove(&self->collectives->broadcasts, node->handle);
    if (node->parent < 0)
        broadcast_complete(self, node);
    else
        skua_send_copy(node->parent, (skua_handler){SKI_HANDLER_BROADCAST_DONE}, &node->parent_node,
                       sizeof node->parent_node);
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

/* Sends whole copies of @p msg to the children of @p tree, or, if @p near, only to those on this
 * host. */
static void broadcast_send_whole(struct ski_pe *self, skua_msg *msg,
                                 const struct ski_broadcast_tree *tree,
                                 const struct ski_broadcast_tail *tail, bool near)
{
    for (int i = 0; i < tree->children; i++) {
        int pe = ski_broadcast_tree_child(tree, i);

        if ((!near || ski_job_index(self->job, pe) >= 0) &&
            !ski_msg_try_tailed(self, pe, SKI_HANDLER_BROADCAST, msg, tail))
            ski_msg_post(self, pe, SKI_HANDLER_BROADCAST, ski_broadcast_copy(msg, tail));
    }
}

/* Sends @p msg to the children of this PE, which @p tail names as their parent.  Returns the
 * transfer that still reads @p msg, or NULL. */
static struct ski_transfer *broadcast_forward(struct ski_pe *self, skua_msg *msg,
                                              const struct ski_broadcast_tree *tree,
                                              const struct ski_broadcast_tail *tail)
{
    bool                 segments = ski_segments_used(self, msg);
    struct ski_transfer *reading  = segments ? ski_segments_send(self, msg, tree, tail) : NULL;

    ski_assert(tail->parent == self->pe && tail->arity == tree->arity);
    broadcast_send_whole(self, msg, tree, tail, segments);
    return reading;
}

/* Runs the user's handler on @p msg; @p handle is the handle of this PE's node, or 0. */
static void broadcast_run_handler(struct ski_pe *self, struct skua_msg *msg, uint32_t handler,
                                  int root, uint64_t handle)
{
    struct ski_broadcast_node *node;

    ski_assert(ski_pe_has_handler(self, handler));
    msg->handler = (uint16_t)handler;
    msg->source  = root;
    msg->flags &= (uint8_t)~SKI_MSG_TAIL;
    self->handler[handler](msg);
    /* The node is looked up: a forged packet may have ended it while the handler waited. */
    node = handle ? ski_slots_find(&self->collectives->broadcasts, handle) : NULL;
    if (node)
        broadcast_finish_one(self, node);
}

bool ski_broadcast_is_valid(const struct ski_pe *self, const struct ski_broadcast_tail *tail,
                            size_t bytes)
{
    return (uint32_t)tail->root < (uint32_t)self->pes && tail->root != self->pe &&
           (uint32_t)tail->parent < (uint32_t)self->pes && tail->arity > 0 &&
           ski_pe_has_handler(self, tail->handler) && ski_builtin_accepts(tail->handler, bytes);
}

/* Returns whether a broadcast that arrived whole is valid and comes from this host, or else from
 * the PE that is the parent of this one in the tree of its root. */
static bool broadcast_is_expected(struct ski_pe *self, skua_msg *msg)
{
    const struct ski_broadcast_tail *tail = ski_broadcast_tail_of(msg);
    struct ski_broadcast_tree        tree;

    if (!ski_broadcast_is_valid(self, tail, msg->bytes))
        return false;
    if (SKI_LIKELY(ski_inbox_is_near(self, msg->source)) ||
        ski_job_index(self->job, msg->source) >= 0)
        return true;
    tree = ski_broadcast_tree_of(self, tail->root, tail->arity);
    return tail->parent == msg->source && ski_broadcast_tree_parent(&tree) == msg->source;
}

/* Forwards a broadcast that arrived whole to the children.  Its tail then says that this has been
 * done: its parent is this PE.  Returns whether the network still reads the message and will
 * deliver it. */
static bool broadcast_forward_arrived(struct ski_pe *self, skua_msg *msg)
{
    struct ski_broadcast_tail tail = *ski_broadcast_tail_of(msg);
    struct ski_broadcast_tree tree = ski_broadcast_tree_of(self, tail.root, tail.arity);
    struct ski_transfer      *reading;

    tail.parent_node = ski_broadcast_node(self, &tree, &tail);
    tail.parent      = self->pe;
    reading          = broadcast_forward(self, msg, &tree, &tail);
    broadcast_set_tail(msg, &tail);
    if (SKI_UNLIKELY(reading != NULL))
        ski_segments_await(reading, NULL);
    return reading != NULL;
}

/* Accepts a broadcast that arrived whole, as broadcast_forward_arrived() does.  One of two PEs has
 * no children. */
static bool broadcast_accept(struct ski_pe *self, skua_msg *msg)
{
    struct ski_broadcast_tail *tail = ski_broadcast_tail_of(msg);

    if (self->pes > 2 || tail->parent_node)
        return broadcast_forward_arrived(self, msg);
    tail->parent = msg->source = self->pe;
    return false;
}

skua_msg *ski_broadcast_admit(struct ski_pe *self, skua_msg *msg)
{
    if (msg->source == self->pe)
        return msg;
    if (!broadcast_is_expected(self, msg)) {
        ski_net_drop(self, msg);
        return NULL;
    }
    if (broadcast_accept(self, msg))
        return NULL;
    return ski_broadcast_in_turn(self, msg, ski_broadcast_tail_of(msg)) ? msg : NULL;
}

void ski_on_broadcast(skua_msg *msg)
{
    struct ski_broadcast_tail tail;

    msg = ski_broadcast_admit(ski_self, msg);
    if (!msg)
        return;
    tail = *ski_broadcast_tail_of(msg);
    broadcast_run_handler(ski_self, msg, tail.handler, tail.root, tail.parent_node);
}

void ski_broadcast_prepare(struct ski_pe *self, skua_msg *msg,
                           const struct ski_broadcast_tree *tree,
                           const struct ski_broadcast_tail *tail)
{
    ski_assert(tail->parent == self->pe);
    broadcast_send_whole(self, msg, tree, tail, true);
    broadcast_set_tail(msg, tail);
}

/* Calls through the table of handlers, as if the message had arrived whole: the entry may be one
 * that keeps broadcasts until a collection exists. */
void ski_broadcast_deliver(struct ski_pe *self, skua_msg *msg)
{
    if (ski_broadcast_in_turn(self, msg, ski_broadcast_tail_of(msg)))
        self->handler[SKI_HANDLER_BROADCAST](msg);
}

/* Runs the handler at the root of a broadcast whose end is awaited: the node has the message. */
void ski_on_broadcast_here(skua_msg *msg)
{
    uint64_t                         handle = *(const uint64_t *)skua_msg_data(msg);
    const struct ski_broadcast_node *node =
        ski_slots_find(&ski_self->collectives->broadcasts, handle);

    skua_msg_free(msg);
    if (node)
        broadcast_run_handler(ski_self, node->msg, node->handler, ski_self->pe, handle);
}

/* Returns a message with the handle of @p node that has the priority of the user's message. */
static skua_msg *broadcast_handle_msg(const struct ski_pe *self, struct ski_broadcast_node *node)
{
    const skua_msg *model = node->msg;
    skua_msg       *msg   = skua_msg_alloc_bits(sizeof node->handle, 32 * (size_t)model->bit_room);

    *(uint64_t *)skua_msg_data(msg) = node->handle;
    msg->handler                    = SKI_HANDLER_BROADCAST_LOCAL;
    msg->source                     = self->pe;
    msg->flags                      = model->flags;
    msg->priority                   = model->priority;
    msg->bit_words                  = model->bit_words;
    memcpy(ski_msg_words(msg), ski_msg_words(node->msg), 4 * (size_t)model->bit_words);
    return msg;
}

/* Counts a broadcast of @p msg in the window.  Returns the bytes that its end releases, which may
 * include earlier broadcasts; 0: its end is not awaited.  @p awaited: the program awaits the end.
 */
static uint64_t broadcast_charge_window(struct ski_pe *self, const skua_msg *msg, bool awaited)
{
    struct ski_collectives *c    = self->collectives;
    uint64_t                cost = ski_call_cost(msg->bytes) * (uint64_t)self->job->local_pes;

    c->window.in_flight += cost;
    if (msg->flags & SKI_MSG_SPECIAL)
        return cost; /* its priority may let it overtake earlier ones */
    cost              = c->unacknowledged + cost;
    c->unacknowledged = awaited || cost >= c->window.bytes / 8 ? 0 : cost;
    return c->unacknowledged ? 0 : cost;
}

/* Sends a broadcast.  Its end is awaited if @p done does something or if @p cost, the bytes of the
 * window to release, is not 0. */
static void broadcast_begin(struct ski_pe *self, uint32_t handler, skua_msg *msg,
                            skua_completion done, uint64_t cost)
{
    struct ski_broadcast_tree tree =
        ski_broadcast_tree_of(self, self->pe, ski_segments_arity(self, msg));
    struct ski_broadcast_tail  tail    = {.root    = self->pe,
                                          .handler = (uint16_t)handler,
                                          .arity   = (uint16_t)tree.arity,
                                          .parent  = self->pe,
                                          .number  = ski_broadcast_number(self, msg)};
    struct ski_broadcast_node *node    = NULL;
    struct ski_transfer       *reading = NULL;

    if (done.kind || cost) {
        node             = broadcast_node_new(self, &tree, -1, 0);
        node->done       = done;
        node->cost       = cost;
        node->handler    = handler;
        tail.parent_node = node->handle;
    }
    if (ski_broadcast_lends(self, msg))
        msg = ski_broadcast_lend(self, msg, &tree, &tail);
    else
        reading = broadcast_forward(self, msg, &tree, &tail);
    msg->handler = (uint16_t)handler;
    msg->source  = self->pe;
    if (node) {
        node->msg = msg;
        msg       = broadcast_handle_msg(self, node);
    }
    if (SKI_UNLIKELY(reading != NULL))
        ski_segments_await(reading, msg);
    ski_broadcast_post_local(self, msg);
}

/* Sends a broadcast that is subject to flow control. */
static void broadcast_begin_counted(struct ski_pe *self, uint32_t handler, skua_msg *msg,
                                    skua_completion done)
{
    uint64_t cost = broadcast_charge_window(self, msg, done.kind != 0);

    broadcast_begin(self, handler, msg, done, cost);
}

/* A broadcast that found the window full.  Its message counts as sent (msg_counts.h). */
struct broadcast_deferred {
    struct ski_deferred base;
    uint32_t            handler;
    skua_completion     done;
    struct ski_list     message;
};

static void broadcast_begin_deferred(struct ski_pe *self, struct ski_deferred *base)
{
    struct broadcast_deferred *deferred = (struct broadcast_deferred *)base;

    ski_assert(self->held > 0 && deferred->message.first);
    self->held--;
    broadcast_begin_counted(self, deferred->handler, deferred->message.first, deferred->done);
}

/* Waits until the broadcast has begun, or queues it if the caller is a handler. */
static SKI_COLD void broadcast_wait_or_defer(struct ski_pe *self, uint32_t handler, skua_msg *msg,
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
        ski_window_wait(self, &self->collectives->window, &deferred->base);
    else
        ski_window_defer(&self->collectives->window, &deferred->base);
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
    if (SKI_UNLIKELY(!msg))
        ski_misuse("%s: there is no message", __func__);
    if (ski_ownership_checked(self))
        ski_ownership_send(self, SKI_RELEASE_BROADCAST, msg, handler.id,
                           __builtin_return_address(0), false);
    if (SKI_UNLIKELY(ski_window_full(&self->collectives->window)))
        broadcast_wait_or_defer(self, handler.id, msg, done);
    else
        broadcast_begin_counted(self, handler.id, msg, done);
}
