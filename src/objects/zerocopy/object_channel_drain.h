/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_channel_drain.h - completes the transfers of an object's channel ends before the object
 * migrates or is destroyed.
 *
 * The object counts as running until its ends are drained (event element_draining):
 *   - A receiving end that has made an offer sends STOP.  The answer says how many puts were made,
 *     ever; when all have arrived no PE writes to the buffer.  DRAIN and CLOSED say as much as
 *     STOPPED.
 *   - A sending end that has a sender stops and sends DRAIN.  The answer comes when all puts have
 *     arrived, so that no PE reads the staging memory of the sender.  The end also waits until the
 *     network has read the buffer of the object.
 * Both ends of a channel may drain at the same time: each answers while it waits itself, so neither
 * waits forever.
 *
 * An object that stays after all sets its ends up again, in their next epoch.
 */
#ifndef SKI_OBJECT_CHANNEL_DRAIN_H
#define SKI_OBJECT_CHANNEL_DRAIN_H

#include "objects/zerocopy/object_channel_end.h"

/** Closes the sender of a sending end, if it has one.  The local completion of a put in progress is
 *  cancelled. */
void ski_object_end_close_sender(struct ski_object_end *end);

/** Releases an object that waits for its ends, if they are drained now.  The object and its ends
 *  may not exist when this returns. */
void ski_object_ends_check_drained(struct ski_object_ends *ends);

/** Observes that @p object is to leave this PE or to be destroyed: begins to drain its ends. */
void ski_object_channel_element_draining(struct ski_object *object);

/** Observes that @p object stays after all: sets its ends up again. */
void ski_object_channel_element_staying(struct ski_object *object);

/** Observes that @p object, which is to leave, continues here first: sets its ends up again, since
 *  its transfers must not wait. */
void ski_object_channel_element_blocked(struct ski_object *object);

#endif
