/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netif.h - the network interfaces of this host that the settings select, and the range of ports.
 *
 * The libraries below report little about an interface that is missing or down, or ignore it and
 * later find no peer.  So drivers check the settings first.
 *
 * Functions that end in _in work on a list of getifaddrs(); the others get the list themselves.
 */
#ifndef SKI_NETIF_H
#define SKI_NETIF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct ifaddrs;

/** Returns whether one of @p names, as in eth0,ib0, can be used: an interface that is up and has an
 *  IP address, or an RDMA device.  "all" is any interface that leads to other hosts.  Otherwise
 *  @p reason says why not.  It waits up to two seconds for the carrier of a link that was just set
 *  up. */
bool ski_netif_usable(const char *names, char *reason, size_t size);

/** Returns whether one of @p names can be used, as ski_netif_usable() does, without waiting. */
bool ski_netif_usable_in(const struct ifaddrs *all, const char *names, char *reason, size_t size);

/** Returns the interfaces that a setting selects: @p names; or, for "auto", "lo" if @p one_host and
 *  "all" otherwise. */
const char *ski_netif_resolve(const char *names, bool one_host);

/** Writes the IP addresses, at most @p most, of the interfaces that ski_netif_resolve() returned;
 *  those of loopback only if it is named.  Returns their number. */
int ski_netif_addresses(const char *selected, struct sockaddr_storage *to, int most);

/** Writes addresses of interfaces as ski_netif_addresses() does. */
int ski_netif_addresses_in(const struct ifaddrs *all, const char *selected,
                           struct sockaddr_storage *to, int most);

/** Returns whether @p addr is in the subnet of an interface of this host. */
bool ski_netif_on_link(const struct sockaddr_storage *addr);

/** Returns whether @p addr is in the subnet of an interface, as ski_netif_on_link() does. */
bool ski_netif_on_link_in(const struct ifaddrs *all, const struct sockaddr_storage *addr);

/** Writes the name of the interface of this host whose subnet has @p addr, IF_NAMESIZE bytes at
 * most. Returns false if there is none. */
bool ski_netif_link_name(const struct sockaddr_storage *addr, char *name);

/** Writes the name of the interface of this host that has the IP address @p addr, also if it is
 * down, IF_NAMESIZE bytes at most.  Returns false if there is none. */
bool ski_netif_name_of(const struct sockaddr_storage *addr, char *name);

/** Returns the speed of an interface in megabits per second; 0: it is unknown. */
long ski_netif_speed(const char *name);

/** Parses a range of ports such as 5000-5100.  Returns false, with @p reason written, if @p setting
 *  is not one. */
bool ski_port_range_parse(const char *setting, unsigned *first, unsigned *last, char *reason,
                          size_t size);

/** Returns whether @p wanted ports of the range are free now, or the setting is "any"; otherwise
 *  @p reason says why not. */
bool ski_port_range_has_free(const char *setting, int wanted, char *reason, size_t size);

/** The error text when the addresses of a peer cannot be reached from the selected interfaces. */
#define SKI_NO_ROUTE                                                                               \
    "no route leads to %s from %.60s: %s (is SKUA_NET_INTERFACES the right network?)"

#endif
