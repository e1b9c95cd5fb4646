/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interface.h - the network interfaces and ports of this host, as the settings name them,
 * and addresses, as people read them.
 *
 * The libraries below say little of an interface that is missing or down, or do without it
 * and find later that nobody can be reached.
 */
#ifndef SKI_INTERFACE_H
#define SKI_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/** Whether one of @p names, as in eth0,ib0, can be used: an interface that is up and has an
 *  address, or a device of another kind.  "auto" is any that leads to other hosts.  False:
 *  @p why says why not.  Waits up to two seconds for the carrier of a link that was just set up. */
bool ski_interfaces_fit(const char *names, char *why, size_t size);

/** The interfaces that are meant: @p names, or, of "auto", loopback if @p one_host, else all. */
const char *ski_interfaces_meant(const char *names, bool one_host);

/** Their addresses, at most @p most, none of loopback unless that is named; how many. */
int ski_interfaces_addresses(const char *meant, struct sockaddr_storage *to, int most);

/** Whether @p name is in a network that one of our interfaces is in, too. */
bool ski_interfaces_are_near(const struct sockaddr_storage *name);

/** Read a setting of ports such as 5000-5100; false: @p why says that it is none. */
bool ski_ports_range(const char *setting, unsigned *first, unsigned *last, char *why, size_t size);

/** Whether @p wanted ports of the setting are free now, or it is "any"; or @p why. */
bool ski_ports_are_free(const char *setting, int wanted, char *why, size_t size);

/** What is said when a peer's addresses, from our interfaces, cannot be reached: why. */
#define SKI_NO_WAY "no way leads to %s from %.60s: %s (is SKUA_NET_INTERFACES the right network?)"

/** The bytes of a socket's name, as the system wants them. */
socklen_t ski_address_bytes(const struct sockaddr_storage *name);

bool ski_address_is_loopback(const struct sockaddr_storage *name);

/** Write the address of a socket's name, without the port; returns @p to. */
const char *ski_address_text(const struct sockaddr_storage *name, char *to, size_t size);

#endif
