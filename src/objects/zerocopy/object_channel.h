/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_channel.h - channels between objects (skua/object_channel.h), established anew when an
 * object migrates.
 *
 * The receiving end has a channel of its PE (onesided/channel/), the sending end a sender that was
 * opened for that.  They find each other by messages to their objects, which follow those wherever
 * they are (location.h), and which may overtake each other.  So each end has an *epoch*, the number
 * of times that it was set up, and messages name the epochs that they are about:
 *
 *      to the receiving end                        to the sending end
 *      OPEN     the sender, in its epoch, wants    OFFER    the channel, for a sender's epoch
 *               an offer                           STOP     the receiver is to leave
 *      OPENED   an offer was accepted              DRAINED  the answer to DRAIN
 *      STOPPED  the answer to STOP: puts so far    CLOSED   the receiver is closed
 *      DRAIN    the sender is to leave; puts
 *               so far
 *      CLOSED   the sender is closed; puts so far
 *
 * The sender is *live* from an offer until STOP, or until it is to leave.  While it is not, a
 * put waits in the object's own buffer: there is at most one, by the rules of channels.
 *
 * Before an object migrates or is destroyed, its ends are drained (object_channel_drain.h).
 *
 * Where the object arrives its epoch is the next, it says where its buffers are, and the receiving
 * end makes an offer, the sending end asks for one.
 *
 * No put is lost, duplicated or written to memory of an object that has left:
 *   - A sender is live only by an offer for its own epoch (so an offer that was in flight to the
 *     sender's former PE is ignored; the sender requests another) and of an epoch of the receiver
 *     that was not stopped (so an offer that STOP has overtaken is ignored).
 *   - The receiver knows whether its offer may be in use: `offered` is set by an offer and cleared
 *     by a message of the same epoch which shows that the sender stopped.
 *   - Both count all puts, in all epochs, and the counts migrate with their objects.
 */
#ifndef SKI_OBJECT_CHANNEL_H
#define SKI_OBJECT_CHANNEL_H

#include <skua/message.h>

#include "objects/model/lifecycle.h"

/** The observer of object channels. */
extern const struct ski_lifecycle ski_object_channel_lifecycle;

/** Establishes the channels of the objects of a PE again, which a restart has restored: both ends
 *  are as after a migration. */
void ski_object_channels_restored(struct ski_objects *objects);

/** Handler: a message from the other end of a channel. */
void ski_on_object_channel(skua_msg *msg);

#define SKI_OBJECT_CHANNEL_MIN 120 /* bytes of a message */

#endif
