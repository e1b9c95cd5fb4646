/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.h - a message has arrived for an element that is not here, or holds messages.
 *
 * It goes to the home of the element, or waits here if this PE has claimed the element (claim.h) or
 * the element is here and holds messages (hold.h).  The home sends it on, within a window
 * (forward_window.h), creates the element, keeps the message until the element comes, or ends the
 * job if the element was destroyed or if no element can come any more.
 */
#ifndef SKI_FORWARD_H
#define SKI_FORWARD_H

#include "objects/location/home.h"

/** Forwards a message for an element that is not here, keeps it, or creates the element.  Returns
 * the element if it is here now and the caller is to deliver the message. */
struct ski_object *ski_forward(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** Forwards as ski_forward(), with the flags of the entry to run instead of those of the message's
 *  handler. */
struct ski_object *ski_forward_for(struct ski_collection *all, const skua_index *index,
                                   skua_msg *msg, unsigned flags);

/* Phases of the question whether a single object is yet to come, as sent in a message
 * (chare/dead_letter.h): its home asks, its creator answers. */
enum { SKI_INQUIRY_ASKED, SKI_INQUIRY_ANSWERED };

/** Handler: destroys an element, wherever it is. */
void ski_on_delete(skua_msg *msg);

#endif
