/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_reply.h - replies to operations by active message (am_wire.h), at the origin.
 *
 * A reply ends its request, and the last reply ends the operation.  The data of a get are copied to
 * their destination or, in a large packet, received there by the driver.
 */
#ifndef SKI_AM_REPLY_H
#define SKI_AM_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/message.h>

struct ski_pe;

/** Receives a packet that is in the memory of the driver: copies its data to their destination and
 * returns a message for the rest, which is queued; NULL: the packet is received like any other.  @p
 * data, after the header @p msg, is not aligned. */
skua_msg *ski_am_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data);

/** Returns the number of bytes of a packet that the driver has not received yet, and sets *to to
 *  their destination; 0: it is not known. */
size_t ski_am_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Ends what ski_am_recv_alloc() began; @p whole: all data have arrived.  Returns a message for the
 *  rest, or NULL. */
skua_msg *ski_am_recv_done(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole);

/** Handles one reply, or several in one message. */
void ski_on_am_reply(skua_msg *msg);

#endif
