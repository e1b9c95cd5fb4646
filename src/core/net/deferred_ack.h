/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred_ack.h - when the acknowledgements of puts from other hosts are sent.
 *
 * An acknowledgement is less urgent than the work that the put triggers.  It is sent when the queue
 * is empty, when one message has run since (a reply does not count, since it may be queued before
 * that work), or before a call that ran the scheduler returns, because its caller may compute for a
 * long time while the origin waits.  The last rule costs a PE that waited for the put a system call
 * before it can answer.  So a PE that is expected back soon (ack_policy.h; the setting is
 * SKUA_ACK_DELAY) keeps its acknowledgements until it next sends, or runs the scheduler with an
 * empty queue: a PE that waits for several puts, one after the other, which have arrived together
 * acknowledges them together.  No acknowledgement is delayed by absences for longer than
 * SKUA_ACK_DELAY.  Acknowledgements that no origin is expected to wait for are always kept.
 *
 * Acknowledgements are piggybacked on small packets to the same PE: the layer above has written
 * them into the packet (ski_deferred_ack_taken()), or the two are coalesced, so that they cost
 * neither side a system call.  Those for other PEs wait for packets to these PEs.  After a large
 * packet all acknowledgements are sent.
 *
 * The layer above keeps the acknowledgements; here are only the functions that take and send them.
 */
#ifndef SKI_DEFERRED_ACK_H
#define SKI_DEFERRED_ACK_H

#include <stddef.h>

#include "base/arch.h"
#include "core/net/ack_policy.h"

struct ski_pe;
struct skua_msg;

/* How the layer above hands over its acknowledgements. */
struct ski_deferred_ack_calls {
    /** Sends all of them. */
    void (*send)(struct ski_pe *self);
    /** Returns those for @p pe as one message that is not sent yet; NULL: there are none. *@p
     * more becomes whether others are left. */
    struct skua_msg *(*take)(struct ski_pe *self, int pe, bool *more);
};

struct ski_deferred_ack {
    const struct ski_deferred_ack_calls *calls; /* NULL: no acknowledgement waits */
    bool                  awaited; /* the origin of one of them may wait for it          */
    uint32_t              passes;  /* of the scheduler since there are some              */
    uint64_t              oldest;  /* ticks: they wait since then through absences, or 0 */
    struct ski_ack_policy policy;
};

/** Returns the acknowledgements for @p pe, which a packet to that PE carries; NULL: there are
 *  none. */
struct skua_msg *ski_deferred_ack_take(struct ski_deferred_ack *ack, struct ski_pe *self, int pe);

/** Records that the layer above has written acknowledgements into the packet that it sends next;
 *  @p more: others are left. */
void ski_deferred_ack_taken(struct ski_deferred_ack *ack, struct ski_pe *self, bool more);

/** Slow path of ski_deferred_ack_sent(): the PE is back in the runtime. */
void ski_deferred_ack_return(struct ski_deferred_ack *ack, struct ski_pe *self);

/** Slow path of ski_deferred_ack_pass(): sends the acknowledgements if they are due. */
void ski_deferred_ack_consider(struct ski_deferred_ack *ack, struct ski_pe *self, bool idle);

/** Slow path of ski_deferred_ack_leave(): sends the acknowledgements, unless the PE is expected
 * back soon. */
void ski_deferred_ack_depart(struct ski_deferred_ack *ack, struct ski_pe *self);

/** Called in a pass of the scheduler before a message runs; @p idle: the queue is empty. */
static inline void ski_deferred_ack_pass(struct ski_deferred_ack *ack, struct ski_pe *self,
                                         bool idle)
{
    if (SKI_UNLIKELY(ack->calls || ack->policy.since))
        ski_deferred_ack_consider(ack, self, idle);
}

/** Called when the message that has just run was a reply, whose handler takes little time. */
static inline void ski_deferred_ack_uncount(struct ski_deferred_ack *ack)
{
    if (ack->passes > 0)
        ack->passes--;
}

/** Called when the scheduler returns to its caller. */
static inline void ski_deferred_ack_leave(struct ski_deferred_ack *ack, struct ski_pe *self)
{
    if (SKI_UNLIKELY(ack->calls != NULL))
        ski_deferred_ack_depart(ack, self);
}

/** Called when a packet has been sent to another host that carried no acknowledgements. */
static inline void ski_deferred_ack_sent(struct ski_deferred_ack *ack, struct ski_pe *self)
{
    if (SKI_UNLIKELY(ack->policy.since != 0))
        ski_deferred_ack_return(ack, self);
}

#endif
