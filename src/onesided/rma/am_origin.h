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
skua_status_t ski_request_transfer(const struct ski_transfer *t, const struct ski_place *place,
                                   const skua_ends *ends, bool blocking);

/** An atomic, waited for. */
skua_status_t ski_request_atomic(const struct ski_transfer *t, const struct ski_place *place,
                                 uint64_t *old);

/** Ask for the description of the region at @p at, and wait for it. */
struct ski_description;
skua_status_t ski_request_describe(struct ski_pe *self, skua_gaddr at, struct ski_description *to);

/** What shall happen at the target after the driver has put the data: a packet of
 *  @p operation, whose answer ends it. */
struct ski_operation;
void ski_request_afterwards(struct ski_pe *self, struct ski_operation *operation, skua_gaddr at,
                            const skua_ends *ends);

/** Forget what a PE that ends has asked for. */
struct ski_origin;
void ski_requests_end(struct ski_origin *origin);

/** A packet that lies in the memory of the network: brings its data to its place, and makes
 *  a message of what is left to do in its turn; NULL: it is to be run as it is.  @p data,
 *  which is behind @p head, is not aligned. */
skua_msg *ski_request_take(struct ski_pe *self, const skua_msg *head, const char *data);
skua_msg *ski_serve_take(struct ski_pe *self, const skua_msg *head, const char *data);

/** The same of a packet whose data is still to come: where it belongs and how much that is, 0 if
 *  that is not known; and later, that it is there, if @p whole. */
size_t    ski_request_place(struct ski_pe *self, const skua_msg *head, const char *data, void **to);
skua_msg *ski_request_placed(struct ski_pe *self, const skua_msg *head, const char *data,
                             bool whole);
size_t    ski_serve_place(struct ski_pe *self, const skua_msg *head, const char *data, void **to);
skua_msg *ski_serve_placed(const skua_msg *head, const char *data);

void ski_on_request(skua_msg *msg);
void ski_on_placed(skua_msg *msg);
void ski_on_served(skua_msg *msg);

#endif
