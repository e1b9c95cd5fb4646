/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.c - the process's side of the driver: see tcp.h. */
#include "transport/tcp/tcp.h"

#include <stdio.h>
#include <time.h>

#include "transport/interface.h"

#define SMALL  ((size_t)64 << 10) /* a packet that is copied on arrival */
#define PACKET ((size_t)256 << 10)

struct ski_tcp ski_tcp;

double ski_tcp_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whether the interfaces that are meant are there; there is always loopback. */
static bool check_interfaces(struct ski_net *net)
{
    struct sockaddr_storage any;

    if (strcmp(ski_tcp.interfaces, "lo") != 0 &&
        !ski_interfaces_fit(net->interfaces, net->why(), SKI_WHY_MOST))
        return false;
    if (ski_interfaces_addresses(ski_tcp.interfaces, &any, 1) > 0)
        return true;
    snprintf(net->why(), SKI_WHY_MOST, "no interface of %.60s has an address of IP",
             ski_tcp.interfaces);
    return false;
}

/* Whether the ports make sense; that they are free is seen when they are opened. */
static bool check_ports(struct ski_net *net)
{
    unsigned first, last;

    return strcmp(net->port_range, "any") == 0 ||
           ski_ports_range(net->port_range, &first, &last, net->why(), SKI_WHY_MOST);
}

static skua_status_t start(struct ski_net *net)
{
    ski_tcp.net        = net;
    ski_tcp.interfaces = ski_interfaces_meant(net->interfaces, net->one_host);
    if (!check_ports(net) || !check_interfaces(net))
        return SKUA_ERR_INVAL;
    snprintf(ski_tcp.text, sizeof ski_tcp.text, "TCP on %s", ski_tcp.interfaces);
    return SKUA_OK;
}

static void stop(void)
{
}

static const char *describe(void)
{
    return ski_tcp.text;
}

static size_t best_packet(void)
{
    return PACKET;
}

static size_t small_packet(void)
{
    return SMALL;
}

__attribute__((visibility("default"))) const struct ski_driver ski_driver = {
    .version    = SKI_DRIVER_VERSION,
    .name       = "tcp",
    .seals      = true,
    .start      = start,
    .stop       = stop,
    .describe   = describe,
    .open       = ski_tcp_open,
    .close      = ski_tcp_close,
    .address    = ski_tcp_address,
    .connect    = ski_tcp_connect,
    .send       = ski_tcp_send,
    .send_split = ski_tcp_send_split,
    .progress   = ski_tcp_progress,
    .wait_fd    = ski_tcp_wait_fd,
    .packet     = best_packet,
    .small      = small_packet,
    .arm        = ski_tcp_arm,
};
