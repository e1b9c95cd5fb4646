/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_port.c - ports: listeners, epoll, progress and close (see tcp.h). */
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "transport/keepalive.h"
#include "transport/listener.h"
#include "transport/netif.h"
#include "transport/tcp/tcp.h"

#define TCP_DEFER_SECONDS                                                                          \
    1 /* seconds until an accepted connection that sends nothing is reported */
#define TCP_PAUSE_SECONDS    0.05 /* seconds that listeners are left out of epoll, at most */
#define TCP_EPOLL_EVENTS     32
#define TCP_CLOSE_SECONDS    2
#define TCP_EPOLL_IDLE_POLLS 4  /* polls of an idle hot connection per poll of epoll */
#define TCP_EPOLL_BUSY_POLLS 16 /* polls of a busy one */

/* ---- listeners --------------------------------------------------------------------- */

/* Opens a listener whose connections are reported once they have sent something. */
static int tcp_listener_open(struct sockaddr_storage *addr)
{
    int fd = ski_listener_open(ski_tcp.net, addr), seconds = TCP_DEFER_SECONDS;

    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
    return fd;
}

/* Opens a listener at each address of the job's networks.  Returns whether at least one is open. */
static bool tcp_listeners_open(struct ski_port *port)
{
    struct sockaddr_storage all[SKI_SOCKADDRS_MAX];
    int                     n = ski_netif_addresses(ski_tcp.interfaces, all, SKI_SOCKADDRS_MAX);

    for (int i = 0; i < n; i++) {
        struct ski_tcp_source *listener = &port->listener[port->addrs.count];

        assert(port->addrs.count < SKI_SOCKADDRS_MAX);
        *listener = (struct ski_tcp_source){SKI_TCP_LISTENER, tcp_listener_open(&all[i])};
        if (listener->fd < 0)
            continue; /* one address is enough */
        port->addrs.addr[port->addrs.count++] = all[i];
        if (!ski_tcp_epoll_add(port, listener))
            return false;
    }
    return port->addrs.count > 0;
}

void ski_tcp_pause_accept(struct ski_port *port, bool accept_paused)
{
    if (port->accept_paused == accept_paused)
        return;
    port->accept_paused       = accept_paused;
    port->accept_paused_until = ski_tcp_now() + TCP_PAUSE_SECONDS;
    for (size_t i = 0; i < port->addrs.count; i++) {
        struct epoll_event event = {.events   = accept_paused ? 0 : EPOLLIN,
                                    .data.ptr = &port->listener[i]};

        epoll_ctl(port->epoll, EPOLL_CTL_MOD, port->listener[i].fd, &event);
    }
}

static void tcp_listeners_close(struct ski_port *port)
{
    for (size_t i = 0; i < port->addrs.count; i++)
        close(port->listener[i].fd);
}

/* ---- open and close ---------------------------------------------------------------- */

static void tcp_port_free(struct ski_port *port)
{
    assert(!port->conns && !port->hot);
    ski_io_thread_stop(port->io);
    tcp_listeners_close(port);
    ski_tcp_conns_reap(port);
    ski_multiparts_free(&port->multiparts);
    while (port->peers) {
        struct ski_peer *peer = port->peers;
        port->peers           = peer->next;
        ski_tcp_sendq_clear(peer);
        ski_tcp_rails_free(peer);
        free(peer);
    }
    if (port->epoll >= 0)
        close(port->epoll);
    free(port->spare);
    free(port->scratch);
    free(port);
}

skua_status ski_tcp_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **out)
{
    struct ski_port *port = calloc(1, sizeof *port);
    int              error;

    if (!port)
        return SKUA_ERR_NOMEM;
    port->pe      = pe;
    port->up      = up;
    port->owner   = owner;
    port->epoll   = epoll_create1(EPOLL_CLOEXEC);
    port->scratch = malloc(SKI_TCP_SCRATCH);

    port->multiparts =
        (struct ski_multiparts){.up = up, .owner = owner, .changed = ski_tcp_multipart_changed};
    if (port->epoll >= 0 && port->scratch && tcp_listeners_open(port) &&
        ski_tcp_assist_open(port)) {
        atomic_store(&ski_tcp.close_deadline, 0);
        *out = port;
        return SKUA_OK;
    }
    error = errno;
    tcp_port_free(port);
    if (error != EADDRINUSE || ski_port_range_has_free(ski_tcp.net->port_range, ski_tcp.net->ports,
                                                       ski_tcp.net->last_error(), SKI_REASON_MAX))
        snprintf(ski_tcp.net->last_error(), SKI_REASON_MAX, "cannot listen for other PEs: %s",
                 strerror(error));
    return SKUA_ERR_SYSTEM;
}

/* Returns whether the other side has acknowledged all data of a connection. */
static bool tcp_conn_is_drained(const struct ski_tcp_conn *conn)
{
    int left = 0; /* bytes that are not acknowledged */

    return ioctl(conn->source.fd, SIOCOUTQ, &left) != 0 || left == 0;
}

static bool tcp_port_is_drained(const struct ski_port *port)
{
    for (const struct ski_tcp_conn *conn = port->conns; conn; conn = conn->next)
        if (!tcp_conn_is_drained(conn))
            return false;
    return port->unsent == 0;
}

/* Returns whether the end of the stream can be sent now. The other side has opened a connection
 * whose hello was answered, even if its proof has not arrived; and a packet that was sent in part
 * has no end. */
static bool tcp_conn_may_end(const struct ski_tcp_conn *conn)
{
    const struct ski_peer *peer;

    if (conn->end_sent || !(conn->state == SKI_TCP_OPEN || conn->state == SKI_TCP_AWAIT_PROOF))
        return false;
    peer = ski_tcp_peer_of(conn);
    return !(peer && peer->conn == conn && ski_tcp_mid_packet(peer));
}

static void tcp_port_send_end(struct ski_port *port)
{
    for (struct ski_tcp_conn *conn = port->conns; conn; conn = conn->next)
        if (tcp_conn_may_end(conn) && ski_tcp_conn_secure(conn) &&
            ski_tcp_send_end(conn, SKI_FRAME_END))
            shutdown(conn->source.fd, SHUT_WR);
}

static void tcp_port_progress_or_yield(struct ski_port *port)
{
    if (ski_tcp_progress(port) == 0)
        sched_yield();
}

double ski_tcp_close_deadline(void)
{
    double unset = 0, deadline = ski_tcp_now() + TCP_CLOSE_SECONDS;

    return atomic_compare_exchange_strong(&ski_tcp.close_deadline, &unset, deadline) ? deadline
                                                                                     : unset;
}

/* Takes the send queues back, and completes what the progress thread has sent.  Returns the number
 * of these packets. */
static unsigned tcp_port_take_queues(struct ski_port *port)
{
    ski_tcp_assist_take(port);
    return ski_tcp_sendq_complete_sent(port);
}

/* Data that arrives meanwhile is read, since the kernel would otherwise reset the connection and
 * discard what was sent. A peer that connects only now is told of the end, too. */
void ski_tcp_close(struct ski_port *port)
{
    double deadline = ski_tcp_close_deadline();

    ski_tcp_assist_close(port);
    tcp_port_take_queues(port);
    while (port->unsent > 0 && ski_tcp_now() < deadline)
        tcp_port_progress_or_yield(port);
    tcp_port_send_end(port);
    while (!tcp_port_is_drained(port) && ski_tcp_now() < deadline) {
        tcp_port_progress_or_yield(port);
        tcp_port_send_end(port);
    }
    while (port->conns)
        ski_tcp_conn_close(port->conns);
    tcp_port_free(port);
}

size_t ski_tcp_address(struct ski_port *port, void *to)
{
    return ski_sockaddrs_pack(&port->addrs, to);
}

/* ---- progress ------------------------------------------------------------------------ */

/* Handles an event of a connection. */
static bool tcp_conn_on_event(struct ski_tcp_conn *conn, uint32_t events)
{
    bool open = conn->state == SKI_TCP_OPEN, room = open && events & EPOLLOUT;

    assert(conn->source.kind == SKI_TCP_CONN);
    if (room)
        ski_tcp_want_writable(conn, false);
    if (open && conn->port->recv_paused)
        return room;
    return ski_tcp_on_readable(conn) || room;
}

/* Handles all events that epoll reports. Returns their number. */
static unsigned tcp_port_poll_epoll(struct ski_port *port)
{
    struct epoll_event event[TCP_EPOLL_EVENTS];
    int                n    = epoll_wait(port->epoll, event, TCP_EPOLL_EVENTS, 0);
    unsigned           some = 0;

    for (int i = 0; i < n; i++) {
        struct ski_tcp_source *source = event[i].data.ptr;

        if (source->kind == SKI_TCP_LISTENER)
            some += ski_tcp_accept(port, source->fd);
        else if (source->kind == SKI_TCP_ASSIST)
            some += ski_tcp_assist_all(port);
        else
            some += tcp_conn_on_event((struct ski_tcp_conn *)(void *)source, event[i].events);
    }
    return some;
}

/* Lets a connection leave epoll that has been the hot one for a while.  Connections that ports
 * share stay: a port that sleeps may watch them while another one receives. */
static void tcp_port_note_hot(struct ski_port *port)
{
    struct ski_tcp_conn *hot = port->hot;

    if (hot != port->hot_before)
        port->hot_stays = 0;
    port->hot_before = hot;
    if (hot && !hot->outside_epoll && ++port->hot_stays >= SKI_TCP_HOT_STAYS &&
        port->hot_misses < SKI_TCP_HOT_MISSES && !hot->wants_writable && !port->owners)
        ski_tcp_conn_use_epoll(hot, false);
}

/* Returns whether epoll has no more to report than new connections and the timer of tcp_assist.c,
 * which can wait. */
static bool tcp_port_only_hot(const struct ski_port *port)
{
    return port->hot && port->hot == port->conns && !port->hot->next && port->hot->outside_epoll;
}

/* Returns whether epoll is due, after the hot connection had data (@p heard) or not. */
static bool tcp_port_epoll_is_due(struct ski_port *port, bool heard)
{
    bool     seldom = heard || tcp_port_only_hot(port);
    unsigned polls  = seldom ? TCP_EPOLL_BUSY_POLLS : TCP_EPOLL_IDLE_POLLS;

    if (++port->polls < polls && port->hot && !port->left)
        return false;
    port->polls = 0;
    return true;
}

/* Returns whether data comes from one connection after the other: then the next data is likely not
 * from the hot one, unless that is amidst a packet. */
static bool tcp_port_alternates(const struct ski_port *port)
{
    return port->hot_misses >= SKI_TCP_HOT_MISSES && port->hot && port->hot->in.bytes == 0 &&
           !port->hot->outside_epoll;
}

/* Packets that wait are sent last, as a connection may just have become writable. */
unsigned ski_tcp_progress(struct ski_port *port)
{
    bool     alternates = tcp_port_alternates(port);
    unsigned n          = 0;

    assert(!port->hot || port->hot->state == SKI_TCP_OPEN);
    if (port->offered)
        n = tcp_port_take_queues(port);
    n += port->hot && !alternates && !port->recv_paused && ski_tcp_on_readable(port->hot);
    if (alternates || tcp_port_epoll_is_due(port, n > 0)) {
        n += tcp_port_poll_epoll(port);
        tcp_port_note_hot(port);
        if (port->accept_paused && ski_tcp_now() > port->accept_paused_until)
            ski_tcp_pause_accept(port, false);
        if (ski_keepalive_is_due(&port->checked_at, ski_tcp_now(), ski_tcp.net->peer_timeout))
            ski_tcp_conns_check(port);
    }
    if (port->waiting)
        n += ski_tcp_sendq_flush(port);
    if (port->closed)
        ski_tcp_conns_reap(port);
    if (port->waiting)
        ski_tcp_assist_offer(port, true);
    return n;
}

int ski_tcp_wait_fd(struct ski_port *port)
{
    return port->epoll;
}

/* epoll is level-triggered, so no event can be missed.  A port whose hot connection cannot be
 * watched does not sleep. */
bool ski_tcp_arm(struct ski_port *port)
{
    bool watched;

    ski_tcp_assist_take(port);
    ski_tcp_want_writable_all(port);
    ski_tcp_unwatch_paused(port);
    port->hot_stays = 0;
    watched         = !port->hot || ski_tcp_conn_use_epoll(port->hot, true);
    ski_tcp_assist_offer(port, true);
    return watched;
}
