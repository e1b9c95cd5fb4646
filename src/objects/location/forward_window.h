/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward_window.h - forwarding messages to an element that is elsewhere, within a window.
 *
 * A message may wait in a queue for longer than its element stays on that PE.  If it were forwarded
 * from PE to PE after the element it would be late on each of them, and a backlog of such messages
 * would circle for as long as the element migrates.  So a message is forwarded only a bounded
 * number of times; then it waits at the element's home, which sends it when the element is likely
 * to be where it is sent to:
 *
 *   - A PE that an element has left, or that was told where it is, sends messages of other PEs to
 *     the home: a second path to the element would change their order (route.h).
 *   - The home sends messages on within a *window*.  With the last of a window goes a *probe*,
 *     which the PE answers when its queue has come to it: by then all messages of the window
 *     have been delivered, or are back at the home.  If the element was there, the next window
 *     is twice as large; if it was not, or is reported to have migrated meanwhile, half as large.
 *     Until the answer comes all other messages wait at the home.  If the element was not there,
 *     they wait until the home is told where it is, as it is of each arrival (location.h).
 *   - An element that comes to its home finds its backlog there, and takes it a window at a
 *     time; when it leaves, the rest stays, and the next window is half of the last one.
 *
 * Order.  The home sends messages in the order of their arrival.  A message that it sends on is
 * marked (SKI_TARGET_FORWARDED), so that one which comes back is known: it is older than all that
 * wait, and those that were sent after it come back as well, before the answer to a probe.  So the
 * home sends nothing else until a probe is answered, puts those that have come back before those
 * that wait, and only then sends to the PE where the element is.  If it has sent messages to an
 * element that is reported elsewhere, it probes the former PE first.  The element may be back on
 * the former PE before the rest of a window arrives there: route.h says what that PE does.
 *
 * The bound.  Of n messages to an element that migrates m times, each goes to the home at least
 * once.  For the rest let the potential be four times the size of the next window.  A window of w
 * messages that fails costs at most 2w + 2 messages and halves the window, which lowers the
 * potential by 2w: the two that remain are charged to the migration that made it fail, as are the
 * two of a probe of the former PE.  A window that succeeds delivers w messages and doubles the
 * window, which raises the potential by 4w: charged to these messages.  So the number of forwarded
 * messages is at most a constant times n + m. Unless a load balancer moves it, an element migrates
 * at most once for each message that it gets: then m <= n.
 *
 * Sources.  The PE that forwards a message to its element tells the source where the element is,
 * once for each migration: messages that the source sent before that update arrived bring no second
 * one.  The home tells no source of an element that migrates faster than windows succeed, nor
 * while messages wait: the answer to the marker of the source (route.h) would wait as long.
 *
 * No message waits forever.  Messages wait at the home while a probe is in flight, which is
 * answered; or after the answer that the element was not where the home believed it to be.
 * Then it has left that PE, or has not arrived there yet, and its next arrival or its destruction
 * is told to the home after that answer, or was told before and is known when the answer comes.
 */
#ifndef SKI_FORWARD_WINDOW_H
#define SKI_FORWARD_WINDOW_H

#include "objects/location/home.h"

/** Forwards @p msg to the home of its element; at the home, to the element, which is on PE
 * @p absent->pe, or holds the message. */
void ski_forward_window_send(struct ski_collection *all, struct ski_absent *absent, skua_msg *msg);

/** Sends the messages that wait at the home for an element, which is on PE @p absent->pe now, in no
 * window: the element is new there. */
void ski_forward_window_release(struct ski_collection *all, struct ski_absent *absent);

/** At the home: returns whether messages that were sent to an element may still come back, and lets
 * the PE that they were sent to answer when it has sent back the last of them. */
bool ski_forward_window_flush(struct ski_collection *all, struct ski_absent *absent);

/** At the home, after ski_forward_window_flush(): returns whether the answer has come.  Then the
 * messages that came back are the first of those held. */
bool ski_forward_window_is_flushed(const struct ski_absent *absent);

/** Acts on a change in the record of an absent element: the element is on another PE; or is where
 * it was @p known to be, and has arrived there. */
void ski_forward_window_moved(struct ski_collection *all, struct ski_absent *absent, bool known);

/** At the home: answers the report @p msg of the arrival of an element (hold.h), on PE @p
 * absent->pe, after the messages that wait. */
void ski_forward_window_report(struct ski_collection *all, struct ski_absent *absent,
                               skua_msg *msg);

/** Delivers the messages that wait for the element of @p absent, which is here now. */
void ski_forward_window_arrived(struct ski_collection *all, struct ski_absent *absent);

/** Frees what is recorded of forwarding to the element of @p absent; messages held for it are
 * kept. */
void ski_forward_window_free(struct ski_absent *absent);

/** Handler: the home of an element asks whether the element is here. */
void ski_on_probe(skua_msg *msg);

/** Acts on the answer @p msg to a probe, at the home of the element of @p absent. */
void ski_forward_window_probed(struct ski_collection *all, struct ski_absent *absent,
                               const skua_msg *msg);

/** Handler: queue the next window of the messages that waited for an element. */
void ski_on_backlog(skua_msg *msg);

/* Bytes of a probe and of its answer, at least. */
#define SKI_PROBE_MIN  4
#define SKI_PROBED_MIN 8

#endif
