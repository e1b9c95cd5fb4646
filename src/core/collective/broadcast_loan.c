/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast_loan.c - large broadcasts inside a host, which all PEs copy at the same time (see
 * broadcast.h). */
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "core/collective/broadcast.h"
#include "core/pe/handler.h"
#include "core/message/message.h"

#define LEND_FROM      ((size_t)256 << 10) /* bytes of the least message that is lent ...        */
#define LEND_FROM_MANY ((size_t)64 << 10)  /* ... and that is lent among many PEs                */
#define LEND_PES       3                   /* PEs from which on messages are lent                */
#define LEND_PES_MANY  8                   /* PEs that are many: the tree has two levels         */

/* A message that its root lends to the other PEs; it is the data of a message in the arena. */
struct broadcast_loan {
    _Atomic int32_t users; /* PEs that have not released it, the root among them */
    skua_msg       *msg;
};

/* A packet of SKI_HANDLER_BROADCAST_LENT. */
struct broadcast_lent {
    skua_msg                 *owner; /* the message with the loan */
    struct ski_broadcast_tail tail;
};

bool ski_broadcast_lends(const struct ski_pe *self, const skua_msg *msg)
{
    return SKI_UNLIKELY(msg->bytes >= LEND_FROM_MANY) && self->pes >= LEND_PES &&
           msg->bytes >= (self->pes < LEND_PES_MANY ? LEND_FROM : LEND_FROM_MANY) &&
           !ski_job_is_distributed(self->job) && !msg->bit_room && !(msg->flags & SKI_MSG_SPECIAL);
}

/* Releases a loan; the last PE frees it and its message. */
static void broadcast_return_loan(struct ski_pe *self, skua_msg *owner)
{
    struct broadcast_loan *loan = skua_msg_data(owner);

    /* Release and acquire: all PEs have read the message before the last one frees it. */
    if (atomic_fetch_sub_explicit(&loan->users, 1, memory_order_acq_rel) != 1)
        return;
    ski_pool_free(&self->pool, loan->msg);
    skua_msg_free(owner);
}

/* Sends a loan to the children of this PE, which @p tail names as their parent. */
static void broadcast_send_loan(const struct ski_broadcast_tree *tree, skua_msg *owner,
                                const struct ski_broadcast_tail *tail)
{
    struct broadcast_lent lent = {owner, *tail};

    for (int i = 0; i < tree->children; i++)
        skua_send_copy(ski_broadcast_tree_child(tree, i),
                       (skua_handler){SKI_HANDLER_BROADCAST_LENT}, &lent, sizeof lent);
}

skua_msg *ski_broadcast_lend(struct ski_pe *self, skua_msg *msg,
                             const struct ski_broadcast_tree *tree,
                             const struct ski_broadcast_tail *tail)
{
    skua_msg              *owner = skua_msg_alloc(sizeof(struct broadcast_loan)), *copy;
    struct broadcast_loan *loan  = skua_msg_data(owner);

    atomic_init(&loan->users, self->pes);
    loan->msg = msg;
    broadcast_send_loan(tree, owner, tail);
    copy = ski_broadcast_copy(msg, tail);
    copy->flags &= (uint8_t)~SKI_MSG_TAIL;
    broadcast_return_loan(self, owner);
    return copy;
}

/* The copy has this PE as its parent, which says that it has been forwarded. */
void ski_on_broadcast_lent(skua_msg *msg)
{
    struct ski_pe            *self = ski_self;
    struct broadcast_lent     lent = *(struct broadcast_lent *)skua_msg_data(msg);
    struct broadcast_loan    *loan = skua_msg_data(lent.owner);
    struct ski_broadcast_tree tree = ski_broadcast_tree_of(self, lent.tail.root, lent.tail.arity);
    skua_msg                 *copy;

    skua_msg_free(msg);
    ski_assert(ski_arena_contains(self->job->arena, lent.owner));
    lent.tail.parent_node = ski_broadcast_node(self, &tree, &lent.tail);
    lent.tail.parent      = self->pe;
    broadcast_send_loan(&tree, lent.owner, &lent.tail);
    copy = ski_broadcast_copy(loan->msg, &lent.tail);
    broadcast_return_loan(self, lent.owner);
    /* Through the table: its entry may be one that keeps broadcasts until a collection exists. */
    self->handler[SKI_HANDLER_BROADCAST](copy);
}
