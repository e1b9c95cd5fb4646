/* SPDX-License-Identifier: Apache-2.0 */
/* netif.c - see netif.h. */
#include "transport/netif.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transport/sockaddr.h"

#define NETIF_RDMA_DEVICES "/sys/class/infiniband/"

/* A link that has just been set up has no carrier for up to a second, since the kernel's link watch
 * runs once a second. */
#define NETIF_CARRIER_TRIES    20
#define NETIF_CARRIER_PAUSE_US 100000 /* microseconds */

enum netif_state { NETIF_ABSENT, NETIF_DOWN, NETIF_NO_CARRIER, NETIF_NO_ADDRESS, NETIF_USABLE };

/* ---- one interface -------------------------------------------------------------------- */

static enum netif_state netif_entry_state(const struct ifaddrs *entry)
{
    bool ip = entry->ifa_addr &&
              (entry->ifa_addr->sa_family == AF_INET || entry->ifa_addr->sa_family == AF_INET6);

    if (!(entry->ifa_flags & IFF_UP))
        return NETIF_DOWN;
    if (!(entry->ifa_flags & IFF_RUNNING))
        return NETIF_NO_CARRIER;
    return ip ? NETIF_USABLE : NETIF_NO_ADDRESS;
}

/* Returns the best state among the entries of an interface: one of its own and one per address. */
static enum netif_state netif_state_of(const struct ifaddrs *all, const char *name, size_t length)
{
    enum netif_state best = NETIF_ABSENT;

    for (; all; all = all->ifa_next)
        if (strlen(all->ifa_name) == length && strncmp(all->ifa_name, name, length) == 0 &&
            netif_entry_state(all) > best)
            best = netif_entry_state(all);
    return best;
}

/* Returns whether a name is an RDMA device, such as mlx5_0 or mlx5_0:1, which the library checks.
 */
static bool netif_is_rdma_device(const char *name, size_t length)
{
    char path[sizeof NETIF_RDMA_DEVICES + 64];

    snprintf(path, sizeof path, NETIF_RDMA_DEVICES "%.*s", (int)(length < 64 ? length : 64), name);
    return memchr(name, ':', length) || access(path, F_OK) == 0;
}

/* ---- all interfaces ------------------------------------------------------------------- */

static const char *netif_state_note(enum netif_state state)
{
    return state == NETIF_DOWN ? " (down)" : state == NETIF_NO_CARRIER ? " (no carrier)" : "";
}

static void netif_list(const struct ifaddrs *all, char *to, size_t size)
{
    size_t n = 0;

    to[0] = '\0';
    for (; all && n + 1 < size; all = all->ifa_next)
        if (all->ifa_addr && all->ifa_addr->sa_family == AF_PACKET)
            n += (size_t)snprintf(to + n, size - n, "%s%s%s", n ? ", " : "", all->ifa_name,
                                  netif_state_note(netif_entry_state(all)));
}

/* Writes why an interface cannot be used. */
static void netif_explain(const struct ifaddrs *all, const char *name, size_t length, char *reason,
                          size_t size)
{
    char there[128];

    netif_list(all, there, sizeof there);
    switch (netif_state_of(all, name, length)) {
    case NETIF_DOWN: snprintf(reason, size, "interface %.*s is down", (int)length, name); break;
    case NETIF_NO_CARRIER:
        snprintf(reason, size, "interface %.*s has no carrier", (int)length, name);
        break;
    case NETIF_NO_ADDRESS:
        snprintf(reason, size, "interface %.*s has no address", (int)length, name);
        break;
    default:
        snprintf(reason, size, "there is no interface %.*s (there are: %s)", (int)length, name,
                 there);
        break;
    }
}

static bool netif_any_routable(const struct ifaddrs *all, char *reason, size_t size)
{
    char there[128];

    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
        if (netif_entry_state(entry) == NETIF_USABLE && !(entry->ifa_flags & IFF_LOOPBACK))
            return true;
    netif_list(all, there, sizeof there);
    snprintf(reason, size, "no interface that leads to other hosts is up (there are: %s)", there);
    return access(NETIF_RDMA_DEVICES ".", F_OK) == 0;
}

/* If no interface can be used, the reason names the first one. */
static bool netif_any_usable(const struct ifaddrs *all, const char *names, char *reason,
                             size_t size)
{
    const char *bad = NULL;

    for (const char *name = names; *name;) {
        size_t length = strcspn(name, ",");

        if (netif_is_rdma_device(name, length) || netif_state_of(all, name, length) == NETIF_USABLE)
            return true;
        bad = bad ? bad : name;
        name += length + (name[length] == ',');
    }
    netif_explain(all, bad ? bad : names, strcspn(bad ? bad : names, ","), reason, size);
    return false;
}

static bool netif_any_lacks_carrier(const struct ifaddrs *all)
{
    for (; all; all = all->ifa_next)
        if (netif_entry_state(all) == NETIF_NO_CARRIER)
            return true;
    return false;
}

bool ski_netif_usable_in(const struct ifaddrs *all, const char *names, char *reason, size_t size)
{
    return strcmp(names, "all") == 0 ? netif_any_routable(all, reason, size)
                                     : netif_any_usable(all, names, reason, size);
}

static bool netif_usable_now(const char *names, char *reason, size_t size, bool *wait_helps)
{
    struct ifaddrs *all;
    bool            usable;

    *wait_helps = false;
    if (getifaddrs(&all) != 0)
        return true; /* the library below finds out */
    usable      = ski_netif_usable_in(all, names, reason, size);
    *wait_helps = !usable && netif_any_lacks_carrier(all);
    freeifaddrs(all);
    return usable;
}

/* Drivers call this one after the other and share the retries, so that an unplugged cable delays
 * the start once. */
bool ski_netif_usable(const char *names, char *reason, size_t size)
{
    static int tries = NETIF_CARRIER_TRIES;
    bool       wait_helps, usable;

    while (!(usable = netif_usable_now(names, reason, size, &wait_helps)) && wait_helps &&
           tries-- > 0)
        usleep(NETIF_CARRIER_PAUSE_US);
    return usable;
}

/* ---- addresses of interfaces ---------------------------------------------------------- */

const char *ski_netif_resolve(const char *names, bool one_host)
{
    if (strcmp(names, "auto") != 0)
        return names;
    return one_host ? "lo" : "all";
}

/* Returns whether @p name is one of @p names, as in eth0,ib0. */
static bool netif_is_listed(const char *name, const char *names)
{
    size_t length = strlen(name);

    for (; *names; names += strcspn(names, ","), names += *names == ',')
        if (strncmp(names, name, length) == 0 && (names[length] == ',' || !names[length]))
            return true;
    return false;
}

static bool netif_has_ipv4(const struct ifaddrs *all, const char *name)
{
    for (; all; all = all->ifa_next)
        if (all->ifa_addr && all->ifa_addr->sa_family == AF_INET &&
            strcmp(all->ifa_name, name) == 0)
            return true;
    return false;
}

/* Returns whether an address is used: of an interface with both families those of IPv4, and no
 * link-local ones, fe80::, which mean nothing on another link. */
static bool netif_is_usable(const struct ifaddrs *all, const struct ifaddrs *entry)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)entry->ifa_addr;

    if (netif_entry_state(entry) != NETIF_USABLE)
        return false;
    return entry->ifa_addr->sa_family == AF_INET ||
           (!IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) && !netif_has_ipv4(all, entry->ifa_name));
}

static bool netif_is_selected(const struct ifaddrs *entry, const char *selected)
{
    return strcmp(selected, "all") == 0 ? !(entry->ifa_flags & IFF_LOOPBACK)
                                        : netif_is_listed(entry->ifa_name, selected);
}

int ski_netif_addresses_in(const struct ifaddrs *all, const char *selected,
                           struct sockaddr_storage *to, int most)
{
    int n = 0;

    for (const struct ifaddrs *entry = all; entry && n < most; entry = entry->ifa_next)
        if (netif_is_usable(all, entry) && netif_is_selected(entry, selected)) {
            memset(&to[n], 0, sizeof to[n]);
            to[n].ss_family = entry->ifa_addr->sa_family;
            memcpy(&to[n], entry->ifa_addr, ski_sockaddr_bytes(&to[n]));
            n++;
        }
    return n;
}

int ski_netif_addresses(const char *selected, struct sockaddr_storage *to, int most)
{
    struct ifaddrs *all;
    int             n;

    if (getifaddrs(&all) != 0)
        return 0;
    n = ski_netif_addresses_in(all, selected, to, most);
    freeifaddrs(all);
    return n;
}

/* Returns the bytes of the IP address in a socket address, and their number. */
static const unsigned char *netif_address_bytes(const struct sockaddr *addr, size_t *bytes)
{
    const struct sockaddr_in  *four = (const struct sockaddr_in *)(const void *)addr;
    const struct sockaddr_in6 *six  = (const struct sockaddr_in6 *)(const void *)addr;

    *bytes = addr->sa_family == AF_INET6 ? sizeof six->sin6_addr : sizeof four->sin_addr;
    return addr->sa_family == AF_INET6 ? (const unsigned char *)&six->sin6_addr
                                       : (const unsigned char *)&four->sin_addr;
}

/* Returns whether an address is in the subnet of an interface. */
static bool netif_in_subnet(const struct ifaddrs *entry, const struct sockaddr *name)
{
    size_t               bytes;
    const unsigned char *theirs = netif_address_bytes(name, &bytes);
    const unsigned char *ours   = netif_address_bytes(entry->ifa_addr, &bytes);
    const unsigned char *mask   = netif_address_bytes(entry->ifa_netmask, &bytes);

    for (size_t i = 0; i < bytes; i++)
        if ((theirs[i] ^ ours[i]) & mask[i])
            return false;
    return true;
}

/* Returns the interface whose subnet has @p addr; or NULL. */
static const struct ifaddrs *netif_find_link(const struct ifaddrs          *all,
                                             const struct sockaddr_storage *addr)
{
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
        if (netif_is_usable(all, entry) && entry->ifa_netmask &&
            entry->ifa_addr->sa_family == addr->ss_family &&
            netif_in_subnet(entry, (const struct sockaddr *)addr))
            return entry;
    return NULL;
}

bool ski_netif_on_link_in(const struct ifaddrs *all, const struct sockaddr_storage *addr)
{
    return netif_find_link(all, addr) != NULL;
}

/* Returns the interface that has the IP address @p addr, in any state; or NULL. */
static const struct ifaddrs *netif_find_address(const struct ifaddrs          *all,
                                                const struct sockaddr_storage *addr)
{
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
        struct sockaddr_storage own = {0};

        if (!entry->ifa_addr || entry->ifa_addr->sa_family != addr->ss_family)
            continue;
        memcpy(&own, entry->ifa_addr, ski_sockaddr_bytes(addr));
        if (ski_sockaddr_same_host(&own, addr))
            return entry;
    }
    return NULL;
}

/* Writes the name of the interface that @p find returns for @p addr. */
static bool netif_write_name(const struct ifaddrs *(*find)(const struct ifaddrs          *all,
                                                           const struct sockaddr_storage *addr),
                             const struct sockaddr_storage *addr, char *name)
{
    struct ifaddrs       *all;
    const struct ifaddrs *found;

    if (getifaddrs(&all) != 0)
        return false;
    found = find(all, addr);
    if (found)
        snprintf(name, IF_NAMESIZE, "%s", found->ifa_name);
    freeifaddrs(all);
    return found != NULL;
}

bool ski_netif_link_name(const struct sockaddr_storage *addr, char *name)
{
    return netif_write_name(netif_find_link, addr, name);
}

bool ski_netif_name_of(const struct sockaddr_storage *addr, char *name)
{
    return netif_write_name(netif_find_address, addr, name);
}

long ski_netif_speed(const char *name)
{
    char  path[sizeof "/sys/class/net//speed" + IF_NAMESIZE];
    long  speed = 0;
    FILE *file;

    snprintf(path, sizeof path, "/sys/class/net/%.*s/speed", IF_NAMESIZE, name);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%ld", &speed) != 1 || speed < 0)
        speed = 0;
    fclose(file);
    return speed;
}

bool ski_netif_on_link(const struct sockaddr_storage *addr)
{
    struct ifaddrs *all;
    bool            on_link;

    if (getifaddrs(&all) != 0)
        return false;
    on_link = ski_netif_on_link_in(all, addr);
    freeifaddrs(all);
    return on_link;
}

/* ---- ports ---------------------------------------------------------------------------- */

bool ski_port_range_parse(const char *setting, unsigned *first, unsigned *last, char *reason,
                          size_t size)
{
    int end = 0;

    if (sscanf(setting, "%5u-%5u%n", first, last, &end) == 2 && !setting[end] && *first >= 1 &&
        *last <= 65535 && *first <= *last)
        return true;
    snprintf(reason, size, "\"%.40s\" is not a range of ports such as 5000-5100", setting);
    return false;
}

static bool netif_port_is_free(unsigned port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int                fd   = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool               free = fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof name) == 0;

    if (fd >= 0)
        close(fd);
    return free;
}

bool ski_port_range_has_free(const char *setting, int wanted, char *reason, size_t size)
{
    unsigned first, last;
    int      found = 0;

    if (strcmp(setting, "any") == 0)
        return true;
    if (!ski_port_range_parse(setting, &first, &last, reason, size))
        return false;
    for (unsigned port = first; port <= last && found < wanted; port++)
        found += netif_port_is_free(port);
    if (found < wanted)
        snprintf(reason, size, "%d ports of %.40s are free, and %d are needed", found, setting,
                 wanted);
    return found >= wanted;
}
