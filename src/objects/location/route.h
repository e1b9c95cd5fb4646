/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - messages from one PE to one element keep their order when their route changes.
 *
 * The *route* to an absent element is the PE that messages for it are sent to: the last known
 * location of the element, or its home.  As long as the element stays where it is, each route keeps
 * the order of messages: a PE that the element is not on sends them on to the home (forward.h), and
 * the home sends them on in the order of their arrival (forward_window.h).  What could change the
 * order is a message that is sent by another route than the one before it.  There are two such
 * changes:
 *
 *   - A PE other than the home learns that the element is elsewhere.  It sends a *marker* by the
 *     former route and keeps its messages to the element (SKI_ABSENT_CHANGING).  The marker is
 *     forwarded as any message to the element, so when it arrives, all messages that this PE has
 *     sent before it have arrived.  It is answered with the location of the element, by the PE that
 *     has it; or by the home if there is no such element, so that messages go to the home.  Then
 *     the PE sends there what it has kept.
 *   - An order to create the element arrives on a PE other than the home (insertion.h).  The PE may
 *     have sent messages to the home, which are in flight back to it.  Then it keeps the order
 *     (SKI_ABSENT_ARRIVING) and sends a marker to the home.  Messages that arrive meanwhile, and
 *     those that it sends, wait in two lists.  When the marker is back, the element is created, and
 *     gets those that have arrived, then those that were sent.
 *
 * So a PE has to know whether it has sent messages to the home of an element that it knows nothing
 * of.  It records that by a hash of the index (ski_route_note()); two equal hashes cost a marker
 * that was not needed.
 *
 * No PE waits for a marker forever.  A PE whose route changes keeps only messages that it sends
 * itself; markers of other PEs go on to the home.  The home keeps a marker only as it keeps the
 * messages before it, and one of an element that arrives is kept until that element is created,
 * which the return of another marker from the home leads to.
 *
 * Markers have priority 0, so they are behind messages of this and of more urgent priorities.  A
 * message of a less urgent priority may still wait at the home when a marker has passed, and be
 * overtaken by one of its priority that is sent later.  Expedited messages are not kept.
 */
#ifndef SKI_ROUTE_H
#define SKI_ROUTE_H

#include "core/message/message.h"
#include "objects/location/home.h"

/* A marker on the wire. */
struct ski_route_marker {
    int32_t  pe;    /* that has sent it                                  */
    uint32_t moves; /* of the update, or the order, that it was sent for */
};

/** Acts on @p update, which has come from another PE.  On a PE other than the home the route to the
 * element changes if the update is newer than the record. */
void ski_route_update(struct ski_collection *all, const skua_index *index,
                      const struct ski_location_update *update);

/** Returns whether @p msg, an order to create an element with that number of @p moves on this PE,
 * which is not its home, has to wait for messages of this PE, and is kept. */
bool ski_route_await(struct ski_collection *all, const skua_index *index, uint32_t moves,
                     skua_msg *msg);

/** Answers the marker @p msg: the element is where @p at says, or does not exist
 * (SKI_ABSENT_UNKNOWN), so that messages for it go to its home. */
void ski_route_answer(struct ski_collection *all, const skua_index *index, skua_msg *msg,
                      struct ski_location_update at);

/** Handler: an update of the location of an element. */
void ski_on_located(skua_msg *msg);

/** Handler: the answer to a marker. */
void ski_on_route_clear(skua_msg *msg);

#define SKI_LOCATED_MIN      8
#define SKI_ROUTE_MARKER_MIN 8
#define SKI_ROUTE_CLEAR_MIN  12

#endif
