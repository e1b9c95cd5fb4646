/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter.h - messages to single objects that were deleted long ago.
 *
 * The home of an object remembers that it was deleted, but not for ever (location.c).  A message
 * for an object that its home does not know is kept, as the object may be yet to come.  To tell
 * the two apart the home sends an *inquiry* to the PE that created the object, and that PE sends
 * it back.  Messages between two PEs keep their order, so when the inquiry is back every
 * creation that the creator had sent here before has arrived.  If the object is not known even
 * then, it has been deleted:  its messages are counted (skua_stats.departed), told of and dropped.
 *
 * A seed (seed.h) has its planter as its home, and grows anywhere at any time.  So an inquiry
 * for an object of this PE's own making is kept until all its seeds are known to have grown.
 */
#ifndef SKI_DEAD_LETTER_H
#define SKI_DEAD_LETTER_H

#include "objects/chare/collection.h"

/** Send an inquiry: the first message for @p index, a single object whose home is here, is kept. */
void ski_departed_inquire(struct ski_collection *all, const skua_index *index);

#define SKI_INQUIRY_LEAST 4

void ski_on_inquiry(skua_msg *msg);

#endif
