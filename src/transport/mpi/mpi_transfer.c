/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_transfer.c - see mpi_transfer.h. */
#include "transport/mpi/mpi_transfer.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

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

static void mpi_recv_end(struct ski_port *port, struct ski_mpi_transfer *t)
{
    if (t->kind == SKI_MPI_TRANSFER_DROP)
        free(t->packet);
    else if (t->error != MPI_SUCCESS || port->closing)
        port->up->abort(port->owner, t->packet);
    else
        port->up->arrived(port->owner, t->packet, t->bytes);
    if (t->error != MPI_SUCCESS && !port->closing)
        port->up->lost(port->owner, t->pe, ski_mpi_error(t->error));
    ski_mpi_transfer_put(&port->free_receive, t);
}

void ski_mpi_transfer_end(struct ski_port *port, struct ski_mpi_transfer *t)
{
    if (t->kind == SKI_MPI_TRANSFER_SEND)
        mpi_send_end(port, t);
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
