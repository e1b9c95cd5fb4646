/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_test.c - packets in streams that come in random pieces: each comes whole, once, in
 * order.  Then streams that are cut, damaged or no streams at all: nothing beyond a piece is
 * read, nothing beyond a room written, which AddressSanitizer would see, and every room is
 * filled or spoilt.
 */
#include "transport/tcp/tcp_framing.h"

#include <stdlib.h>

#include "tests/tap.h"

#define PACKETS     40
#define ROUNDS      50
#define PACKET_MOST ((size_t)300 << 10)
#define SMALL_MOST  ((size_t)2 << 10)
#define PIECE_MOST  ((size_t)400 << 10)
#define DAMAGES     3000

/* ---- what is sent, and what has come -------------------------------------------------- */

static uint64_t random_state;

struct world {
    char  *bytes; /* of the stream */
    size_t length;
    size_t size[PACKETS]; /* of the packets in it            */
    int    packets;
    bool   exact; /* the stream is unharmed: what comes is compared */
    /* what has come */
    int      next;
    unsigned rooms, filled, spoilt, refused, taken, wrong;
};

/* Of the lengths below @p most each power of two is as likely. */
static size_t draw(size_t least, size_t most)
{
    size_t bound = (size_t)1 << tap_random(&random_state) % 20;

    return least + tap_random(&random_state) % (bound < most - least ? bound : most - least + 1);
}

static bool one_of(unsigned n)
{
    return tap_random(&random_state) % n == 0;
}

static char byte_at(int packet, size_t at)
{
    return (char)((size_t)packet * 131 + at * 7 + (at >> 8));
}

static void append_head(struct world *w, uint64_t head)
{
    memcpy(w->bytes + w->length, &head, sizeof head);
    w->length += sizeof head;
}

static void append_packet(struct world *w, size_t most)
{
    size_t size = draw(SKI_PACKET_LEAST, most);

    append_head(w, ski_frame_head(SKI_FRAME_PACKET, size));
    for (size_t i = 0; i < size; i++)
        w->bytes[w->length++] = byte_at(w->packets, i);
    w->size[w->packets++] = size;
}

static void make_stream(struct world *w, int packets, size_t most, bool end)
{
    char *bytes = malloc((size_t)(packets + 1) * (SKI_FRAME_HEAD + most));

    *w = (struct world){.bytes = bytes, .exact = true};
    while (w->packets < packets)
        append_packet(w, most);
    if (end)
        append_head(w, ski_frame_head(SKI_FRAME_END, 0));
}

static void check_packet(struct world *w, const char *packet, size_t bytes)
{
    bool right = w->next < w->packets && bytes == w->size[w->next];

    for (size_t i = 0; right && i < bytes; i++)
        right = packet[i] == byte_at(w->next, i);
    w->wrong += w->exact && !right;
    w->next++;
}

/* ---- upcalls ---------------------------------------------------------------------------- */

static void *room(void *owner, size_t bytes)
{
    struct world *w = owner;

    if (bytes > PACKET_MOST || one_of(5)) {
        w->refused++;
        w->next++;
        return NULL;
    }
    w->rooms++;
    return malloc(bytes);
}

static void arrived(void *owner, void *packet, size_t bytes)
{
    struct world *w = owner;

    w->filled++;
    check_packet(w, packet, bytes);
    free(packet);
}

static void spoilt(void *owner, void *packet)
{
    ((struct world *)owner)->spoilt++;
    free(packet);
}

static bool taken(void *owner, const void *packet, size_t bytes)
{
    struct world *w = owner;

    if (!one_of(3))
        return false;
    w->taken++;
    check_packet(w, packet, bytes);
    return true;
}

static const struct ski_upcalls upcalls = {
    .alloc = room, .arrived = arrived, .abort = spoilt, .recv_inline = taken};

/* ---- pieces ----------------------------------------------------------------------------- */

/* Receives to the place of the packet that is coming, if there is one; how much. */
static size_t place_piece(struct ski_framing *s, const char *from, size_t bytes)
{
    void  *to;
    size_t n = ski_framing_target(s, &to);

    n = n < bytes ? n : bytes;
    if (n == 0 || one_of(2))
        return 0;
    memcpy(to, from, n);
    ski_framing_received(s, n);
    return n;
}

/* Takes it from memory that ends with it. */
static bool take_piece(struct ski_framing *s, const char *from, size_t bytes)
{
    char *copy = malloc(bytes);
    bool  sense;

    memcpy(copy, from, bytes);
    sense = ski_framing_feed(s, copy, bytes);
    free(copy);
    return sense;
}

/* The first @p bytes of a world's stream; whether they made sense. */
static bool receive(struct world *w, size_t bytes, bool *ended)
{
    struct ski_framing s     = {.up = &upcalls, .owner = w};
    bool               sense = true;

    for (size_t at = 0; sense && at < bytes;) {
        size_t n      = draw(1, PIECE_MOST);
        size_t piece  = n < bytes - at ? n : bytes - at;
        size_t placed = place_piece(&s, w->bytes + at, piece);

        if (placed < piece && !s.ended)
            sense = take_piece(&s, w->bytes + at + placed, piece - placed);
        at += piece;
    }
    *ended = s.ended;
    ski_framing_close(&s);
    free(w->bytes);
    return sense;
}

static bool all_rooms_are_back(const struct world *w)
{
    return w->rooms == w->filled + w->spoilt;
}

/* ---- the tests -------------------------------------------------------------------------- */

static void test_whole(void)
{
    unsigned good = 0, refused = 0, taken = 0, filled = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct world w;
        bool         ended, sense;

        make_stream(&w, PACKETS, PACKET_MOST, true);
        sense = receive(&w, w.length, &ended);
        good += sense && ended && w.next == PACKETS && w.wrong == 0 && w.spoilt == 0 &&
                all_rooms_are_back(&w);
        refused += w.refused;
        taken += w.taken;
        filled += w.filled;
    }
    OK(good == ROUNDS, "packets come whole, once and in order: %u of %d streams", good, ROUNDS);
    OK(refused && taken && filled, "%u were received, %u taken, %u dropped", filled, taken,
       refused);
}

static void test_cut(void)
{
    unsigned good = 0, spoilt = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct world w;
        bool         ended, sense;

        make_stream(&w, 5, PACKET_MOST, false);
        sense = receive(&w, tap_random(&random_state) % w.length, &ended);
        good += sense && !ended && w.wrong == 0 && all_rooms_are_back(&w);
        spoilt += w.spoilt;
    }
    OK(good == ROUNDS, "streams may end anywhere: %u of %d", good, ROUNDS);
    OK(spoilt > 0, "%u rooms were spoilt", spoilt);
}

/* Whether a stream with this head behind a packet is refused, and nothing made of it. */
static bool is_refused(uint64_t head)
{
    struct world w;
    bool         ended, sense;

    make_stream(&w, 1, SMALL_MOST, false);
    append_head(&w, head);
    sense = receive(&w, w.length, &ended);
    return !sense && !ended && w.next == 1 && w.wrong == 0 && all_rooms_are_back(&w);
}

static void test_heads(void)
{
    uint64_t long_one = ((uint64_t)1 << 48) + 1;
    unsigned bad      = 0;

    for (unsigned kind = 0; kind < 256; kind++)
        if (kind != SKI_FRAME_PACKET && kind != SKI_FRAME_END)
            bad += !is_refused(ski_frame_head((enum ski_frame_kind)kind, 100));
    OK(bad == 0, "no head of an unknown kind is taken");
    for (size_t bytes = 0; bytes < SKI_PACKET_LEAST; bytes++)
        bad += !is_refused(ski_frame_head(SKI_FRAME_PACKET, bytes));
    OK(bad == 0, "nor one of too few bytes");
    for (; long_one < (uint64_t)1 << 56; long_one = long_one * 2 - 1)
        bad += !is_refused(ski_frame_head(SKI_FRAME_PACKET, long_one));
    OK(bad == 0, "nor of too many");
    OK(is_refused(ski_frame_head(SKI_FRAME_END, 1)), "nor an end that goes on");
}

static void test_behind_the_end(void)
{
    struct ski_framing s = {.up = &upcalls};
    struct world       w;

    make_stream(&w, 0, SMALL_MOST, true);
    w.bytes[w.length++] = 0;
    OK(!ski_framing_feed(&s, w.bytes, w.length) && s.ended, "nothing follows the end");
    free(w.bytes);
}

/* One bit is wrong.  Most often it is in a packet, which is not ours to notice. */
static void test_flips(void)
{
    unsigned lost = 0, refused = 0;

    for (int i = 0; i < DAMAGES; i++) {
        struct world w;
        bool         ended;
        size_t       at, of_head = SKI_FRAME_HEAD;

        make_stream(&w, 3, SMALL_MOST, true);
        w.exact = false;
        at      = tap_random(&random_state) % (one_of(2) ? of_head : w.length);
        w.bytes[at] ^= (char)(1 << tap_random(&random_state) % 8);
        refused += !receive(&w, w.length, &ended);
        lost += !all_rooms_are_back(&w);
    }
    OK(lost == 0, "no room is lost with a damaged stream");
    OK(refused > 0, "%u of %d were noticed", refused, DAMAGES);
}

static void test_garbage(void)
{
    unsigned lost = 0, unnoticed = 0;

    for (int i = 0; i < DAMAGES; i++) {
        struct world w;
        bool         ended;

        make_stream(&w, 1, SMALL_MOST, false);
        w.exact  = false;
        w.length = draw(SKI_FRAME_HEAD, 1000);
        for (size_t at = 0; at < w.length; at++)
            w.bytes[at] = (char)tap_random(&random_state);
        unnoticed += receive(&w, w.length, &ended); /* one in 65,536 is like a head */
        lost += !all_rooms_are_back(&w);
    }
    OK(lost == 0, "nor with garbage");
    OK(unnoticed <= 2, "which is noticed");
}

int main(void)
{
    random_state = tap_seed();
    test_whole();
    test_cut();
    test_heads();
    test_behind_the_end();
    test_flips();
    test_garbage();
    return tap_end();
}
