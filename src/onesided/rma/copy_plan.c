/* SPDX-License-Identifier: Apache-2.0 */
/* copy_plan.c - see copy_plan.h. */
#include "onesided/rma/copy_plan.h"

#include <string.h>

#include "base/assert.h"
#include "base/copy.h"
#include "base/log.h"
#include "onesided/rma/datatype_copy.h"

static bool copy_plan_is_block(const skua_layout *layout)
{
    return !layout || layout->kind == SKUA_LAYOUT_CONTIGUOUS;
}

/* Makes @p packed the layout with the blocks of @p like, a strided one, that is one block. */
static void copy_plan_pack_like(const skua_layout *like, skua_layout *packed)
{
    size_t step = like->bytes;

    ski_layout_assign(packed, like);
    for (int i = 0; i < like->strided.levels; i++) {
        packed->strided.stride[i] = (ptrdiff_t)step;
        step *= like->strided.count[i];
    }
}

static bool copy_plan_same_blocks(const skua_layout *a, const skua_layout *b)
{
    return a->kind == SKUA_LAYOUT_STRIDED && b->kind == SKUA_LAYOUT_STRIDED &&
           a->bytes == b->bytes && a->strided.levels == b->strided.levels &&
           memcmp(a->strided.count, b->strided.count,
                  (size_t)a->strided.levels * sizeof *a->strided.count) == 0;
}

/* Sets one side of a plan: @p layout or, if it is one block and the other side is strided, the
 * blocks of the other side. */
static void copy_plan_set_side(struct ski_copy_plan *plan, skua_layout *side,
                               const skua_layout *layout, const skua_layout *other)
{
    if (copy_plan_is_block(layout) && !copy_plan_is_block(other) &&
        other->kind == SKUA_LAYOUT_STRIDED)
        copy_plan_pack_like(other, side);
    else if (copy_plan_is_block(layout))
        *side = skua_layout_contiguous(NULL, plan->bytes);
    else
        ski_layout_assign(side, layout);
}

void ski_copy_plan_make(struct ski_copy_plan *plan, const skua_layout *to, const skua_layout *from)
{
    ski_assert(to || from);
    ski_assert(!to || !from || skua_layout_bytes(to) == skua_layout_bytes(from));
    plan->kind  = SKI_COPY_BLOCK;
    plan->bytes = skua_layout_bytes(from ? from : to);
    if (copy_plan_is_block(to) && copy_plan_is_block(from))
        return;
    copy_plan_set_side(plan, &plan->to, to, from);
    copy_plan_set_side(plan, &plan->from, from, to);
    plan->kind = copy_plan_same_blocks(&plan->to, &plan->from) ? SKI_COPY_STRIDED : SKI_COPY_BLOCKS;
}

static void copy_plan_run_strided(const struct ski_copy_plan *plan, char *to, const char *from)
{
    const skua_strides *s        = &plan->from.strided;
    struct ski_datatype datatype = {
        .kind    = SKI_DATATYPE_STRIDED,
        .local   = (char *)(uintptr_t)from,
        .bytes   = plan->from.bytes,
        .strided = {s->levels, s->count, s->stride, plan->to.strided.stride}};

    ski_datatype_put(&datatype, to);
}

static void copy_plan_run_blocks(const struct ski_copy_plan *plan, char *to, const char *from)
{
    ptrdiff_t           packed[SKUA_LAYOUT_LEVELS];
    struct ski_datatype datatype;

    ski_datatype_pair(&datatype, &plan->from, &plan->to, packed);
    datatype.local = (char *)(uintptr_t)from;
    ski_datatype_put(&datatype, to);
}

void ski_copy_plan_run(const struct ski_copy_plan *plan, char *to, const char *from)
{
    switch (plan->kind) {
    case SKI_COPY_BLOCK: ski_copy(to, from, plan->bytes); break;
    case SKI_COPY_STRIDED: copy_plan_run_strided(plan, to, from); break;
    case SKI_COPY_BLOCKS: copy_plan_run_blocks(plan, to, from); break;
    }
}

void skua_layout_copy(const skua_layout *to, const skua_layout *from)
{
    skua_layout          simple_to, simple_from;
    size_t               bytes, read;
    struct ski_copy_plan plan;

    if (to->at == from->at && ski_layout_same(to, from))
        return;
    if (ski_layout_check_any(__func__, to, false, &simple_to, &bytes) != SKUA_OK ||
        ski_layout_check_any(__func__, from, false, &simple_from, &read) != SKUA_OK ||
        bytes != read)
        ski_misuse("%s: cannot copy from a layout of %zu bytes to one of %zu", __func__,
                   skua_layout_bytes(from), skua_layout_bytes(to));
    if (bytes == 0)
        return;
    ski_copy_plan_make(&plan, &simple_to, &simple_from);
    ski_copy_plan_run(&plan, to->at, from->at);
}
