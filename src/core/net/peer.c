/* SPDX-License-Identifier: Apache-2.0 */
/* peer.c - see peer.h. */
#include "core/net/peer.h"

#include <stdlib.h>

#include "base/memory.h"
#include "core/net/net.h"
#include "core/net/packet.h"

static ski_net_lost_fn *peer_lost;

void ski_net_set_lost(ski_net_lost_fn *lost)
{
    peer_lost = lost;
}

static void peer_insert(struct ski_net_port *net, struct ski_net_peer *peer)
{
    uint32_t slot = ski_net_peer_slot(net, peer->pe);

    ski_assert(net->count <= net->room / 2 + 1);
    while (net->table[slot])
        slot = (slot + 1) & (net->room - 1);
    net->table[slot] = peer;
}

static void peer_grow(struct ski_net_port *net)
{
    struct ski_net_peer **old = net->table;
    uint32_t              n   = net->room;

    ski_assert((n & (n - 1)) == 0);
    net->room  = 2 * n;
    net->table = ski_calloc(net->room, sizeof *net->table);
    for (uint32_t i = 0; i < n; i++)
        if (old[i])
            peer_insert(net, old[i]);
    free(old);
}

struct ski_net_peer *ski_net_peer_add(struct ski_net_port *net, int pe)
{
    const uint64_t      *secret = net->self->job->secret;
    struct ski_net_peer *peer   = ski_calloc(1, sizeof *peer);

    ski_assert(!ski_net_peer_find(net, pe));
    ski_assert(ski_job_index(net->self->job, pe) < 0); /* PEs of this host are no peers */
    peer->pe        = pe;
    peer->token_out = ski_packet_token(secret, net->self->pe, pe);
    peer->token_in  = ski_packet_token(secret, pe, net->self->pe);
    ski_list_init(&peer->backlog);
    if (2 * ++net->count > net->room)
        peer_grow(net);
    peer_insert(net, peer);
    return peer;
}

void ski_net_peer_free(struct ski_net_peer *peer)
{
    while (peer->early) {
        struct ski_early_packet *early = peer->early;
        peer->early                    = early->next;
        free(early);
    }
    free(peer); /* messages of its backlog go with the arena */
}

void ski_net_peer_mark_lost(struct ski_net_port *net, struct ski_net_peer *peer, const char *why)
{
    ski_assert(peer_lost && net->self);
    if (peer->lost)
        return;
    peer->lost = true;
    peer_lost(net->self, peer->pe, why);
}
