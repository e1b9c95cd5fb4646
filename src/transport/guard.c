/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - see guard.h. */
#include "transport/guard.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/driver.h"
#include "transport/files.h"

#define LEAST_ASKED 3   /* questions that were not answered */
#define LOOKS       4.0 /* within the timeout               */
#define DEFER_SECONDS                                                                              \
    120 /* that a connection to a library may be silent until that hears of it                     \
         */

/* ---- names ------------------------------------------------------------------------ */

/* The length of what has to be equal in two names, without their padding. */
static size_t name_bytes(const struct sockaddr_storage *name)
{
    switch (name->ss_family) {
    case AF_INET: return offsetof(struct sockaddr_in, sin_zero);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

bool ski_guard_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    size_t bytes = name_bytes(a);

    return bytes > 0 && memcmp(a, b, bytes) == 0;
}

bool ski_guard_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    struct sockaddr_storage host = *a;

    /* In both families the port lies at the same place. */
    ((struct sockaddr_in *)(void *)&host)->sin_port =
        ((const struct sockaddr_in *)(const void *)b)->sin_port;
    return ski_guard_same(&host, b);
}

static bool name_here(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getsockname(fd, (struct sockaddr *)name, &bytes) == 0 && name_bytes(name) > 0;
}

static bool name_there(int fd, struct sockaddr_storage *name)
{
    socklen_t bytes = sizeof *name;

    memset(name, 0, sizeof *name);
    return getpeername(fd, (struct sockaddr *)name, &bytes) == 0;
}

/* A name as /proc has it, in words of the machine; false: it is not one. */
static bool read_name(const char *text, sa_family_t family, struct sockaddr_storage *name)
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
static bool name_sought(const struct sockaddr_storage *here, struct sockaddr_storage *there)
{
    FILE *list =
        fopen(here->ss_family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "r");
    char                    line[512], from[64], to[64];
    struct sockaddr_storage name;
    bool                    found = false;

    while (list && !found && fgets(line, sizeof line, list))
        found = sscanf(line, " %*d: %63s %63s", from, to) == 2 &&
                read_name(from, here->ss_family, &name) && ski_guard_same(&name, here) &&
                read_name(to, here->ss_family, there);
    if (list)
        fclose(list);
    return found;
}

/* ---- sockets ---------------------------------------------------------------------- */

/* The next descriptor in a list of them, or -1. */
static int next_fd(DIR *list)
{
    struct dirent *entry = list ? readdir(list) : NULL;

    return entry ? atoi(entry->d_name) : -1; /* "." is 0, which is no matter */
}

static void end_list(DIR *list)
{
    if (list)
        closedir(list);
}

static bool ask(int fd, struct tcp_info *info)
{
    socklen_t bytes = sizeof *info;

    memset(info, 0, sizeof *info);
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &bytes) == 0;
}

static bool is_connecting(int fd)
{
    struct tcp_info info;

    return ask(fd, &info) && info.tcpi_state == TCP_SYN_SENT;
}

static bool is_dead(int fd, double timeout)
{
    struct tcp_info info;

    if (!ask(fd, &info))
        return false;
    if (info.tcpi_state == TCP_SYN_SENT) /* asked after 1, 3, 7 ... seconds */
        return info.tcpi_retransmits > 1 && (double)(1u << info.tcpi_retransmits % 32) > timeout;
    return info.tcpi_state == TCP_ESTABLISHED && info.tcpi_last_ack_recv > 1000 * timeout &&
           info.tcpi_retransmits + info.tcpi_probes >= LEAST_ASKED;
}

/* Lets it ask even when there is nothing to send: often enough to be found dead in time,
 * and for longer than that, so that it is us who find it. */
static void keep_asking(int fd, double timeout)
{
    int on = 1, idle = (int)(timeout / 3) + 1, interval = (int)(timeout / 6) + 1, count = 100;

    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

bool ski_guard_is_dead(int fd, double timeout)
{
    if (is_dead(fd, timeout))
        return true;
    keep_asking(fd, timeout);
    return false;
}

void ski_guard_look(double timeout, ski_guard_fn *is_ours, void *arg)
{
    DIR                    *list = opendir("/proc/self/fd");
    struct sockaddr_storage here, there;

    for (int fd; (fd = next_fd(list)) >= 0;) {
        bool dead;

        if (!name_here(fd, &here))
            continue;
        if (!name_there(fd, &there) && !(is_connecting(fd) && name_sought(&here, &there)))
            there = (struct sockaddr_storage){0}; /* it is not connected */
        dead = is_dead(fd, timeout);
        if (!is_ours(arg, &here, &there, dead))
            continue;
        if (dead)
            shutdown(fd, SHUT_RDWR);
        else
            keep_asking(fd, timeout);
    }
    end_list(list);
}

bool ski_guard_is_time(double *looked_at, double now, double timeout)
{
    if (now - *looked_at < timeout / LOOKS)
        return false;
    *looked_at = now;
    return true;
}

bool ski_guard_reaches(const struct sockaddr_storage *name)
{
    DIR                    *list  = opendir("/proc/self/fd");
    bool                    found = false;
    struct sockaddr_storage there;
    struct tcp_info         info;

    for (int fd; !found && (fd = next_fd(list)) >= 0;)
        found = name_there(fd, &there) && ski_guard_same(&there, name) && ask(fd, &info) &&
                info.tcpi_state == TCP_ESTABLISHED;
    end_list(list);
    return found;
}

/* What listens at @p name, or -1. */
static int guard_find_listener(const struct sockaddr_storage *name)
{
    DIR                    *list  = opendir("/proc/self/fd");
    int                     found = -1;
    struct sockaddr_storage here;
    struct tcp_info         info;

    for (int fd; found < 0 && (fd = next_fd(list)) >= 0;)
        if (name_here(fd, &here) && ski_guard_same(&here, name) && ask(fd, &info) &&
            info.tcpi_state == TCP_LISTEN)
            found = fd;
    end_list(list);
    return found;
}

bool ski_guard_listens(const struct sockaddr_storage *name)
{
    int fd = guard_find_listener(name), seconds = DEFER_SECONDS;

    return fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) == 0;
}

void ski_guard_files(const struct ski_net *net, const struct sockaddr_storage *name)
{
    static _Atomic bool said;

    if (said)
        return;
    if (ski_files_are_out()) {
        said = true;
        net->log(SKI_LOG_ERROR, "other PEs may not get through to this one: " SKI_TOO_MANY_FILES);
    } else if (name && guard_find_listener(name) < 0) {
        said = true;
        net->log(SKI_LOG_ERROR,
                 "other PEs do not get through to this one any more: its library has "
                 "closed the socket it listened at, as it does after " SKI_TOO_MANY_FILES);
    }
}

int ski_guard_listeners(struct sockaddr_storage *names, int most)
{
    DIR            *list = opendir("/proc/self/fd");
    int             n    = 0;
    struct tcp_info info;

    for (int fd; n < most && (fd = next_fd(list)) >= 0;)
        if (name_here(fd, &names[n]) && ask(fd, &info) && info.tcpi_state == TCP_LISTEN)
            n++;
    end_list(list);
    return n;
}
