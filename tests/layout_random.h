/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout_random.h - random layouts of every kind, for tests.
 *
 * A layout has a given number of distinct elements within a given range of memory. Its base is a
 * random position in the range, so offsets may be negative.
 */
#ifndef LAYOUT_RANDOM_H
#define LAYOUT_RANDOM_H

#include "layout_byte.h"
#include "tap.h"

#define TEST_LAYOUT_BLOCKS 48

struct test_layout {
    skua_layout layout;
    size_t      base; /* the base of offsets, in bytes from the start of the range */
    ptrdiff_t   offset[TEST_LAYOUT_BLOCKS];
    skua_block  block[TEST_LAYOUT_BLOCKS];
    uint64_t   *random;
    size_t      unit, units; /* bytes of an element; number of elements */
    size_t      room;        /* in elements */
};

static inline size_t test_layout_below(struct test_layout *t, size_t n)
{
    return n ? (size_t)(tap_random(t->random) % n) : 0;
}

/* Chooses blocks and counts whose product is the number of elements, at most @p levels deep. */
static inline void test_layout_make_strided(struct test_layout *t, int levels)
{
    skua_layout  *layout = &t->layout;
    skua_strides *s      = &layout->strided;
    size_t        block  = t->units, span;

    *layout = (skua_layout){.kind = SKUA_LAYOUT_STRIDED, .strided = {.levels = 0}};
    while (s->levels < levels && test_layout_below(t, 4) > 0) {
        size_t factor = block ? 1 + test_layout_below(t, 6) : 0;

        if (factor && block % factor)
            continue;
        block                 = factor ? block / factor : 1;
        s->count[s->levels++] = factor;
    }
    layout->bytes = block * t->unit;
    span          = block;
    t->base       = 0;
    for (int i = 0; i < s->levels; i++) {
        size_t steps = s->count[i] ? s->count[i] - 1 : 0, rest = span * steps;
        size_t outer = 1, gap;

        for (int k = i + 1; k < s->levels; k++)
            outer *= s->count[k] ? s->count[k] : 1;
        gap = test_layout_below(t, 2) ? test_layout_below(t, 4) : 0;
        if ((span + rest + gap * steps) * outer > t->room)
            gap = 0;
        s->stride[i] = (ptrdiff_t)((span + gap) * t->unit);
        if (test_layout_below(t, 4) == 0) { /* backwards */
            t->base += steps * (span + gap) * t->unit;
            s->stride[i] = -s->stride[i];
        }
        span += steps * (span + gap);
    }
    if (t->units)
        t->base += test_layout_below(t, t->room - span + 1) * t->unit;
}

/* Places the blocks, whose sizes are set, in a random order with gaps. */
static inline void test_layout_place(struct test_layout *t, size_t n)
{
    size_t order[TEST_LAYOUT_BLOCKS], at = 0, slack = t->room - t->units;

    t->base = test_layout_below(t, t->room + 1) * t->unit;
    for (size_t i = 0; i < n; i++) {
        size_t k = test_layout_below(t, i + 1);

        order[i] = order[k];
        order[k] = i;
    }
    for (size_t i = 0; i < n; i++) {
        size_t gap = test_layout_below(t, 3) ? test_layout_below(t, slack / n + 1) : 0;

        at += gap * t->unit;
        t->block[order[i]].offset = t->offset[order[i]] = (ptrdiff_t)at - (ptrdiff_t)t->base;
        at += t->block[order[i]].bytes;
    }
}

static inline void test_layout_make_indexed(struct test_layout *t)
{
    size_t n = t->units ? 1 + test_layout_below(t, TEST_LAYOUT_BLOCKS) : test_layout_below(t, 3);

    while (n > 0 && t->units % n)
        n--;
    for (size_t i = 0; i < n; i++)
        t->block[i].bytes = t->units / n * t->unit;
    test_layout_place(t, n);
    t->layout = skua_layout_indexed(NULL, n ? t->units / n * t->unit : t->unit, n, t->offset);
}

static inline void test_layout_make_list(struct test_layout *t)
{
    size_t n = 1 + test_layout_below(t, TEST_LAYOUT_BLOCKS), left = t->units;

    for (size_t i = 0; i < n; i++) {
        size_t some = i == n - 1 ? left : test_layout_below(t, 2 * t->units / n + 2);

        some              = some < left ? some : left;
        t->block[i].bytes = some * t->unit;
        left -= some;
    }
    test_layout_place(t, n);
    t->layout = skua_layout_list(NULL, n, t->block);
}

/** Makes @p t a layout of @p kind, of @p units elements of @p unit bytes, in @p room bytes. */
static inline void test_layout_make(struct test_layout *t, skua_layout_kind kind, uint64_t *random,
                                    size_t unit, size_t units, size_t room)
{
    t->random = random;
    t->unit   = unit;
    t->units  = units;
    t->room   = room / unit;
    switch (kind) {
    case SKUA_LAYOUT_STRIDED: test_layout_make_strided(t, SKUA_LAYOUT_LEVELS); break;
    case SKUA_LAYOUT_INDEXED: test_layout_make_indexed(t); break;
    case SKUA_LAYOUT_LIST: test_layout_make_list(t); break;
    case SKUA_LAYOUT_CONTIGUOUS:
        t->layout = skua_layout_contiguous(NULL, units * unit);
        t->base   = test_layout_below(t, t->room - units + 1) * unit;
    }
}

/** Returns a random kind. */
static inline skua_layout_kind test_layout_kind(uint64_t *random)
{
    return (skua_layout_kind)(tap_random(random) % (SKUA_LAYOUT_LIST + 1));
}

#endif
