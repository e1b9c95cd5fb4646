/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.h - an element that has arrived on a PE while earlier messages to it are in flight.
 *
 * Earlier messages are those that this PE has forwarded to the home of the element, or has sent
 * itself.  They come back by way of the home, which may have a long backlog (forward_window.h).
 * Messages that come directly, and those that this PE sends, could overtake them.  So the element
 * *holds* messages: it is here, and gets what the home sends on (SKI_TARGET_FORWARDED); all others
 * wait in its record, which the directory has in place of the object (SKI_ABSENT_HOLDING), so that
 * no fast path finds the element.
 *
 *   - On a PE other than the home, the report of the arrival is a message to the home behind all
 *     that this PE has forwarded.  The home queues it like a message to the element, and answers
 *     it when its turn comes, behind all that the home has sent on.  So when the answer is here,
 *     the earlier messages have run.  The element may leave before: then the home drops the
 *     report, the messages that wait go to the home, and the next arrival has its own report.
 *   - On the home, the element holds all messages until the probe of the PE that the home sent
 *     messages to last is answered (ski_forward_window_flush()).  Then it gets those that have
 *     come back, the backlog, and what has come since.
 *   - If this PE has sent messages by a route through another PE than the home, the element also
 *     waits for the marker behind them (route.h).
 *
 * Each message waits on at most one PE before it is queued at the home, and a report costs two
 * messages, one of which the home would get anyway.  So the bound of forward_window.h holds.
 *
 * An element does not hold messages on a PE that has neither sent nor forwarded any to it since it
 * was last there: the record of the absent element tells, or a hash of the index (lookup.h).
 *
 * Messages that are in no order with others, such as broadcasts, expedited messages and calls of
 * inline entries, run at once.
 */
#ifndef SKI_HOLD_H
#define SKI_HOLD_H

#include "objects/location/home.h"

/** Prepares the arrival, after that number of @p moves, of an element that this PE is about to add.
 * Returns whether it will hold messages; then its home is informed of the arrival. */
bool ski_hold_begin(struct ski_collection *all, const skua_index *index, uint32_t moves);

/** Enters an element that has been added and is to hold messages in its record. */
void ski_hold_enter(struct ski_collection *all, struct ski_absent *absent);

/** Returns the element of @p absent, which holds messages, if @p msg may run now; NULL: @p msg
 * waits, or goes back to the home. */
struct ski_object *ski_hold_accept(struct ski_collection *all, struct ski_absent *absent,
                                   skua_msg *msg);

/** Lets the element of @p absent, if it holds messages, get them if no earlier message is in flight
 * now.  The record may be freed. */
void ski_hold_settle(struct ski_collection *all, struct ski_absent *absent);

/** Records that the marker of this PE to the element of @p absent, which holds messages, is back or
 * answered: it has @p passed other PEs, behind all messages of this PE; or only the queue here. */
void ski_hold_marked(struct ski_collection *all, struct ski_absent *absent, bool passed);

/** Sends on the messages that wait in the record of an element which has left. */
void ski_hold_departed(struct ski_collection *all, struct ski_absent *absent);

/** Queues the messages that wait in the record of an element which was destroyed here. */
void ski_hold_deleted(struct ski_collection *all, struct ski_absent *absent);

/** Handler: the answer of the home to the report of an arrival. */
void ski_on_hold_flushed(skua_msg *msg);

#define SKI_HOLD_FLUSHED_MIN 4

#endif
