/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - packets of all sizes, in two parts, floods, rejected packets; from one thread or
 * several; ports that connect to each other at the same time; and a port that is closed after its
 * last packet.
 */
#include "world.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define LARGEST ((size_t)20 << 20)

/* ---- sizes -------------------------------------------------------------------------- */

/* Around every power of two, where drivers switch protocols. */
static void send_sizes(struct end *ends, int count, int from, int to)
{
    static const int beside[] = {-1, 0, 1};

    send_packet(ends, count, from, to, SKI_PACKET_MIN);
    for (size_t size = 64; size <= (size_t)1 << 20; size *= 2)
        for (int i = 0; i < 3; i++)
            send_packet(ends, count, from, to, size + (size_t)beside[i]);
}

static void send_random_sizes(struct end *ends, int count, int from, int to, uint64_t seed)
{
    for (int i = 0; i < 300; i++) {
        uint64_t draw = tap_random(&seed);
        size_t   most = (size_t)64 << (draw & 0xff) % 13; /* up to 256 KiB */

        send_packet(ends, count, from, to, SKI_PACKET_MIN + (draw >> 8) % most);
    }
}

void test_sizes(struct end *ends, int count)
{
    uint64_t seed = tap_seed();

    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            if (i == j)
                continue;
            send_sizes(ends, count, i, j);
            send_random_sizes(ends, count, i, j, seed + (uint64_t)(i * count + j));
        }
    send_packet(ends, count, 0, 1, LARGEST + 3);
    send_packet(ends, count, 1, 0, LARGEST);
    settle(ends, count);
}

/* ---- in two parts ----------------------------------------------------------------------- */

#define SPLITS 60

/* The two parts; the surrounding bytes of both are wrong. */
struct split {
    struct outgoing *here, *there;
    char            *moved; /* memory that the second part was moved to, or NULL */
    int              over;
};

/* Moves what the driver has not read of the second part of a packet that is pending. */
static void move_split(struct end *ends, struct split *split, size_t first, size_t rest)
{
    split->moved = malloc(rest);
    if (!split->moved)
        die("memory is exhausted");
    memset(split->moved, 0xdd, rest);
    driver->split_move(ends[0].peer[1], &split->over, split->there->packet + first, split->moved);
    memset(split->there->packet + first, 0xdd, rest);
}

static bool send_split(struct end *ends, int count, struct split *split, size_t first, size_t rest)
{
    size_t      bytes  = first + rest;
    skua_status status = SKUA_ERR_AGAIN;

    *split =
        (struct split){make_packet(&ends[0], 1, bytes), make_packet(&ends[0], 1, bytes), NULL, 1};
    memset(split->here->packet + first, 0xdd, rest);
    memset(split->there->packet, 0xdd, first);
    WAIT_FOR((status = driver->send_split(ends[0].peer[1], split->here->packet, first,
                                          split->there->packet + first, rest, &split->over)) !=
                 SKUA_ERR_AGAIN,
             ends, count, "a packet of two parts to be accepted");
    if (status < 0 && status != SKUA_ERR_UNSUPPORTED)
        fail("send_split of %zu and %zu bytes: %s", first, rest, skua_status_str(status));
    if (status != SKUA_PENDING)
        split->over = 0;
    ends[0].sends[1] += status >= 0;
    if (status == SKUA_PENDING && driver->split_move && rest % 2)
        move_split(ends, split, first, rest);
    return status >= 0;
}

static void wait_for_splits(struct end *ends, int count, struct split *split)
{
    for (int i = 0; i < SPLITS; i++) {
        WAIT_FOR(split[i].over <= 0, ends, count, "done() of a packet of two parts");
        scrub(split[i].here);
        scrub(split[i].there);
        free(split[i].moved);
    }
    settle(ends, count);
}

/* Packets whose second part the receiver may have a place for. */
static void test_split_direct(struct end *ends, int count, uint64_t *seed)
{
    struct split split[SPLITS];

    ends[1].placing = true;
    for (int i = 0; i < SPLITS; i++) {
        size_t rest = 20000 + tap_random(seed) % ((size_t)20000 << i % 4);

        send_split(ends, count, &split[i], PLACE_FIRST, rest);
        if (i % 2)
            WAIT_FOR(split[i].over <= 0, ends, count, "done() of a packet of two parts");
    }
    wait_for_splits(ends, count, split);
    ends[1].placing = false;
    printf("# %llu packets were received directly\n", (unsigned long long)ends[1].placed);
    if (driver->keeps_direct && net.security == SKI_SECURITY_JOB && ends[1].placed == 0)
        fail("the driver keeps memory of recv_direct(), but has not used any");
}

/* Many in flight, mixed with packets in one part. */
void test_split(struct end *ends, int count)
{
    struct split split[SPLITS];
    uint64_t     seed = tap_seed();
    int          sent = 0;

    if (!driver->send_split)
        return;
    for (int i = 0; i < SPLITS; i++) {
        size_t first = SKI_PACKET_MIN + tap_random(&seed) % 500;
        size_t rest  = 1 + tap_random(&seed) % ((size_t)64 << i % 16);

        sent += send_split(ends, count, &split[i], first, rest);
        send_packet(ends, count, 0, 1, rest + SKI_PACKET_MIN);
    }
    printf("# %s accepted %d packets of two parts\n", driver->name, sent);
    wait_for_splits(ends, count, split);
    test_split_direct(ends, count, &seed);
}

/* ---- floods ---------------------------------------------------------------------------- */

#define BOUND_SENDS 3000

/* One port sends packets of @p bytes while no other makes progress: the driver holds SKI_HELD_MAX
 * bytes, and the rest of a packet, at most, for each of its rails, which are two if it chooses (on
 * loopback).
 */
static void flood_to_bound(struct end *ends, int count, size_t bytes)
{
    size_t most = (SKI_HELD_MAX + bytes - 1) / bytes * (net.rails > 0 ? net.rails : 2);

    for (int i = 0; i < BOUND_SENDS && try_send(&ends[0], 1, bytes) >= 0; i++)
        if (ends[0].pending - ends[0].returned > most) {
            fail("the driver holds %llu packets of %zu bytes",
                 (unsigned long long)(ends[0].pending - ends[0].returned), bytes);
            break;
        }
    while (ends[0].held[1]) {
        try_send(&ends[0], 1, bytes);
        pump(ends, count);
    }
    settle(ends, count);
}

/* All to all; each sends as long as it can, so that all queues fill up. */
void test_flood(struct end *ends, int count, uint64_t packets)
{
    uint64_t goal[ENDS_MAX][ENDS_MAX] = {{0}};
    double   since                    = now();
    bool     more                     = true;

    flood_to_bound(ends, count, (size_t)1 << 20);
    flood_to_bound(ends, count, 2 * SKI_HELD_MAX);
    flood_to_bound(ends, count, 15000);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            goal[i][j] = i == j ? 0 : ends[i].sends[j] + (i + j == 1 ? packets : packets / 10);
    while (more) {
        more = false;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                while (ends[i].sends[j] < goal[i][j] &&
                       try_send(&ends[i], j, 32 + ends[i].sends[j] % 256) >= 0)
                    ;
                more |= ends[i].sends[j] < goal[i][j];
            }
        pump(ends, count);
        if (now() - since > 2 * PATIENCE)
            die("the flood does not end");
    }
    settle(ends, count);
}

/* ---- rejected packets ------------------------------------------------------------------ */

void test_refusal(struct end *ends, int count)
{
    uint64_t before = ends[1].arrived[0], refused = 0;

    ends[1].refusing = true;
    ends[1].refused  = 0;
    for (size_t i = 0; i < 60; i++) {
        size_t bytes = ((size_t)64 << i % 15) + (i % 3 ? 7 : 8); /* up to 1 MiB */

        send_packet(ends, count, 0, 1, bytes);
        refused += is_refused(bytes);
    }
    WAIT_FOR(ends[1].refused + ends[1].arrived[0] - before == 60, ends, count,
             "packets that are dropped");
    if (ends[1].refused != refused)
        fail("%llu packets were dropped instead of %llu", (unsigned long long)ends[1].refused,
             (unsigned long long)refused);
    WAIT_FOR(ends[0].returned >= ends[0].pending, ends, count, "sent() of a dropped packet");
    ends[1].refusing = false;
    ends[1].arrived[0] += refused; /* the driver does not wait for these */
    send_packet(ends, count, 0, 1, 1000);
    settle(ends, count);
}

/* ---- a thread each --------------------------------------------------------------------- */

static struct end  thread_ends[ENDS_MAX];
static _Atomic int opened, connected, finished;
static uint64_t    thread_packets;

/* Waits for the other threads and receives packets meanwhile. */
static void meet(_Atomic int *counter, int all, struct end *own)
{
    atomic_fetch_add(counter, 1);
    for (double since = now(); atomic_load(counter) < all;) {
        if (!own || !pump(own, 1))
            sched_yield();
        if (now() - since > PATIENCE)
            die("a thread timed out waiting for the others");
    }
}

static void send_from(struct end *own, int to, size_t bytes)
{
    WAIT_FOR(try_send(own, to, bytes) != SKUA_ERR_AGAIN, own, 1, "a packet to be accepted");
}

static void *one_thread(void *argument)
{
    struct end *own = argument;
    int         pe  = (int)(own - thread_ends);

    open_end(own, pe);
    meet(&opened, 3, NULL);
    for (int i = 0; i < 3; i++)
        if (i != pe)
            connect_ends(own, &thread_ends[i]);
    meet(&connected, 3, NULL);
    for (uint64_t n = 0; n < thread_packets; n++)
        for (int i = 0; i < 3; i++)
            if (i != pe)
                send_from(own, i, n % 1000 ? 32 + n % 500 : 20000 + n * 10);
    for (int i = 0; i < 3; i++)
        WAIT_FOR(i == pe || own->arrived[i] >= thread_packets, own, 1, "a packet of a thread");
    WAIT_FOR(own->returned >= own->pending, own, 1, "sent()");
    meet(&finished, 3, own);
    close_end(own);
    return NULL;
}

static void run_threads(void *(*work)(void *), int count)
{
    pthread_t thread[ENDS_MAX];

    atomic_store(&opened, 0);
    atomic_store(&connected, 0);
    atomic_store(&finished, 0);
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread[i], NULL, work, &thread_ends[i]) != 0)
            die("pthread_create");
    for (int i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

void test_threads(uint64_t packets)
{
    thread_packets = packets;
    run_threads(one_thread, 3);
}

/* ---- absence ---------------------------------------------------------------------------- */

#define ABSENT_PACKETS 60
#define ABSENT_BYTES   ((size_t)1 << 20)
#define ABSENT_PUMPS   2000
#define ABSENT_READS   300

/* The first port sends as much as is accepted and sleeps until it is woken up: all of it arrives
 * although the second one makes no progress. */
static void send_past_absent(struct end *ends, struct end *to)
{
    struct end *first = &ends[0];

    while (try_send(first, to->pe, ABSENT_BYTES) != SKUA_ERR_AGAIN)
        ;
    while (first->returned < first->pending) {
        struct pollfd fd = {driver->wait_fd(first->port), POLLIN, 0};

        for (int i = 0; i < ABSENT_READS; i++)
            pump(to, 1);
        if (driver->arm(first->port) && poll(&fd, 1, (int)(1000 * PATIENCE)) <= 0)
            die("a port that shares connections is not woken although its packets can be sent");
        pump(first, 1);
    }
    WAIT_FOR(to->arrived[0] >= first->sends[to->pe], to, 1, "a packet");
}

/* One of the ports makes no progress for a while, the others do; then all that was sent to it
 * arrives. */
void test_absence(struct end *ends, int count)
{
    struct end *sender = &ends[count - 1];

    for (int i = 0, sent = 0; i < ABSENT_PUMPS; i++) {
        if (sent < ABSENT_PACKETS && try_send(sender, 1, ABSENT_BYTES) != SKUA_ERR_AGAIN)
            sent++;
        pump(&ends[0], 1);
        pump(sender, 1);
    }
    send_past_absent(ends, sender);
    while (sender->held[1]) {
        try_send(sender, 1, ABSENT_BYTES);
        pump(ends, count);
    }
    send_packet(ends, count, count - 1, 0, 100);
    send_packet(ends, count, 0, count - 1, ABSENT_BYTES); /* which is held */
    settle(ends, count);
}

/* ---- a silent peer ---------------------------------------------------------------------- */

#define SILENT_TRIES 1000
#define OTHER_SENDS  3000

/* Of three ports in processes of their own, one receives nothing until no more packets for it are
 * accepted: those to another are. */
void test_silent_peer(void)
{
    struct end ends[3];

    open_ends(ends, 3);
    for (int to = 0; to < 2; to++)
        send_packet(ends, 3, 2, to, 1000);
    settle(ends, 3);
    for (int refused = 0; refused < SILENT_TRIES; pump(&ends[2], 1))
        refused = try_send(&ends[2], 0, 1000) == SKUA_ERR_AGAIN ? refused + 1 : 0;
    for (int i = 0; i < OTHER_SENDS; i++)
        send_packet(&ends[1], 2, 1, 1, 1000);
    WAIT_FOR(try_send(&ends[2], 0, 1000) != SKUA_ERR_AGAIN, ends, 3, "a packet to be accepted");
    settle(ends, 3);
    close_ends(ends, 3);
}

/* ---- crossing --------------------------------------------------------------------------- */

#define CROSSINGS 12 /* largest number of packets */

/* Progresses one of two ends, the other, or none, a few times. */
static void stir(struct end *ends, uint64_t *random)
{
    for (uint64_t n = tap_random(random) % 4; n > 0; n--)
        pump(&ends[tap_random(random) % 2], 1);
}

static void send_crossing(struct end *ends, uint64_t *random)
{
    for (uint64_t n = tap_random(random) % CROSSINGS; n > 0; n--) {
        int from = (int)(tap_random(random) % 2);

        try_send(&ends[from], 1 - from, 32 + tap_random(random) % 3000);
        if (tap_random(random) % 2)
            stir(ends, random);
    }
}

/* Returns true if the driver reports a peer that closes its port as lost only to ports that still
 * send to it. */
static bool closes_gently(void)
{
    return strcmp(driver->name, "ucx") != 0;
}

/* Packets arrive although their sender closes its port, and it is not reported as lost. */
static void close_one(struct end *ends, int closing, uint64_t *random)
{
    struct end *other = &ends[1 - closing];

    for (double since = now(); ends[closing].returned < ends[closing].pending; stir(ends, random))
        if (now() - since > PATIENCE)
            die("timed out waiting for sent()");
    close_end(&ends[closing]);
    WAIT_FOR(other->arrived[closing] == ends[closing].sends[1 - closing], other, 1,
             "the packets that were sent before a close");
    for (int i = 0; i < 100; i++)
        pump(other, 1);
    if (other->lost[closing] && other->arrived[closing] > 0 && other->sends[closing] == 0 &&
        closes_gently())
        fail("PE %d, which has only closed its port, was reported as lost", closing);
    close_end(other);
}

/* Both connect before either makes progress. */
void test_crossing(int rounds)
{
    uint64_t random = tap_seed();

    for (int i = 0; i < rounds && failures == 0; i++) {
        struct end ends[2];
        int        first = (int)(tap_random(&random) % 2);

        open_end(&ends[0], 0);
        open_end(&ends[1], 1);
        connect_ends(&ends[first], &ends[1 - first]);
        connect_ends(&ends[1 - first], &ends[first]);
        send_crossing(ends, &random);
        if (tap_random(&random) % 2) {
            close_one(ends, (int)(tap_random(&random) % 2), &random);
            continue;
        }
        settle(ends, 2);
        close_ends(ends, 2);
    }
}

/* ---- closing ---------------------------------------------------------------------------- */

#define LAST_WORDS 1000

/* PE 1 sends and closes at once; PE 0 receives everything. */
static void *close_behind(void *argument)
{
    struct end *own = argument;
    int         pe  = (int)(own - thread_ends);

    open_end(own, pe);
    meet(&opened, 2, NULL);
    connect_ends(own, &thread_ends[1 - pe]);
    meet(&connected, 2, NULL);
    for (size_t n = 0; pe == 1 && n < LAST_WORDS; n++)
        send_from(own, 0, n % 100 ? 100 + n : n * 1000 + 64);
    if (pe == 0)
        WAIT_FOR(own->arrived[1] == LAST_WORDS, own, 1,
                 "the packets that were sent before a close");
    close_end(own);
    return NULL;
}

void test_closing(void)
{
    run_threads(close_behind, 2);
}
