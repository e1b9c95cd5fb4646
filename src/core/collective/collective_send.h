/* SPDX-License-Identifier: Apache-2.0 */
/* collective_send.h - zero-copy sends of collectives: the network reads the data in place. */
#ifndef SKI_COLLECTIVE_SEND_H
#define SKI_COLLECTIVE_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ski_net_done;
struct ski_pe;

/* A packet: a head, which is copied, and data that stay unchanged until `sent` is called. */
struct ski_collective_packet {
    uint32_t    handler;
    const void *head;
    size_t      head_bytes;
    const void *data;
    size_t      bytes; /* of the data */
    void (*sent)(struct ski_pe *self, void *owner);
    void                 *owner;
    struct ski_net_done **done; /* receives what ski_net_split_move() needs; may be NULL */
};

/** Sends @p packet to @p pe, of another host.  Its `sent` is called once, perhaps before the call
 *  returns.  Returns false, without any effect, if the driver cannot accept the packet now. */
bool ski_collective_send(struct ski_pe *self, int pe, const struct ski_collective_packet *packet);

#endif
