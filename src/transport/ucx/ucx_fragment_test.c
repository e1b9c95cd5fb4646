/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx_fragment_test.c - packets in fragments: cut by the sender, put together by the receiver, in
 * any order; and fragments that no sender made.
 *
 * UCX is replaced by functions of the test: what is sent waits in a list, from which the test
 * delivers in the order that it likes.
 */
#include "transport/ucx/ucx_fragment.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define PACKETS   12
#define FRAGMENTS 64

/* A fragment on its way. */
struct test_fragment {
    unsigned char header[64];
    size_t        header_bytes;
    void         *data;
    size_t        bytes;
    bool          held; /* UCX holds its memory until it is delivered */
    void (*sent)(void *request, ucs_status_t status, void *arg);
    void *arg;
};

static struct test_fragment   fragment_wire[FRAGMENTS];
static size_t                 fragment_count;
static ucp_am_handler_param_t fragment_handler;
static int                    fragment_room = -1; /* sends before one fails; -1: none does */
static bool                   fragment_holds;     /* whether sends are pending */
static int                    fragment_aborted, fragment_arrived, fragment_sent, fragment_allocs;
static bool                   fragment_refuses; /* the receiver has no memory */
static char                  *fragment_packet[PACKETS];
static size_t                 fragment_bytes[PACKETS];
static bool                   fragment_intact = true;

/* ---- in place of UCX ------------------------------------------------------------------------ */

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h                  worker,
                                            const ucp_am_handler_param_t *param)
{
    (void)worker;
    fragment_handler = *param;
    return UCS_OK;
}

void ucp_request_free(void *request)
{
    (void)request;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_bytes,
                                 const void *buffer, size_t count, const ucp_request_param_t *param)
{
    struct test_fragment *f;

    (void)ep, (void)id;
    if (fragment_room-- == 0)
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    f  = &fragment_wire[fragment_count++ % FRAGMENTS];
    *f = (struct test_fragment){.header_bytes = header_bytes,
                                .data         = malloc(count ? count : 1),
                                .bytes        = count,
                                .held         = fragment_holds,
                                .sent         = param->cb.send,
                                .arg          = param->user_data};
    memcpy(f->header, header, header_bytes);
    memcpy(f->data, buffer, count);
    return fragment_holds ? (ucs_status_ptr_t)f : NULL; /* NULL: it was sent at once */
}

/* ---- the receiver --------------------------------------------------------------------------- */

static void *fragment_test_alloc(void *owner, size_t bytes)
{
    (void)owner;
    fragment_allocs++;
    return fragment_refuses ? NULL : malloc(bytes);
}

static void fragment_test_arrived(void *owner, void *packet, size_t bytes)
{
    bool found = false;

    (void)owner;
    for (int i = 0; i < PACKETS && !found; i++)
        found = bytes == fragment_bytes[i] && memcmp(packet, fragment_packet[i], bytes) == 0;
    fragment_intact &= found;
    fragment_arrived++;
    free(packet);
}

static void fragment_test_abort(void *owner, void *packet)
{
    (void)owner;
    fragment_aborted++;
    free(packet);
}

static void fragment_test_sent(void *owner, void *packet)
{
    (void)owner, (void)packet;
    fragment_sent++;
}

static const struct ski_upcalls fragment_test_up = {.alloc   = fragment_test_alloc,
                                                    .arrived = fragment_test_arrived,
                                                    .abort   = fragment_test_abort,
                                                    .sent    = fragment_test_sent};

static struct ski_fragments fragment_from, fragment_to;
static struct ski_ucx_held  fragment_held;
static ucs_status_t         fragment_broken;

/* Hands a fragment to the receiver. */
static void fragment_test_deliver(struct test_fragment *f)
{
    ucp_am_recv_param_t param = {.recv_attr = 0};

    fragment_handler.cb(fragment_handler.arg, f->header, f->header_bytes, f->data, f->bytes,
                        &param);
    if (f->held)
        f->sent(f, UCS_OK, f->arg);
    free(f->data);
}

/* Delivers all that is on the wire, in a random order. */
static void fragment_test_deliver_all(uint64_t *random)
{
    while (fragment_count > 0) {
        size_t               i = tap_random(random) % fragment_count;
        struct test_fragment f = fragment_wire[i];

        fragment_wire[i] = fragment_wire[--fragment_count];
        fragment_test_deliver(&f);
    }
}

static void fragment_test_packets(uint64_t *random)
{
    for (int i = 0; i < PACKETS; i++) {
        fragment_bytes[i]  = SKI_FRAGMENT_BYTES + 1 + tap_random(random) % (3 * SKI_FRAGMENT_BYTES);
        fragment_packet[i] = malloc(fragment_bytes[i]);
        for (size_t k = 0; k < fragment_bytes[i]; k++)
            fragment_packet[i][k] = (char)(k * 31 + (size_t)i * 7 + k / 4099);
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

/* All packets are on the wire at once; UCX completes sends at once, or later. */
static void fragment_test_any_order(uint64_t *random)
{
    bool right = true, counted = true;

    for (int round = 0; round < 6; round++) {
        size_t bytes = 0;

        fragment_holds   = round % 2;
        fragment_arrived = fragment_sent = 0;
        for (int i = 0; i < PACKETS; i++) {
            ucs_status_t status =
                ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[i],
                                   fragment_bytes[i], &fragment_broken);

            right &= status == (fragment_holds ? UCS_INPROGRESS : UCS_OK);
            bytes += fragment_bytes[i];
        }
        counted &= fragment_held.packets == (fragment_holds ? PACKETS : 0) &&
                   fragment_held.bytes == (fragment_holds ? bytes : 0);
        fragment_test_deliver_all(random);
        right &= fragment_arrived == PACKETS && fragment_sent == (fragment_holds ? PACKETS : 0);
    }
    OK(right && fragment_intact && !fragment_to.incoming,
       "packets whose fragments come in any order arrive once, and whole");
    OK(counted && fragment_held.packets == 0 && fragment_held.bytes == 0,
       "packets that UCX holds are counted");
}

/* A packet for which there is no memory is dropped, and one of a lost peer aborted. */
static void fragment_test_dropped(uint64_t *random)
{
    fragment_holds   = false;
    fragment_refuses = true;
    fragment_arrived = fragment_aborted = 0;
    ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[0], fragment_bytes[0],
                       &fragment_broken);
    fragment_test_deliver_all(random);
    fragment_refuses = false;
    OK(fragment_arrived == 0 && !fragment_to.incoming, "a packet without memory is dropped");
    ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[1], fragment_bytes[1],
                       &fragment_broken);
    fragment_test_deliver(&fragment_wire[--fragment_count]);
    ski_fragments_abort(&fragment_to, 5);
    OK(fragment_to.incoming && fragment_aborted == 0, "what another peer began continues");
    ski_fragments_abort(&fragment_to, 3);
    OK(!fragment_to.incoming && fragment_aborted == 1, "and ends when its sender is lost");
    while (fragment_count > 0)
        free(fragment_wire[--fragment_count].data);
}

/* Sends a packet of which UCX takes the first @p room fragments. */
static ucs_status_t fragment_test_cut(int room)
{
    ucs_status_t status;

    fragment_broken = UCS_OK;
    fragment_sent   = 0;
    fragment_room   = room;
    status          = ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[0],
                                         fragment_bytes[0], &fragment_broken);
    fragment_room   = -1;
    return status;
}

/* UCX refuses a fragment for good: the caller learns whether the peer waits for the rest. */
static void fragment_test_broken(uint64_t *random)
{
    bool right;

    fragment_holds = true;
    OK(fragment_test_cut(0) == UCS_ERR_NO_MEMORY && fragment_broken == UCS_OK &&
           fragment_held.packets == 0,
       "a packet of which nothing is sent fails");
    right = fragment_test_cut(1) == UCS_INPROGRESS && fragment_broken == UCS_ERR_NO_MEMORY;
    fragment_test_deliver_all(random);
    OK(right && fragment_sent == 1 && fragment_held.packets == 0,
       "one that fails midway breaks its peer, and its memory is returned");
    ski_fragments_abort(&fragment_to, -1);
    fragment_holds = false;
    OK(fragment_test_cut(1) == UCS_OK && fragment_broken == UCS_ERR_NO_MEMORY,
       "also if UCX holds none of its fragments");
    fragment_test_deliver_all(random);
    ski_fragments_abort(&fragment_to, -1);
}

/* Headers with any numbers: nothing is written outside of a packet. */
static void fragment_test_forged(uint64_t *random)
{
    struct test_fragment real, forged;
    char                 data[256] = {0};

    fragment_arrived = fragment_aborted = 0;
    ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[2], fragment_bytes[2],
                       &fragment_broken);
    real = fragment_wire[0];
    fragment_test_deliver_all(random);
    OK(fragment_arrived == 1, "a packet arrives");
    for (int i = 0; i < 3000; i++) {
        uint64_t at = tap_random(random) % 2 ? UINT64_MAX - tap_random(random) % 300
                                             : SKI_FRAGMENT_BYTES + tap_random(random) % 600;

        forged              = real;
        forged.held         = false;
        forged.bytes        = tap_random(random) % sizeof data;
        forged.header_bytes = tap_random(random) % 8 ? real.header_bytes : 7;
        forged.data         = memcpy(malloc(sizeof data), data, sizeof data);
        memcpy(forged.header + real.header_bytes - sizeof at, &at, sizeof at);
        at = SKI_FRAGMENT_BYTES + tap_random(random) % 400;
        memcpy(forged.header + real.header_bytes - 2 * sizeof at, &at, sizeof at);
        forged.header[0] ^= (unsigned char)(1 + tap_random(random) % 3); /* another key */
        fragment_intact = true;
        fragment_test_deliver(&forged);
    }
    ski_fragments_abort(&fragment_to, -1);
    OK(!fragment_to.incoming, "forged fragments end with their port");
}

/* Returns whether a fragment of a packet that claims to have @p bytes is ignored. */
static bool fragment_test_is_ignored(struct test_fragment like, uint64_t bytes)
{
    like.held  = false;
    like.bytes = 16;
    like.data  = calloc(1, like.bytes);
    memset(like.header + like.header_bytes - sizeof bytes, 0, sizeof bytes);
    memcpy(like.header + like.header_bytes - 2 * sizeof bytes, &bytes, sizeof bytes);
    fragment_allocs = 0;
    fragment_test_deliver(&like);
    return fragment_allocs == 0 && !fragment_to.incoming;
}

/* No packet has these lengths, and none with fragments. */
static void fragment_test_lengths(uint64_t *random)
{
    struct test_fragment real;

    fragment_holds = false;
    ski_fragments_send(&fragment_from, NULL, &fragment_held, fragment_packet[2], fragment_bytes[2],
                       &fragment_broken);
    real = fragment_wire[0];
    fragment_test_deliver_all(random);
    OK(fragment_test_is_ignored(real, UINT64_MAX) &&
           fragment_test_is_ignored(real, UINT64_MAX - 62) &&
           fragment_test_is_ignored(real, (uint64_t)PTRDIFF_MAX + 1) &&
           fragment_test_is_ignored(real, SKI_FRAGMENT_BYTES),
       "no memory is asked for a packet that is too long, or too short for fragments");
}

int main(void)
{
    uint64_t random = tap_seed();

    OK(ski_fragments_open(&fragment_from, NULL, 3, &fragment_test_up, NULL) == UCS_OK &&
           ski_fragments_open(&fragment_to, NULL, 4, &fragment_test_up, NULL) == UCS_OK,
       "two ports");
    fragment_test_packets(&random);
    fragment_test_any_order(&random);
    fragment_test_dropped(&random);
    fragment_test_broken(&random);
    fragment_test_forged(&random);
    fragment_test_lengths(&random);
    for (int i = 0; i < PACKETS; i++)
        free(fragment_packet[i]);
    return tap_end();
}
