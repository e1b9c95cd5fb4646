/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_backlog.h - operations that wait at their origin, so that the call that began them does not.
 *
 * A non-blocking atomic and skua_notify_add() never wait.  By active message they could overtake an
 * operation of the driver that they have to come after, or a get that the target serves later.
 * Such an operation is kept in the backlog of its target PE until nothing is in flight that it
 * could overtake, and is then issued by the PE's scheduler, in the order of the calls.
 *
 * It counts as outstanding from its call on, so flushes and handles wait for it, and other
 * operations order themselves behind it as behind any other.
 */
#ifndef SKI_RMA_BACKLOG_H
#define SKI_RMA_BACKLOG_H

#include "onesided/rma/outstanding.h"
#include "onesided/rma/rma_op.h"

struct ski_pe;
struct ski_rma_request;

/* What issues an operation once it is its turn. */
typedef void (*ski_rma_issue_fn)(struct ski_pe *self, struct ski_rma_request *req,
                                 const struct ski_rma_op *op, const skua_rma_params *params);

/** Returns whether an operation with @p params could overtake something that is outstanding on its
 *  target, @p on, if it were sent by active message now.  An unordered one may, unless a fence lies
 *  between; it costs no call anything to keep it in order in any case. */
bool ski_rma_backlog_needed(const struct ski_outstanding *on, const skua_rma_params *params);

/* An operation for a backlog: that of @p req, which has begun. */
struct ski_rma_issue {
    struct ski_rma_request  *req;
    const struct ski_rma_op *op;
    const skua_rma_params   *params; /* or NULL                                                 */
    ski_rma_issue_fn         fn;     /* called in its turn                                      */
    bool                     alone;  /* its turn is when nothing else is in flight to the target */
};

/** Adds a copy of an operation to the backlog of its target. */
void ski_rma_backlog_add(struct ski_outstanding *on, const struct ski_rma_issue *issue);

/** Issues the operations of a backlog whose turn it is. */
void ski_rma_backlog_advance(struct ski_pe *self, struct ski_outstanding *on);

/** Frees all backlogs of a table, at the end of a PE; nothing of them is issued. */
void ski_rma_backlog_end(struct ski_outstanding_table *table);

#endif
