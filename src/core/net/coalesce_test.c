/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coalesce_test.c - bundles as they are taken apart; and damaged ones, of which nothing beyond
 * their end is read, which AddressSanitizer would see.
 */
#include "core/net/coalesce.h"

#include <stdlib.h>

#include "tests/tap.h"

#define MOST  20
#define TIMES 200000

static struct skua_msg *make_packet(size_t bytes, unsigned char fill)
{
    struct skua_msg *msg = malloc(sizeof *msg + bytes);

    memset(msg, 0, sizeof *msg);
    memset(msg + 1, fill, bytes);
    msg->bytes = bytes;
    return msg;
}

/* A bundle of @p count packets in memory of just its size; packet i is filled with i. */
static char *make_bundle(uint64_t *seed, unsigned count, size_t *bytes)
{
    struct skua_msg *packet[MOST];
    char            *made, *to;

    *bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        packet[i] = make_packet(tap_random(seed) % 100, (unsigned char)i);
        *bytes += ski_bundled_bytes(packet[i]);
    }
    made = to = calloc(1, *bytes);
    for (unsigned i = 0; i < count; i++) {
        to = ski_bundle_add(to, packet[i]);
        free(packet[i]);
    }
    return made;
}

static bool is_packet(const char *packet, size_t bytes, unsigned char fill)
{
    for (size_t i = SKI_PACKET_HALF; i < bytes; i++)
        if ((unsigned char)packet[i] != fill)
            return false;
    return bytes >= SKI_PACKET_HALF;
}

/* The packets that come out; -1: one is not what it was, or something is left. */
static int take_apart(const char *at, const char *end)
{
    const char *packet;
    size_t      bytes;
    int         count = 0;

    while (at < end && (packet = ski_bundle_look(at, end, &bytes))) {
        if (!is_packet(packet, bytes, (unsigned char)count++))
            return -1;
        at = packet - sizeof(uint64_t) + ski_bundle_slot(bytes);
    }
    return at == end ? count : -1;
}

static void test_whole(uint64_t *seed)
{
    int bad = 0;

    for (unsigned i = 0; i < 1000; i++) {
        unsigned count = (unsigned)(tap_random(seed) % MOST) + 1;
        size_t   bytes;
        char    *bundle = make_bundle(seed, count, &bytes);

        bad += take_apart(bundle, bundle + bytes) != (int)count;
        free(bundle);
    }
    OK(bad == 0, "what was put in comes out");
}

static void test_damaged(uint64_t *seed)
{
    int whole = 0;

    for (unsigned i = 0; i < TIMES; i++) {
        size_t bytes;
        char  *bundle = make_bundle(seed, 3, &bytes);

        bundle[tap_random(seed) % bytes] ^= (char)(1u << tap_random(seed) % 8);
        whole += take_apart(bundle, bundle + bytes) == 3;
        free(bundle);
    }
    OK(whole < TIMES, "what is damaged ends within itself");
}

static void test_size(void)
{
    struct skua_msg msg = {.bytes = 8192};

    OK(ski_may_be_bundled(&msg), "a packet of 8 KB may be in a bundle");
    msg.bytes = 16384;
    OK(!ski_may_be_bundled(&msg), "one of 16 KB not");
    msg.bytes = SIZE_MAX - 8;
    OK(!ski_may_be_bundled(&msg), "nor one that is longer than all memory");
}

int main(void)
{
    uint64_t seed = tap_seed();

    test_whole(&seed);
    test_damaged(&seed);
    test_size();
    return tap_end();
}
