/* SPDX-License-Identifier: Apache-2.0 */
/* am_wire_test.c - requests survive the way, none is longer than it needs to be, and a damaged one
 * is refused or is within its message. */
#include "onesided/rma/am_wire.h"

#include <stdlib.h>

#include "core/net/packet.h"
#include "tests/tap.h"
#include "transport/tcp/tcp_framing.h"

#define WIRE_ORIGIN 3
#define WIRE_SERVER 5
#define WIRE_ROOM   1024

/* Encodes a request with runs, or none, and zeros as its data.  Returns its bytes. */
static size_t wire_encode(const struct ski_am_request *r, const struct ski_am_run *runs, char *to)
{
    struct ski_am_encoded encoded;
    size_t                at;

    ski_am_encode(r, WIRE_ORIGIN, WIRE_SERVER, &encoded);
    memset(to, 0, WIRE_ROOM);
    memcpy(to, &encoded.head, sizeof encoded.head);
    at = ski_am_encoded_bytes(&encoded);
    memcpy(to + sizeof encoded.head, encoded.word, at - sizeof encoded.head);
    for (uint32_t i = 0; i < r->blocks; i++)
        if (r->is_offsets)
            memcpy(to + at + i * 4, &(int32_t){(int32_t)runs[i].remote}, 4);
        else
            memcpy(to + at + i * sizeof *runs, &runs[i], sizeof *runs);
    return at + ski_am_list_bytes(r) + r->data_bytes + r->signal_bytes;
}

static bool wire_decode(const char *at, size_t bytes, struct ski_am_request *r)
{
    uint32_t id;

    return ski_am_decode((struct ski_am_span){at, bytes, bytes}, WIRE_ORIGIN, WIRE_SERVER, r, &id);
}

static bool wire_same(const struct ski_am_request *a, const struct ski_am_request *b)
{
    return a->verb == b->verb && a->id == b->id && skua_gaddr_equal(a->remote, b->remote) &&
           a->source == b->source && a->total == b->total && a->data_bytes == b->data_bytes &&
           a->deferrable == b->deferrable && a->scaled == b->scaled && a->op == b->op &&
           a->type == b->type && memcmp(a->scale, b->scale, sizeof a->scale) == 0 &&
           a->atomic.op == b->atomic.op && a->atomic.value == b->atomic.value &&
           a->atomic.expected == b->atomic.expected && a->atomic.bytes == b->atomic.bytes &&
           a->notify.region.id == b->notify.region.id && a->notify.offset == b->notify.offset &&
           (!a->notify.region.id || a->notify_add == b->notify_add) && a->signal == b->signal &&
           a->signal_bytes == b->signal_bytes && a->blocks == b->blocks;
}

/* Checks that a request takes @p bytes and arrives as it was sent. */
static void wire_round_trip(struct ski_am_request r, const struct ski_am_run *runs, size_t bytes,
                            const char *what)
{
    static char           wire[WIRE_ROOM];
    struct ski_am_request got;
    size_t                used;

    r.id               = 77;
    r.remote.pe        = r.remote.pe ? r.remote.pe : WIRE_SERVER;
    r.source           = r.source ? r.source : WIRE_ORIGIN;
    r.remote.region.id = 9;
    used               = wire_encode(&r, runs, wire);
    OK(used == bytes, "%s takes %zu bytes, expected %zu", what, used, bytes);
    OK(wire_decode(wire, used, &got) && wire_same(&r, &got), "%s arrives as it was sent", what);
    OK(!wire_decode(wire, used - (used > 16 ? 9 : 1), &got) || !wire_same(&r, &got),
       "%s is not taken for itself when its end is missing", what);
}

static void wire_sizes(void)
{
    static const struct ski_am_run runs[]  = {{0, 8, 100, 64}, {-8, 4, 1, 0}};
    static const struct ski_am_run three[] = {{0, 8, 1, 0}, {-8, 8, 1, 0}, {4096, 8, 1, 0}};
    struct ski_am_request          put     = {.verb = SKI_RMA_PUT, .total = 8, .data_bytes = 8}, r;

    wire_round_trip(put, NULL, 24, "a put of 8 bytes");
    OK(SKI_FRAME_HEAD + SKI_PACKET_HALF + 24 <= 64, "with frame and header that is 64 bytes");
    wire_round_trip((struct ski_am_request){.verb = SKI_RMA_GET, .total = 8}, NULL, 24, "a get");
    r = (struct ski_am_request){.verb   = SKI_RMA_ATOMIC,
                                .atomic = {SKUA_ATOMIC_ADD, SKUA_INT64, 8, UINT64_MAX - 1, 0}};
    wire_round_trip(r, NULL, 32, "an add of 64 bits");
    r.atomic = (struct ski_atomic){SKUA_ATOMIC_COMPARE_SWAP, SKUA_INT32, 4, 5, 6};
    wire_round_trip(r, NULL, 32, "a compare-and-swap of 32 bits");
    r.atomic = (struct ski_atomic){SKUA_ATOMIC_LOAD, SKUA_DOUBLE, 8, 0, 0};
    wire_round_trip(r, NULL, 24, "an atomic load");
    r = (struct ski_am_request){
        .verb = SKI_RMA_ACCUMULATE, .type = SKUA_DOUBLE, .total = 8, .data_bytes = 8};
    wire_round_trip(r, NULL, 32, "an accumulate of a double");
    r.scaled = true, r.type = SKUA_COMPLEX_DOUBLE, r.scale[0] = 1, r.scale[1] = 2;
    r.total = r.data_bytes = 16;
    wire_round_trip(r, NULL, 56, "a scaled accumulate of a complex number");
    r = (struct ski_am_request){.verb = SKI_RMA_PUT, .notify = {0, {4}, 8}, .notify_add = 1};
    wire_round_trip(r, NULL, 24, "a notification alone");
    r.notify_add = 1 << 20;
    wire_round_trip(r, NULL, 32, "a notification by more than 1");
    r = put, r.signal = 50, r.signal_bytes = 5;
    wire_round_trip(r, NULL, 37, "a put with a signal");
    r.source = 2, r.remote.pe = 4;
    wire_round_trip(r, NULL, 45, "a put for another PE in the name of another");
    r = put, r.remote.offset = UINT64_C(1) << 40;
    wire_round_trip(r, NULL, 32, "a put at a large offset");
    r = put, r.blocks = 2, r.total = r.data_bytes = 804;
    wire_round_trip(r, runs, 16 + 8 + 48 + 804, "a put of runs");
    r = put, r.blocks = 3, r.is_offsets = true, r.block_bytes = 8, r.total = r.data_bytes = 24;
    wire_round_trip(r, three, 16 + 8 + 16 + 24, "a put at offsets");
    wire_round_trip((struct ski_am_request){.verb = SKI_RMA_RKEY_QUERY}, NULL, 16, "a query");
}

static bool wire_same_put(const struct ski_am_request *r, const struct ski_am_put *put)
{
    return put->id == r->id && put->region == r->remote.region.id &&
           put->offset == r->remote.offset && put->has_notify == (r->notify.region.id != 0) &&
           (!put->has_notify ||
            (put->notify_region == r->notify.region.id && put->notify_offset == r->notify.offset &&
             put->notify_add == r->notify_add)) &&
           put->ack_count == r->ack_count &&
           memcmp(put->ack, r->ack, r->ack_count * sizeof *r->ack) == 0 &&
           put->bytes == r->data_bytes && put->data == r->data;
}

/* A request carries acknowledgements; a put with at most those and a notification is decoded alone,
 * to what the general decoder finds. */
static void wire_acks(void)
{
    struct ski_am_request put = {.verb       = SKI_RMA_PUT,
                                 .remote     = {WIRE_SERVER, {9}, 24},
                                 .source     = WIRE_ORIGIN,
                                 .id         = 7,
                                 .total      = 8,
                                 .data_bytes = 8},
                          got, signal;
    struct ski_am_head head;
    struct ski_am_put  one;
    char               wire[WIRE_ROOM];
    uint32_t           many = SKI_AM_ACKS_MAX + 1;
    size_t             used;

    for (uint32_t i = 0; i <= SKI_AM_ACKS_MAX; i++)
        for (uint64_t add = 0; add < 3; add++) {
            put.ack_count = i;
            if (i > 0)
                put.ack[i - 1] = 1000 + i;
            put.notify     = (skua_gaddr){add ? WIRE_SERVER : 0, {add ? 4 : 0}, add ? 8 : 0};
            put.notify_add = add;
            used           = wire_encode(&put, NULL, wire);
            OK(wire_decode(wire, used, &got) && ski_am_decode_put(wire, used, &one) &&
                   got.ack_count == i && wire_same_put(&got, &one) && one.id == 7,
               "a put with %u acknowledgements that notifies by %d is decoded by both", i,
               (int)add);
        }
    OK(!ski_am_decode_put(wire, 40, &one), "one whose acknowledgements are cut off is refused");
    memcpy(wire + 32, &many, sizeof many); /* after the head, the notification and its number */
    OK(!wire_decode(wire, used, &got) && !ski_am_decode_put(wire, used, &one),
       "more acknowledgements than a request may have are refused");
    signal = put, signal.signal = 50;
    used = wire_encode(&signal, NULL, wire);
    OK(wire_decode(wire, used, &got) && !ski_am_decode_put(wire, used, &one),
       "a put with a signal is left to the general decoder");
    used = wire_encode(&put, NULL, wire);
    memcpy(&head, wire, sizeof head);
    head.bytes = (uint16_t)used;
    memcpy(wire, &head, sizeof head);
    OK(!ski_am_decode_put(wire, used, &one), "and so is one of a batch");
}

/* Whatever a message holds, a request that is accepted is within it. */
static void wire_damaged(void)
{
    uint64_t seed = tap_seed();
    char     wire[96];
    int      accepted = 0, outside = 0;

    for (int n = 0; n < 200000; n++) {
        struct ski_am_request r;
        struct ski_am_put     put;
        size_t                bytes = tap_random(&seed) % sizeof wire;

        for (size_t i = 0; i < sizeof wire; i++)
            wire[i] = (char)(tap_random(&seed) % 3 ? 0 : tap_random(&seed));
        if (ski_am_decode_put(wire, bytes, &put))
            outside += put.data < wire || put.data + put.bytes > wire + bytes ||
                       !wire_decode(wire, bytes, &r) || !wire_same_put(&r, &put);
        if (!wire_decode(wire, bytes, &r))
            continue;
        accepted++;
        outside += r.data < wire || r.data + r.data_bytes + r.signal_bytes > wire + bytes ||
                   r.length > bytes || r.length < sizeof(struct ski_am_head) || r.lo > 0 ||
                   r.hi < 0 || (r.blocks && r.list + ski_am_list_bytes(&r) > wire + bytes);
    }
    OK(accepted > 0 && outside == 0, "%d random requests were accepted, %d beyond their message",
       accepted, outside);
}

/* The length of a request tells where the next one begins, also if the request is malformed. */
static void wire_malformed(void)
{
    struct ski_am_request put = {
        .verb = SKI_RMA_PUT, .remote = {WIRE_SERVER, {9}, 0}, .source = WIRE_ORIGIN, .id = 7};
    struct ski_am_request got;
    struct ski_am_head    head;
    char                  wire[WIRE_ROOM];

    put.total = put.data_bytes = 8;
    wire_encode(&put, NULL, wire);
    memcpy(&head, wire, sizeof head);
    head.kind |= SKI_AM_VERB; /* a verb that does not exist */
    head.bytes = 20;
    memcpy(wire, &head, sizeof head);
    OK(!wire_decode(wire, 48, &got) && got.length == 24, "a request of an unknown verb has an end");
    OK(!wire_decode(wire, 20, &got) && got.length == 20, "the last one ends with its message");
    OK(!wire_decode(wire, 19, &got) && got.length == 0, "one that is cut off has none");
    OK(!wire_decode(wire, 15, &got) && got.length == 0, "nor has one without a whole head");
}

static void wire_replies(void)
{
    struct ski_am_reply reply = {SKI_AM_ACK, 3, 1}, got;
    char                wire[24];

    memset(wire, 0, sizeof wire);
    memcpy(wire, &reply, sizeof reply);
    OK(ski_am_reply_decode(wire, sizeof wire, &got) == 16 && got.count == 3,
       "an acknowledgement of three requests takes 16 bytes");
    OK(ski_am_reply_decode(wire, 8, &got) == 0, "one that is cut off is refused");
    reply = (struct ski_am_reply){SKI_AM_ACK, 0, 1};
    memcpy(wire, &reply, sizeof reply);
    OK(ski_am_reply_decode(wire, sizeof wire, &got) == 0, "one of no request is refused");
    reply = (struct ski_am_reply){SKI_AM_VALUE, 1, 1};
    memcpy(wire, &reply, sizeof reply);
    OK(ski_am_reply_decode(wire, sizeof wire, &got) == 16 &&
           ski_am_reply_decode(wire, 15, &got) == 0,
       "a value takes 16 bytes");
    reply = (struct ski_am_reply){7, 1, 1};
    memcpy(wire, &reply, sizeof reply);
    OK(ski_am_reply_decode(wire, sizeof wire, &got) == 0, "a record of no kind is refused");
}

int main(void)
{
    wire_sizes();
    wire_acks();
    wire_malformed();
    wire_damaged();
    wire_replies();
    return tap_end();
}
