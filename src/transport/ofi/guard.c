/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - hosts that fall silent, and processes that are only busy.
 *
 * When a host vanishes without a word, TCP tries for a quarter of an hour before it
 * gives up, and tcp, the provider, has no parameter for that.  So we look now and
 * then at its sockets, which we find among our descriptors by their names: those of
 * our own name are connections that came in, those to the name of a peer are ones
 * that we began.  Names include the port, so no socket of anybody else is touched.
 *
 * A connection is dead if nothing was heard of it for net->peer_timeout although it
 * has asked several times.  We shut it down; what is under way then fails, and the
 * peer is lost: op.c.  TCP_USER_TIMEOUT would be simpler, but it ends connections to
 * hosts that answer, too, if the process there is too busy to read.
 *
 * The other way round, a peer to whom there is a connection of TCP, but none of the
 * provider, has not had the time to answer: its kernel has.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/ofi/ofi.h"

#define LEAST_ASKED 3   /* questions that were not answered */
#define LOOKS       4.0 /* within net->peer_timeout           */

static bool is_tcp(void)
{
    return strncmp(ski_ofi.info->fabric_attr->prov_name, "tcp", 3) == 0;
}

/* The length of what has to be equal in two names, without their padding. */
static size_t name_bytes(const struct sockaddr_storage *name)
{
    switch (name->ss_family) {
    case AF_INET: return offsetof(struct sockaddr_in, sin_zero);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

static bool same_name(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    size_t bytes = name_bytes(a);

    return bytes > 0 && memcmp(a, b, bytes) == 0;
}

/* The next descriptor in a list of them, or -1. */
static int next_fd(DIR *list)
{
    struct dirent *entry = list ? readdir(list) : NULL;

    return entry ? atoi(entry->d_name) : -1; /* "." is 0, which is no matter */
}

static bool is_to(int fd, const struct sockaddr_storage *name)
{
    struct sockaddr_storage there = {0};
    socklen_t               bytes = sizeof there;

    return getpeername(fd, (struct sockaddr *)&there, &bytes) == 0 && same_name(&there, name);
}

static bool is_ours(const struct ski_port *port, int fd)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t               bytes = sizeof here;

    if (getsockname(fd, (struct sockaddr *)&here, &bytes) != 0)
        return false;
    if (same_name(&here, &port->name))
        return true;
    bytes = sizeof there;
    if (getpeername(fd, (struct sockaddr *)&there, &bytes) != 0)
        return false;
    for (const struct ski_peer *peer = port->peers; peer; peer = peer->next)
        if (same_name(&there, &peer->name))
            return true;
    return false;
}

static bool is_established(int fd, struct tcp_info *info)
{
    socklen_t bytes = sizeof *info;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &bytes) == 0 &&
           info->tcpi_state == TCP_ESTABLISHED;
}

static bool is_dead(int fd)
{
    struct tcp_info info;

    return is_established(fd, &info) &&
           info.tcpi_last_ack_recv > 1000 * ski_ofi.net->peer_timeout &&
           info.tcpi_retransmits + info.tcpi_probes >= LEAST_ASKED;
}

static void look(struct ski_port *port)
{
    DIR *list = opendir("/proc/self/fd");

    for (int fd; (fd = next_fd(list)) >= 0;)
        if (is_ours(port, fd) && is_dead(fd))
            shutdown(fd, SHUT_RDWR);
    if (list)
        closedir(list);
}

bool ski_ofi_is_busy(const struct ski_peer *peer)
{
    DIR            *list  = is_tcp() ? opendir("/proc/self/fd") : NULL;
    bool            found = false;
    struct tcp_info info;

    for (int fd; !found && (fd = next_fd(list)) >= 0;)
        found = is_to(fd, &peer->name) && is_established(fd, &info);
    if (list)
        closedir(list);
    return found;
}

void ski_ofi_guard(struct ski_port *port, double now)
{
    if (now - port->looked_at < ski_ofi.net->peer_timeout / LOOKS)
        return;
    port->looked_at = now;
    if (is_tcp())
        look(port);
}
