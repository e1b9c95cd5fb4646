/* SPDX-License-Identifier: Apache-2.0 */
/* rma_backlog.c - see rma_backlog.h. */
#include "onesided/rma/rma_backlog.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

/* An operation that waits.  The data of its signal lie behind it. */
struct ski_rma_waiting {
    struct ski_rma_waiting *next;
    struct ski_rma_issue    issue; /* refers to the copies that follow */
    struct ski_rma_op       op;
    struct ski_atomic       atomic;
    skua_rma_params         params;
    bool                    strict;
};

bool ski_rma_backlog_needed(const struct ski_outstanding *on, const skua_rma_params *params)
{
    return on->backlog > 0 || on->rma > 0 ||
           (on->deferred > 0 && ski_op_params_order(params) == SKUA_ORDER_STRICT);
}

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

/* Returns whether nothing is in flight that the operation must not overtake. */
static bool rma_backlog_is_ready(const struct ski_outstanding *on, const struct ski_rma_waiting *w)
{
    if (w->issue.alone)
        return on->all == on->backlog;
    return on->rma == 0 && (on->deferred == 0 || !w->strict);
}

void ski_rma_backlog_advance(struct ski_pe *self, struct ski_outstanding *on)
{
    while (on->backlog > 0 && rma_backlog_is_ready(on, on->backlog_first)) {
        struct ski_rma_waiting *w = on->backlog_first;

        on->backlog_first = w->next;
        on->backlog--;
        w->issue.fn(self, w->issue.req, &w->op, w->issue.params);
        free(w);
    }
}

static void rma_backlog_free(struct ski_outstanding *on)
{
    for (; on->backlog > 0; on->backlog--) {
        struct ski_rma_waiting *w = on->backlog_first;

        on->backlog_first = w->next;
        free(w);
    }
}

void ski_rma_backlog_end(struct ski_outstanding_table *table)
{
    for (uint64_t i = 0; table->bucket && i <= table->mask; i++)
        for (struct ski_outstanding *on = table->bucket[i]; on; on = on->next)
            rma_backlog_free(on);
}
