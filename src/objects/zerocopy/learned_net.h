/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_net.h - learned channels (learned_channel.h) whose sender is on another host.
 *
 * The receiver has the channel, and finds it by the sender's PE, the entry and the head of a
 * message; the sender only numbers its messages.  The receiver arms slots as it does for a sender
 * of its own host, and claims them itself, when it has the first bytes of a packet: the network
 * then receives the data at the destination, or copies them there out of the driver's memory.  The
 * message that is left has no data.
 *
 *      armed --first bytes--> busy --all bytes--> filled
 *        `--all bytes, in the driver's memory-----^
 *
 * The element may withdraw while data are arriving.  Then the data continue in a message of their
 * own, into which those that have arrived are copied (struct ski_learned_incoming).
 *
 * Everything here runs on the thread of the PE, much of it within the driver: no code of the
 * program is called, and nothing is sent.
 */
#ifndef SKI_LEARNED_NET_H
#define SKI_LEARNED_NET_H

#include "objects/zerocopy/learned_slot.h"

struct ski_placement;

#define SKI_LEARNED_NET_MIN                                                                        \
    4096 /* bytes of data from which on messages to other hosts are numbered */

/** Returns the channel of @p object for a numbered message, which is made if it is new and has no
 *  object then.  NULL: the message comes from this host, or the element has too many channels. */
struct ski_learned_channel *ski_learned_net_channel(struct ski_learned_channels *learned,
                                                    const struct ski_object     *object,
                                                    const skua_msg              *msg);

/** Redirects data that are arriving in slots of @p channel: its slots are not busy when this
 *  returns. */
void ski_learned_net_withdraw(struct ski_learned_channels *learned,
                              struct ski_learned_channel  *channel);

/** Keeps @p channel, whose element has withdrawn, for another one.  It stays a channel without an
 *  object: an entry that has withdrawn is followed by ski_learned_channel_arm(). */
void ski_learned_net_keep(struct ski_learned_channels *learned,
                          struct ski_learned_channel  *channel);

/** Makes the slot of @p msg, from another host, idle: the message will not be delivered. */
void ski_learned_net_dropped(struct ski_learned_channels *learned, const skua_msg *msg);

/** Frees what is known of data that are arriving. */
void ski_learned_net_end(struct ski_learned_channels *learned);

/** How packets for entries with in-place delivery are received. */
extern const struct ski_placement ski_learned_placement;

#endif
