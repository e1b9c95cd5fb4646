/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rma_backlog.h - operations that are queued at their origin, so that non-blocking calls never
 * wait.
 *
 * A non-blocking call never waits, nor does skua_notify_add().  An operation by active message
 * could overtake one of the driver that it must follow, or a get that the target serves later; or
 * there is no room for its requests.  Such an operation is kept in the backlog of its target PE
 * until it may be issued, by the PE's scheduler, in the order of the calls.  Its layout is copied,
 * its data are not: they belong to the operation until it is complete.
 *
 * It counts as outstanding from its call on, so flushes and handles wait for it, and other
 * operations order themselves after it as after any other.
 */
#ifndef SKI_RMA_BACKLOG_H
#define SKI_RMA_BACKLOG_H

#include "onesided/rma/outstanding.h"
#include "onesided/rma/rma_op.h"

struct ski_pe;
struct ski_rma_request;

/* The function that issues an operation of the backlog. */
typedef void (*ski_rma_issue_fn)(struct ski_pe *self, struct ski_rma_request *req,
                                 const struct ski_rma_op *op, const skua_rma_params *params);

/** Returns whether an operation with @p params must wait, since it could overtake an outstanding
 *  operation on its target, @p on, if it were sent by active message now.  Unordered operations
 *  wait as well, though only a fence requires it: no call waits for them. */
bool ski_rma_backlog_needed(const struct ski_outstanding *on, const skua_rma_params *params);

/* An operation for a backlog: that of @p req, which has begun. */
struct ski_rma_issue {
    struct ski_rma_request  *req;
    const struct ski_rma_op *op;
    const skua_rma_params   *params; /* or NULL                                                 */
    ski_rma_issue_fn         fn;     /* called in its turn                                      */
    bool                     alone;  /* its turn is when nothing else but copies is in flight */
    bool (*has_room)(const struct ski_pe *self,
                     enum ski_rma_verb    verb); /* or NULL: it needs none */
};

/** Adds a copy of an operation to the backlog of its target. */
void ski_rma_backlog_add(struct ski_outstanding *on, const struct ski_rma_issue *issue);

/** Adds a copy of an operation before all others in the backlog of its target: a part of it has
 *  been issued. */
void ski_rma_backlog_add_first(struct ski_outstanding *on, const struct ski_rma_issue *issue);

/** Requests a retry of the head of a backlog, which lacks room, once there is room. */
void ski_rma_backlog_want_room(struct ski_pe *self, struct ski_outstanding *on);

/** Retries the backlogs that lacked room. */
void ski_rma_backlog_room(struct ski_pe *self);

/** Issues the operations at the head of a backlog that may be issued now. */
void ski_rma_backlog_advance(struct ski_pe *self, struct ski_outstanding *on);

/** Frees all backlogs of a table, at the end of a PE; nothing of them is issued. */
void ski_rma_backlog_end(struct ski_outstanding_table *table);

#endif
