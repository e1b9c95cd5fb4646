/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal_test.c - sealed packets over a driver that loses, mixes up, repeats and changes them: each
 * that is unharmed arrives once, the others never, and a peer that misses one is lost.
 *
 * The driver below is a queue of this program.  Without the library (skua-crypto.so) there is
 * nothing to test.
 */
#include "transport/seal.h"

#include <string.h>
#include <time.h>

#include "base/config.h"
#include "tests/tap.h"
#include "transport/secret.h"
#include "transport/select.h"

#define PACKETS 200
#define BYTES   ((size_t)3000)
#define SMALL   1000

static const uint64_t secret[SKI_SECRET_WORDS] = {11, 12};
static uint64_t       random_state;

/* ---- the driver below --------------------------------------------------------------------- */

static struct {
    char   data[BYTES + 64];
    size_t bytes;
} wire[PACKETS];
static int wire_count;

static struct {
    const struct ski_upcalls *up;
    void                     *owner;
} below[2]; /* by PE */

static skua_status seal_test_below_open(int pe, const struct ski_upcalls *up, void *owner,
                                        struct ski_port **port)
{
    below[pe].up    = up;
    below[pe].owner = owner;
    *port           = NULL;
    return SKUA_OK;
}

static void seal_test_below_close(struct ski_port *port)
{
    (void)port;
}

static skua_status seal_test_below_connect(struct ski_port *port, int pe, const void *address,
                                           size_t bytes, struct ski_peer **peer)
{
    (void)port, (void)pe, (void)address, (void)bytes;
    *peer = NULL;
    return SKUA_OK;
}

/* Now and then there is no room. */
static skua_status seal_test_below_send(struct ski_peer *peer, void *packet, size_t bytes)
{
    (void)peer;
    if (tap_random(&random_state) % 4 == 0)
        return SKUA_ERR_AGAIN;
    memcpy(wire[wire_count].data, packet, bytes);
    wire[wire_count++].bytes = bytes;
    return SKUA_OK;
}

static unsigned seal_test_below_progress(struct ski_port *port)
{
    (void)port;
    return 0;
}

static size_t seal_test_below_small(void)
{
    return SMALL;
}

static const char *seal_test_below_describe(void)
{
    return "a queue";
}

static const struct ski_driver queue = {.name      = "queue",
                                        .open      = seal_test_below_open,
                                        .close     = seal_test_below_close,
                                        .connect   = seal_test_below_connect,
                                        .send      = seal_test_below_send,
                                        .progress  = seal_test_below_progress,
                                        .eager_max = seal_test_below_small,
                                        .describe  = seal_test_below_describe};

/* A packet of the queue comes to PE 1, in one of the ways that packets come. */
static void seal_test_come(int i)
{
    const struct ski_upcalls *up = below[1].up;
    void                     *seal_test_alloc;

    if (up->recv_inline(below[1].owner, wire[i].data, wire[i].bytes))
        return;
    seal_test_alloc = up->alloc(below[1].owner, wire[i].bytes);
    memcpy(seal_test_alloc, wire[i].data, wire[i].bytes);
    up->arrived(below[1].owner, seal_test_alloc, wire[i].bytes);
}

/* ---- the runtime above --------------------------------------------------------------------- */

static char     plain[PACKETS][BYTES];
static size_t   plain_bytes[PACKETS];
static unsigned arrivals[PACKETS], wrong, lost;

static void *seal_test_alloc(void *owner, size_t bytes)
{
    (void)owner;
    return malloc(bytes);
}

static void seal_test_arrived(void *owner, void *packet, size_t bytes)
{
    uint32_t i;

    (void)owner;
    memcpy(&i, packet, sizeof i);
    if (i >= PACKETS || bytes != plain_bytes[i] || memcmp(packet, plain[i], bytes) != 0)
        wrong++;
    else
        arrivals[i]++;
    free(packet);
}

static void seal_test_ignore(void *owner, void *packet)
{
    (void)owner, (void)packet;
}

static void seal_test_on_loss(void *owner, int pe, const char *reason)
{
    (void)owner;
    lost += pe == 0 && strstr(reason, "is missing");
}

static const struct ski_upcalls upcalls = {.alloc   = seal_test_alloc,
                                           .arrived = seal_test_arrived,
                                           .abort   = seal_test_ignore,
                                           .sent    = seal_test_ignore,
                                           .lost    = seal_test_on_loss};

static unsigned lines;

static void seal_test_count_lines(enum ski_log_level level, const char *format, ...)
{
    (void)level, (void)format;
    lines++;
}

static struct ski_net           net = {.peer_timeout = 0.01,
                                       .log          = seal_test_count_lines,
                                       .prove        = ski_secret_prove,
                                       .derive       = ski_secret_derive,
                                       .last_error   = ski_driver_last_error};
static const struct ski_driver *driver;
static struct ski_port         *port[2];

/* Two ports, and PACKETS packets from PE 0 on their way to PE 1. */
static void seal_test_begin(enum ski_security security)
{
    struct ski_peer *peer;

    net.security = security;
    driver       = ski_seal_over(&queue, &net);
    wire_count = 0, wrong = lost = lines = 0;
    memset(arrivals, 0, sizeof arrivals);
    for (int pe = 0; pe < 2; pe++)
        driver->open(pe, &upcalls, NULL, &port[pe]);
    driver->connect(port[0], 1, "", 0, &peer);
    for (uint32_t i = 0; i < PACKETS; i++) {
        plain_bytes[i] = SKI_PACKET_MIN + tap_random(&random_state) % (BYTES - SKI_PACKET_MIN);
        for (size_t at = sizeof i; at < plain_bytes[i]; at++)
            plain[i][at] = (char)tap_random(&random_state);
        memcpy(plain[i], &i, sizeof i);
        while (driver->send(peer, plain[i], plain_bytes[i]) == SKUA_ERR_AGAIN)
            ;
    }
}

static void seal_test_end(void)
{
    driver->close(port[0]);
    driver->close(port[1]);
}

static unsigned seal_test_count_arrived(unsigned times)
{
    unsigned n = 0;

    for (int i = 0; i < PACKETS; i++)
        n += arrivals[i] == times;
    return n;
}

/* A random order of the queue. */
static void seal_test_shuffle(int order[PACKETS])
{
    for (int i = 0; i < PACKETS; i++) {
        int other = (int)(tap_random(&random_state) % (uint64_t)(i + 1));

        order[i]     = order[other];
        order[other] = i;
    }
}

/* Lets time pass until a peer that is suspected would be given up. */
static void seal_test_wait_for_suspects(void)
{
    struct timespec nap = {.tv_nsec = 30000000};

    nanosleep(&nap, NULL);
    driver->progress(port[1]);
}

static void test_seal_order(enum ski_security security)
{
    int      order[PACKETS];
    unsigned readable = 0;

    seal_test_begin(security);
    for (int i = 0; i < PACKETS; i++)
        readable += memmem(wire[i].data, wire[i].bytes, plain[i], plain_bytes[i]) != NULL;
    seal_test_shuffle(order);
    for (int i = 0; i < PACKETS; i++)
        seal_test_come(order[i]);
    OK(seal_test_count_arrived(1) == PACKETS && wrong == 0 && lines == 0,
       "%s: packets in any order arrive", ski_security_name(security));
    OK(readable == (security == SKI_SECURITY_AUTH ? PACKETS : 0), "%u can be read on the way",
       readable);
    for (int i = 0; i < PACKETS; i++)
        seal_test_come(order[i]);
    OK(seal_test_count_arrived(1) == PACKETS && lines == 10,
       "and none of them twice; ten are told of");
    seal_test_wait_for_suspects();
    OK(lost == 0, "a source that misses nothing is not lost");
    seal_test_end();
}

static void test_seal_harm(enum ski_security security)
{
    unsigned harmed = 0;

    seal_test_begin(security);
    for (int i = 0; i < PACKETS; i++) {
        size_t at = tap_random(&random_state) % wire[i].bytes;

        if (i % 3 == 1 && (at < 4 || at >= 8)) { /* which means nothing */
            wire[i].data[at] ^= (char)(1 << tap_random(&random_state) % 8);
            harmed++;
        } else if (i % 3 == 2) {
            wire[i].bytes = tap_random(&random_state) % wire[i].bytes;
            harmed++;
        }
        seal_test_come(i);
    }
    OK(seal_test_count_arrived(1) == PACKETS - harmed && wrong == 0 &&
           seal_test_count_arrived(0) == harmed,
       "%s: %u packets that were changed or cut are dropped", ski_security_name(security), harmed);
    seal_test_wait_for_suspects();
    OK(lost == 1, "and their sender is lost, once");
    seal_test_end();
}

/* What PE 0 has sent to PE 1 is no packet to PE 0. */
static void test_seal_reflected(void)
{
    seal_test_begin(SKI_SECURITY_AUTH);
    for (int i = 0; i < PACKETS; i++)
        below[0].up->recv_inline(below[0].owner, wire[i].data,
                                 wire[i].bytes < SMALL ? wire[i].bytes : SMALL);
    OK(seal_test_count_arrived(0) == PACKETS && wrong == 0,
       "packets that are sent back are dropped");
    seal_test_end();
}

static unsigned disarmed;

static void seal_test_below_disarm(struct ski_port *of)
{
    (void)of;
    disarmed++;
}

/* What a driver promises about sleep holds with seals as well. */
static void test_seal_sleep(void)
{
    struct ski_driver wakes = queue;

    net.security = SKI_SECURITY_AUTH;
    driver       = ski_seal_over(&queue, &net);
    OK(!driver->wakes_for_sends && !driver->disarm,
       "a driver that does not wake for sends does not with seals");
    wakes.wakes_for_sends = true;
    wakes.disarm          = seal_test_below_disarm;
    driver                = ski_seal_over(&wakes, &net);
    driver->open(0, &upcalls, NULL, &port[0]);
    driver->disarm(port[0]);
    OK(driver->wakes_for_sends && disarmed == 1, "one that does, does with seals");
    driver->close(port[0]);
}

/* A driver asks for memory before anything of a packet is known to be authentic. */
static void test_seal_length(void)
{
    seal_test_begin(SKI_SECURITY_AUTH);
    OK(!below[1].up->alloc(below[1].owner, SIZE_MAX) &&
           !below[1].up->alloc(below[1].owner, SIZE_MAX - 62) &&
           !below[1].up->alloc(below[1].owner, (size_t)PTRDIFF_MAX + 1),
       "there is no memory for a packet that is longer than memory");
    seal_test_end();
}

int main(void)
{
    random_state = tap_seed();
    if (ski_config_load() != SKUA_OK ||
        ski_secret_begin(SKI_SECURITY_ENCRYPT, secret, &net.crypto) != SKUA_OK)
        return tap_end();
    test_seal_order(SKI_SECURITY_AUTH);
    test_seal_order(SKI_SECURITY_ENCRYPT);
    test_seal_harm(SKI_SECURITY_AUTH);
    test_seal_harm(SKI_SECURITY_ENCRYPT);
    test_seal_reflected();
    test_seal_sleep();
    test_seal_length();
    return tap_end();
}
