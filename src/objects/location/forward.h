/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.h - a message has come for an element that is not here.
 *
 * It goes to where the element is, within a window (forward_window.h), or to the home of the
 * element.  The home creates the element (claim.h), keeps the message until the element comes, or
 * ends the job if the element was deleted or never existed.
 */
#ifndef SKI_FORWARD_H
#define SKI_FORWARD_H

#include "objects/location/home.h"

/** Forward a message for an element that is not here, keep it, or create the element.  Returns the
 *  element if it is here now and the message is to be delivered. */
struct ski_object *ski_forward(struct ski_collection *all, const skua_index *index, skua_msg *msg);

/** ski_forward() with the flags of the entry that will be run; else they are those of the message's
 *  handler. */
struct ski_object *ski_forward_for(struct ski_collection *all, const skua_index *index,
                                   skua_msg *msg, unsigned flags);

/* Whether a single object is yet to come, as it travels (chare/dead_letter.h): asked by its home,
 * or answered by its creator. */
enum { SKI_INQUIRY_ASKED, SKI_INQUIRY_ANSWERED };

/** Handler: delete an element, wherever it is. */
void ski_on_delete(skua_msg *msg);

#endif
