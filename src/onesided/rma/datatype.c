/* SPDX-License-Identifier: Apache-2.0 */
/* datatype.c - see datatype.h. */
#include "onesided/rma/datatype.h"

#include <stdint.h>

#include "base/arch.h"
#include "base/assert.h"
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
 * not have @p bytes. */
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

/* Pairs a contiguous side of @p bytes with another.  Returns false if the pair is mixed or not
 * valid. */
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

/* Pairs two sides of the same kind, neither of them contiguous.  Returns false if the pair is mixed
 * or not valid. */
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

/* Both sides are one block of the same size; whether it is too large for the region is checked
 * later. */
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

/* Returns whether strided blocks are aligned, within @p room, and do not overlap where they are
 * written; false also if simple arithmetic does not show it. */
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
