/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forger.c - PE 1 sends to PE 0, a process of its own, what no PE sends.
 *
 *   packets    through a port of its own that is no PE's: without the secret, for
 *              unknown handlers, of wrong lengths, in a wrong place of the sequence.
 *              PE 0 counts and drops them.
 *   requests   one-sided requests and answers, damaged at random.  PE 0 refuses them and
 *              lives on.
 *
 * usage: forger packets | requests      two processes, SKUA_SHARE=0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/skua.h>

#include "boot/pmix.h"
#include "core/far.h"
#include "core/handler.h"
#include "core/packet.h"
#include "core/pe.h"
#include "tap.h"
#include "transport/driver.h"

#define STRANGER     9 /* the number that it gives itself */
#define PATIENCE     10.0
#define REQUESTS     20000
#define REGION_BYTES (1 << 20)
#define LARGE        ((size_t)200 << 10) /* bytes of a put */

static skua_handler ping_handler, check_handler;
static _Atomic int  out; /* packets that the driver holds */
static int          forged;
static skua_region  region;

/* ---- a port without a PE ------------------------------------------------------------ */

static void *on_room(void *owner, size_t bytes)
{
    (void)owner, (void)bytes;
    return NULL;
}

static void on_packet(void *owner, void *packet, size_t bytes)
{
    (void)owner, (void)packet, (void)bytes;
}

static void on_memory(void *owner, void *packet)
{
    (void)owner, (void)packet;
}

static void on_sent(void *owner, void *packet)
{
    (void)owner, (void)packet;
    out--;
}

static void on_done(void *owner, void *cookie, skua_status_t status)
{
    (void)owner, (void)cookie, (void)status;
}

static void on_lost(void *owner, int pe, const char *why)
{
    (void)owner;
    skua_abort("the stranger has lost PE %d: %s", pe, why);
}

static const struct ski_upcalls upcalls = {.room    = on_room,
                                           .arrived = on_packet,
                                           .spoilt  = on_memory,
                                           .sent    = on_sent,
                                           .done    = on_done,
                                           .lost    = on_lost};

/* The address of PE 0: its process tells 40 bytes, then for each port a length and an
 * address (far.c). */
static const char *address_of_0(uint32_t *bytes)
{
    static char blob[SKI_CONTROL_MOST];
    size_t      room = sizeof blob;

    CHECK(ski_pmix_launcher.get(0, "skua.ports", blob, &room) == SKUA_OK);
    memcpy(bytes, blob + 40, sizeof *bytes);
    return blob + 40 + sizeof *bytes;
}

/* ---- packets ------------------------------------------------------------------------ */

struct packet {
    _Alignas(64) struct skua_msg head;
    char data[32];
};

static struct packet right_packet(void)
{
    struct packet packet = {
        .head = {.bytes = sizeof packet.data, .handler = (uint16_t)ping_handler.id, .source = 1}};

    packet.head.stamp.token    = ski_packet_token(ski_self->job->secret, 1, 0);
    packet.head.stamp.sequence = 1000000;
    return packet;
}

static void forge(struct ski_port *port, struct ski_peer *peer, struct packet packet, size_t bytes)
{
    const struct ski_driver *driver = ski_far_driver();
    static struct packet     kept[64]; /* until the driver has sent them */
    double                   until = skua_time() + PATIENCE;
    skua_status_t            status;

    kept[forged] = packet;
    while ((status = driver->send(peer, &kept[forged], bytes)) == SKUA_ERR_AGAIN) {
        driver->progress(port);
        CHECK(skua_time() < until);
    }
    CHECK(status >= 0);
    out += status == SKUA_PENDING;
    forged++;
}

static void forge_all(struct ski_port *port, struct ski_peer *peer)
{
    const size_t  all = sizeof(struct skua_msg) + sizeof((struct packet *)0)->data;
    struct packet p;

    p = right_packet(), p.head.stamp.token ^= 1;
    forge(port, peer, p, all);
    p = right_packet(), p.head.source = 7; /* a hidden PE of process 1, of whom nobody knows */
    forge(port, peer, p, all);
    p = right_packet(), p.head.handler = 60000;
    forge(port, peer, p, all);
    p = right_packet(), p.head.handler = SKI_HANDLER_THREAD; /* never comes from outside */
    forge(port, peer, p, all);
    p = right_packet(), p.head.bytes = SIZE_MAX - 8;
    forge(port, peer, p, all);
    p = right_packet(), p.head.bytes = 1;
    forge(port, peer, p, all);
    p = right_packet(), p.head.flags = SKI_MSG_POINTER;
    forge(port, peer, p, all);
    p = right_packet(), p.head.bit_words = 9;
    forge(port, peer, p, all);
    p = right_packet(), p.head.source = 0;
    forge(port, peer, p, all);
    p = right_packet(), p.head.source = -5;
    forge(port, peer, p, all);
    p = right_packet(), p.head.source = 1 << 30;
    forge(port, peer, p, all);
    p = right_packet();
    forge(port, peer, p, sizeof(struct skua_msg)); /* without its data */
    p = right_packet(), p.head.stamp.sequence = 0; /* which PE 1 has sent already */
    forge(port, peer, p, all);
}

static void forge_packets(void)
{
    const struct ski_driver *driver = ski_far_driver();
    double                   until  = skua_time() + PATIENCE;
    struct ski_port         *port;
    struct ski_peer         *peer;
    uint32_t                 bytes;
    const char              *address = address_of_0(&bytes);

    CHECK(driver->open(STRANGER, &upcalls, NULL, &port) == SKUA_OK);
    CHECK(driver->connect(port, 0, address, bytes, &peer) == SKUA_OK);
    forge_all(port, peer);
    while (out > 0) {
        driver->progress(port);
        CHECK(skua_time() < until);
    }
    driver->close(port);
    skua_send_copy(0, check_handler, &forged, sizeof forged);
}

/* ---- requests ------------------------------------------------------------------------ */

/* As in onesided/wire.h: head, two pieces, data. */
struct request {
    uint32_t   verb;
    int32_t    origin, source;
    uint32_t   signal;
    uint64_t   packet;
    skua_gaddr remote;
    uint64_t   pieces, data_bytes, signal_bytes;
    uint32_t   op, type, scaled, unused;
    uint64_t   scale[2];
    uint32_t   atomic_op, atomic_bytes;
    uint64_t   value, expected;
    skua_gaddr notify;
    uint64_t   notify_add;
    struct {
        int64_t  remote;
        uint64_t bytes;
    } piece[2];
    char data[64];
};

static struct request right_request(uint64_t *seed)
{
    struct request r = {.verb         = (uint32_t)(tap_random(seed) % 5),
                        .origin       = 1,
                        .source       = 1,
                        .packet       = tap_random(seed),
                        .remote       = skua_at(region, 0, 64 * (tap_random(seed) % 32)),
                        .pieces       = 2,
                        .atomic_bytes = 8,
                        .piece        = {{0, 32}, {64, 32}}};

    r.data_bytes = r.verb == 0 || r.verb == 2 ? 64 : 0;
    r.op         = (uint32_t)(tap_random(seed) % 8);
    r.type       = (uint32_t)(tap_random(seed) % 8);
    return r;
}

static uint64_t odd_value(uint64_t *seed)
{
    static const uint64_t odd[] = {
        0,          1,          63,         4095,       4096,           1ull << 31,
        1ull << 32, 1ull << 62, 1ull << 63, UINT64_MAX, UINT64_MAX - 63};

    return tap_random(seed) % 3 ? odd[tap_random(seed) % 11] : tap_random(seed);
}

static void damage(uint64_t *seed, struct request *request)
{
    unsigned char *bytes = (unsigned char *)request;
    size_t         heads = offsetof(struct request, data);

    for (int n = (int)(tap_random(seed) % 3); n >= 0; n--) {
        uint64_t value = odd_value(seed);
        size_t   width = tap_random(seed) % 2 ? 8 : 4;
        size_t   at    = tap_random(seed) % (heads / width) * width;

        memcpy(bytes + at, &value, width);
    }
    if (request->verb == 1 && tap_random(seed) % 4) /* too large answers take long to refuse */
        request->piece[0].bytes %= 100000, request->piece[1].bytes %= 100000;
}

static void send_one(uint64_t *seed)
{
    struct request request = right_request(seed);
    uint32_t       handler = tap_random(seed) % 8 ? SKI_HANDLER_REQUEST : SKI_HANDLER_SERVED;
    size_t         bytes   = sizeof request;

    damage(seed, &request);
    if (tap_random(seed) % 8 == 0)
        bytes = tap_random(seed) % sizeof request;
    request.signal = request.signal ? SKI_HANDLERS + 100 + request.signal % 1000 : 0; /* nobody's */
    ski_msg_post(ski_self, 0, handler, ski_msg_copy(ski_self, handler, &request, bytes));
}

/* A put that is large enough to be placed as it comes, with something wrong or not. */
static void send_large(uint64_t *seed)
{
    struct request request = right_request(seed);
    size_t    head = offsetof(struct request, piece[1]), bytes = LARGE + tap_random(seed) % LARGE;
    skua_msg *msg = skua_msg_alloc(head + bytes);

    request.verb       = 0;
    request.pieces     = 1;
    request.data_bytes = request.piece[0].bytes = bytes;
    if (tap_random(seed) % 4)
        damage(seed, &request);
    request.signal = 0;
    memset(skua_msg_data(msg), 0, head + bytes);
    memcpy(skua_msg_data(msg), &request, head);
    msg->handler = SKI_HANDLER_REQUEST;
    ski_msg_post(ski_self, 0, SKI_HANDLER_REQUEST, msg);
}

static void forge_requests(void *arg)
{
    uint64_t seed = tap_seed();

    (void)arg;
    for (int i = 0; i < REQUESTS; i++) {
        send_one(&seed);
        if (i % 128 == 0)
            send_large(&seed);
        if (i % 64 == 0)
            skua_thread_yield();
    }
    skua_send_copy(0, check_handler, &forged, sizeof forged);
}

/* ---- PE 0 ---------------------------------------------------------------------------- */

static void on_check(skua_msg *msg)
{
    static double until;
    int           expected = *(int *)skua_msg_data(msg);
    skua_stats    stats    = skua_stats_get();

    if (until == 0)
        until = skua_time() + PATIENCE;
    if (stats.wrong < (uint64_t)expected && skua_time() < until) {
        skua_send(0, check_handler, msg); /* they are still on their way */
        return;
    }
    printf("%llu of %d wrong packets were counted\n", (unsigned long long)stats.wrong, expected);
    skua_msg_free(msg);
    skua_exit(stats.wrong == (uint64_t)expected ? 0 : 1);
}

/* PE 0 answers the first ping, so that both have talked before. */
static void on_ping(skua_msg *msg)
{
    bool packets = *(char *)skua_msg_data(msg) == 'p';

    if (skua_pe() == 0) {
        skua_send(1, ping_handler, msg);
        return;
    }
    skua_msg_free(msg);
    if (packets)
        forge_packets();
    else
        skua_thread_create(forge_requests, NULL, 0);
}

static void start(int argc, char **argv)
{
    CHECK(argc > 1 && skua_pes() == 2 && !skua_near(1 - skua_pe()));
    CHECK(skua_region_create(REGION_BYTES, &region) == SKUA_OK);
    if (skua_pe() == 1)
        skua_send_copy(0, ping_handler, argv[1], 1);
}

int main(int argc, char **argv)
{
    ping_handler  = skua_register("ping", on_ping);
    check_handler = skua_register("check", on_check);
    return skua_main(argc, argv, start);
}
