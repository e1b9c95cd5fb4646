/* SPDX-License-Identifier: Apache-2.0 */
/* port.c - see port.h. */
#include "transport/mpi/port.h"

#include <assert.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/mpi/session.h"

#define SLOTS    16 /* receives posted for small packets, at most */
#define SMALL    SKI_MPI_SMALL
#define SENDS    64
#define RECEIVES 64
#define REQUESTS (3 * (SENDS + RECEIVES)) /* announcement, blocks and rest */
#define WINDOW   128                      /* small packets from one proof to the next */
#define PROOFS   2                        /* under way to a peer                      */
#define PATIENCE 2.0                      /* seconds that close() waits for peers */

struct announcement {
    uint64_t bytes;
    int32_t  tag, pe;
};
_Static_assert(sizeof(struct announcement) < SKI_PACKET_LEAST, "told from packets by its size");

struct address {
    int32_t rank, port;
};

/* A packet on its way, of which MPI has not said that it is done. */
struct transfer {
    enum { SEND, RECEIVE, DROP } kind;
    int                 left;  /* requests of it that are not over  */
    int                 error; /* of any of them                    */
    int                 pe;    /* the other side                    */
    struct ski_peer    *peer;  /* likewise, if SEND                 */
    bool                proof; /* it is over when it was received   */
    void               *packet;
    size_t              bytes;
    struct announcement announcement; /* stays in place while it is sent */
    struct transfer    *next;         /* in the list of free ones        */
};

struct ski_peer {
    struct ski_port *port;
    int              pe, rank, number; /* of the port there */
    int              error;            /* why it is lost, or MPI_SUCCESS */
    bool             told;             /* lost() has been called         */
    unsigned         small;            /* small packets, counted ...     */
    unsigned         proofs;           /* ... and proofs under way      */
    unsigned         sends;            /* transfers to it               */
    struct ski_peer *next;
};

struct ski_port {
    int                       pe, number;
    const struct ski_upcalls *up;
    void                     *owner;
    bool                      closing;
    bool                      deaf;   /* its receives have failed                      */
    bool                      losses; /* there may be peers that are lost and not told */
    bool                      took;   /* the last look at them found a message         */
    unsigned                  oldest; /* of the posted receives ...                    */
    unsigned                  posted; /* ... and how many there are                    */
    unsigned                  wanted; /* ... and should be                             */
    unsigned                  made;   /* receives that can be started (restart())      */
    MPI_Request               receive[SLOTS];
    char                     *slots; /* SLOTS times SMALL bytes */
    struct ski_peer          *peers;
    struct transfer          *free_send, *free_receive;
    unsigned                  sends; /* transfers to all peers */
    int                       requests;
    MPI_Request               request[REQUESTS];
    struct transfer          *of[REQUESTS];
    int                       over[REQUESTS];
    MPI_Status                status[REQUESTS];
    struct transfer           transfer[SENDS + RECEIVES];
};

struct ski_mpi_net ski_mpi_net;

/* ---- peers that are lost ---------------------------------------------------- */

static void lose(struct ski_peer *peer, int error)
{
    if (peer->error == MPI_SUCCESS)
        peer->error = error;
    peer->port->losses = true;
}

/* Receives from anybody have failed: nobody can reach us. */
static void lose_all(struct ski_port *port, int error)
{
    port->deaf = true;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        lose(peer, error);
}

static void tell_losses(struct ski_port *port)
{
    port->losses = false;
    for (struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (peer->error != MPI_SUCCESS && !peer->told) {
            peer->told = true;
            port->up->lost(port->owner, peer->pe, ski_mpi_error(peer->error));
        }
}

/* ---- transfers ------------------------------------------------------------------ */

static struct transfer *take(struct transfer **list)
{
    struct transfer *t = *list;

    *list    = t->next;
    t->left  = 0;
    t->error = MPI_SUCCESS;
    return t;
}

static void give(struct transfer **list, struct transfer *t)
{
    t->next = *list;
    *list   = t;
}

/* What a call of MPI for a transfer has come to: a request to wait for, or an error. */
static void track(struct ski_port *port, struct transfer *t, int error, MPI_Request request)
{
    if (error != MPI_SUCCESS) {
        t->error = error;
        return;
    }
    assert(port->requests < REQUESTS);
    port->of[port->requests]        = t;
    port->request[port->requests++] = request;
    t->left++;
}

/* The packet itself, or a part of it. */
static void move_part(struct ski_port *port, struct transfer *t, size_t from, int count,
                      MPI_Datatype type, int rank, int tag)
{
    char       *part = (char *)t->packet + from;
    MPI_Comm    comm = ski_mpi_net.bulk;
    MPI_Request request;
    int         error;

    if (t->kind == SEND)
        error = MPI_Isend(part, count, type, rank, tag, comm, &request);
    else
        error = MPI_Irecv(part, count, type, rank, tag, comm, &request);
    track(port, t, error, request);
}

static void move(struct ski_port *port, struct transfer *t, int rank, int tag)
{
    size_t blocks = t->bytes > INT_MAX ? t->bytes / SKI_MPI_BLOCK : 0;
    size_t rest   = t->bytes - blocks * SKI_MPI_BLOCK;

    if (blocks > 0)
        move_part(port, t, 0, (int)blocks, ski_mpi_net.block, rank, tag);
    if (rest > 0)
        move_part(port, t, t->bytes - rest, (int)rest, MPI_BYTE, rank, tag);
}

static void give_send(struct ski_port *port, struct transfer *t)
{
    t->peer->sends--;
    port->sends--;
    give(&port->free_send, t);
}

static void end_send(struct ski_port *port, struct transfer *t)
{
    if (t->error != MPI_SUCCESS)
        lose(t->peer, t->error);
    t->peer->proofs -= t->proof;
    port->up->sent(port->owner, t->packet);
    give_send(port, t);
}

static void end_receive(struct ski_port *port, struct transfer *t)
{
    if (t->kind == DROP)
        free(t->packet);
    else if (t->error != MPI_SUCCESS || port->closing)
        port->up->spoilt(port->owner, t->packet);
    else
        port->up->arrived(port->owner, t->packet, t->bytes);
    if (t->error != MPI_SUCCESS && !port->closing)
        port->up->lost(port->owner, t->pe, ski_mpi_error(t->error));
    give(&port->free_receive, t);
}

static void end(struct ski_port *port, struct transfer *t)
{
    if (t->kind == SEND)
        end_send(port, t);
    else
        end_receive(port, t);
}

/* Removes the requests that MPI has set to MPI_REQUEST_NULL. */
static void close_ranks(struct ski_port *port)
{
    int n = 0;

    for (int i = 0; i < port->requests; i++)
        if (port->request[i] != MPI_REQUEST_NULL) {
            port->request[n] = port->request[i];
            port->of[n++]    = port->of[i];
        }
    port->requests = n;
}

/* Ends the transfers whose requests are over. */
static unsigned end_transfers(struct ski_port *port)
{
    int count, result;

    ski_mpi_enter();
    result = MPI_Testsome(port->requests, port->request, &count, port->over, port->status);
    ski_mpi_leave();
    if (count == MPI_UNDEFINED || count == 0)
        return 0;
    for (int i = 0; i < count; i++) {
        struct transfer *t = port->of[port->over[i]];

        if (result == MPI_ERR_IN_STATUS && port->status[i].MPI_ERROR != MPI_SUCCESS)
            t->error = port->status[i].MPI_ERROR;
        if (--t->left == 0)
            end(port, t);
    }
    close_ranks(port);
    return (unsigned)count;
}

/* ---- sending -------------------------------------------------------------------- */

static struct transfer *begin_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct transfer *t = take(&peer->port->free_send);

    peer->sends++;
    peer->port->sends++;
    t->kind   = SEND;
    t->proof  = false;
    t->peer   = peer;
    t->pe     = peer->pe;
    t->packet = packet;
    t->bytes  = bytes;
    return t;
}

/* Of messages to a port. */
static MPI_Comm comm_to(int number)
{
    return number == 0 ? ski_mpi_net.first : ski_mpi_net.packets;
}

static int tag_to(const struct ski_peer *peer, size_t bytes)
{
    return peer->number == 0 ? (int)bytes : peer->number;
}

/* MPI takes small packets whether or not anybody receives them, and looks through all of
 * them with each receive.  So now and then one is sent that is over only when it has been
 * received, and nobody is more than a few of these ahead of his receiver. */
static skua_status_t send_small(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_port *port  = peer->port;
    bool             proof = (peer->small + 1) % WINDOW == 0;
    struct transfer *t;
    MPI_Request      request;
    int              error, done = 0;

    if (proof && peer->proofs == PROOFS)
        return SKUA_ERR_AGAIN;
    peer->small++;
    ski_mpi_enter();
    error = (proof ? MPI_Issend : MPI_Isend)(packet, (int)bytes, MPI_BYTE, peer->rank,
                                             tag_to(peer, bytes), comm_to(peer->number), &request);
    if (error == MPI_SUCCESS)
        error = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    ski_mpi_leave();
    if (error != MPI_SUCCESS)
        lose(peer, error);
    if (error != MPI_SUCCESS || done)
        return SKUA_OK;
    t        = begin_send(peer, packet, bytes);
    t->proof = proof;
    peer->proofs += proof;
    track(port, t, MPI_SUCCESS, request);
    return SKUA_PENDING;
}

static int next_tag(void)
{
    uint32_t n = atomic_fetch_add_explicit(&ski_mpi_net.tags, 1, memory_order_relaxed);

    return (int)(n % (uint32_t)ski_mpi_net.tag_most);
}

static skua_status_t send_large(struct ski_peer *peer, void *packet, size_t bytes)
{
    struct ski_port *port = peer->port;
    struct transfer *t    = begin_send(peer, packet, bytes);
    MPI_Request      request;
    int              error, tag = next_tag();

    t->announcement = (struct announcement){.bytes = bytes, .tag = tag, .pe = port->pe};
    ski_mpi_enter();
    error = MPI_Isend(&t->announcement, sizeof t->announcement, MPI_BYTE, peer->rank,
                      tag_to(peer, sizeof t->announcement), comm_to(peer->number), &request);
    track(port, t, error, request);
    if (error == MPI_SUCCESS)
        move(port, t, peer->rank, tag);
    ski_mpi_leave();
    if (t->left > 0)
        return SKUA_PENDING;
    lose(peer, t->error);
    give_send(port, t);
    return SKUA_OK;
}

/* What one peer has under way must leave as much for the others, or a peer that computes
 * would stop them all. */
static bool is_crowded(const struct ski_peer *peer)
{
    return !peer->port->free_send || peer->sends > SENDS - peer->port->sends;
}

skua_status_t ski_mpi_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    if (peer->error != MPI_SUCCESS)
        return SKUA_OK; /* lost() says what became of it */
    if (is_crowded(peer))
        return SKUA_ERR_AGAIN;
    return bytes <= SMALL ? send_small(peer, packet, bytes) : send_large(peer, packet, bytes);
}

/* ---- receiving -------------------------------------------------------------------- */

static void *room(struct ski_port *port, size_t bytes)
{
    return port->closing ? NULL : port->up->room(port->owner, bytes);
}

static void arrived(struct ski_port *port, const void *data, size_t bytes)
{
    void *packet;

    if (!port->closing && port->up->taken && port->up->taken(port->owner, data, bytes))
        return;
    packet = room(port, bytes);
    if (packet)
        port->up->arrived(port->owner, memcpy(packet, data, bytes), bytes);
}

/* What room() does not want is received as well, or its sender would wait forever. */
static void announced(struct ski_port *port, const struct announcement *a, int rank)
{
    struct transfer *t = take(&port->free_receive);

    t->packet = room(port, a->bytes);
    t->kind   = t->packet ? RECEIVE : DROP;
    t->bytes  = a->bytes;
    t->pe     = a->pe;
    if (!t->packet)
        t->packet = malloc(a->bytes);
    ski_mpi_enter();
    if (t->packet)
        move(port, t, rank, a->tag);
    else
        t->error = MPI_ERR_NO_MEM;
    ski_mpi_leave();
    if (t->left == 0)
        end(port, t);
}

/* The receive of a slot is made once, and started again. */
static int restart(struct ski_port *port, unsigned slot, int tag)
{
    int error = MPI_SUCCESS;

    if (slot == port->made) {
        error = MPI_Recv_init(port->slots + (size_t)slot * SMALL, SMALL, MPI_BYTE, MPI_ANY_SOURCE,
                              tag, comm_to(port->number), &port->receive[slot]);
        port->made += error == MPI_SUCCESS;
    }
    return error == MPI_SUCCESS ? MPI_Start(&port->receive[slot]) : error;
}

/* Posts another receive, behind the others. */
static int post(struct ski_port *port)
{
    unsigned slot = (port->oldest + port->posted) % SLOTS;
    int      tag  = port->number == 0 ? MPI_ANY_TAG : port->number, error;

    if (ski_mpi_kind.restarts)
        error = restart(port, slot, tag);
    else
        error = MPI_Irecv(port->slots + (size_t)slot * SMALL, SMALL, MPI_BYTE, MPI_ANY_SOURCE, tag,
                          comm_to(port->number), &port->receive[slot]);
    port->posted += error == MPI_SUCCESS;
    return error;
}

static int post_wanted(struct ski_port *port)
{
    int error = MPI_SUCCESS;

    while (port->posted < port->wanted && error == MPI_SUCCESS)
        error = post(port);
    return error;
}

static void forget_oldest(struct ski_port *port)
{
    port->oldest = (port->oldest + 1) % SLOTS;
    port->posted--;
}

/* How long the message is; one that lies about it is at least in its slot. */
static int bytes_of(const struct ski_port *port, const MPI_Status *status, int *bytes)
{
    *bytes = status->MPI_TAG < SMALL ? status->MPI_TAG : SMALL;
    return port->number == 0 ? MPI_SUCCESS : MPI_Get_count(status, MPI_BYTE, bytes);
}

/* Whether the oldest posted receive is over; what it has come to. */
static bool is_over(struct ski_port *port, MPI_Status *status, int *bytes, int *error)
{
    int over = 0;

    ski_mpi_enter();
    *error = post_wanted(port);
    if (*error == MPI_SUCCESS) {
        *error = MPI_Test(&port->receive[port->oldest], &over, status);
        if (over || *error != MPI_SUCCESS)
            forget_oldest(port);
    }
    if (over && *error == MPI_SUCCESS)
        *error = bytes_of(port, status, bytes);
    ski_mpi_leave();
    return over || *error != MPI_SUCCESS;
}

/* A receive is over, and its memory the packet's until the next is looked for.  Where they
 * follow each other closely there should be more of them. */
static void count_message(struct ski_port *port)
{
    port->wanted += port->took && port->wanted < SLOTS;
    port->took = true;
}

/* Takes one message, if there is one.  To look for a second would poll the network while
 * the first waits to be worked on. */
static unsigned take_message(struct ski_port *port)
{
    char      *data = port->slots + (size_t)port->oldest * SMALL;
    MPI_Status status;
    int        bytes, error;

    if (port->deaf || !port->free_receive)
        return 0;
    if (!is_over(port, &status, &bytes, &error)) {
        port->took = false;
        return 0;
    }
    if (error != MPI_SUCCESS) {
        lose_all(port, error);
        return 1;
    }
    count_message(port);
    if (bytes < SKI_PACKET_LEAST)
        announced(port, (struct announcement *)(void *)data, status.MPI_SOURCE);
    else
        arrived(port, data, (size_t)bytes);
    return 1;
}

unsigned ski_mpi_progress(struct ski_port *port)
{
    unsigned n = take_message(port);

    if (port->requests > 0)
        n += end_transfers(port);
    if (port->losses)
        tell_losses(port);
    return n;
}

/* ---- opening and closing --------------------------------------------------------- */

static skua_status_t refuse(const char *why)
{
    snprintf(ski_mpi_net.net->why(), SKI_WHY_MOST, "%s", why);
    return SKUA_ERR_UNSUPPORTED;
}

static bool may_call_mpi(void)
{
    int is_main = 1;

    if (ski_mpi.level < MPI_THREAD_SERIALIZED)
        MPI_Is_thread_main(&is_main);
    return is_main;
}

static void list_transfers(struct ski_port *port)
{
    for (int i = 0; i < SENDS; i++)
        give(&port->free_send, &port->transfer[i]);
    for (int i = SENDS; i < SENDS + RECEIVES; i++)
        give(&port->free_receive, &port->transfer[i]);
}

/* Takes back the receives that are posted. */
static void unpost(struct ski_port *port)
{
    ski_mpi_enter();
    for (unsigned i = 0; i < port->posted; i++) {
        MPI_Request *request = &port->receive[(port->oldest + i) % SLOTS];

        if (*request != MPI_REQUEST_NULL) {
            MPI_Cancel(request);
            MPI_Wait(request, MPI_STATUS_IGNORE);
        }
    }
    for (unsigned i = 0; i < port->made; i++)
        MPI_Request_free(&port->receive[i]);
    ski_mpi_leave();
}

static int post_first(struct ski_port *port)
{
    int error;

    port->wanted = 1;
    ski_mpi_enter();
    error = post(port);
    ski_mpi_leave();
    return error;
}

static void free_port(struct ski_port *port)
{
    while (port->peers) {
        struct ski_peer *peer = port->peers;
        port->peers           = peer->next;
        free(peer);
    }
    free(port->slots);
    free(port);
}

skua_status_t ski_mpi_open(int pe, const struct ski_upcalls *up, void *owner,
                           struct ski_port **port)
{
    uint32_t number = atomic_fetch_add_explicit(&ski_mpi_net.ports, 1, memory_order_relaxed);
    struct ski_port *made;
    int              error;

    if (!may_call_mpi())
        return refuse("the MPI lets only the thread that initialised it call it");
    if (number > (uint32_t)ski_mpi_net.tag_most)
        return refuse("the MPI has not enough tags");
    made = calloc(1, sizeof *made);
    if (!made || !(made->slots = aligned_alloc(64, (size_t)SLOTS * SMALL))) {
        free(made);
        return SKUA_ERR_NOMEM;
    }
    made->pe     = pe;
    made->number = (int)number;
    made->up     = up;
    made->owner  = owner;
    list_transfers(made);
    error = post_first(made);
    if (error != MPI_SUCCESS) {
        free_port(made);
        return refuse(ski_mpi_error(error));
    }
    *port = made;
    return SKUA_OK;
}

/* Goes on until everything is sent, or for so long that the peers must be gone. */
static void drain(struct ski_port *port)
{
    double timeout = ski_mpi_net.net->peer_timeout;
    double end_of  = MPI_Wtime() + (timeout < PATIENCE ? timeout : PATIENCE);

    port->closing = true;
    while (port->requests > 0 && MPI_Wtime() < end_of)
        if (take_message(port) + end_transfers(port) == 0)
            sched_yield();
}

/* Requests that are left keep the port, since MPI sends announcements from it.  They are
 * not given up by MPI_Request_free: MPICH 4.0 then sends to the own process what comes to
 * lie in the memory of the request. */
void ski_mpi_close(struct ski_port *port)
{
    drain(port);
    unpost(port);
    if (port->requests == 0)
        free_port(port);
}

size_t ski_mpi_address(struct ski_port *port, void *to)
{
    struct address address = {.rank = ski_mpi.rank, .port = port->number};

    memcpy(to, &address, sizeof address);
    return sizeof address;
}

skua_status_t ski_mpi_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                              struct ski_peer **peer)
{
    struct address   a;
    struct ski_peer *made;

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
