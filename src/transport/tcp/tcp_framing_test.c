/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_framing_test.c - packets in streams that arrive in random pieces: each packet arrives once,
 * complete and in order.  Then streams that are cut, damaged or random: no byte beyond a piece is
 * read and none beyond an allocated packet is written, which AddressSanitizer would report, and
 * every allocated packet either arrives or is aborted.
 */
#include "transport/tcp/tcp_framing.h"

#include <stdlib.h>

#include "tests/tap.h"

#define PACKETS    40
#define ROUNDS     50
#define PACKET_MAX ((size_t)300 << 10)
#define SMALL_MAX  ((size_t)2 << 10)
#define PIECE_MAX  ((size_t)400 << 10)
#define DAMAGES    3000

/* ---- what is sent, and what has arrived -------------------------------------------------- */

static uint64_t random_state;

struct framing_test_world {
    char  *bytes; /* of the stream */
    size_t length;
    size_t size[PACKETS]; /* of the packets in it            */
    int    packets;
    bool   exact; /* the stream is unharmed: what comes is compared */
    /* what has arrived */
    int      next;
    unsigned rooms, filled, aborted, refused, inlined, wrong;
};

/* Of the lengths below @p most each power of two is as likely. */
static size_t framing_test_draw(size_t least, size_t most)
{
    size_t bound = (size_t)1 << tap_random(&random_state) % 20;

    return least + tap_random(&random_state) % (bound < most - least ? bound : most - least + 1);
}

static bool framing_test_one_of(unsigned n)
{
    return tap_random(&random_state) % n == 0;
}

static char framing_test_byte_at(int packet, size_t at)
{
    return (char)((size_t)packet * 131 + at * 7 + (at >> 8));
}

static void framing_test_append_head(struct framing_test_world *w, uint64_t head)
{
    memcpy(w->bytes + w->length, &head, sizeof head);
    w->length += sizeof head;
}

static void framing_test_append_packet(struct framing_test_world *w, size_t most)
{
    size_t size = framing_test_draw(SKI_PACKET_MIN, most);

    framing_test_append_head(w, ski_frame_head(SKI_FRAME_PACKET, size));
    for (size_t i = 0; i < size; i++)
        w->bytes[w->length++] = framing_test_byte_at(w->packets, i);
    w->size[w->packets++] = size;
}

static void framing_test_make_stream(struct framing_test_world *w, int packets, size_t most,
                                     bool end)
{
    char *bytes = malloc((size_t)(packets + 1) * (SKI_FRAME_HEAD + most));

    *w = (struct framing_test_world){.bytes = bytes, .exact = true};
    while (w->packets < packets)
        framing_test_append_packet(w, most);
    if (end)
        framing_test_append_head(w, ski_frame_head(SKI_FRAME_END, 0));
}

static void framing_test_check_packet(struct framing_test_world *w, const char *packet,
                                      size_t bytes)
{
    bool right = w->next < w->packets && bytes == w->size[w->next];

    for (size_t i = 0; right && i < bytes; i++)
        right = packet[i] == framing_test_byte_at(w->next, i);
    w->wrong += w->exact && !right;
    w->next++;
}

/* ---- upcalls ---------------------------------------------------------------------------- */

static void *framing_test_alloc(void *owner, size_t bytes)
{
    struct framing_test_world *w = owner;

    if (bytes > PACKET_MAX || framing_test_one_of(5)) {
        w->refused++;
        w->next++;
        return NULL;
    }
    w->rooms++;
    return malloc(bytes);
}

static void framing_test_arrived(void *owner, void *packet, size_t bytes)
{
    struct framing_test_world *w = owner;

    w->filled++;
    framing_test_check_packet(w, packet, bytes);
    free(packet);
}

static void framing_test_abort(void *owner, void *packet)
{
    ((struct framing_test_world *)owner)->aborted++;
    free(packet);
}

static bool framing_test_recv_inline(void *owner, const void *packet, size_t bytes)
{
    struct framing_test_world *w = owner;

    if (!framing_test_one_of(3))
        return false;
    w->inlined++;
    framing_test_check_packet(w, packet, bytes);
    return true;
}

static const struct ski_upcalls upcalls = {.alloc       = framing_test_alloc,
                                           .arrived     = framing_test_arrived,
                                           .abort       = framing_test_abort,
                                           .recv_inline = framing_test_recv_inline};

/* ---- pieces ----------------------------------------------------------------------------- */

/* Receives to the place of the packet that is coming, if there is one; how much. */
static size_t framing_test_place_piece(struct ski_framing *s, const char *from, size_t bytes)
{
    void  *to;
    size_t n = ski_framing_target(s, &to);

    n = n < bytes ? n : bytes;
    if (n == 0 || framing_test_one_of(2))
        return 0;
    memcpy(to, from, n);
    ski_framing_received(s, n);
    return n;
}

/* Takes it from memory that ends with it. */
static bool framing_test_take_piece(struct ski_framing *s, const char *from, size_t bytes)
{
    char *copy = malloc(bytes);
    bool  sense;

    memcpy(copy, from, bytes);
    sense = ski_framing_feed(s, copy, bytes);
    free(copy);
    return sense;
}

/* The first @p bytes of a world's stream; whether they made sense. */
static bool framing_test_receive(struct framing_test_world *w, size_t bytes, bool *ended)
{
    struct ski_framing s     = {.up = &upcalls, .owner = w};
    bool               sense = true;

    for (size_t at = 0; sense && at < bytes;) {
        size_t n      = framing_test_draw(1, PIECE_MAX);
        size_t piece  = n < bytes - at ? n : bytes - at;
        size_t placed = framing_test_place_piece(&s, w->bytes + at, piece);

        if (placed < piece && !s.ended)
            sense = framing_test_take_piece(&s, w->bytes + at + placed, piece - placed);
        at += piece;
    }
    *ended = s.ended;
    ski_framing_close(&s);
    free(w->bytes);
    return sense;
}

static bool framing_test_all_rooms_are_back(const struct framing_test_world *w)
{
    return w->rooms == w->filled + w->aborted;
}

/* ---- the tests -------------------------------------------------------------------------- */

static void test_framing_whole(void)
{
    unsigned good = 0, refused = 0, inlined = 0, filled = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct framing_test_world w;
        bool                      ended, sense;

        framing_test_make_stream(&w, PACKETS, PACKET_MAX, true);
        sense = framing_test_receive(&w, w.length, &ended);
        good += sense && ended && w.next == PACKETS && w.wrong == 0 && w.aborted == 0 &&
                framing_test_all_rooms_are_back(&w);
        refused += w.refused;
        inlined += w.inlined;
        filled += w.filled;
    }
    OK(good == ROUNDS, "packets arrive once, complete and in order: %u of %d streams", good,
       ROUNDS);
    OK(refused && inlined && filled, "%u arrived, %u were received inline, %u dropped", filled,
       inlined, refused);
}

static void test_framing_cut(void)
{
    unsigned good = 0, aborted = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct framing_test_world w;
        bool                      ended, sense;

        framing_test_make_stream(&w, 5, PACKET_MAX, false);
        sense = framing_test_receive(&w, tap_random(&random_state) % w.length, &ended);
        good += sense && !ended && w.wrong == 0 && framing_test_all_rooms_are_back(&w);
        aborted += w.aborted;
    }
    OK(good == ROUNDS, "a stream may end at any byte: %u of %d", good, ROUNDS);
    OK(aborted > 0, "%u packets were aborted", aborted);
}

/* Returns whether a stream with this head after a packet is refused, and nothing made of it. */
static bool framing_test_is_refused(uint64_t head)
{
    struct framing_test_world w;
    bool                      ended, sense;

    framing_test_make_stream(&w, 1, SMALL_MAX, false);
    framing_test_append_head(&w, head);
    sense = framing_test_receive(&w, w.length, &ended);
    return !sense && !ended && w.next == 1 && w.wrong == 0 && framing_test_all_rooms_are_back(&w);
}

static void test_framing_heads(void)
{
    uint64_t long_one = (uint64_t)1 << SKI_FRAME_TARGET_SHIFT;
    unsigned bad      = 0;

    for (unsigned kind = 0; kind < 256; kind++)
        if (kind != SKI_FRAME_PACKET && kind != SKI_FRAME_END)
            bad += !framing_test_is_refused(ski_frame_head((enum ski_frame_kind)kind, 100));
    OK(bad == 0, "no head of an unknown kind is taken");
    for (size_t bytes = 0; bytes < SKI_PACKET_MIN; bytes++)
        bad += !framing_test_is_refused(ski_frame_head(SKI_FRAME_PACKET, bytes));
    OK(bad == 0, "nor one of too few bytes");
    for (; long_one < (uint64_t)1 << 56; long_one = long_one * 2 - 1)
        bad += !framing_test_is_refused(ski_frame_head(SKI_FRAME_PACKET, long_one));
    OK(bad == 0, "nor of too many");
    OK(framing_test_is_refused(ski_frame_head(SKI_FRAME_END, 1)), "nor an end that continues");
}

static void test_framing_behind_the_end(void)
{
    struct ski_framing        s = {.up = &upcalls};
    struct framing_test_world w;

    framing_test_make_stream(&w, 0, SMALL_MAX, true);
    w.bytes[w.length++] = 0;
    OK(!ski_framing_feed(&s, w.bytes, w.length) && s.ended, "nothing follows the end");
    free(w.bytes);
}

/* One bit is wrong.  Most often it is in a packet, which is not ours to notice. */
static void test_framing_flips(void)
{
    unsigned lost = 0, refused = 0;

    for (int i = 0; i < DAMAGES; i++) {
        struct framing_test_world w;
        bool                      ended;
        size_t                    at, of_head = SKI_FRAME_HEAD;

        framing_test_make_stream(&w, 3, SMALL_MAX, true);
        w.exact = false;
        at      = tap_random(&random_state) % (framing_test_one_of(2) ? of_head : w.length);
        w.bytes[at] ^= (char)(1 << tap_random(&random_state) % 8);
        refused += !framing_test_receive(&w, w.length, &ended);
        lost += !framing_test_all_rooms_are_back(&w);
    }
    OK(lost == 0, "no room is lost with a damaged stream");
    OK(refused > 0, "%u of %d were noticed", refused, DAMAGES);
}

static void test_framing_garbage(void)
{
    unsigned lost = 0, unnoticed = 0;

    for (int i = 0; i < DAMAGES; i++) {
        struct framing_test_world w;
        bool                      ended;

        framing_test_make_stream(&w, 1, SMALL_MAX, false);
        w.exact  = false;
        w.length = framing_test_draw(SKI_FRAME_HEAD, 1000);
        for (size_t at = 0; at < w.length; at++)
            w.bytes[at] = (char)tap_random(&random_state);
        unnoticed += framing_test_receive(&w, w.length, &ended); /* one in 65,536 is like a head */
        lost += !framing_test_all_rooms_are_back(&w);
    }
    OK(lost == 0, "nor with garbage");
    OK(unnoticed <= 2, "which is noticed");
}

static size_t framing_test_place(void *owner, const void *packet, size_t bytes, void **to)
{
    static char room[PACKET_MAX];

    (void)packet;
    *to = room;
    return *(bool *)owner ? bytes - SKI_DIRECT_HEAD : 0;
}

static bool framing_test_take(void *owner, const void *packet, size_t bytes)
{
    (void)owner, (void)packet, (void)bytes;
    return true;
}

static void framing_test_placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    (void)owner, (void)packet, (void)bytes, (void)whole;
}

static void *framing_test_no_room(void *owner, size_t bytes)
{
    (void)owner, (void)bytes;
    return NULL;
}

static char framing_test_data[SKI_FRAME_HEAD + PACKET_MAX];

/* Feeds the first @p first bytes of a packet of @p bytes. */
static void framing_test_begin(struct ski_framing *s, size_t bytes, size_t first)
{
    uint64_t head = ski_frame_head(SKI_FRAME_PACKET, bytes);

    memcpy(framing_test_data, &head, sizeof head);
    CHECK(ski_framing_feed(s, framing_test_data, sizeof head + first));
}

/* Feeds the rest of a packet of @p bytes that was begun with SKI_DIRECT_HEAD bytes. */
static void framing_test_end(struct ski_framing *s, size_t bytes)
{
    CHECK(ski_framing_feed(s, framing_test_data + SKI_FRAME_HEAD + SKI_DIRECT_HEAD,
                           bytes - SKI_DIRECT_HEAD));
}

/* Feeds a packet of @p bytes, of which the first piece has @p first bytes. */
static void framing_test_feed(struct ski_framing *s, size_t bytes, size_t first)
{
    framing_test_begin(s, bytes, first);
    CHECK(ski_framing_feed(s, framing_test_data + SKI_FRAME_HEAD + first, bytes - first));
}

/* Behind a large packet the beginning of the next one is received alone, while the runtime has
 * places for such packets.  It is received later than the packet if the runtime was asked too early
 * before. */
static void test_framing_lead(void)
{
    bool                     places = true;
    const struct ski_upcalls up     = {.alloc            = framing_test_no_room,
                                       .recv_inline      = framing_test_take,
                                       .recv_direct      = framing_test_place,
                                       .recv_direct_done = framing_test_placed};
    struct ski_framing       s      = {.up = &up, .owner = &places};
    size_t                   large  = SKI_FRAMING_LARGE;

    framing_test_feed(&s, 1000, 300);
    OK(ski_framing_lead(&s) == 0, "a small packet says nothing of the next one");
    framing_test_feed(&s, large, large);
    OK(ski_framing_lead(&s) >= SKI_FRAME_HEAD + SKI_DIRECT_HEAD, "a large one is followed by one");
    framing_test_feed(&s, large, SKI_DIRECT_HEAD);
    OK(ski_framing_lead(&s) > 0, "and by more, as long as they have places");
    framing_test_begin(&s, large, SKI_DIRECT_HEAD);
    OK(!ski_framing_is_exact(&s), "which may begin in the same piece");
    framing_test_end(&s, large);
    places = false;
    framing_test_feed(&s, large, SKI_DIRECT_HEAD);
    OK(ski_framing_lead(&s) > 0, "one without a place may have come too early");
    places = true;
    framing_test_begin(&s, large, SKI_DIRECT_HEAD);
    OK(ski_framing_is_exact(&s), "so the next ones are asked for later");
    framing_test_end(&s, large);
    places = false;
    framing_test_feed(&s, large, SKI_DIRECT_HEAD);
    framing_test_feed(&s, large, SKI_DIRECT_HEAD);
    OK(ski_framing_lead(&s) == 0, "after two without a place there is likely none");
    framing_test_feed(&s, SKI_FRAMING_MESSAGE, SKI_FRAMING_MESSAGE);
    OK(ski_framing_lead(&s) > 0, "but larger ones are received in their message");
    for (int i = 2; i < SKI_FRAMING_PLAINS; i++)
        framing_test_feed(&s, large, large);
    OK(ski_framing_lead(&s) > 0, "until so many have arrived");
    places = true;
    framing_test_begin(&s, large, SKI_DIRECT_HEAD);
    OK(!ski_framing_is_exact(&s), "then packets may begin in the same piece again");
    framing_test_end(&s, large);
}

/* What the runtime of the next test was told. */
struct framing_test_gone {
    char     room[SKI_FRAMING_LARGE];
    char    *other; /* where the bytes are to be received from now on, or NULL */
    bool     stays;
    unsigned whole, skipped;
};

static size_t framing_test_gone_place(void *owner, const void *packet, size_t bytes, void **to)
{
    (void)packet;
    *to = ((struct framing_test_gone *)owner)->room;
    return bytes - SKI_DIRECT_HEAD;
}

static void framing_test_gone_placed(void *owner, const void *packet, size_t bytes, bool whole)
{
    struct framing_test_gone *gone = owner;

    (void)packet, (void)bytes;
    *(whole ? &gone->whole : &gone->skipped) += 1;
}

static bool framing_test_gone_continues(void *owner, const void *packet, void **to)
{
    struct framing_test_gone *gone = owner;

    (void)packet;
    if (gone->other)
        *to = gone->other;
    return gone->stays;
}

/* The program frees the place of a packet of which a part has arrived. */
static void test_framing_place_gone(void)
{
    const struct ski_upcalls up    = {.alloc                 = framing_test_no_room,
                                      .recv_inline           = framing_test_take,
                                      .recv_direct           = framing_test_gone_place,
                                      .recv_direct_done      = framing_test_gone_placed,
                                      .recv_direct_continues = framing_test_gone_continues};
    struct framing_test_gone gone  = {.stays = true};
    struct ski_framing       s     = {.up = &up, .owner = &gone};
    size_t                   bytes = SKI_FRAMING_LARGE;
    char                    *data  = malloc(SKI_FRAME_HEAD + bytes);
    uint64_t                 head  = ski_frame_head(SKI_FRAME_PACKET, bytes);
    void                    *to;

    memset(data, 1, SKI_FRAME_HEAD + bytes);
    memcpy(data, &head, sizeof head);
    CHECK(ski_framing_feed(&s, data, SKI_FRAME_HEAD + SKI_DIRECT_HEAD + 100));
    ski_framing_check_target(&s);
    OK(ski_framing_target(&s, &to) == bytes - SKI_DIRECT_HEAD - 100 && to == gone.room + 100,
       "a place that stays is the target of what comes later");
    gone.other = gone.room + 50;
    ski_framing_check_target(&s);
    OK(ski_framing_target(&s, &to) == bytes - SKI_DIRECT_HEAD - 100 && to == gone.room + 150,
       "a place that has moved is the target after what has arrived");
    gone.other = NULL;
    s.room     = gone.room;
    gone.stays = false;
    ski_framing_check_target(&s);
    OK(ski_framing_target(&s, &to) == 0, "one that is gone is not");
    CHECK(ski_framing_feed(&s, data + 500, bytes - SKI_DIRECT_HEAD - 100));
    OK(gone.skipped == 1 && gone.whole == 0 && gone.room[99] == 1 && gone.room[100] == 0,
       "the rest is skipped, and the runtime is told at its end");
    framing_test_feed(&s, 1000, 1000);
    OK(s.bytes == 0 && !s.room, "the next packet begins after it");
    free(data);
}

/* ---- targets ---------------------------------------------------------------------------- */

static bool framing_test_count_inline(void *owner, const void *packet, size_t bytes)
{
    (void)packet, (void)bytes;
    ++*(unsigned *)owner;
    return true;
}

/* Feeds a packet of 100 bytes with @p target in its head to a stream of three ports, of which the
 * second is not open.  Returns whether it is valid. */
static bool framing_test_to_target(uint64_t target, unsigned count[3])
{
    static const struct ski_upcalls up = {.recv_inline = framing_test_count_inline};

    void *const        owners[3]                  = {&count[0], NULL, &count[2]};
    struct ski_framing s                          = {.up = &up, .owners = owners, .owner_count = 3};
    uint64_t           head                       = ski_frame_head(SKI_FRAME_PACKET, 100) | target;
    char               data[SKI_FRAME_HEAD + 100] = {0};

    memcpy(data, &head, sizeof head);
    return ski_framing_feed(&s, data, sizeof data);
}

static void test_framing_targets(void)
{
    unsigned count[3] = {0};
    bool     sense;

    sense = framing_test_to_target(ski_frame_target(2), count) &&
            framing_test_to_target(ski_frame_target(0), count) &&
            framing_test_to_target(ski_frame_target(2), count);
    OK(sense && count[0] == 1 && count[2] == 2, "a packet goes to the port that its head names");
    OK(!framing_test_to_target(ski_frame_target(1), count) &&
           !framing_test_to_target(ski_frame_target(3), count) &&
           !framing_test_to_target(ski_frame_target(65534), count),
       "no packet is taken for a port that is not open");
    OK(!framing_test_to_target(0, count) && count[0] + count[2] == 3, "nor one without a port");
}

int main(void)
{
    random_state = tap_seed();
    test_framing_whole();
    test_framing_cut();
    test_framing_heads();
    test_framing_behind_the_end();
    test_framing_flips();
    test_framing_garbage();
    test_framing_lead();
    test_framing_place_gone();
    test_framing_targets();
    return tap_end();
}
