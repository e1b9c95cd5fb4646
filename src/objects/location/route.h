/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - messages from one PE to one element keep their order, wherever the element goes.
 *
 * The *route* of a PE to an element is the PE that its messages to the element are sent to: where
 * the element was last heard to be, or its home; or its own queue, if the element is here
 * (lookup.h).  A PE that gets a message for an element which is not there sends it on to the home
 * (forward.h), and the home sends it on in the order of arrival (forward_window.h).  Messages
 * between two PEs are in order, so the messages of one route are, with two exceptions: the route
 * changes, or the element comes to a PE that has sent messages on to the home.
 *
 * A route changes.  Before the first message that would take another route, the PE sends a *marker*
 * by the former one and keeps its messages to the element.  The marker is forwarded as any message
 * to the element, so when it arrives, all messages that this PE has sent before it have arrived.
 * It is answered with the location of the element, by the PE that has it; or by the home if there
 * is no such element.  Then the PE sends what it has kept, where it believes the element to be.  A
 * PE other than the home that is notified of another location sends the marker at once, since it
 * has just sent messages; the home, and the PE that an element leaves, when they send the next one.
 * The marker of the latter goes through its own queue.  If no message of its own was before it
 * there, which had to be forwarded, the route is clear.
 *
 * An element arrives, or an order to create it.  It waits (SKI_ABSENT_ARRIVING) if messages may be
 * under way that would come after later ones:
 *
 *   - On a PE other than the home that has sent messages on to the home, or has sent its own ones
 * by any route.  It sends markers by these routes, and reports the arrival to the home before, so
 * they come back by way of the home.  Meanwhile messages that the home has sent on
 *     (SKI_TARGET_FORWARDED) are older than those that other PEs sent directly, or this PE sends.
 *     There are two lists; when the markers are back, the element arrives and gets the former, then
 *     the latter.
 *   - On the home, while messages that it has sent on to the element may come back, until a probe
 *     has shown that they have (ski_forward_window_flush()); and for the home's own messages, as
 *     above.
 *
 * A PE may have sent back the first messages of a window of the home before the element arrives,
 * and get the rest afterwards.  It sends these back, too (`returned`), until the probe comes which
 * the home sends behind them: then the home sends all of them again, in order.
 *
 * No PE waits forever.  A probe is answered at once.  A PE keeps only messages that it sends itself
 * while its route changes, and only an element that arrives holds messages of other PEs.  Of an
 * element there is one arrival at a time, and all other PEs send markers on to the home.  The home
 * knows of the arrival before it gets the marker, since both come from the same PE in this order,
 * and sends the marker there when its probes are answered; a claim (claim.h) does not hold it.  So
 * each arrival ends, and then what waits for it: the markers of PEs whose routes change.
 *
 * A migration costs nothing of this if the PE where the element arrives has not sent or forwarded
 * messages to it since the element was last there: the record of an absent element tells, and a
 * hash of the index if there is no record.
 *
 * Markers and probes have priority 0, so they are behind messages of this and of more urgent
 * priorities.  A message of a less urgent priority may still wait in a queue when a marker has
 * passed, and be overtaken by one of its priority that is sent later.  Expedited messages are not
 * kept.
 */
#ifndef SKI_ROUTE_H
#define SKI_ROUTE_H

#include "core/message/message.h"
#include "objects/location/lookup.h"

/** Acts on @p update, which has come from another PE.  On a PE other than the home the route to the
 * element changes if the update is newer than the record. */
void ski_route_update(struct ski_collection *all, const skua_index *index,
                      const struct ski_location_update *update);

/** Answers the marker @p msg: the element is where @p at says, or does not exist
 * (SKI_ABSENT_UNKNOWN), so that messages for it go to its home. */
void ski_route_answer(struct ski_collection *all, const skua_index *index, skua_msg *msg,
                      struct ski_location_update at);

/* The answer to a marker. */
struct ski_route_clear {
    struct ski_location_update at;     /* the element; pe is SKI_ABSENT_UNKNOWN if there is none */
    uint32_t                   number; /* as in the marker                                       */
};

/** Ends the job if @p msg says that an element is on @p pe, which is no PE, and less than @p least
 * of SKI_ABSENT_... */
void ski_route_check(struct ski_collection *all, const skua_index *index, const skua_msg *msg,
                     int32_t pe, int32_t least);

/** Handler: an update of the location of an element. */
void ski_on_located(skua_msg *msg);

/** Handler: at the home, an element has arrived elsewhere and holds messages (hold.h). */
void ski_on_hold_report(skua_msg *msg);

#define SKI_LOCATED_MIN      8
#define SKI_ROUTE_MARKER_MIN 8
#define SKI_ROUTE_CLEAR_MIN  12

#endif
