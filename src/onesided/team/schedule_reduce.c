/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schedule_reduce.c - schedules of reductions and scans (see schedule.h).
 *
 * A schedule tracks where the partial result is: the operator writes to its first operand, which
 * is the received contribution if that comes from lower ranks, so the partial result changes places
 * with what was received.
 */
#include "base/assert.h"
#include "core/collective/reduction_order.h"
#include "onesided/team/schedule.h"

void ski_step_combine(struct ski_schedule *s, struct ski_position at, struct ski_position from,
                      size_t bytes)
{
    struct ski_step *step = ski_step_add(s, SKI_STEP_COMBINE);

    step->at    = ski_step_at(s, at);
    step->from  = ski_step_at(s, from);
    step->bytes = bytes;
}

void ski_step_contribute(struct ski_schedule *s, const struct ski_plan *plan,
                         struct ski_position to)
{
    if (to.buffer != SKI_TO || !plan->in_place)
        ski_step_copy(s, to, ski_position(SKI_FROM, 0), plan->bytes);
    if (plan->prepare) {
        struct ski_step *step = ski_step_add(s, SKI_STEP_PREPARE);

        step->at    = ski_step_at(s, to);
        step->bytes = plan->bytes;
    }
}

/* Adds the copy of the result to the output, unless it is there. */
static void schedule_deliver(struct ski_schedule *s, struct ski_position result, size_t bytes)
{
    if (result.buffer != SKI_TO)
        ski_step_copy(s, ski_position(SKI_TO, 0), result, bytes);
}

/* A partial result, and memory for what is received. */
struct schedule_partial {
    struct ski_position at, other;
};

/* Adds the combination of the partial result with one that was received in partial->other; @p
 * lower: that comes from lower ranks. */
static void schedule_combine_received(struct ski_schedule *s, const struct ski_plan *plan,
                                      struct schedule_partial *partial, bool lower)
{
    struct ski_position received = partial->other;

    ski_step_add(s, SKI_STEP_FLUSH);
    if (lower) {
        ski_step_combine(s, received, partial->at, plan->bytes);
        partial->other = partial->at;
        partial->at    = received;
    } else {
        ski_step_combine(s, partial->at, received, plan->bytes);
    }
}

/* ---- whole contributions --------------------------------------------------------- */

/* Copies the contribution of this member to memory of the call, which at the root is its output.
 * Returns that memory. */
static struct ski_position schedule_tree_contribute(struct ski_schedule   *s,
                                                    const struct ski_plan *plan)
{
    struct ski_position at =
        plan->rank == plan->root ? ski_position(SKI_TO, 0) : ski_step_temp(s, plan->bytes);

    ski_step_contribute(s, plan, at);
    return at;
}

/* Adds a reduction up the tree of reduction_order.h. */
static void schedule_reduce_tree(struct ski_schedule *s, const struct ski_plan *plan)
{
    int                     levels = ski_block_levels(plan->size), level = 0, parent = plan->rank;
    struct schedule_partial partial = {ski_position(SKI_FROM, 0), ski_position(SKI_TO, 0)};
    bool                    mine    = false; /* the partial result is in memory of the call */

    for (; level < levels; level++) {
        int sibling = ski_block_sibling(plan->rank, level), child;

        parent = ski_block_root_delegate(ski_block_of(plan->rank, level + 1), level + 1, plan->root,
                                         plan->size);
        if (parent != plan->rank)
            break;
        if (sibling >= plan->size)
            continue;
        if (!mine) {
            partial.at    = schedule_tree_contribute(s, plan);
            partial.other = ski_step_temp(s, plan->bytes);
            mine          = true;
        }
        child = ski_block_root_delegate(sibling, level, plan->root, plan->size);
        ski_step_recv(s, child, (uint32_t)level, partial.other, plan->bytes)->reused = true;
        schedule_combine_received(s, plan, &partial, child < plan->rank);
    }
    if (!mine && (plan->prepare || plan->rank == plan->root))
        partial.at = schedule_tree_contribute(s, plan);
    if (parent != plan->rank)
        ski_step_send(s, parent, (uint32_t)level, partial.at, plan->bytes);
    else
        schedule_deliver(s, partial.at, plan->bytes);
}

/* Adds the messages of a round of an exchange: to all members for which this one is the delegate of
 * its block. */
static void schedule_send_round(struct ski_schedule *s, const struct ski_plan *plan,
                                struct ski_position at, int level)
{
    int ignores = ski_block_ignores(plan->rank, level, plan->size), bits = 0;

    do {
        int rank = (plan->rank ^ (1 << level)) | bits;

        if (rank < plan->size)
            ski_step_send(s, rank, (uint32_t)level, at, plan->bytes)->copied = !plan->large;
        bits = (bits - ignores) & ignores; /* the next subset of `ignores` */
    } while (bits);
}

/* Adds an exchange of reduction_order.h, in which all members get the result. */
static void schedule_exchange(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct schedule_partial partial = {ski_position(SKI_TO, 0), ski_step_temp(s, plan->bytes)};

    ski_step_contribute(s, plan, partial.at);
    for (int level = 0; level < ski_block_levels(plan->size); level++) {
        int sibling = ski_block_sibling(plan->rank, level), from;

        if (sibling >= plan->size)
            continue;
        schedule_send_round(s, plan, partial.at, level);
        from = ski_block_delegate(sibling, level, plan->rank, plan->size);
        ski_step_recv(s, from, (uint32_t)level, partial.other, plan->bytes)->reused = true;
        schedule_combine_received(s, plan, &partial, from < plan->rank);
    }
    ski_step_add(s, SKI_STEP_FLUSH);
    schedule_deliver(s, partial.at, plan->bytes);
}

/* ---- slices ------------------------------------------------------------------------ */

/* What the combination of a slice needs. */
struct schedule_slices {
    const struct ski_plan *plan;
    struct ski_position    input; /* this member's contribution            */
    struct ski_position    stack; /* partial results, each of `bytes`      */
    size_t                 at, bytes;
};

/* Returns entry @p depth of the stack of partial results. */
static struct ski_position schedule_stack(const struct schedule_slices *slices, int depth)
{
    ski_assert(depth >= 0);
    return ski_position(SKI_TEMP, slices->stack.at + slices->bytes * (size_t)depth);
}

/* Adds the contribution of @p rank to the slice of this member: pushed onto the stack at @p depth,
 * or, with @p combined, combined with the entry below. */
static void schedule_leaf(struct ski_schedule *s, const struct schedule_slices *slices, int rank,
                          int depth, bool combined)
{
    const struct ski_plan *plan = slices->plan;
    struct ski_position    own  = ski_position(slices->input.buffer, slices->input.at + slices->at);
    struct ski_position    to   = schedule_stack(slices, combined ? depth - 1 : depth);

    if (rank != plan->rank) {
        struct ski_step *step = ski_step_recv(s, rank, (uint32_t)rank, to, slices->bytes);

        step->reused = true;
        if (combined)
            step->action = SKI_STEP_RECV_COMBINE;
    } else if (combined) {
        ski_step_combine(s, to, own, slices->bytes);
    } else {
        ski_step_copy(s, to, own, slices->bytes);
    }
}

/* Adds the combination of all contributions to the slice of this member, which ends in entry 0 of
 * the stack.  After rank r, the stack holds a partial result for each set bit of r + 1: the blocks
 * of reduction_order.h. */
static void schedule_combine_slice(struct ski_schedule *s, const struct schedule_slices *slices)
{
    int depth = 0, size = slices->plan->size;

    for (int rank = 0; rank < size; rank++) {
        schedule_leaf(s, slices, rank, depth, rank & 1);
        for (int bits = rank >> 1; rank & 1 && bits & 1; bits >>= 1, depth--)
            ski_step_combine(s, schedule_stack(slices, depth - 2),
                             schedule_stack(slices, depth - 1), slices->bytes);
        if (!(rank & 1))
            depth++;
    }
    for (; depth > 1; depth--)
        ski_step_combine(s, schedule_stack(slices, depth - 2), schedule_stack(slices, depth - 1),
                         slices->bytes);
}

/* Adds the first part of a large reduction: each member combines one slice of all contributions. */
static struct schedule_slices schedule_begin_slices(struct ski_schedule   *s,
                                                    const struct ski_plan *plan)
{
    struct schedule_slices slices = {.plan = plan, .input = ski_position(SKI_FROM, 0)};
    int                    levels = ski_block_levels(plan->size);

    slices.at    = ski_slice(plan, plan->rank);
    slices.bytes = ski_slice(plan, plan->rank + 1) - slices.at;
    if (plan->prepare) {
        slices.input = ski_step_temp(s, plan->bytes);
        ski_step_contribute(s, plan, slices.input);
    }
    slices.stack = ski_step_temp(s, slices.bytes * ((size_t)levels + 1));
    for (int i = 1; i < plan->size; i++) {
        int    rank = ski_rank_after(plan, i);
        size_t at   = ski_slice(plan, rank);

        ski_step_send(s, rank, (uint32_t)plan->rank,
                      ski_position(slices.input.buffer, slices.input.at + at),
                      ski_slice(plan, rank + 1) - at);
    }
    schedule_combine_slice(s, &slices);
    return slices;
}

/* Adds the transfer of the combined slice of this member to member @p rank. */
static void schedule_send_slice(struct ski_schedule *s, const struct schedule_slices *slices,
                                int rank)
{
    ski_step_send(s, rank, (uint32_t)(slices->plan->size + slices->plan->rank), slices->stack,
                  slices->bytes);
}

/* Adds the receipt of the combined slices of all other members. */
static void schedule_recv_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    for (int i = 1; i < plan->size; i++) {
        int    rank = ski_rank_before(plan, i);
        size_t at   = ski_slice(plan, rank);

        /* In place, the contribution is there until its slice is combined. */
        ski_step_recv(s, rank, (uint32_t)(plan->size + rank), ski_position(SKI_TO, at),
                      ski_slice(plan, rank + 1) - at)
            ->reused = true;
    }
}

/* Adds a large reduction to the root. */
static void schedule_reduce_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct schedule_slices slices = schedule_begin_slices(s, plan);

    if (plan->rank != plan->root) {
        schedule_send_slice(s, &slices, plan->root);
        return;
    }
    ski_step_copy(s, ski_position(SKI_TO, slices.at), slices.stack, slices.bytes);
    schedule_recv_slices(s, plan);
}

/* Adds a large reduction to all members: the slices go directly to all members (near), or around a
 * ring. */
static void schedule_allreduce_slices(struct ski_schedule *s, const struct ski_plan *plan)
{
    struct schedule_slices slices = schedule_begin_slices(s, plan);
    int                    next = ski_rank_after(plan, 1), previous = ski_rank_before(plan, 1);

    for (int i = 1; plan->near && i < plan->size; i++)
        schedule_send_slice(s, &slices, ski_rank_after(plan, i));
    ski_step_copy(s, ski_position(SKI_TO, slices.at), slices.stack, slices.bytes);
    if (plan->near)
        schedule_recv_slices(s, plan);
    for (int i = 0; !plan->near && i + 1 < plan->size; i++) {
        int      sent = ski_rank_before(plan, i), received = ski_rank_before(plan, i + 1);
        size_t   at  = ski_slice(plan, sent);
        uint32_t tag = (uint32_t)(plan->size + i);

        ski_step_send(s, next, tag, ski_position(SKI_TO, at), ski_slice(plan, sent + 1) - at);
        at = ski_slice(plan, received);
        ski_step_recv(s, previous, tag, ski_position(SKI_TO, at),
                      ski_slice(plan, received + 1) - at)
            ->reused = true;
    }
}

/* ---- reductions and scans --------------------------------------------------------- */

void ski_schedule_reduce(struct ski_schedule *s, const struct ski_plan *plan)
{
    ski_assert((unsigned)plan->root < (unsigned)plan->size);
    if (plan->hosts && ski_schedule_hosts_reduce(s, plan))
        return;
    if (plan->large && plan->element && plan->size > 1)
        schedule_reduce_slices(s, plan);
    else
        schedule_reduce_tree(s, plan);
}

void ski_schedule_allreduce(struct ski_schedule *s, const struct ski_plan *plan)
{
    ski_assert((unsigned)plan->rank < (unsigned)plan->size);
    if (plan->hosts && ski_schedule_hosts_allreduce(s, plan))
        return;
    if (plan->large && plan->element && plan->size > 1)
        schedule_allreduce_slices(s, plan);
    else
        schedule_exchange(s, plan);
}

/* A scan in progress.  Temporary memory is reserved when it is needed: rank 0 needs none. */
struct schedule_scan {
    struct ski_position partial;   /* of the last 2^k ranks up to this one */
    struct ski_position received;  /* what arrives */
    struct ski_position exclusive; /* of all of them but this one */
    struct ski_position spare;     /* for the next `exclusive` */
    bool                any;       /* `exclusive` has a value */
};

/* Adds the combination of what was received with the exclusive result. */
static void schedule_scan_exclusive(struct ski_schedule *s, const struct ski_plan *plan,
                                    struct schedule_scan *scan)
{
    struct ski_position old = scan->exclusive;

    if (!scan->any)
        scan->spare = ski_step_temp(s, plan->bytes);
    ski_step_copy(s, scan->spare, scan->received, plan->bytes);
    if (scan->any)
        ski_step_combine(s, scan->spare, old, plan->bytes);
    scan->exclusive = scan->spare;
    scan->spare     = scan->any ? old : ski_step_temp(s, plan->bytes);
    scan->any       = true;
}

/* Adds the receipt of the partial result of the rank @p far below, and its combination. */
static void schedule_scan_round(struct ski_schedule *s, const struct ski_plan *plan,
                                struct schedule_scan *scan, int64_t far, uint32_t tag,
                                bool exclusive)
{
    struct ski_position old = scan->partial;

    if (far == 1)
        scan->received = ski_step_temp(s, plan->bytes);
    ski_step_recv(s, (int)(plan->rank - far), tag, scan->received, plan->bytes)->reused = true;
    ski_step_add(s, SKI_STEP_FLUSH);
    if (exclusive)
        schedule_scan_exclusive(s, plan, scan);
    ski_step_combine(s, scan->received, old, plan->bytes);
    scan->partial  = scan->received;
    scan->received = old.buffer == SKI_TEMP ? old : ski_step_temp(s, plan->bytes);
}

/* Adds a scan by recursive doubling. */
static void schedule_scan_doubling(struct ski_schedule *s, const struct ski_plan *plan,
                                   bool exclusive)
{
    struct schedule_scan scan = {.partial = ski_position(SKI_FROM, 0)};
    uint32_t             tag  = 0;

    if (plan->prepare) {
        scan.partial = ski_step_temp(s, plan->bytes);
        ski_step_contribute(s, plan, scan.partial);
    }
    for (int64_t far = 1; far < plan->size; far *= 2, tag++) {
        if (plan->rank + far < plan->size)
            ski_step_send(s, (int)(plan->rank + far), tag, scan.partial, plan->bytes)->copied =
                !plan->large;
        if (plan->rank >= far)
            schedule_scan_round(s, plan, &scan, far, tag, exclusive);
    }
    if (plan->in_place)
        ski_step_add(s, SKI_STEP_FLUSH); /* what was lent may be the output */
    if (exclusive && scan.any)
        schedule_deliver(s, scan.exclusive, plan->bytes);
    else if (!exclusive && !(plan->in_place && scan.partial.buffer == SKI_FROM))
        schedule_deliver(s, scan.partial, plan->bytes);
}

/* ---- scans of few members: a chain -------------------------------------------------- */

#define SCHEDULE_CHAIN_NEAR ((size_t)16 << 10) /* bytes of a segment inside a host ... */
#define SCHEDULE_CHAIN_FAR  ((size_t)64 << 10) /* ... and else; all types divide both  */

/* A scan along a chain. */
struct schedule_chain {
    struct ski_position own;    /* this member's contribution */
    struct ski_position result; /* of the lower ranks, and for a scan of this one as well */
    struct ski_position next;   /* for an exscan: what goes to the next rank */
    bool                exclusive;
};

/* Returns whether segments that fit into a window are sent as copies.  Inside a host the next
 * member combines a segment at once, which it reads sooner from a message than from memory that is
 * lent; with two members no third one waits for it. */
static bool schedule_chain_is_eager(const struct ski_plan *plan)
{
    return plan->near && plan->size > 2;
}

/* Adds segment @p tag, which begins at @p at, of a member that is not the first. */
static void schedule_chain_segment(struct ski_schedule *s, const struct ski_plan *plan,
                                   const struct schedule_chain *chain, uint32_t tag, size_t at,
                                   size_t bytes)
{
    struct ski_position own    = ski_position(chain->own.buffer, chain->own.at + at);
    struct ski_position result = ski_position(chain->result.buffer, chain->result.at + at);
    struct ski_position sent =
        chain->exclusive ? ski_position(SKI_TEMP, chain->next.at + at) : result;
    bool last = plan->rank + 1 == plan->size;

    ski_step_recv(s, plan->rank - 1, tag, result, bytes);
    if (chain->exclusive && !last)
        ski_step_copy(s, sent, result, bytes);
    if (!chain->exclusive || !last)
        ski_step_combine(s, sent, own, bytes);
    if (!last)
        ski_step_send(s, plan->rank + 1, tag, sent, bytes)->eager = schedule_chain_is_eager(plan);
    if (plan->in_place)
        ski_step_copy(s, ski_position(SKI_TO, at), result, bytes);
}

/* Returns where segments end up: the output, unless the contribution is there. */
static struct schedule_chain schedule_chain_memory(struct ski_schedule   *s,
                                                   const struct ski_plan *plan, bool exclusive)
{
    struct schedule_chain chain = {.own = ski_position(SKI_FROM, 0), .exclusive = exclusive};

    if (plan->prepare) {
        chain.own = ski_step_temp(s, plan->bytes);
        ski_step_contribute(s, plan, chain.own);
    }
    chain.result =
        plan->in_place && plan->rank > 0 ? ski_step_temp(s, plan->bytes) : ski_position(SKI_TO, 0);
    if (exclusive && plan->rank > 0 && plan->rank + 1 < plan->size)
        chain.next = ski_step_temp(s, plan->bytes);
    return chain;
}

/* Adds a scan in which each member waits for the one below: one message for each, whose segments
 * are in flight along the whole chain at once. */
static void schedule_scan_chain(struct ski_schedule *s, const struct ski_plan *plan, bool exclusive)
{
    struct schedule_chain chain = schedule_chain_memory(s, plan, exclusive);
    size_t                part  = plan->near ? SCHEDULE_CHAIN_NEAR : SCHEDULE_CHAIN_FAR;
    bool     combined = plan->size > 2 || !exclusive; /* an exscan of two members is one copy */
    size_t   most     = plan->large && plan->element && combined ? part : plan->bytes;
    uint32_t tag      = 0;

    for (size_t at = 0; tag == 0 || at < plan->bytes; at += most, tag++) {
        size_t bytes = plan->bytes - at < most ? plan->bytes - at : most;

        if (plan->rank > 0)
            schedule_chain_segment(s, plan, &chain, tag, at, bytes);
        else if (plan->size > 1)
            ski_step_send(s, 1, tag, ski_position(chain.own.buffer, chain.own.at + at), bytes)
                ->eager = schedule_chain_is_eager(plan);
    }
    if (plan->rank == 0 && !exclusive && !(plan->in_place && chain.own.buffer == SKI_FROM)) {
        if (plan->in_place)
            ski_step_add(s, SKI_STEP_FLUSH); /* what was lent may be the output */
        schedule_deliver(s, chain.own, plan->bytes);
    }
}

void ski_schedule_scan(struct ski_schedule *s, const struct ski_plan *plan, bool exclusive)
{
    if (plan->size <= SKI_SCHEDULE_CHAIN_MAX)
        schedule_scan_chain(s, plan, exclusive);
    else
        schedule_scan_doubling(s, plan, exclusive);
}
