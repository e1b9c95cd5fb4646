/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.h - elements that are created by messages for them.
 *
 * An element that a message creates is created at its home, or by order of its home, so there is
 * never a second one.  With SKUA_ENTRY_CREATE_HERE the sender *claims* the element first: it keeps
 * this message and all that it sends to the element afterwards, and sends a claim, which goes to
 * the element as a message would.  The answer is an order of the home to create the element; or
 * comes from the PE where the element is, after all that the sender sent before.  Either releases
 * the messages, in their order.  If they were sent to the home and back instead, messages sent
 * after the creation would overtake those that are still in flight on that route.  For the same
 * reason the home creates an element itself if messages wait for it there.
 */
#ifndef SKI_CLAIM_H
#define SKI_CLAIM_H

#include "objects/location/home.h"

/** Claims an element for a message that this PE is about to send to an entry with @p flags, if the
 *  entry creates the element here and this PE does not know where the element is. */
void ski_claim(struct ski_collection *all, const skua_index *index, unsigned flags);

/** Returns whether @p msg, which this PE has not sent yet, has to wait here; then keeps it, not in
 *  the queue, where later messages would overtake it if the element turns out to be elsewhere. */
bool ski_claim_hold(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** At the home: creates the element that @p msg, to an entry with @p flags, is for: here, or on the
 *  PE that the message came from.  Returns the element if it is here and the caller must deliver
 *  the message. */
struct ski_object *ski_claim_create(struct ski_collection *all, const skua_index *index,
                                    struct ski_absent *absent, skua_msg *msg, unsigned flags);

/** Ends the job: @p msg is for an element that does not exist, and @p why. */
SKI_COLD _Noreturn void ski_undeliverable(struct ski_collection *all, const skua_index *index,
                                          const skua_msg *msg, const char *why);

/** Handler: a PE claims an element. */
void ski_on_claim(skua_msg *msg);

/** Handler: the element that this PE claims is on another PE. */
void ski_on_claimed(skua_msg *msg);

#define SKI_CLAIM_MIN 4

#endif
