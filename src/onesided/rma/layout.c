/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - see layout.h. */
#include "onesided/rma/layout.h"

#include "base/assert.h"
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

/* Adds a level, or joins it with the one below. */
static void layout_add_level(skua_layout *layout, size_t count, ptrdiff_t stride)
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

static void layout_simplify(const skua_layout *layout, skua_layout *simple)
{
    *simple = skua_layout_of(layout->at, layout->bytes);
    for (int i = 0; i < layout->levels; i++)
        layout_add_level(simple, layout->count[i], layout->stride[i]);
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

static bool layout_overlaps(const char *call, const skua_layout *layout)
{
    skua_strided        strided  = ski_layout_strided(layout);
    struct ski_datatype datatype = ski_datatype_strided(layout->at, &strided);
    ptrdiff_t           lo, hi;
    size_t              grain;

    return ski_datatype_extent(call, &datatype, SKI_SIDE_REMOTE, &lo, &hi, &grain) != SKUA_OK;
}

skua_status ski_layout_check(const char *call, const skua_layout *layout, bool written,
                             skua_layout *simple, size_t *bytes)
{
    if (layout->levels < 0 || layout->levels > SKUA_LAYOUT_LEVELS)
        return ski_refuse(SKUA_ERR_INVAL, "%s: a layout has 0 to %d levels, not %d", call,
                          SKUA_LAYOUT_LEVELS, layout->levels);
    *bytes = ski_layout_bytes(layout);
    if (!*bytes || !layout->at)
        return ski_refuse(SKUA_ERR_INVAL, "%s: the layout has no memory", call);
    if (written && layout_overlaps(call, layout))
        return SKUA_ERR_INVAL;
    layout_simplify(layout, simple);
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

/* ---- reshaping ----------------------------------------------------------------- */

/* The rest of a layout while its levels are split: `count` times `stride`, then the levels from
 * `next` on. */
struct layout_rest {
    const skua_layout *of;
    size_t             count;
    ptrdiff_t          stride;
    int                next;
};

/* Splits @p count steps off, with their stride; false: the rest is not divisible. */
static bool layout_take_level(struct layout_rest *rest, size_t count, ptrdiff_t *stride)
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
    struct layout_rest rest = {simple, simple->bytes / like->bytes, (ptrdiff_t)like->bytes, 0};

    if (simple->bytes % like->bytes)
        return false;
    *as    = *like;
    as->at = simple->at;
    for (int i = 0; i < like->levels; i++)
        if (!layout_take_level(&rest, like->count[i], &as->stride[i]))
            return false;
    return true;
}

/* ---- copy plans ------------------------------------------------------------------- */

/* Returns whether both have blocks of the same size, equally many at each level. */
static bool layout_same_pattern(const skua_layout *a, const skua_layout *b)
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
    return layout_same_pattern(a, b) &&
           memcmp(a->stride, b->stride, (size_t)a->levels * sizeof *a->stride) == 0;
}

/* Returns the layout with the pattern of @p like that is one block. */
static skua_layout layout_packed_like(const skua_layout *like)
{
    skua_layout packed = *like;
    size_t      step   = like->bytes;

    for (int i = 0; i < like->levels; i++) {
        packed.stride[i] = (ptrdiff_t)step;
        step *= like->count[i];
    }
    return packed;
}

static skua_strided layout_pair(const skua_layout *to, const skua_layout *from)
{
    skua_strided pair = ski_layout_strided(from);

    for (int i = 0; i < from->levels; i++)
        pair.remote[i] = to->stride[i];
    return pair;
}

static bool layout_is_block(const skua_layout *layout)
{
    return !layout || layout->levels == 0;
}

void ski_copy_plan_make(struct ski_copy_plan *plan, const skua_layout *to, const skua_layout *from)
{
    skua_layout packed;

    ski_assert(to || from);
    ski_assert(!to || !from || ski_layout_bytes(to) == ski_layout_bytes(from));
    plan->kind  = SKI_COPY_STRIDED;
    plan->bytes = ski_layout_bytes(from ? from : to);
    if (layout_is_block(to) && layout_is_block(from)) {
        plan->kind = SKI_COPY_BLOCK;
    } else if (layout_is_block(to)) {
        packed        = layout_packed_like(from);
        plan->strided = layout_pair(&packed, from);
    } else if (layout_is_block(from)) {
        packed        = layout_packed_like(to);
        plan->strided = layout_pair(to, &packed);
    } else if (layout_same_pattern(to, from)) {
        plan->strided = layout_pair(to, from);
    } else {
        plan->kind    = SKI_COPY_PIECES;
        plan->strided = ski_layout_strided(from);
        plan->other   = ski_layout_strided(to);
    }
}

static void layout_copy_pieces(const struct ski_copy_plan *plan, char *to, const char *from)
{
    struct ski_datatype read  = ski_datatype_strided(from, &plan->strided);
    struct ski_datatype write = ski_datatype_strided(to, &plan->other);
    struct ski_iov_iter reads, writes;
    struct ski_iov      source, target = {NULL, 0, 0};

    ski_iov_iter_begin(&reads, &read);
    ski_iov_iter_begin(&writes, &write);
    while (ski_iov_iter_next(&reads, &source))
        while (source.bytes > 0) {
            size_t now;

            if (target.bytes == 0)
                ski_iov_iter_next(&writes, &target);
            now = source.bytes < target.bytes ? source.bytes : target.bytes;
            ski_assert(now > 0); /* both have as many bytes */
            memcpy(target.local, source.local, now);
            source.local += now, source.bytes -= now;
            target.local += now, target.bytes -= now;
        }
}

void ski_copy_plan_run(const struct ski_copy_plan *plan, char *to, const char *from)
{
    struct ski_datatype datatype;

    switch (plan->kind) {
    case SKI_COPY_BLOCK: ski_copy(to, from, plan->bytes); break;
    case SKI_COPY_STRIDED:
        datatype = ski_datatype_strided(from, &plan->strided);
        ski_datatype_put(&datatype, to);
        break;
    case SKI_COPY_PIECES: layout_copy_pieces(plan, to, from); break;
    }
}

void skua_layout_copy(const skua_layout *to, const skua_layout *from)
{
    skua_layout          simple_to, simple_from;
    size_t               bytes, read;
    struct ski_copy_plan plan;

    if (to->at == from->at && ski_layout_same(to, from))
        return;
    if (ski_layout_check(__func__, to, false, &simple_to, &bytes) != SKUA_OK ||
        ski_layout_check(__func__, from, false, &simple_from, &read) != SKUA_OK || bytes != read)
        ski_misuse("%s: cannot copy from a layout of %zu bytes to one of %zu", __func__,
                   ski_layout_bytes(from), ski_layout_bytes(to));
    ski_copy_plan_make(&plan, &simple_to, &simple_from);
    ski_copy_plan_run(&plan, to->at, from->at);
}
