/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_backlog.h - messages that wait because the inbox of their receiver is full.
 *
 * A message that finds no room is queued behind earlier ones for the same PE, in FIFO order, and is
 * retried in every pass of the scheduler and at every further send to that PE.  The sender
 * continues, unless memory is short (backpressure.h).  Only PEs whose inboxes are full have a list.
 */
#ifndef SKI_SEND_BACKLOG_H
#define SKI_SEND_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

struct ski_pe;
struct ski_send_backlog;
struct skua_msg;

/** Sends @p msg, or keeps it after those that already wait for @p pe. */
SKI_COLD void ski_send_backlog_add(struct ski_pe *self, int pe, struct skua_msg *msg);

/** Tries to send messages that wait; SKI_EVENT_BACKLOG stays set while some do. */
SKI_COLD void ski_send_backlog_flush(struct ski_pe *self);

/** Frees the lists, at the end of the job; messages go with the arena. */
void ski_send_backlog_destroy(struct ski_send_backlog *backlog);

#endif
