/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - messages from one PE to one element keep their order, wherever the element goes.
 *
 * The *route* of a PE to an element is the PE that its messages to the element are sent to: the
 * last known location of the element, or its home; or its own queue, if the element is here
 * (lookup.h).  A PE that gets a message for an absent element sends it on to the home (forward.h),
 * and the home sends it on to the element (forward_window.h), with a mark (SKI_TARGET_FORWARDED).
 *
 * The order.  For each sender and element, the messages of one priority pass
 *
 *      kept by the sender -> its route -> [held there] -> [the queue of the home] -> the element
 *
 * first in, first out, because
 *
 *   - a sender has one route at a time.  Before it takes another, it sends a *marker* by the
 *     former one and keeps its messages.  The marker is forwarded as any message to the element,
 *     so when it arrives, all that the sender has sent before have run.  It is answered with the
 *     location of the element, by the PE that has it; or by the home if there is no such element.
 *   - the PE at the end of the route gets messages in order.  While it has the element, they
 *     run; while it has not, they go to the home.  An element that leaves has run the earlier
 *     ones.  One that comes back while messages that this PE has sent to the home may be in
 *     flight holds all but those with the mark (hold.h), until the home has answered the report
 *     of its arrival, which is behind them.  If the element leaves before, those that it held go
 *     to the home before any that come later.
 *   - the home queues messages in the order of arrival, and sends them to one PE at a time.
 *     Those that come back, which the mark tells, are older than all in the queue.  The home
 *     sends nothing else before a probe shows that all of them are back, and then sends them
 *     again first; and before it sends to another PE, it probes the former one.
 *   - the PE where the home believes the element to be runs messages with the mark, or sends them
 *     back.  It sends back also the rest of a window if the element has arrived meanwhile
 *     (`returned`), until the probe comes that is behind them.  A message that is sent back behind
 *     the probe, since its priority is less urgent, does not begin that: no probe would end it.
 *
 * The own queue of a PE that an element has left is a route, too: the marker goes through that
 * queue.  If no message of this PE was before it there, which had to be forwarded, the route is
 * clear.  A PE other than the home that is notified of another location sends the marker at once,
 * since it has just sent messages; the home, and the PE that an element has left, when they send
 * the next one.
 *
 * No PE waits forever.  A probe is answered at once.  A PE keeps only messages that it sends itself
 * while its route changes; markers of other PEs run, wait with the messages before them, or go on
 * to the home, and a claim (claim.h) does not hold them.  An element that holds messages gets those
 * of the home meanwhile, so the queue of the home advances up to the report of the arrival, and the
 * markers in it.
 *
 * Markers, reports and probes have priority 0, so they are behind messages of this and of more
 * urgent priorities.  A message of a less urgent priority may still wait in a queue when a marker
 * has passed, and be overtaken by one of its priority that is sent later.  Expedited messages are
 * not kept.
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

/** Ends the job if @p msg says that an element is on @p pe, which is not a PE, and less than @p
 * least of SKI_ABSENT_... */
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
