/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_channel.h - learned channels: where the next messages of a kind shall land.
 *
 * The sender has a *habit* for each kind of message: to this entry of this object, with this head.
 * It notes whether the reference goes on by the same step.  When it does the habit gets a
 * *lane*, in the arena, which its messages name from then on, with their number.  The receiver
 * answers on the lane: it *arms* a berth with the place for the message that comes next, by number
 * and reference, and another for the one after it, since a sender may be a step ahead.  The
 * sender who finds his message expected claims the berth, copies, and sends the message without
 * its data.
 *
 *      idle --arm--> armed --claim--> busy --copied--> landed --delivered--> idle
 *           (receiver)     (sender)        (sender)          (receiver)
 *                      `--> idle (withdrawn, or the message came otherwise: receiver)
 *
 * The state and the number that it is about are one word.  All else in a berth belongs to the side
 * whose turn it is.  Arming releases the place, and the claim acquires it; `landed` releases the
 * data, and whoever looks for them in the berth acquires them.
 *
 * A message without its data goes to the PE that armed the berth, wherever its sender believes the
 * object to be: there it is delivered, or the object has left and has seen to it before.
 *
 * A berth is armed only when all messages before the last one have come, by both ends' count: what
 * is lost, or came round another way, leaves the lane idle for ever.  When a message comes on
 * another lane than those of its kind before, or on none, what was promised on theirs is taken
 * back.  Lanes stay until the job ends: there are not more than kinds of messages, and at most MOST
 * on a PE.
 *
 * Each step of a stencil goes through all lanes of a PE, so they are kept small: shapes of places
 * (`struct shape`) and what was worked out about copying between two (`struct route`) are few, and
 * shared by all lanes.
 */
#ifndef SKI_LEARNED_CHANNEL_H
#define SKI_LEARNED_CHANNEL_H

#include "objects/zerocopy/inplace.h"

struct ski_berth;

/** A message like @p landing is about to be sent: notes that, and says in it which lane it belongs
 *  to.  The berth that waits for it, or NULL: it is not expected. */
struct ski_berth *ski_lane_claim(struct ski_pe *self, const skua_ref *ref, skua_entry entry,
                                 struct ski_landing *landing, const void *head);

/** Copy its data to where they are expected: for an object on *pe, where the message must go. */
struct ski_object *ski_lane_put(struct ski_pe *self, struct ski_berth *berth, skua_msg *msg,
                                const skua_layout *from, int *pe);

/** One has come: sets its view, if its data have landed.  What to give to ski_lane_after(). */
struct ski_lane *ski_lane_arrived(struct ski_object *object, skua_msg *msg);

/** The entry has had it: arms what the object expects. */
void ski_lane_after(struct ski_object *object, const struct ski_lane *lane);

/** Nothing more lands in memory of @p object; what has landed is brought into messages. */
void ski_lanes_withdraw(struct ski_object *object);

extern const struct ski_lifecycle ski_learned_channel_lifecycle;

/** A message will not be delivered. */
void ski_lane_dropped(skua_msg *msg);

#endif
