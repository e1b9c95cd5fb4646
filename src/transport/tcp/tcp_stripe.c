/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_stripe.c - see tcp_stripe.h. */
#include "transport/tcp/tcp_stripe.h"

#include <assert.h>
#include <stdlib.h>

/* ---- packets -------------------------------------------------------------------------- */

static struct ski_stripe *stripe_find(const struct ski_framing *s, uint64_t id)
{
    struct ski_stripe *stripe = s->stripes->list;

    while (stripe && (stripe->from != s->from || stripe->id != id))
        stripe = stripe->next;
    return stripe;
}

/* Returns the packet with the number @p id, made if there is none; NULL: memory is exhausted. */
static struct ski_stripe *stripe_get(struct ski_framing *s, uint64_t id)
{
    struct ski_stripe *stripe = stripe_find(s, id);

    if (stripe || !(stripe = calloc(1, sizeof *stripe)))
        return stripe;
    stripe->from     = s->from;
    stripe->id       = id;
    stripe->next     = s->stripes->list;
    s->stripes->list = stripe;
    return stripe;
}

static void stripe_unlink(struct ski_stripes *stripes, struct ski_stripe *stripe)
{
    struct ski_stripe **at = &stripes->list;

    while (*at != stripe) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = stripe->next;
}

static void stripe_free(struct ski_stripe *stripe)
{
    while (stripe->early) {
        struct ski_early_part *part = stripe->early;

        stripe->early = part->next;
        free(part);
    }
    free(stripe);
}

/* Delivers a packet that is complete, and lets the stream of its first part continue. */
static void stripe_deliver(struct ski_framing *s, struct ski_stripe *stripe)
{
    struct ski_framing *first = stripe->first;

    assert(stripe->known && stripe->left == 0 && stripe->streams == 0 && !stripe->early);
    stripe_unlink(s->stripes, stripe);
    if (first) {
        first->paused = false;
        s->stripes->changed(first);
    }
    if (stripe->kept > 0)
        s->up->recv_direct_done(s->owner, stripe->begin, stripe->bytes, stripe->room != NULL);
    else if (stripe->room)
        s->up->arrived(s->owner, stripe->room, stripe->bytes);
    stripe_free(stripe);
}

/* ---- parts ------------------------------------------------------------------------------ */

/* Lets a stream receive bytes @p at to @p end of a packet. */
static void stripe_receive(struct ski_framing *s, struct ski_stripe *stripe, size_t at, size_t end)
{
    s->room  = stripe->room;
    s->kept  = stripe->kept;
    s->got   = at;
    s->bytes = end;
}

/* Moves a part that came early to its place. */
static void stripe_place_early(struct ski_stripe *stripe, struct ski_early_part *part)
{
    struct ski_framing *s   = part->stream;
    size_t              got = s ? s->got : part->bytes;

    if (stripe->room)
        memcpy(stripe->room + part->offset - stripe->kept, part->data, got);
    if (s) {
        s->early = NULL;
        stripe_receive(s, stripe, part->offset + got, part->offset + part->bytes);
    } else {
        stripe->left -= part->bytes;
    }
}

/* Claims the bytes of a part.  Returns false if it does not lie in the packet behind what the first
 * part has, or other parts have claimed too many bytes. */
static bool stripe_claim(struct ski_stripe *stripe, size_t offset, size_t bytes)
{
    if (offset < SKI_DIRECT_HEAD || offset >= stripe->bytes || bytes > stripe->bytes - offset ||
        bytes > stripe->unclaimed)
        return false;
    stripe->unclaimed -= bytes;
    return true;
}

/* Moves all early parts to their places.  Returns false if one is invalid. */
static bool stripe_place_all_early(struct ski_stripe *stripe)
{
    while (stripe->early) {
        struct ski_early_part *part = stripe->early;

        if (!stripe_claim(stripe, part->offset, part->bytes))
            return false;
        stripe->early = part->next;
        stripe_place_early(stripe, part);
        free(part);
    }
    return true;
}

/* Asks the runtime where a packet belongs, of which the first SKI_DIRECT_HEAD bytes are there. */
static void stripe_resolve(struct ski_framing *s, struct ski_stripe *stripe)
{
    const unsigned char *begin = s->lead.begin;
    void                *to;
    size_t               n = 0;

    if (s->up->recv_direct)
        n = s->up->recv_direct(s->owner, begin, stripe->bytes, &to);
    if (n == 0)
        s->plain = SKI_FRAMING_PLAINS;
    assert(n < stripe->bytes && (n == 0 || stripe->bytes - n <= SKI_DIRECT_HEAD));
    stripe->kept = n > 0 ? stripe->bytes - n : 0;
    stripe->room = n > 0 ? to : s->up->alloc(s->owner, stripe->bytes);
    memcpy(stripe->begin, begin, SKI_DIRECT_HEAD);
    if (stripe->room)
        memcpy(stripe->room, begin + stripe->kept, SKI_DIRECT_HEAD - stripe->kept);
}

static bool stripe_begin_first(struct ski_framing *s, size_t bytes, size_t here)
{
    struct ski_stripe *stripe;

    if (here <= SKI_DIRECT_HEAD || here > bytes || !(stripe = stripe_get(s, s->lead.id)) ||
        stripe->known)
        return false;
    stripe->known = true;
    stripe->bytes = stripe->left = bytes;
    stripe->unclaimed            = bytes - here;
    stripe->first                = s;
    stripe_resolve(s, stripe);
    s->stripe     = stripe;
    s->part_bytes = here;
    stripe->streams++;
    stripe_receive(s, stripe, SKI_DIRECT_HEAD, here);
    return stripe_place_all_early(stripe);
}

/* Begins a part of a packet that has not begun. */
static bool stripe_begin_early(struct ski_framing *s, struct ski_stripe *stripe, size_t bytes)
{
    struct ski_early_part *part =
        bytes > SIZE_MAX - sizeof *part ? NULL : malloc(sizeof *part + bytes);

    if (!part)
        return false;
    *part         = (struct ski_early_part){stripe->early, s, s->lead.at, bytes};
    stripe->early = part;
    s->early      = part;
    s->room       = part->data;
    s->kept = s->got = 0;
    s->bytes         = bytes;
    return true;
}

static bool stripe_begin_part(struct ski_framing *s, size_t bytes)
{
    struct ski_stripe *stripe = stripe_get(s, s->lead.id);
    size_t             offset = s->lead.at;

    if (!stripe)
        return false;
    s->stripe     = stripe;
    s->part_bytes = bytes;
    stripe->streams++;
    if (!stripe->known)
        return stripe_begin_early(s, stripe, bytes);
    if (!stripe_claim(stripe, offset, bytes))
        return false;
    stripe_receive(s, stripe, offset, offset + bytes);
    return true;
}

bool ski_stripe_begin(struct ski_framing *s)
{
    bool   first = s->leading == SKI_FRAME_STRIPED, valid;
    size_t bytes = s->lead_bytes;

    assert(!s->stripe && !s->early);
    s->leading = 0;
    s->room    = NULL;
    s->bytes = s->got = s->kept = 0;
    valid = first ? stripe_begin_first(s, bytes, s->lead.at) : stripe_begin_part(s, bytes);
    s->stripes->changed(s);
    return valid;
}

void ski_stripe_end(struct ski_framing *s)
{
    struct ski_stripe *stripe = s->stripe;

    assert(stripe && stripe->streams > 0 && (!stripe->known || stripe->left >= s->part_bytes));
    stripe->streams--;
    if (s->early)
        s->early->stream = NULL;
    else
        stripe->left -= s->part_bytes;
    s->paused = s == stripe->first && stripe->left > 0;
    s->stripe = NULL;
    s->early  = NULL;
    s->stripes->changed(s);
    if (stripe->known && stripe->left == 0)
        stripe_deliver(s, stripe);
}

void ski_stripe_check_target(struct ski_framing *s)
{
    struct ski_stripe *stripe = s->stripe;
    void              *to     = stripe->room;

    if (to && s->up->recv_direct_continues)
        stripe->room = s->up->recv_direct_continues(s->owner, stripe->begin, &to) ? to : NULL;
    s->room = stripe->room;
}

/* ---- the end of streams --------------------------------------------------------------------- */

static void stripe_abort(struct ski_framing *s, struct ski_stripe *stripe)
{
    stripe_unlink(s->stripes, stripe);
    stripe->aborted = true;
    if (stripe->known && stripe->kept > 0)
        s->up->recv_direct_done(s->owner, stripe->begin, stripe->bytes, false);
    else if (stripe->known && stripe->room)
        s->up->abort(s->owner, stripe->room);
    stripe->room = NULL;
    if (stripe->first)
        stripe->first->paused = false;
    if (stripe->streams == 0)
        stripe_free(stripe);
}

static void stripe_abort_all(struct ski_framing *s)
{
    for (struct ski_stripe *stripe = s->stripes->list, *next; stripe; stripe = next) {
        next = stripe->next;
        if (stripe->from == s->from)
            stripe_abort(s, stripe);
    }
}

void ski_stripe_close(struct ski_framing *s)
{
    struct ski_stripe *stripe = s->stripe;

    if (!s->ended || s->invalid)
        stripe_abort_all(s);
    for (struct ski_stripe *other = s->stripes->list; other; other = other->next)
        if (other->first == s)
            other->first = NULL;
    s->stripe = NULL;
    s->early  = NULL;
    if (stripe && --stripe->streams == 0 && stripe->aborted)
        stripe_free(stripe);
}

void ski_stripes_free(struct ski_stripes *stripes)
{
    while (stripes->list) {
        struct ski_stripe *stripe = stripes->list;

        assert(stripe->streams == 0);
        stripes->list = stripe->next;
        stripe_free(stripe);
    }
}
