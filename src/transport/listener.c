/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c - see listener.h. */
#include "transport/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "transport/driver.h"
#include "transport/netif.h"
#include "transport/sockaddr.h"

#define LISTENER_BACKLOG       4096
#define LISTENER_BIND_RETRIES  50       /* attempts where all ports of the range are in use */
#define LISTENER_BIND_RETRY_NS 20000000 /* nanoseconds between them                         */

/* Listens at an address and completes it with the port number. Returns -1, with errno set, if that
 * fails. */
static int listener_open_at(struct sockaddr_storage *addr)
{
    int       fd = socket(addr->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    socklen_t bytes = sizeof *addr;
    int       on    = 1, error;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)addr, ski_sockaddr_bytes(addr)) == 0 &&
        listen(fd, LISTENER_BACKLOG) == 0 && getsockname(fd, (struct sockaddr *)addr, &bytes) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Opens a listening socket at the first free port of the range, or at any port. */
static int listener_open_in_range(const struct ski_net *net, struct sockaddr_storage *addr)
{
    struct sockaddr_in *in =
        (struct sockaddr_in *)(void *)addr; /* the port is at the same offset in both families */
    unsigned first = 0, last = 0;
    int      fd = -1;

    if (strcmp(net->port_range, "any") != 0 &&
        !ski_port_range_parse(net->port_range, &first, &last, net->last_error(), SKI_REASON_MAX))
        return -1;
    for (unsigned port = first; port <= last && fd < 0; port++) {
        in->sin_port = htons((uint16_t)port);
        fd           = listener_open_at(addr);
        if (fd < 0 && errno != EADDRINUSE)
            break;
    }
    return fd;
}

/* Warns if the kernel queues fewer connections than the job has processes: connections beyond that
 * get no answer while this process computes, and it is taken for one that has vanished. */
static void listener_check_backlog(const struct ski_net *net)
{
    static _Atomic bool warned;
    FILE               *file = fopen("/proc/sys/net/core/somaxconn", "re");
    int                 most = LISTENER_BACKLOG;

    if (!file)
        return;
    if (fscanf(file, "%d", &most) == 1 && most < net->processes && most < LISTENER_BACKLOG &&
        !atomic_exchange(&warned, true))
        net->log(SKI_LOG_WARN,
                 "the kernel of this host queues %d connections for a process, and the job has %d "
                 "processes; raise net.core.somaxconn",
                 most, net->processes);
    fclose(file);
}

int ski_listener_open(const struct ski_net *net, struct sockaddr_storage *addr)
{
    int fd;

    listener_check_backlog(net);
    fd = listener_open_in_range(net, addr);
    for (int i = 0; i < LISTENER_BIND_RETRIES && fd < 0 && errno == EADDRINUSE; i++) {
        nanosleep(&(struct timespec){.tv_nsec = LISTENER_BIND_RETRY_NS}, NULL);
        fd = listener_open_in_range(net, addr);
    }
    return fd;
}
