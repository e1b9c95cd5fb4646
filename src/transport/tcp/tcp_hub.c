/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_hub.c - ports that share their connections: see tcp_hub.h. */
#include "transport/tcp/tcp_hub.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HUB_PENDING_MAX 1024 /* packets to a peer that are not complete, at most ...         */
#define HUB_PENDING_FULL                                                                           \
    ((size_t)4 << 20) /* ... or bytes in memory of the runtime from which on no more are accepted, \
                         as in tcp_send.c */

/* The last part of the address of a port. */
struct hub_address {
    int32_t  hub;    /* its first PE          */
    uint32_t number; /* of the port in its hub */
};

/* Hubs are made and freed under this lock, which is above those of the hubs. */
static pthread_mutex_t     hubs_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct ski_tcp_hub *hub_filling; /* the hub that the next ports belong to */

/* The handles of driver.h are the ports and peers of PEs here, and those of the hub in tcp.h. */
static struct ski_tcp_hub_port *hub_port(struct ski_port *port)
{
    return (struct ski_tcp_hub_port *)(void *)port;
}

static struct ski_tcp_hub_peer *hub_peer(struct ski_peer *peer)
{
    return (struct ski_tcp_hub_peer *)(void *)peer;
}

/* ---- the lock --------------------------------------------------------------------------- */

/* Queues what other threads have submitted, in the order of sending, and sends it. */
static void hub_take_submitted(struct ski_tcp_hub *hub)
{
    struct ski_tcp_send_req *newest = atomic_exchange(&hub->submitted, NULL), *oldest = NULL;

    while (newest) {
        struct ski_tcp_send_req *next = newest->next;

        newest->next = oldest;
        oldest       = newest;
        newest       = next;
    }
    while (oldest) {
        struct ski_tcp_send_req *next = oldest->next;

        ski_tcp_sendq_append(oldest);
        oldest = next;
    }
    ski_tcp_sendq_flush(hub->below);
}

/* Does what other threads have left to the owner of the lock.  In a job with progress threads the
 * connections of packets that wait wake the watcher, as the PE of this thread may compute from now
 * on.  That does not depend on whether there is a watcher: a port that is about to sleep, or about
 * to follow another watcher, would not be found. */
static void hub_serve(struct ski_tcp_hub *hub)
{
    bool asked;

    if (atomic_load(&hub->submitted))
        hub_take_submitted(hub);
    asked = atomic_load(&hub->want_writable) && atomic_exchange(&hub->want_writable, false);
    if (asked || (hub->below->waiting && ski_tcp.net->progress_pe > 0))
        ski_tcp_want_writable_all(hub->below);
}

static bool hub_is_needed(struct ski_tcp_hub *hub)
{
    return atomic_load(&hub->submitted) || atomic_load(&hub->want_writable);
}

/* Releases the lock, unless there is something that no other thread would do. */
static void hub_unlock(struct ski_tcp_hub *hub)
{
    do {
        hub_serve(hub);
        assert(!hub->current);
        atomic_store(&hub->busy, false);
    } while (hub_is_needed(hub) && ski_tcp_hub_try_lock(hub));
}

/* Waits for the lock, in functions that may block. */
static void hub_lock(struct ski_tcp_hub *hub)
{
    while (!ski_tcp_hub_try_lock(hub))
        sched_yield();
}

/* ---- sending -------------------------------------------------------------------------------- */

/* Leaves a packet to the thread that has the lock. */
static skua_status hub_submit(struct ski_tcp_hub_peer *peer, const struct ski_tcp_send_req *out)
{
    struct ski_tcp_hub      *hub = peer->port->hub;
    struct ski_tcp_send_req *own = malloc(sizeof *own);

    if (!own)
        return SKUA_ERR_AGAIN;
    *own      = *out;
    own->peer = peer->below;
    own->next = atomic_load_explicit(&hub->submitted, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&hub->submitted, &own->next, own))
        ;
    if (ski_tcp_hub_try_lock(hub))
        hub_unlock(hub);
    return SKUA_PENDING;
}

/* Sends a packet on the connection, with the lock. */
static skua_status hub_send_locked(struct ski_tcp_hub_peer *peer, struct ski_tcp_send_req *out)
{
    struct ski_tcp_hub *hub = peer->port->hub;
    skua_status         status;

    if (atomic_load_explicit(&hub->submitted, memory_order_relaxed))
        hub_take_submitted(hub);
    status = ski_tcp_send_one(peer->below, out);
    hub_unlock(hub);
    return status;
}

/* Sends a packet: to a port of this process, by the connection of the hub, or by the thread that
 * has its lock. */
static skua_status hub_send_req(struct ski_tcp_hub_peer *peer, struct ski_tcp_send_req *out)
{
    skua_status status;

    if (!peer->below)
        return ski_tcp_hub_post_copy(peer->inside, out) ? SKUA_OK : SKUA_ERR_AGAIN;
    if (peer->pending >= HUB_PENDING_MAX || peer->pending_bytes >= HUB_PENDING_FULL)
        return SKUA_ERR_AGAIN;
    status =
        ski_tcp_hub_try_lock(peer->port->hub) ? hub_send_locked(peer, out) : hub_submit(peer, out);
    if (status == SKUA_PENDING) {
        peer->port->pending++;
        peer->pending++;
        peer->pending_bytes += ski_tcp_send_req_held(out);
    }
    return status;
}

static skua_status hub_send(struct ski_peer *to, void *packet, size_t bytes)
{
    struct ski_tcp_hub_peer *peer = hub_peer(to);
    struct ski_tcp_send_req out = {.head = {ski_frame_head(SKI_FRAME_PACKET, bytes) | peer->target},
                                   .head_bytes = SKI_FRAME_HEAD,
                                   .part       = {packet},
                                   .bytes      = {bytes},
                                   .owner      = peer->port,
                                   .to         = peer};

    return hub_send_req(peer, &out);
}

static skua_status hub_send_split(struct ski_peer *to, void *packet, size_t bytes, const void *rest,
                                  size_t rest_bytes, void *cookie)
{
    struct ski_tcp_hub_peer *peer = hub_peer(to);
    uint64_t                 head = ski_frame_head(SKI_FRAME_PACKET, bytes + rest_bytes);
    struct ski_tcp_send_req  out  = {.head       = {head | peer->target},
                                     .head_bytes = SKI_FRAME_HEAD,
                                     .part       = {packet, rest},
                                     .bytes      = {bytes, rest_bytes},
                                     .split      = true,
                                     .cookie     = cookie,
                                     .owner      = peer->port,
                                     .to         = peer};

    return hub_send_req(peer, &out);
}

/* ---- progress and sleep ------------------------------------------------------------------------
 */

/* Ends what arm() began.  A port that watched the connections leaves that to another. */
static void hub_disarm(struct ski_port *handle)
{
    struct ski_tcp_hub_port *port = hub_port(handle);
    eventfd_t                any;

    if (!port->armed)
        return;
    port->armed = false;
    atomic_store(&port->asleep, false);
    eventfd_read(port->wakeup, &any); /* a thread that is about to write it wakes the next sleep */
    ski_tcp_hub_unwatch(port);
    ski_tcp_hub_end_nap(port);
}

static bool hub_arm(struct ski_port *handle)
{
    struct ski_tcp_hub_port *port = hub_port(handle);
    struct ski_tcp_hub      *hub  = port->hub;

    hub_disarm(handle);
    port->armed = true;
    atomic_store(&port->asleep, true);
    if (!ski_tcp_hub_is_quiet(port)) {
        hub_disarm(handle);
        return false;
    }
    atomic_store(&hub->want_writable, true);
    if (ski_tcp_hub_try_lock(hub))
        hub_unlock(hub);
    ski_tcp_hub_watch(hub, port->number);
    ski_tcp_hub_nap(port);
    return true;
}

/* Receives and sends for all ports, with the lock.  While a port is full, it only sends. */
static unsigned hub_progress_locked(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_hub *hub = port->hub;
    unsigned            n   = ski_tcp_hub_handle(port);

    hub->below->recv_paused = atomic_load(&hub->full) > 0;
    hub->current            = port;
    n += ski_tcp_progress(hub->below);
    hub->current = NULL;
    hub_unlock(hub);
    return n;
}

static unsigned hub_progress(struct ski_port *handle)
{
    struct ski_tcp_hub_port *port = hub_port(handle);
    unsigned                 n    = 0;

    hub_disarm(handle);
    if (ski_tcp_hub_try_lock(port->hub))
        n = hub_progress_locked(port);
    return n + ski_tcp_hub_handle(port);
}

static int hub_wait_fd(struct ski_port *port)
{
    return hub_port(port)->epoll;
}

/* ---- open ---------------------------------------------------------------------------------- */

static void hub_free(struct ski_tcp_hub *hub)
{
    for (int i = 0; i < hub->opened; i++) {
        struct ski_tcp_hub_port *port = hub->port[i];

        assert(port->closed && !port->rooms);
        ski_tcp_hub_discard(port);
        free(port);
    }
    pthread_mutex_destroy(&hub->watch);
    free((void *)hub->port);
    free(hub);
}

/* Makes the hub of the port of @p pe and of those that are opened next. */
static skua_status hub_make(int pe)
{
    int                 count = ski_tcp.net->ports > 0 ? ski_tcp.net->ports : 1;
    struct ski_tcp_hub *hub =
        aligned_alloc(64, (sizeof *hub + (size_t)count * sizeof *hub->owners + 63) / 64 * 64);
    skua_status status;

    if (!hub)
        return SKUA_ERR_NOMEM;
    memset((void *)hub, 0, sizeof *hub + (size_t)count * sizeof *hub->owners);
    pthread_mutex_init(&hub->watch, NULL);
    hub->count = count;
    hub->port  = calloc((size_t)count, sizeof *hub->port);
    status = hub->port ? ski_tcp_open(pe, &ski_tcp_hub_upcalls, hub, &hub->below) : SKUA_ERR_NOMEM;
    if (status != SKUA_OK) {
        hub_free(hub);
        return status;
    }
    hub->below->owners      = hub->owners;
    hub->below->owner_count = (size_t)count;
    hub->below->on_sent     = ski_tcp_hub_on_sent;
    hub_filling             = hub;
    return SKUA_OK;
}

/* Makes what a port sleeps on. */
static bool hub_port_make_fds(struct ski_tcp_hub_port *port)
{
    struct epoll_event event = {.events = EPOLLIN};

    port->timer  = -1;
    port->epoll  = epoll_create1(EPOLL_CLOEXEC);
    port->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return port->epoll >= 0 && port->wakeup >= 0 &&
           epoll_ctl(port->epoll, EPOLL_CTL_ADD, port->wakeup, &event) == 0;
}

static void hub_port_close_fds(struct ski_tcp_hub_port *port)
{
    if (port->epoll >= 0)
        close(port->epoll);
    if (port->wakeup >= 0)
        close(port->wakeup);
    if (port->timer >= 0)
        close(port->timer);
}

static struct ski_tcp_hub_port *hub_port_new(int pe, const struct ski_upcalls *up, void *owner)
{
    struct ski_tcp_hub_port *port = aligned_alloc(64, (sizeof *port + 63) / 64 * 64);

    if (!port)
        return NULL;
    memset((void *)port, 0, sizeof *port);
    port->pe    = pe;
    port->up    = up;
    port->owner = owner;
    if (hub_port_make_fds(port))
        return port;
    hub_port_close_fds(port);
    free(port);
    return NULL;
}

/* Adds a port to the hub that is being filled.  Returns false if the system refuses that. */
static bool hub_port_join(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_hub *hub = hub_filling;

    port->hub = hub;
    if (!ski_tcp_hub_set_watch(port, EPOLL_CTL_ADD, 0))
        return false;
    hub_lock(hub);
    port->number              = (unsigned)hub->opened++;
    hub->owners[port->number] = port;
    atomic_store(&hub->port[port->number], port);
    hub->open++;
    hub_unlock(hub);
    if (hub->opened == hub->count)
        hub_filling = NULL;
    return true;
}

static skua_status hub_open(int pe, const struct ski_upcalls *up, void *owner,
                            struct ski_port **out)
{
    struct ski_tcp_hub_port *port   = hub_port_new(pe, up, owner);
    skua_status              status = SKUA_OK;

    if (!port) {
        snprintf(ski_tcp.net->last_error(), SKI_REASON_MAX, "descriptors or memory are exhausted");
        return SKUA_ERR_SYSTEM;
    }
    pthread_mutex_lock(&hubs_mutex);
    if (!hub_filling)
        status = hub_make(pe);
    if (status == SKUA_OK && !hub_port_join(port))
        status = SKUA_ERR_SYSTEM;
    pthread_mutex_unlock(&hubs_mutex);
    if (status == SKUA_OK) {
        *out = (struct ski_port *)(void *)port;
        return SKUA_OK;
    }
    hub_port_close_fds(port);
    free(port);
    return status;
}

/* ---- close ---------------------------------------------------------------------------------- */

/* Returns the memory that packets of a port would have been received into; the rest of these is
 * skipped. */
static void hub_port_drop_rooms(struct ski_tcp_hub_port *port)
{
    for (struct ski_tcp_conn *conn = port->hub->below->conns; conn; conn = conn->next)
        if (conn->in.owner == port && conn->in.room) {
            void *room = conn->in.room;

            conn->in.room = NULL;
            ski_tcp_hub_upcalls.abort(port, room);
        }
}

/* Takes a port out of its hub.  Returns whether it was the last one, which is told of the end of
 * its packets until the connections are closed. */
static bool hub_port_leave(struct ski_tcp_hub_port *port)
{
    struct ski_tcp_hub *hub = port->hub;
    bool                last;

    hub_lock(hub);
    last = --hub->open == 0;
    if (!last) {
        port->closed = true;
        hub_port_drop_rooms(port);
    }
    hub_unlock(hub);
    if (last && hub_filling == hub)
        hub_filling = NULL;
    return last;
}

static void hub_port_free_peers(struct ski_tcp_hub_port *port)
{
    while (port->peers) {
        struct ski_tcp_hub_peer *peer = port->peers;

        port->peers = peer->next;
        free(peer->lost);
        free(peer);
    }
}

/* The last port closes the connections, and frees what other threads may have used until then. */
static void hub_close(struct ski_port *handle)
{
    struct ski_tcp_hub_port *port     = hub_port(handle);
    struct ski_tcp_hub      *hub      = port->hub;
    double                   deadline = ski_tcp_close_deadline();
    bool                     last;

    while (port->pending > 0 && ski_tcp_now() < deadline)
        if (hub_progress(handle) == 0)
            sched_yield();
    hub_disarm(handle);
    pthread_mutex_lock(&hubs_mutex);
    last = hub_port_leave(port);
    if (last) {
        hub->below->recv_paused = false;
        ski_tcp_close(hub->below);
    }
    port->closed = true;
    ski_tcp_hub_discard(port);
    hub_port_free_peers(port);
    hub_port_close_fds(port);
    if (last)
        hub_free(hub);
    pthread_mutex_unlock(&hubs_mutex);
}

/* ---- connect ------------------------------------------------------------------------------ */

static size_t hub_address_of(struct ski_port *handle, void *to)
{
    const struct ski_tcp_hub_port *port  = hub_port(handle);
    struct hub_address             end   = {port->hub->below->pe, port->number};
    size_t                         bytes = ski_tcp_address(port->hub->below, to);

    memcpy((char *)to + bytes, &end, sizeof end);
    return bytes + sizeof end;
}

/* Finds the hub of a peer, or connects to it, with the lock. */
static skua_status hub_connect_below(struct ski_tcp_hub *hub, int pe, const void *address,
                                     size_t bytes, struct ski_peer **out)
{
    struct ski_peer *below = ski_tcp_peer_find(hub->below, pe);

    if (!below)
        return ski_tcp_connect(hub->below, pe, address, bytes, out);
    *out = below;
    if (!below->lost)
        return SKUA_OK;
    snprintf(ski_tcp.net->last_error(), SKI_REASON_MAX, "its process is lost");
    return SKUA_ERR_UNREACH;
}

/* Adds a peer to those of a port, with the lock. */
static void hub_peer_join(struct ski_tcp_hub_peer *peer, struct ski_tcp_hub_port *port)
{
    peer->next  = port->peers;
    port->peers = peer;
}

/* Connects a peer: a port of the same hub, or one of another hub. */
static skua_status hub_peer_connect(struct ski_tcp_hub_peer *peer, const struct hub_address *end,
                                    const void *address, size_t bytes)
{
    struct ski_tcp_hub_port *port   = peer->port;
    struct ski_tcp_hub      *hub    = port->hub;
    skua_status              status = SKUA_OK;

    hub_lock(hub);
    if (end->hub != hub->below->pe)
        status = hub_connect_below(hub, end->hub, address, bytes, &peer->below);
    else if (end->number < (uint32_t)hub->count)
        peer->inside = atomic_load(&hub->port[end->number]);
    if (status == SKUA_OK && !peer->below && !peer->inside)
        status = SKUA_ERR_INVAL;
    if (status == SKUA_OK)
        hub_peer_join(peer, port);
    hub_unlock(hub);
    return status;
}

/* Makes a peer that is not connected. */
static struct ski_tcp_hub_peer *hub_peer_new(struct ski_tcp_hub_port *port, int pe)
{
    struct ski_tcp_hub_peer  *peer = calloc(1, sizeof *peer);
    struct ski_tcp_hub_event *lost = aligned_alloc(64, sizeof *lost);

    if (!peer || !lost) {
        free(peer);
        free(lost);
        return NULL;
    }
    *lost      = (struct ski_tcp_hub_event){.kind = SKI_TCP_HUB_LOST, .pe = pe, .why = peer->why};
    peer->port = port;
    peer->lost = lost;
    return peer;
}

static skua_status hub_connect(struct ski_port *port, int pe, const void *address, size_t bytes,
                               struct ski_peer **out)
{
    struct hub_address       end;
    struct ski_tcp_hub_peer *peer;
    skua_status              status;

    if (bytes <= sizeof end)
        return SKUA_ERR_INVAL;
    memcpy(&end, (const char *)address + bytes - sizeof end, sizeof end);
    if (end.hub < 0 || end.number >= UINT16_MAX)
        return SKUA_ERR_INVAL;
    peer = hub_peer_new(hub_port(port), pe);
    if (!peer)
        return SKUA_ERR_NOMEM;
    peer->target = ski_frame_target(end.number);
    status       = hub_peer_connect(peer, &end, address, bytes - sizeof end);
    if (status == SKUA_OK) {
        *out = (struct ski_peer *)(void *)peer;
        return SKUA_OK;
    }
    free(peer->lost);
    free(peer);
    return status;
}

/* ---- the process ------------------------------------------------------------------------------
 */

static skua_status hub_start(struct ski_net *net)
{
    (void)net; /* the driver has been started */
    return SKUA_OK;
}

static const char *hub_describe(void)
{
    return ski_tcp.shared_text;
}

const struct ski_driver ski_tcp_hub_driver = {
    .version          = SKI_DRIVER_VERSION,
    .name             = "tcp",
    .seals            = true,
    .start            = hub_start,
    .stop             = ski_tcp_stop,
    .describe         = hub_describe,
    .open             = hub_open,
    .close            = hub_close,
    .address          = hub_address_of,
    .connect          = hub_connect,
    .send             = hub_send,
    .send_split       = hub_send_split,
    .progress         = hub_progress,
    .wait_fd          = hub_wait_fd,
    .preferred_packet = ski_tcp_preferred_packet,
    .eager_max        = ski_tcp_eager_max,
    .arm              = hub_arm,
    .wakes_for_sends  = true,
    .disarm           = hub_disarm,
};
