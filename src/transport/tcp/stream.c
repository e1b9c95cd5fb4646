/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - see stream.h. */
#include "transport/tcp/stream.h"

#include <assert.h>

#define BYTES_MOST ((uint64_t)1 << 48) /* of a packet */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* All of the packet has come. */
static void end_packet(struct ski_stream *s)
{
    if (s->kept > 0)
        s->up->placed(s->owner, s->begin, s->bytes, true);
    else if (s->room)
        s->up->arrived(s->owner, s->room, s->bytes);
    s->room  = NULL;
    s->bytes = s->got = s->kept = 0;
}

void ski_stream_placed(struct ski_stream *s, size_t bytes)
{
    s->got += bytes;
    if (s->got == s->bytes)
        end_packet(s);
}

static void make_room(struct ski_stream *s, size_t bytes)
{
    s->room  = s->up->room(s->owner, bytes);
    s->bytes = bytes;
}

/* A packet of which there are @p have bytes; how many of them have been taken. */
static size_t begin_packet(struct ski_stream *s, const char *packet, size_t have, size_t bytes)
{
    void  *to;
    size_t n = 0;

    if (s->up->place && have >= SKI_PLACE_HEAD)
        n = s->up->place(s->owner, packet, bytes, &to);
    if (n == 0) {
        make_room(s, bytes);
        return 0;
    }
    assert(n < bytes && bytes - n <= SKI_PLACE_HEAD);
    s->room  = to;
    s->bytes = bytes;
    s->kept = s->got = bytes - n;
    memcpy(s->begin, packet, s->kept);
    return s->kept;
}

/* Bytes of the packet that is coming; how many of them belong to it. */
static size_t take_part(struct ski_stream *s, const char *data, size_t bytes)
{
    size_t n = least(bytes, s->bytes - s->got);

    if (s->room)
        memcpy(s->room + s->got - s->kept, data, n);
    ski_stream_placed(s, n);
    return n;
}

/* A packet that is there whole. */
static void take_whole(struct ski_stream *s, const char *packet, size_t bytes)
{
    if (s->up->taken && s->up->taken(s->owner, packet, bytes))
        return;
    make_room(s, bytes);
    take_part(s, packet, bytes);
}

/* Of a head that is complete: whether it makes sense. */
static bool read_head(struct ski_stream *s, uint64_t *bytes)
{
    uint64_t head;

    memcpy(&head, s->head, sizeof head);
    s->head_got = 0;
    *bytes      = head & (((uint64_t)1 << 56) - 1);
    s->ended    = head == ski_stream_head(SKI_STREAM_END, 0);
    return s->ended ||
           (head >> 56 == SKI_STREAM_PACKET && *bytes >= SKI_PACKET_LEAST && *bytes <= BYTES_MOST);
}

bool ski_stream_take(struct ski_stream *s, const char *data, size_t bytes)
{
    const char *end = data + bytes;

    while (data < end && !s->ended) {
        uint64_t packet;
        size_t   n;

        if (s->bytes > 0) {
            data += take_part(s, data, (size_t)(end - data));
            continue;
        }
        n = least((size_t)(end - data), SKI_STREAM_HEAD - s->head_got);
        memcpy(s->head + s->head_got, data, n);
        data += n;
        s->head_got += n;
        if (s->head_got < SKI_STREAM_HEAD)
            break;
        if (!read_head(s, &packet))
            return false;
        if (s->ended)
            break;
        if ((size_t)(end - data) >= packet) {
            take_whole(s, data, packet);
            data += packet;
        } else {
            data += begin_packet(s, data, (size_t)(end - data), packet);
        }
    }
    return data == end;
}

void ski_stream_close(struct ski_stream *s)
{
    if (s->kept > 0)
        s->up->placed(s->owner, s->begin, s->bytes, false);
    else if (s->room)
        s->up->spoilt(s->owner, s->room);
    s->room = NULL;
    s->kept = 0;
}
