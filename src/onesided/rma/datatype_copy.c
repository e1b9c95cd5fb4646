/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datatype_copy.c - see datatype_copy.h.
 *
 * The speed of strided and indexed transfers depends on copies of small blocks: for the sizes of
 * C's types the inner loop is a load, a store and two additions.
 */
#include "onesided/rma/datatype_copy.h"

#include <stdint.h>
#include <string.h>

#include "base/arch.h"
#include "base/assert.h"
#include "base/copy.h"
#include "onesided/rma/iov.h"

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
