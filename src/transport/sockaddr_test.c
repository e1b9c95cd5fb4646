/* SPDX-License-Identifier: Apache-2.0 */
/* sockaddr_test.c - comparing, reading and printing socket addresses of both families. */
#include "transport/sockaddr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "tests/tap.h"

static struct sockaddr_storage sockaddr_test_make(const char *text, unsigned port)
{
    struct sockaddr_storage addr = {0};
    struct sockaddr_in     *four = (struct sockaddr_in *)(void *)&addr;
    struct sockaddr_in6    *six  = (struct sockaddr_in6 *)(void *)&addr;

    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        addr.ss_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
    } else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1) {
        addr.ss_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
    }
    return addr;
}

static void test_sockaddr_compare(void)
{
    struct sockaddr_storage a = sockaddr_test_make("10.1.2.3", 80), b = a, none = {0};
    struct sockaddr_storage six = sockaddr_test_make("fd00::1", 80);

    memset((char *)&b + sizeof(struct sockaddr_in) - 8, 0xff, 8); /* sin_zero does not count */
    OK(ski_sockaddr_equal(&a, &b), "equal but for the padding");
    b = sockaddr_test_make("10.1.2.3", 81);
    OK(!ski_sockaddr_equal(&a, &b) && ski_sockaddr_same_host(&a, &b), "another port, one host");
    b = sockaddr_test_make("10.1.2.4", 80);
    OK(!ski_sockaddr_equal(&a, &b) && !ski_sockaddr_same_host(&a, &b), "another host");
    OK(!ski_sockaddr_equal(&a, &six) && ski_sockaddr_equal(&six, &six), "another family");
    OK(!ski_sockaddr_equal(&none, &none), "not an IP address");
    OK(ski_sockaddr_bytes(&a) == sizeof(struct sockaddr_in) &&
           ski_sockaddr_bytes(&six) == sizeof(struct sockaddr_in6),
       "the lengths that bind() takes");
}

static void test_sockaddr_text(void)
{
    struct sockaddr_storage a = sockaddr_test_make("127.0.0.2", 1), none = {0};
    struct sockaddr_storage six = sockaddr_test_make("::1", 1), far = sockaddr_test_make("::2", 1);
    char                    text[INET6_ADDRSTRLEN];

    OK(strcmp(ski_sockaddr_text(&a, text, sizeof text), "127.0.0.2") == 0, "an IPv4 address");
    OK(strcmp(ski_sockaddr_text(&six, text, sizeof text), "::1") == 0, "an IPv6 address");
    OK(strcmp(ski_sockaddr_text(&none, text, sizeof text), "an unknown address") == 0, "neither");
    OK(ski_sockaddr_is_loopback(&a) && ski_sockaddr_is_loopback(&six) &&
           !ski_sockaddr_is_loopback(&far),
       "loopback addresses");
}

int main(void)
{
    test_sockaddr_compare();
    test_sockaddr_text();
    return tap_end();
}
