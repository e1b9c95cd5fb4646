/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_transfer.c - see mpi_transfer.h. */
#include "transport/mpi/mpi_transfer.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi/mpi_session.h"

struct ski_mpi_net ski_mpi_net;

void ski_mpi_peer_mark_lost(struct ski_peer *peer, int error)
{
    if (peer->error == MPI_SUCCESS)
        peer->error = error;
    peer->port->has_lost = true;
}

struct ski_mpi_transfer *ski_mpi_transfer_get(struct ski_mpi_transfer **list)
{
    struct ski_mpi_transfer *t = *list;

    assert(t);
    *list    = t->next;
    t->left  = 0;
    t->error = MPI_SUCCESS;
    return t;
}

void ski_mpi_transfer_put(struct ski_mpi_transfer **list, struct ski_mpi_transfer *t)
{
    t->next = *list;
    *list   = t;
}

void ski_mpi_track_request(struct ski_port *port, struct ski_mpi_transfer *t, int error,
                           MPI_Request request)
{
    if (error != MPI_SUCCESS) {
        t->error = error;
        return;
    }
    assert(port->requests < SKI_MPI_REQUESTS_MAX);
    port->of[port->requests]        = t;
    port->request[port->requests++] = request;
    t->left++;
}

/* Sends or receives a part of a packet. */
static void mpi_transfer_part(struct ski_port *port, struct ski_mpi_transfer *t, char *part,
                              int count, MPI_Datatype type, int rank, int tag)
{
    MPI_Comm    comm = ski_mpi_net.bulk;
    MPI_Request request;
    int         error;

    assert(count > 0);
    if (t->kind == SKI_MPI_TRANSFER_SEND)
        error = MPI_Isend(part, count, type, rank, tag, comm, &request);
    else
        error = MPI_Irecv(part, count, type, rank, tag, comm, &request);
    ski_mpi_track_request(port, t, error, request);
}

void ski_mpi_transfer_data(struct ski_port *port, struct ski_mpi_transfer *t, int rank, int tag)
{
    size_t bytes  = t->bytes - t->first;
    size_t blocks = bytes > INT_MAX ? bytes / SKI_MPI_BLOCK : 0;
    size_t rest   = bytes - blocks * SKI_MPI_BLOCK;

    assert(t->first < t->bytes && t->first <= SKI_MPI_EAGER_MAX);
    if (t->first > 0)
        mpi_transfer_part(port, t, t->packet, (int)t->first, MPI_BYTE, rank, tag);
    if (blocks > 0)
        mpi_transfer_part(port, t, t->rest, (int)blocks, ski_mpi_net.block, rank, tag);
    if (rest > 0)
        mpi_transfer_part(port, t, t->rest + blocks * SKI_MPI_BLOCK, (int)rest, MPI_BYTE, rank,
                          tag);
}

void ski_mpi_send_put(struct ski_port *port, struct ski_mpi_transfer *t)
{
    assert(t->kind == SKI_MPI_TRANSFER_SEND && t->peer->sends > 0 && port->sends > 0);
    t->peer->sends--;
    port->sends--;
    assert(t->peer->held_bytes >= t->held);
    t->peer->held_bytes -= t->held;
    ski_mpi_transfer_put(&port->free_send, t);
}

static void mpi_send_end(struct ski_port *port, struct ski_mpi_transfer *t)
{
    if (t->error != MPI_SUCCESS)
        ski_mpi_peer_mark_lost(t->peer, t->error);
    assert(t->left == 0 && t->peer->syncs >= t->sync);
    t->peer->syncs -= t->sync;
    if (t->split)
        port->up->done(port->owner, t->cookie, SKUA_OK);
    else
        port->up->sent(port->owner, t->packet);
    ski_mpi_send_put(port, t);
}

/* ---- receiving -------------------------------------------------------------------- */

/* Posts the receives of what is left of a packet, unless an error has occurred. */
static void mpi_recv_post_data(struct ski_port *port, struct ski_mpi_transfer *t)
{
    ski_mpi_enter();
    if (t->error == MPI_SUCCESS)
        ski_mpi_transfer_data(port, t, t->rank, t->announcement.tag);
    ski_mpi_leave();
    if (t->left == 0)
        ski_mpi_transfer_end(port, t);
}

/* Gets memory for a packet.  One that the runtime drops is received as well, or its sender would
 * wait forever. */
static void mpi_recv_alloc(struct ski_port *port, struct ski_mpi_transfer *t)
{
    t->packet = port->closing ? NULL : port->up->alloc(port->owner, t->bytes);
    t->kind   = t->packet ? SKI_MPI_TRANSFER_RECV : SKI_MPI_TRANSFER_DROP;
    if (!t->packet)
        t->packet = malloc(t->bytes);
    if (t->packet)
        t->rest = (char *)t->packet + t->announcement.first;
    else
        t->error = MPI_ERR_NO_MEM;
}

/* Returns the memory for the first part of a packet. */
static char *mpi_recv_begin(struct ski_port *port, const struct ski_mpi_transfer *t)
{
    return port->begin[t - port->transfer - SKI_MPI_SENDS_MAX];
}

void ski_mpi_recv_start(struct ski_port *port, struct ski_mpi_transfer *t)
{
    size_t first = t->announcement.first;
    char  *begin = mpi_recv_begin(port, t);

    t->bytes = t->announcement.bytes;
    t->first = first;
    if (first == 0 || first > SKI_DIRECT_HEAD || !port->up->recv_direct || port->closing) {
        mpi_recv_alloc(port, t);
        mpi_recv_post_data(port, t);
        return;
    }
    memset(begin, 0, SKI_DIRECT_HEAD); /* the runtime may look at all of it */
    t->kind   = SKI_MPI_TRANSFER_HEAD;
    t->packet = begin;
    ski_mpi_enter();
    mpi_transfer_part(port, t, begin, (int)first, MPI_BYTE, t->rank, t->announcement.tag);
    ski_mpi_leave();
    if (t->left == 0)
        ski_mpi_transfer_end(port, t);
}

/* Returns whether the runtime has a place for all of the second part of a packet. */
static bool mpi_recv_has_place(struct ski_port *port, struct ski_mpi_transfer *t, void **to)
{
    size_t placed = port->closing ? 0 : port->up->recv_direct(port->owner, t->packet, t->bytes, to);

    if (placed == t->bytes - t->first)
        return true;
    if (placed > 0)
        port->up->recv_direct_done(port->owner, t->packet, t->bytes, false);
    return false;
}

/* The first part of a packet has been received, or that has failed: receives the second. */
static void mpi_recv_second(struct ski_port *port, struct ski_mpi_transfer *t)
{
    const char *begin = t->packet;
    size_t      first = t->first;
    void       *to;

    if (t->error != MPI_SUCCESS) {
        t->kind   = SKI_MPI_TRANSFER_DROP;
        t->packet = NULL;
    } else if (mpi_recv_has_place(port, t, &to)) {
        t->kind = SKI_MPI_TRANSFER_DIRECT;
        t->rest = to;
    } else {
        mpi_recv_alloc(port, t);
        if (t->packet)
            memcpy(t->packet, begin, first);
    }
    t->first = 0;
    t->bytes -= first;
    mpi_recv_post_data(port, t);
}

static void mpi_recv_end(struct ski_port *port, struct ski_mpi_transfer *t)
{
    if (t->kind == SKI_MPI_TRANSFER_DROP)
        free(t->packet);
    else if (t->kind == SKI_MPI_TRANSFER_DIRECT)
        port->up->recv_direct_done(port->owner, t->packet, t->announcement.bytes,
                                   t->error == MPI_SUCCESS && !port->closing);
    else if (t->error != MPI_SUCCESS || port->closing)
        port->up->abort(port->owner, t->packet);
    else
        port->up->arrived(port->owner, t->packet, t->announcement.bytes);
    if (t->error != MPI_SUCCESS && !port->closing)
        port->up->lost(port->owner, t->pe, ski_mpi_error(t->error));
    ski_mpi_transfer_put(&port->free_receive, t);
}

void ski_mpi_transfer_end(struct ski_port *port, struct ski_mpi_transfer *t)
{
    if (t->kind == SKI_MPI_TRANSFER_SEND)
        mpi_send_end(port, t);
    else if (t->kind == SKI_MPI_TRANSFER_HEAD)
        mpi_recv_second(port, t);
    else
        mpi_recv_end(port, t);
}

/* Removes requests that MPI has set to MPI_REQUEST_NULL. */
static void mpi_compact_requests(struct ski_port *port)
{
    int n = 0;

    for (int i = 0; i < port->requests; i++)
        if (port->request[i] != MPI_REQUEST_NULL) {
            port->request[n] = port->request[i];
            port->of[n++]    = port->of[i];
        }
    port->requests = n;
}

unsigned ski_mpi_test_requests(struct ski_port *port)
{
    int count, result;

    ski_mpi_enter();
    result = MPI_Testsome(port->requests, port->request, &count, port->over, port->status);
    ski_mpi_leave();
    if (count == MPI_UNDEFINED || count == 0)
        return 0;
    for (int i = 0; i < count; i++) {
        struct ski_mpi_transfer *t = port->of[port->over[i]];

        if (result == MPI_ERR_IN_STATUS && port->status[i].MPI_ERROR != MPI_SUCCESS)
            t->error = port->status[i].MPI_ERROR;
        assert(t->left > 0);
        if (--t->left == 0)
            ski_mpi_transfer_end(port, t);
    }
    mpi_compact_requests(port);
    return (unsigned)count;
}
