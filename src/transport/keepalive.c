/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. */
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

#define KEEPALIVE_PROBES_MIN 3   /* questions that were not answered */
#define KEEPALIVE_CHECKS     4.0 /* within the timeout               */
#define DEFER_SECONDS                                                                              \
    120 /* that a connection to a library may be silent until that hears of it                     \
         */

/* ---- names ------------------------------------------------------------------------ */

/* The length of what has to be equal in two names, without their padding. */
static size_t sockaddr_compared_bytes(const struct sockaddr_storage *name)
{
    switch (name->ss_family) {
    case AF_INET: return offsetof(struct sockaddr_in, sin_zero);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

bool ski_sockaddr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    size_t bytes = sockaddr_compared_bytes(a);

    return bytes > 0 && memcmp(a, b, bytes) == 0;
}

bool ski_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    struct sockaddr_storage host = *a;

    /* In both families the port lies at the same place. */
    ((struct sockaddr_in *)(void *)&host)->sin_port =
        ((const struct sockaddr_in *)(const void *)b)->sin_port;
    return ski_sockaddr_equal(&host, b);
}

static bool socket_local_addr(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getsockname(fd, (struct sockaddr *)name, &bytes) == 0 &&
           sockaddr_compared_bytes(name) > 0;
}

static bool socket_peer_addr(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getpeername(fd, (struct sockaddr *)name, &bytes) == 0;
}

/* A name as /proc has it, in words of the machine; false: it is not one. */
static bool sockaddr_parse_proc(const char *text, sa_family_t family, struct sockaddr_storage *name)
{
    struct sockaddr_in  *four = (struct sockaddr_in *)(void *)name;
    struct sockaddr_in6 *six  = (struct sockaddr_in6 *)(void *)name;
    unsigned             word[4], port;

    memset(name, 0, sizeof *name);
    name->ss_family = family;
    if (family == AF_INET) {
        if (sscanf(text, "%8x:%4x", &word[0], &port) != 2)
            return false;
        four->sin_addr.s_addr = word[0];
        four->sin_port        = htons((uint16_t)port);
        return true;
    }
    if (sscanf(text, "%8x%8x%8x%8x:%4x", &word[0], &word[1], &word[2], &word[3], &port) != 5)
        return false;
    memcpy(&six->sin6_addr, word, sizeof word);
    six->sin6_port = htons((uint16_t)port);
    return true;
}

/* Where the socket of the name @p here is connecting to, which getpeername() says only when
 * it has got there. */
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
                sockaddr_parse_proc(from, here->ss_family, &name) &&
                ski_sockaddr_equal(&name, here) && sockaddr_parse_proc(to, here->ss_family, there);
    if (list)
        fclose(list);
    return found;
}

/* ---- sockets ---------------------------------------------------------------------- */

/* The next descriptor in a list of them, or -1. */
static int keepalive_next_fd(DIR *list)
{
    struct dirent *entry = list ? readdir(list) : NULL;

    return entry ? atoi(entry->d_name) : -1; /* "." is 0, which is no matter */
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
    if (info.tcpi_state == TCP_SYN_SENT) /* asked after 1, 3, 7 ... seconds */
        return info.tcpi_retransmits > 1 && (double)(1u << info.tcpi_retransmits % 32) > timeout;
    return info.tcpi_state == TCP_ESTABLISHED && info.tcpi_last_ack_recv > 1000 * timeout &&
           info.tcpi_retransmits + info.tcpi_probes >= KEEPALIVE_PROBES_MIN;
}

/* Lets it ask even when there is nothing to send: often enough to be found dead in time,
 * and for longer than that, so that it is us who find it. */
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
            there = (struct sockaddr_storage){0}; /* it is not connected */
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

/* What listens at @p name, or -1. */
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
        net->log(SKI_LOG_ERROR, "other PEs may not get through to this one: " SKI_TOO_MANY_FILES);
    } else if (name && keepalive_find_listener(name) < 0) {
        said = true;
        net->log(SKI_LOG_ERROR,
                 "other PEs do not get through to this one any more: its library has "
                 "closed the socket it listened at, as it does after " SKI_TOO_MANY_FILES);
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
