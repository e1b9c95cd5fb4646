/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_origin.h - operations by message, for memory that we do not reach.
 *
 * A request is one or several packets to the process that has the memory.  The
 * PE itself serves them when its scheduler runs, or, with the setting `helper`,
 * a thread of the process does at any time.  Each packet is answered, with a
 * status and the data that was asked for.
 *
 *     | struct request | pieces: remote, bytes ... | data ... | signal data |
 *     | struct answer  | data ... |
 *
 * No address of the origin's travels: an answer names the packet, and the origin
 * has noted where its data goes.
 *
 * Packets to one server are served in the order of sending, which is what makes
 * operations by request ordered, and the end of the last packet the end of all.
 */
#ifndef SKI_AM_ORIGIN_H
#define SKI_AM_ORIGIN_H

#include "onesided/rma/transfer.h"

/** Put, get or update.  Blocking: SKUA_OK or the failure, when it is done (or, for
 *  hand-off, on the way).  Else SKUA_PENDING. */
skua_status_t ski_am_transfer(const struct ski_rma_op *t, const struct ski_resolved *place,
                              const skua_ends *ends, bool blocking);

/** An atomic, waited for. */
skua_status_t ski_am_atomic(const struct ski_rma_op *t, const struct ski_resolved *place,
                            uint64_t *old);

/** Ask for the description of the region at @p at, and wait for it. */
struct ski_rkey_info;
skua_status_t ski_am_query_rkey(struct ski_pe *self, skua_gaddr at, struct ski_rkey_info *to);

/** What shall happen at the target after the driver has put the data: a packet of
 *  @p operation, whose answer ends it. */
struct ski_rma_request;
void ski_am_after_put(struct ski_pe *self, struct ski_rma_request *operation, skua_gaddr at,
                      const skua_ends *ends);

/** Forget what a PE that ends has asked for. */
struct ski_rma_pe;
void ski_am_origin_end(struct ski_rma_pe *origin);

/** A packet that lies in the memory of the network: brings its data to its place, and makes
 *  a message of what is left to do in its turn; NULL: it is to be run as it is.  @p data,
 *  which is behind @p head, is not aligned. */
skua_msg *ski_am_recv_inline(struct ski_pe *self, const skua_msg *head, const char *data);
skua_msg *ski_am_target_recv_inline(struct ski_pe *self, const skua_msg *head, const char *data);

/** The same of a packet whose data is still to come: where it belongs and how much that is, 0 if
 *  that is not known; and later, that it is there, if @p whole. */
size_t    ski_am_recv_alloc(struct ski_pe *self, const skua_msg *head, const char *data, void **to);
skua_msg *ski_am_recv_done(struct ski_pe *self, const skua_msg *head, const char *data, bool whole);
size_t    ski_am_target_recv_alloc(struct ski_pe *self, const skua_msg *head, const char *data,
                                   void **to);
skua_msg *ski_am_target_recv_done(const skua_msg *head, const char *data);

void ski_on_request(skua_msg *msg);
void ski_on_placed(skua_msg *msg);
void ski_on_served(skua_msg *msg);

#endif
