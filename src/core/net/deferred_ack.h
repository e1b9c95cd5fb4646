/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred_ack.h - when that is sent which the layer above has to send to other hosts, but which
 * is less urgent than what comes next: that a put is done (self->late).
 *
 * It is sent when nothing else is in the queue, or when one message has run, which may be
 * what the put set off.  And it is sent before a call that ran the scheduler returns, for
 * the caller may compute for long, and somebody may wait for it.  That costs who waited for
 * the put a system call before it can answer.  So a PE that has proved to be back soon is
 * trusted (ack_policy.h; soon is SKUA_ACK_DELAY): it is sent behind the next packet of its own, or
 * when it next runs the scheduler.
 */
#ifndef SKI_DEFERRED_ACK_H
#define SKI_DEFERRED_ACK_H

#include "core/pe/pe.h"

void ski_late_init(struct ski_pe *self);

/** Send it now. */
void ski_late_settle(struct ski_pe *self);

/** The PE was back soon, or not. */
void ski_late_back(struct ski_pe *self);

void ski_late_out(struct ski_pe *self);

/** It may be time. */
void ski_late_look(struct ski_pe *self);

/** In a pass, before something is run. */
static inline void ski_late_pass(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->late || self->late_trust.since))
        ski_late_look(self);
}

/** The scheduler returns to its caller. */
static inline void ski_late_leave(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->late != NULL))
        ski_late_out(self);
}

/** A packet has been sent to another host. */
static inline void ski_late_sent(struct ski_pe *self)
{
    if (SKI_UNLIKELY(self->late_trust.since != 0))
        ski_late_back(self);
}

#endif
