/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction_split.c - large reductions: slices inside a host, segments between hosts (see
 * reduction.h).
 *
 * Slices, for all.  A PE writes to memory of other PEs between two exchanges: the first brings
 * the addresses, so contributions are complete; the second, which it joins when its slice is done,
 * tells each PE that its memory is its own again.  Exchanges are messages, which order memory.
 *
 * Blocks, for a root.  Other PEs may compute for long after their call, so nothing waits for them:
 * their contributions belong to the root from the moment that it has the addresses.  It makes a
 * *task* of them, tells all PEs of it, and begins.  A PE that comes takes the next block of the
 * task, until there is none; the PE that is done with the last one completes the call, or tells the
 * root to. The task is freed by the last PE that has looked at it.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "core/pe/builtin.h"
#include "core/sched/completion.h"
#include "core/pe/handler.h"
#include "core/message/message.h"
#include "core/collective/reduction.h"

#define SLICES_FROM   16384  /* bytes: smaller calls go whole, inside a host ... */
#define SEGMENTS_FROM 131072 /* ... and between hosts */
#define SEGMENTS_MANY 8      /* segments: from here on they are twice as long */
#define BLOCK         8192   /* of a slice, of each PE: several of them stay in the cache */
#define TAKEN         4      /* blocks that are taken at once */
#define LINE          64     /* slices end at multiples of it, and of all types */

/* A large call in flight. */
struct ski_split {
    struct ski_split         *next, **at;
    struct ski_reduction_head head; /* of the call: of its first reduction */
    skua_completion           done;
    skua_msg                 *buffer; /* contribution and result; NULL where there is none */
    size_t                    bytes;
    uint64_t                  left; /* reductions that are not over */
};

static size_t split_from(const struct ski_pe *self)
{
    size_t usual = ski_job_spread(self->job) ? SEGMENTS_FROM : SLICES_FROM;

    return ski_config.reduce_split ? ski_config.reduce_split : usual;
}

/* Bytes of a segment of a call of @p bytes: there are two at least, and each is a multiple of all
 * types.  Where there are many, fewer packets are worth more than an early begin. */
static size_t split_segment(const struct ski_pe *self, size_t bytes)
{
    size_t least = (split_from(self) / 2 + LINE - 1) / LINE * LINE;

    return bytes / least >= SEGMENTS_MANY ? 2 * least : least;
}

int ski_split_way(const struct ski_pe *self, const struct ski_reduction_head *head, size_t bytes)
{
    if (bytes < split_from(self) || self->pes == 1 || !ski_op_splits((skua_op){head->op}))
        return SKI_WAY_WHOLE;
    return ski_job_spread(self->job) ? SKI_WAY_SEGMENT : SKI_WAY_EXPOSE;
}

uint64_t ski_split_numbers(const struct ski_pe *self, int way, size_t bytes)
{
    switch (way) {
    case SKI_WAY_SEGMENT:
        return (bytes + split_segment(self, bytes) - 1) / split_segment(self, bytes);
    case SKI_WAY_EXPOSE: return 2; /* to a root: the second is not used */
    default: return 1;
    }
}

/* ---- calls ----------------------------------------------------------------- */

static struct ski_split *split_new(struct ski_pe *self, const struct ski_reduction_call *call,
                                   bool buffer)
{
    struct ski_collectives *c     = self->collectives;
    struct ski_split       *split = ski_malloc(sizeof *split);

    *split = (struct ski_split){.next  = c->splits,
                                .at    = &c->splits,
                                .head  = call->head,
                                .done  = call->done,
                                .bytes = call->bytes};
    if (buffer)
        split->buffer = ski_reduction_msg(call->bytes);
    if (c->splits)
        c->splits->at = &split->next;
    return c->splits = split;
}

static struct ski_split *split_unlink(struct ski_split *split)
{
    *split->at = split->next;
    if (split->next)
        split->next->at = split->at;
    return split;
}

void ski_splits_destroy(struct ski_collectives *c)
{
    while (c->splits)
        free(split_unlink(c->splits));
}

static bool split_result_here(const struct ski_pe *self, const struct ski_split *split)
{
    return split->head.all || split->head.root == self->pe;
}

static void split_finish(struct ski_pe *self, struct ski_split *split)
{
    split_unlink(split);
    if (split_result_here(self, split))
        ski_complete_with(split->done, split->buffer);
    else if (split->buffer)
        skua_msg_free(split->buffer);
    free(split);
}

/* ---- segments -------------------------------------------------------------- */

/* The reduction of segment @p i, and its bytes. */
static struct ski_reduction_head split_segment_head(const struct ski_pe    *self,
                                                    const struct ski_split *split, uint64_t i)
{
    struct ski_reduction_head head = split->head;

    head.number += i;
    if (head.all)
        head.root = (int32_t)(i % (uint64_t)self->pes);
    return head;
}

static size_t split_segment_bytes(const struct ski_pe *self, const struct ski_split *split,
                                  uint64_t i)
{
    size_t segment = split_segment(self, split->bytes), left = split->bytes - i * segment;

    return left < segment ? left : segment;
}

static void split_join_segment(struct ski_pe *self, struct ski_split *split,
                               const struct ski_reduction_call *call, uint64_t i)
{
    struct ski_reduction_head head   = split_segment_head(self, split, i);
    size_t                    offset = i * split_segment(self, split->bytes);
    size_t                    bytes  = split_segment_bytes(self, split, i);
    bool                      stays  = head.root == self->pe && !head.all;
    skua_msg                 *msg    = stays ? NULL : ski_reduction_msg(bytes);
    char *mine = ski_reduction_elements(msg ? msg : split->buffer) + (msg ? 0 : offset);

    self->collectives->in_flight += ski_call_cost(bytes);
    ski_reduction_fill(call, offset, mine, bytes);
    ski_reduction_join(self, &head, split, mine, msg, bytes);
}

static void split_begin_segments(struct ski_pe *self, const struct ski_reduction_call *call)
{
    bool              here  = call->head.all || call->head.root == self->pe;
    struct ski_split *split = split_new(self, call, here);
    uint64_t          count = ski_split_numbers(self, SKI_WAY_SEGMENT, call->bytes);

    split->left = count; /* it is there until the last has joined */
    for (uint64_t i = 0; i < count; i++)
        split_join_segment(self, split, call, i);
}

char *ski_split_place(const struct ski_pe *self, const struct ski_split *split,
                      const struct ski_reduction_head *head)
{
    uint64_t i = head->number - split->head.number;

    return ski_reduction_elements(split->buffer) + i * split_segment(self, split->bytes);
}

static void split_segment_done(struct ski_pe *self, struct ski_split *split, uint64_t i)
{
    size_t bytes = split_segment_bytes(self, split, i);

    if (split_result_here(self, split)) /* elsewhere a credit comes */
        ski_window_release(self, ski_call_cost(bytes), "reduction", self->pe);
    if (--split->left == 0)
        split_finish(self, split);
    ski_window_open(self);
}

/* ---- slices ---------------------------------------------------------------- */

static void split_begin_slices(struct ski_pe *self, const struct ski_reduction_call *call)
{
    struct ski_split *split    = split_new(self, call, true);
    char             *elements = ski_reduction_elements(split->buffer);
    size_t            bytes    = (size_t)self->pes * sizeof(uint64_t);
    skua_msg         *msg      = ski_reduction_msg(bytes);
    uint64_t         *address  = (uint64_t *)(void *)ski_reduction_elements(msg);

    self->collectives->in_flight += ski_call_cost(call->bytes);
    ski_reduction_fill(call, 0, elements, call->bytes);
    memset(address, 0, bytes);
    address[self->pe] = (uintptr_t)elements;
    ski_reduction_join(self, &split->head, split, (char *)address, msg, bytes);
}

/* The contributions of all PEs, checked: whatever another process says, this one does not
 * write outside of the arena. */
static void split_check(const struct ski_pe *self, const struct ski_split *split,
                        const uint64_t *address)
{
    const struct ski_arena *arena = self->job->arena;

    for (int pe = 0; pe < self->pes; pe++) {
        uint64_t at = address[pe] - (uint64_t)arena->base;

        if (at >= arena->bytes || arena->bytes - at < split->bytes)
            ski_fatal("PE %d has its part of a reduction outside of the arena", pe);
    }
}

/* One block of all contributions: combined into that of PE 0, as reduction_order.h says. */
static void split_combine_block(const struct ski_pe *self, const struct ski_reduction_head *head,
                                const uint64_t *address, size_t offset, size_t bytes)
{
    skua_type  type  = (skua_type)head->type;
    skua_op_fn fn    = ski_op_function((skua_op){head->op}, type);
    size_t     count = bytes / ski_type_size(type);

    for (int64_t step = 1; step < self->pes; step *= 2)
        for (int64_t low = 0; low + step < self->pes; low += 2 * step)
            fn((void *)(uintptr_t)(address[low] + offset),
               (const void *)(uintptr_t)(address[low + step] + offset), count, type);
}

/* The result of a block, while it is in the cache, to those that get it. */
static void split_spread_block(const struct ski_pe *self, const struct ski_reduction_head *head,
                               const uint64_t *address, size_t offset, size_t bytes)
{
    int first = head->all ? 1 : head->root;
    int last  = head->all ? self->pes - 1 : head->root;

    for (int pe = first; pe <= last; pe++)
        if (pe > 0)
            memcpy((void *)(uintptr_t)(address[pe] + offset),
                   (const void *)(uintptr_t)(address[0] + offset), bytes);
}

/* Where the slice of @p pe begins. */
static size_t split_slice(const struct ski_pe *self, const struct ski_split *split, int pe)
{
    size_t lines = (split->bytes + LINE - 1) / LINE;
    size_t at    = lines / (size_t)self->pes * (size_t)pe;

    at += lines % (size_t)self->pes * (size_t)pe / (size_t)self->pes;
    return at * LINE < split->bytes ? at * LINE : split->bytes;
}

/* Some blocks of all contributions, up to @p end. */
static void split_combine_range(const struct ski_pe *self, const struct ski_reduction_head *head,
                                const uint64_t *address, size_t at, size_t end)
{
    for (; at < end; at += BLOCK) {
        size_t bytes = end - at < BLOCK ? end - at : BLOCK;

        split_combine_block(self, head, address, at, bytes);
        split_spread_block(self, head, address, at, bytes);
    }
}

/* All contributions are there: this PE's slice of them, then the second exchange. */
static void split_combine_slice(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    const uint64_t           *address = (const uint64_t *)(const void *)ski_reduction_elements(msg);
    struct ski_reduction_head head    = split->head;

    split_check(self, split, address);
    split_combine_range(self, &head, address, split_slice(self, split, self->pe),
                        split_slice(self, split, self->pe + 1));
    skua_msg_free(msg);
    head.number++;
    head.way = SKI_WAY_COMBINED;
    msg      = ski_reduction_msg(0);
    ski_reduction_join(self, &head, split, ski_reduction_elements(msg), msg, 0);
}

static void split_combined(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    skua_msg_free(msg);
    ski_window_release(self, ski_call_cost(split->bytes), "reduction", self->pe);
    split_finish(self, split);
    ski_window_open(self);
}

/* ---- blocks ---------------------------------------------------------------- */

/* What a root has to combine, in a message of its own. */
struct task {
    _Atomic uint64_t          next;  /* bytes from there on are not taken          */
    _Atomic uint64_t          done;  /* bytes that are combined                    */
    _Atomic int32_t           users; /* PEs that have not looked at it, or do      */
    struct ski_reduction_head head;
    size_t                    bytes;
    struct ski_split         *split; /* the root's own affair */
    uint64_t                  address[];
};

/* What is sent of a task: to helpers, and, when it is done, to the root. */
struct split_note {
    skua_msg *task;
    uint64_t  done;
};

static void split_tell(int pe, skua_msg *task, bool done)
{
    struct split_note note = {task, done};

    skua_send_copy(pe, (skua_handler){SKI_HANDLER_BLOCKS}, &note, sizeof note);
}

static void split_leave_task(skua_msg *msg)
{
    struct task *task = skua_msg_data(msg);

    /* Release and acquire: all have read it before the last one frees it. */
    if (atomic_fetch_sub_explicit(&task->users, 1, memory_order_acq_rel) == 1)
        skua_msg_free(msg);
}

/* Takes blocks until there are none; whether this PE was done with the last one. */
static bool split_help(const struct ski_pe *self, struct task *task)
{
    bool last = false;

    for (;;) {
        /* Relaxed: contributions came with the message that brought the task. */
        size_t at  = atomic_fetch_add_explicit(&task->next, TAKEN * BLOCK, memory_order_relaxed);
        size_t end = at + TAKEN * BLOCK < task->bytes ? at + TAKEN * BLOCK : task->bytes;

        if (at >= task->bytes)
            return last;
        split_combine_range(self, &task->head, task->address, at, end);
        /* Release what was written, acquire what others wrote: the PE that sees the sum complete
         * sees all results, and tells the root. */
        last = atomic_fetch_add_explicit(&task->done, end - at, memory_order_acq_rel) + end - at ==
               task->bytes;
    }
}

/* At the root: the result is in its buffer; contributions of others are freed, and they hear of
 * it. */
static void split_task_done(struct ski_pe *self, skua_msg *msg)
{
    struct task      *task  = skua_msg_data(msg);
    struct ski_split *split = task->split;
    uint64_t          cost  = ski_call_cost(split->bytes);

    for (int pe = 0; pe < self->pes; pe++)
        if (pe != self->pe) {
            skua_msg_free((skua_msg *)(uintptr_t)(task->address[pe] - sizeof task->head) - 1);
            ski_window_credit(self, pe, cost, true);
        }
    split_leave_task(msg);
    ski_window_release(self, cost, "reduction", self->pe);
    split_finish(self, split);
    ski_window_open(self);
}

/* At the root: all addresses are here. */
static void split_begin_task(struct ski_pe *self, struct ski_split *split, skua_msg *in)
{
    size_t       addresses = (size_t)self->pes * sizeof(uint64_t);
    skua_msg    *msg       = skua_msg_alloc(sizeof(struct task) + addresses);
    struct task *task      = skua_msg_data(msg);

    memcpy(task->address, ski_reduction_elements(in), addresses);
    skua_msg_free(in);
    split_check(self, split, task->address);
    atomic_init(&task->next, 0);
    atomic_init(&task->done, 0);
    atomic_init(&task->users, self->pes);
    task->head  = split->head;
    task->bytes = split->bytes;
    task->split = split;
    for (int i = 1; i < self->pes; i++)
        split_tell((self->pe + i) % self->pes, msg, false);
    if (split_help(self, task))
        split_task_done(self, msg);
}

void ski_on_blocks(skua_msg *msg)
{
    struct split_note note = *(struct split_note *)skua_msg_data(msg);
    struct task      *task = skua_msg_data(note.task);

    skua_msg_free(msg);
    if (note.done) {
        split_task_done(ski_self, note.task);
        return;
    }
    if (split_help(ski_self, task))
        split_tell(task->head.root, note.task, true); /* it is there until the root has left it */
    split_leave_task(note.task);
}

/* The addresses have gone on, or all are here. */
static void split_exposed(struct ski_pe *self, struct ski_split *split, skua_msg *msg)
{
    if (split->head.all) {
        split_combine_slice(self, split, msg);
    } else if (msg) {
        split_begin_task(self, split, msg);
    } else {
        split_unlink(split); /* the contribution is the root's */
        free(split);
    }
}

/* ---- for reduction.c ------------------------------------------------------- */

void ski_split_begin(struct ski_pe *self, const struct ski_reduction_call *call)
{
    if (call->head.way == SKI_WAY_SEGMENT)
        split_begin_segments(self, call);
    else
        split_begin_slices(self, call);
}

void ski_split_done(struct ski_pe *self, struct ski_split *split,
                    const struct ski_reduction_head *head, skua_msg *msg)
{
    switch (head->way) {
    case SKI_WAY_SEGMENT: split_segment_done(self, split, head->number - split->head.number); break;
    case SKI_WAY_EXPOSE: split_exposed(self, split, msg); break;
    default: split_combined(self, split, msg); break;
    }
}
