/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.c - checking, copying and walking shapes.
 *
 * Copies of small blocks are what strided and indexed transfers live on: for
 * the sizes of C's types the inner loop is a load, a store and two additions.
 */
#include "onesided/rma/datatype.h"

#include <stdint.h>
#include <string.h>

#include "base/arch.h"
#include "base/copy.h"
#include "base/log.h"

/* ---- checks --------------------------------------------------------------- */

static skua_status_t senseless(const char *call, const char *why)
{
    return ski_refuse(SKUA_ERR_INVAL, "%s: %s", call, why);
}

static size_t magnitude(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

/* Whether blocks of one side overlap: from the smallest stride to the largest,
 * each must lead past all that the smaller ones span.  (Interleaved patterns
 * that break this without overlapping are refused as well.) */
static bool overlaps(const skua_strided *s, const ptrdiff_t *stride)
{
    size_t span = s->bytes, before = 0;
    bool   used[SKUA_LEVELS_MAX] = {false};

    for (int round = 0; round < s->levels; round++) {
        int next = -1;

        for (int i = 0; i < s->levels; i++)
            if (!used[i] && (next < 0 || magnitude(stride[i]) < magnitude(stride[next])))
                next = i;
        used[next] = true;
        before     = magnitude(stride[next]);
        if (s->count[next] <= 1)
            continue;
        if (before < span)
            return true;
        span += (s->count[next] - 1) * before;
    }
    return false;
}

static void widen(ptrdiff_t from, size_t bytes, ptrdiff_t *lo, ptrdiff_t *hi)
{
    ptrdiff_t end;

    if (__builtin_add_overflow(from, (ptrdiff_t)bytes, &end) || bytes > PTRDIFF_MAX)
        end = PTRDIFF_MAX;
    *lo = from < *lo ? from : *lo;
    *hi = end > *hi ? end : *hi;
}

static bool strided_is_empty(const skua_strided *s)
{
    for (int i = 0; i < s->levels; i++)
        if (s->count[i] == 0)
            return true;
    return s->bytes == 0;
}

static skua_status_t strided_extent(const char *call, const struct ski_shape *shape,
                                    enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi,
                                    size_t *grain)
{
    const skua_strided *s = shape->strided;

    if (s->levels < 0 || s->levels > SKUA_LEVELS_MAX)
        return senseless(call, "a strided shape has 0 to 8 levels");
    *grain = s->bytes;
    if (strided_is_empty(s))
        return SKUA_OK;
    for (int i = 0; i < s->levels; i++) {
        ptrdiff_t reach;

        if (__builtin_mul_overflow((ptrdiff_t)(s->count[i] - 1), s->remote[i], &reach) ||
            s->count[i] > PTRDIFF_MAX ||
            __builtin_add_overflow(reach < 0 ? *lo : *hi, reach, reach < 0 ? lo : hi))
            return senseless(call, "a strided shape that is larger than any memory");
        if (s->count[i] > 1)
            *grain |= magnitude(s->remote[i]);
    }
    widen(*hi, s->bytes, lo, hi);
    if (overlaps(s, writes == SKI_REMOTE ? s->remote : s->local))
        return senseless(call, "a strided shape that overlaps itself where it is written");
    return SKUA_OK;
}

skua_status_t ski_shape_extent(const char *call, const struct ski_shape *shape,
                               enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi, size_t *grain)
{
    *lo = *hi = 0;
    *grain    = 0;
    switch (shape->kind) {
    case SKI_CONTIGUOUS:
        *grain = shape->bytes;
        widen(0, shape->bytes, lo, hi);
        return SKUA_OK;
    case SKI_STRIDED: return strided_extent(call, shape, writes, lo, hi, grain);
    case SKI_VECTOR:
        for (size_t i = 0; i < shape->count; i++) {
            widen(shape->list[i].remote, shape->list[i].bytes, lo, hi);
            *grain |= shape->list[i].bytes | magnitude(shape->list[i].remote);
        }
        return SKUA_OK;
    case SKI_INDEXED:
        if (shape->count > 0 && !shape->indexed->remote)
            return senseless(call, "an indexed shape without remote offsets");
        *grain = shape->bytes;
        for (size_t i = 0; i < shape->count; i++) {
            widen(shape->indexed->remote[i], shape->bytes, lo, hi);
            *grain |= (size_t)shape->indexed->remote[i];
        }
        return SKUA_OK;
    }
    return senseless(call, "a shape of no kind that there is");
}

/* ---- the quick look -------------------------------------------------------- */

#define SANE ((size_t)1 << 31) /* products of two such numbers do not overflow */

static bool strided_fits(const skua_strided *s, enum ski_side writes, uint64_t offset,
                         uint64_t room, size_t place_mask)
{
    const ptrdiff_t *written = writes == SKI_REMOTE ? s->remote : s->local;
    size_t           span    = s->bytes; /* of the side that is written */
    size_t           reach   = s->bytes; /* of the remote side          */

    if ((unsigned)s->levels > SKUA_LEVELS_MAX || s->bytes >= SANE)
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

static bool list_fits(const struct ski_shape *shape, uint64_t offset, uint64_t room,
                      size_t place_mask, size_t size_mask)
{
    for (size_t i = 0; i < shape->count; i++) {
        bool     vector = shape->kind == SKI_VECTOR;
        size_t   bytes  = vector ? shape->list[i].bytes : shape->bytes;
        uint64_t at =
            offset + (uint64_t)(vector ? shape->list[i].remote : shape->indexed->remote[i]);
        if (bytes > room || at > room - bytes || at & place_mask || bytes & size_mask)
            return false;
    }
    return true;
}

bool ski_shape_fits(const struct ski_shape *shape, enum ski_side writes, uint64_t offset,
                    uint64_t room, size_t element)
{
    size_t size_mask = element - 1, place_mask = size_mask & 7;

    if ((shape->bytes & size_mask) || (offset & place_mask))
        return false;
    switch (shape->kind) {
    case SKI_CONTIGUOUS: return shape->bytes <= room && offset <= room - shape->bytes;
    case SKI_STRIDED: return strided_fits(shape->strided, writes, offset, room, place_mask);
    case SKI_VECTOR: return list_fits(shape, offset, room, place_mask, size_mask);
    case SKI_INDEXED:
        return shape->indexed->remote && list_fits(shape, offset, room, place_mask, size_mask);
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

ROW(row_1, uint8_t)
ROW(row_2, uint16_t)
ROW(row_4, uint32_t)
ROW(row_8, uint64_t)
ROW(row_16, pair)

static void row_any(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                    size_t n, size_t bytes)
{
    for (; n > 0; n--, to += to_stride, from += from_stride)
        memcpy(to, from, bytes);
}

#define CHUNK ((size_t)512)

/* Large blocks that are read from apart: the hardware does not look ahead from
 * one to the next, so while a chunk of this one is copied the same chunk of the
 * next is fetched.  A fifth faster where the cache is too small for all. */
static void row_large(char *to, ptrdiff_t to_stride, const char *from, ptrdiff_t from_stride,
                      size_t n, size_t bytes)
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

typedef void (*row_fn)(char *, ptrdiff_t, const char *, ptrdiff_t, size_t, size_t);

static row_fn row_for(size_t bytes, ptrdiff_t from_stride)
{
    if (bytes >= 2 * CHUNK && from_stride != (ptrdiff_t)bytes)
        return row_large;
    switch (bytes) {
    case 1: return row_1;
    case 2: return row_2;
    case 4: return row_4;
    case 8: return row_8;
    case 16: return row_16;
    default: return row_any;
    }
}

static void copy_levels(int level, char *to, const ptrdiff_t *to_stride, const char *from,
                        const ptrdiff_t *from_stride, const skua_strided *s, row_fn row)
{
    if (level == 0) {
        row(to, to_stride[0], from, from_stride[0], s->count[0], s->bytes);
        return;
    }
    for (size_t i = 0; i < s->count[level]; i++) {
        copy_levels(level - 1, to, to_stride, from, from_stride, s, row);
        to += to_stride[level];
        from += from_stride[level];
    }
}

/* Drops levels that do nothing, and joins blocks that lie one behind another on
 * both sides, so that the rest of the copy is in large blocks. */
static void simplify(const skua_strided *s, skua_strided *simple)
{
    simple->bytes  = s->bytes;
    simple->levels = 0;
    for (int i = 0; i < s->levels; i++) {
        int next = simple->levels;

        if (s->count[i] == 1)
            continue;
        if (next == 0 && s->local[i] == (ptrdiff_t)simple->bytes &&
            s->remote[i] == (ptrdiff_t)simple->bytes) {
            simple->bytes *= s->count[i];
            continue;
        }
        simple->count[next]  = s->count[i];
        simple->local[next]  = s->local[i];
        simple->remote[next] = s->remote[i];
        simple->levels++;
    }
}

static void copy_strided(const struct ski_shape *shape, char *remote, bool put)
{
    skua_strided     s; /* as much of it as there are levels is set */
    char            *to   = put ? remote : shape->local;
    const char      *from = put ? shape->local : remote;
    const ptrdiff_t *to_stride, *from_stride;

    if (strided_is_empty(shape->strided))
        return;
    simplify(shape->strided, &s);
    to_stride   = put ? s.remote : s.local;
    from_stride = put ? s.local : s.remote;
    if (s.levels == 0)
        memcpy(to, from, s.bytes);
    else
        copy_levels(s.levels - 1, to, to_stride, from, from_stride, &s,
                    row_for(s.bytes, from_stride[0]));
}

/* Moves blocks to or from a piece, each checked just before: @p last is where the
 * last one may begin.  Inlined for each size and direction that is worth it. */
static inline __attribute__((always_inline)) bool move_blocks(const skua_indexed *x, char *local,
                                                              char *piece, uint64_t offset,
                                                              uint64_t last, size_t bytes, bool put)
{
    for (size_t i = 0; i < x->count; i++) {
        uint64_t at   = offset + (uint64_t)x->remote[i];
        char    *here = local + (x->local ? x->local[i] : (ptrdiff_t)(i * bytes));

        if (SKI_UNLIKELY(at > last))
            return false;
        memcpy(put ? piece + at : here, put ? here : piece + at, bytes);
    }
    return true;
}

static inline __attribute__((always_inline)) bool move_indexed(const struct ski_shape *shape,
                                                               char *piece, uint64_t offset,
                                                               uint64_t last, bool put)
{
    const skua_indexed *x = shape->indexed;

    switch (x->bytes) {
    case 4: return move_blocks(x, shape->local, piece, offset, last, 4, put);
    case 8: return move_blocks(x, shape->local, piece, offset, last, 8, put);
    case 16: return move_blocks(x, shape->local, piece, offset, last, 16, put);
    default: return move_blocks(x, shape->local, piece, offset, last, x->bytes, put);
    }
}

/* The same for segments; the commonest small size without a call.  @p checked:
 * they have not been looked at yet. */
static inline __attribute__((always_inline)) bool move_list(const skua_segment *list, size_t n,
                                                            char *piece, uint64_t offset,
                                                            uint64_t room, bool put, bool checked)
{
    for (const skua_segment *end = list + n; list < end; list++) {
        uint64_t at = offset + (uint64_t)list->remote;
        char    *to, *from;

        if (checked && SKI_UNLIKELY(list->bytes > room || at > room - list->bytes))
            return false;
        to   = put ? piece + at : list->local;
        from = put ? list->local : piece + at;
        if (SKI_LIKELY(list->bytes == 8))
            memcpy(to, from, 8);
        else
            memcpy(to, from, list->bytes);
    }
    return true;
}

bool ski_list_put(const struct ski_shape *shape, char *piece, uint64_t offset, uint64_t room)
{
    if (shape->kind == SKI_VECTOR)
        return move_list(shape->list, shape->count, piece, offset, room, true, true);
    return shape->bytes <= room && move_indexed(shape, piece, offset, room - shape->bytes, true);
}

bool ski_list_get(const struct ski_shape *shape, char *piece, uint64_t offset, uint64_t room)
{
    if (shape->kind == SKI_VECTOR)
        return move_list(shape->list, shape->count, piece, offset, room, false, true);
    return shape->bytes <= room && move_indexed(shape, piece, offset, room - shape->bytes, false);
}

void ski_shape_put(const struct ski_shape *shape, char *remote)
{
    switch (shape->kind) {
    case SKI_CONTIGUOUS: ski_copy(remote, shape->local, shape->bytes); break;
    case SKI_STRIDED: copy_strided(shape, remote, true); break;
    case SKI_INDEXED: move_indexed(shape, remote, 0, UINT64_MAX, true); break;
    case SKI_VECTOR: move_list(shape->list, shape->count, remote, 0, 0, true, false); break;
    }
}

void ski_shape_get(const struct ski_shape *shape, char *remote)
{
    switch (shape->kind) {
    case SKI_CONTIGUOUS: ski_copy(shape->local, remote, shape->bytes); break;
    case SKI_STRIDED: copy_strided(shape, remote, false); break;
    case SKI_INDEXED: move_indexed(shape, remote, 0, UINT64_MAX, false); break;
    case SKI_VECTOR: move_list(shape->list, shape->count, remote, 0, 0, false, false); break;
    }
}

/* ---- runs ------------------------------------------------------------------- */

void ski_runs_begin(struct ski_runs *runs, const struct ski_shape *shape)
{
    *runs = (struct ski_runs){.shape = shape, .at = {shape->local, 0, shape->bytes}};
    if (shape->kind == SKI_STRIDED && strided_is_empty(shape->strided))
        runs->next = 1; /* at the end */
}

/* Goes to the next block, as an odometer does. */
static bool next_strided(struct ski_runs *runs, struct ski_run *run)
{
    const skua_strided *s     = runs->shape->strided;
    int                 level = 0;

    if (runs->next)
        return false;
    *run = runs->at;
    while (level < s->levels && ++runs->repeated[level] == s->count[level]) {
        runs->at.local -= (ptrdiff_t)(s->count[level] - 1) * s->local[level];
        runs->at.remote -= (ptrdiff_t)(s->count[level] - 1) * s->remote[level];
        runs->repeated[level++] = 0;
    }
    if (level == s->levels) {
        runs->next = 1;
    } else {
        runs->at.local += s->local[level];
        runs->at.remote += s->remote[level];
    }
    return true;
}

bool ski_runs_next(struct ski_runs *runs, struct ski_run *run)
{
    const struct ski_shape *shape = runs->shape;

    if (shape->kind == SKI_STRIDED)
        return next_strided(runs, run);
    while (runs->next < shape->count) {
        size_t i = runs->next++;

        if (shape->kind == SKI_CONTIGUOUS)
            *run = runs->at;
        else if (shape->kind == SKI_VECTOR)
            *run =
                (struct ski_run){shape->list[i].local, shape->list[i].remote, shape->list[i].bytes};
        else
            *run = (struct ski_run){shape->local + (shape->indexed->local
                                                        ? shape->indexed->local[i]
                                                        : (ptrdiff_t)(i * shape->bytes)),
                                    shape->indexed->remote[i], shape->bytes};
        if (run->bytes > 0)
            return true;
    }
    return false;
}
