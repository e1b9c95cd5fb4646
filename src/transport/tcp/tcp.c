/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - settings and the table of functions of the TCP driver: see tcp.h. */
#include "transport/tcp/tcp.h"

#include <stdio.h>

#include "base/seconds.h"
#include "transport/netif.h"

#define TCP_EAGER_MAX        ((size_t)64 << 10) /* a packet that is copied on arrival */
#define TCP_PREFERRED_PACKET ((size_t)256 << 10)
#define TCP_IO_PACKET        ((size_t)1025 << 10) /* with I/O threads: 1 MB of data, and a head */

struct ski_tcp ski_tcp;

double ski_tcp_now(void)
{
    return ski_seconds(CLOCK_MONOTONIC_COARSE);
}

/* Returns whether the selected interfaces can be used. */
static bool tcp_check_interfaces(struct ski_net *net)
{
    struct sockaddr_storage any;

    if (!ski_netif_usable(ski_tcp.interfaces, net->last_error(), SKI_REASON_MAX))
        return false;
    if (ski_netif_addresses(ski_tcp.interfaces, &any, 1) > 0)
        return true;
    snprintf(net->last_error(), SKI_REASON_MAX, "no interface of %.60s has an IP address",
             ski_tcp.interfaces);
    return false;
}

/* Returns whether the range of ports is valid; whether they are free shows when they are opened. */
static bool tcp_check_ports(struct ski_net *net)
{
    unsigned first, last;

    return strcmp(net->port_range, "any") == 0 ||
           ski_port_range_parse(net->port_range, &first, &last, net->last_error(), SKI_REASON_MAX);
}

static skua_status tcp_start(struct ski_net *net)
{
    ski_tcp.net        = net;
    ski_tcp.interfaces = ski_netif_resolve(net->interfaces, net->one_host);
    if (!tcp_check_ports(net) || !tcp_check_interfaces(net))
        return SKUA_ERR_INVAL;
    snprintf(ski_tcp.text, sizeof ski_tcp.text, "TCP on %.80s", ski_tcp.interfaces);
    snprintf(ski_tcp.shared_text, sizeof ski_tcp.shared_text,
             "%s, connections shared by the PEs of a process", ski_tcp.text);
    if (net->rails > 1)
        snprintf(ski_tcp.text, sizeof ski_tcp.text, "TCP on %.80s, %u rails", ski_tcp.interfaces,
                 net->rails);
    return SKUA_OK;
}

void ski_tcp_stop(void)
{
}

static const char *tcp_describe(void)
{
    return ski_tcp.text;
}

size_t ski_tcp_preferred_packet(void)
{
    return TCP_PREFERRED_PACKET;
}

/* The preferred size of a port that may have an I/O thread. */
static size_t tcp_port_preferred_packet(void)
{
    return ski_net_allows_io_threads(ski_tcp.net) ? TCP_IO_PACKET : ski_tcp_preferred_packet();
}

size_t ski_tcp_eager_max(void)
{
    return TCP_EAGER_MAX;
}

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version          = SKI_DRIVER_VERSION,
    .name             = "tcp",
    .seals            = true,
    .start            = tcp_start,
    .stop             = ski_tcp_stop,
    .describe         = tcp_describe,
    .open             = ski_tcp_open,
    .close            = ski_tcp_close,
    .address          = ski_tcp_address,
    .connect          = ski_tcp_connect,
    .connect_wait     = ski_tcp_connect_wait,
    .send             = ski_tcp_send,
    .send_split       = ski_tcp_send_split,
    .split_move       = ski_tcp_split_move,
    .receives_direct  = true,
    .progress         = ski_tcp_progress,
    .wait_fd          = ski_tcp_wait_fd,
    .preferred_packet = tcp_port_preferred_packet,
    .eager_max        = ski_tcp_eager_max,
    .arm              = ski_tcp_arm,
    .wakes_for_sends  = true,
    .run_two          = ski_tcp_run_two,
    .shared           = &ski_tcp_hub_driver,
};
