/* SPDX-License-Identifier: Apache-2.0 */
/* keepalive.c - see keepalive.h. */
#include "transport/keepalive.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/driver.h"
#include "transport/fd_limit.h"
#include "transport/sockaddr.h"

#define KEEPALIVE_PROBES_MIN 3   /* questions that were not answered */
#define KEEPALIVE_CHECKS     4.0 /* within the timeout               */
#define DEFER_SECONDS                                                                              \
    120 /* that a connection to a library may be silent until that hears of it                     \
         */

/* ---- addresses of sockets ----------------------------------------------------------- */

static bool socket_local_addr(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getsockname(fd, (struct sockaddr *)name, &bytes) == 0 && ski_sockaddr_is_ip(name);
}

static bool socket_peer_addr(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getpeername(fd, (struct sockaddr *)name, &bytes) == 0;
}

/* Finds the address that the socket with the local address @p here is connecting to, which
 * getpeername() returns only once it is connected. */
static bool socket_connecting_to(const struct sockaddr_storage *here,
                                 struct sockaddr_storage       *there)
{
    FILE *list =
        fopen(here->ss_family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "r");
    char                    line[512], from[64], to[64];
    struct sockaddr_storage name;
    bool                    found = false;

    while (list && !found && fgets(line, sizeof line, list))
        found = sscanf(line, " %*d: %63s %63s", from, to) == 2 &&
                ski_sockaddr_parse_proc(from, here->ss_family, &name) &&
                ski_sockaddr_equal(&name, here) &&
                ski_sockaddr_parse_proc(to, here->ss_family, there);
    if (list)
        fclose(list);
    return found;
}

/* ---- sockets ---------------------------------------------------------------------- */

/* Returns the next descriptor in /proc/self/fd, or -1. */
static int keepalive_next_fd(DIR *list)
{
    struct dirent *entry = list ? readdir(list) : NULL;

    return entry ? atoi(entry->d_name) : -1; /* "." is 0, which does no harm */
}

static void keepalive_close_dir(DIR *list)
{
    if (list)
        closedir(list);
}

static bool keepalive_tcp_info(int fd, struct tcp_info *info)
{
    socklen_t bytes = sizeof *info;

    memset(info, 0, sizeof *info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &bytes) == 0;
}

static bool keepalive_is_connecting(int fd)
{
    struct tcp_info info;

    return keepalive_tcp_info(fd, &info) && info.tcpi_state == TCP_SYN_SENT;
}

static bool keepalive_is_dead(int fd, double timeout)
{
    struct tcp_info info;

    if (!keepalive_tcp_info(fd, &info))
        return false;
    if (info.tcpi_state == TCP_SYN_SENT) /* retransmitted after 1, 3, 7 ... seconds */
        return info.tcpi_retransmits > 1 && (double)(1u << info.tcpi_retransmits % 32) > timeout;
    return info.tcpi_state == TCP_ESTABLISHED && info.tcpi_last_ack_recv > 1000 * timeout &&
           info.tcpi_retransmits + info.tcpi_probes >= KEEPALIVE_PROBES_MIN;
}

/* Enables keepalive probes, often enough that a dead connection is found in time, and so many of
 * them that the kernel does not close it before keepalive_is_dead() finds it. */
static void keepalive_enable(int fd, double timeout)
{
    int on = 1, idle = (int)(timeout / 3) + 1, interval = (int)(timeout / 6) + 1, count = 100;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

bool ski_keepalive_is_dead(int fd, double timeout)
{
    if (keepalive_is_dead(fd, timeout))
        return true;
    keepalive_enable(fd, timeout);
    return false;
}

void ski_keepalive_check(double timeout, ski_keepalive_fn *is_ours, void *arg)
{
    DIR                    *list = opendir("/proc/self/fd");
    struct sockaddr_storage here, there;

    for (int fd; (fd = keepalive_next_fd(list)) >= 0;) {
        bool dead;

        if (!socket_local_addr(fd, &here))
            continue;
        if (!socket_peer_addr(fd, &there) &&
            !(keepalive_is_connecting(fd) && socket_connecting_to(&here, &there)))
            there = (struct sockaddr_storage){0}; /* not connected */
        dead = keepalive_is_dead(fd, timeout);
        if (!is_ours(arg, &here, &there, dead))
            continue;
        if (dead)
            shutdown(fd, SHUT_RDWR);
        else
            keepalive_enable(fd, timeout);
    }
    keepalive_close_dir(list);
}

bool ski_keepalive_is_due(double *looked_at, double now, double timeout)
{
    if (now - *looked_at < timeout / KEEPALIVE_CHECKS)
        return false;
    *looked_at = now;
    return true;
}

bool ski_keepalive_is_connected(const struct sockaddr_storage *name)
{
    DIR                    *list  = opendir("/proc/self/fd");
    bool                    found = false;
    struct sockaddr_storage there;
    struct tcp_info         info;

    for (int fd; !found && (fd = keepalive_next_fd(list)) >= 0;)
        found = socket_peer_addr(fd, &there) && ski_sockaddr_equal(&there, name) &&
                keepalive_tcp_info(fd, &info) && info.tcpi_state == TCP_ESTABLISHED;
    keepalive_close_dir(list);
    return found;
}

/* Returns the socket that listens at @p name, or -1. */
static int keepalive_find_listener(const struct sockaddr_storage *name)
{
    DIR                    *list  = opendir("/proc/self/fd");
    int                     found = -1;
    struct sockaddr_storage here;
    struct tcp_info         info;

    for (int fd; found < 0 && (fd = keepalive_next_fd(list)) >= 0;)
        if (socket_local_addr(fd, &here) && ski_sockaddr_equal(&here, name) &&
            keepalive_tcp_info(fd, &info) && info.tcpi_state == TCP_LISTEN)
            found = fd;
    keepalive_close_dir(list);
    return found;
}

bool ski_keepalive_defer_accept(const struct sockaddr_storage *name)
{
    int fd = keepalive_find_listener(name), seconds = DEFER_SECONDS;

    return fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) == 0;
}

void ski_keepalive_check_fds(const struct ski_net *net, const struct sockaddr_storage *name)
{
    static _Atomic bool said;

    if (said)
        return;
    if (ski_fd_exhausted()) {
        said = true;
        net->log(SKI_LOG_ERROR, "other PEs may not reach this one: " SKI_TOO_MANY_FILES);
    } else if (name && keepalive_find_listener(name) < 0) {
        said = true;
        net->log(SKI_LOG_ERROR,
                 "other PEs cannot reach this one any more: its library has closed its "
                 "listening socket, as it does after " SKI_TOO_MANY_FILES);
    }
}

int ski_keepalive_listeners(struct sockaddr_storage *names, int most)
{
    DIR            *list = opendir("/proc/self/fd");
    int             n    = 0;
    struct tcp_info info;

    for (int fd; n < most && (fd = keepalive_next_fd(list)) >= 0;)
        if (socket_local_addr(fd, &names[n]) && keepalive_tcp_info(fd, &info) &&
            info.tcpi_state == TCP_LISTEN)
            n++;
    keepalive_close_dir(list);
    return n;
}
