/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_multipart.c - see tcp_multipart.h. */
#include "transport/tcp/tcp_multipart.h"

#include <assert.h>
#include <stdlib.h>

/* ---- packets -------------------------------------------------------------------------- */

static struct ski_multipart *multipart_find(const struct ski_framing *s, uint64_t id)
{
    struct ski_multipart *packet = s->multiparts->list;

    while (packet && (packet->from != s->from || packet->id != id))
        packet = packet->next;
    return packet;
}

/* Returns the packet with the number @p id, made if there is none; NULL: memory is exhausted. */
static struct ski_multipart *multipart_get(struct ski_framing *s, uint64_t id)
{
    struct ski_multipart *packet = multipart_find(s, id);

    if (packet || !(packet = calloc(1, sizeof *packet)))
        return packet;
    packet->from        = s->from;
    packet->id          = id;
    packet->next        = s->multiparts->list;
    s->multiparts->list = packet;
    return packet;
}

static void multipart_unlink(struct ski_multiparts *multiparts, struct ski_multipart *packet)
{
    struct ski_multipart **at = &multiparts->list;

    while (*at != packet) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = packet->next;
}

static void multipart_free(struct ski_multipart *packet)
{
    while (packet->early) {
        struct ski_early_part *part = packet->early;

        packet->early = part->next;
        free(part);
    }
    free(packet);
}

/* Delivers a packet that is complete, and lets the stream of its first part continue. */
static void multipart_deliver(struct ski_framing *s, struct ski_multipart *packet)
{
    struct ski_framing *first = packet->first;

    assert(packet->known && packet->left == 0 && !packet->streams && !packet->early);
    multipart_unlink(s->multiparts, packet);
    if (first) {
        first->paused = false;
        s->multiparts->changed(first);
    }
    if (packet->kept > 0)
        s->up->recv_direct_done(s->owner, packet->begin, packet->bytes, packet->room != NULL);
    else if (packet->room)
        s->up->arrived(s->owner, packet->room, packet->bytes);
    multipart_free(packet);
}

bool ski_multiparts_expect(const struct ski_multiparts *multiparts, int from)
{
    const struct ski_multipart *packet = multiparts->list;

    while (packet && (packet->from != from || packet->unclaimed == 0))
        packet = packet->next;
    return packet != NULL;
}

/* ---- parts ------------------------------------------------------------------------------ */

/* Adds a stream to those that receive a part of a packet. */
static void multipart_join(struct ski_framing *s, struct ski_multipart *packet, size_t bytes)
{
    s->packet         = packet;
    s->part_bytes     = bytes;
    s->next_of_packet = packet->streams;
    packet->streams   = s;
}

/* Removes a stream from those that receive a part of its packet. */
static void multipart_leave(struct ski_framing *s)
{
    struct ski_framing **at = &s->packet->streams;

    while (*at != s) {
        assert(*at);
        at = &(*at)->next_of_packet;
    }
    *at       = s->next_of_packet;
    s->packet = NULL;
    s->early  = NULL;
}

/* Lets a stream receive bytes @p at to @p end of a packet. */
static void multipart_receive(struct ski_framing *s, struct ski_multipart *packet, size_t at,
                              size_t end)
{
    s->room  = packet->room;
    s->kept  = packet->kept;
    s->got   = at;
    s->bytes = end;
}

/* Moves a part that came early to its place. */
static void multipart_place_early(struct ski_multipart *packet, struct ski_early_part *part)
{
    struct ski_framing *s   = part->stream;
    size_t              got = s ? s->got : part->bytes;

    if (packet->room)
        memcpy(packet->room + part->offset - packet->kept, part->data, got);
    if (s) {
        s->early = NULL;
        multipart_receive(s, packet, part->offset + got, part->offset + part->bytes);
    } else {
        packet->left -= part->bytes;
    }
}

/* Claims the bytes of a part.  Returns false if it is not in the packet behind what the first
 * part has, or other parts have claimed too many bytes. */
static bool multipart_claim(struct ski_multipart *packet, size_t offset, size_t bytes)
{
    if (offset < SKI_DIRECT_HEAD || offset >= packet->bytes || bytes > packet->bytes - offset ||
        bytes > packet->unclaimed)
        return false;
    packet->unclaimed -= bytes;
    return true;
}

/* Moves all early parts to their places.  Returns false if one is invalid. */
static bool multipart_place_all_early(struct ski_multipart *packet)
{
    while (packet->early) {
        struct ski_early_part *part = packet->early;

        if (!multipart_claim(packet, part->offset, part->bytes))
            return false;
        packet->early = part->next;
        multipart_place_early(packet, part);
        free(part);
    }
    return true;
}

/* Asks the runtime where a packet belongs, of which the first SKI_DIRECT_HEAD bytes are there. */
static void multipart_resolve(struct ski_framing *s, struct ski_multipart *packet)
{
    const unsigned char *begin = s->lead.begin;
    void                *to;
    size_t               n = 0;

    if (s->up->recv_direct)
        n = s->up->recv_direct(s->owner, begin, packet->bytes, &to);
    if (n == 0)
        s->plain = SKI_FRAMING_PLAINS;
    assert(n < packet->bytes && (n == 0 || packet->bytes - n <= SKI_DIRECT_HEAD));
    packet->kept = n > 0 ? packet->bytes - n : 0;
    packet->room = n > 0 ? to : s->up->alloc(s->owner, packet->bytes);
    memcpy(packet->begin, begin, SKI_DIRECT_HEAD);
    if (packet->room)
        memcpy(packet->room, begin + packet->kept, SKI_DIRECT_HEAD - packet->kept);
}

static bool multipart_begin_first(struct ski_framing *s, size_t bytes, size_t here)
{
    struct ski_multipart *packet;

    if (here <= SKI_DIRECT_HEAD || here > bytes || !(packet = multipart_get(s, s->lead.id)) ||
        packet->known)
        return false;
    packet->known = true;
    packet->bytes = packet->left = bytes;
    packet->unclaimed            = bytes - here;
    packet->first                = s;
    multipart_resolve(s, packet);
    multipart_join(s, packet, here);
    multipart_receive(s, packet, SKI_DIRECT_HEAD, here);
    return multipart_place_all_early(packet);
}

/* Begins a part of a packet that has not begun. */
static bool multipart_begin_early(struct ski_framing *s, struct ski_multipart *packet, size_t bytes)
{
    struct ski_early_part *part =
        bytes > SIZE_MAX - sizeof *part ? NULL : malloc(sizeof *part + bytes);

    if (!part)
        return false;
    *part         = (struct ski_early_part){packet->early, s, s->lead.at, bytes};
    packet->early = part;
    s->early      = part;
    s->room       = part->data;
    s->kept = s->got = 0;
    s->bytes         = bytes;
    return true;
}

static bool multipart_begin_part(struct ski_framing *s, size_t bytes)
{
    struct ski_multipart *packet = multipart_get(s, s->lead.id);
    size_t                offset = s->lead.at;

    if (!packet)
        return false;
    multipart_join(s, packet, bytes);
    if (!packet->known)
        return multipart_begin_early(s, packet, bytes);
    if (!multipart_claim(packet, offset, bytes))
        return false;
    multipart_receive(s, packet, offset, offset + bytes);
    return true;
}

static bool multipart_begin(struct ski_framing *s)
{
    bool   first = s->leading == SKI_FRAME_MULTIPART, valid;
    size_t bytes = s->lead_bytes;

    assert(!s->packet && !s->early);
    s->leading = 0;
    s->room    = NULL;
    s->bytes = s->got = s->kept = 0;
    valid = first ? multipart_begin_first(s, bytes, s->lead.at) : multipart_begin_part(s, bytes);
    s->multiparts->changed(s);
    return valid;
}

/* Ends a part, and delivers its packet if it was the last one. */
static void multipart_end(struct ski_framing *s)
{
    struct ski_multipart *packet = s->packet;
    bool                  complete;

    assert(packet && (!packet->known || packet->left >= s->part_bytes));
    if (s->early)
        s->early->stream = NULL;
    else
        packet->left -= s->part_bytes;
    complete  = packet->known && packet->left == 0;
    s->paused = s == packet->first && !complete;
    multipart_leave(s);
    s->multiparts->changed(s); /* which may abort the packet, if it is not complete */
    if (complete)
        multipart_deliver(s, packet);
}

static void multipart_check_target(struct ski_framing *s)
{
    struct ski_multipart *packet = s->packet;
    void                 *to     = packet->room;

    if (to && s->up->recv_direct_continues)
        packet->room = s->up->recv_direct_continues(s->owner, packet->begin, &to) ? to : NULL;
    s->room = packet->room;
}

/* ---- the end of streams --------------------------------------------------------------------- */

/* Lets a stream skip the rest of its part. */
static void multipart_drop_target(struct ski_framing *s)
{
    multipart_leave(s);
    s->room = NULL;
    s->kept = 0;
    s->multiparts->changed(s);
}

/* The memory of the packet belongs to the runtime from then on, so no stream may keep a target in
 * it. */
static void multipart_abort(struct ski_multiparts *multiparts, struct ski_multipart *packet)
{
    multipart_unlink(multiparts, packet);
    while (packet->streams)
        multipart_drop_target(packet->streams);
    if (packet->known && packet->kept > 0)
        multiparts->up->recv_direct_done(multiparts->owner, packet->begin, packet->bytes, false);
    else if (packet->known && packet->room)
        multiparts->up->abort(multiparts->owner, packet->room);
    if (packet->first) {
        packet->first->paused = false;
        multiparts->changed(packet->first);
    }
    multipart_free(packet);
}

void ski_multiparts_abort(struct ski_multiparts *multiparts, int from)
{
    for (struct ski_multipart *packet = multiparts->list, *next; packet; packet = next) {
        next = packet->next;
        if (packet->from == from)
            multipart_abort(multiparts, packet);
    }
}

static void multipart_close(struct ski_framing *s)
{
    if (!s->ended || s->invalid)
        ski_multiparts_abort(s->multiparts, s->from);
    for (struct ski_multipart *other = s->multiparts->list; other; other = other->next)
        if (other->first == s)
            other->first = NULL;
    assert(!s->packet);
}

void ski_multiparts_free(struct ski_multiparts *multiparts)
{
    while (multiparts->list) {
        struct ski_multipart *packet = multiparts->list;

        assert(!packet->streams);
        multiparts->list = packet->next;
        multipart_free(packet);
    }
}

const struct ski_multipart_calls ski_multipart_calls = {multipart_begin, multipart_end,
                                                        multipart_check_target, multipart_close};
