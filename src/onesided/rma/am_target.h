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

/** Copies the data of a put from the memory of the driver to their place, as
 *  ski_am_recv_inline(). */
skua_msg *ski_am_target_recv_inline(struct ski_pe *self, const skua_msg *msg, const char *data);

/** Finds the place of the data of a put that are still to come, as ski_am_recv_alloc(). */
size_t ski_am_target_recv_alloc(struct ski_pe *self, const skua_msg *msg, const char *data,
                                void **to);

/** Returns the message for the rest of a put whose data have been placed. */
skua_msg *ski_am_target_recv_done(const skua_msg *msg, const char *data);

/** Frees the replies that a PE which ends has not sent. */
void ski_am_target_end(struct ski_pe *self);

/** Handles a request. */
void ski_on_am_request(skua_msg *msg);

/** Handles what is left of a put whose data have been placed. */
void ski_on_am_placed(skua_msg *msg);

#endif
