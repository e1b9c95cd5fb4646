/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_multipart_test.c - packets in parts on several streams (tcp_multipart.h), against a model.
 *
 * Each packet is divided at random.  The streams are fed in pieces of random sizes in a random
 * order, so parts arrive before, during and after the first part of their packet.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "transport/tcp/tcp_multipart.h"

#define STREAMS 4
#define PACKETS 60
#define BYTES   20000 /* of a packet, at most */
#define ROUNDS  40
#define SENDER  7

static uint64_t multipart_test_random;

static size_t multipart_test_below(size_t n)
{
    return tap_random(&multipart_test_random) % n;
}

/* ---- the runtime ------------------------------------------------------------------------- */

static char    *multipart_test_sent[PACKETS];
static size_t   multipart_test_bytes[PACKETS];
static unsigned multipart_test_came, multipart_test_wrong, multipart_test_aborted,
    multipart_test_changes;
static int   multipart_test_direct; /* of 4 packets so many are received at their target */
static char *multipart_test_target[PACKETS];

static unsigned multipart_test_number(const void *packet)
{
    unsigned number;

    memcpy(&number, packet, sizeof number);
    CHECK(number < PACKETS);
    return number;
}

static void *multipart_test_alloc(void *owner, size_t bytes)
{
    (void)owner;
    return malloc(bytes);
}

static void multipart_test_count(unsigned number, const char *begin, size_t kept, const char *rest,
                                 size_t bytes)
{
    const char *sent = multipart_test_sent[number];

    multipart_test_came++;
    multipart_test_wrong += bytes != multipart_test_bytes[number] ||
                            memcmp(sent, begin, kept) != 0 ||
                            memcmp(sent + kept, rest, bytes - kept) != 0;
}

static void multipart_test_arrived(void *owner, void *packet, size_t bytes)
{
    (void)owner;
    multipart_test_count(multipart_test_number(packet), packet, 0, packet, bytes);
    free(packet);
}

static void multipart_test_abort(void *owner, void *packet)
{
    (void)owner;
    multipart_test_aborted++;
    free(packet);
}

#define KEPT 300

static size_t multipart_test_recv_direct(void *owner, const void *packet, size_t bytes, void **to)
{
    unsigned number = multipart_test_number(packet);

    (void)owner;
    if ((int)(number % 4) >= multipart_test_direct)
        return 0;
    multipart_test_target[number] = *to = malloc(bytes - KEPT);
    return bytes - KEPT;
}

static void multipart_test_recv_direct_done(void *owner, const void *packet, size_t bytes,
                                            bool whole)
{
    unsigned number = multipart_test_number(packet);

    (void)owner;
    if (whole)
        multipart_test_count(number, packet, KEPT, multipart_test_target[number], bytes);
    else
        multipart_test_aborted++;
    free(multipart_test_target[number]);
}

/* Moves the target. */
static bool multipart_test_continues(void *owner, const void *packet, void **to)
{
    unsigned number = multipart_test_number(packet);
    size_t   bytes  = multipart_test_bytes[number] - KEPT;

    (void)owner;
    if (multipart_test_below(4) == 0) {
        char *moved = malloc(bytes);

        memcpy(moved, *to, bytes);
        free(*to);
        multipart_test_target[number] = *to = moved;
    }
    return true;
}

static const struct ski_upcalls multipart_test_up = {
    .alloc                 = multipart_test_alloc,
    .arrived               = multipart_test_arrived,
    .abort                 = multipart_test_abort,
    .recv_direct           = multipart_test_recv_direct,
    .recv_direct_done      = multipart_test_recv_direct_done,
    .recv_direct_continues = multipart_test_continues};

static void multipart_test_changed(struct ski_framing *stream)
{
    (void)stream;
    multipart_test_changes++;
}

/* ---- the streams ----------------------------------------------------------------------------- */

struct multipart_test_stream {
    struct ski_framing in;
    char              *data;
    size_t             bytes, fed;
};

static struct multipart_test_stream multipart_test_stream[STREAMS];
static struct ski_multiparts        multipart_test_list = {.up      = &multipart_test_up,
                                                           .changed = multipart_test_changed};

static void multipart_test_append(unsigned stream, const void *from, size_t bytes)
{
    struct multipart_test_stream *to = &multipart_test_stream[stream];

    to->data = realloc(to->data, to->bytes + bytes);
    CHECK(to->data);
    memcpy(to->data + to->bytes, from, bytes);
    to->bytes += bytes;
}

static void multipart_test_append_head(unsigned stream, enum ski_frame_kind kind, size_t bytes,
                                       uint64_t id, uint64_t at)
{
    const uint64_t head[] = {ski_frame_head(kind, bytes), id, at};

    multipart_test_append(stream, head, sizeof head);
}

/* Divides a packet among the streams. */
static void multipart_test_send(unsigned number)
{
    char  *packet = multipart_test_sent[number];
    size_t bytes  = multipart_test_bytes[number],
           at     = SKI_DIRECT_HEAD + 1 + multipart_test_below(4000);

    multipart_test_append_head(0, SKI_FRAME_MULTIPART, bytes, number, at);
    multipart_test_append(0, packet, at);
    for (unsigned i = 1; i < STREAMS; i++) {
        size_t n = i + 1 < STREAMS ? multipart_test_below(bytes - at) : bytes - at;

        if (n == 0)
            continue;
        multipart_test_append_head(i, SKI_FRAME_PART, n, number, at);
        multipart_test_append(i, packet + at, n);
        at += n;
    }
}

static void multipart_test_begin(void)
{
    multipart_test_came = multipart_test_wrong = multipart_test_aborted = 0;
    for (unsigned i = 0; i < STREAMS; i++)
        multipart_test_stream[i].in = (struct ski_framing){.up         = &multipart_test_up,
                                                           .multiparts = &multipart_test_list,
                                                           .calls      = &ski_multipart_calls,
                                                           .from       = SENDER};
    for (unsigned i = 0; i < PACKETS; i++) {
        multipart_test_bytes[i] = 6000 + multipart_test_below(BYTES - 6000);
        multipart_test_sent[i]  = malloc(BYTES);
        CHECK(multipart_test_sent[i]);
        for (size_t j = 0; j < BYTES; j++)
            multipart_test_sent[i][j] = (char)multipart_test_below(256);
        memcpy(multipart_test_sent[i], &i, sizeof i);
    }
}

static void multipart_test_end(void)
{
    for (unsigned i = 0; i < STREAMS; i++) {
        ski_framing_close(&multipart_test_stream[i].in);
        free(multipart_test_stream[i].data);
        multipart_test_stream[i] = (struct multipart_test_stream){.data = NULL};
    }
    ski_multiparts_free(&multipart_test_list);
    for (unsigned i = 0; i < PACKETS; i++)
        free(multipart_test_sent[i]);
}

/* Feeds a piece of a stream: at the target, if there is one, or as received elsewhere.  Returns
 * whether it was valid. */
static bool multipart_test_feed(struct multipart_test_stream *s)
{
    size_t n = 1 + multipart_test_below(3000), direct;
    void  *to;

    if (n > s->bytes - s->fed)
        n = s->bytes - s->fed;
    ski_framing_check_target(&s->in);
    direct = ski_framing_target(&s->in, &to);
    if (direct > 0 && multipart_test_below(2)) {
        n = n < direct ? n : direct;
        memcpy(to, s->data + s->fed, n);
        ski_framing_received(&s->in, n);
        s->fed += n;
        return !s->in.invalid;
    }
    s->fed += n;
    return ski_framing_feed(&s->in, s->data + s->fed - n, n);
}

/* Feeds all streams in a random order.  Returns whether they were valid. */
static bool multipart_test_feed_all(void)
{
    size_t left;

    do {
        struct multipart_test_stream *s = &multipart_test_stream[multipart_test_below(STREAMS)];

        if (s->fed < s->bytes && !multipart_test_feed(s))
            return false;
        left = 0;
        for (unsigned i = 0; i < STREAMS; i++)
            left += multipart_test_stream[i].bytes - multipart_test_stream[i].fed;
    } while (left > 0);
    return true;
}

/* Feeds a random number of pieces. */
static void multipart_test_feed_some(size_t most)
{
    for (size_t i = multipart_test_below(most); i > 0; i--) {
        struct multipart_test_stream *s = &multipart_test_stream[multipart_test_below(STREAMS)];

        if (s->fed < s->bytes && !s->in.paused)
            multipart_test_feed(s);
    }
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void test_multiparts_arrive(void)
{
    unsigned came = 0, wrong = 0, invalid = 0;

    for (int round = 0; round < ROUNDS; round++) {
        multipart_test_direct = round % 5;
        multipart_test_begin();
        for (unsigned i = 0; i < PACKETS; i++)
            multipart_test_send(i);
        invalid += !multipart_test_feed_all();
        came += multipart_test_came;
        wrong += multipart_test_wrong + multipart_test_aborted + (multipart_test_list.list != NULL);
        multipart_test_end();
    }
    OK(came == ROUNDS * PACKETS && wrong == 0 && invalid == 0,
       "%u packets of %d arrive as they were sent, %u are wrong", came, ROUNDS * PACKETS, wrong);
    OK(multipart_test_changes >= 2 * came, "and streams are told of their parts");
}

/* Cuts the streams off after a random number of pieces. */
static void test_multiparts_abort(void)
{
    unsigned wrong = 0;

    for (int round = 0; round < ROUNDS; round++) {
        multipart_test_direct = round % 5;
        multipart_test_begin();
        for (unsigned i = 0; i < PACKETS; i++)
            multipart_test_send(i);
        multipart_test_feed_some(300);
        for (unsigned i = 0; i < STREAMS; i++)
            ski_framing_close(&multipart_test_stream[i].in);
        wrong += multipart_test_wrong + (multipart_test_list.list != NULL);
        multipart_test_end();
    }
    OK(wrong == 0, "streams that are cut off abort their packets");
}

/* Returns whether a stream receives a part that began before packets were aborted, and has no
 * target for it. */
static bool multipart_test_skips(const struct ski_framing *s)
{
    return s->bytes > 0 && !s->leading && !s->packet && !s->early && !s->room && s->kept == 0;
}

/* Cuts one stream off and reads on from the others: what is left of parts of aborted packets is
 * skipped. */
static void test_multiparts_read_on(void)
{
    unsigned wrong = 0, skipped = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct ski_framing *cut = &multipart_test_stream[1 + round % (STREAMS - 1)].in;

        multipart_test_direct = round % 5;
        multipart_test_begin();
        for (unsigned i = 0; i < PACKETS; i++)
            multipart_test_send(i);
        multipart_test_feed_some(300);
        ski_framing_close(cut);
        wrong += multipart_test_list.list != NULL;
        for (unsigned i = 0; i < STREAMS; i++) {
            struct multipart_test_stream *s = &multipart_test_stream[i];

            wrong += s->in.packet || s->in.early || s->in.paused;
            skipped += multipart_test_skips(&s->in);
            while (&s->in != cut && multipart_test_skips(&s->in))
                multipart_test_feed(s);
        }
        wrong += multipart_test_wrong;
        multipart_test_end();
    }
    OK(wrong == 0 && skipped > 0, "streams skip the rest of %u parts of aborted packets", skipped);
}

/* Returns whether a part of @p bytes at @p at, early or not, of a packet of 6000 bytes whose first
 * part has 1000 is refused. */
static bool multipart_test_refuses(bool early, size_t bytes, size_t at)
{
    bool refused;

    multipart_test_direct = 2;
    multipart_test_begin();
    multipart_test_bytes[0] = 6000;
    multipart_test_append_head(0, SKI_FRAME_MULTIPART, 6000, 0, 1000);
    multipart_test_append(0, multipart_test_sent[0], 1000);
    multipart_test_append_head(1, SKI_FRAME_PART, bytes, 0, at);
    multipart_test_append(1, multipart_test_sent[0], BYTES < bytes ? BYTES : bytes);
    refused =
        !ski_framing_feed(&multipart_test_stream[early].in, multipart_test_stream[early].data,
                          multipart_test_stream[early].bytes) ||
        !ski_framing_feed(&multipart_test_stream[!early].in, multipart_test_stream[!early].data,
                          multipart_test_stream[!early].bytes);
    multipart_test_end();
    return refused;
}

static void test_multiparts_invalid(void)
{
    unsigned wrong = 0;

    for (int early = 0; early < 2; early++) {
        wrong += multipart_test_refuses(early, 5000, 1000);
        wrong += !multipart_test_refuses(early, 5001, 1000);
        wrong += !multipart_test_refuses(early, 5000, 1001);
        wrong += !multipart_test_refuses(early, 5000, SIZE_MAX - 100);
        wrong += !multipart_test_refuses(early, 100, SKI_DIRECT_HEAD - 1);
        wrong += !multipart_test_refuses(early, 5500, SKI_DIRECT_HEAD);
        wrong += !multipart_test_refuses(early, 1, 6000);
    }
    wrong += !multipart_test_refuses(false, 0, 1000);
    OK(wrong == 0, "parts outside of their packet are refused");
}

int main(void)
{
    multipart_test_random = tap_seed();
    test_multiparts_arrive();
    test_multiparts_abort();
    test_multiparts_read_on();
    test_multiparts_invalid();
    return tap_end();
}
