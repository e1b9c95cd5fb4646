/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nocopy_net.h - a message with one nocopy argument to another host, in one packet.
 *
 * An argument that is too small to be fetched travels with its message.  Where the driver can, it
 * is sent from the memory of the program, so that the sender does not copy it:
 *
 *      | struct ski_nocopy_packet | head of the message, padded | the argument |
 *
 * The receiver makes the message that it stands for, as skua_nocopy_alloc() would have made it with
 * the data in it, and lets the driver receive the argument there.  The memory of the sender is free
 * when the driver has read it.
 *
 * skua_nocopy_alloc() does not know whether the message will be sent to the PE that it is made for.
 * So it makes one that holds a buffer (nocopy_msg.h), which any PE can fetch, marks it, and
 * announces it to core/net/net.h, which gives it back to this module when it is sent there.
 */
#ifndef SKI_NOCOPY_NET_H
#define SKI_NOCOPY_NET_H

#include "core/net/net.h"
#include "objects/model/lifecycle.h"
#include "objects/zerocopy/nocopy_msg.h"

/* The header of the packet. */
struct ski_nocopy_packet {
    struct skua_msg msg;   /* the header of the message               */
    uint64_t        bytes; /* of the argument                         */
    uint64_t        first; /* bytes of the head of the message        */
};

#define SKI_NOCOPY_NET_MIN sizeof(struct ski_nocopy_packet)

/** Returns whether an argument of @p bytes that is not fetched is sent to @p pe without a copy,
 * with a head of @p first bytes. */
bool ski_nocopy_net_pays(struct ski_pe *self, int pe, size_t first, size_t bytes);

/** Announces @p msg, which has been made for @p pe with one argument, a buffer of the caller.
 *  Returns false if the argument is to be copied into the message. */
bool ski_nocopy_net_expect(struct ski_pe *self, int pe, skua_msg *msg);

/** Sends @p msg to @p pe if it was announced; see ski_net_zcopy_send_fn.  If the argument cannot be
 *  sent without a copy, it is copied into the message that is returned. */
skua_msg *ski_nocopy_net_send(struct ski_pe *self, int pe, skua_msg *msg);

/** Handles a packet that has been received as a message of its own. */
void ski_on_nocopy_net(skua_msg *msg);

/** How the arguments of packets are received in their messages. */
extern const struct ski_placement ski_nocopy_placement;

/** Frees the records of packets that a PE has not received whole when it ends. */
extern const struct ski_lifecycle ski_nocopy_net_lifecycle;

#endif
