/* SPDX-License-Identifier: Apache-2.0 */
/* rma_backlog.c - see rma_backlog.h. */
#include "onesided/rma/rma_backlog.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "onesided/rma/iov.h"
#include "onesided/rma/rma_pe.h"

/* An operation that waits.  The data of its signal are after it. */
struct ski_rma_waiting {
    struct ski_rma_waiting *next;
    struct ski_rma_issue    issue; /* refers to the copies that follow */
    struct ski_rma_op       op;
    struct ski_atomic       atomic;
    skua_update             accumulate;
    uint64_t                scale[2];
    skua_rma_params         params;
    bool                    strict;
    skua_block             *blocks; /* of both sides of its layout, or NULL */
};

bool ski_rma_backlog_needed(const struct ski_outstanding *on, const skua_rma_params *params)
{
    return on->backlog > 0 || on->rma > 0 ||
           (on->deferred > 0 && ski_op_params_order(params) == SKUA_ORDER_STRICT);
}

static void rma_backlog_copy_accumulate(struct ski_rma_waiting *w)
{
    w->accumulate = *w->op.accumulate;
    if (w->accumulate.scale)
        w->accumulate.scale = memcpy(w->scale, w->accumulate.scale, w->op.element);
    w->op.accumulate = &w->accumulate;
}

/* Copies the blocks of both sides; the program may change its layouts when its call returns. */
static void rma_backlog_copy_layout(struct ski_rma_waiting *w)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    size_t              count = 0;

    ski_iov_iter_begin(&iter, &w->op.datatype);
    while (ski_iov_iter_next(&iter, &iov))
        count++;
    w->blocks = ski_malloc((2 * count + 1) * sizeof *w->blocks);
    ski_iov_iter_begin(&iter, &w->op.datatype);
    for (size_t i = 0; ski_iov_iter_next(&iter, &iov); i++) {
        w->blocks[i]         = (skua_block){iov.local - w->op.datatype.local, iov.bytes};
        w->blocks[count + i] = (skua_block){iov.remote, iov.bytes};
    }
    w->op.datatype = (struct ski_datatype){.kind  = SKI_DATATYPE_LIST,
                                           .local = w->op.datatype.local,
                                           .count = count,
                                           .list  = {w->blocks, w->blocks + count}};
}

static void rma_backlog_free_one(struct ski_rma_waiting *w)
{
    free(w->blocks);
    free(w);
}

/* Copies an operation with all that it refers to, except for its data. */
static struct ski_rma_waiting *rma_backlog_copy(const struct ski_rma_issue *issue)
{
    const skua_rma_params  *params = issue->params;
    size_t                  signal = params && params->signal.id ? params->signal_bytes : 0;
    struct ski_rma_waiting *w      = ski_malloc(sizeof *w + signal);

    *w          = (struct ski_rma_waiting){.issue  = *issue,
                                           .op     = *issue->op,
                                           .strict = ski_op_params_order(params) == SKUA_ORDER_STRICT};
    w->issue.op = &w->op;
    if (w->op.atomic) {
        w->atomic    = *w->op.atomic;
        w->op.atomic = &w->atomic;
    }
    if (params) {
        w->params       = *params;
        w->issue.params = &w->params;
    }
    if (signal)
        w->params.signal_data = memcpy(w + 1, params->signal_data, signal);
    if (w->op.accumulate)
        rma_backlog_copy_accumulate(w);
    if (w->op.datatype.kind != SKI_DATATYPE_CONTIGUOUS)
        rma_backlog_copy_layout(w);
    return w;
}

void ski_rma_backlog_add(struct ski_outstanding *on, const struct ski_rma_issue *issue)
{
    struct ski_rma_waiting *w = rma_backlog_copy(issue);

    if (on->backlog++ == 0)
        on->backlog_first = w;
    else
        on->backlog_last->next = w;
    on->backlog_last = w;
}

void ski_rma_backlog_add_first(struct ski_outstanding *on, const struct ski_rma_issue *issue)
{
    struct ski_rma_waiting *w = rma_backlog_copy(issue);

    if (on->backlog++ == 0)
        on->backlog_last = w;
    else
        w->next = on->backlog_first;
    on->backlog_first = w;
}

/* ---- room ----------------------------------------------------------------------- */

void ski_rma_backlog_want_room(struct ski_pe *self, struct ski_outstanding *on)
{
    struct ski_rma_pe *rma = ski_rma_pe(self);

    ski_assert(on->backlog > 0);
    if (on->wants_room)
        return;
    on->wants_room    = true;
    on->next_wanting  = rma->wanting_room;
    rma->wanting_room = on;
}

static void rma_backlog_forget_room(struct ski_pe *self, struct ski_outstanding *on)
{
    struct ski_outstanding **at = &ski_rma_pe(self)->wanting_room;

    while (*at != on)
        at = &(*at)->next_wanting;
    *at            = on->next_wanting;
    on->wants_room = false;
}

void ski_rma_backlog_room(struct ski_pe *self)
{
    struct ski_outstanding *on = ski_rma_pe(self)->wanting_room, *next;

    for (; on; on = next) {
        next = on->next_wanting;
        ski_rma_backlog_advance(self, on);
    }
}

/* ---- issuing -------------------------------------------------------------------- */

/* Returns whether nothing is in flight that the operation must not overtake.  It does not wait for
 * copies by other PEs: their puts may be behind operations there that wait for copies by this one.
 */
static bool rma_backlog_is_ready(const struct ski_outstanding *on, const struct ski_rma_waiting *w)
{
    if (w->issue.alone)
        return on->all - on->copies == on->backlog;
    return on->rma == 0 && (on->deferred == 0 || !w->strict);
}

static bool rma_backlog_has_room(const struct ski_pe *self, const struct ski_rma_waiting *w)
{
    return !w->issue.has_room || w->issue.has_room(self, w->op.verb);
}

void ski_rma_backlog_advance(struct ski_pe *self, struct ski_outstanding *on)
{
    while (on->backlog > 0 && rma_backlog_is_ready(on, on->backlog_first) &&
           rma_backlog_has_room(self, on->backlog_first)) {
        struct ski_rma_waiting *w = on->backlog_first;

        on->backlog_first = w->next;
        on->backlog--;
        w->issue.fn(self, w->issue.req, &w->op, w->issue.params);
        rma_backlog_free_one(w);
    }
    if (on->backlog > 0 && !rma_backlog_has_room(self, on->backlog_first))
        ski_rma_backlog_want_room(self, on);
    else if (on->wants_room)
        rma_backlog_forget_room(self, on);
}

static void rma_backlog_free(struct ski_outstanding *on)
{
    for (; on->backlog > 0; on->backlog--) {
        struct ski_rma_waiting *w = on->backlog_first;

        on->backlog_first = w->next;
        rma_backlog_free_one(w);
    }
}

void ski_rma_backlog_end(struct ski_outstanding_table *table)
{
    for (uint64_t i = 0; table->bucket && i <= table->mask; i++)
        for (struct ski_outstanding *on = table->bucket[i]; on; on = on->next)
            rma_backlog_free(on);
}
