/* SPDX-License-Identifier: Apache-2.0 */
/* sockaddr.c - see sockaddr.h. */
#include "transport/sockaddr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Returns the length of what must be equal in two equal addresses, without padding; 0: not of IP.
 */
static size_t sockaddr_compared_bytes(const struct sockaddr_storage *addr)
{
    switch (addr->ss_family) {
    case AF_INET: return offsetof(struct sockaddr_in, sin_zero);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

bool ski_sockaddr_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    size_t bytes = sockaddr_compared_bytes(a);

    return bytes > 0 && memcmp(a, b, bytes) == 0;
}

bool ski_sockaddr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    struct sockaddr_storage host = *a;

    /* Both families have the port at the same offset. */
    ((struct sockaddr_in *)(void *)&host)->sin_port =
        ((const struct sockaddr_in *)(const void *)b)->sin_port;
    return ski_sockaddr_equal(&host, b);
}

socklen_t ski_sockaddr_bytes(const struct sockaddr_storage *addr)
{
    return addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

bool ski_sockaddr_is_loopback(const struct sockaddr_storage *addr)
{
    char text[INET6_ADDRSTRLEN];

    ski_sockaddr_text(addr, text, sizeof text);
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

const char *ski_sockaddr_text(const struct sockaddr_storage *addr, char *to, size_t size)
{
    const void *address =
        addr->ss_family == AF_INET6
            ? (const void *)&((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr
            : (const void *)&((const struct sockaddr_in *)(const void *)addr)->sin_addr;

    if ((addr->ss_family != AF_INET && addr->ss_family != AF_INET6) ||
        !inet_ntop(addr->ss_family, address, to, (socklen_t)size))
        snprintf(to, size, "an unknown address");
    return to;
}
