/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inbox_recv.h - what has arrived in the inbox of this PE.
 *
 * A cell holds the address of a message, a small message itself, a wake-up, which only makes the
 * PE poll, or a doorbell, which the layer above answers (self->on_doorbell).
 */
#ifndef SKI_INBOX_RECV_H
#define SKI_INBOX_RECV_H

#include "core/data/msg.h"

struct ski_pe;

/** Moves messages that have arrived, at most @p limit cells and up to the next doorbell, into the
 *  queue of @p self.  If its inbox has several rings, these are messages of the ring that the last
 *  poll has found.  Returns whether a doorbell is next. */
bool ski_inbox_drain(struct ski_pe *self, unsigned limit);

/** Returns whether the inbox must be drained now: half of the cells that senders use, of the
 *  inbox or of a ring of it, are filled, or a message with a priority has arrived. */
bool ski_inbox_is_pressing(const struct ski_pe *self);

/** Removes the only message in the inbox and returns it, bypassing the queue and without reading
 *  its memory.  The caller has checked that it is neither a wake-up nor a doorbell. */
struct skua_msg *ski_inbox_take(struct ski_pe *self);

/** Answers the wake-up or the doorbell that is next in the inbox. */
void ski_inbox_answer(struct ski_pe *self);

/** Returns whether a doorbell is next in the inbox. */
bool ski_inbox_doorbell_next(struct ski_pe *self);

#endif
