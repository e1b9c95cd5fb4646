/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype.c - checks, copies and iterates over datatypes.
 *
 * Strided and indexed transfers live on copies of small blocks: for the sizes of C's types the
 * inner loop is a load, a store and two additions.
 */
#include "onesided/rma/datatype.h"

#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/arch.h"
#include "base/copy.h"
#include "base/log.h"

/* ---- checks --------------------------------------------------------------- */

static skua_status datatype_invalid(const char *call, const char *why)
{
    return ski_refuse(SKUA_ERR_INVAL, "%s: %s", call, why);
}

static size_t datatype_magnitude(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

/* Returns whether blocks of one side overlap: from the smallest stride to the largest, each must
 * lead past all that the smaller ones span.  (Interleaved patterns that break this without
 * overlapping are refused as well.) */
static bool datatype_overlaps(const skua_strided *s, const ptrdiff_t *stride)
{
    size_t span = s->bytes, before = 0;
    bool   used[SKUA_LEVELS_MAX] = {false};

    for (int round = 0; round < s->levels; round++) {
        int next = -1;

        for (int i = 0; i < s->levels; i++)
            if (!used[i] &&
                (next < 0 || datatype_magnitude(stride[i]) < datatype_magnitude(stride[next])))
                next = i;
        used[next] = true;
        before     = datatype_magnitude(stride[next]);
        if (s->count[next] <= 1)
            continue;
        if (before < span)
            return true;
        span += (s->count[next] - 1) * before;
    }
    return false;
}

static void datatype_widen(ptrdiff_t from, size_t bytes, ptrdiff_t *lo, ptrdiff_t *hi)
{
    ptrdiff_t end;

    if (__builtin_add_overflow(from, (ptrdiff_t)bytes, &end) || bytes > PTRDIFF_MAX)
        end = PTRDIFF_MAX;
    *lo = from < *lo ? from : *lo;
    *hi = end > *hi ? end : *hi;
}

static bool datatype_strided_is_empty(const skua_strided *s)
{
    for (int i = 0; i < s->levels; i++)
        if (s->count[i] == 0)
            return true;
    return s->bytes == 0;
}

static skua_status datatype_strided_extent(const char *call, const struct ski_datatype *datatype,
                                           enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi,
                                           size_t *grain)
{
    const skua_strided *s = datatype->strided;

    if (s->levels < 0 || s->levels > SKUA_LEVELS_MAX)
        return datatype_invalid(call, "a strided datatype has 0 to 8 levels");
    *grain = s->bytes;
    if (datatype_strided_is_empty(s))
        return SKUA_OK;
    for (int i = 0; i < s->levels; i++) {
        ptrdiff_t reach;

        if (__builtin_mul_overflow((ptrdiff_t)(s->count[i] - 1), s->remote[i], &reach) ||
            s->count[i] > PTRDIFF_MAX ||
            __builtin_add_overflow(reach < 0 ? *lo : *hi, reach, reach < 0 ? lo : hi))
            return datatype_invalid(call, "the strided datatype is larger than any memory");
        if (s->count[i] > 1)
            *grain |= datatype_magnitude(s->remote[i]);
    }
    datatype_widen(*hi, s->bytes, lo, hi);
    if (datatype_overlaps(s, writes == SKI_SIDE_REMOTE ? s->remote : s->local))
        return datatype_invalid(call, "the strided datatype overlaps itself where it is written");
    return SKUA_OK;
}

skua_status ski_datatype_extent(const char *call, const struct ski_datatype *datatype,
                                enum ski_side writes, ptrdiff_t *lo, ptrdiff_t *hi, size_t *grain)
{
    *lo = *hi = 0;
    *grain    = 0;
    switch (datatype->kind) {
    case SKI_DATATYPE_CONTIGUOUS:
        *grain = datatype->bytes;
        datatype_widen(0, datatype->bytes, lo, hi);
        return SKUA_OK;
    case SKI_DATATYPE_STRIDED:
        return datatype_strided_extent(call, datatype, writes, lo, hi, grain);
    case SKI_DATATYPE_VECTOR:
        for (size_t i = 0; i < datatype->count; i++) {
            datatype_widen(datatype->list[i].remote, datatype->list[i].bytes, lo, hi);
            *grain |= datatype->list[i].bytes | datatype_magnitude(datatype->list[i].remote);
        }
        return SKUA_OK;
    case SKI_DATATYPE_INDEXED:
        if (datatype->count > 0 && !datatype->indexed->remote)
            return datatype_invalid(call, "the indexed datatype has no remote offsets");
        *grain = datatype->bytes;
        for (size_t i = 0; i < datatype->count; i++) {
            datatype_widen(datatype->indexed->remote[i], datatype->bytes, lo, hi);
            *grain |= (size_t)datatype->indexed->remote[i];
        }
        return SKUA_OK;
    }
    return datatype_invalid(call, "the datatype has an unknown kind");
}

/* ---- the quick look -------------------------------------------------------- */

#define SANE ((size_t)1 << 31) /* products of two such numbers do not overflow */

static bool datatype_strided_fits(const skua_strided *s, enum ski_side writes, uint64_t offset,
                                  uint64_t room, size_t place_mask)
{
    const ptrdiff_t *written = writes == SKI_SIDE_REMOTE ? s->remote : s->local;
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

static bool datatype_list_fits(const struct ski_datatype *datatype, uint64_t offset, uint64_t room,
                               size_t place_mask, size_t size_mask)
{
    for (size_t i = 0; i < datatype->count; i++) {
        bool     vector = datatype->kind == SKI_DATATYPE_VECTOR;
        size_t   bytes  = vector ? datatype->list[i].bytes : datatype->bytes;
        uint64_t at =
            offset + (uint64_t)(vector ? datatype->list[i].remote : datatype->indexed->remote[i]);
        if (bytes > room || at > room - bytes || at & place_mask || bytes & size_mask)
            return false;
    }
    return true;
}

bool ski_datatype_fits(const struct ski_datatype *datatype, enum ski_side writes, uint64_t offset,
                       uint64_t room, size_t element)
{
    size_t size_mask = element - 1, place_mask = size_mask & 7;

    ski_assert(element > 0 && (element & size_mask) == 0);
    if ((datatype->bytes & size_mask) || (offset & place_mask))
        return false;
    switch (datatype->kind) {
    case SKI_DATATYPE_CONTIGUOUS:
        return datatype->bytes <= room && offset <= room - datatype->bytes;
    case SKI_DATATYPE_STRIDED:
        return datatype_strided_fits(datatype->strided, writes, offset, room, place_mask);
    case SKI_DATATYPE_VECTOR:
        return datatype_list_fits(datatype, offset, room, place_mask, size_mask);
    case SKI_DATATYPE_INDEXED:
        return datatype->indexed->remote &&
               datatype_list_fits(datatype, offset, room, place_mask, size_mask);
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

/* Large blocks that are read from apart: the hardware does not prefetch from one to the next, so
 * while a chunk of this one is copied the same chunk of the next is fetched.  A fifth faster where
 * the cache is too small for all. */
static void datatype_row_large(char *to, ptrdiff_t to_stride, const char *from,
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
    if (bytes >= 2 * CHUNK && from_stride != (ptrdiff_t)bytes)
        return datatype_row_large;
    switch (bytes) {
    case 1: return datatype_row_1;
    case 2: return datatype_row_2;
    case 4: return datatype_row_4;
    case 8: return datatype_row_8;
    case 16: return datatype_row_16;
    default: return datatype_row_any;
    }
}

static void datatype_copy_levels(int level, char *to, const ptrdiff_t *to_stride, const char *from,
                                 const ptrdiff_t *from_stride, const skua_strided *s,
                                 datatype_row_fn row)
{
    if (level == 0) {
        row(to, to_stride[0], from, from_stride[0], s->count[0], s->bytes);
        return;
    }
    for (size_t i = 0; i < s->count[level]; i++) {
        datatype_copy_levels(level - 1, to, to_stride, from, from_stride, s, row);
        to += to_stride[level];
        from += from_stride[level];
    }
}

/* Drops levels of one repetition, and joins blocks that are adjacent on both sides, so that the
 * copy is in large blocks. */
static void datatype_simplify(const skua_strided *s, skua_strided *simple)
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

static void datatype_copy_strided(const struct ski_datatype *datatype, char *remote, bool put)
{
    skua_strided     s; /* only as many entries as there are levels are set */
    char            *to   = put ? remote : datatype->local;
    const char      *from = put ? datatype->local : remote;
    const ptrdiff_t *to_stride, *from_stride;

    if (datatype_strided_is_empty(datatype->strided))
        return;
    ski_assert(datatype->strided->levels >= 0 && datatype->strided->levels <= SKUA_LEVELS_MAX);
    datatype_simplify(datatype->strided, &s);
    to_stride   = put ? s.remote : s.local;
    from_stride = put ? s.local : s.remote;
    if (s.levels == 0)
        memcpy(to, from, s.bytes);
    else
        datatype_copy_levels(s.levels - 1, to, to_stride, from, from_stride, &s,
                             datatype_row_for(s.bytes, from_stride[0]));
}

/* Moves blocks to or from a piece, each checked just before: @p last is where the last one may
 * begin.  Inlined for each size and direction that is worth it. */
static inline __attribute__((always_inline)) bool datatype_move_blocks(const skua_indexed *x,
                                                                       char *local, char *piece,
                                                                       uint64_t offset,
                                                                       uint64_t last, size_t bytes,
                                                                       bool put)
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

static inline __attribute__((always_inline)) bool datatype_move_indexed(
    const struct ski_datatype *datatype, char *piece, uint64_t offset, uint64_t last, bool put)
{
    const skua_indexed *x = datatype->indexed;

    switch (x->bytes) {
    case 4: return datatype_move_blocks(x, datatype->local, piece, offset, last, 4, put);
    case 8: return datatype_move_blocks(x, datatype->local, piece, offset, last, 8, put);
    case 16: return datatype_move_blocks(x, datatype->local, piece, offset, last, 16, put);
    default: return datatype_move_blocks(x, datatype->local, piece, offset, last, x->bytes, put);
    }
}

/* Moves segments to or from a piece; the commonest small size without a call.  @p checked: each is
 * checked before it is moved. */
static inline __attribute__((always_inline)) bool datatype_move_vector(const skua_segment *list,
                                                                       size_t n, char *piece,
                                                                       uint64_t offset,
                                                                       uint64_t room, bool put,
                                                                       bool checked)
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

bool ski_datatype_list_put(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room)
{
    if (datatype->kind == SKI_DATATYPE_VECTOR)
        return datatype_move_vector(datatype->list, datatype->count, piece, offset, room, true,
                                    true);
    return datatype->bytes <= room &&
           datatype_move_indexed(datatype, piece, offset, room - datatype->bytes, true);
}

bool ski_datatype_list_get(const struct ski_datatype *datatype, char *piece, uint64_t offset,
                           uint64_t room)
{
    if (datatype->kind == SKI_DATATYPE_VECTOR)
        return datatype_move_vector(datatype->list, datatype->count, piece, offset, room, false,
                                    true);
    return datatype->bytes <= room &&
           datatype_move_indexed(datatype, piece, offset, room - datatype->bytes, false);
}

void ski_datatype_put(const struct ski_datatype *datatype, char *remote)
{
    switch (datatype->kind) {
    case SKI_DATATYPE_CONTIGUOUS: ski_copy(remote, datatype->local, datatype->bytes); break;
    case SKI_DATATYPE_STRIDED: datatype_copy_strided(datatype, remote, true); break;
    case SKI_DATATYPE_INDEXED: datatype_move_indexed(datatype, remote, 0, UINT64_MAX, true); break;
    case SKI_DATATYPE_VECTOR:
        datatype_move_vector(datatype->list, datatype->count, remote, 0, 0, true, false);
        break;
    }
}

void ski_datatype_get(const struct ski_datatype *datatype, char *remote)
{
    switch (datatype->kind) {
    case SKI_DATATYPE_CONTIGUOUS: ski_copy(datatype->local, remote, datatype->bytes); break;
    case SKI_DATATYPE_STRIDED: datatype_copy_strided(datatype, remote, false); break;
    case SKI_DATATYPE_INDEXED: datatype_move_indexed(datatype, remote, 0, UINT64_MAX, false); break;
    case SKI_DATATYPE_VECTOR:
        datatype_move_vector(datatype->list, datatype->count, remote, 0, 0, false, false);
        break;
    }
}

/* ---- runs ------------------------------------------------------------------- */

void ski_iov_iter_begin(struct ski_iov_iter *iter, const struct ski_datatype *datatype)
{
    ski_assert(datatype->kind <= SKI_DATATYPE_INDEXED);
    *iter =
        (struct ski_iov_iter){.datatype = datatype, .at = {datatype->local, 0, datatype->bytes}};
    if (datatype->kind == SKI_DATATYPE_STRIDED && datatype_strided_is_empty(datatype->strided))
        iter->next = 1; /* at the end */
}

/* Goes to the next block, as an odometer does. */
static bool iov_iter_next_strided(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const skua_strided *s     = iter->datatype->strided;
    int                 level = 0;

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

bool ski_iov_iter_next(struct ski_iov_iter *iter, struct ski_iov *iov)
{
    const struct ski_datatype *datatype = iter->datatype;

    if (datatype->kind == SKI_DATATYPE_STRIDED)
        return iov_iter_next_strided(iter, iov);
    while (iter->next < datatype->count) {
        size_t i = iter->next++;

        if (datatype->kind == SKI_DATATYPE_CONTIGUOUS)
            *iov = iter->at;
        else if (datatype->kind == SKI_DATATYPE_VECTOR)
            *iov = (struct ski_iov){datatype->list[i].local, datatype->list[i].remote,
                                    datatype->list[i].bytes};
        else
            *iov = (struct ski_iov){datatype->local + (datatype->indexed->local
                                                           ? datatype->indexed->local[i]
                                                           : (ptrdiff_t)(i * datatype->bytes)),
                                    datatype->indexed->remote[i], datatype->bytes};
        if (iov->bytes > 0)
            return true;
    }
    return false;
}
