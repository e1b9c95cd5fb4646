/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_framing.c - see tcp_framing.h. */
#include "transport/tcp/tcp_framing.h"

#include <assert.h>

#define FRAMING_BYTES_MASK (((uint64_t)1 << SKI_FRAME_TARGET_SHIFT) - 1)
#define FRAMING_PLAIN      ((uint64_t)SKI_FRAME_PACKET << 16) /* the kind, and no target */

static size_t framing_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Records the end of a packet. */
static void framing_note_end(struct ski_framing *s, size_t bytes)
{
    s->last = bytes;
    if (bytes < SKI_FRAMING_LARGE)
        return;
    s->plain -= s->plain > 0;
    s->exact -= s->exact > 0;
}

/* Records that the runtime has no place for a packet.  If it had one for the packet before, it was
 * perhaps asked too early; otherwise it is likely to have none for the next ones, either. */
static void framing_note_refusal(struct ski_framing *s)
{
    if (s->placed)
        s->exact = SKI_FRAMING_PLAINS;
    else
        s->plain = SKI_FRAMING_PLAINS;
    s->placed = false;
}

/* Handles the end of the beginning of a part, or of the part itself. */
static void framing_end_part(struct ski_framing *s)
{
    if (s->leading) {
        s->invalid = !s->calls->begin(s);
        s->ended   = s->invalid;
        return;
    }
    framing_note_end(s, s->part_bytes);
    s->calls->end(s);
    s->room  = NULL;
    s->bytes = s->got = s->kept = 0;
}

void ski_framing_ask_target(struct ski_framing *s)
{
    void *to = s->room;

    if (s->packet)
        s->calls->check_target(s);
    else
        s->room = s->up->recv_direct_continues(s->owner, s->begin, &to) ? to : NULL;
}

/* Delivers a packet that is complete. */
static void framing_end_packet(struct ski_framing *s)
{
    if (s->leading || s->packet) {
        framing_end_part(s);
        return;
    }
    if (s->kept > 0)
        s->up->recv_direct_done(s->owner, s->begin, s->bytes, s->room != NULL);
    else if (s->room)
        s->up->arrived(s->owner, s->room, s->bytes);
    framing_note_end(s, s->bytes);
    s->room  = NULL;
    s->bytes = s->got = s->kept = 0;
}

void ski_framing_received(struct ski_framing *s, size_t bytes)
{
    assert(bytes <= s->bytes - s->got);
    s->got += bytes;
    if (s->got == s->bytes)
        framing_end_packet(s);
}

static void framing_alloc(struct ski_framing *s, size_t bytes)
{
    assert(s->bytes == 0 && s->got == 0);
    s->room  = s->up->alloc(s->owner, bytes);
    s->bytes = bytes;
}

/* Begins a packet of which @p have bytes are there.  Returns how many of them were consumed. */
static size_t framing_begin_packet(struct ski_framing *s, const char *packet, size_t have,
                                   size_t bytes)
{
    void  *to;
    size_t n = 0;

    assert(s->bytes == 0 && !s->room && have < bytes);
    if (s->up->recv_direct && have >= SKI_DIRECT_HEAD)
        n = s->up->recv_direct(s->owner, packet, bytes, &to);
    if (n == 0) {
        if (have >= SKI_DIRECT_HEAD)
            framing_note_refusal(s);
        framing_alloc(s, bytes);
        return 0;
    }
    assert(n < bytes && bytes - n <= SKI_DIRECT_HEAD);
    s->placed = true;
    s->plain  = 0;
    s->room   = to;
    s->bytes  = bytes;
    s->kept = s->got = bytes - n;
    memcpy(s->begin, packet, s->kept);
    return s->kept;
}

/* Consumes bytes of the current packet.  Returns how many of them belong to it. */
static size_t framing_take_part(struct ski_framing *s, const char *data, size_t bytes)
{
    size_t n = framing_min(bytes, s->bytes - s->got);

    if (s->room)
        memcpy(s->room + s->got - s->kept, data, n);
    ski_framing_received(s, n);
    return n;
}

/* Delivers a packet that is complete in one piece. */
static void framing_take_whole(struct ski_framing *s, const char *packet, size_t bytes)
{
    if (s->up->recv_inline && s->up->recv_inline(s->owner, packet, bytes)) {
        framing_note_end(s, bytes);
        return;
    }
    framing_alloc(s, bytes);
    framing_take_part(s, packet, bytes);
}

/* Prepares for a part of a packet, if @p head is that of one.  Returns false if it is not. */
static bool framing_lead(struct ski_framing *s, uint64_t head, uint64_t bytes)
{
    bool first = head == ski_frame_head(SKI_FRAME_MULTIPART, bytes);

    if (!s->multiparts || bytes == 0 || !(first || head == ski_frame_head(SKI_FRAME_PART, bytes)))
        return false;
    s->leading    = first ? SKI_FRAME_MULTIPART : SKI_FRAME_PART;
    s->lead_bytes = bytes;
    s->room       = (char *)&s->lead;
    s->bytes      = first ? sizeof s->lead : SKI_MULTIPART_HEAD;
    return true;
}

/* Returns the bytes of the packet that follows a head, if that is plain: nearly all are; else 0. */
static inline uint64_t framing_plain_bytes(const struct ski_framing *s, uint64_t head)
{
    uint64_t bytes = head & FRAMING_BYTES_MASK;

    return head >> SKI_FRAME_TARGET_SHIFT == FRAMING_PLAIN && bytes >= SKI_PACKET_MIN && !s->owners
               ? bytes
               : 0;
}

/* Parses a head that is not plain: the end, a part of a packet, or a packet with a target, whose
 * owner it finds.  Returns whether it is valid; sets *@p packet to 0 if no packet follows. */
static bool framing_read_rare(struct ski_framing *s, uint64_t head, uint64_t *packet)
{
    size_t   target = head >> SKI_FRAME_TARGET_SHIFT & 0xffff;
    uint64_t bytes  = head & FRAMING_BYTES_MASK;

    *packet  = 0;
    s->moved = head == ski_frame_head(SKI_FRAME_MOVED, 0);
    s->ended = s->moved || head == ski_frame_head(SKI_FRAME_END, 0);
    if (s->ended || framing_lead(s, head, bytes))
        return true;
    *packet = bytes;
    if (!s->owners || target == 0 || target > s->owner_count || !s->owners[target - 1])
        return false;
    s->owner = s->owners[target - 1];
    return head >> 56 == SKI_FRAME_PACKET && bytes >= SKI_PACKET_MIN;
}

/* Consumes bytes of a head, up to @p end, and parses it when it is complete.  Returns whether it is
 * valid; sets *@p packet to 0 if no packet follows. */
static __attribute__((noinline)) bool framing_take_head(struct ski_framing *s, const char **data,
                                                        const char *end, uint64_t *packet)
{
    size_t   n = framing_min((size_t)(end - *data), SKI_FRAME_HEAD - s->head_got);
    uint64_t head;

    memcpy(s->head + s->head_got, *data, n);
    s->head_got += n;
    *data += n;
    *packet = 0;
    if (s->head_got < SKI_FRAME_HEAD)
        return true;
    memcpy(&head, s->head, sizeof head);
    s->head_got = 0;
    *packet     = framing_plain_bytes(s, head);
    return *packet > 0 || framing_read_rare(s, head, packet);
}

/* Consumes the head at @p data, if it is complete and plain.  Returns the bytes of the packet that
 * follows it; else 0. */
static inline uint64_t framing_take_plain(const struct ski_framing *s, const char **data,
                                          const char *end)
{
    uint64_t head, bytes;

    if ((size_t)(end - *data) < SKI_FRAME_HEAD || s->head_got > 0)
        return 0;
    memcpy(&head, *data, sizeof head);
    bytes = framing_plain_bytes(s, head);
    if (bytes > 0)
        *data += SKI_FRAME_HEAD;
    return bytes;
}

bool ski_framing_feed(struct ski_framing *s, const char *data, size_t bytes)
{
    const char *end = data + bytes;

    while (data < end && !s->ended) {
        uint64_t packet;

        if (s->bytes > 0) {
            data += framing_take_part(s, data, (size_t)(end - data));
            if (s->invalid)
                return false;
            continue;
        }
        packet = framing_take_plain(s, &data, end);
        if (packet == 0 && !framing_take_head(s, &data, end, &packet))
            return false;
        if (packet == 0)
            continue;
        if ((size_t)(end - data) >= packet) {
            framing_take_whole(s, data, packet);
            data += packet;
        } else {
            data += framing_begin_packet(s, data, (size_t)(end - data), packet);
        }
    }
    return data == end;
}

void ski_framing_close(struct ski_framing *s)
{
    bool part = s->leading || s->packet;

    if (s->multiparts)
        s->calls->close(s);
    if (part)
        ; /* what has arrived of it is no packet */
    else if (s->kept > 0)
        s->up->recv_direct_done(s->owner, s->begin, s->bytes, false);
    else if (s->room)
        s->up->abort(s->owner, s->room);
    s->room = NULL;
    s->kept = 0;
}
