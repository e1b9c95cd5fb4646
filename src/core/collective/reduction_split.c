/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_split.c - large reductions: slices and blocks inside a host, segments between hosts
 * (see reduction.h).
 *
 * Segments.  Each is a reduction of its own (reduction.c) on a part of the elements.  A PE that
 * gets the result has one buffer for the call: its contribution is there first, then partial
 * results, then the result.  The network reads from the buffer and writes into it.  It may write
 * the result of a segment as soon as the result arrives: the contribution of this PE is part of the
 * result, so another PE has received it.  A PE that sends its contribution before it receives any
 * lends the memory of the program, within the call: what the network has not read then is copied.
 *
 * Slices, if all PEs get the result.  Between two exchanges a PE reads and writes the buffers of
 * all PEs, in its slice alone.  The first exchange brings the addresses of the buffers, whose
 * contributions are complete.  A PE joins the second exchange when its slice is done; after
 * that exchange no other PE uses its buffer.  Exchanges consist of messages, which order
 * memory.
 *
 * Blocks, if a root gets the result.  The other PEs may compute for long after their call, so the
 * root does not wait for them: it owns their contributions once it has the addresses.  The root
 * creates a *work descriptor*, announces it to all PEs and begins to work on it.  A PE that
 * receives the announcement claims blocks and combines them until none is left.  The PE that
 * finishes the last block completes the call if it is the root, else it notifies the root.  The
 * last PE that releases the work descriptor frees it.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "core/collective/collective_send.h"
#include "core/pe/builtin.h"
#include "core/sched/completion.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "core/collective/reduction.h"
#include "core/net/net.h"

#define SPLIT_LENT_MAX       ((size_t)4 << 20) /* bytes of a call that is lent, at most     */
#define SPLIT_SHARED_FROM    16384  /* bytes from which a call inside a host is split       */
#define SPLIT_SEGMENTED_FROM 131072 /* bytes from which a call between hosts is split       */
#define SPLIT_PAIR_FROM      262144 /* ... if there are two PEs                             */
#define SPLIT_FEW_FROM       ((size_t)1 << 20) /* ... if PEs are few, and it is as large    */
#define SPLIT_FEW_PES        4      /* PEs that are few                                     */
#define SPLIT_ROOT_FROM      524288 /* ... if the result goes to a root and PEs are many    */
#define SPLIT_ROOT_PES       8      /* PEs that are many                                    */
#define SPLIT_SEGMENTS_MANY  8      /* segments from which on they are twice as long        */
#define SPLIT_HALVED_FROM    4      /* parts of that size from which halving is used ...    */
#define SPLIT_HALVED_TO      4      /* ... and multiples below which, if all PEs get it     */
#define SPLIT_ROOT_HALVED    8      /* parts from which it is used if a root gets it ...    */
#define SPLIT_ROOT_WHOLE     2      /* ... and below which                                  */
#define SPLIT_BLOCK          8192   /* bytes combined at once: fits a cache for several PEs */
#define SPLIT_CLAIM_MAX      32768  /* bytes that a PE claims at once, at most ...          */
#define SPLIT_CLAIM_MIN      1024   /* ... and at least                                     */
#define SPLIT_LINE           64     /* slices and segments end at multiples of this         */

/* A split call in flight. */
struct ski_split {
    struct ski_split         *next;
    struct ski_split        **link; /* the pointer to this call        */
    struct ski_reduction_head head; /* of the call's first reduction   */
    skua_completion           done;
    skua_msg                 *buffer; /* contribution and result, or NULL   */
    size_t                    bytes;
    uint64_t                  unfinished; /* segments that are not over */
    uint64_t                  sending;    /* segments that the network still reads */
    struct split_lent        *lent; /* the segment that is being joined, if it is lent; or NULL  */
};

/* A segment that is sent from the memory of the program, within the call.  What the network has not
 * read when the segment has joined is copied. */
struct split_lent {
    skua_msg            *msg; /* that this is the data of */
    struct ski_split    *split;
    int                  to;      /* the PE that it is sent to                        */
    bool                 sending; /* the network still reads it                       */
    struct ski_net_done *done;    /* of its packet, while that is sent                 */
    skua_msg            *copy;    /* what the network reads; NULL: memory of the program */
};

/* Returns whether both of two PEs have I/O threads, which take half of a packet of 512 KB or more.
 */
static bool split_pair_has_io_threads(void)
{
    return ski_net_has_io_threads(0) && ski_net_has_io_threads(1);
}

/* Returns the bytes from which a call of @p bytes is split.  Many PEs that send to a root pass
 * segments on over several levels, where each further packet costs more than the overlap gains; two
 * PEs pass nothing on.  The segments of large calls of few PEs are packets that I/O threads share;
 * without such threads a root that receives from one PE combines a short segment while the next one
 * arrives. */
static size_t split_threshold(const struct ski_pe *self, bool all, size_t bytes)
{
    if (ski_config.reduce_split)
        return ski_config.reduce_split;
    if (!ski_job_is_distributed(self->job))
        return SPLIT_SHARED_FROM;
    if (self->pes <= SPLIT_FEW_PES && self->pes == self->job->hosts && bytes >= SPLIT_FEW_FROM)
        return all || self->pes > 2 || split_pair_has_io_threads() ? SPLIT_FEW_FROM
                                                                   : SPLIT_SEGMENTED_FROM;
    if (self->pes == 2)
        return SPLIT_PAIR_FROM;
    return all || self->pes < SPLIT_ROOT_PES ? SPLIT_SEGMENTED_FROM : SPLIT_ROOT_FROM;
}

/* Returns the bytes of a segment of a call of @p bytes.  It is a multiple of all types, and a call
 * has at least two segments.  If there are many, fewer packets gain more than a short first
 * segment. */
static size_t split_segment_size(const struct ski_pe *self, bool all, size_t bytes)
{
    size_t least =
        ((split_threshold(self, all, bytes) + 1) / 2 + SPLIT_LINE - 1) / SPLIT_LINE * SPLIT_LINE;

    return bytes / least >= SPLIT_SEGMENTS_MANY ? 2 * least : least;
}

/* Returns whether the size of a call is one for which halving is used. */
static bool split_is_halved(bool all, size_t bytes, size_t threshold)
{
    return all ? bytes >= threshold / SPLIT_HALVED_FROM && bytes / SPLIT_HALVED_TO < threshold
               : bytes >= threshold / SPLIT_ROOT_HALVED && bytes < threshold / SPLIT_ROOT_WHOLE;
}

int ski_split_algorithm(const struct ski_pe *self, const struct ski_reduction_head *head,
                        size_t bytes)
{
    size_t threshold = split_threshold(self, head->all, bytes);
    bool   small     = bytes < threshold;

    if (split_is_halved(head->all, bytes, threshold) && ski_halving_used(self, head))
        return SKI_REDUCTION_HALVED;
    if (small || self->pes == 1 || !ski_op_splits((skua_op)head->op))
        return small && head->all && ski_job_is_mixed(self->job) ? SKI_REDUCTION_HOSTS
                                                                 : SKI_REDUCTION_WHOLE;
    return ski_job_is_distributed(self->job) ? SKI_REDUCTION_SEGMENTED : SKI_REDUCTION_SHARED;
}

uint64_t ski_split_numbers(const struct ski_pe *self, const struct ski_reduction_head *head,
                           size_t bytes)
{
    size_t segment;

    switch (head->algorithm) {
    case SKI_REDUCTION_SEGMENTED:
        segment = split_segment_size(self, head->all, bytes);
        return (bytes + segment - 1) / segment;
    case SKI_REDUCTION_SHARED: return 2; /* a reduction to a root does not use the second */
    default: return 1;
    }
}

/* ---- calls ----------------------------------------------------------------- */

/* Adds a call, with a buffer for its elements if @p buffer. */
static struct ski_split *split_new(struct ski_pe *self, const struct ski_reduction_call *call,
                                   bool buffer)
{
    struct ski_collectives *c     = self->collectives;
    struct ski_split       *split = ski_malloc(sizeof *split);

    *split = (struct ski_split){.next  = c->splits,
                                .link  = &c->splits,
                                .head  = call->head,
                                .done  = call->done,
                                .bytes = call->bytes};
    if (buffer)
        split->buffer = ski_reduction_msg(call->bytes);
    if (c->splits)
        c->splits->link = &split->next;
    return c->splits = split;
}

/* Removes a call from the list of its PE. */
static struct ski_split *split_unlink(struct ski_split *split)
{
    ski_assert(*split->link == split);
    *split->link = split->next;
    if (split->next)
        split->next->link = split->link;
    return split;
}

void ski_splits_destroy(struct ski_collectives *c)
{
    while (c->splits)
        free(split_unlink(c->splits));
}

/* Returns whether this PE gets the result. */
static bool split_result_here(const struct ski_pe *self, const struct ski_split *split)
{
    return split->head.all || split->head.root == self->pe;
}

/* Ends a call; a PE that gets the result completes it. */
static void split_finish(struct ski_pe *self, struct ski_split *split)
{
    split_unlink(split);
    ski_assert(split->buffer || !split_result_here(self, split));
    if (split_result_here(self, split))
        ski_complete_with(split->done, split->buffer);
    else if (split->buffer)
        skua_msg_free(split->buffer);
    free(split);
}

/* ---- segments -------------------------------------------------------------- */

/* Returns the head of the reduction of segment @p i. */
static struct ski_reduction_head split_segment_head(const struct ski_pe    *self,
                                                    const struct ski_split *split, uint64_t i)
{
    struct ski_reduction_head head = split->head;

    head.number += i;
    if (head.all)
        head.root = (int32_t)(i % (uint64_t)self->pes);
    return head;
}

/* Returns the bytes of segment @p i; the last one may be shorter than the others. */
static size_t split_segment_bytes(const struct ski_pe *self, const struct ski_split *split,
                                  uint64_t i)
{
    size_t segment = split_segment_size(self, split->head.all, split->bytes),
           left    = split->bytes - i * segment;

    ski_assert(i * segment < split->bytes);
    return left < segment ? left : segment;
}

/* Returns whether the contribution of this PE is sent from the memory of the program: it is sent as
 * it is, in the first round, and so short that the network accepts most of it at once. */
static bool split_lends(const struct ski_pe *self, const struct ski_split *split)
{
    return !split->buffer && split->bytes <= SPLIT_LENT_MAX && ski_net_split_moves() &&
           !ski_op_prepares((skua_op)split->head.op) &&
           ski_reduction_sends_first(self, &split->head);
}

/* Contributes a segment with @p head and @p bytes from the memory of the program, at @p data.  The
 * call may be over when this returns. */
static void split_join_lent(struct ski_pe *self, struct ski_split *split,
                            const struct ski_reduction_head *head, const char *data, size_t bytes)
{
    skua_msg          *msg  = skua_msg_alloc(sizeof(struct split_lent));
    struct split_lent *lent = skua_msg_data(msg);

    *lent       = (struct split_lent){.msg = msg, .split = split};
    split->lent = lent;
    ski_reduction_join(self, head, split, (char *)(uintptr_t)data, NULL, bytes);
    if (!lent->sending) {
        skua_msg_free(msg);
        return;
    }
    lent->copy = ski_reduction_msg(bytes);
    ski_net_split_move(self, lent->to, lent->done, data, ski_reduction_elements(lent->copy));
}

/* Contributes segment @p i: from the buffer of the call if this PE gets the result, else from the
 * memory of the program or a message of its own. */
static void split_join_segment(struct ski_pe *self, struct ski_split *split,
                               const struct ski_reduction_call *call, uint64_t i)
{
    struct ski_reduction_head head   = split_segment_head(self, split, i);
    size_t                    offset = i * split_segment_size(self, split->head.all, split->bytes);
    size_t                    bytes  = split_segment_bytes(self, split, i);
    skua_msg                 *msg;
    char                     *partial;

    self->collectives->window.in_flight += ski_reduction_cost(self, &head, bytes);
    if (split_lends(self, split)) {
        split_join_lent(self, split, &head, (const char *)call->data + offset, bytes);
        return;
    }
    msg     = split->buffer ? NULL : ski_reduction_msg(bytes);
    partial = ski_reduction_elements(msg ? msg : split->buffer) + (msg ? 0 : offset);
    ski_reduction_fill(self, call, offset, partial, bytes);
    ski_reduction_join(self, &head, split, partial, msg, bytes);
}

/* Begins a call that consists of segments. */
static void split_begin_segments(struct ski_pe *self, const struct ski_reduction_call *call)
{
    bool              here  = call->head.all || call->head.root == self->pe;
    struct ski_split *split = split_new(self, call, here);
    uint64_t          count = ski_split_numbers(self, &call->head, call->bytes);

    split->unfinished = count; /* so the call exists until the last segment has joined */
    for (uint64_t i = 0; i < count; i++)
        split_join_segment(self, split, call, i);
}

char *ski_split_place(const struct ski_pe *self, const struct ski_split *split,
                      const struct ski_reduction_head *head)
{
    uint64_t i = head->number - split->head.number;

    ski_assert(split->buffer);
    return ski_reduction_elements(split->buffer) +
           i * split_segment_size(self, split->head.all, split->bytes);
}

/* Records that the network has read a segment from the buffer of a call.  The end of a call runs
 * code of the program, which must not run within the driver. */
static void split_segment_sent(struct ski_pe *self, void *owner)
{
    struct ski_split *split = owner;

    ski_assert(split->sending > 0);
    if (--split->sending == 0 && split->unfinished == 0)
        skua_send_copy(self->pe, (skua_handler){SKI_HANDLER_REDUCTION_SENT}, &split, sizeof split);
}

void ski_on_reduction_sent(skua_msg *msg)
{
    struct ski_split *split = *(struct ski_split **)skua_msg_data(msg);

    skua_msg_free(msg);
    split_finish(ski_self, split);
}

/* Records that the network has read a segment that was lent.  The memory of the packet is not in
 * use any more. */
static void split_lent_sent(struct ski_pe *self, void *owner)
{
    struct split_lent *lent  = owner;
    struct ski_split  *split = lent->split;

    lent->sending = false;
    if (lent->copy) {
        ski_pool_free(&self->pool, lent->copy);
        ski_pool_free(&self->pool, lent->msg);
    }
    split_segment_sent(self, split);
}

bool ski_split_send(struct ski_pe *self, struct ski_split *split, int pe, uint32_t handler,
                    const struct ski_reduction_head *head, const char *elements)
{
    struct split_lent           *lent   = split->lent;
    struct ski_collective_packet packet = {
        .handler    = handler,
        .head       = head,
        .head_bytes = sizeof *head,
        .data       = elements,
        .bytes      = split_segment_bytes(self, split, head->number - split->head.number),
        .sent       = lent ? split_lent_sent : split_segment_sent,
        .owner      = lent ? (void *)lent : (void *)split,
        .done       = lent ? &lent->done : NULL};

    ski_assert(split->buffer || lent);
    split->lent = NULL;
    if (ski_job_index(self->job, pe) >= 0)
        return false;
    split->sending++; /* split_segment_sent() may be called before the call returns */
    if (lent) {
        lent->to      = pe;
        lent->sending = true;
    }
    if (ski_collective_send(self, pe, &packet))
        return true;
    split->sending--;
    if (lent)
        lent->sending = false;
    return false;
}

/* Ends segment @p i on this PE.  The buffer of the call becomes the program's once the network no
 * longer reads it. */
static void split_segment_done(struct ski_pe *self, struct ski_split *split, uint64_t i)
{
    size_t bytes = split_segment_bytes(self, split, i);

    if (split_result_here(self, split)) /* other PEs receive a credit */
        ski_window_release(&self->collectives->window,
                           ski_reduction_cost(self, &split->head, bytes), "reduction", self->pe);
    ski_assert(split->unfinished > 0);
    if (--split->unfinished == 0 && split->sending == 0)
        split_finish(self, split);
    ski_window_open(self, &self->collectives->window);
}

/* ---- slices ---------------------------------------------------------------- */

/* Joins the exchange of addresses: contributes the one of @p elements. */
static void split_exchange_addresses(struct ski_pe *self, struct ski_split *split,
                                     const char *elements)
{
    size_t    bytes   = (size_t)self->pes * sizeof(uint64_t);
    skua_msg *msg     = ski_reduction_msg(bytes);
    uint64_t *address = (uint64_t *)(void *)ski_reduction_elements(msg);

    memset(address, 0, bytes);
    address[self->pe] = (uintptr_t)elements;
    ski_reduction_join(self, &split->head, split, (char *)address, msg, bytes);
}

/* Begins a call inside a host: contributes the address of this PE's buffer. */
static void split_begin_shared(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_split *split    = split_new(self, call, true);
    char             *elements = ski_reduction_elements(split->buffer);

    self->collectives->window.in_flight += ski_call_cost(call->bytes);
    ski_reduction_fill(self, call, 0, elements, call->bytes);
    if (call->head.all)
        split_exchange_addresses(self, split, elements);
    else
        ski_reduction_contribute_address(self, &call->head, split, elements);
}

/* Checks the addresses of all contributions: whatever another process sends, this one does not
 * write outside of the arena. */
static void split_check_addresses(const struct ski_pe *self, const struct ski_split *split,
                                  const uint64_t *address)
{
    const struct ski_arena *arena = self->job->arena;

    for (int pe = 0; pe < self->pes; pe++) {
        uint64_t at = address[pe] - (uint64_t)arena->base;

        if (at >= arena->bytes || arena->bytes - at < split->bytes)
            ski_fatal(
                "PE %d: the contribution of PE %d to a reduction is outside of the arena; the "
                "packet is corrupt, or this is a bug of the runtime",
                self->pe, pe);
    }
}

/* Returns the PE whose block holds the partial result of the @p count PEs from @p low on: the root
 * if it is one of them and the operator commutes, so that its result needs no copy, else @p low. */
static int64_t split_holder(const struct ski_reduction_head *head, int64_t low, int64_t count)
{
    bool root = !head->all && head->root >= low && head->root < low + count;

    return root && ski_op_commutes((skua_op)head->op) ? head->root : low;
}

/* Combines a block of all contributions into the block of split_holder(), in the order of
 * reduction_order.h. */
static void split_combine_block(const struct ski_pe *self, const struct ski_reduction_head *head,
                                const uint64_t *address, size_t offset, size_t bytes)
{
    skua_type  type  = (skua_type)head->type;
    skua_op_fn fn    = ski_op_function((skua_op)head->op, type);
    size_t     count = bytes / ski_type_size(type);

    ski_assert(fn && bytes <= SPLIT_BLOCK && bytes % ski_type_size(type) == 0);
    for (int64_t step = 1; step < self->pes; step *= 2)
        for (int64_t low = 0; low + step < self->pes; low += 2 * step) {
            int64_t into = split_holder(head, low, 2 * step);
            int64_t from = split_holder(head, into < low + step ? low + step : low, step);

            fn((void *)(uintptr_t)(address[into] + offset),
               (const void *)(uintptr_t)(address[from] + offset), count, type);
        }
}

/* Copies the result of a block, while it is in the cache, to the PEs that get it. */
static void split_copy_block(const struct ski_pe *self, const struct ski_reduction_head *head,
                             const uint64_t *address, size_t offset, size_t bytes)
{
    int64_t holder = split_holder(head, 0, self->pes);
    int     first  = head->all ? 0 : head->root;
    int     last   = head->all ? self->pes - 1 : head->root;

    for (int pe = first; pe <= last; pe++)
        if (pe != holder)
            memcpy((void *)(uintptr_t)(address[pe] + offset),
                   (const void *)(uintptr_t)(address[holder] + offset), bytes);
}

/* Returns the offset at which the slice of @p pe begins, or the end of the elements if @p pe is the
 * number of PEs. */
static size_t split_slice(const struct ski_pe *self, const struct ski_split *split, int pe)
{
    size_t lines = (split->bytes + SPLIT_LINE - 1) / SPLIT_LINE;
    size_t at    = lines / (size_t)self->pes * (size_t)pe;

    at += lines % (size_t)self->pes * (size_t)pe / (size_t)self->pes;
    return at * SPLIT_LINE < split->bytes ? at * SPLIT_LINE : split->bytes;
}

/* Combines the blocks of all contributions from the offset @p at up to @p end. */
static void split_combine_range(const struct ski_pe *self, const struct ski_reduction_head *head,
                                const uint64_t *address, size_t at, size_t end)
{
    for (; at < end; at += SPLIT_BLOCK) {
        size_t bytes = end - at < SPLIT_BLOCK ? end - at : SPLIT_BLOCK;

        split_combine_block(self, head, address, at, bytes);
        split_copy_block(self, head, address, at, bytes);
    }
}

/* Combines the slice of this PE, after all contributions have been made, and joins the second
 * exchange.  @p msg contains the addresses. */
static void split_combine_slice(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    const uint64_t           *address = (const uint64_t *)(const void *)ski_reduction_elements(msg);
    struct ski_reduction_head head    = split->head;

    split_check_addresses(self, split, address);
    split_combine_range(self, &head, address, split_slice(self, split, self->pe),
                        split_slice(self, split, self->pe + 1));
    skua_msg_free(msg);
    head.number++;
    head.algorithm = SKI_REDUCTION_SHARED_DONE;
    msg            = ski_reduction_msg(0);
    ski_reduction_join(self, &head, split, ski_reduction_elements(msg), msg, 0);
}

/* Ends a call whose slices are all done. */
static void split_slices_done(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    skua_msg_free(msg);
    ski_window_release(&self->collectives->window, ski_call_cost(split->bytes), "reduction",
                       self->pe);
    split_finish(self, split);
    ski_window_open(self, &self->collectives->window);
}

/* ---- blocks ---------------------------------------------------------------- */

/* A reduction to a root inside a host; it is the data of a message in the arena. */
struct split_work {
    _Atomic uint64_t          next;  /* offset from which on no block is claimed   */
    _Atomic uint64_t          done;  /* bytes that are combined                    */
    _Atomic int32_t           users; /* PEs that have not released it              */
    struct ski_reduction_head head;
    size_t                    bytes;
    size_t                    claim;     /* bytes that a PE claims at once             */
    struct ski_split         *split;     /* valid on the root only                     */
    uint64_t                  address[]; /* of the contributions, by PE            */
};

/* A packet of SKI_HANDLER_REDUCTION_BLOCKS: to all PEs, and, when the work is done, to the root. */
struct split_work_note {
    skua_msg *work;
    uint64_t  done; /* 1: all blocks are combined */
};

/* Announces a work descriptor to @p pe, or notifies the root that it is @p done. */
static void split_send_note(int pe, skua_msg *work, bool done)
{
    struct split_work_note note = {work, done};

    skua_send_copy(pe, (skua_handler){SKI_HANDLER_REDUCTION_BLOCKS}, &note, sizeof note);
}

/* Releases a work descriptor; the last PE frees it. */
static void split_release_work(skua_msg *msg)
{
    struct split_work *work = skua_msg_data(msg);

    /* Release and acquire: all PEs have read the work descriptor before the last one frees it. */
    if (atomic_fetch_sub_explicit(&work->users, 1, memory_order_acq_rel) == 1)
        skua_msg_free(msg);
}

/* Claims and combines blocks until none is left.  Returns whether this PE finished the last one. */
static bool split_combine_blocks(const struct ski_pe *self, struct split_work *work)
{
    bool last = false;

    for (;;) {
        /* Relaxed: the message that announced the work descriptor orders the contributions. */
        size_t at  = atomic_fetch_add_explicit(&work->next, work->claim, memory_order_relaxed);
        size_t end = at + work->claim < work->bytes ? at + work->claim : work->bytes;

        if (at >= work->bytes)
            return last;
        split_combine_range(self, &work->head, work->address, at, end);
        /* Release and acquire: the PE that completes the sum sees the results of all PEs, and
         * notifies the root. */
        last = atomic_fetch_add_explicit(&work->done, end - at, memory_order_acq_rel) + end - at ==
               work->bytes;
    }
}

/* Ends a call at the root, whose buffer has the result: frees the contributions of the other PEs
 * and sends them credits. */
static void split_work_done(struct ski_pe *self, skua_msg *msg)
{
    struct split_work *work  = skua_msg_data(msg);
    struct ski_split  *split = work->split;
    uint64_t           cost  = ski_call_cost(split->bytes);

    ski_assert(work->head.root == self->pe);
    for (int pe = 0; pe < self->pes; pe++)
        if (pe != self->pe) {
            skua_msg_free((skua_msg *)(uintptr_t)(work->address[pe] - sizeof work->head) - 1);
            ski_window_credit(self, pe, cost, SKI_CREDIT_NOW);
        }
    split_release_work(msg);
    ski_window_release(&self->collectives->window, cost, "reduction", self->pe);
    split_finish(self, split);
    ski_window_open(self, &self->collectives->window);
}

/* Returns the bytes that a PE claims at once: all PEs have work, twice if one of them is late. */
static size_t split_claim_size(const struct ski_pe *self, size_t bytes)
{
    size_t share = bytes / (2 * (size_t)self->pes) / SPLIT_LINE * SPLIT_LINE;

    return share < SPLIT_CLAIM_MIN   ? SPLIT_CLAIM_MIN
           : share > SPLIT_CLAIM_MAX ? SPLIT_CLAIM_MAX
                                     : share;
}

/* Begins a work descriptor at the root, after all addresses have arrived in @p received. */
static void split_begin_work(struct ski_pe *self, struct ski_split *split, skua_msg *received)
{
    size_t             addresses = (size_t)self->pes * sizeof(uint64_t);
    skua_msg          *msg       = skua_msg_alloc(sizeof(struct split_work) + addresses);
    struct split_work *work      = skua_msg_data(msg);

    memcpy(work->address, ski_reduction_elements(received), addresses);
    skua_msg_free(received);
    split_check_addresses(self, split, work->address);
    atomic_init(&work->next, 0);
    atomic_init(&work->done, 0);
    atomic_init(&work->users, self->pes);
    work->head  = split->head;
    work->bytes = split->bytes;
    work->claim = split_claim_size(self, split->bytes);
    work->split = split;
    for (int i = 1; i < self->pes; i++)
        split_send_note((self->pe + i) % self->pes, msg, false);
    if (split_combine_blocks(self, work))
        split_work_done(self, msg);
}

void ski_on_blocks(skua_msg *msg)
{
    struct split_work_note note = *(struct split_work_note *)skua_msg_data(msg);
    struct split_work     *work = skua_msg_data(note.work);

    skua_msg_free(msg);
    if (note.done) {
        split_work_done(ski_self, note.work);
        return;
    }
    if (split_combine_blocks(ski_self, work))
        split_send_note(work->head.root, note.work, true); /* the root has not released it yet */
    split_release_work(note.work);
}

/* Continues a call inside a host.  @p msg contains all addresses; it is NULL on PEs whose address
 * was sent to the root. */
static void split_addresses_done(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    if (split->head.all) {
        split_combine_slice(self, split, msg);
    } else if (msg) {
        split_begin_work(self, split, msg);
    } else {
        split_unlink(split); /* the root owns the contribution */
        free(split);
    }
}

/* ---- calls from reduction.c ------------------------------------------------ */

void ski_split_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    ski_assert(call->head.algorithm == SKI_REDUCTION_SEGMENTED ||
               call->head.algorithm == SKI_REDUCTION_SHARED);
    if (call->head.algorithm == SKI_REDUCTION_SEGMENTED)
        split_begin_segments(self, call);
    else
        split_begin_shared(self, call);
}

void ski_split_done(struct ski_pe *self, struct ski_split *split,
                    const struct ski_reduction_head *head, skua_msg *msg)
{
    switch (head->algorithm) {
    case SKI_REDUCTION_SEGMENTED:
        split_segment_done(self, split, head->number - split->head.number);
        break;
    case SKI_REDUCTION_SHARED: split_addresses_done(self, split, msg); break;
    default: split_slices_done(self, split, msg); break;
    }
}
