/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.c - hosts that fall silent.
 *
 * When a host vanishes without a word, TCP tries for a quarter of an hour before it
 * gives up, and tcp, the provider, has no parameter for that.  The kernel has one,
 * TCP_USER_TIMEOUT, so we look for the provider's sockets among our descriptors:
 *   - those of our own name: the listening one, from which connections that come in
 *     inherit it;
 *   - those to the name of a peer: connections that we began.
 * Names include the port, so no socket of anybody else is touched.  A connection that
 * times out fails what is under way, and the peer is lost: op.c.
 *
 * Looking takes a call for each descriptor.  It is done when a port is opened, and
 * after a peer was reached for the first time, at most once a second.
 */
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/ofi/ofi.h"

#define LOOK_SECONDS 1.0

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

static void look(struct ski_port *port)
{
    unsigned       ms    = (unsigned)(1000 * ski_ofi.net->peer_timeout);
    DIR           *own   = opendir("/proc/self/fd");
    struct dirent *entry = NULL;

    while (own && (entry = readdir(own))) {
        int fd = atoi(entry->d_name); /* "." is 0, which is no matter */

        if (is_ours(port, fd))
            setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
    }
    if (own)
        closedir(own);
}

void ski_ofi_guard(struct ski_port *port)
{
    double now = ski_ofi_seconds();

    if (now - port->looked_at < LOOK_SECONDS)
        return;
    port->looked_at = now;
    port->unguarded = false;
    if (is_tcp())
        look(port);
}
