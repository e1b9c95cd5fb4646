/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - the PEs on other hosts that a PE has talked to, and its port: what net_send.c, which
 * sends, and net_recv.c, which receives, share.
 *
 * A contact is made with the first packet, either way, and stays until the job ends.
 */
#ifndef SKI_PEER_H
#define SKI_PEER_H

#include "core/net/deferred_ack.h"
#include "core/pe/pe.h"
#include "transport/driver.h"

/* A packet that came before one that was sent before it. */
struct ski_ahead {
    struct ski_ahead *next;
    uint32_t          sequence;
    struct skua_msg  *msg;
};

/* A PE we talk to. */
struct ski_contact {
    int32_t             pe;
    bool                lost;
    uint32_t            token_out, token_in;
    uint32_t            sent, received; /* sequence of the next packet each way */
    struct ski_peer    *peer;           /* NULL: we have not sent to it         */
    struct ski_list     backlog;        /* waits for room, or for others        */
    size_t              backlog_bytes;  /* of it, about                         */
    bool                full;           /* it waits for room                    */
    bool                listed;         /* among those with a backlog           */
    uint64_t            sent_at;        /* ticks                                */
    uint64_t            lulls;          /* of the port by then                  */
    struct ski_ahead   *early;          /* ascending                            */
    struct ski_contact *next_waiting;   /* of those with a backlog              */
};

/* The port of a PE. */
struct ski_far {
    struct ski_pe       *self;     /* NULL before the PE begins and after it ends */
    uint32_t             handlers; /* packets may be for those below it */
    struct ski_port     *port;
    int                  wait_fd, bell; /* -1: the driver cannot wake us */
    struct ski_contact **table;         /* by PE, open addressing */
    uint32_t             room, count;
    struct ski_contact  *waiting;
    uint64_t             waiting_since; /* ticks */
    uint64_t             lulls;         /* passes that found nothing else to do, counted */
    struct ski_trust     trust;         /* to send, or run the scheduler, again */
    uint32_t             progressing;   /* calls of the driver's progress() around what runs now */
    uint64_t             flying;        /* packets and operations that the driver still holds */
    uint64_t             operations;    /* the latter alone                                   */
};

/* What drivers tell a port of (net_recv.c). */
extern const struct ski_upcalls ski_far_upcalls;

static inline uint32_t ski_contact_slot(const struct ski_far *far, int pe)
{
    return (uint32_t)pe * UINT32_C(0x9e3779b1) & (far->room - 1);
}

/** NULL: there is none. */
static inline struct ski_contact *ski_contact_find(const struct ski_far *far, int pe)
{
    uint32_t slot = ski_contact_slot(far, pe);

    while (far->table[slot] && far->table[slot]->pe != pe)
        slot = (slot + 1) & (far->room - 1);
    return far->table[slot];
}

/** Make one, for a PE that there is none for. */
struct ski_contact *ski_contact_add(struct ski_far *far, int pe);

void ski_contact_drop(struct ski_contact *contact);

/** It is lost, for good: the layer above is told, once. */
void ski_contact_lose(struct ski_far *far, struct ski_contact *contact, const char *why);

#endif
