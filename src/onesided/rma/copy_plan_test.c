/* SPDX-License-Identifier: Apache-2.0 */
/* copy_plan_test.c - copies between random layouts of every kind, against one byte by byte. */
#include "onesided/rma/copy_plan.h"

#include <string.h>

#include "base/log.h"
#include "tests/layout_random.h"
#include "tests/tap.h"

#define ROOM 2000

static uint64_t seed;
static char     source[ROOM], target[ROOM], expected[ROOM];

static void copy_plan_fill(const skua_layout *to, const skua_layout *from, size_t total)
{
    for (size_t i = 0; i < ROOM; i++)
        source[i] = (char)tap_random(&seed);
    memset(target, 0x55, ROOM);
    memset(expected, 0x55, ROOM);
    for (size_t i = 0; i < total; i++)
        expected[test_layout_byte(to, i) - target] = *test_layout_byte(from, i);
}

static bool copy_plan_copies(int pair)
{
    struct test_layout   to, from;
    skua_layout          simple_from, simple_to;
    struct ski_copy_plan plan;
    size_t               bytes, total = 1 + tap_random(&seed) % 700;

    test_layout_make(&to, (skua_layout_kind)(pair % 4), &seed, 1, total, ROOM);
    test_layout_make(&from, (skua_layout_kind)(pair / 4), &seed, 1, total, ROOM);
    to.layout.at   = target + to.base;
    from.layout.at = source + from.base;
    copy_plan_fill(&to.layout, &from.layout, total);
    if (ski_layout_check("test", &from.layout, false, &simple_from, &bytes) != SKUA_OK ||
        ski_layout_check("test", &to.layout, true, &simple_to, &bytes) != SKUA_OK)
        return false;
    ski_copy_plan_make(&plan, &simple_to, &simple_from);
    ski_copy_plan_run(&plan, to.layout.at, from.layout.at);
    if (plan.bytes != total || memcmp(target, expected, ROOM) != 0)
        return false;
    memset(target, 0x55, ROOM);
    skua_layout_copy(&to.layout, &from.layout);
    return memcmp(target, expected, ROOM) == 0;
}

/* A side that is NULL is packed. */
static bool copy_plan_packs(int kind)
{
    struct test_layout   from;
    skua_layout          flat, simple;
    struct ski_copy_plan pack, unpack;
    size_t               bytes, total = 1 + tap_random(&seed) % 700;
    char                 again[ROOM] = {0};

    test_layout_make(&from, (skua_layout_kind)kind, &seed, 1, total, ROOM);
    from.layout.at = source + from.base;
    flat           = skua_layout_contiguous(target, total);
    copy_plan_fill(&flat, &from.layout, total);
    if (ski_layout_check("test", &from.layout, true, &simple, &bytes) != SKUA_OK)
        return false;
    ski_copy_plan_make(&pack, NULL, &simple);
    ski_copy_plan_run(&pack, target, from.layout.at);
    ski_copy_plan_make(&unpack, &simple, NULL);
    ski_copy_plan_run(&unpack, again + from.base, target);
    for (size_t i = 0; i < total; i++) {
        size_t at = from.base + (size_t)test_layout_offset(&from.layout, i);

        if (again[at] != source[at])
            return false;
    }
    return memcmp(target, expected, ROOM) == 0;
}

int main(void)
{
    bool copied = true, packed = true;

    seed          = tap_seed();
    ski_log_level = SKI_LOG_FATAL;
    for (int i = 0; i < 3200; i++) {
        copied &= copy_plan_copies(i % 16);
        packed &= copy_plan_packs(i % 4);
    }
    OK(copied, "copies between layouts of all kinds");
    OK(packed, "packing and unpacking");
    return tap_end();
}
