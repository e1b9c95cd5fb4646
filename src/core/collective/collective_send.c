/* SPDX-License-Identifier: Apache-2.0 */
/* collective_send.c - see collective_send.h. */
#include "core/collective/collective_send.h"

#include <string.h>

#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/pe.h"
#include "transport/driver.h"

/* What a packet in flight needs when the network has read it; it lies behind the packet's head. */
struct collective_flight {
    struct ski_net_done done; /* the first member */
    struct ski_pe      *self;
    skua_msg           *msg;
    void (*sent)(struct ski_pe *self, void *owner);
    void *owner;
};

static void collective_sent(struct ski_net_done *done, skua_status status)
{
    struct collective_flight flight = *(struct collective_flight *)done;

    (void)status; /* the loss of a peer is reported elsewhere */
    ski_pool_free(&flight.self->pool, flight.msg);
    flight.sent(flight.self, flight.owner);
}

bool ski_collective_send(struct ski_pe *self, int pe, const struct ski_collective_packet *packet)
{
    size_t                    head = (packet->head_bytes + 7) & ~(size_t)7;
    struct collective_flight *flight;
    skua_msg                 *msg;

    if (!ski_net_driver()->send_split)
        return false;
    msg    = skua_msg_alloc(head + sizeof *flight);
    flight = (struct collective_flight *)(void *)((char *)skua_msg_data(msg) + head);
    memcpy(skua_msg_data(msg), packet->head, packet->head_bytes);
    *flight = (struct collective_flight){{collective_sent}, self, msg, packet->sent, packet->owner};
    msg->handler = (uint16_t)packet->handler;
    msg->source  = self->pe;
    msg->bytes   = packet->head_bytes + packet->bytes; /* on the wire */
    if (ski_net_send_split(self, pe, msg, packet->data, packet->bytes, &flight->done))
        return true;
    skua_msg_free(msg);
    return false;
}
