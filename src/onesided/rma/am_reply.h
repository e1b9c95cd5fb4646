/* SPDX-License-Identifier: Apache-2.0 */
/*
 * am_reply.h - replies to operations by active message (am_wire.h), at the origin.
 *
 * A reply ends its request, and the last one ends the operation.  The data of a get are copied to
 * where they were asked for or, where the driver receives a large packet, received there.
 */
#ifndef SKI_AM_REPLY_H
#define SKI_AM_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include <skua/message.h>

struct ski_pe;

/** Receives a packet that lies in the memory of the driver: copies its data to where they belong,
 * and returns a message for the rest, which is run in its turn; NULL: it is to be run as it is.  @p
 * data, after the header @p msg, is not aligned. */
skua_msg *ski_am_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data);

/** Returns the bytes of a packet that are still to come, and sets *to to where they belong; 0: that
 *  is not known. */
size_t ski_am_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data, void **to);

/** Ends what ski_am_recv_alloc() began; @p whole: all data have arrived.  Returns a message for the
 *  rest, or NULL. */
skua_msg *ski_am_recv_done(struct ski_pe *self, const skua_msg *msg, const char *data, bool whole);

/** Handles one reply, or several in one message. */
void ski_on_am_reply(skua_msg *msg);

#endif
