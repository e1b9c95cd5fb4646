/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_port.c - see mpi_port.h. */
#include "transport/mpi/mpi_port.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi/mpi_session.h"
#include "transport/mpi/mpi_transfer.h"

#define MPI_SYNC_WINDOW   128 /* eager packets from one synchronous send to the next */
#define MPI_SYNCS_MAX     2   /* synchronous sends in flight to a peer, at most */
#define MPI_CLOSE_SECONDS 2.0 /* seconds that close() waits for peers */

struct mpi_address {
    int32_t rank, port;
};

/* ---- peers that are lost ---------------------------------------------------- */

/* Loses all peers, since the receives of the port have failed. */
static void mpi_peers_lose_all(struct ski_port *port, int error)
{
    port->recv_failed = true;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        ski_mpi_peer_mark_lost(peer, error);
}

static void mpi_report_lost(struct ski_port *port)
{
    port->has_lost = false;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (peer->error != MPI_SUCCESS && !peer->reported) {
            peer->reported = true;
            port->up->lost(port->owner, peer->pe, ski_mpi_error(peer->error));
        }
}

/* ---- sending -------------------------------------------------------------------- */

static struct ski_mpi_transfer *mpi_send_get(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_mpi_transfer *t = ski_mpi_transfer_get(&peer->port->free_send);

    peer->sends++;
    peer->port->sends++;
    peer->held_bytes += bytes;
    t->kind   = SKI_MPI_TRANSFER_SEND;
    t->sync   = false;
    t->split  = false;
    t->peer   = peer;
    t->pe     = peer->pe;
    t->packet = packet;
    t->bytes  = bytes;
    t->held   = bytes;
    t->first  = 0;
    t->rest   = packet;
    return t;
}

/* Returns the communicator for messages to a port. */
static MPI_Comm mpi_comm_to(int number)
{
    return number == 0 ? ski_mpi_net.first : ski_mpi_net.packets;
}

static int mpi_tag_to(const struct ski_peer *peer, size_t bytes)
{
    return peer->number == 0 ? (int)bytes : peer->number;
}

/* MPI accepts eager packets whether or not they are received, and searches all of them with each
 * receive. So one of MPI_SYNC_WINDOW packets is sent synchronously, which completes only when it
 * was received, and a sender is never more than a few of these ahead of its receiver. */
static skua_status mpi_send_eager(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_port         *port = peer->port;
    bool                     sync = (peer->small + 1) % MPI_SYNC_WINDOW == 0;
    struct ski_mpi_transfer *t;
    MPI_Request              request;
    int                      error, done = 0;

    if (sync && peer->syncs == MPI_SYNCS_MAX)
        return SKUA_ERR_AGAIN;
    peer->small++;
    ski_mpi_enter();
    error = (sync ? MPI_Issend : MPI_Isend)(packet, (int)bytes, MPI_BYTE, peer->rank,
                                            mpi_tag_to(peer, bytes), mpi_comm_to(peer->number),
                                            &request);
    if (error == MPI_SUCCESS)
        error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    ski_mpi_leave();
    if (error != MPI_SUCCESS)
        ski_mpi_peer_mark_lost(peer, error);
    if (error != MPI_SUCCESS || done)
        return SKUA_OK;
    t       = mpi_send_get(peer, packet, bytes);
    t->sync = sync;
    peer->syncs += sync;
    assert(peer->syncs <= MPI_SYNCS_MAX);
    ski_mpi_track_request(port, t, MPI_SUCCESS, request);
    return SKUA_PENDING;
}

static int mpi_next_tag(void)
{
    uint32_t n = atomic_fetch_add_explicit(&ski_mpi_net.tags, 1, memory_order_relaxed);

    return (int)(n % (uint32_t)ski_mpi_net.tag_most);
}

/* Announces and sends the packet of @p t. */
static skua_status mpi_send_rndv(struct ski_peer *peer, struct ski_mpi_transfer *t)
{
    struct ski_port *port = peer->port;
    MPI_Request      request;
    int              error, tag = mpi_next_tag();

    t->announcement =
        (struct ski_mpi_rts){.bytes = t->bytes, .tag = tag, .pe = port->pe, .first = t->first};
    ski_mpi_enter();
    error =
        MPI_Isend(&t->announcement, sizeof t->announcement, MPI_BYTE, peer->rank,
                  mpi_tag_to(peer, sizeof t->announcement), mpi_comm_to(peer->number), &request);
    ski_mpi_track_request(port, t, error, request);
    if (error == MPI_SUCCESS)
        ski_mpi_transfer_data(port, t, peer->rank, tag);
    ski_mpi_leave();
    if (t->left > 0)
        return SKUA_PENDING;
    ski_mpi_peer_mark_lost(peer, t->error);
    ski_mpi_send_put(port, t);
    return SKUA_OK;
}

/* Returns whether a peer must wait: it leaves as much room to others as it uses, or a peer that
 * computes would stop them all. */
static bool mpi_is_crowded(const struct ski_peer *peer)
{
    return !peer->port->free_send || peer->sends > SKI_MPI_SENDS_MAX - peer->port->sends;
}

skua_status ski_mpi_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    if (peer->error != MPI_SUCCESS)
        return SKUA_OK; /* lost() reports it */
    if (mpi_is_crowded(peer) || peer->held_bytes >= SKI_HELD_MAX)
        return SKUA_ERR_AGAIN;
    return bytes <= SKI_MPI_EAGER_MAX ? mpi_send_eager(peer, packet, bytes)
                                      : mpi_send_rndv(peer, mpi_send_get(peer, packet, bytes));
}

skua_status ski_mpi_send_split(struct ski_peer *peer, void *packet, size_t bytes, const void *rest,
                               size_t rest_bytes, void *cookie)
{
    struct ski_mpi_transfer *t;

    if (bytes + rest_bytes <= SKI_MPI_EAGER_MAX || bytes > SKI_MPI_EAGER_MAX || rest_bytes == 0)
        return SKUA_ERR_UNSUPPORTED;
    if (peer->error != MPI_SUCCESS)
        return SKUA_OK; /* lost() reports it */
    if (mpi_is_crowded(peer))
        return SKUA_ERR_AGAIN;
    t         = mpi_send_get(peer, packet, bytes);
    t->bytes  = bytes + rest_bytes;
    t->first  = bytes;
    t->rest   = (char *)(uintptr_t)rest;
    t->split  = true;
    t->cookie = cookie;
    return mpi_send_rndv(peer, t);
}

/* ---- receiving -------------------------------------------------------------------- */

static void *mpi_alloc(struct ski_port *port, size_t bytes)
{
    return port->closing ? NULL : port->up->alloc(port->owner, bytes);
}

static void mpi_on_packet(struct ski_port *port, const void *data, size_t bytes)
{
    void *packet;

    if (!port->closing && port->up->recv_inline && port->up->recv_inline(port->owner, data, bytes))
        return;
    packet = mpi_alloc(port, bytes);
    if (packet)
        port->up->arrived(port->owner, memcpy(packet, data, bytes), bytes);
}

/* Receives a large packet. */
static void mpi_on_rts(struct ski_port *port, const struct ski_mpi_rts *a, int rank)
{
    struct ski_mpi_transfer *t;

    if (a->first >= a->bytes || a->first > SKI_MPI_EAGER_MAX)
        return;
    t               = ski_mpi_transfer_get(&port->free_receive);
    t->announcement = *a;
    t->pe           = a->pe;
    t->rank         = rank;
    ski_mpi_recv_start(port, t);
}

/* Starts the persistent receive of a slot, which is made on first use. */
static int mpi_recv_restart(struct ski_port *port, unsigned slot, int tag)
{
    int error = MPI_SUCCESS;

    assert(slot <= port->made);
    if (slot == port->made) {
        error = MPI_Recv_init(port->slots + (size_t)slot * SKI_MPI_EAGER_MAX, SKI_MPI_EAGER_MAX,
                              MPI_BYTE, MPI_ANY_SOURCE, tag, mpi_comm_to(port->number),
                              &port->receive[slot]);
        port->made += error == MPI_SUCCESS;
    }
    return error == MPI_SUCCESS ? MPI_Start(&port->receive[slot]) : error;
}

/* Posts another receive, after the others. */
static int mpi_recv_post(struct ski_port *port)
{
    unsigned slot = (port->oldest + port->posted) % SKI_MPI_RECV_SLOTS;
    int      tag  = port->number == 0 ? MPI_ANY_TAG : port->number, error;

    if (ski_mpi_library.persistent_recv)
        error = mpi_recv_restart(port, slot, tag);
    else
        error =
            MPI_Irecv(port->slots + (size_t)slot * SKI_MPI_EAGER_MAX, SKI_MPI_EAGER_MAX, MPI_BYTE,
                      MPI_ANY_SOURCE, tag, mpi_comm_to(port->number), &port->receive[slot]);
    assert(port->posted < SKI_MPI_RECV_SLOTS);
    port->posted += error == MPI_SUCCESS;
    return error;
}

static int mpi_recv_post_wanted(struct ski_port *port)
{
    int error = MPI_SUCCESS;

    while (port->posted < port->wanted && error == MPI_SUCCESS)
        error = mpi_recv_post(port);
    return error;
}

static void mpi_recv_pop_oldest(struct ski_port *port)
{
    port->oldest = (port->oldest + 1) % SKI_MPI_RECV_SLOTS;
    assert(port->posted > 0);
    port->posted--;
}

/* Gets the length of a message; a forged one is at least within its slot. */
static int mpi_recv_bytes(const struct ski_port *port, const MPI_Status *status, int *bytes)
{
    *bytes = status->MPI_TAG < SKI_MPI_EAGER_MAX ? status->MPI_TAG : SKI_MPI_EAGER_MAX;
    return port->number == 0 ? MPI_SUCCESS : MPI_Get_count(status, MPI_BYTE, bytes);
}

/* Posts the receives wanted and tests the oldest one. Returns whether it is complete or has failed.
 */
static bool mpi_recv_test(struct ski_port *port, MPI_Status *status, int *bytes, int *error)
{
    int over = 0;

    ski_mpi_enter();
    *error = mpi_recv_post_wanted(port);
    if (*error == MPI_SUCCESS) {
        *error = MPI_Test(&port->receive[port->oldest], &over, status);
        if (over || *error != MPI_SUCCESS)
            mpi_recv_pop_oldest(port);
    }
    if (over && *error == MPI_SUCCESS)
        *error = mpi_recv_bytes(port, status, bytes);
    ski_mpi_leave();
    return over || *error != MPI_SUCCESS;
}

/* Adapts the number of posted receives: where messages follow each other closely there should be
 * more. The memory of the receive belongs to the packet until the next test. */
static void mpi_recv_adapt(struct ski_port *port)
{
    port->wanted += port->took && port->wanted < SKI_MPI_RECV_SLOTS;
    port->took = true;
}

/* Handles one message, if there is one. A test for a second one would poll the network while the
 * first waits to be handled. */
static unsigned mpi_recv_poll(struct ski_port *port)
{
    char      *data = port->slots + (size_t)port->oldest * SKI_MPI_EAGER_MAX;
    MPI_Status status;
    int        bytes, error;

    if (port->recv_failed || !port->free_receive)
        return 0;
    if (!mpi_recv_test(port, &status, &bytes, &error)) {
        port->took = false;
        return 0;
    }
    if (error != MPI_SUCCESS) {
        mpi_peers_lose_all(port, error);
        return 1;
    }
    mpi_recv_adapt(port);
    if (bytes == sizeof(struct ski_mpi_rts))
        mpi_on_rts(port, (struct ski_mpi_rts *)(void *)data, status.MPI_SOURCE);
    else if (bytes >= SKI_PACKET_MIN)
        mpi_on_packet(port, data, (size_t)bytes);
    return 1;
}

unsigned ski_mpi_progress(struct ski_port *port)
{
    unsigned n = mpi_recv_poll(port);

    if (port->requests > 0)
        n += ski_mpi_test_requests(port);
    if (port->has_lost)
        mpi_report_lost(port);
    return n;
}

/* ---- opening and closing --------------------------------------------------------- */

static skua_status mpi_port_refuse(const char *reason)
{
    snprintf(ski_mpi_net.net->last_error(), SKI_REASON_MAX, "%s", reason);
    return SKUA_ERR_UNSUPPORTED;
}

static bool mpi_thread_may_call(void)
{
    int is_main = 1;

    if (ski_mpi.level < MPI_THREAD_SERIALIZED)
        MPI_Is_thread_main(&is_main);
    return is_main;
}

static void mpi_transfers_init(struct ski_port *port)
{
    for (int i = 0; i < SKI_MPI_SENDS_MAX; i++)
        ski_mpi_transfer_put(&port->free_send, &port->transfer[i]);
    for (int i = SKI_MPI_SENDS_MAX; i < SKI_MPI_SENDS_MAX + SKI_MPI_RECVS_MAX; i++)
        ski_mpi_transfer_put(&port->free_receive, &port->transfer[i]);
}

/* Cancels the posted receives. */
static void mpi_recv_cancel_all(struct ski_port *port)
{
    ski_mpi_enter();
    for (unsigned i = 0; i < port->posted; i++) {
        MPI_Request *request = &port->receive[(port->oldest + i) % SKI_MPI_RECV_SLOTS];

        if (*request != MPI_REQUEST_NULL) {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    for (unsigned i = 0; i < port->made; i++)
        MPI_Request_free(&port->receive[i]);
    ski_mpi_leave();
}

static int mpi_recv_post_first(struct ski_port *port)
{
    int error;

    port->wanted = 1;
    ski_mpi_enter();
    error = mpi_recv_post(port);
    ski_mpi_leave();
    return error;
}

static void mpi_port_free(struct ski_port *port)
{
    while (port->peers) {
        struct ski_peer *peer = port->peers;
        port->peers           = peer->next;
        free(peer);
    }
    free(port->slots);
    free(port);
}

skua_status ski_mpi_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **port)
{
    uint32_t number = atomic_fetch_add_explicit(&ski_mpi_net.ports, 1, memory_order_relaxed);
    struct ski_port *made;
    int              error;

    if (!mpi_thread_may_call())
        return mpi_port_refuse("MPI allows only the thread that initialised it to call it");
    if (number > (uint32_t)ski_mpi_net.tag_most)
        return mpi_port_refuse("MPI has too few tags for the ports of this process");
    made = calloc(1, sizeof *made);
    if (!made ||
        !(made->slots = aligned_alloc(64, (size_t)SKI_MPI_RECV_SLOTS * SKI_MPI_EAGER_MAX))) {
        free(made);
        return SKUA_ERR_NOMEM;
    }
    made->pe     = pe;
    made->number = (int)number;
    made->up     = up;
    made->owner  = owner;
    mpi_transfers_init(made);
    error = mpi_recv_post_first(made);
    if (error != MPI_SUCCESS) {
        mpi_port_free(made);
        return mpi_port_refuse(ski_mpi_error(error));
    }
    *port = made;
    return SKUA_OK;
}

/* Makes progress until everything is sent, or until peers must be gone. */
static void mpi_port_drain(struct ski_port *port)
{
    double timeout = ski_mpi_net.net->peer_timeout;
    double end_of  = MPI_Wtime() + (timeout < MPI_CLOSE_SECONDS ? timeout : MPI_CLOSE_SECONDS);

    port->closing = true;
    while (port->requests > 0 && MPI_Wtime() < end_of)
        if (mpi_recv_poll(port) + ski_mpi_test_requests(port) == 0)
            sched_yield();
}

/* Requests that are left keep the port, since MPI sends RTS messages from it. MPI_Request_free does
 * not help: MPICH 4.0 then sends the later contents of the memory of the request. */
void ski_mpi_close(struct ski_port *port)
{
    mpi_port_drain(port);
    mpi_recv_cancel_all(port);
    if (port->requests == 0)
        mpi_port_free(port);
}

size_t ski_mpi_address(struct ski_port *port, void *to)
{
    struct mpi_address address = {.rank = ski_mpi.rank, .port = port->number};

    memcpy(to, &address, sizeof address);
    return sizeof address;
}

skua_status ski_mpi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                            struct ski_peer **peer)
{
    struct mpi_address a;
    struct ski_peer   *made;

    if (bytes != sizeof a)
        return SKUA_ERR_INVAL;
    memcpy(&a, address, sizeof a);
    if (a.rank < 0 || a.rank >= ski_mpi.size || a.port < 0 || a.port > ski_mpi_net.tag_most)
        return SKUA_ERR_INVAL;
    made = malloc(sizeof *made);
    if (!made)
        return SKUA_ERR_NOMEM;
    *made = (struct ski_peer){
        .port = port, .pe = pe, .rank = a.rank, .number = a.port, .next = port->peers};
    port->peers = made;
    *peer       = made;
    return SKUA_OK;
}
