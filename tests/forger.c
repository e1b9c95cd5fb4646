/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forger.c - PE 1 sends forged packets to PE 0, which is another process.
 *
 *   packets    through a port that belongs to no PE: without the secret, for unknown handlers, with
 *              wrong lengths or sequence numbers.  PE 0 counts and drops them.
 *   requests   one-sided requests and responses, corrupted at random.  PE 0 rejects them and
 * survives. addresses  with the secret, as PE 1: completions, calls, threads, broadcasts, buffers,
 * channels, termination waves and reductions with addresses, handlers and names that PE 0 never
 * gave to PE 1, or that were changed.  PE 0 counts and drops each, and calls nothing.
 *
 * usage: forger packets | requests | addresses      two processes, SKUA_SHARED_MEMORY=0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <skua/skua.h>

#include "boot/pmix.h"
#include "core/message/message.h"
#include "core/net/net.h"
#include "core/pe/handler.h"
#include "core/net/packet.h"
#include "core/pe/pe.h"
#include "onesided/rma/am_wire.h"
#include "stats_now.h"
#include "tap.h"
#include "transport/driver.h"

#define STRANGER     9 /* the PE number that the forger claims */
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

static void on_done(void *owner, void *cookie, skua_status status)
{
    (void)owner, (void)cookie, (void)status;
}

static void on_lost(void *owner, int pe, const char *why)
{
    (void)owner;
    skua_abort("the forger has lost PE %d: %s", pe, why);
}

static const struct ski_upcalls upcalls = {.alloc   = on_room,
                                           .arrived = on_packet,
                                           .abort   = on_memory,
                                           .sent    = on_sent,
                                           .done    = on_done,
                                           .lost    = on_lost};

#define HEADER_BYTES 48 /* of struct exchange_header */

/* Returns the address of PE 0. Its process publishes a header, then for each port a length and an
 * address (core/net/address_exchange.c). */
static const char *address_of_0(uint32_t *bytes)
{
    static char blob[SKI_CONTROL_MAX];
    size_t      room = sizeof blob;

    CHECK(ski_pmix_launcher.get(0, "skua.ports.1", blob, &room) == SKUA_OK); /* phase 1 */
    memcpy(bytes, blob + HEADER_BYTES, sizeof *bytes);
    return blob + HEADER_BYTES + sizeof *bytes;
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
    const struct ski_driver *driver = ski_net_driver();
    static struct packet     kept[64]; /* kept until the driver has sent them */
    double                   until = skua_time() + PATIENCE;
    skua_status              status;

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
    p = right_packet(), p.head.source = 7; /* a PE of process 1 that no other PE knows */
    forge(port, peer, p, all);
    p = right_packet(), p.head.handler = 60000;
    forge(port, peer, p, all);
    p              = right_packet(),
    p.head.handler = SKI_HANDLER_THREAD; /* never arrives from another process */
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
    forge(port, peer, p, sizeof(struct skua_msg)); /* without the data that the length announces */
    /* A sequence number that PE 1 has used already. */
    p = right_packet(), p.head.stamp.sequence = 0;
    forge(port, peer, p, all);
}

static void forge_packets(void)
{
    const struct ski_driver *driver = ski_net_driver();
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

/* A request of two runs (onesided/rma/am_wire.h). */
struct request {
    struct ski_am_head head;
    uint32_t           word[4];
    struct ski_am_run  run[2];
    char               data[64];
};

#define REQUEST_HEADS (offsetof(struct request, data))

static struct request right_request(uint64_t *seed)
{
    uint32_t       verb = (uint32_t)(tap_random(seed) % 5);
    struct request r    = {.head = {.kind   = (uint16_t)verb,
                                    .id     = (uint32_t)tap_random(seed),
                                    .region = region.id,
                                    .offset = 64 * (uint32_t)(tap_random(seed) % 32)},
                           .run  = {{0, 16, 2, 16}, {64, 32, 1, 0}}};
    uint32_t       how  = (uint32_t)(tap_random(seed) % 8) | (uint32_t)(tap_random(seed) % 8) << 16;

    if (verb == SKI_RMA_ATOMIC) {
        r.word[0] = how;
        return r;
    }
    r.head.kind |= SKI_AM_RUNS | SKI_AM_NOTIFY; /* a notification in no region: two words */
    r.word[verb == SKI_RMA_ACCUMULATE ? 3 : 2] = 2;
    if (verb == SKI_RMA_ACCUMULATE)
        r.word[2] = how;
    return r;
}

/* Returns the bytes of a request: those of gets and atomics have no data. */
static size_t request_bytes(const struct request *r)
{
    uint32_t verb = r->head.kind & SKI_AM_VERB;

    if (verb == SKI_RMA_ATOMIC)
        return offsetof(struct request, run);
    return verb == SKI_RMA_PUT || verb == SKI_RMA_ACCUMULATE ? sizeof *r : REQUEST_HEADS;
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

    for (int n = (int)(tap_random(seed) % 3); n >= 0; n--) {
        uint64_t value = odd_value(seed);
        size_t   width = tap_random(seed) % 2 ? 8 : 4;
        size_t   at    = tap_random(seed) % (REQUEST_HEADS / width) * width;

        memcpy(bytes + at, &value, width);
    }
    request->head.kind &= (uint16_t)~SKI_AM_SIGNAL; /* a signal of no operation */
    if ((request->head.kind & SKI_AM_VERB) == SKI_RMA_GET && tap_random(seed) % 4) {
        request->run[0].bytes %= 100000; /* too large responses take long to reject */
        request->run[1].bytes %= 100000;
        request->run[0].count %= 100;
        request->run[1].count %= 100;
    }
}

static void send_one(uint64_t *seed)
{
    struct request request = right_request(seed);
    uint32_t       handler = tap_random(seed) % 8 ? SKI_HANDLER_AM_REQUEST : SKI_HANDLER_AM_REPLY;
    size_t         bytes   = request_bytes(&request);

    damage(seed, &request);
    if (tap_random(seed) % 8 == 0)
        bytes = tap_random(seed) % sizeof request;
    ski_msg_post(ski_self, 0, handler, ski_msg_copy(ski_self, handler, &request, bytes));
}

/* A put of one block that is large enough to be received in place, valid or corrupted. */
static void send_large(uint64_t *seed)
{
    struct request request = right_request(seed);
    size_t         bytes   = LARGE + tap_random(seed) % LARGE;
    skua_msg      *msg     = skua_msg_alloc(sizeof request.head + bytes);

    request.head.kind = SKI_RMA_PUT;
    if (tap_random(seed) % 4)
        damage(seed, &request);
    memset(skua_msg_data(msg), 0, sizeof request.head + bytes);
    memcpy(skua_msg_data(msg), &request.head, sizeof request.head);
    msg->handler = SKI_HANDLER_AM_REQUEST;
    ski_msg_post(ski_self, 0, SKI_HANDLER_AM_REQUEST, msg);
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

/* ---- addresses ------------------------------------------------------------------------ */

/* The addresses that PE 0 sends to PE 1. */
struct gift {
    skua_completion count, call;
    skua_buffer     buffer;
    skua_thread    *thread;
};

static struct gift   gift;
static skua_counter  counter = SKUA_COUNTER_INIT;
static skua_handler  gift_handler;
static skua_function answer_function;
static char          treasure[64];

static void on_call(void *arg, const void *data, size_t bytes)
{
    (void)arg, (void)data, (void)bytes;
    skua_abort("a forged completion was accepted");
}

static void answer(const void *args, size_t bytes, skua_completion done)
{
    skua_complete(done, args, bytes);
}

/* Sends to an internal handler of PE 0, as PE 1. */
static void forge_to(uint32_t handler, const void *data, size_t bytes)
{
    ski_msg_post(ski_self, 0, handler, ski_msg_copy(ski_self, handler, data, bytes));
    forged++;
}

static void forge_completion(skua_completion done)
{
    char carried[64] = {0};

    memcpy(carried, &done, 32);
    forge_to(SKI_HANDLER_COMPLETE, carried, 32 + 8);
}

static void forge_call(skua_completion done)
{
    skua_call(0, answer_function, "", 1, done);
    forged++;
}

static void forge_completions(void)
{
    skua_completion done = {.kind = gift.call.kind, .pe = 0, .what.fn = on_call};

    forge_completion(done);
    forge_call(done);
    done = gift.count, done.what.counter++;
    forge_completion(done);
    forge_call(done);
    done = gift.call, done.with.arg = &done;
    forge_completion(done);
    forge_call(done);
    done = gift.call, done.kind = gift.count.kind;
    forge_completion(done);
    done = gift.count, done.kind = 99;
    forge_completion(done);
    forge_call(done);
    done = skua_done_send(0, (skua_handler){SKI_HANDLER_THREAD});
    forge_call(done);
    done = (skua_completion){.kind = 6, .entry = SKI_HANDLER_THREAD}; /* an object */
    forge_call(done);
}

static void forge_threads(void)
{
    char *arena = (char *)ski_self->job->arena;
    void *at[]  = {NULL,
                   (void *)8,
                   arena,
                   arena + 4096,
                   arena + ((size_t)1 << 46),
                   &at,
                   (char *)gift.thread + 64};

    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        forge_to(SKI_HANDLER_THREAD_RESUME, &at[i], sizeof at[i]);
}

/* As in core/collective/broadcast.c: a tail after the data. */
static void forge_broadcast(uint32_t handler, int32_t root)
{
    struct {
        int32_t  root;
        uint32_t handler;
        int32_t  parent;
        uint32_t zero;
        uint64_t above;
    } tail        = {root, handler, 1, 0, 0};
    skua_msg *msg = skua_msg_alloc(8 + sizeof tail);

    msg->bytes   = 8;
    msg->handler = SKI_HANDLER_BROADCAST;
    msg->flags |= SKI_MSG_TAIL;
    memset(skua_msg_data(msg), 0, 8);
    memcpy((char *)skua_msg_data(msg) + 8, &tail, sizeof tail);
    ski_msg_post(ski_self, 0, SKI_HANDLER_BROADCAST, msg);
    forged++;
}

static void forge_broadcasts(void)
{
    uint64_t name[] = {0, 1, UINT64_C(1) << 32, UINT64_MAX};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        forge_to(SKI_HANDLER_BROADCAST_DONE, &name[i], sizeof name[i]);
    forge_broadcast(SKI_HANDLER_THREAD, 1);
    forge_broadcast(SKI_HANDLER_COMPLETE, 1);
    forge_broadcast(SKI_HANDLER_BROADCAST, 1);
    forge_broadcast(SKI_HANDLER_NOTIFIED, 1);
    forge_broadcast(60000, 1);
    forge_broadcast(ping_handler.id, 0);
    forge_broadcast(ping_handler.id, -1);
}

/* As in core/collective/broadcast.h, with a few bytes of a part. */
static void forge_segment(uint64_t bytes, uint64_t offset, uint64_t length, int32_t root,
                          int32_t parent, uint32_t handler)
{
    struct {
        uint64_t bytes, offset, length, number;
        int32_t  root;
        uint32_t handler;
        int32_t  parent;
        uint32_t zero;
        uint64_t above;
        char     data[8];
    } segment = {bytes, offset, length, 0, root, handler, parent, 0, 0, "stolen"};

    forge_to(SKI_HANDLER_BROADCAST_SEGMENT, &segment, sizeof segment);
}

/* All but the last have a length that contradicts that of the message, or another error. */
static void forge_segments(void)
{
    uint64_t bytes = 1 << 20;

    forge_segment(bytes, 0, 8, 1, 1, ping_handler.id);
    forge_segment(8, 0, 8, 1, 1, ping_handler.id);
    forge_segment(UINT64_MAX, UINT64_MAX - 7, 8, 1, 1, ping_handler.id);
    forge_segment(UINT64_C(1) << 50, 0, 8, 1, 1, ping_handler.id);
    forge_segment(bytes, bytes, 8, 1, 1, ping_handler.id);
    forge_segment(bytes, UINT64_MAX - 7, 8, 1, 1, ping_handler.id);
    forge_segment(bytes, 0, UINT64_MAX, 1, 1, ping_handler.id);
    forge_segment(bytes, 0, 8, 0, 1, ping_handler.id);
    forge_segment(bytes, 0, 8, 1, 0, ping_handler.id);
    forge_segment(bytes, 0, 8, 1, 1, SKI_HANDLER_THREAD);
    forge_segment((256 << 10) + 8, 256 << 10, 8, 1, 1,
                  ping_handler.id); /* without the preceding fragments */
}

/* As in onesided/buffer/buffer.h. */
static void forge_buffer(uint32_t verb, skua_buffer from, skua_buffer to)
{
    struct {
        uint32_t    verb, lent;
        uint64_t    bytes;
        skua_buffer from, to;
    } packet = {verb, 0, 64, from, to};

    forge_to(SKI_HANDLER_BUFFER, &packet, sizeof packet);
}

/* As in onesided/buffer/buffer_data.h. */
static void forge_buffer_data(skua_buffer to, uint64_t placed)
{
    struct {
        skua_buffer to;
        uint64_t    placed;
        char        data[64];
    } packet = {to, placed, "stolen"};

    forge_to(SKI_HANDLER_BUFFER_DATA, &packet, sizeof packet);
}

static void forge_buffers(void)
{
    skua_buffer mine =
        skua_buffer_make(treasure, sizeof treasure, SKUA_REGISTER_LATER, skua_done_nothing(), 0);
    skua_buffer other = gift.buffer;

    other.at = (char *)other.at + 64;
    forge_buffer(0, other, mine); /* fetch: would send the memory at that address */
    forge_buffer_data(other, 0);  /* would write to that address */
    forge_buffer(3, mine, other);
    other = gift.buffer, other.bytes *= 2;
    forge_buffer(0, other, mine);
    other = gift.buffer, other.user++;
    forge_buffer_data(other, 0);
    other = gift.buffer, other.pe = 1;
    forge_buffer_data(other, 0);
    forge_buffer_data(gift.buffer, 1); /* says that its data are elsewhere */
    forge_buffer(9, mine, gift.buffer);
}

static void forge_others(void)
{
    uint32_t wave[4]   = {0, 5, 1, 0}; /* the root of another path */
    uint32_t end[2]    = {0, 1};
    uint64_t reduce[4] = {UINT64_C(1) << 40, 0, 0, 0};
    uint32_t vote[12]  = {5, 1};          /* free a region */
    uint64_t many[8]   = {0, 7, 0, 0, 1}; /* channels of a PE that does not exist */

    forge_to(SKI_HANDLER_TERMINATION_WAVE, wave, sizeof wave);
    forge_to(SKI_HANDLER_DETECTOR_END, end, sizeof end);
    forge_to(SKI_HANDLER_REDUCTION, reduce, sizeof reduce);
    forge_to(SKI_HANDLER_REDUCTION_RESULT, reduce, sizeof reduce);
    forge_to(SKI_HANDLER_SYMMETRIC_VOTE, vote, sizeof vote);
    many[5] = 77;
    forge_to(SKI_HANDLER_CHANNEL, many, sizeof many);
}

static void on_gift(skua_msg *msg)
{
    memcpy(&gift, skua_msg_data(msg), sizeof gift);
    skua_msg_free(msg);
    forge_completions();
    forge_threads();
    forge_broadcasts();
    forge_segments();
    forge_buffers();
    forge_others();
    skua_complete(gift.count, NULL, 0); /* valid */
    skua_call(0, answer_function, "", 1, gift.count);
    skua_thread_resume_on(0, gift.thread);
    skua_send_copy(0, check_handler, &forged, sizeof forged);
}

static void wait_for_resume(void *arg)
{
    (void)arg;
    skua_thread_suspend();
    skua_complete(gift.count, NULL, 0);
}

static void give_gift(void)
{
    gift.count = skua_done_count(&counter);
    gift.call  = skua_done_call(on_call, &counter);
    gift.buffer =
        skua_buffer_make(treasure, sizeof treasure, SKUA_REGISTER_LATER, skua_done_nothing(), 7);
    gift.thread = skua_thread_create(wait_for_resume, NULL, 0);
    skua_send_copy(1, gift_handler, &gift, sizeof gift);
}

/* ---- PE 0 ---------------------------------------------------------------------------- */

static int wanted; /* valid completions */

static void on_check(skua_msg *msg)
{
    static double until;
    int           expected = *(int *)skua_msg_data(msg);
    skua_stats    stats    = stats_now();

    if (until == 0)
        until = skua_time() + PATIENCE;
    if ((stats.dropped_packets < (uint64_t)expected || counter.value < wanted) &&
        skua_time() < until) {
        skua_send(0, check_handler, msg); /* some are still in flight */
        return;
    }
    printf("%llu of %d wrong packets were counted\n", (unsigned long long)stats.dropped_packets,
           expected);
    skua_msg_free(msg);
    CHECK(counter.value == wanted && memcmp(treasure, "", 1) == 0);
    skua_exit(stats.dropped_packets == (uint64_t)expected ? 0 : 1);
}

/* PE 0 answers the first ping, so that both are connected. */
static void on_ping(skua_msg *msg)
{
    char mode = *(char *)skua_msg_data(msg);

    if (skua_pe() == 0) {
        skua_send(1, ping_handler, msg);
        if (mode == 'a') {
            wanted = 3;
            give_gift();
        }
        return;
    }
    skua_msg_free(msg);
    if (mode == 'p')
        forge_packets();
    else if (mode == 'r')
        skua_thread_create(forge_requests, NULL, 0);
}

static void start(int argc, char **argv)
{
    CHECK(argc > 1 && skua_pes() == 2 && !skua_shares_memory(1 - skua_pe()));
    CHECK(skua_region_create(REGION_BYTES, &region) == SKUA_OK);
    if (skua_pe() == 1)
        skua_send_copy(0, ping_handler, argv[1], 1);
}

int main(int argc, char **argv)
{
    ping_handler    = skua_handler_register("ping", on_ping);
    check_handler   = skua_handler_register("check", on_check);
    gift_handler    = skua_handler_register("gift", on_gift);
    answer_function = skua_function_register("answer", answer);
    return skua_main(argc, argv, start);
}
