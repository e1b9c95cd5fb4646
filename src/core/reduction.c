/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction.c - reductions, and the barriers that are reductions of nothing.
 *
 * The n-th call of each PE belongs to reduction n.  A PE collects its own
 * contribution and those of its children in the tree, combines them in that
 * order (own, first child, second child, ...), whatever the order of arrival,
 * and sends the sum up.  At the root it is the result; for an allreduce it
 * comes down the same tree again.
 *
 * On the wire, both ways:  struct head, then the elements.
 * A contribution may arrive before this PE has called: it then waits in the
 * record of its reduction, which its head is enough to make.
 */
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/builtin.h"
#include "core/far.h"
#include "core/handler.h"
#include "core/pe.h"
#include "core/tree.h"

#define FAR_AHEAD (UINT64_C(1) << 24) /* reductions that PEs may be apart */

struct head {
    uint64_t number;
    uint64_t count; /* of elements */
    int32_t  root;
    uint16_t op, type;
    uint32_t all; /* the result goes to everybody */
    int32_t  sender;
};

_Static_assert(sizeof(struct head) == SKI_REDUCE_LEAST, "see builtin.h");

struct ski_reduction {
    struct head     head;
    skua_completion done;
    skua_msg       *own;     /* NULL until this PE calls     */
    int             missing; /* children that have not sent  */
    skua_msg       *child[];
};

static struct ski_tree tree_of(const struct ski_pe *self, int root)
{
    return ski_tree_at(self->pe, self->pes, root, (int)ski_config.tree_arity);
}

/* ---- records ------------------------------------------------------------- */

static bool reduction_is_same(const struct head *a, const struct head *b)
{
    return a->op == b->op && a->type == b->type && a->root == b->root && a->count == b->count &&
           a->all == b->all;
}

static SKI_COLD _Noreturn void disagree(const struct head *a, const struct head *b)
{
    ski_misuse("collective call %llu differs between PEs: PE %d has the %s of %llu %s to %s%d, "
               "PE %d has the %s of %llu %s to %s%d",
               (unsigned long long)a->number + 1, a->sender, ski_op_name((skua_op){a->op}),
               (unsigned long long)a->count, ski_type_name(a->type), a->all ? "all via " : "PE ",
               a->root, b->sender, ski_op_name((skua_op){b->op}), (unsigned long long)b->count,
               ski_type_name(b->type), b->all ? "all via " : "PE ", b->root);
}

static struct ski_reduction **slot_of(struct ski_collectives *c, uint64_t number)
{
    return &c->slot[number & (c->slots - 1)];
}

static struct ski_reduction *find(struct ski_collectives *c, uint64_t number)
{
    struct ski_reduction *r = c->slots ? *slot_of(c, number) : NULL;

    return r && r->head.number == number ? r : NULL;
}

/* Numbers in flight lie close together: with enough slots each has its own. */
static void grow(struct ski_collectives *c)
{
    struct ski_collectives more = {c->calls, NULL, c->slots ? 2 * c->slots : 16};

    more.slot = ski_calloc(more.slots, sizeof *more.slot);
    for (size_t i = 0; i < c->slots; i++)
        if (c->slot[i])
            *slot_of(&more, c->slot[i]->head.number) = c->slot[i];
    free(c->slot);
    *c = more;
}

static void insert(struct ski_collectives *c, struct ski_reduction *r)
{
    while (c->slots == 0 || *slot_of(c, r->head.number))
        grow(c);
    *slot_of(c, r->head.number) = r;
}

static void forget(struct ski_collectives *c, struct ski_reduction *r)
{
    *slot_of(c, r->head.number) = NULL;
    free(r);
}

void ski_collectives_destroy(struct ski_collectives *c)
{
    for (size_t i = 0; i < c->slots; i++)
        free(c->slot[i]);
    free(c->slot);
}

/* The record of the reduction that @p head belongs to, made if it is new. */
static struct ski_reduction *record(struct ski_pe *self, const struct head *head)
{
    struct ski_reduction *r = find(&self->collectives, head->number);
    struct ski_tree       tree;

    if (r) {
        if (!reduction_is_same(&r->head, head))
            disagree(&r->head, head);
        return r;
    }
    tree       = tree_of(self, head->root);
    r          = ski_calloc(1, sizeof *r + (size_t)tree.children * sizeof *r->child);
    r->head    = *head;
    r->missing = tree.children;
    insert(&self->collectives, r);
    return r;
}

/* ---- on the wire --------------------------------------------------------- */

static struct head *head_of(skua_msg *msg)
{
    return skua_msg_data(msg);
}

static void *elements_of(skua_msg *msg)
{
    return head_of(msg) + 1;
}

static size_t element_bytes(const struct head *head)
{
    return head->count * ski_type_size(head->type);
}

/* Small ones travel in a cell, large ones by address. */
static void send_away(struct ski_pe *self, int pe, uint32_t handler, skua_msg *msg)
{
    head_of(msg)->sender = self->pe;
    if (msg->bytes <= SKUA_INLINE_MAX) {
        skua_send_copy(pe, (skua_handler){handler}, skua_msg_data(msg), msg->bytes);
        skua_msg_free(msg);
    } else {
        skua_send(pe, (skua_handler){handler}, msg);
    }
}

/* ---- going up ------------------------------------------------------------ */

static void combine(struct ski_reduction *r, int children)
{
    skua_op_fn fn = ski_op_function((skua_op){r->head.op}, r->head.type);

    for (int i = 0; i < children; i++) {
        if (r->head.count)
            fn(elements_of(r->own), elements_of(r->child[i]), r->head.count, r->head.type);
        skua_msg_free(r->child[i]);
    }
}

/* The result, in @p msg, is here: pass it on if all get it, and complete. */
static void finish(struct ski_pe *self, struct ski_reduction *r, skua_msg *msg)
{
    struct ski_tree tree = tree_of(self, r->head.root);
    skua_completion done = r->done;

    for (int i = 0; r->head.all && i < tree.children; i++)
        skua_send_copy(ski_tree_child(&tree, i), (skua_handler){SKI_HANDLER_RESULT},
                       skua_msg_data(msg), msg->bytes);
    forget(&self->collectives, r);
    skua_complete(done, elements_of(msg), element_bytes(head_of(msg)));
    skua_msg_free(msg);
}

/* Goes on once everything this PE waits for is there. */
static void advance(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_tree tree = tree_of(self, r->head.root);
    skua_msg       *own  = r->own;

    if (!own || r->missing > 0)
        return;
    combine(r, tree.children);
    if (tree.rank == 0) {
        finish(self, r, own);
        return;
    }
    send_away(self, ski_tree_parent(&tree), SKI_HANDLER_REDUCE, own);
    if (!r->head.all)
        forget(&self->collectives, r);
}

/* Whether the head of a message that came is one that could have been sent.  A reduction that this
 * PE has called and does not know any more is over. */
static bool reduction_is_sound(struct ski_pe *self, skua_msg *msg)
{
    const struct head *head  = head_of(msg);
    uint64_t           ahead = head->number - self->collectives.calls;

    return (uint32_t)head->root < (uint32_t)self->pes &&
           ski_op_function((skua_op){head->op}, head->type) &&
           head->count <= msg->bytes / ski_type_size(head->type) &&
           element_bytes(head) == msg->bytes - sizeof *head && head->all <= 1 &&
           (ahead <= FAR_AHEAD || find(&self->collectives, head->number)) &&
           (uint32_t)head->sender < (uint32_t)self->pes;
}

/* Which of our children sent it, or -1. */
static int reduction_child_of(const struct ski_tree *tree, int pe)
{
    for (int i = 0; i < tree->children; i++)
        if (ski_tree_child(tree, i) == pe)
            return i;
    return -1;
}

void ski_on_reduce(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct ski_tree       tree;
    struct ski_reduction *r;
    int                   child = -1;

    if (reduction_is_sound(self, msg)) {
        tree  = tree_of(self, head_of(msg)->root);
        child = reduction_child_of(&tree, head_of(msg)->sender);
    }
    r = child < 0 ? NULL : record(self, head_of(msg));
    if (!r || r->child[child]) {
        ski_far_drop(self, msg);
        return;
    }
    r->child[child] = msg;
    r->missing--;
    advance(self, r);
}

/* The result comes down to a PE that has sent its part up. */
void ski_on_result(skua_msg *msg)
{
    struct ski_pe        *self = ski_self;
    struct ski_reduction *r =
        reduction_is_sound(self, msg) ? find(&self->collectives, head_of(msg)->number) : NULL;

    if (!r || !r->head.all || !reduction_is_same(&r->head, head_of(msg)) || !r->own ||
        r->missing > 0 || tree_of(self, r->head.root).rank == 0)
        ski_far_drop(self, msg);
    else
        finish(self, r, msg);
}

/* ---- calls --------------------------------------------------------------- */

static void contribute(const char *call, int root, bool all, skua_op op, skua_type type,
                       const void *data, size_t count, skua_completion done)
{
    struct ski_pe        *self = SKI_SELF();
    struct head           head = {.number = self->collectives.calls++,
                                  .count  = count,
                                  .root   = root,
                                  .op     = (uint16_t)op.id,
                                  .type   = (uint16_t)type,
                                  .all    = all,
                                  .sender = self->pe};
    struct ski_reduction *r;

    if ((uint32_t)root >= (uint32_t)self->pes)
        ski_misuse("%s: PE %d does not exist; this job has PEs 0 to %d", call, root, self->pes - 1);
    if (!ski_op_function(op, type))
        ski_misuse("%s: there is no %s of type %s", call, ski_op_name(op), ski_type_name(type));
    if (count > PTRDIFF_MAX / ski_type_size(type))
        ski_misuse("%s: %zu elements are more than any memory holds", call, count);
    r       = record(self, &head);
    r->done = done;
    r->own  = skua_msg_alloc(sizeof head + element_bytes(&head));
    memcpy(skua_msg_data(r->own), &head, sizeof head);
    if (count) {
        memcpy(elements_of(r->own), data, element_bytes(&head));
        ski_op_prepare(op, elements_of(r->own), count, type);
    }
    advance(self, r);
}

void skua_reduce(int root, skua_op op, skua_type type, const void *data, size_t count,
                 skua_completion done)
{
    contribute(__func__, root, false, op, type, data, count, done);
}

void skua_allreduce(skua_op op, skua_type type, const void *data, size_t count,
                    skua_completion done)
{
    contribute(__func__, 0, true, op, type, data, count, done);
}

void skua_barrier(skua_completion done)
{
    contribute(__func__, 0, true, SKUA_SUM, SKUA_INT32, NULL, 0, done);
}
