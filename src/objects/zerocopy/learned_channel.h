/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_channel.h - learned channels: a receiver announces the destination of the next messages
 * of a kind.
 *
 * When messages of a kind follow a pattern (learned_pattern.h), the sender allocates a *channel* in
 * the arena, which its messages name from then on, with their number.  The receiver answers on the
 * channel: it *arms* a slot with the place for the next message, by number and reference, and
 * another slot for the one after it, since a sender may be a step ahead.  A sender that finds its
 * message expected claims the slot, copies the data, and sends the message without it.
 *
 *      idle --arm--> armed --claim--> busy --copied--> filled --delivered--> idle
 *           (receiver)     (sender)        (sender)          (receiver)
 *                      `--> idle (withdrawn, or the message came with its data: receiver)
 *
 * The state of a slot and the number of its message are one word.  The state determines which side
 * owns the rest of the slot.  Arming releases the destination, and the claim acquires it; `filled`
 * releases the data, and reading that state acquires them.
 *
 * A message without its data goes to the PE that armed the slot, whatever its sender has recorded
 * as the location of the element.  There it is delivered; if the element has migrated, it has given
 * the message a copy of the data before (inplace_msg.h).
 *
 * A slot is armed only when all messages before the last one have arrived, by the count of both
 * ends: a message that is lost, or arrives another way, leaves the channel idle for good.  When a
 * message arrives on another channel than those of its kind before, or on none, the slots armed on
 * theirs are withdrawn.  Channels stay until the job ends: there are at most as many as patterns.
 *
 * Each step of a stencil goes through all channels of a PE, so channels are kept small: layouts of
 * places (`struct ski_learned_layout`) and plans for copying between two (`struct
 * ski_learned_copy`) are few, and shared by all channels.
 */
#ifndef SKI_LEARNED_CHANNEL_H
#define SKI_LEARNED_CHANNEL_H

#include "objects/zerocopy/inplace_msg.h"

struct ski_learned_slot;

/** Records a message like @p inplace that is about to be sent to @p ref, and writes into @p inplace
 *  which channel it belongs to. Returns the slot that expects the message, which is claimed, or
 * NULL. */
struct ski_learned_slot *ski_learned_channel_claim(struct ski_pe *self, const skua_ref *ref,
                                                   skua_entry entry, struct ski_inplace *inplace,
                                                   const void *head);

/** Copies the data of @p msg to where a claimed slot expects it.  Returns the element that waits
 * for it, and sets *pe to its PE, to which the message must be sent. */
struct ski_object *ski_learned_channel_put(struct ski_pe *self, struct ski_learned_slot *slot,
                                           skua_msg *msg, const skua_layout *from, int *pe);

/** Records that a message has arrived, and sets its view if its data was copied to a slot.  Returns
 * the channel for ski_learned_channel_arm(), or NULL. */
struct ski_learned_channel *ski_learned_channel_arrived(struct ski_object *object, skua_msg *msg);

/** Arms the slots for which @p object can say where the data goes.  The entry of the last message
 * has run. */
void ski_learned_channel_arm(struct ski_object *object, const struct ski_learned_channel *channel);

/** Withdraws all slots of @p object: no sender writes to its memory when this returns, and messages
 *  whose data is there have a copy of it. */
void ski_learned_channel_withdraw(struct ski_object *object);

/** Makes the slot of a message idle that will not be delivered. */
void ski_learned_channel_dropped(skua_msg *msg);

/** The observer of learned channels. */
extern const struct ski_lifecycle ski_learned_channel_lifecycle;

#endif
