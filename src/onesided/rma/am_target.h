/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_target.h - operations by active message (am_origin.h): the side of the target, a PE or the
 * progress thread of its process.
 *
 * A request is checked completely, its lengths, offsets and region, before anything is touched.
 */
#ifndef SKI_AM_TARGET_H
#define SKI_AM_TARGET_H

#include <skua/message.h>

struct ski_pe;

/** Returns the PE that sent the request in @p msg; for external threads, the first PE of their
 *  process. */
int32_t ski_am_sender(const skua_msg *msg);

/** Takes the acknowledgements that wait for @p pe, of another host, to be written into the request
 *  that is sent to that PE next; @p ack has room for SKI_AM_ACKS_MAX ids.  Returns their number;
 *  0: there are none, or more. */
uint32_t ski_am_target_take_acks(struct ski_pe *self, int pe, uint32_t *ack);

/** Copies the data of a put out of the driver's memory into the region.  Returns the remainder to
 *  queue (ski_on_am_placed()), &ski_net_nothing_left if the put is complete, or NULL: nothing was
 *  placed, receive the packet as usual. */
skua_msg *ski_am_target_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data);

/** Finds where the driver may receive the data of a put that are still to come.  Returns how many
 *  bytes it may write at *@p to; 0: none, receive the packet as usual. */
size_t ski_am_target_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                void **to);

/** Returns the remainder to queue of a put whose data the driver has received in place. */
skua_msg *ski_am_target_recv_done(const skua_msg *msg, const char *data);

/** Frees the replies that are still deferred when a PE ends; they are not sent. */
void ski_am_target_end(struct ski_pe *self);

/** Handles a request. */
void ski_on_am_request(skua_msg *msg);

/** Handles what is left of a put whose data have been placed. */
void ski_on_am_placed(skua_msg *msg);

#endif
