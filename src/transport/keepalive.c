/* SPDX-License-Identifier: Apache-2.0 */
/* keepalive.c - see keepalive.h. */
#include "transport/keepalive.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#define KEEPALIVE_PROBES_MIN                                                                       \
    3 /* unanswered probes or retransmissions of a dead connection, at least */
#define KEEPALIVE_CHECKS 4.0 /* number of checks within the timeout */

static bool keepalive_found_dead(int fd, double timeout)
{
    struct tcp_info info  = {0};
    socklen_t       bytes = sizeof info;

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0)
        return false;
    if (info.tcpi_state == TCP_SYN_SENT) /* retransmitted after 1, 3, 7 ... seconds */
        return info.tcpi_retransmits > 1 && (double)(1u << info.tcpi_retransmits % 32) > timeout;
    return info.tcpi_state == TCP_ESTABLISHED && info.tcpi_last_ack_recv > 1000 * timeout &&
           info.tcpi_retransmits + info.tcpi_probes >= KEEPALIVE_PROBES_MIN;
}

/* Enables keepalive probes, often enough that a dead connection is found in time, and so many of
 * them that the kernel does not close it before keepalive_found_dead() finds it. */
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
    assert(fd >= 0);
    if (keepalive_found_dead(fd, timeout))
        return true;
    keepalive_enable(fd, timeout);
    return false;
}

bool ski_keepalive_is_due(double *checked_at, double now, double timeout)
{
    if (now - *checked_at < timeout / KEEPALIVE_CHECKS)
        return false;
    *checked_at = now;
    return true;
}
