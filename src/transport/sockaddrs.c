/* SPDX-License-Identifier: Apache-2.0 */
/* sockaddrs.c - see sockaddrs.h. */
#include "transport/sockaddrs.h"

#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "transport/sockaddr.h"

#define SOCKADDR_BYTES sizeof(struct sockaddr_in6) /* of an address as sent */

size_t ski_sockaddrs_pack(const struct ski_sockaddrs *addrs, char *to)
{
    assert(addrs->count <= SKI_SOCKADDRS_MAX);
    memcpy(to, &addrs->count, sizeof addrs->count);
    for (size_t i = 0; i < addrs->count; i++)
        memcpy(to + sizeof addrs->count + i * SOCKADDR_BYTES, &addrs->addr[i], SOCKADDR_BYTES);
    return sizeof addrs->count + addrs->count * SOCKADDR_BYTES;
}

size_t ski_sockaddrs_unpack(struct ski_sockaddrs *addrs, const char *from, size_t bytes)
{
    memset(addrs, 0, sizeof *addrs);
    if (bytes < sizeof addrs->count)
        return 0;
    memcpy(&addrs->count, from, sizeof addrs->count);
    if (addrs->count > SKI_SOCKADDRS_MAX ||
        bytes - sizeof addrs->count < addrs->count * SOCKADDR_BYTES)
        return 0;
    for (size_t i = 0; i < addrs->count; i++)
        memcpy(&addrs->addr[i], from + sizeof addrs->count + i * SOCKADDR_BYTES, SOCKADDR_BYTES);
    return sizeof addrs->count + addrs->count * SOCKADDR_BYTES;
}

bool ski_sockaddrs_contain(const struct ski_sockaddrs *addrs, const struct sockaddr_storage *addr)
{
    for (size_t i = 0; i < addrs->count; i++)
        if (ski_sockaddr_equal(&addrs->addr[i], addr))
            return true;
    return false;
}

const char *ski_sockaddrs_text(const struct ski_sockaddrs *addrs, bool loopback, char *to,
                               size_t size)
{
    char   text[INET6_ADDRSTRLEN];
    size_t n = 0;

    snprintf(to, size, "it");
    for (size_t i = 0; i < addrs->count && n + sizeof text + 4 < size; i++)
        if (loopback || !ski_sockaddr_is_loopback(&addrs->addr[i]))
            n += (size_t)snprintf(to + n, size - n, "%s%s", n ? " or " : "",
                                  ski_sockaddr_text(&addrs->addr[i], text, sizeof text));
    return to;
}
