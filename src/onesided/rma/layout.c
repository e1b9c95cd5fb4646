/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - see layout.h. */
#include "onesided/rma/layout.h"

#include "base/copy.h"
#include "base/log.h"

/* ---- one layout ---------------------------------------------------------------- */

skua_strided ski_layout_strided(const skua_layout *layout)
{
    skua_strided strided = {.bytes = layout->bytes, .levels = layout->levels};

    for (int i = 0; i < layout->levels; i++) {
        strided.count[i]  = layout->count[i];
        strided.local[i]  = layout->stride[i];
        strided.remote[i] = layout->stride[i];
    }
    return strided;
}

/* Adds a level on top of what is there, or makes that longer. */
static void add_level(skua_layout *layout, size_t count, ptrdiff_t stride)
{
    int last = layout->levels - 1;

    if (count == 1)
        return;
    if (last < 0 && stride == (ptrdiff_t)layout->bytes) {
        layout->bytes *= count;
    } else if (last >= 0 && stride == (ptrdiff_t)layout->count[last] * layout->stride[last]) {
        layout->count[last] *= count;
    } else {
        layout->count[layout->levels]    = count;
        layout->stride[layout->levels++] = stride;
    }
}

static void simplify(const skua_layout *layout, skua_layout *simple)
{
    *simple = skua_layout_of(layout->at, layout->bytes);
    for (int i = 0; i < layout->levels; i++)
        add_level(simple, layout->count[i], layout->stride[i]);
}

size_t ski_layout_bytes(const skua_layout *layout)
{
    size_t bytes = layout->bytes;

    if (layout->levels < 0 || layout->levels > SKUA_LAYOUT_LEVELS)
        return 0;
    for (int i = 0; i < layout->levels; i++)
        if (__builtin_mul_overflow(bytes, layout->count[i], &bytes))
            return 0;
    return bytes < PTRDIFF_MAX ? bytes : 0;
}

static bool overlaps(const char *call, const skua_layout *layout)
{
    skua_strided     strided = ski_layout_strided(layout);
    struct ski_shape shape   = ski_shape_strided(layout->at, &strided);
    ptrdiff_t        lo, hi;
    size_t           grain;

    return ski_shape_extent(call, &shape, SKI_REMOTE, &lo, &hi, &grain) != SKUA_OK;
}

skua_status_t ski_layout_check(const char *call, const skua_layout *layout, bool written,
                               skua_layout *simple, size_t *bytes)
{
    if (layout->levels < 0 || layout->levels > SKUA_LAYOUT_LEVELS)
        return ski_refuse(SKUA_ERR_INVAL, "%s: a layout has 0 to %d levels, not %d", call,
                          SKUA_LAYOUT_LEVELS, layout->levels);
    *bytes = ski_layout_bytes(layout);
    if (!*bytes || !layout->at)
        return ski_refuse(SKUA_ERR_INVAL, "%s: a layout without memory", call);
    if (written && overlaps(call, layout))
        return SKUA_ERR_INVAL;
    simplify(layout, simple);
    return SKUA_OK;
}

char *ski_layout_begin(const skua_layout *layout, size_t *span)
{
    char *begin = layout->at;

    *span = layout->bytes;
    for (int i = 0; i < layout->levels; i++) {
        ptrdiff_t reach = (ptrdiff_t)(layout->count[i] - 1) * layout->stride[i];

        begin += reach < 0 ? reach : 0;
        *span += (size_t)(reach < 0 ? -reach : reach);
    }
    return begin;
}

/* ---- another shape ------------------------------------------------------------- */

/* What is left of a layout while its levels are taken apart: `count` times `stride`, then the
 * levels from `next` on. */
struct rest {
    const skua_layout *of;
    size_t             count;
    ptrdiff_t          stride;
    int                next;
};

/* The stride of @p count steps from here; false: they are not even. */
static bool take_level(struct rest *rest, size_t count, ptrdiff_t *stride)
{
    if (rest->count == 1 && count > 1 && rest->next < rest->of->levels) {
        rest->count  = rest->of->count[rest->next];
        rest->stride = rest->of->stride[rest->next++];
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
    struct rest rest = {simple, simple->bytes / like->bytes, (ptrdiff_t)like->bytes, 0};

    if (simple->bytes % like->bytes)
        return false;
    *as    = *like;
    as->at = simple->at;
    for (int i = 0; i < like->levels; i++)
        if (!take_level(&rest, like->count[i], &as->stride[i]))
            return false;
    return true;
}

/* ---- paths ---------------------------------------------------------------------- */

/* Whether both have the same blocks, equally many at each level. */
static bool same_pattern(const skua_layout *a, const skua_layout *b)
{
    if (a->bytes != b->bytes || a->levels != b->levels)
        return false;
    for (int i = 0; i < a->levels; i++)
        if (a->count[i] != b->count[i])
            return false;
    return true;
}

bool ski_layout_same(const skua_layout *a, const skua_layout *b)
{
    return same_pattern(a, b) &&
           memcmp(a->stride, b->stride, (size_t)a->levels * sizeof *a->stride) == 0;
}

/* The strides that make the pattern of @p like one piece. */
static skua_layout packed_like(const skua_layout *like)
{
    skua_layout packed = *like;
    size_t      step   = like->bytes;

    for (int i = 0; i < like->levels; i++) {
        packed.stride[i] = (ptrdiff_t)step;
        step *= like->count[i];
    }
    return packed;
}

static skua_strided pair_of(const skua_layout *to, const skua_layout *from)
{
    skua_strided pair = ski_layout_strided(from);

    for (int i = 0; i < from->levels; i++)
        pair.remote[i] = to->stride[i];
    return pair;
}

static bool is_block(const skua_layout *layout)
{
    return !layout || layout->levels == 0;
}

void ski_path_make(struct ski_path *path, const skua_layout *to, const skua_layout *from)
{
    skua_layout packed;

    path->kind  = SKI_PATH_STRIDED;
    path->bytes = ski_layout_bytes(from ? from : to);
    if (is_block(to) && is_block(from)) {
        path->kind = SKI_PATH_BLOCK;
    } else if (is_block(to)) {
        packed        = packed_like(from);
        path->strided = pair_of(&packed, from);
    } else if (is_block(from)) {
        packed        = packed_like(to);
        path->strided = pair_of(to, &packed);
    } else if (same_pattern(to, from)) {
        path->strided = pair_of(to, from);
    } else {
        path->kind    = SKI_PATH_PIECES;
        path->strided = ski_layout_strided(from);
        path->other   = ski_layout_strided(to);
    }
}

static void copy_pieces(const struct ski_path *path, char *to, const char *from)
{
    struct ski_shape read  = ski_shape_strided(from, &path->strided);
    struct ski_shape write = ski_shape_strided(to, &path->other);
    struct ski_runs  reads, writes;
    struct ski_run   source, target = {NULL, 0, 0};

    ski_runs_begin(&reads, &read);
    ski_runs_begin(&writes, &write);
    while (ski_runs_next(&reads, &source))
        while (source.bytes > 0) {
            size_t now;

            if (target.bytes == 0)
                ski_runs_next(&writes, &target);
            now = source.bytes < target.bytes ? source.bytes : target.bytes;
            memcpy(target.local, source.local, now);
            source.local += now, source.bytes -= now;
            target.local += now, target.bytes -= now;
        }
}

void ski_path_copy(const struct ski_path *path, char *to, const char *from)
{
    struct ski_shape shape;

    switch (path->kind) {
    case SKI_PATH_BLOCK: ski_copy(to, from, path->bytes); break;
    case SKI_PATH_STRIDED:
        shape = ski_shape_strided(from, &path->strided);
        ski_shape_put(&shape, to);
        break;
    case SKI_PATH_PIECES: copy_pieces(path, to, from); break;
    }
}

void skua_layout_copy(const skua_layout *to, const skua_layout *from)
{
    skua_layout     simple_to, simple_from;
    size_t          bytes, read;
    struct ski_path path;

    if (to->at == from->at && ski_layout_same(to, from))
        return;
    if (ski_layout_check(__func__, to, false, &simple_to, &bytes) != SKUA_OK ||
        ski_layout_check(__func__, from, false, &simple_from, &read) != SKUA_OK || bytes != read)
        ski_misuse("%s: from a layout of %zu bytes to one of %zu", __func__, ski_layout_bytes(from),
                   ski_layout_bytes(to));
    ski_path_make(&path, &simple_to, &simple_from);
    ski_path_copy(&path, to->at, from->at);
}
