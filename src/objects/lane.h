/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lane.h - learned channels: where the next message of a kind shall land.
 *
 * The sender has a *habit* for each kind of message: to this entry of this object, with this head.
 * It counts how often the reference has gone on by the same step.  When it has done so often
 * enough the habit gets a *lane*, in the arena, which its messages name from then on.  The
 * receiver answers on the lane: it *arms* it with the place for the message that comes next, by
 * number and reference, when it has had all that came before.  The sender who finds his
 * message expected claims the lane, copies, and sends the message without its data.
 *
 *      idle --arm--> armed --claim--> busy --copied--> landed --delivered--> idle
 *             (receiver)    (sender)        (sender)          (receiver)
 *                      `--> idle (withdrawn, or another message came: receiver)
 *
 * The state and the number that it is about are one word.  Everything else of a lane belongs to
 * the side whose turn it is.  Arming releases the place; the claim acquires it; `landed` releases
 * the data, for a receiver who must look for them himself (a message that is delivered brings its
 * own order).
 *
 * A lane is armed only for the message that follows all that were delivered, and those of one kind
 * are counted at both ends: what is lost, or came round another way, leaves the lane idle for
 * ever, which is safe.  Lanes stay until the job ends: there are never more of them than kinds
 * of messages, MOST on a PE.
 */
#ifndef SKI_LANE_H
#define SKI_LANE_H

#include "objects/landing.h"

/** A message is about to be sent: notes that, and says in it which lane it belongs to.  True: the
 *  data are where the receiver expects them. */
bool ski_lane_send(struct ski_pe *self, const skua_ref *ref, skua_entry entry, skua_msg *msg,
                   const skua_layout *from);

/** One has come: sets its view, if its data have landed.  What to give to ski_lane_after(). */
struct ski_lane *ski_lane_arrived(struct ski_object *object, const struct ski_entry *entry,
                                  skua_msg *msg);

/** The entry has had it: arms what the object expects. */
void ski_lane_after(struct ski_object *object, const struct ski_lane *lane);

/** Nothing more lands in memory of @p object; what has landed is brought into its message. */
void ski_lanes_withdraw(struct ski_object *object);

/** A message will not be delivered. */
void ski_lane_dropped(skua_msg *msg);

void ski_lanes_end(struct ski_objects *objects);

#endif
