/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.c - pairs two layouts, and checks, copies and iterates over the pair.
 *
 * Strided and indexed transfers live on copies of small blocks: for the sizes of C's types the
 * inner loop is a load, a store and two additions.
 */
#include "onesided/rma/datatype.h"

#include <stdint.h>
#include <string.h>

#include "base/arch.h"
#include "base/assert.h"
#include "base/copy.h"
#include "base/log.h"

/* ---- pairs ----------------------------------------------------------------- */

/* Returns whether both sides have the same blocks, equally many at each level. */
static inline bool datatype_same_blocks(const skua_layout *a, const skua_layout *b)
{
    int levels = a->strided.levels;

    if (a->bytes != b->bytes || levels != b->strided.levels ||
        (unsigned)levels > SKUA_LAYOUT_LEVELS)
        return false;
    for (int i = 0; i < levels; i++)
        if (a->strided.count[i] != b->strided.count[i])
            return false;
    return true;
}

/* Computes the strides of a contiguous side with the blocks of @p like. Returns false if it does
 * not have @p bytes.
 */
static bool datatype_packed_strides(const skua_layout *like, size_t bytes, ptrdiff_t *stride)
{
    size_t step = like->bytes;

    if ((unsigned)like->strided.levels > SKUA_LAYOUT_LEVELS)
        return false;
    for (int i = 0; i < like->strided.levels; i++) {
        stride[i] = (ptrdiff_t)step;
        if (__builtin_mul_overflow(step, like->strided.count[i], &step) || step > PTRDIFF_MAX)
            return false;
    }
    return step == bytes;
}

static void datatype_set_strided(struct ski_datatype *d, const skua_layout *of,
                                 const ptrdiff_t *local, const ptrdiff_t *remote)
{
    d->kind    = SKI_DATATYPE_STRIDED;
    d->bytes   = of->bytes;
    d->strided = (struct ski_stride_pairs){of->strided.levels, of->strided.count, local, remote};
}

/* Pairs a contiguous side of @p bytes with another. Returns false if they need a closer look. */
static bool datatype_pair_block(struct ski_datatype *d, size_t bytes, const skua_layout *other,
                                bool other_is_local, ptrdiff_t *packed)
{
    size_t total;

    d->bytes = other->bytes;
    switch (other->kind) {
    case SKUA_LAYOUT_CONTIGUOUS: d->kind = SKI_DATATYPE_CONTIGUOUS; return bytes == other->bytes;
    case SKUA_LAYOUT_STRIDED:
        datatype_set_strided(d, other, other_is_local ? other->strided.stride : packed,
                             other_is_local ? packed : other->strided.stride);
        return datatype_packed_strides(other, bytes, packed);
    case SKUA_LAYOUT_INDEXED:
        d->kind    = SKI_DATATYPE_INDEXED;
        d->count   = other->indexed.count;
        d->indexed = other_is_local ? (struct ski_offset_pairs){other->indexed.offset, NULL}
                                    : (struct ski_offset_pairs){NULL, other->indexed.offset};
        return other->indexed.offset &&
               !__builtin_mul_overflow(other->bytes, other->indexed.count, &total) &&
               total == bytes;
    case SKUA_LAYOUT_LIST:
        d->kind  = SKI_DATATYPE_LIST;
        d->bytes = bytes;
        d->count = other->list.count;
        d->list  = other_is_local ? (struct ski_block_pairs){other->list.block, NULL}
                                  : (struct ski_block_pairs){NULL, other->list.block};
        return other->list.block != NULL;
    }
    return false;
}

/* Pairs two sides of the same kind, neither of them contiguous. Returns false if they need a closer
 * look. */
static bool datatype_pair_same(struct ski_datatype *d, const skua_layout *local,
                               const skua_layout *remote)
{
    if (local->kind == SKUA_LAYOUT_STRIDED) {
        datatype_set_strided(d, local, local->strided.stride, remote->strided.stride);
        return datatype_same_blocks(local, remote);
    }
    d->count = local->list.count;
    if (local->list.count != remote->list.count || !local->list.block || !remote->list.block)
        return false;
    if (local->kind == SKUA_LAYOUT_INDEXED) {
        d->kind    = SKI_DATATYPE_INDEXED;
        d->bytes   = local->bytes;
        d->indexed = (struct ski_offset_pairs){local->indexed.offset, remote->indexed.offset};
        return local->bytes == remote->bytes;
    }
    d->kind  = SKI_DATATYPE_LIST;
    d->bytes = 0;
    d->list  = (struct ski_block_pairs){local->list.block, remote->list.block};
    return true;
}

void ski_datatype_pair(struct ski_datatype *d, const skua_layout *local, const skua_layout *remote,
                       ptrdiff_t packed[SKUA_LAYOUT_LEVELS])
{
    bool paired;

    d->local         = local->at;
    d->count         = 1;
    d->layout_local  = local;
    d->layout_remote = remote;
    if (ski_layout_is_block(local))
        paired = datatype_pair_block(d, local->bytes, remote, false, packed);
    else if (ski_layout_is_block(remote))
        paired = datatype_pair_block(d, remote->bytes, local, true, packed);
    else
        paired = local->kind == remote->kind && datatype_pair_same(d, local, remote);
    if (SKI_UNLIKELY(!paired)) {
        d->kind  = SKI_DATATYPE_MIXED;
        d->bytes = 0;
    }
}

/* ---- checks --------------------------------------------------------------- */

/* Both sides are one block of the same size; the region will tell whether it is too large. */
static skua_status datatype_check_block(size_t bytes, struct ski_extent *remote, size_t *sizes)
{
    *remote = (struct ski_extent){
        .bytes = bytes, .hi = bytes < PTRDIFF_MAX ? (ptrdiff_t)bytes : PTRDIFF_MAX, .sizes = bytes};
    *sizes = bytes;
    return SKUA_OK;
}

skua_status ski_datatype_check(const char *call, const struct ski_datatype *d, enum ski_side writes,
                               struct ski_extent *remote, size_t *sizes)
{
    struct ski_extent local;
    skua_status       status;

    if (!d->layout_local)
        return datatype_check_block(d->bytes, remote, sizes);
    status =
        ski_layout_extent(call, "remote ", d->layout_remote, writes == SKI_SIDE_REMOTE, remote);
    if (status == SKUA_OK)
        status =
            ski_layout_extent(call, "local ", d->layout_local, writes == SKI_SIDE_LOCAL, &local);
    if (status != SKUA_OK)
        return status;
    if (local.bytes != remote->bytes)
        return ski_refuse(SKUA_ERR_INVAL,
                          "%s: the local layout has %zu bytes, and the remote layout has %zu", call,
                          local.bytes, remote->bytes);
    *sizes     = local.sizes | remote->sizes;
    remote->lo = remote->lo < 0 ? remote->lo : 0;
    remote->hi = remote->hi > 0 ? remote->hi : 0;
    return SKUA_OK;
}

/* ---- the quick look -------------------------------------------------------- */

#define SANE ((size_t)1 << 31) /* products of two such numbers do not overflow */

static bool datatype_strided_fits(const struct ski_stride_pairs *s, size_t bytes,
                                  enum ski_side writes, uint64_t offset, uint64_t room,
                                  size_t place_mask)
{
    const ptrdiff_t *written = writes == SKI_SIDE_REMOTE ? s->remote : s->local;
    size_t           span    = bytes; /* of the side that is written */
    size_t           reach   = bytes; /* of the remote side          */

    if (bytes >= SANE)
        return false;
    for (int i = 0; i < s->levels; i++) {
        size_t count = s->count[i], stride = (size_t)written[i], step = (size_t)s->remote[i];

        if (count == 1)
            continue;
        if (count - 1 >= SANE || stride >= SANE || step >= SANE || stride < span ||
            step & place_mask)
            return false; /* empty, huge, backwards, or perhaps overlapping */
        span += (count - 1) * stride;
        reach += (count - 1) * step;
    }
    return span < SANE * SANE / 2 && reach <= room && offset <= room - reach;
}

static bool datatype_indexed_fits(const struct ski_datatype *d, uint64_t offset, uint64_t room,
                                  size_t place_mask)
{
    const ptrdiff_t *remote = d->indexed.remote;

    if (d->bytes > room)
        return false;
    if (!remote)
        return d->bytes * d->count <= room && offset <= room - d->bytes * d->count;
    for (size_t i = 0; i < d->count; i++) {
        uint64_t at = offset + (uint64_t)remote[i];

        if (at > room - d->bytes || at & place_mask)
            return false;
    }
    return true;
}

/* Returns the bytes of block @p i of a list, and its offset at the remote side, where @p left bytes
 * of the contiguous side are not used yet; SIZE_MAX: the sides do not match in it. */
static inline size_t datatype_list_block(const struct ski_datatype *d, size_t i, size_t left,
                                         ptrdiff_t *remote)
{
    const skua_block *here = d->list.local, *there = d->list.remote;
    size_t            bytes = there ? there[i].bytes : here[i].bytes;

    *remote = there ? there[i].offset : (ptrdiff_t)(d->bytes - left);
    return (here && there) ? (here[i].bytes == bytes ? bytes : SIZE_MAX)
                           : (bytes <= left ? bytes : SIZE_MAX);
}

static bool datatype_list_fits(const struct ski_datatype *d, uint64_t offset, uint64_t room,
                               size_t place_mask, size_t size_mask)
{
    size_t    left = d->bytes;
    ptrdiff_t remote;

    for (size_t i = 0; i < d->count; i++) {
        size_t   bytes = datatype_list_block(d, i, left, &remote);
        uint64_t at    = offset + (uint64_t)remote;

        if (bytes > room || at > room - bytes || at & place_mask || bytes & size_mask)
            return false;
        left -= d->list.local && d->list.remote ? 0 : bytes;
    }
    return left == 0;
}

bool ski_datatype_fits(const struct ski_datatype *d, enum ski_side writes, uint64_t offset,
                       uint64_t room, size_t element)
{
    size_t size_mask = element - 1, place_mask = size_mask & 7;

    ski_assert(element > 0 && (element & size_mask) == 0);
    if ((d->bytes & size_mask) || (offset & place_mask))
        return false;
    switch (d->kind) {
    case SKI_DATATYPE_CONTIGUOUS: return d->bytes <= room && offset <= room - d->bytes;
    case SKI_DATATYPE_STRIDED:
        return datatype_strided_fits(&d->strided, d->bytes, writes, offset, room, place_mask);
    case SKI_DATATYPE_INDEXED: return datatype_indexed_fits(d, offset, room, place_mask);
    case SKI_DATATYPE_LIST: return datatype_list_fits(d, offset, room, place_mask, size_mask);
    case SKI_DATATYPE_MIXED: break;
    }
    return false;
}

/* ---- copying --------------------------------------------------------------- */

typedef struct {
    uint64_t low, high;
} pair;

/* A row of @p n blocks, for each size that C's types have, and any other. */
#define ROW(name, type)                                                                            \
    static void name(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,       \
                     size_t n, size_t bytes)                                                       \
    {                                                                                              \
        (void)bytes;                                                                               \
        for (; n > 0; n--, to += to_stride, from += from_stride)                                   \
            __builtin_memcpy(to, from, sizeof(type));                                              \
    }

ROW(datatype_row_1, uint8_t)
ROW(datatype_row_2, uint16_t)
ROW(datatype_row_4, uint32_t)
ROW(datatype_row_8, uint64_t)
ROW(datatype_row_16, pair)

static void datatype_row_any(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                             size_t n, size_t bytes)
{
    for (; n > 0; n--, to += to_stride, from += from_stride)
        memcpy(to, from, bytes);
}

#define CHUNK ((size_t)512)

/* Blocks of some chunks that are read from apart: the hardware does not prefetch from one to the
 * next, so while a chunk of this one is copied the same chunk of the next is fetched.  A fifth to a
 * third faster where the cache is too small for all.  In larger blocks the hardware is faster, up
 * to twice. */
static void datatype_row_chunks(char *to, ptrdiff_t to_stride, const char *from,
                                ptrdiff_t from_stride, size_t n, size_t bytes)
{
    for (; n > 1; n--, to += to_stride, from += from_stride) {
        size_t done = 0;

        for (; done + CHUNK <= bytes; done += CHUNK) {
            for (size_t line = 0; line < CHUNK; line += SKI_CACHE_LINE)
                __builtin_prefetch(from + from_stride + done + line);
            memcpy(to + done, from + done, CHUNK);
        }
        memcpy(to + done, from + done, bytes - done);
    }
    memcpy(to, from, bytes);
}

typedef void (*datatype_row_fn)(char *, ptrdiff_t, const char *, ptrdiff_t, size_t, size_t);

static datatype_row_fn datatype_row_for(size_t bytes, ptrdiff_t from_stride)
{
    if (bytes >= CHUNK && bytes < 4 * CHUNK && from_stride != (ptrdiff_t)bytes)
        return datatype_row_chunks;
    switch (bytes) {
    case 1: return datatype_row_1;
    case 2: return datatype_row_2;
    case 4: return datatype_row_4;
    case 8: return datatype_row_8;
    case 16: return datatype_row_16;
    default: return datatype_row_any;
    }
}

/* Strides of both sides, without levels that do not matter. */
struct datatype_levels {
    size_t    bytes;
    int       levels;
    size_t    count[SKUA_LAYOUT_LEVELS];
    ptrdiff_t to[SKUA_LAYOUT_LEVELS], from[SKUA_LAYOUT_LEVELS];
};

static void datatype_copy_levels(int level, char *to, const char *from,
                                 const struct datatype_levels *s, datatype_row_fn row)
{
    if (level == 0) {
        row(to, s->to[0], from, s->from[0], s->count[0], s->bytes);
        return;
    }
    for (size_t i = 0; i < s->count[level]; i++) {
        datatype_copy_levels(level - 1, to, from, s, row);
        to += s->to[level];
        from += s->from[level];
    }
}

/* Drops levels of one repetition, and joins blocks that are adjacent on both sides, so that the
 * copy is in large blocks.  Only as many entries as there are levels are set.  Returns false if
 * there are no data. */
static inline __attribute__((always_inline)) bool datatype_simplify(const struct ski_datatype *d,
                                                                    bool                       put,
                                                                    struct datatype_levels *simple)
{
    const struct ski_stride_pairs *s = &d->strided;
    const ptrdiff_t *to = put ? s->remote : s->local, *from = put ? s->local : s->remote;

    simple->bytes  = d->bytes;
    simple->levels = 0;
    for (int i = 0; i < s->levels; i++) {
        int next = simple->levels;

        if (s->count[i] <= 1) {
            if (s->count[i] == 0)
                return false;
            continue;
        }
        if (next == 0 && to[i] == (ptrdiff_t)simple->bytes && from[i] == (ptrdiff_t)simple->bytes) {
            simple->bytes *= s->count[i];
            continue;
        }
        simple->count[next] = s->count[i];
        simple->to[next]    = to[i];
        simple->from[next]  = from[i];
        simple->levels++;
    }
    return true;
}

static inline __attribute__((always_inline)) void datatype_copy_strided(
    const struct ski_datatype *d, char *remote, bool put)
{
    struct datatype_levels s;
    char                  *to   = put ? remote : d->local;
    const char            *from = put ? d->local : remote;

    ski_assert(d->strided.levels >= 0 && d->strided.levels <= SKUA_LAYOUT_LEVELS);
    if (d->bytes == 0 || !datatype_simplify(d, put, &s))
        return;
    if (s.levels == 0)
        memcpy(to, from, s.bytes);
    else
        datatype_copy_levels(s.levels - 1, to, from, &s, datatype_row_for(s.bytes, s.from[0]));
}

/* Moves blocks to or from a piece, each checked just before: @p last is where the last one may
 * begin.  A side without offsets is contiguous.  Inlined for each size and direction that is worth
 * it. */
static inline __attribute__((always_inline)) bool datatype_move_blocks(const struct ski_datatype *d,
                                                                       char *piece, uint64_t offset,
                                                                       uint64_t last, size_t bytes,
                                                                       bool put)
{
    const ptrdiff_t *local = d->indexed.local, *remote = d->indexed.remote;

    for (size_t i = 0; i < d->count; i++) {
        uint64_t at   = offset + (remote ? (uint64_t)remote[i] : i * bytes);
        char    *here = d->local + (local ? local[i] : (ptrdiff_t)(i * bytes));

        if (SKI_UNLIKELY(at > last))
            return false;
        memcpy(put ? piece + at : here, put ? here : piece + at, bytes);
    }
    return true;
}

static inline __attribute__((always_inline)) bool datatype_move_indexed(
    const struct ski_datatype *d, char *piece, uint64_t offset, uint64_t last, bool put)
{
    switch (d->bytes) {
    case 4: return datatype_move_blocks(d, piece, offset, last, 4, put);
    case 8: return datatype_move_blocks(d, piece, offset, last, 8, put);
    case 16: return datatype_move_blocks(d, piece, offset, last, 16, put);
    default: return datatype_move_blocks(d, piece, offset, last, d->bytes, put);
    }
}

/* Moves a block; the commonest small size without a call. */
static inline __attribute__((always_inline)) void datatype_move_block(char *remote, char *local,
                                                                      size_t bytes, bool put)
{
    if (SKI_LIKELY(bytes == 8))
        memcpy(put ? remote : local, put ? local : remote, 8);
    else
        memcpy(put ? remote : local, put ? local : remote, bytes);
}

/* Moves the blocks of two lists, each checked just before against the piece and the other list. */
static inline __attribute__((always_inline)) bool datatype_move_lists(const struct ski_datatype *d,
                                                                      char *piece, uint64_t offset,
                                                                      uint64_t room, bool put)
{
    const skua_block *here = d->list.local, *there = d->list.remote, *end = there + d->count;
    char             *local = d->local;

    for (; there < end; there++, here++) {
        size_t   bytes = there->bytes;
        uint64_t at    = offset + (uint64_t)there->offset;

        if (SKI_UNLIKELY(here->bytes != bytes || bytes > room || at > room - bytes))
            return false;
        datatype_move_block(piece + at, local + here->offset, bytes, put);
    }
    return true;
}

/* Moves the blocks of a list and a contiguous side, each checked just before against the piece and
 * what is left of that side; no block is larger than the piece, because that side is not. */
static inline __attribute__((always_inline)) bool datatype_move_packed(const struct ski_datatype *d,
                                                                       char *piece, uint64_t offset,
                                                                       uint64_t room, bool put)
{
    const skua_block *there = d->list.remote, *end = there + d->count;
    char             *local = d->local, *stop = local + d->bytes;

    if (d->bytes > room)
        return false;
    for (; there < end; there++) {
        size_t   bytes = there->bytes;
        uint64_t at    = offset + (uint64_t)there->offset;

        if (SKI_UNLIKELY(bytes > (size_t)(stop - local) || at > room - bytes))
            return false;
        datatype_move_block(piece + at, local, bytes, put);
        local += bytes;
    }
    return local == stop;
}

/* Moves the blocks of a local list to or from a contiguous piece. */
static inline __attribute__((always_inline)) bool datatype_move_gathered(
    const struct ski_datatype *d, char *piece, uint64_t offset, uint64_t room, bool put)
{
    const skua_block *here = d->list.local, *end = here + d->count;
    char             *remote = piece + offset, *stop = remote + d->bytes, *local = d->local;

    if (d->bytes > room || offset > room - d->bytes)
        return false;
    for (; here < end; here++) {
        if (SKI_UNLIKELY(here->bytes > (size_t)(stop - remote)))
            return false;
        datatype_move_block(remote, local + here->offset, here->bytes, put);
        remote += here->bytes;
    }
    return remote == stop;
}

static inline __attribute__((always_inline)) bool datatype_move_list(const struct ski_datatype *d,
                                                                     char *piece, uint64_t offset,
                                                                     uint64_t room, bool put)
{
    if (!d->list.local)
        return datatype_move_packed(d, piece, offset, room, put);
    if (!d->list.remote)
        return datatype_move_gathered(d, piece, offset, room, put);
    return datatype_move_lists(d, piece, offset, room, put);
}

bool ski_datatype_list_put(const struct ski_datatype *d, char *piece, uint64_t offset,
                           uint64_t room)
{
    if (d->kind == SKI_DATATYPE_LIST)
        return datatype_move_list(d, piece, offset, room, true);
    return d->bytes <= room && datatype_move_indexed(d, piece, offset, room - d->bytes, true);
}

bool ski_datatype_list_get(const struct ski_datatype *d, char *piece, uint64_t offset,
                           uint64_t room)
{
    if (d->kind == SKI_DATATYPE_LIST)
        return datatype_move_list(d, piece, offset, room, false);
    return d->bytes <= room && datatype_move_indexed(d, piece, offset, room - d->bytes, false);
}

/* Copies block by block what has no better way. */
static void datatype_copy_blocks(const struct ski_datatype *d, char *remote, bool put)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;

    ski_iov_iter_begin(&iter, d);
    while (ski_iov_iter_next(&iter, &iov))
        memcpy(put ? remote + iov.remote : iov.local, put ? iov.local : remote + iov.remote,
               iov.bytes);
}

void ski_datatype_put(const struct ski_datatype *d, char *remote)
{
    switch (d->kind) {
    case SKI_DATATYPE_CONTIGUOUS: ski_copy(remote, d->local, d->bytes); break;
    case SKI_DATATYPE_STRIDED: datatype_copy_strided(d, remote, true); break;
    case SKI_DATATYPE_INDEXED: datatype_move_indexed(d, remote, 0, UINT64_MAX, true); break;
    case SKI_DATATYPE_LIST:
    case SKI_DATATYPE_MIXED: datatype_copy_blocks(d, remote, true); break;
    }
}

void ski_datatype_get(const struct ski_datatype *d, char *remote)
{
    switch (d->kind) {
    case SKI_DATATYPE_CONTIGUOUS: ski_copy(d->local, remote, d->bytes); break;
    case SKI_DATATYPE_STRIDED: datatype_copy_strided(d, remote, false); break;
    case SKI_DATATYPE_INDEXED: datatype_move_indexed(d, remote, 0, UINT64_MAX, false); break;
    case SKI_DATATYPE_LIST:
    case SKI_DATATYPE_MIXED: datatype_copy_blocks(d, remote, false); break;
    }
}

/* ---- common blocks --------------------------------------------------------- */

void ski_iov_iter_begin(struct ski_iov_iter *iter, const struct ski_datatype *d)
{
    iter->datatype = d;
    iter->next     = 0;
    switch (d->kind) {
    case SKI_DATATYPE_STRIDED:
        memset(iter->repeated, 0, sizeof iter->repeated);
        iter->at = (struct ski_iov){d->local, 0, d->bytes};
        if (ski_strides_empty(d->bytes, d->strided.levels, d->strided.count))
            iter->next = 1; /* at the end */
        break;
    case SKI_DATATYPE_LIST: iter->lists = (struct ski_iov_lists){.whole = {0, d->bytes}}; break;
    case SKI_DATATYPE_MIXED:
        ski_layout_iter_begin(&iter->split.local, d->layout_local);
        ski_layout_iter_begin(&iter->split.remote, d->layout_remote);
        iter->split.here = iter->split.there = (skua_block){0, 0};
        break;
    case SKI_DATATYPE_CONTIGUOUS:
    case SKI_DATATYPE_INDEXED: break;
    }
}

/* Goes to the next block, as an odometer does. */
static bool iov_iter_next_strided(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const struct ski_stride_pairs *s     = &iter->datatype->strided;
    int                            level = 0;

    if (iter->next)
        return false;
    *iov = iter->at;
    while (level < s->levels && ++iter->repeated[level] == s->count[level]) {
        iter->at.local -= (ptrdiff_t)(s->count[level] - 1) * s->local[level];
        iter->at.remote -= (ptrdiff_t)(s->count[level] - 1) * s->remote[level];
        iter->repeated[level++] = 0;
    }
    if (level == s->levels) {
        iter->next = 1;
    } else {
        iter->at.local += s->local[level];
        iter->at.remote += s->remote[level];
    }
    return true;
}

static __attribute__((noinline)) bool iov_iter_next_indexed(struct ski_iov_iter *iter,
                                                            struct ski_iov      *iov)
{
    const struct ski_datatype *d = iter->datatype;
    size_t                     i = iter->next++;

    if (i >= d->count || d->bytes == 0)
        return false;
    iov->local  = d->local + (d->indexed.local ? d->indexed.local[i] : (ptrdiff_t)(i * d->bytes));
    iov->remote = d->indexed.remote ? d->indexed.remote[i] : (ptrdiff_t)(i * d->bytes);
    iov->bytes  = d->bytes;
    return true;
}

/* Makes a common block of what is left of the current blocks of both sides, and takes it off them.
 */
static inline void iov_iter_cut(char *local, skua_block *here, skua_block *there,
                                struct ski_iov *iov)
{
    iov->local  = local + here->offset;
    iov->remote = there->offset;
    iov->bytes  = here->bytes < there->bytes ? here->bytes : there->bytes;
    here->offset += (ptrdiff_t)iov->bytes;
    here->bytes -= iov->bytes;
    there->offset += (ptrdiff_t)iov->bytes;
    there->bytes -= iov->bytes;
}

/* Splits the blocks of both sides where either side has a boundary. */
static __attribute__((noinline)) bool iov_iter_next_split(struct ski_iov_iter *iter,
                                                          struct ski_iov      *iov)
{
    struct ski_iov_split *split = &iter->split;

    if (split->here.bytes == 0 && !ski_layout_iter_next(&split->local, &split->here))
        return false;
    if (split->there.bytes == 0 && !ski_layout_iter_next(&split->remote, &split->there))
        return false;
    iov_iter_cut(iter->datatype->local, &split->here, &split->there, iov);
    return true;
}

/* Goes on to the next block of a list that is not empty, unless there is something left of the
 * current one; false at the end. */
static inline bool iov_iter_fill(skua_block *block, const skua_block *list, size_t count,
                                 size_t *next)
{
    while (block->bytes == 0) {
        if (*next == count)
            return false;
        *block = list[(*next)++];
    }
    return true;
}

/* Splits as iov_iter_next_split(), for lists; a contiguous side is a list of one block. */
static __attribute__((noinline)) bool iov_iter_next_list(struct ski_iov_iter *iter,
                                                         struct ski_iov      *iov)
{
    const struct ski_datatype *d     = iter->datatype;
    struct ski_iov_lists      *l     = &iter->lists;
    const skua_block          *local = d->list.local, *remote = d->list.remote;

    if (!iov_iter_fill(&l->here, local ? local : &l->whole, local ? d->count : 1, &l->local) ||
        !iov_iter_fill(&l->there, remote ? remote : &l->whole, remote ? d->count : 1, &l->remote))
        return false;
    iov_iter_cut(d->local, &l->here, &l->there, iov);
    return true;
}

bool ski_iov_iter_next(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const struct ski_datatype *d = iter->datatype;

    if (d->kind == SKI_DATATYPE_STRIDED)
        return iov_iter_next_strided(iter, iov);
    if (d->kind == SKI_DATATYPE_INDEXED)
        return iov_iter_next_indexed(iter, iov);
    if (d->kind == SKI_DATATYPE_LIST)
        return iov_iter_next_list(iter, iov);
    if (d->kind == SKI_DATATYPE_MIXED)
        return iov_iter_next_split(iter, iov);
    *iov = (struct ski_iov){d->local, 0, d->bytes};
    return iter->next++ < d->count && d->bytes > 0;
}
