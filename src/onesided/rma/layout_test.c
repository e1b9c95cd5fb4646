/* SPDX-License-Identifier: Apache-2.0 */
/* layout_test.c - random layouts: their extents, simplest forms, blocks; and what is refused. */
#include "onesided/rma/layout.h"

#include <string.h>

#include "base/log.h"
#include "tests/layout_random.h"
#include "tests/tap.h"

#define ROOM 2000

static uint64_t seed;
static char     memory[ROOM];

static size_t layout_below(size_t n)
{
    return (size_t)(tap_random(&seed) % n);
}

static void layout_random(struct test_layout *t, skua_layout_kind kind)
{
    size_t unit = 1 + layout_below(4);

    test_layout_make(t, kind, &seed, unit, layout_below(ROOM / unit / 2), ROOM);
    t->layout.at = memory + t->base;
}

/* The largest power of two that divides @p unit: what or-ed multiples of it are multiples of. */
static size_t layout_power(size_t unit)
{
    return unit & (~unit + 1);
}

/* The extent is exactly what the bytes say. */
static bool layout_extent_holds(const struct test_layout *t)
{
    struct ski_extent extent;
    ptrdiff_t         lo = PTRDIFF_MAX, hi = PTRDIFF_MIN;
    size_t            total = t->units * t->unit;

    if (ski_layout_extent("test", "", &t->layout, true, &extent) != SKUA_OK ||
        extent.bytes != total || skua_layout_bytes(&t->layout) != total)
        return false;
    for (size_t i = 0; i < total; i++) {
        ptrdiff_t at = test_layout_offset(&t->layout, i);

        lo = at < lo ? at : lo;
        hi = at + 1 > hi ? at + 1 : hi;
    }
    return total == 0 ? extent.lo == 0 && extent.hi == 0
                      : extent.lo == lo && extent.hi == hi &&
                            (extent.sizes | extent.grain) % layout_power(t->unit) == 0;
}

/* The iterator names all bytes in their order. */
static bool layout_iterates(const skua_layout *layout, size_t total)
{
    struct ski_layout_iter iter;
    skua_block             block;
    size_t                 i = 0;

    ski_layout_iter_begin(&iter, layout);
    while (ski_layout_iter_next(&iter, &block))
        for (size_t k = 0; k < block.bytes; k++)
            if (i == total || block.offset + (ptrdiff_t)k != test_layout_offset(layout, i++))
                return false;
    return i == total;
}

/* The simplest form has the same bytes in the same order. */
static bool layout_simplifies(const struct test_layout *t)
{
    skua_layout simple;
    size_t      bytes, span, total = t->units * t->unit;

    if (ski_layout_check("test", &t->layout, true, &simple, &bytes) != SKUA_OK)
        return total == 0;
    for (size_t i = 0; i < total; i++)
        if (test_layout_byte(&simple, i) != test_layout_byte(&t->layout, i))
            return false;
    return bytes == total && ski_layout_begin(&simple, &span) >= memory && span <= ROOM &&
           simple.kind <= t->layout.kind && layout_iterates(&simple, total);
}

static bool layout_keeps(const struct test_layout *t)
{
    skua_layout kept  = t->layout;
    char       *list  = malloc(ski_layout_list_bytes(&kept) + 1);
    size_t      total = t->units * t->unit;
    bool        equal = true;

    ski_layout_keep_list(&kept, list);
    for (size_t i = 0; i < total; i++)
        equal &= test_layout_offset(&kept, i) == test_layout_offset(&t->layout, i);
    free(list);
    return equal;
}

/* A layout in another's shape, where there are strides for it: each byte is where it was. */
static bool layout_reshaped(int *done)
{
    struct test_layout from, like;
    size_t             total = 1 + layout_below(300), bytes;
    skua_layout        simple, as;

    test_layout_make(&from, (skua_layout_kind)layout_below(2), &seed, 1, total, ROOM);
    test_layout_make(&like, (skua_layout_kind)layout_below(2), &seed, 1, total, ROOM);
    from.layout.at = memory + from.base;
    if (ski_layout_check("test", &from.layout, false, &simple, &bytes) != SKUA_OK)
        return false;
    if (!ski_layout_reshape(&like.layout, &simple, &as))
        return simple.kind != SKUA_LAYOUT_CONTIGUOUS; /* one block has any shape */
    for (size_t i = 0; i < total; i++)
        if (test_layout_byte(&as, i) != test_layout_byte(&from.layout, i))
            return false;
    *done += simple.kind == SKUA_LAYOUT_STRIDED;
    return as.bytes == like.layout.bytes && as.kind == like.layout.kind;
}

static bool layout_refused(skua_layout layout)
{
    skua_layout simple;
    size_t      bytes;

    return ski_layout_check("test", &layout, true, &simple, &bytes) == SKUA_ERR_INVAL;
}

static skua_layout layout_rows(void *at, size_t bytes, int levels, size_t count, ptrdiff_t stride)
{
    skua_layout layout = skua_layout_strided(at, bytes, levels < 1 ? levels : 1, &count, &stride);

    layout.strided.levels = levels;
    return layout;
}

static void layout_test_refused(void)
{
    static const ptrdiff_t  twice[] = {0, 32, 28}, beyond[] = {PTRDIFF_MAX - 4};
    static const skua_block blocks[] = {{16, 8}, {0, 17}}, huge[] = {{0, SIZE_MAX / 2}, {1, 8}};
    static const skua_block apart[] = {{16, 8}, {0, 16}};

    OK(layout_refused(skua_layout_contiguous(memory, 0)), "no bytes");
    OK(layout_refused(skua_layout_contiguous(NULL, 8)), "no memory");
    OK(layout_refused(skua_layout_contiguous(memory, SIZE_MAX)), "more than memory can have");
    OK(layout_refused(layout_rows(memory, 8, 9, 1, 8)), "too many levels");
    OK(layout_refused(layout_rows(memory, 8, -1, 1, 8)), "a negative number of levels");
    OK(layout_refused(layout_rows(memory, 8, 1, 4, 4)), "strides that overlap");
    OK(layout_refused(layout_rows(memory, SIZE_MAX / 2, 1, 4, 4)), "strides beyond memory");
    OK(layout_refused(skua_layout_indexed(memory, 8, 3, twice)), "offsets that overlap");
    OK(layout_refused(skua_layout_indexed(memory, 8, 1, beyond)), "an offset beyond memory");
    OK(layout_refused(skua_layout_indexed(memory, 8, 1, NULL)), "no offsets");
    OK(layout_refused(skua_layout_list(memory, 2, blocks)), "blocks that overlap");
    OK(!layout_refused(skua_layout_list(memory, 2, apart)), "not blocks that do not");
    OK(layout_refused(skua_layout_list(memory, 2, huge)), "blocks beyond memory");
    OK(layout_refused(skua_layout_list(memory, 2, NULL)), "no blocks");
    OK(layout_refused((skua_layout){.kind = (skua_layout_kind)9, .at = memory, .bytes = 8}),
       "an unknown kind");
}

static bool layout_joins_levels(void)
{
    skua_layout layout =
        skua_layout_strided(memory, 2, 3, (size_t[]){1, 4, 5}, (ptrdiff_t[]){77, 2, 8});
    skua_layout simple;
    size_t      bytes;

    return ski_layout_check("test", &layout, false, &simple, &bytes) == SKUA_OK && bytes == 40 &&
           simple.kind == SKUA_LAYOUT_CONTIGUOUS && simple.bytes == 40;
}

int main(void)
{
    struct test_layout t;
    bool               bounded = true, iterated = true, simple = true, kept = true, shaped = true;
    int                done = 0;

    seed          = tap_seed();
    ski_log_level = SKI_LOG_FATAL;
    for (int i = 0; i < 3000; i++) {
        layout_random(&t, (skua_layout_kind)(i % 4));
        bounded &= layout_extent_holds(&t);
        iterated &= layout_iterates(&t.layout, t.units * t.unit);
        simple &= layout_simplifies(&t);
        kept &= layout_keeps(&t);
        shaped &= layout_reshaped(&done);
    }
    OK(bounded, "the extent is that of all bytes");
    OK(iterated, "the blocks are all bytes in their order");
    OK(simple, "the simplest form has the same bytes");
    OK(kept, "a layout that keeps its list has the same bytes");
    for (int i = 0; i < 100000 && done <= 20; i++) /* strides that fit are rare */
        shaped &= layout_reshaped(&done);
    OK(shaped && done > 20, "layouts in the shape of others");
    OK(layout_joins_levels(), "what lies one after another is one block");
    layout_test_refused();
    return tap_end();
}
