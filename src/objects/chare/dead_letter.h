/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter.h - dead letters: messages to single objects that were destroyed long ago.
 *
 * The home of an object keeps a tombstone when the object is destroyed, but not forever
 * (location.h).  A message for an object that its home does not know is kept, since the object may
 * not have been created yet.  To distinguish the two cases the home sends an *inquiry* to the PE
 * that created the object, and that PE returns it.  Messages between two PEs keep their order, so
 * when the inquiry is back every creation that the creator had sent before has arrived.  If the
 * object is not known even then, it has been destroyed: its messages are counted
 * (skua_stats.dropped_messages) and dropped, with a warning.
 *
 * The home of a seed (seed.h) is the PE that submitted it; any PE may create its object, at any
 * time. So a PE keeps an inquiry for an object that it submitted itself until the objects of all
 * its seeds are known to be created.
 */
#ifndef SKI_DEAD_LETTER_H
#define SKI_DEAD_LETTER_H

#include <skua/message.h>

#define SKI_INQUIRY_MIN 4

/** Handler: an inquiry whether a single object is yet to be created, or the answer to one. */
void ski_on_inquiry(skua_msg *msg);

#endif
