/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_origin.h - operations by active message, for memory that this process does not reach: the side
 * of the origin.
 *
 * An operation is one or several requests to the process that has the memory (am_wire.h).  The PE
 * itself serves them when its scheduler runs or, with the setting `progress_thread`, the progress
 * thread of its process does at any time (am_target.h).  Each request has a reply, with a status
 * and the data of a get.
 *
 * No address of the origin is sent: a reply repeats the id of its request, for which the origin has
 * recorded the destination of the data.
 *
 * Requests to one server are served in the order of sending.  That is what orders operations by
 * active message, and makes the reply to the last request the end of the operation.
 */
#ifndef SKI_AM_ORIGIN_H
#define SKI_AM_ORIGIN_H

#include "onesided/rma/rma_op.h"

struct ski_rkey_info;
struct ski_rma_request;

/** Performs a put, get or accumulate.  If @p blocking, returns SKUA_OK or the failure when it is
 *  complete, or has been sent with the setting `local_completion`; else returns SKUA_PENDING. */
skua_status ski_am_transfer(const struct ski_rma_op *op, const struct ski_resolved *target,
                            const skua_rma_params *params, bool blocking);

/** Starts an atomic, or a put without data, and never waits: it is sent now or, if it could
 *  overtake an earlier operation, queued in the backlog (rma_backlog.h).  The previous value of an
 *  atomic is stored in @p old at the end, unless that is NULL.  The caller runs as a PE.  Returns
 *  SKUA_PENDING. */
skua_status ski_am_start(const struct ski_rma_op *op, const struct ski_resolved *target,
                         const skua_rma_params *params, void *old);

/** Sends the one request of @p req, an operation without data, which has begun. */
void ski_am_send_one(struct ski_pe *self, struct ski_rma_request *req, const struct ski_rma_op *op,
                     const skua_rma_params *params);

/** Queries the owner of the region at @p at, as ski_am_query_rkey() does, without waiting: @p done
 *  is performed when the description has been written to @p to, or the owner has refused. */
void ski_am_start_rkey_query(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to,
                             skua_completion done);

/** Performs an atomic and waits for its result. */
skua_status ski_am_atomic(const struct ski_rma_op *op, const struct ski_resolved *target,
                          uint64_t *old);

/** Queries the owner of the region at @p at for its description, and waits for it (rkey_cache.h).
 */
skua_status ski_am_query_rkey(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to);

/** Requests the notification and the signal of @p params by @p op, a put without data, at the
 * target after the driver has put the data of @p req; the reply ends the operation. */
void ski_am_after_put(struct ski_pe *self, struct ski_rma_request *req, const struct ski_rma_op *op,
                      const skua_rma_params *params);

/** Frees the records of the requests of a PE that ends. */
void ski_am_origin_end(struct ski_pe *self);

#endif
