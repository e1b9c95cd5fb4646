/* SPDX-License-Identifier: Apache-2.0 */
/* sockaddrs_test.c - addresses survive being sent; forged ones are refused. */
#include "transport/sockaddrs.h"

#include <netinet/in.h>
#include <string.h>

#include "tests/tap.h"
#include "transport/keepalive.h"

static struct sockaddr_storage sockaddrs_test_make(uint32_t ip, uint16_t port)
{
    struct sockaddr_storage addr = {0};
    struct sockaddr_in     *in   = (struct sockaddr_in *)(void *)&addr;

    in->sin_family      = AF_INET;
    in->sin_addr.s_addr = htonl(ip);
    in->sin_port        = htons(port);
    return addr;
}

static void test_sockaddrs_wire(void)
{
    struct ski_sockaddrs addrs = {0}, copy;
    char                 wire[1024], text[128];
    size_t               bytes;
    uint64_t             count;
    int                  bad = 0;

    for (uint32_t i = 0; i < SKI_SOCKADDRS_MAX; i++)
        addrs.addr[addrs.count++] =
            sockaddrs_test_make(i == 0 ? INADDR_LOOPBACK : 0x0a000000 + i, (uint16_t)(5000 + i));
    bytes = ski_sockaddrs_pack(&addrs, wire);
    OK(ski_sockaddrs_unpack(&copy, wire, sizeof wire) == bytes && copy.count == addrs.count,
       "as many addresses arrive as were sent");
    for (size_t i = 0; i < addrs.count; i++)
        bad += !ski_sockaddrs_contain(&copy, &addrs.addr[i]);
    OK(bad == 0, "and they are the same");
    ski_sockaddrs_text(&copy, false, text, sizeof text);
    OK(strstr(text, "10.0.0.1 or 10.0.0.2") == text && !strstr(text, "127."),
       "as text without loopback: %s", text);
    for (size_t n = 0; n < bytes; n++)
        bad += ski_sockaddrs_unpack(&copy, wire, n) != 0;
    OK(bad == 0, "addresses that were cut off are refused");
    count = SKI_SOCKADDRS_MAX + 1;
    memcpy(wire, &count, sizeof count);
    OK(ski_sockaddrs_unpack(&copy, wire, sizeof wire) == 0, "too many are refused");
    count = UINT64_MAX;
    memcpy(wire, &count, sizeof count);
    OK(ski_sockaddrs_unpack(&copy, wire, sizeof wire) == 0, "also if their length overflows");
}

static void test_sockaddrs_due(void)
{
    double checked_at = 0;

    OK(ski_keepalive_is_due(&checked_at, 100, 8) && checked_at == 100, "a check is due");
    OK(!ski_keepalive_is_due(&checked_at, 101, 8) && checked_at == 100, "not again at once");
    OK(ski_keepalive_is_due(&checked_at, 102.5, 8), "but several times within the timeout");
}

int main(void)
{
    test_sockaddrs_wire();
    test_sockaddrs_due();
    return tap_end();
}
