/* SPDX-License-Identifier: Apache-2.0 */
/* port.c - ports, and what happens at them: see tcp.h. */
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

#include "transport/guard.h"
#include "transport/interface.h"
#include "transport/tcp/tcp.h"

#define BACKLOG       4096
#define DEFER_SECONDS 1    /* that a connection may take to say something, until we hear of it */
#define SHUT_SECONDS  0.05 /* that doors stay shut, at most                                    */
#define RETRIES       50   /* where all ports of the range are in use, ... */
#define RETRY_NS      20000000 /* ... after so long */
#define EVENTS        32
#define CLOSE_SECONDS 2
#define ALL_EVERY     4  /* turns without anything from the hot link until all are asked */
#define ALL_AT_LEAST  16 /* turns with something from it                                  */

/* ---- doors ------------------------------------------------------------------------- */

/* Listens at a name, which is completed; -1, and errno. */
static int listen_at(struct sockaddr_storage *name)
{
    int       fd = socket(name->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    socklen_t bytes = sizeof *name;
    int       on = 1, seconds = DEFER_SECONDS, error;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
    if (bind(fd, (struct sockaddr *)name, ski_address_bytes(name)) == 0 &&
        listen(fd, BACKLOG) == 0 && getsockname(fd, (struct sockaddr *)name, &bytes) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The same at an address, at a port of the setting, or any. */
static int listen_in_range(struct sockaddr_storage *name)
{
    struct sockaddr_in *in    = (struct sockaddr_in *)(void *)name; /* of both families alike */
    unsigned            first = 0, last = 0;
    int                 fd = -1;

    if (strcmp(ski_tcp.net->port_range, "any") != 0 &&
        !ski_ports_range(ski_tcp.net->port_range, &first, &last, ski_tcp.net->why(), SKI_WHY_MOST))
        return -1;
    for (unsigned port = first; port <= last && fd < 0; port++) {
        in->sin_port = htons((uint16_t)port);
        fd           = listen_at(name);
        if (fd < 0 && errno != EADDRINUSE)
            break;
    }
    return fd;
}

/* Where all ports of a range are taken, one may only have been tried by another process. */
static int open_door(struct sockaddr_storage *name)
{
    int fd = listen_in_range(name);

    for (int i = 0; i < RETRIES && fd < 0 && errno == EADDRINUSE; i++) {
        nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
        fd = listen_in_range(name);
    }
    return fd;
}

static bool open_doors(struct ski_port *port)
{
    struct sockaddr_storage all[SKI_NAMES];
    int                     n = ski_interfaces_addresses(ski_tcp.interfaces, all, SKI_NAMES);

    for (int i = 0; i < n; i++) {
        struct ski_source *door = &port->door[port->names.count];

        *door = (struct ski_source){SKI_DOOR, open_door(&all[i])};
        if (door->fd < 0)
            continue; /* one is enough */
        port->names.name[port->names.count++] = all[i];
        if (!ski_tcp_watch(port, door))
            return false;
    }
    return port->names.count > 0;
}

void ski_tcp_shut_doors(struct ski_port *port, bool shut)
{
    if (port->shut == shut)
        return;
    port->shut       = shut;
    port->shut_until = ski_tcp_now() + SHUT_SECONDS;
    for (size_t i = 0; i < port->names.count; i++) {
        struct epoll_event event = {.events = shut ? 0 : EPOLLIN, .data.ptr = &port->door[i]};

        epoll_ctl(port->epoll, EPOLL_CTL_MOD, port->door[i].fd, &event);
    }
}

static void close_doors(struct ski_port *port)
{
    for (size_t i = 0; i < port->names.count; i++)
        close(port->door[i].fd);
}

/* ---- open and close ---------------------------------------------------------------- */

static void free_port(struct ski_port *port)
{
    close_doors(port);
    ski_tcp_bury(port);
    while (port->peers) {
        struct ski_peer *peer = port->peers;
        port->peers           = peer->next;
        ski_tcp_give_back(peer);
        free(peer);
    }
    if (port->epoll >= 0)
        close(port->epoll);
    free(port->spare);
    free(port->scratch);
    free(port);
}

skua_status_t ski_tcp_open(int pe, const struct ski_upcalls *up, void *owner, struct ski_port **out)
{
    struct ski_port *port = calloc(1, sizeof *port);
    int              error;

    if (!port)
        return SKUA_ERR_NOMEM;
    port->pe      = pe;
    port->up      = up;
    port->owner   = owner;
    port->epoll   = epoll_create1(EPOLL_CLOEXEC);
    port->scratch = malloc(SKI_SCRATCH);
    if (port->epoll >= 0 && port->scratch && open_doors(port)) {
        atomic_store(&ski_tcp.close_until, 0);
        *out = port;
        return SKUA_OK;
    }
    error = errno;
    free_port(port);
    if (error != EADDRINUSE || ski_ports_are_free(ski_tcp.net->port_range, ski_tcp.net->ports,
                                                  ski_tcp.net->why(), SKI_WHY_MOST))
        snprintf(ski_tcp.net->why(), SKI_WHY_MOST, "a port cannot listen: %s", strerror(error));
    return SKUA_ERR_SYSTEM;
}

/* Whether the other side has all that was sent by a link. */
static bool is_out(const struct ski_link *link)
{
    int left = 0;

    return ioctl(link->source.fd, SIOCOUTQ, &left) != 0 || left == 0;
}

static bool all_out(const struct ski_port *port)
{
    for (const struct ski_link *link = port->links; link; link = link->next)
        if (!is_out(link))
            return false;
    return !port->waiting;
}

/* Whether the stream can be ended here: the other side opens one that we have answered, though it
 * has not proved yet who it is; and a packet that did not get out whole has no end. */
static bool may_end(const struct ski_link *link)
{
    const struct ski_peer *peer;

    if (link->left || !(link->state == SKI_LINK_OPEN || link->state == SKI_LINK_PROVING))
        return false;
    peer = ski_tcp_peer(link->port, link->pe);
    return !(peer && peer->link == link && ski_tcp_is_in_packet(peer));
}

static void say_good_bye(struct ski_port *port)
{
    uint64_t end = ski_stream_head(SKI_STREAM_END, 0);

    for (struct ski_link *link = port->links; link; link = link->next) {
        struct iovec part = {&end, sizeof end};

        if (may_end(link) && ski_tcp_make_records(link) &&
            ski_tcp_push(link, &part, 1) == sizeof end) {
            link->left = true;
            shutdown(link->source.fd, SHUT_WR);
        }
    }
}

static void go_on(struct ski_port *port)
{
    if (ski_tcp_progress(port) == 0)
        sched_yield();
}

/* One host that is silent does not keep a process with many ports waiting for each of them. */
static double close_until(void)
{
    double unset = 0, until = ski_tcp_now() + CLOSE_SECONDS;

    return atomic_compare_exchange_strong(&ski_tcp.close_until, &unset, until) ? until : unset;
}

/* What comes meanwhile is read: the system would take back what we have sent, if it were
 * closed before.  Who gets through to us only now is told, too, that we leave. */
void ski_tcp_close(struct ski_port *port)
{
    double until = close_until();

    while (port->waiting && ski_tcp_now() < until)
        go_on(port);
    say_good_bye(port);
    while (!all_out(port) && ski_tcp_now() < until) {
        go_on(port);
        say_good_bye(port);
    }
    while (port->links)
        ski_tcp_close_link(port->links);
    free_port(port);
}

size_t ski_tcp_address(struct ski_port *port, void *to)
{
    return ski_names_pack(&port->names, to);
}

/* ---- progress ------------------------------------------------------------------------ */

/* Of a link that has room, after it was asked for. */
static bool hear_link(struct ski_link *link, uint32_t events)
{
    bool room = link->state == SKI_LINK_OPEN && events & EPOLLOUT;

    if (room)
        ski_tcp_ask_for_room(link, false);
    return ski_tcp_hear(link) || room;
}

/* Asks for all that happens at doors and links; how much there was. */
static unsigned hear_all(struct ski_port *port)
{
    struct epoll_event event[EVENTS];
    int                n    = epoll_wait(port->epoll, event, EVENTS, 0);
    unsigned           some = 0;

    for (int i = 0; i < n; i++) {
        struct ski_source *source = event[i].data.ptr;

        if (source->kind == SKI_DOOR)
            some += ski_tcp_accept(port, source->fd);
        else
            some += hear_link((struct ski_link *)(void *)source, event[i].events);
    }
    return some;
}

/* Whether the others are asked, too, after the hot link had something or had not. */
static bool is_turn_of_all(struct ski_port *port, bool heard)
{
    if (++port->turns < (heard ? ALL_AT_LEAST : ALL_EVERY) && port->hot)
        return false;
    port->turns = 0;
    return true;
}

/* What waits is sent last: it may just have been told that there is room. */
unsigned ski_tcp_progress(struct ski_port *port)
{
    unsigned n = port->hot && ski_tcp_hear(port->hot);

    if (is_turn_of_all(port, n > 0)) {
        n += hear_all(port);
        if (port->shut && ski_tcp_now() > port->shut_until)
            ski_tcp_shut_doors(port, false);
        if (ski_guard_is_time(&port->looked_at, ski_tcp_now(), ski_tcp.net->peer_timeout))
            ski_tcp_look_at_links(port);
    }
    if (port->waiting)
        n += ski_tcp_flush(port);
    if (port->over)
        ski_tcp_bury(port);
    return n;
}

int ski_tcp_wait_fd(struct ski_port *port)
{
    return port->epoll;
}

/* It tells as long as there is something: no event can be missed. */
bool ski_tcp_arm(struct ski_port *port)
{
    ski_tcp_ask_for_rooms(port);
    return true;
}
