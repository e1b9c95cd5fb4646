/* SPDX-License-Identifier: Apache-2.0 */
/* reduction_record.c - see reduction_record.h. */
#include "core/collective/reduction_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "core/collective/reduction_slot.h"
#include "core/pe/pe.h"
#include "core/sched/wait_report.h"

/* Describes the call of @p head: "skua_reduce of 3 x double by sum to PE 0". */
static const char *reduction_describe(const struct ski_reduction_head *head, char *text,
                                      size_t room)
{
    int n;

    if (head->barrier) {
        snprintf(text, room, "skua_barrier");
        return text;
    }
    n = snprintf(text, room, "skua_%s of %llu x %s by %s", head->all ? "allreduce" : "reduce",
                 (unsigned long long)head->count, ski_type_name(head->type),
                 ski_op_name((skua_op)head->op));
    if (!head->all)
        snprintf(text + n, room - (size_t)n, " to PE %d", head->root);
    return text;
}

SKI_COLD _Noreturn void ski_reduction_mismatch(const struct ski_reduction      *r,
                                               const struct ski_reduction_head *head, int from)
{
    char text[2][160];

    ski_misuse("collective call %llu differs between PEs: PE %d calls %s, PE %d calls %s; all PEs "
               "make the same collective calls in the same order",
               (unsigned long long)r->head.call + 1, r->head_pe,
               reduction_describe(&r->head, text[0], sizeof text[0]), from,
               reduction_describe(head, text[1], sizeof text[1]));
}

/* Returns whether this PE has made the call of a record. */
static bool reduction_is_made(const void *record)
{
    return ((const struct ski_reduction *)record)->partial != NULL;
}

void ski_reductions_report(const struct ski_pe *self, struct ski_text *text)
{
    const struct ski_reduction *r = ski_number_first(&self->collectives->table, reduction_is_made);
    char                        call[160];

    if (r)
        ski_text_item(text, "call %llu of reductions and barriers, %s, waits for other PEs",
                      (unsigned long long)r->head.call + 1,
                      reduction_describe(&r->head, call, sizeof call));
}

void ski_reduction_link_small(struct ski_pe *self, struct ski_reduction *r, uint64_t call)
{
    struct ski_collectives *c = self->collectives;

    ski_assert(call == c->small_begun);
    r->small       = true;
    r->small_call  = call;
    r->small_next  = NULL;
    r->small_link  = c->small_end;
    *c->small_end  = r;
    c->small_end   = &r->small_next;
    c->small_begun = call + 1;
    if (c->board)
        self->queue.events |= SKI_EVENT_POLLED_0;
}

/* Removes @p r from the small calls in flight.  The oldest of them bounds the slots that senders
 * may write. */
static void reduction_unlink_small(struct ski_pe *self, struct ski_reduction *r)
{
    struct ski_collectives *c = self->collectives;

    ski_assert(*r->small_link == r);
    *r->small_link = r->small_next;
    if (r->small_next)
        r->small_next->small_link = r->small_link;
    else
        c->small_end = r->small_link;
    if (!c->small)
        self->queue.events &= ~(uint32_t)SKI_EVENT_POLLED_0;
    if (c->board)
        ski_board_finish(self, ski_collectives_low(c));
}

void ski_reduction_remove(struct ski_pe *self, struct ski_reduction *r)
{
    if (r->small)
        reduction_unlink_small(self, r);
    ski_assert(ski_reduction_find(self->collectives, r->head.number) == r);
    ski_number_remove(&self->collectives->table, r->head.number);
}

void ski_reduction_recycle(struct ski_collectives *c, struct ski_reduction *r)
{
    r->next         = c->free_records;
    c->free_records = r;
}

void ski_reduction_release(struct ski_pe *self, struct ski_reduction *r)
{
    ski_reduction_remove(self, r);
    ski_reduction_recycle(self->collectives, r);
}

/* Returns the bytes of a record, with a contribution for each round. */
static size_t reduction_record_size(const struct ski_pe *self)
{
    return sizeof(struct ski_reduction) + (size_t)self->collectives->levels * sizeof(skua_msg *);
}

/* Returns an empty record. */
static struct ski_reduction *reduction_new(struct ski_pe *self)
{
    struct ski_collectives *c = self->collectives;
    struct ski_reduction   *r = c->free_records;

    if (r)
        c->free_records = r->next;
    else
        r = ski_malloc(reduction_record_size(self));
    memset(r, 0, offsetof(struct ski_reduction, elements));
    memset(r->received, 0, (size_t)c->levels * sizeof *r->received);
    return r;
}

/* Frees the record of a reduction in flight. */
static void reduction_free(void *record)
{
    ski_reduction_hosts_free(record);
    free(record);
}

void ski_reductions_destroy(struct ski_collectives *c)
{
    ski_number_clear(&c->table, reduction_free);
    while (c->free_records) {
        struct ski_reduction *r = c->free_records;

        c->free_records = r->next;
        free(r);
    }
}

bool ski_reduction_agrees(const struct ski_reduction *r, const struct ski_reduction_head *head,
                          size_t bytes)
{
    return r->head.op == head->op && r->head.type == head->type && r->head.root == head->root &&
           r->head.count == head->count && r->head.all == head->all &&
           r->head.algorithm == head->algorithm && r->head.call == head->call &&
           r->head.barrier == head->barrier && r->bytes == bytes;
}

struct ski_reduction *ski_reduction_get(struct ski_pe *self, const struct ski_reduction_head *head,
                                        size_t bytes, int from)
{
    struct ski_reduction *r = ski_reduction_find(self->collectives, head->number);

    if (r) {
        if (SKI_UNLIKELY(!ski_reduction_agrees(r, head, bytes)))
            ski_reduction_mismatch(r, head, from);
        return r;
    }
    r                   = reduction_new(self);
    r->head             = *head;
    r->head.round       = 0; /* the field describes the message, not the reduction */
    r->head.want_credit = 0;
    r->bytes            = bytes;
    r->head_pe          = from;
    ski_number_add(&self->collectives->table, r->head.number, r);
    return r;
}
