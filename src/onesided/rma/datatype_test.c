/* SPDX-License-Identifier: Apache-2.0 */
/* datatype_test.c - random pairs of layouts of every kind: checks, copies and common blocks,
 * against a copy byte by byte. */
#include "onesided/rma/datatype.h"

#include "onesided/rma/datatype_copy.h"
#include "onesided/rma/iov.h"

#include <string.h>

#include "base/log.h"
#include "tests/layout_random.h"
#include "tests/tap.h"

#define ROOM 3000

static uint64_t seed;

static size_t datatype_below(size_t n)
{
    return tap_random(&seed) % n;
}

struct datatype_random {
    struct ski_datatype type;
    struct test_layout  here, there;
    ptrdiff_t           packed[SKUA_LAYOUT_LEVELS];
    size_t              total;
};

static char here[ROOM], there[ROOM], want_here[ROOM], want_there[ROOM];

static void datatype_make(struct datatype_random *r, int pair)
{
    size_t unit = 1 + datatype_below(9), units = datatype_below(ROOM / unit);

    test_layout_make(&r->here, (skua_layout_kind)(pair % 4), &seed, unit, units, ROOM);
    test_layout_make(&r->there, (skua_layout_kind)(pair / 4), &seed, unit, units, ROOM);
    r->here.layout.at = here + r->here.base;
    r->total          = units * unit;
    ski_datatype_pair(&r->type, &r->here.layout, &r->there.layout, r->packed);
}

static void datatype_fill(void)
{
    for (int i = 0; i < ROOM; i++) {
        here[i] = want_here[i] = (char)datatype_below(256);
        there[i] = want_there[i] = (char)datatype_below(256);
    }
}

static void datatype_expect(const struct datatype_random *r, bool put)
{
    datatype_fill();
    for (size_t i = 0; i < r->total; i++) {
        size_t l = r->here.base + (size_t)test_layout_offset(&r->here.layout, i);
        size_t k = r->there.base + (size_t)test_layout_offset(&r->there.layout, i);

        if (put)
            want_there[k] = want_here[l];
        else
            want_here[l] = want_there[k];
    }
}

static bool datatype_as_expected(void)
{
    return memcmp(here, want_here, ROOM) == 0 && memcmp(there, want_there, ROOM) == 0;
}

static bool datatype_copies(const struct datatype_random *r, bool put)
{
    datatype_expect(r, put);
    (put ? ski_datatype_put : ski_datatype_get)(&r->type, there + r->there.base);
    return datatype_as_expected();
}

/* Lists that are checked on the way either have other blocks on both sides, or are copied. */
static bool datatype_list_copies(const struct datatype_random *r, bool put)
{
    bool done;

    if (r->type.kind != SKI_DATATYPE_LIST && r->type.kind != SKI_DATATYPE_INDEXED)
        return true;
    datatype_expect(r, put);
    done =
        (put ? ski_datatype_list_put : ski_datatype_list_get)(&r->type, there, r->there.base, ROOM);
    return done ? datatype_as_expected()
                : r->type.kind == SKI_DATATYPE_LIST && r->type.list.local && r->type.list.remote;
}

/* Common blocks are all bytes, in their order, and none is empty. */
static bool datatype_iterates(const struct datatype_random *r)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    size_t              i = 0;

    ski_iov_iter_begin(&iter, &r->type);
    while (ski_iov_iter_next(&iter, &iov)) {
        if (iov.bytes == 0)
            return false;
        for (size_t k = 0; k < iov.bytes; k++, i++)
            if (i == r->total || iov.local + k != test_layout_byte(&r->here.layout, i) ||
                iov.remote + (ptrdiff_t)k != test_layout_offset(&r->there.layout, i))
                return false;
    }
    return i == r->total;
}

/* Valid pairs pass the check; the extent includes the base. */
static bool datatype_checks(const struct datatype_random *r)
{
    struct ski_extent extent;
    size_t            sizes;

    return ski_datatype_check("test", &r->type, SKI_SIDE_REMOTE, &extent, &sizes) == SKUA_OK &&
           ski_datatype_check("test", &r->type, SKI_SIDE_LOCAL, &extent, &sizes) == SKUA_OK &&
           extent.bytes == r->total && extent.lo <= 0 && extent.hi >= 0 &&
           sizes % (r->here.unit & (~r->here.unit + 1)) == 0;
}

/* The quick check accepts no block that is outside. */
static bool datatype_fits_is_safe(const struct datatype_random *r, int *accepted)
{
    size_t room = datatype_below(4) ? ROOM : datatype_below(ROOM), offset = r->there.base;

    if (!ski_datatype_fits(&r->type, SKI_SIDE_REMOTE, offset, room, 1))
        return true;
    ++*accepted;
    for (size_t i = 0; i < r->total; i++)
        if (offset + (size_t)test_layout_offset(&r->there.layout, i) >= room)
            return false;
    return true;
}

static bool datatype_refused(const skua_layout *local, const skua_layout *remote)
{
    ptrdiff_t           packed[SKUA_LAYOUT_LEVELS];
    struct ski_datatype type;
    struct ski_extent   extent;
    size_t              sizes;

    ski_datatype_pair(&type, local, remote, packed);
    return ski_datatype_check("test", &type, SKI_SIDE_REMOTE, &extent, &sizes) == SKUA_ERR_INVAL &&
           !ski_datatype_fits(&type, SKI_SIDE_REMOTE, 0, ROOM, 1);
}

static void datatype_test_refused(void)
{
    const size_t     four    = 4;
    const ptrdiff_t  two[]   = {0, 100};
    const skua_block block[] = {{0, 16}, {100, 17}}, other[] = {{0, 16}, {100, 16}};
    skua_layout      flat    = skua_layout_contiguous(here, 32);
    skua_layout      overlap = skua_layout_strided(here, 8, 1, &four, &(ptrdiff_t){4});
    skua_layout      rows    = skua_layout_strided(here, 8, 1, &four, &(ptrdiff_t){8});
    skua_layout      huge = skua_layout_strided(here, 8, 1, &four, &(ptrdiff_t){PTRDIFF_MAX / 2});
    skua_layout      indexed = skua_layout_indexed(here, 16, 2, two);
    skua_layout      none    = skua_layout_indexed(here, 16, 2, NULL);
    skua_layout      list    = skua_layout_list(here, 2, block);
    skua_layout      equal   = skua_layout_list(here, 2, other);

    OK(datatype_refused(&flat, &overlap), "blocks that overlap where they are written");
    OK(!datatype_refused(&overlap, &flat), "not blocks that overlap where they are read");
    OK(datatype_refused(&flat, &huge), "an extent larger than memory");
    OK(datatype_refused(&flat, &none) && datatype_refused(&none, &indexed), "no list of offsets");
    OK(datatype_refused(&flat, &list) && datatype_refused(&list, &flat) &&
           datatype_refused(&list, &equal) && datatype_refused(&indexed, &list),
       "sides of different sizes");
    flat.bytes = 31;
    OK(datatype_refused(&flat, &rows) && datatype_refused(&rows, &flat) &&
           datatype_refused(&flat, &indexed) && datatype_refused(&indexed, &flat),
       "sides of different sizes, one of them contiguous");
}

/* Accumulates need whole elements: the check tells about the blocks of both sides. */
static bool datatype_tells_sizes(void)
{
    const skua_block    block[] = {{0, 12}, {12, 4}};
    skua_layout         list    = skua_layout_list(here, 2, block);
    skua_layout         flat    = skua_layout_contiguous(here, 16);
    ptrdiff_t           packed[SKUA_LAYOUT_LEVELS];
    struct ski_datatype type;
    struct ski_extent   extent;
    size_t              sizes;

    ski_datatype_pair(&type, &list, &flat, packed);
    return ski_datatype_check("test", &type, SKI_SIDE_REMOTE, &extent, &sizes) == SKUA_OK &&
           sizes % 4 == 0 && sizes % 8 != 0 &&
           !ski_datatype_fits(&type, SKI_SIDE_REMOTE, 0, ROOM, 8);
}

int main(void)
{
    struct datatype_random r;
    bool copied = true, listed = true, iterated = true, checked = true, safe = true;
    int  accepted = 0;

    seed          = tap_seed();
    ski_log_level = SKI_LOG_FATAL;
    for (int i = 0; i < 1600; i++) {
        datatype_make(&r, i % 16);
        copied &= datatype_copies(&r, true) && datatype_copies(&r, false);
        listed &= datatype_list_copies(&r, true) && datatype_list_copies(&r, false);
        iterated &= datatype_iterates(&r);
        checked &= datatype_checks(&r);
        safe &= datatype_fits_is_safe(&r, &accepted);
    }
    OK(copied, "copies in both directions, between all pairs of kinds");
    OK(listed, "lists that are checked on the way are copied in the same way");
    OK(iterated, "common blocks are all bytes in their order");
    OK(checked, "valid pairs pass the check");
    OK(safe && accepted > 100, "the quick check accepts nothing outside");
    OK(datatype_tells_sizes(), "blocks that are no whole elements");
    datatype_test_refused();
    return tap_end();
}
