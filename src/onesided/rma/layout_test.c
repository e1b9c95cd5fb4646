/* SPDX-License-Identifier: Apache-2.0 */
/* layout_test.c - copies between random layouts, against one byte by byte; and what is refused. */
#include "onesided/rma/layout.h"

#include <string.h>

#include "base/log.h"
#include "tests/layout_byte.h"
#include "tests/tap.h"

#define ROOM 20000

static uint64_t seed;

static size_t layout_below(size_t n)
{
    return (size_t)(tap_random(&seed) % n);
}

/* Blocks and counts whose product is @p total; its lowest byte is @p at. */
static skua_layout layout_random(char *at, size_t total)
{
    skua_layout layout = skua_layout_of(at, total);
    ptrdiff_t   span;

    while (layout.levels < SKUA_LAYOUT_LEVELS && layout_below(4) > 0) {
        size_t factor = 1 + layout_below(6);

        if (layout.bytes % factor)
            continue;
        layout.bytes /= factor;
        layout.count[layout.levels++] = factor;
    }
    span = (ptrdiff_t)layout.bytes;
    for (int i = 0; i < layout.levels; i++) {
        ptrdiff_t reach;

        layout.stride[i] = span + (ptrdiff_t)(layout_below(2) ? layout_below(9) : 0);
        reach            = (ptrdiff_t)(layout.count[i] - 1) * layout.stride[i];
        span += reach;
        if (layout_below(4) == 0) { /* backwards */
            layout.at        = (char *)layout.at + reach;
            layout.stride[i] = -layout.stride[i];
        }
    }
    return layout;
}

static bool layout_copies(size_t total)
{
    static char          source[ROOM], target[ROOM], expected[ROOM];
    skua_layout          from = layout_random(source, total), to = layout_random(target, total);
    skua_layout          simple_from, simple_to;
    struct ski_copy_plan plan;
    size_t               bytes, span;

    for (size_t i = 0; i < ROOM; i++)
        source[i] = (char)layout_below(256);
    memset(target, 0x55, ROOM);
    memset(expected, 0x55, ROOM);
    for (size_t i = 0; i < total; i++)
        expected[test_layout_byte(&to, i) - target] = *test_layout_byte(&from, i);
    if (ski_layout_check("test", &from, false, &simple_from, &bytes) != SKUA_OK || bytes != total ||
        ski_layout_check("test", &to, true, &simple_to, &bytes) != SKUA_OK || bytes != total ||
        ski_layout_begin(&simple_to, &span) != target)
        return false;
    ski_copy_plan_make(&plan, &simple_to, &simple_from);
    ski_copy_plan_run(&plan, to.at, from.at);
    return memcmp(target, expected, ROOM) == 0;
}

/* A layout in another's shape, where there are strides for it: each byte is where it was. */
static bool layout_reshaped(size_t total, int *done)
{
    static char source[ROOM], target[ROOM];
    skua_layout from = layout_random(source, total), like = layout_random(target, total);
    skua_layout simple, as;
    size_t      bytes;
    bool        fits;

    if (ski_layout_check("test", &from, false, &simple, &bytes) != SKUA_OK)
        return false;
    fits = ski_layout_reshape(&like, &simple, &as);
    if (!fits)
        return simple.levels > 0; /* one block has any shape */
    for (size_t i = 0; i < total; i++)
        if (test_layout_byte(&as, i) != test_layout_byte(&from, i))
            return false;
    *done += simple.levels > 0;
    return as.bytes == like.bytes && as.levels == like.levels &&
           memcmp(as.count, like.count, sizeof as.count) == 0;
}

static bool layout_refused(skua_layout layout)
{
    skua_layout simple;
    size_t      bytes;

    return ski_layout_check("test", &layout, true, &simple, &bytes) == SKUA_ERR_INVAL;
}

static bool layout_simplified(void)
{
    char        memory[8];
    skua_layout layout = {memory, 2, 3, {1, 4, 5}, {77, 2, 8}}, simple;
    size_t      bytes;

    return ski_layout_check("test", &layout, false, &simple, &bytes) == SKUA_OK && bytes == 40 &&
           simple.levels == 0 && simple.bytes == 40;
}

int main(void)
{
    static char memory[64];
    bool        good = true;
    int         done = 0;

    seed          = tap_seed();
    ski_log_level = SKI_LOG_FATAL;
    for (int i = 0; i < 20000 && good; i++)
        good = layout_copies(layout_below(3) ? 1 + layout_below(300) : 720);
    OK(good, "copies between layouts of any kind");
    for (int i = 0; i < 20000 && good; i++)
        good = layout_reshaped(layout_below(3) ? 1 + layout_below(300) : 720, &done);
    OK(good && done > 100, "layouts in the shape of others");
    OK(layout_simplified(), "what lies one behind another is one block");
    OK(layout_refused((skua_layout){memory, 0, 0, {0}, {0}}), "no bytes");
    OK(layout_refused((skua_layout){NULL, 8, 0, {0}, {0}}), "no memory");
    OK(layout_refused((skua_layout){memory, 8, 9, {0}, {0}}), "too many levels");
    OK(layout_refused((skua_layout){memory, 8, 1, {4}, {4}}),
       "one that overlaps itself where it is written");
    OK(layout_refused((skua_layout){memory, SIZE_MAX / 2, 1, {4}, {4}}), "one larger than memory");
    return tap_end();
}
