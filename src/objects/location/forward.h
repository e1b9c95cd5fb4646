/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forward.h - messages that have come to a PE where their element is not.
 *
 * A message may wait in a queue for longer than its element stays there.  Sent after the
 * element from PE to PE it would be late on each of them, and a backlog of such messages would
 * circle for as long as the element moves.  So a message is sent after its element only a
 * bounded number of times; then it waits at the element's home, which sends it when it has
 * reason to believe that it will arrive:
 *
 *   - A PE that an element has left, or that has heard where it is, sends the first
 *     SKI_FORWARD_DIRECT messages there and all others to the home.
 *   - The home sends messages on within a *window*.  With the last of a window goes a *probe*,
 *     which the PE answers when its queue has come to it: by then all messages of the window
 *     have been delivered, or are back at the home.  If the element was there, the next window
 *     is twice as large; if it was not, or is heard to have moved meanwhile, half as large.  Until
 *     the answer comes all other messages wait at the home.  If the element was not there, they
 *     wait until the home hears where it is, as it does of each arrival (location.h).
 *   - An element that comes to its home finds its backlog there, and takes it a window at a
 *     time; when it leaves, the rest stays.
 *
 * The bound.  Of n messages to an element that moves m times, at most SKI_FORWARD_DIRECT for
 * each move go after it directly.  Each goes to the home for the first time once.  A window of w
 * messages that fails in part costs at most 2w + 2 messages, and at least w/2 messages have
 * succeeded in windows since the last that failed, but for the first window and windows of one.
 * So all that is forwarded is at most a constant times n + m.  An element moves at most
 * once for each message that it gets, by itself.
 *
 * Sources.  The PE that sends a message on to its element tells the source where the element
 * is, once for each move of the element: a message that the source sent before it heard of it
 * brings no second one.  The home tells no source of an element that moves faster than windows
 * succeed, nor while messages wait, which later ones of the source would overtake.
 *
 * No message waits for ever.  Messages wait at the home while a probe is under way, which is
 * answered; or after the answer that the element was not where the home believed it to be.
 * Then it has left that PE, or has not arrived there yet, and its next arrival or its end is
 * told to the home behind that answer, or was told before and is known when the answer comes.
 */
#ifndef SKI_FORWARD_H
#define SKI_FORWARD_H

#include "objects/chare/object.h"

#define SKI_FORWARD_DIRECT 4

/** Sends @p msg on to its element, which is not here but on PE @p place->pe; or to the home of
 *  the element; or keeps it, at the home. */
void ski_forward(struct ski_collection *all, struct ski_absent *place, skua_msg *msg);

/** What is known of an element in @p place has changed: it is on another PE, or known to have
 *  arrived there. */
void ski_forward_moved(struct ski_collection *all, struct ski_absent *place);

/** The element of @p place has come: messages that wait for it are delivered. */
void ski_forward_arrived(struct ski_collection *all, struct ski_absent *place);

/** Gives back what is remembered of forwarding to the element of @p place; its messages stay. */
void ski_forward_forget(struct ski_absent *place);

/* Handlers. */
void ski_on_probe(skua_msg *msg);
void ski_on_probed(skua_msg *msg);
void ski_on_backlog(skua_msg *msg);

#define SKI_PROBE_LEAST  4
#define SKI_PROBED_LEAST 8

#endif
