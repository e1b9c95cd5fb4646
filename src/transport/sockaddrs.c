/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - see names.h. */
#include "transport/sockaddrs.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "transport/keepalive.h"
#include "transport/netif.h"

#define SOCKADDR_BYTES sizeof(struct sockaddr_in6) /* on the way */

void ski_sockaddrs_find_new(struct ski_sockaddrs *names, const struct sockaddr_storage *before,
                            int count)
{
    struct sockaddr_storage after[SKI_LISTENERS_MAX];
    int                     n = ski_keepalive_listeners(after, SKI_LISTENERS_MAX), j;

    for (int i = 0; i < n && names->count < SKI_SOCKADDRS_MAX; i++) {
        for (j = 0; j < count && !ski_sockaddr_equal(&after[i], &before[j]); j++)
            ;
        if (j == count)
            names->addr[names->count++] = after[i];
    }
}

size_t ski_sockaddrs_pack(const struct ski_sockaddrs *names, char *to)
{
    memcpy(to, &names->count, sizeof names->count);
    for (size_t i = 0; i < names->count; i++)
        memcpy(to + sizeof names->count + i * SOCKADDR_BYTES, &names->addr[i], SOCKADDR_BYTES);
    return sizeof names->count + names->count * SOCKADDR_BYTES;
}

size_t ski_sockaddrs_unpack(struct ski_sockaddrs *names, const char *from, size_t bytes)
{
    memset(names, 0, sizeof *names);
    if (bytes < sizeof names->count)
        return 0;
    memcpy(&names->count, from, sizeof names->count);
    if (names->count > SKI_SOCKADDRS_MAX ||
        bytes - sizeof names->count < names->count * SOCKADDR_BYTES)
        return 0;
    for (size_t i = 0; i < names->count; i++)
        memcpy(&names->addr[i], from + sizeof names->count + i * SOCKADDR_BYTES, SOCKADDR_BYTES);
    return sizeof names->count + names->count * SOCKADDR_BYTES;
}

bool ski_sockaddrs_contain(const struct ski_sockaddrs *names, const struct sockaddr_storage *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (ski_sockaddr_equal(&names->addr[i], name))
            return true;
    return false;
}

const char *ski_sockaddrs_text(const struct ski_sockaddrs *names, bool loopback, char *to,
                               size_t size)
{
    char   text[INET6_ADDRSTRLEN];
    size_t n = 0;

    snprintf(to, size, "it");
    for (size_t i = 0; i < names->count && n + sizeof text + 4 < size; i++)
        if (loopback || !ski_sockaddr_is_loopback(&names->addr[i]))
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? " or " : "",
                                  ski_sockaddr_text(&names->addr[i], text, sizeof text));
    return to;
}
