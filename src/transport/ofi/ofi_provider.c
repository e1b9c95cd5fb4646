/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ofi_provider.c - the selection of a provider of libfabric, and of its interface.
 *
 * libfabric lists what it offers, best first: a fast network before tcp.  The driver uses the first
 * entry that
 *   - is of a trusted provider: not shm, which cannot wait or detect that a peer died; not udp,
 *     sockets and net, as there is tcp.  A user that sets FI_PROVIDER gets that provider;
 *   - is on an interface of the job: one that the settings name; or loopback, if all processes are
 *     on this host; or else one that other hosts can reach.
 * IPv4 is preferred, so that all hosts decide alike.
 *
 * The query asks for all of one-sided communication first, then for less.
 */
#include <arpa/inet.h>
#include <glob.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/netif.h"
#include "transport/ofi/ofi.h"

#define OFI_API                                                                                    \
    FI_VERSION(1, 11) /* the version of the API that this code uses; newer libraries support it */

/* The capabilities requested, best first. */
static const uint64_t ofi_caps[] = {FI_RMA | FI_ATOMIC, FI_RMA, 0};

/* ---- interfaces ---------------------------------------------------------------- */

static const struct sockaddr *provider_ip_address(const struct fi_info *info)
{
    const struct sockaddr *address = info->src_addr;
    bool ip = info->addr_format == FI_SOCKADDR || info->addr_format == FI_SOCKADDR_IN ||
              info->addr_format == FI_SOCKADDR_IN6;

    if (!ip || !address || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return NULL;
    return address;
}

static const struct in6_addr *provider_ipv6(const struct sockaddr *address)
{
    return &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static uint32_t provider_ipv4(const struct sockaddr *address)
{
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
}

static bool provider_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return provider_ipv4(address) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(provider_ipv6(address));
}

/* Such an address is reached only through an interface that the sender names. */
static bool provider_is_link_local_ipv6(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(provider_ipv6(address));
}

static bool provider_is_link_local(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return provider_ipv4(address) >> 16 == 0xa9fe;
    return provider_is_link_local_ipv6(address);
}

static bool provider_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    if (!b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return provider_ipv4(a) == provider_ipv4(b);
    return IN6_ARE_ADDR_EQUAL(provider_ipv6(a), provider_ipv6(b));
}

/* Returns whether an address belongs to the interface @p name, of @p length characters. */
static bool provider_is_on_interface(const struct sockaddr *address, const char *name,
                                     size_t length)
{
    struct ifaddrs *all;
    bool            found = false;

    if (getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = strlen(i->ifa_name) == length && strncmp(i->ifa_name, name, length) == 0 &&
                provider_same_host(address, i->ifa_addr);
    freeifaddrs(all);
    return found;
}

/* Returns whether an entry is on one of the interfaces in @p names, which may also be names of
 * devices. */
static bool provider_is_listed(const struct fi_info *info, const char *names)
{
    const struct sockaddr *address = provider_ip_address(info);
    const char            *device  = info->domain_attr->name;

    for (const char *name = names; *name;) {
        size_t length = strcspn(name, ",");

        if ((strlen(device) == length && strncmp(device, name, length) == 0) ||
            (address && provider_is_on_interface(address, name, length)))
            return true;
        name += length + (name[length] == ',');
    }
    return false;
}

/* ---- entries ------------------------------------------------------------------- */

static bool provider_is_forced(void)
{
    const char *provider = getenv("FI_PROVIDER");

    return provider && *provider;
}

static bool provider_is_trusted(const struct fi_info *info)
{
    static const char *const no[] = {"shm", "udp", "sockets", "net", "sm2"};
    const char              *name = info->fabric_attr->prov_name;

    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strncmp(name, no[i], strlen(no[i])) == 0)
            return provider_is_forced();
    return true;
}

static bool provider_is_eligible(const struct ski_net *net, const struct fi_info *info)
{
    const struct sockaddr *address = provider_ip_address(info);

    if (!provider_is_trusted(info) || info->tx_attr->inject_size < SKI_OFI_INJECT_MIN)
        return false;
    if (strcmp(net->interfaces, "auto") != 0)
        return provider_is_listed(info, net->interfaces) &&
               !(address && provider_is_link_local_ipv6(address));
    if (net->one_host)
        return address ? provider_is_loopback(address) : provider_is_forced();
    return !address || !(provider_is_loopback(address) || provider_is_link_local(address));
}

static struct fi_info *provider_best(const struct ski_net *net, struct fi_info *list)
{
    struct fi_info *second = NULL;

    for (struct fi_info *info = list; info; info = info->next) {
        const struct sockaddr *address = provider_ip_address(info);

        if (!provider_is_eligible(net, info))
            continue;
        if (!address || address->sa_family == AF_INET)
            return info;
        if (!second)
            second = info;
    }
    return second;
}

/* Returns the query for providers with the capabilities @p caps besides messages. */
static struct fi_info *provider_hints(uint64_t caps)
{
    struct fi_info *hints = fi_allocinfo();

    if (!hints)
        return NULL;
    hints->caps                   = FI_MSG | FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | caps;
    hints->mode                   = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type          = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_SAFE; /* ports of several threads share the domain */
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    /* Not FI_MR_LOCAL: for providers that need registered buffers, rxm registers them and keeps a
     * cache. FI_MR_ENDPOINT is for cxi (ofi_rma.c). */
    hints->domain_attr->mr_mode =
        FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    if (caps)
        hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE; /* flush() relies on it */
    return hints;
}

/* ---- the choice ------------------------------------------------------------------ */

/* Lists the names of the devices, for error texts. */
static void provider_list_devices(const struct fi_info *list, char *to, size_t size)
{
    size_t n = 0;

    to[0] = '\0';
    for (const struct fi_info *info = list; info && n + 2 < size; info = info->next) {
        const char *name = info->domain_attr->name;

        if (!strstr(to, name))
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? ", " : "", name);
    }
}

/* Writes why no provider was selected. */
static void provider_explain(struct ski_net *net, const struct fi_info *list, int error)
{
    char devices[128];

    provider_list_devices(list, devices, sizeof devices);
    if (!list && error != -FI_ENODATA)
        snprintf(net->last_error(), SKI_REASON_MAX, "fi_getinfo: %s", fi_strerror(-error));
    else if (!list)
        snprintf(net->last_error(), SKI_REASON_MAX,
                 "libfabric has no provider of reliable datagrams on this host%s",
                 provider_is_forced() ? " with the name in FI_PROVIDER" : "");
    else if (strcmp(net->interfaces, "auto") != 0 &&
             ski_netif_usable(net->interfaces, net->last_error(), SKI_REASON_MAX))
        snprintf(net->last_error(), SKI_REASON_MAX,
                 "no provider is on interface %.60s (there are: %s)", net->interfaces, devices);
    else if (strcmp(net->interfaces, "auto") == 0)
        snprintf(net->last_error(), SKI_REASON_MAX, "no interface reaches %s (there are: %s)",
                 net->one_host ? "processes of this host" : "other hosts", devices);
}

/* Sets the ports of providers, which read their parameters on first use. */
static skua_status provider_set_ports(struct ski_net *net)
{
    char     low[16], high[16];
    unsigned first, last;

    if (strcmp(net->port_range, "any") == 0)
        return SKUA_OK;
    if (!ski_port_range_parse(net->port_range, &first, &last, net->last_error(), SKI_REASON_MAX) ||
        !ski_port_range_has_free(net->port_range, net->ports + 1, net->last_error(),
                                 SKI_REASON_MAX)) /* 1: transport/liveness.h */
        return SKUA_ERR_INVAL;
    snprintf(low, sizeof low, "%u", first);
    snprintf(high, sizeof high, "%u", last);
    setenv("FI_TCP_PORT_LOW_RANGE", low, 1);
    setenv("FI_TCP_PORT_HIGH_RANGE", high, 1);
    return SKUA_OK;
}

/* Sends packets of up to 256 KiB over tcp without a rendezvous, which is faster, twice as fast for
 * 64 KiB. Both ends must have the same limit (ofi_port.c checks it).  rxm posts 16 receive buffers
 * for each port instead of 128, which take 100 MB more and are no faster: while all are in use, the
 * packets wait in their sockets.  verbs needs other values, so a host with such devices keeps the
 * defaults. */
static void provider_set_rxm_buffers(void)
{
    glob_t devices;

    if (glob("/sys/class/infiniband/*", 0, NULL, &devices) == 0) {
        globfree(&devices);
        return;
    }
    setenv(SKI_OFI_EAGER_LIMIT, "262144", 0);
    setenv("FI_OFI_RXM_MSG_RX_SIZE", "16", 0);
}

/* Returns whether the processes of one host, which loopback connects by default, can use it. */
static bool provider_check_loopback(struct ski_net *net)
{
    return !net->one_host || strcmp(net->interfaces, "auto") != 0 || provider_is_forced() ||
           ski_netif_usable("lo", net->last_error(), SKI_REASON_MAX);
}

/* Queries providers with the given capabilities. Returns NULL, with net->last_error() set, if there
 * is none. */
static struct fi_info *provider_query(struct ski_net *net, uint64_t caps)
{
    struct fi_info *hints = provider_hints(caps), *list = NULL, *found, *chosen = NULL;
    int             error = hints ? fi_getinfo(OFI_API, NULL, NULL, 0, hints, &list) : -FI_ENOMEM;

    found = provider_best(net, list);
    if (found)
        chosen = fi_dupinfo(found);
    else
        provider_explain(net, list, error);
    if (list)
        fi_freeinfo(list);
    if (hints)
        fi_freeinfo(hints);
    return chosen;
}

skua_status ski_ofi_provider_select(struct ski_net *net, struct fi_info **info)
{
    skua_status     status = provider_set_ports(net);
    struct fi_info *chosen = NULL;

    if (!provider_check_loopback(net))
        return SKUA_ERR_INVAL;
    provider_set_rxm_buffers();
    for (size_t i = 0; !chosen && status == SKUA_OK && i < sizeof ofi_caps / sizeof *ofi_caps; i++)
        chosen = provider_query(net, ofi_caps[i]);
    if (!chosen)
        return status == SKUA_OK ? SKUA_ERR_UNREACH : status;
    *info = chosen;
    return SKUA_OK;
}
