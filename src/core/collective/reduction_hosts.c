/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_hosts.c - reductions whose result all PEs get, in a job of several hosts of which some
 * have several PEs (SKI_REDUCTION_HOSTS, see reduction.h).
 *
 * The PEs of a host send their contributions along a tree of their local indices to the first PE of
 * the host, as sets of blocks (block_set.h).  The first PEs of the hosts exchange the sets of their
 * hosts in rounds, as PEs do in other reductions (reduction_order.h, with hosts in place of PEs).
 * The result goes down the tree of each host.  Two hosts send two messages, h hosts about h
 * log2(h); the order of the combination is that of all other reductions, so the result has the same
 * bits.
 *
 * On the wire: struct ski_reduction_head, whose round is that of the hosts, or one of the two
 * below; then struct ski_set_block for each block, then the partial result of each.  A result has
 * its elements after the head.
 */
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/collective/block_set.h"
#include "core/collective/reduction.h"
#include "core/collective/reduction_order.h"
#include "core/collective/tree.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/pe/pe.h"
#include "core/sched/completion.h"

#define HOSTS_ROUND_UP   254 /* a set sent to the first PE of its host    */
#define HOSTS_ROUND_DOWN 255 /* the result sent to the PEs of a host      */

/* The additional state of such a reduction. */
struct ski_reduction_hosts {
    struct ski_block_set set;
    int                  missing; /* sets of this PE and its children that have not been added */
};

static struct ski_tree reduction_hosts_tree(const struct ski_pe *self)
{
    return ski_tree_at(self->index, self->job->local_pes, 0, (int)ski_config.tree_arity);
}

/* Returns the first PE of a host. */
static int reduction_hosts_entry(const struct ski_pe *self, int host)
{
    return ski_job_host_pe(self->job, host, 0);
}

/* Returns the record of the reduction of @p head, with its set; @p bytes: of the elements. */
static struct ski_reduction *reduction_hosts_record(struct ski_pe                   *self,
                                                    const struct ski_reduction_head *head,
                                                    size_t bytes, int from)
{
    struct ski_reduction *r = ski_reduction_get(self, head, bytes, from);

    if (r->hosts)
        return r;
    r->hosts          = ski_malloc(sizeof *r->hosts);
    r->hosts->missing = 1 + reduction_hosts_tree(self).children;
    ski_block_set_init(&r->hosts->set, self->pes, (skua_op)head->op, (skua_type)head->type,
                       head->count, bytes);
    return r;
}

void ski_reduction_hosts_free(struct ski_reduction *r)
{
    if (r->head.algorithm != SKI_REDUCTION_HOSTS || !r->hosts)
        return;
    ski_block_set_free(&r->hosts->set);
    free(r->hosts);
    r->hosts = NULL;
}

/* ---- sending ----------------------------------------------------------------------------- */

static void reduction_hosts_send_set(const struct ski_reduction *r, int pe, int round)
{
    const struct ski_block_set *set    = &r->hosts->set;
    size_t                      blocks = (size_t)set->count * sizeof *set->block;
    size_t                      bytes  = (size_t)set->count * set->stride;
    skua_msg                   *msg    = ski_reduction_msg(blocks + bytes);
    struct ski_reduction_head  *head   = ski_reduction_head_of(msg);

    *head       = r->head;
    head->round = (uint8_t)round;
    memcpy(head + 1, set->block, blocks);
    if (bytes)
        memcpy((char *)(head + 1) + blocks, set->partials, bytes);
    skua_send(pe, (skua_handler){SKI_HANDLER_REDUCTION_HOSTS}, msg);
}

/* Sends the result, of @p head and the elements after it, to the children of this PE. */
static void reduction_hosts_send_result(struct ski_pe *self, struct ski_reduction_head *head,
                                        size_t bytes)
{
    struct ski_tree tree = reduction_hosts_tree(self);

    head->round = HOSTS_ROUND_DOWN;
    for (int i = 0; i < tree.children; i++)
        skua_send_copy(ski_job_pe_at(self->job, ski_tree_child(&tree, i)),
                       (skua_handler){SKI_HANDLER_REDUCTION_HOSTS}, head, sizeof *head + bytes);
}

/* Sends the set of this host, in a round of the hosts, to all hosts that it is the delegate for. */
static void reduction_hosts_send_round(struct ski_pe *self, const struct ski_reduction *r,
                                       int level)
{
    const struct ski_job *job     = self->job;
    int                   ignores = ski_block_ignores(job->host_number, level, job->hosts);
    int                   bits    = 0;

    do {
        int host = (job->host_number ^ (1 << level)) | bits;

        if (host < job->hosts)
            reduction_hosts_send_set(r, reduction_hosts_entry(self, host), level);
        bits = (bits - ignores) & ignores; /* the next subset of `ignores` */
    } while (bits);
}

/* ---- rounds ------------------------------------------------------------------------------ */

/* Returns the elements of the blocks of a message, and the number of the blocks. */
static const char *reduction_hosts_partials(skua_msg *msg, size_t bytes, size_t *count)
{
    size_t rest = msg->bytes - sizeof(struct ski_reduction_head);
    size_t each = sizeof(struct ski_set_block) + ski_block_set_stride(bytes);

    *count = rest / each;
    return (char *)(ski_reduction_head_of(msg) + 1) + *count * sizeof(struct ski_set_block);
}

/* Adds the blocks of @p msg to the set of @p r and frees the message.  Returns false if they are
 * not blocks that this PE lacks: the message was dropped.  Those before an invalid one stay. */
static bool reduction_hosts_add(struct ski_pe *self, struct ski_reduction *r, skua_msg *msg)
{
    const struct ski_set_block *block = (struct ski_set_block *)(ski_reduction_head_of(msg) + 1);
    size_t                      count;
    const char                 *partials = reduction_hosts_partials(msg, r->bytes, &count);

    for (size_t i = 0; i < count; i++) {
        if (!ski_block_set_accepts(&r->hosts->set, &block[i])) {
            ski_net_drop(self, msg);
            return false;
        }
        ski_block_set_add(&r->hosts->set, &block[i], partials + i * r->hosts->set.stride);
    }
    skua_msg_free(msg);
    return true;
}

/* Ends a reduction whose result is in @p msg. */
static void reduction_hosts_finish(struct ski_pe *self, struct ski_reduction *r, skua_msg *msg)
{
    skua_completion done = r->done;

    reduction_hosts_send_result(self, ski_reduction_head_of(msg), r->bytes);
    ski_window_release(&self->collectives->window, ski_call_cost(r->bytes), "reduction", self->pe);
    ski_reduction_hosts_free(r);
    ski_reduction_release(self, r);
    ski_complete_with(done, msg);
    ski_window_open(self, &self->collectives->window);
}

/* Ends a reduction on the first PE of a host, which has the sets of all hosts. */
static void reduction_hosts_conclude(struct ski_pe *self, struct ski_reduction *r)
{
    skua_msg *msg = ski_reduction_msg(r->bytes);

    *ski_reduction_head_of(msg) = r->head;
    if (r->bytes)
        memcpy(ski_reduction_elements(msg), ski_block_set_partial(&r->hosts->set, 0), r->bytes);
    reduction_hosts_finish(self, r, msg);
}

/* Runs the rounds of the hosts as far as the sets of other hosts have arrived. */
static void reduction_hosts_exchange(struct ski_pe *self, struct ski_reduction *r)
{
    const struct ski_job *job    = self->job;
    uint32_t              levels = (uint32_t)ski_block_levels(job->hosts);

    for (; r->round < levels; r->round++) {
        if (ski_block_sibling(job->host_number, (int)r->round) >= job->hosts)
            continue;
        if (!r->sent)
            reduction_hosts_send_round(self, r, (int)r->round);
        r->sent = true;
        if (!r->received[r->round])
            return;
        if (!reduction_hosts_add(self, r, r->received[r->round])) {
            r->received[r->round] = NULL;
            return;
        }
        r->received[r->round] = NULL;
        r->sent               = false;
    }
    if (ski_block_set_complete(&r->hosts->set))
        reduction_hosts_conclude(self, r);
}

/* Continues after a set of this PE or of one of its children was added. */
static void reduction_hosts_advance(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_tree tree;

    if (r->hosts->missing > 0 || (self->index > 0 && r->sent))
        return;
    if (self->index == 0) {
        reduction_hosts_exchange(self, r);
        return;
    }
    tree    = reduction_hosts_tree(self);
    r->sent = true;
    reduction_hosts_send_set(r, ski_job_pe_at(self->job, ski_tree_parent(&tree)), HOSTS_ROUND_UP);
}

void ski_reduction_hosts_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_reduction *r    = reduction_hosts_record(self, &call->head, call->bytes, self->pe);
    struct ski_set_block  own  = {self->pe, 0, 0};
    char                 *data = ski_malloc(call->bytes + 1);

    ski_assert(ski_block_set_accepts(&r->hosts->set, &own));
    self->collectives->window.in_flight += ski_call_cost(call->bytes);
    r->done = call->done;
    ski_reduction_fill(self, call, 0, data, call->bytes);
    ski_block_set_add(&r->hosts->set, &own, data);
    free(data);
    r->hosts->missing--;
    reduction_hosts_advance(self, r);
}

/* ---- packets ----------------------------------------------------------------------------- */

/* Returns whether the values of a received head are valid and its message has the size of sets or
 * of a result; *@p bytes are those of the elements. */
static bool reduction_hosts_head_valid(const struct ski_pe             *self,
                                       const struct ski_reduction_head *head, size_t rest,
                                       size_t *bytes)
{
    size_t each;

    if (!ski_job_is_mixed(self->job) || !head->all || head->root != 0 ||
        head->algorithm != SKI_REDUCTION_HOSTS || head->want_credit ||
        !ski_op_function((skua_op)head->op, (skua_type)head->type) ||
        head->count > rest >> ski_type_shift((skua_type)head->type) ||
        !ski_reduction_number_valid(self->collectives, head->number))
        return false;
    *bytes = (size_t)head->count << ski_type_shift((skua_type)head->type);
    each   = sizeof(struct ski_set_block) + ski_block_set_stride(*bytes);
    if (head->round == HOSTS_ROUND_DOWN)
        return rest == *bytes;
    return rest >= each && rest % each == 0 && rest / each <= (size_t)self->pes;
}

/* Returns whether this PE expects a set with @p head from @p source. */
static bool reduction_hosts_expects(const struct ski_pe *self, const struct ski_reduction *r,
                                    const struct ski_reduction_head *head, int source)
{
    const struct ski_job *job   = self->job;
    int                   level = head->round, index = ski_job_index(job, source);
    struct ski_tree       tree;

    if (level == HOSTS_ROUND_UP) {
        if (index <= 0 || (r && r->hosts && (r->hosts->missing == 0 || r->sent)))
            return false;
        tree = ski_tree_at(index, job->local_pes, 0, (int)ski_config.tree_arity);
        return ski_tree_parent(&tree) == self->index;
    }
    return self->index == 0 && level < ski_block_levels(job->hosts) &&
           ski_block_sibling(job->host_number, level) < job->hosts &&
           (!r || (level >= (int)r->round && !r->received[level])) &&
           source == reduction_hosts_entry(
                         self, ski_block_delegate(ski_block_sibling(job->host_number, level), level,
                                                  job->host_number, job->hosts));
}

/* Handles the result from the parent. */
static void reduction_hosts_on_result(struct ski_pe *self, skua_msg *msg, size_t bytes)
{
    struct ski_reduction_head *head = ski_reduction_head_of(msg);
    struct ski_reduction      *r    = ski_reduction_find(self->collectives, head->number);
    struct ski_tree            tree = reduction_hosts_tree(self);

    if (self->index == 0 || !r || !r->hosts || !r->sent || !ski_reduction_agrees(r, head, bytes) ||
        msg->source != ski_job_pe_at(self->job, ski_tree_parent(&tree))) {
        ski_net_drop(self, msg);
        return;
    }
    reduction_hosts_finish(self, r, msg);
}

/* Handles the set of a child, or of another host. */
static void reduction_hosts_on_set(struct ski_pe *self, skua_msg *msg, size_t bytes)
{
    const struct ski_reduction_head *head  = ski_reduction_head_of(msg);
    int                              level = head->round;
    struct ski_reduction            *r     = ski_reduction_find(self->collectives, head->number);

    if (!reduction_hosts_expects(self, r, head, msg->source)) {
        ski_net_drop(self, msg);
        return;
    }
    r = reduction_hosts_record(self, head, bytes, msg->source);
    if (level == HOSTS_ROUND_UP) {
        if (!reduction_hosts_add(self, r, msg))
            return;
        r->hosts->missing--;
    } else {
        r->received[level] = msg;
    }
    reduction_hosts_advance(self, r);
}

void ski_on_reduction_hosts(skua_msg *msg)
{
    struct ski_pe                   *self = ski_self;
    const struct ski_reduction_head *head = ski_reduction_head_of(msg);
    size_t                           bytes;

    if (!reduction_hosts_head_valid(self, head, msg->bytes - sizeof *head, &bytes))
        ski_net_drop(self, msg);
    else if (head->round == HOSTS_ROUND_DOWN)
        reduction_hosts_on_result(self, msg, bytes);
    else
        reduction_hosts_on_set(self, msg, bytes);
}
