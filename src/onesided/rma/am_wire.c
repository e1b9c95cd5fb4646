/* SPDX-License-Identifier: Apache-2.0 */
/* am_wire.c - see am_wire.h. */
#include "onesided/rma/am_wire.h"

#include "base/assert.h"
#include "core/collective/collective.h"

/* ---- encoding ------------------------------------------------------------------- */

static void am_wire_put(struct ski_am_encoded *e, uint32_t word)
{
    ski_assert(e->words < sizeof e->word / sizeof *e->word);
    e->word[e->words++] = word;
}

static void am_wire_put_bits(struct ski_am_encoded *e, uint64_t bits, size_t bytes)
{
    am_wire_put(e, (uint32_t)bits);
    if (bytes > 4)
        am_wire_put(e, (uint32_t)(bits >> 32));
}

/* Adds the notification and the signal of an operation. */
static void am_wire_put_params(struct ski_am_encoded *e, const struct ski_am_request *r)
{
    if (r->notify.region.id) {
        e->head.kind |= SKI_AM_NOTIFY;
        am_wire_put(e, r->notify.region.id);
        am_wire_put(e, (uint32_t)r->notify.offset);
        if (r->notify_add != 1) {
            e->head.kind |= SKI_AM_NOTIFY_ADD;
            am_wire_put_bits(e, r->notify_add, 8);
        }
    }
    if (r->signal) {
        e->head.kind |= SKI_AM_SIGNAL;
        am_wire_put(e, r->signal);
        am_wire_put(e, (uint32_t)r->signal_bytes);
    }
}

static void am_wire_put_accumulate(struct ski_am_encoded *e, const struct ski_am_request *r)
{
    size_t bytes = ski_type_size((skua_type)r->type);

    am_wire_put(e, r->op | r->type << 16);
    if (!r->scaled)
        return;
    e->head.kind |= SKI_AM_SCALED;
    am_wire_put_bits(e, r->scale[0], bytes);
    if (bytes > 8)
        am_wire_put_bits(e, r->scale[1], 8);
}

static void am_wire_put_atomic(struct ski_am_encoded *e, const struct ski_atomic *a)
{
    am_wire_put(e, a->op | (uint32_t)a->type << 16);
    if (a->op != SKUA_ATOMIC_LOAD)
        am_wire_put_bits(e, a->value, a->bytes);
    if (a->op == SKUA_ATOMIC_COMPARE_SWAP)
        am_wire_put_bits(e, a->expected, a->bytes);
}

static void am_wire_put_verb(struct ski_am_encoded *e, const struct ski_am_request *r)
{
    if (r->verb == SKI_RMA_ACCUMULATE)
        am_wire_put_accumulate(e, r);
    else if (r->verb == SKI_RMA_ATOMIC)
        am_wire_put_atomic(e, &r->atomic);
    else if (r->verb == SKI_RMA_GET && r->blocks == 0)
        am_wire_put(e, (uint32_t)r->total);
}

static void am_wire_put_blocks(struct ski_am_encoded *e, const struct ski_am_request *r)
{
    if (r->blocks == 0)
        return;
    e->head.kind |= r->is_offsets ? SKI_AM_OFFSETS : SKI_AM_RUNS;
    if (r->is_offsets)
        am_wire_put(e, r->block_bytes);
    am_wire_put(e, r->blocks);
}

static void am_wire_put_acks(struct ski_am_encoded *e, const struct ski_am_request *r)
{
    ski_assert(r->ack_count <= SKI_AM_ACKS_MAX);
    e->head.kind |= SKI_AM_ACKS;
    am_wire_put(e, r->ack_count);
    for (uint32_t i = 0; i < r->ack_count; i++)
        am_wire_put(e, r->ack[i]);
}

void ski_am_encode(const struct ski_am_request *r, int origin, int server, struct ski_am_encoded *e)
{
    e->head  = (struct ski_am_head){(uint16_t)r->verb, 0, r->id, r->remote.region.id,
                                    (uint32_t)r->remote.offset};
    e->words = 0;
    if ((r->remote.offset | r->notify.offset) >> 32) {
        e->head.kind |= SKI_AM_WIDE;
        am_wire_put(e, (uint32_t)(r->remote.offset >> 32));
        am_wire_put(e, (uint32_t)(r->notify.offset >> 32));
    }
    if (r->remote.pe != server) {
        e->head.kind |= SKI_AM_PE;
        am_wire_put(e, (uint32_t)r->remote.pe);
    }
    if (r->signal && r->source != origin) {
        e->head.kind |= SKI_AM_SOURCE;
        am_wire_put(e, (uint32_t)r->source);
    }
    if (r->notify.region.id | r->signal)
        am_wire_put_params(e, r);
    if (r->deferrable)
        e->head.kind |= SKI_AM_DEFERRABLE;
    if (r->relaxed)
        e->head.kind |= SKI_AM_RELAXED;
    am_wire_put_verb(e, r);
    am_wire_put_blocks(e, r);
    if (r->ack_count > 0)
        am_wire_put_acks(e, r);
    if (e->words % 2) /* no stray memory leaves the host */
        e->word[e->words] = 0;
}

/* ---- decoding ------------------------------------------------------------------- */

/* The words that are left; `bad` once more were read than there are. */
struct am_words {
    const char *at, *end;
    bool        bad;
};

static uint32_t am_wire_get(struct am_words *w)
{
    uint32_t word = 0;

    if (w->end - w->at < (ptrdiff_t)sizeof word) {
        w->bad = true;
        return 0;
    }
    memcpy(&word, w->at, sizeof word);
    w->at += sizeof word;
    return word;
}

static uint64_t am_wire_get_bits(struct am_words *w, size_t bytes)
{
    uint64_t low = am_wire_get(w);

    return bytes > 4 ? low | (uint64_t)am_wire_get(w) << 32 : low;
}

static void am_wire_get_params(struct am_words *w, uint32_t kind, uint32_t notify_high,
                               struct ski_am_request *r)
{
    if (kind & SKI_AM_NOTIFY) {
        r->notify.pe        = r->remote.pe;
        r->notify.region.id = am_wire_get(w);
        r->notify.offset    = (uint64_t)notify_high << 32 | am_wire_get(w);
        r->notify_add       = kind & SKI_AM_NOTIFY_ADD ? am_wire_get_bits(w, 8) : 1;
    }
    if (kind & SKI_AM_SIGNAL) {
        r->signal       = am_wire_get(w);
        r->signal_bytes = am_wire_get(w);
    }
}

static void am_wire_get_accumulate(struct am_words *w, uint32_t kind, struct ski_am_request *r)
{
    uint32_t both = am_wire_get(w);
    size_t   bytes;

    r->op     = both & 0xffff;
    r->type   = both >> 16;
    r->scaled = kind & SKI_AM_SCALED;
    if (!r->scaled)
        return;
    bytes = ski_type_size((skua_type)r->type);
    if (bytes == 0 || bytes > sizeof r->scale) {
        w->bad = true;
        return;
    }
    r->scale[0] = am_wire_get_bits(w, bytes);
    r->scale[1] = bytes > 8 ? am_wire_get_bits(w, 8) : 0;
}

static void am_wire_get_atomic(struct am_words *w, struct ski_atomic *a)
{
    uint32_t both = am_wire_get(w);

    a->op    = both & 0xffff;
    a->type  = (uint16_t)(both >> 16);
    a->bytes = (uint32_t)ski_type_size((skua_type)a->type);
    if (!ski_atomic_is_valid(a)) {
        w->bad = true;
        return;
    }
    a->value    = a->op == SKUA_ATOMIC_LOAD ? 0 : am_wire_get_bits(w, a->bytes);
    a->expected = a->op == SKUA_ATOMIC_COMPARE_SWAP ? am_wire_get_bits(w, a->bytes) : 0;
}

static void am_wire_get_verb(struct am_words *w, uint32_t kind, struct ski_am_request *r)
{
    switch (r->verb) {
    case SKI_RMA_ACCUMULATE: am_wire_get_accumulate(w, kind, r); break;
    case SKI_RMA_ATOMIC: am_wire_get_atomic(w, &r->atomic); break;
    case SKI_RMA_GET:
        if (!(kind & (SKI_AM_OFFSETS | SKI_AM_RUNS)))
            r->total = am_wire_get(w);
        break;
    default: break;
    }
}

static void am_wire_get_blocks(struct am_words *w, uint32_t kind, struct ski_am_request *r)
{
    r->is_offsets = kind & SKI_AM_OFFSETS;
    if (r->is_offsets)
        r->block_bytes = am_wire_get(w);
    if (kind & (SKI_AM_OFFSETS | SKI_AM_RUNS)) {
        r->blocks = am_wire_get(w);
        w->bad |= r->blocks == 0 || (kind & SKI_AM_OFFSETS && kind & SKI_AM_RUNS);
    }
}

/* Reads the ids of requests that are acknowledged. Returns their number. */
static uint32_t am_wire_get_acks(struct am_words *w, uint32_t *ack)
{
    uint32_t count = am_wire_get(w);

    if (count == 0 || count > SKI_AM_ACKS_MAX) {
        w->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < count; i++)
        ack[i] = am_wire_get(w);
    return count;
}

/* Computes the extent of a run. Returns false if it overflows. */
static bool am_wire_run_extent(const struct ski_am_run *run, ptrdiff_t *lo, ptrdiff_t *hi)
{
    int64_t last, first_end, last_end;

    if (run->count == 0 || run->bytes == 0 ||
        __builtin_mul_overflow((int64_t)run->count - 1, run->stride, &last) ||
        __builtin_add_overflow(run->remote, last, &last) ||
        __builtin_add_overflow(run->remote, (int64_t)run->bytes, &first_end) ||
        __builtin_add_overflow(last, (int64_t)run->bytes, &last_end))
        return false;
    *lo = run->remote < last ? run->remote : last;
    *hi = first_end > last_end ? first_end : last_end;
    return true;
}

/* Computes the extent of blocks of one size at offsets. Returns false if it overflows. */
static bool am_wire_offsets_extent(struct ski_am_request *r)
{
    int32_t least = INT32_MAX, most = INT32_MIN;

    for (uint32_t i = 0; i < r->blocks; i++) {
        int32_t offset = ski_am_offset(r, i);

        least = offset < least ? offset : least;
        most  = offset > most ? offset : most;
    }
    r->lo = least < 0 ? least : 0;
    r->hi = (ptrdiff_t)most + r->block_bytes > 0 ? (ptrdiff_t)most + r->block_bytes : 0;
    return r->block_bytes > 0 &&
           !__builtin_add_overflow(r->total, (size_t)r->block_bytes * r->blocks, &r->total) &&
           r->total <= SKI_AM_DATA_MAX;
}

/* Computes the bytes of all blocks and the extent that they touch. Returns false if they overflow.
 * Whether the extent is in the region is checked by ski_resolve(). */
static bool am_wire_extent(struct ski_am_request *r)
{
    if (r->verb == SKI_RMA_ATOMIC || r->verb == SKI_RMA_RKEY_QUERY) {
        r->hi = r->verb == SKI_RMA_ATOMIC ? (ptrdiff_t)r->atomic.bytes : 0;
        return r->blocks == 0;
    }
    if (r->blocks == 0)
        r->hi = (ptrdiff_t)r->total;
    if (r->is_offsets && r->blocks > 0)
        return am_wire_offsets_extent(r);
    for (uint32_t i = 0; i < r->blocks; i++) {
        struct ski_am_run run = ski_am_block(r, i);
        ptrdiff_t         lo, hi;

        if (!am_wire_run_extent(&run, &lo, &hi) ||
            __builtin_add_overflow(r->total, (size_t)run.bytes * run.count, &r->total))
            return false;
        r->lo = lo < r->lo ? lo : r->lo;
        r->hi = hi > r->hi ? hi : r->hi;
    }
    return r->total <= SKI_AM_DATA_MAX;
}

/* Finds blocks, data and signal after the words; @p length is that of the request, of which
 * @p visible bytes can be read. */
static bool am_wire_layout(struct ski_am_request *r, size_t at, size_t length, size_t visible,
                           const char *begin)
{
    size_t list;

    at   = (at + 7) & ~(size_t)7;
    list = ski_am_list_bytes(r);
    if (at > length || list > length - at || (list > 0 && at + list > visible))
        return false;
    r->list = begin + at;
    at += list;
    if (r->signal_bytes > length - at)
        return false;
    r->data       = begin + at;
    r->data_bytes = length - at - r->signal_bytes;
    if (!ski_am_reply_has_data(r->verb) && r->verb != SKI_RMA_ATOMIC && r->blocks == 0)
        r->total = r->data_bytes;
    if (!am_wire_extent(r))
        return false;
    return r->verb == SKI_RMA_PUT || r->verb == SKI_RMA_ACCUMULATE ? r->total == r->data_bytes
                                                                   : r->data_bytes == 0;
}

/* Returns the bytes from a request to the next one: it ends on 8 bytes, or with the message. */
static size_t am_wire_next(const struct ski_am_head *head, size_t bytes)
{
    size_t whole = ((size_t)head->bytes + 7) & ~(size_t)7;

    return head->bytes && whole < bytes ? whole : bytes;
}

bool ski_am_decode(struct ski_am_span span, int origin, int server, struct ski_am_request *r,
                   uint32_t *id)
{
    struct ski_am_head head;
    struct am_words    w;
    uint32_t           high = 0, notify_high = 0;
    size_t             length, visible;

    *id = SKI_AM_NO_ID;
    memset(r, 0, sizeof *r);
    if (span.visible < sizeof head)
        return false;
    memcpy(&head, span.at, sizeof head);
    *id     = head.id;
    length  = head.bytes ? head.bytes : span.bytes;
    visible = length < span.visible ? length : span.visible;
    if (length > span.bytes || length < sizeof head)
        return false;
    r->length = am_wire_next(&head, span.bytes);
    if ((head.kind & SKI_AM_VERB) > SKI_RMA_RKEY_QUERY)
        return false;
    w       = (struct am_words){span.at + sizeof head, span.at + visible, false};
    r->verb = (enum ski_rma_verb)(head.kind & SKI_AM_VERB);
    r->id   = head.id;
    if (head.kind & SKI_AM_WIDE) {
        high        = am_wire_get(&w);
        notify_high = am_wire_get(&w);
    }
    r->remote     = (skua_gaddr){server, {head.region}, (uint64_t)high << 32 | head.offset};
    r->source     = origin;
    r->deferrable = head.kind & SKI_AM_DEFERRABLE;
    r->relaxed    = head.kind & SKI_AM_RELAXED;
    if (head.kind & SKI_AM_PE)
        r->remote.pe = (int32_t)am_wire_get(&w);
    if (head.kind & SKI_AM_SOURCE)
        r->source = (int32_t)am_wire_get(&w);
    if (head.kind & (SKI_AM_NOTIFY | SKI_AM_SIGNAL))
        am_wire_get_params(&w, head.kind, notify_high, r);
    am_wire_get_verb(&w, head.kind, r);
    am_wire_get_blocks(&w, head.kind, r);
    if (head.kind & SKI_AM_ACKS)
        r->ack_count = am_wire_get_acks(&w, r->ack);
    return !w.bad && am_wire_layout(r, (size_t)(w.at - span.at), length, visible, span.at);
}

bool ski_am_decode_put(const char *at, size_t bytes, struct ski_am_put *put)
{
    const uint32_t     flags = SKI_AM_NOTIFY | SKI_AM_NOTIFY_ADD | SKI_AM_ACKS | SKI_AM_RELAXED;
    struct ski_am_head head;
    struct am_words    w = {at + sizeof head, at + bytes, false};
    size_t             words;

    if (bytes < sizeof head)
        return false;
    memcpy(&head, at, sizeof head);
    if (head.bytes || (head.kind & ~flags) != SKI_RMA_PUT || head.id == SKI_AM_NO_ID)
        return false;
    put->id         = head.id;
    put->region     = head.region;
    put->offset     = head.offset;
    put->has_notify = head.kind & SKI_AM_NOTIFY;
    put->relaxed    = head.kind & SKI_AM_RELAXED;
    put->notify_add = 1;
    put->ack_count  = 0;
    if (put->has_notify) {
        put->notify_region = am_wire_get(&w);
        put->notify_offset = am_wire_get(&w);
        if (head.kind & SKI_AM_NOTIFY_ADD)
            put->notify_add = am_wire_get_bits(&w, 8);
        put->has_notify = put->notify_region != 0;
    }
    if (head.kind & SKI_AM_ACKS)
        put->ack_count = am_wire_get_acks(&w, put->ack);
    words = ((size_t)(w.at - at) + 7) & ~(size_t)7;
    if (w.bad || words > bytes || bytes - words > SKI_AM_DATA_MAX)
        return false;
    put->data  = at + words;
    put->bytes = bytes - words;
    return true;
}

/* ---- replies -------------------------------------------------------------------- */

size_t ski_am_reply_decode(const char *at, size_t bytes, struct ski_am_reply *reply)
{
    size_t record = sizeof *reply;

    if (bytes < sizeof *reply)
        return 0;
    memcpy(reply, at, sizeof *reply);
    switch (reply->kind) {
    case SKI_AM_ACK: record = reply->count > 0 ? ski_am_ack_bytes(reply->count) : 0; break;
    case SKI_AM_VALUE: record += sizeof(uint64_t); break;
    case SKI_AM_DATA: record = bytes; break;
    case SKI_AM_FAILED: break;
    default: return 0;
    }
    return record <= bytes ? record : 0;
}
