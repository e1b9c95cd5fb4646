/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_backlog.h - sends that wait because the receiver's inbox is full.
 *
 * A message that finds no room is kept here, behind earlier ones for the same PE,
 * so that their order holds, and is tried again in every scheduler pass and at
 * every further send to that PE.  The sender goes on, unless memory is short
 * (backpressure.h).  Only PEs with full inboxes have an entry.
 */
#ifndef SKI_SEND_BACKLOG_H
#define SKI_SEND_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_pe;
struct ski_send_backlog;
struct skua_msg;

/** Send @p msg, or keep it behind what already waits for @p pe. */
SKI_COLD void ski_pending_send(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Try to send what waits; SKI_ATTEND_PENDING stays set while something does. */
SKI_COLD void ski_pending_flush(struct ski_pe *self);

/** The job ends: forget what waits. */
void ski_pending_destroy(struct ski_send_backlog *backlog);

#endif
