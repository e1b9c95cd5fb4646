/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short.h - short packets over TCP, as tagged messages.
 *
 * UCX 1.13 hands an active message to the system in three parts, and a short tagged message in
 * one, which takes less (docs/decisions/0014-packets.md).  So packets of up to
 * SKI_SHORT_BYTES are tagged messages, to receives that a port keeps posted: any tag does,
 * there are no others.  They are matched in the order in which they were posted.  One is
 * posted again when progress() is called next, that is, when the packet that it brought has
 * been worked on.  Packets for which there is none are kept by UCX, and come when they are
 * posted.
 *
 * Invariant: the receives of `posted' slots from `oldest' on, round the ring, are posted.
 */
#ifndef SKI_UCX_SHORT_H
#define SKI_UCX_SHORT_H

#include <ucp/api/ucp.h>

#include "transport/driver.h"

#define SKI_SHORT_BYTES 1536 /* UCX copies those of up to 2 KB, with its headers, to send them */
#define SKI_SHORT_SLOTS 8

struct ski_port;

struct ski_shorts {
    unsigned oldest, posted;
    void    *request[SKI_SHORT_SLOTS];
    char (*slot)[SKI_SHORT_BYTES]; /* NULL: none are received */
};

/** Begin and end with a port, that is, with its worker. */
ucs_status_t ski_shorts_open(struct ski_port *port);
void         ski_shorts_close(struct ski_port *port);

/** Post the receives again that are over; and whether there are none. */
void ski_shorts_post(struct ski_port *port);

static inline bool ski_shorts_are_posted(const struct ski_shorts *shorts)
{
    return !shorts->slot || shorts->posted == SKI_SHORT_SLOTS;
}

#endif
