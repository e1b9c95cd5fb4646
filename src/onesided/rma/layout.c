/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - see layout.h. */
#include "onesided/rma/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/log.h"
#include "base/memory.h"

/* ---- checks ---------------------------------------------------------------------- */

/* The layout that is checked, and what errors say of it. */
struct layout_subject {
    const char        *call, *side;
    const skua_layout *layout;
};

static SKI_COLD skua_status layout_invalid(const struct layout_subject *s, const char *why)
{
    return ski_refuse(SKUA_ERR_INVAL, "%s: the %slayout %s", s->call, s->side, why);
}

static SKI_COLD skua_status layout_too_large(const struct layout_subject *s)
{
    return layout_invalid(s, "is larger than any memory");
}

static size_t layout_magnitude(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

/* Returns whether blocks overlap: from the smallest stride to the largest, each must lead past all
 * that the smaller ones span.  (Interleaved patterns that break this without overlapping are
 * refused as well.) */
static bool layout_overlaps(size_t bytes, const skua_strides *s)
{
    size_t span                     = bytes, step;
    bool   used[SKUA_LAYOUT_LEVELS] = {false};

    for (int round = 0; round < s->levels; round++) {
        int next = -1;

        for (int i = 0; i < s->levels; i++)
            if (!used[i] &&
                (next < 0 || layout_magnitude(s->stride[i]) < layout_magnitude(s->stride[next])))
                next = i;
        used[next] = true;
        step       = layout_magnitude(s->stride[next]);
        if (s->count[next] <= 1)
            continue;
        if (step < span)
            return true;
        span += (s->count[next] - 1) * step;
    }
    return false;
}

/* Adds a block to an extent. Returns false if its end, or the sum of all bytes, is no size that
 * memory can have. */
static bool layout_add_block(struct ski_extent *extent, ptrdiff_t offset, size_t bytes)
{
    ptrdiff_t end;

    if (bytes == 0)
        return true;
    if (bytes > (size_t)PTRDIFF_MAX - extent->bytes ||
        __builtin_add_overflow(offset, (ptrdiff_t)bytes, &end))
        return false;
    extent->lo = extent->bytes == 0 || offset < extent->lo ? offset : extent->lo;
    extent->hi = extent->bytes == 0 || end > extent->hi ? end : extent->hi;
    extent->bytes += bytes;
    extent->grain |= (size_t)offset;
    extent->sizes |= bytes;
    return true;
}

/* Extends the extent of one block by one level. Returns false if it overflows. */
static bool layout_add_level(struct ski_extent *extent, size_t count, ptrdiff_t stride)
{
    ptrdiff_t reach;
    size_t    bytes;

    if (count > PTRDIFF_MAX || __builtin_mul_overflow((ptrdiff_t)(count - 1), stride, &reach) ||
        __builtin_mul_overflow(extent->bytes, count, &bytes) || bytes > PTRDIFF_MAX ||
        __builtin_add_overflow(reach < 0 ? extent->lo : extent->hi, reach,
                               reach < 0 ? &extent->lo : &extent->hi))
        return false;
    extent->bytes = bytes;
    if (count > 1)
        extent->grain |= layout_magnitude(stride);
    return true;
}

static skua_status layout_strided_extent(const struct layout_subject *subject, bool written,
                                         struct ski_extent *extent)
{
    const skua_layout  *layout = subject->layout;
    const skua_strides *s      = &layout->strided;

    if (s->levels < 0 || s->levels > SKUA_LAYOUT_LEVELS)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the %slayout has %d levels, and may have 0 to %d",
                          subject->call, subject->side, s->levels, SKUA_LAYOUT_LEVELS);
    if (ski_strides_empty(layout->bytes, s->levels, s->count))
        return SKUA_OK;
    if (!layout_add_block(extent, 0, layout->bytes))
        return layout_too_large(subject);
    for (int i = 0; i < s->levels; i++)
        if (!layout_add_level(extent, s->count[i], s->stride[i]))
            return layout_too_large(subject);
    if (written && layout_overlaps(layout->bytes, s))
        return layout_invalid(subject, "is written and has levels that overlap or interleave");
    return SKUA_OK;
}

static skua_status layout_indexed_extent(const struct layout_subject *subject,
                                         struct ski_extent           *extent)
{
    const skua_layout *layout = subject->layout;
    const ptrdiff_t   *offset = layout->indexed.offset;
    ptrdiff_t          least = PTRDIFF_MAX, most = PTRDIFF_MIN;
    size_t             grain = 0;

    if (layout->indexed.count > 0 && !offset)
        return layout_invalid(subject, "has no list of offsets");
    if (layout->indexed.count == 0 || layout->bytes == 0)
        return SKUA_OK;
    for (size_t i = 0; i < layout->indexed.count; i++) {
        least = offset[i] < least ? offset[i] : least;
        most  = offset[i] > most ? offset[i] : most;
        grain |= (size_t)offset[i];
    }
    if (layout->bytes > PTRDIFF_MAX / layout->indexed.count ||
        __builtin_add_overflow(most, (ptrdiff_t)layout->bytes, &extent->hi))
        return layout_too_large(subject);
    extent->lo    = least;
    extent->bytes = layout->bytes * layout->indexed.count;
    extent->grain = grain;
    extent->sizes = layout->bytes;
    return SKUA_OK;
}

static skua_status layout_list_extent(const struct layout_subject *subject,
                                      struct ski_extent           *extent)
{
    const skua_blocks *list = &subject->layout->list;

    if (list->count > 0 && !list->block)
        return layout_invalid(subject, "has no list of blocks");
    for (size_t i = 0; i < list->count; i++)
        if (!layout_add_block(extent, list->block[i].offset, list->block[i].bytes))
            return layout_too_large(subject);
    return SKUA_OK;
}

skua_status ski_layout_extent(const char *call, const char *side, const skua_layout *layout,
                              bool written, struct ski_extent *extent)
{
    struct layout_subject subject = {call, side, layout};

    *extent = (struct ski_extent){.bytes = 0};
    switch (layout->kind) {
    case SKUA_LAYOUT_CONTIGUOUS:
        return layout_add_block(extent, 0, layout->bytes) ? SKUA_OK : layout_too_large(&subject);
    case SKUA_LAYOUT_STRIDED: return layout_strided_extent(&subject, written, extent);
    case SKUA_LAYOUT_INDEXED: return layout_indexed_extent(&subject, extent);
    case SKUA_LAYOUT_LIST: return layout_list_extent(&subject, extent);
    }
    return layout_invalid(&subject, "has an unknown kind");
}

/* Returns the bytes of a list layout; SIZE_MAX: more than a size can be. */
static size_t layout_list_total(const skua_blocks *list)
{
    size_t bytes = 0;

    for (size_t i = 0; list->block && i < list->count; i++)
        if (__builtin_add_overflow(bytes, list->block[i].bytes, &bytes))
            return SIZE_MAX;
    return bytes;
}

size_t skua_layout_bytes(const skua_layout *layout)
{
    size_t bytes = layout->bytes;

    if (layout->kind == SKUA_LAYOUT_STRIDED) {
        if (layout->strided.levels < 0 || layout->strided.levels > SKUA_LAYOUT_LEVELS)
            return 0;
        for (int i = 0; i < layout->strided.levels; i++)
            if (__builtin_mul_overflow(bytes, layout->strided.count[i], &bytes))
                return 0;
    } else if (layout->kind == SKUA_LAYOUT_INDEXED) {
        if (__builtin_mul_overflow(bytes, layout->indexed.count, &bytes))
            return 0;
    } else if (layout->kind == SKUA_LAYOUT_LIST) {
        bytes = layout_list_total(&layout->list);
    } else if (layout->kind != SKUA_LAYOUT_CONTIGUOUS) {
        return 0;
    }
    return bytes < PTRDIFF_MAX ? bytes : 0;
}

/* ---- lists that overlap ------------------------------------------------------------- */

static int layout_block_order(const void *a, const void *b)
{
    const skua_block *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Returns whether blocks of a valid layout with a list overlap. */
static bool layout_list_overlaps(const skua_layout *layout, size_t count)
{
    skua_block            *block = ski_malloc((count + 1) * sizeof *block);
    struct ski_layout_iter iter;
    size_t                 n        = 0;
    bool                   overlaps = false;

    ski_layout_iter_begin(&iter, layout);
    while (ski_layout_iter_next(&iter, &block[n]))
        n++;
    qsort(block, n, sizeof *block, layout_block_order);
    for (size_t i = 1; i < n; i++)
        overlaps |= block[i - 1].offset + (ptrdiff_t)block[i - 1].bytes > block[i].offset;
    free(block);
    return overlaps;
}

/* ---- the simplest form ---------------------------------------------------------------- */

/* Adds a level to a strided layout, or joins it with the one below. */
static void layout_append_level(skua_layout *layout, size_t count, ptrdiff_t stride)
{
    skua_strides *s    = &layout->strided;
    int           last = s->levels - 1;

    if (count == 1)
        return;
    if (last < 0 && stride == (ptrdiff_t)layout->bytes) {
        layout->bytes *= count;
    } else if (last >= 0 && stride == (ptrdiff_t)s->count[last] * s->stride[last]) {
        s->count[last] *= count;
    } else {
        ski_assert(s->levels < SKUA_LAYOUT_LEVELS);
        s->count[s->levels]    = count;
        s->stride[s->levels++] = stride;
    }
}

static void layout_simplify(const skua_layout *layout, skua_layout *simple)
{
    if (layout->kind != SKUA_LAYOUT_STRIDED) {
        ski_layout_assign(simple, layout);
        return;
    }
    *simple = skua_layout_strided(layout->at, layout->bytes, 0, NULL, NULL);
    for (int i = 0; i < layout->strided.levels; i++)
        layout_append_level(simple, layout->strided.count[i], layout->strided.stride[i]);
    if (simple->strided.levels == 0)
        simple->kind = SKUA_LAYOUT_CONTIGUOUS;
}

skua_status ski_layout_check_any(const char *call, const skua_layout *layout, bool written,
                                 skua_layout *simple, size_t *bytes)
{
    struct ski_extent extent;
    skua_status       status = ski_layout_extent(call, "", layout, written, &extent);

    if (status != SKUA_OK)
        return status;
    if (extent.bytes == 0) {
        *bytes  = 0;
        *simple = skua_layout_contiguous(layout->at, 0);
        return SKUA_OK;
    }
    if (!layout->at)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the layout has no address", call);
    if (written && ski_layout_has_list(layout) && layout_list_overlaps(layout, layout->list.count))
        return ski_refuse(SKUA_ERR_INVAL, "%s: the layout overlaps itself where it is written",
                          call);
    *bytes = extent.bytes;
    layout_simplify(layout, simple);
    ski_assert(skua_layout_bytes(simple) == *bytes);
    return SKUA_OK;
}

skua_status ski_layout_check(const char *call, const skua_layout *layout, bool written,
                             skua_layout *simple, size_t *bytes)
{
    skua_status status = ski_layout_check_any(call, layout, written, simple, bytes);

    if (status == SKUA_OK && *bytes == 0)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the layout has no data", call);
    return status;
}

size_t ski_layout_list_bytes(const skua_layout *layout)
{
    if (layout->kind == SKUA_LAYOUT_INDEXED)
        return layout->indexed.count * sizeof *layout->indexed.offset;
    return layout->kind == SKUA_LAYOUT_LIST ? layout->list.count * sizeof *layout->list.block : 0;
}

void ski_layout_keep_list(skua_layout *layout, void *memory)
{
    if (layout->kind == SKUA_LAYOUT_INDEXED)
        layout->indexed.offset =
            memcpy(memory, layout->indexed.offset, ski_layout_list_bytes(layout));
    else if (layout->kind == SKUA_LAYOUT_LIST)
        layout->list.block = memcpy(memory, layout->list.block, ski_layout_list_bytes(layout));
}

char *ski_layout_begin(const skua_layout *layout, size_t *span)
{
    struct ski_extent extent;

    *span = 0;
    if (ski_layout_extent(__func__, "", layout, false, &extent) != SKUA_OK)
        return layout->at;
    *span = (size_t)(extent.hi - extent.lo);
    return (char *)layout->at + extent.lo;
}

/* Returns whether both have strides, equally many of them, and blocks of the same size, equally
 * many at each level. */
static bool layout_same_counts(const skua_layout *a, const skua_layout *b)
{
    return a->bytes == b->bytes && a->strided.levels == b->strided.levels &&
           memcmp(a->strided.count, b->strided.count,
                  (size_t)a->strided.levels * sizeof *a->strided.count) == 0;
}

bool ski_layout_same(const skua_layout *a, const skua_layout *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == SKUA_LAYOUT_STRIDED)
        return layout_same_counts(a, b) &&
               memcmp(a->strided.stride, b->strided.stride,
                      (size_t)a->strided.levels * sizeof *a->strided.stride) == 0;
    if (a->kind == SKUA_LAYOUT_CONTIGUOUS)
        return a->bytes == b->bytes;
    return (a->kind == SKUA_LAYOUT_LIST || a->bytes == b->bytes) &&
           a->list.count == b->list.count && a->list.block == b->list.block;
}

/* ---- reshaping ----------------------------------------------------------------- */

/* The rest of a layout while its levels are split: `count` times `stride`, then the levels from
 * `next` on. */
struct layout_rest {
    const skua_layout *of;
    int                levels;
    size_t             count;
    ptrdiff_t          stride;
    int                next;
};

/* Splits @p count steps off, with their stride. Returns false if the rest is not divisible. */
static bool layout_take_level(struct layout_rest *rest, size_t count, ptrdiff_t *stride)
{
    ski_assert(count > 0 && rest->next <= rest->levels);
    if (rest->count == 1 && count > 1 && rest->next < rest->levels) {
        rest->count  = rest->of->strided.count[rest->next];
        rest->stride = rest->of->strided.stride[rest->next++];
    }
    if (rest->count % count)
        return false;
    *stride = rest->stride;
    rest->count /= count;
    rest->stride *= (ptrdiff_t)count;
    return true;
}

bool ski_layout_reshape(const skua_layout *like, const skua_layout *simple, skua_layout *as)
{
    struct layout_rest rest = {.of = simple};

    if (ski_layout_has_list(like) || ski_layout_has_list(simple) || simple->bytes % like->bytes)
        return false;
    rest.levels = simple->kind == SKUA_LAYOUT_STRIDED ? simple->strided.levels : 0;
    rest.count  = simple->bytes / like->bytes;
    rest.stride = (ptrdiff_t)like->bytes;
    ski_layout_assign(as, like);
    as->at = simple->at;
    if (like->kind == SKUA_LAYOUT_STRIDED)
        for (int i = 0; i < like->strided.levels; i++)
            if (!layout_take_level(&rest, like->strided.count[i], &as->strided.stride[i]))
                return false;
    return rest.count == 1 && rest.next == rest.levels;
}

/* ---- blocks --------------------------------------------------------------------- */

void ski_layout_iter_begin(struct ski_layout_iter *iter, const skua_layout *layout)
{
    iter->layout = layout;
    iter->next   = 0;
    iter->offset = 0;
    if (layout->kind != SKUA_LAYOUT_STRIDED)
        return;
    memset(iter->repeated, 0, sizeof iter->repeated);
    if (ski_strides_empty(layout->bytes, layout->strided.levels, layout->strided.count))
        iter->next = 1; /* at the end */
}

/* Goes to the next block, as an odometer does. */
static bool layout_iter_next_strided(struct ski_layout_iter *iter, skua_block *block)
{
    const skua_strides *s     = &iter->layout->strided;
    int                 level = 0;

    if (iter->next)
        return false;
    *block = (skua_block){iter->offset, iter->layout->bytes};
    while (level < s->levels && ++iter->repeated[level] == s->count[level]) {
        iter->offset -= (ptrdiff_t)(s->count[level] - 1) * s->stride[level];
        iter->repeated[level++] = 0;
    }
    if (level == s->levels)
        iter->next = 1;
    else
        iter->offset += s->stride[level];
    return true;
}

bool ski_layout_iter_next(struct ski_layout_iter *iter, skua_block *block)
{
    const skua_layout *layout = iter->layout;
    size_t             count  = layout->kind == SKUA_LAYOUT_CONTIGUOUS ? 1 : layout->list.count;

    if (layout->kind == SKUA_LAYOUT_STRIDED)
        return layout_iter_next_strided(iter, block);
    while (iter->next < count) {
        size_t i = iter->next++;

        if (layout->kind == SKUA_LAYOUT_LIST)
            *block = layout->list.block[i];
        else
            *block = (skua_block){
                layout->kind == SKUA_LAYOUT_INDEXED ? layout->indexed.offset[i] : 0, layout->bytes};
        if (block->bytes > 0)
            return true;
    }
    return false;
}
