/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer.h - the network port of a PE, and the PEs of other hosts that it talks to: the state that
 * net_send.c and net_recv.c share.
 *
 * A peer is added with the first packet to or from that PE, and stays until the job ends.
 */
#ifndef SKI_PEER_H
#define SKI_PEER_H

#include "core/data/msg_list.h"
#include "core/net/ack_policy.h"
#include "core/net/deferred_ack.h"
#include "core/pe/pe.h"
#include "transport/driver.h"

/* An out-of-order packet: it has overtaken one that was sent before it. */
struct ski_early_packet {
    struct ski_early_packet *next;
    uint32_t                 sequence;
    struct skua_msg         *msg; /* NULL: the packet was invalid; its number counts as received */
};

/* A PE of another host. */
struct ski_net_peer {
    int32_t pe;
    union {
        struct {
            bool    lost;
            bool    acks;  /* acknowledgements may wait for the PE: a packet carries them */
            bool    took;  /* the next packet has some of them in it */
            uint8_t zcopy; /* messages announced by ski_net_announce_zcopy(); 255: or more */
        };
        uint32_t unusual; /* not 0: a packet takes the slow path */
    };
    uint32_t                 token_out, token_in;
    uint32_t                 sent, received; /* sequence numbers of the next packet each way   */
    struct ski_peer         *endpoint;       /* the driver's; NULL: nothing was sent yet       */
    struct ski_list          backlog;        /* packets that wait for room, or for others      */
    size_t                   backlog_bytes;  /* about: what they take of a coalesced packet    */
    size_t                   open_room;      /* bytes by which the last of them may grow       */
    uint32_t                 extended;       /* how often that has happened                    */
    uint32_t                 burst;          /* packets that followed another closely          */
    bool                     patient;        /* the last one may wait: its sender allows that  */
    bool                     full;           /* the backlog waits for room                     */
    bool                     listed;         /* in ski_net_port.waiting                        */
    uint64_t                 sent_at;        /* ticks: the last send                           */
    uint64_t                 idle_epoch;     /* progress.empty at the last send                */
    struct ski_early_packet *early;          /* by sequence number                             */
    struct ski_net_peer     *next_waiting;
};

/* The network port of a PE. */
struct ski_net_port {
    /* The ports of a process are an array, and PEs that are threads write theirs all the time. */
    _Alignas(SKI_CACHE_LINE) struct ski_pe *self; /* NULL before the PE begins and after it ends */
    uint32_t                handlers;      /* packets may be for handlers below this number      */
    struct ski_port        *port;          /* the driver's                                       */
    int                     wait_fd, bell; /* -1: the driver cannot wake the PE             */
    struct ski_net_peer   **table;         /* by PE, open addressing                        */
    uint32_t                room, count;
    struct ski_net_peer    *last_target;   /* the peer that a packet was sent to last, or NULL */
    struct ski_net_peer    *last_source;   /* of the last plain packet received, or NULL    */
    struct ski_net_peer    *waiting;       /* peers with a backlog                          */
    uint64_t                waiting_since; /* ticks                                         */
    bool                    from_thread;   /* a user thread has sent some of the backlogs   */
    bool                    urgent;        /* the next pass flushes all backlogs            */
    struct ski_ack_policy   sends;         /* whether the next send or pass comes soon      */
    struct ski_deferred_ack acks;
    uint32_t                progressing; /* calls of the driver's progress() around what runs */
    uint64_t                in_flight;   /* packets and operations that the driver holds      */
    uint64_t                operations;  /* the operations among them                         */
};

/** The upcalls of drivers (net_recv.c). */
extern const struct ski_upcalls ski_net_upcalls;

static inline uint32_t ski_net_peer_slot(const struct ski_net_port *net, int pe)
{
    return (uint32_t)pe * UINT32_C(0x9e3779b1) & (net->room - 1);
}

/** Returns the peer for @p pe, or NULL. */
static inline struct ski_net_peer *ski_net_peer_find(const struct ski_net_port *net, int pe)
{
    uint32_t slot = ski_net_peer_slot(net, pe);

    while (net->table[slot] && net->table[slot]->pe != pe)
        slot = (slot + 1) & (net->room - 1);
    return net->table[slot];
}

/** Adds a peer for @p pe, which has none. */
struct ski_net_peer *ski_net_peer_add(struct ski_net_port *net, int pe);

/** Frees a peer, at the end of the job. */
void ski_net_peer_free(struct ski_net_peer *peer);

/** Marks a peer as lost, for good, and calls ski_net_set_lost()'s function, once. */
void ski_net_peer_mark_lost(struct ski_net_port *net, struct ski_net_peer *peer, const char *why);

#endif
