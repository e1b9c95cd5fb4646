/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netif_test.c - which interfaces of a simulated host the settings select, and what is said about
 * the others; ranges of ports.
 */
#include "transport/netif.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"
#include "transport/sockaddr.h"

#define ENTRIES 16

static struct ifaddrs          netif_entry[ENTRIES];
static struct sockaddr_storage netif_addr[ENTRIES], netif_mask[ENTRIES];
static int                     netif_entries;

static void netif_test_parse(const char *text, struct sockaddr_storage *addr)
{
    struct sockaddr_in  *four = (struct sockaddr_in *)(void *)addr;
    struct sockaddr_in6 *six  = (struct sockaddr_in6 *)(void *)addr;

    memset(addr, 0, sizeof *addr);
    addr->ss_family = AF_INET;
    if (inet_pton(AF_INET, text, &four->sin_addr) != 1) {
        addr->ss_family = AF_INET6;
        tap_bad += inet_pton(AF_INET6, text, &six->sin6_addr) != 1;
    }
}

/* Adds an entry as getifaddrs() has them: with an IP address, or the one of the link itself. */
static void netif_test_add(char *name, unsigned flags, const char *addr, const char *mask)
{
    int i = netif_entries++;

    netif_addr[i].ss_family = AF_PACKET;
    if (addr) {
        netif_test_parse(addr, &netif_addr[i]);
        netif_test_parse(mask, &netif_mask[i]);
    }
    netif_entry[i] = (struct ifaddrs){.ifa_name    = name,
                                      .ifa_flags   = flags,
                                      .ifa_addr    = (struct sockaddr *)&netif_addr[i],
                                      .ifa_netmask = (struct sockaddr *)&netif_mask[i]};
    if (i > 0)
        netif_entry[i - 1].ifa_next = &netif_entry[i];
}

static void netif_test_make_host(void)
{
    const unsigned up = IFF_UP | IFF_RUNNING;

    netif_test_add("lo", up | IFF_LOOPBACK, NULL, NULL);
    netif_test_add("lo", up | IFF_LOOPBACK, "127.0.0.1", "255.0.0.0");
    netif_test_add("eth0", up, NULL, NULL);
    netif_test_add("eth0", up, "10.1.0.7", "255.255.0.0");
    netif_test_add("eth0", up, "fd00::7", "ffff::");
    netif_test_add("eth1", IFF_UP, NULL, NULL);
    netif_test_add("eth2", 0, NULL, NULL);
    netif_test_add("ib0", up, NULL, NULL);
    netif_test_add("six0", up, "fe80::1", "ffff::");
    netif_test_add("six0", up, "fd01::1", "ffff::");
}

static void test_netif_usable(void)
{
    char reason[256];

    OK(ski_netif_usable_in(netif_entry, "all", reason, sizeof reason), "all");
    OK(ski_netif_usable_in(netif_entry, "lo", reason, sizeof reason), "loopback");
    OK(ski_netif_usable_in(netif_entry, "eth0", reason, sizeof reason), "an interface that is up");
    OK(ski_netif_usable_in(netif_entry, "eth9,eth0", reason, sizeof reason),
       "one of two is enough");
    OK(ski_netif_usable_in(netif_entry, "mlx5_0:1", reason, sizeof reason),
       "an RDMA device is left to the library");
    OK(!ski_netif_usable_in(netif_entry, "eth1", reason, sizeof reason) &&
           strstr(reason, "eth1 has no carrier"),
       "%s", reason);
    OK(!ski_netif_usable_in(netif_entry, "eth2", reason, sizeof reason) &&
           strstr(reason, "eth2 is down"),
       "%s", reason);
    OK(!ski_netif_usable_in(netif_entry, "ib0", reason, sizeof reason) &&
           strstr(reason, "ib0 has no address"),
       "%s", reason);
    OK(!ski_netif_usable_in(netif_entry, "eth", reason, sizeof reason) &&
           strstr(reason, "no interface eth") && strstr(reason, "eth1 (no carrier)"),
       "%s", reason);
}

static int netif_test_count(const char *selected, const char *first)
{
    struct sockaddr_storage to[8];
    char                    text[INET6_ADDRSTRLEN] = "";
    int                     n = ski_netif_addresses_in(netif_entry, selected, to, 8);

    if (n > 0)
        ski_sockaddr_text(&to[0], text, sizeof text);
    return strcmp(text, first) == 0 ? n : -1;
}

static void test_netif_addresses(void)
{
    struct sockaddr_storage to[1];

    OK(strcmp(ski_netif_resolve("auto", true), "lo") == 0 &&
           strcmp(ski_netif_resolve("auto", false), "all") == 0 &&
           strcmp(ski_netif_resolve("eth0", true), "eth0") == 0,
       "what a setting selects");
    OK(netif_test_count("lo", "127.0.0.1") == 1, "loopback");
    OK(netif_test_count("all", "10.1.0.7") == 2,
       "IPv4 where an interface has both, no link-local address, no loopback");
    OK(netif_test_count("six0", "fd01::1") == 1, "an interface with IPv6 alone");
    OK(netif_test_count("six0,eth0", "10.1.0.7") == 2, "two interfaces");
    OK(netif_test_count("eth", "") == 0, "a part of a name is not a name");
    OK(ski_netif_addresses_in(netif_entry, "all", to, 1) == 1, "no more than there is room for");
}

static void test_netif_on_link(void)
{
    struct sockaddr_storage addr;

    netif_test_parse("10.1.99.1", &addr);
    OK(ski_netif_on_link_in(netif_entry, &addr), "an address of the subnet of eth0");
    netif_test_parse("10.2.0.7", &addr);
    OK(!ski_netif_on_link_in(netif_entry, &addr), "an address of another subnet");
    netif_test_parse("fd01::9", &addr);
    OK(ski_netif_on_link_in(netif_entry, &addr), "an address of the subnet of six0");
}

static void test_netif_ports(void)
{
    unsigned           first, last;
    char               reason[256], range[32];
    struct sockaddr_in addr  = {.sin_family = AF_INET};
    socklen_t          bytes = sizeof addr;
    int                fd    = socket(AF_INET, SOCK_STREAM, 0);

    OK(ski_port_range_parse("5000-5100", &first, &last, reason, sizeof reason) && first == 5000 &&
           last == 5100,
       "a range of ports");
    OK(!ski_port_range_parse("5100-5000", &first, &last, reason, sizeof reason) &&
           !ski_port_range_parse("0-5", &first, &last, reason, sizeof reason) &&
           !ski_port_range_parse("1-70000", &first, &last, reason, sizeof reason) &&
           !ski_port_range_parse("5000", &first, &last, reason, sizeof reason) &&
           !ski_port_range_parse("1-2x", &first, &last, reason, sizeof reason),
       "texts that are not: %s", reason);
    OK(ski_port_range_has_free("any", 1000000, reason, sizeof reason), "any port");
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &bytes) != 0)
        tap_bad++;
    snprintf(range, sizeof range, "%u-%u", ntohs(addr.sin_port), ntohs(addr.sin_port));
    OK(!ski_port_range_has_free(range, 1, reason, sizeof reason) && strstr(reason, "0 ports"),
       "a port that is in use: %s", reason);
    close(fd);
}

int main(void)
{
    netif_test_make_host();
    test_netif_usable();
    test_netif_addresses();
    test_netif_on_link();
    test_netif_ports();
    return tap_end();
}
