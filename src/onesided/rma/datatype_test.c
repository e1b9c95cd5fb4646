/* SPDX-License-Identifier: Apache-2.0 */
/* datatype_test.c - random datatypes: checks, copies and iterators against a copy byte by byte. */
#include "onesided/rma/datatype.h"

#include <string.h>

#include "base/log.h"
#include "tests/tap.h"

#define ROOM 4096

static uint64_t seed;

static size_t datatype_below(size_t n)
{
    return tap_random(&seed) % n;
}

struct datatype_random {
    struct ski_datatype type;
    skua_strided        strided;
    skua_segment        list[16];
    skua_indexed        indexed;
    ptrdiff_t           remote[16], local[16];
};

static char here[ROOM], there[ROOM], want_here[ROOM], want_there[ROOM];

/* Blocks at distinct offsets, so that the order of copies does not matter. */
static void datatype_make_list(struct datatype_random *r)
{
    size_t n = datatype_below(16), bytes = 1 + datatype_below(32);

    for (size_t i = 0; i < n; i++) {
        r->remote[i] = (ptrdiff_t)(i * 200 + datatype_below(100));
        r->local[i]  = (ptrdiff_t)((n - i) * 200 + datatype_below(100));
        r->list[i]   = (skua_segment){here + r->local[i], r->remote[i], datatype_below(64)};
    }
    r->indexed = (skua_indexed){.bytes  = bytes,
                                .count  = n,
                                .remote = r->remote,
                                .local  = datatype_below(2) ? r->local : NULL};
    r->type    = datatype_below(2) ? ski_datatype_vector(r->list, n)
                                   : ski_datatype_indexed(here, &r->indexed);
}

static void datatype_make_strided(struct datatype_random *r)
{
    size_t local = 1 + datatype_below(16), remote = local;

    r->strided = (skua_strided){.bytes = local, .levels = (int)datatype_below(4)};
    for (int i = 0; i < r->strided.levels; i++) {
        r->strided.count[i]  = 1 + datatype_below(4);
        r->strided.local[i]  = (ptrdiff_t)(local + datatype_below(8));
        r->strided.remote[i] = (ptrdiff_t)(remote + datatype_below(8));
        local                = r->strided.count[i] * (size_t)r->strided.local[i];
        remote               = r->strided.count[i] * (size_t)r->strided.remote[i];
    }
    r->type = ski_datatype_strided(here, &r->strided);
}

static void datatype_make(struct datatype_random *r)
{
    if (datatype_below(3) == 0)
        r->type = ski_datatype_contiguous(here, datatype_below(ROOM));
    else if (datatype_below(2))
        datatype_make_list(r);
    else
        datatype_make_strided(r);
}

static void datatype_fill(void)
{
    for (int i = 0; i < ROOM; i++) {
        here[i] = want_here[i] = (char)datatype_below(256);
        there[i] = want_there[i] = (char)datatype_below(256);
    }
}

/* The iterator is the model of copies: it is tested by the extent, and by both together. */
static bool datatype_copies(const struct ski_datatype *type, bool put)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;

    datatype_fill();
    ski_iov_iter_begin(&iter, type);
    while (ski_iov_iter_next(&iter, &iov))
        for (size_t i = 0; i < iov.bytes; i++) {
            size_t l = (size_t)(iov.local + i - here), r = (size_t)iov.remote + i;

            if (put)
                want_there[r] = want_here[l];
            else
                want_here[l] = want_there[r];
        }
    (put ? ski_datatype_put : ski_datatype_get)(type, there);
    return memcmp(here, want_here, ROOM) == 0 && memcmp(there, want_there, ROOM) == 0;
}

static bool datatype_list_copies(const struct ski_datatype *type)
{
    if (type->kind != SKI_DATATYPE_VECTOR && type->kind != SKI_DATATYPE_INDEXED)
        return true;
    datatype_fill();
    memcpy(want_there, there, ROOM);
    ski_datatype_put(type, want_there);
    return ski_datatype_list_put(type, there, 0, ROOM) && memcmp(there, want_there, ROOM) == 0 &&
           ski_datatype_list_get(type, there, 0, ROOM);
}

static bool datatype_extent_holds(const struct ski_datatype *type)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    ptrdiff_t           lo, hi, least = 0, most = 0;
    size_t              grain;

    if (ski_datatype_extent("test", type, SKI_SIDE_REMOTE, &lo, &hi, &grain) != SKUA_OK)
        return false;
    ski_iov_iter_begin(&iter, type);
    while (ski_iov_iter_next(&iter, &iov)) {
        ptrdiff_t end = iov.remote + (ptrdiff_t)iov.bytes;

        least = iov.remote < least ? iov.remote : least;
        most  = end > most ? end : most;
        if (grain % 4 == 0 && (iov.bytes % 4 || iov.remote % 4))
            return false;
    }
    return lo <= least && hi >= most && (type->kind != SKI_DATATYPE_STRIDED || hi == most);
}

/* The quick check accepts no block that lies outside. */
static bool datatype_fits_is_safe(const struct ski_datatype *type)
{
    struct ski_iov_iter iter;
    struct ski_iov      iov;
    size_t              room = datatype_below(ROOM), offset = datatype_below(64);

    if (!ski_datatype_fits(type, SKI_SIDE_REMOTE, offset, room, 1))
        return true;
    ski_iov_iter_begin(&iter, type);
    while (ski_iov_iter_next(&iter, &iov))
        if (iov.remote < 0 || offset + (size_t)iov.remote + iov.bytes > room)
            return false;
    return true;
}

static void datatype_refused(void)
{
    skua_strided overlap = {.bytes = 8, .levels = 1, .count = {4}, .local = {8}, .remote = {4}};
    skua_strided levels  = {.bytes = 8, .levels = SKUA_LEVELS_MAX + 1};
    skua_strided huge    = {
           .bytes = 8, .levels = 1, .count = {4}, .local = {8}, .remote = {PTRDIFF_MAX / 2}};
    skua_indexed        none = {.bytes = 8, .count = 1};
    struct ski_datatype type;
    ptrdiff_t           lo, hi;
    size_t              grain;

#define REFUSED(datatype, what)                                                                    \
    type = datatype;                                                                               \
    OK(ski_datatype_extent("test", &type, SKI_SIDE_REMOTE, &lo, &hi, &grain) == SKUA_ERR_INVAL &&  \
           !ski_datatype_fits(&type, SKI_SIDE_REMOTE, 0, ROOM, 1),                                 \
       what)
    REFUSED(ski_datatype_strided(here, &overlap), "blocks that overlap where they are written");
    REFUSED(ski_datatype_strided(here, &levels), "too many levels");
    REFUSED(ski_datatype_strided(here, &huge), "an extent larger than memory");
    REFUSED(ski_datatype_indexed(here, &none), "a list without remote offsets");
}

int main(void)
{
    struct datatype_random r;
    bool                   copied = true, listed = true, bounded = true, safe = true;

    seed          = tap_seed();
    ski_log_level = SKI_LOG_FATAL;
    for (int i = 0; i < 500; i++) {
        datatype_make(&r);
        copied &= datatype_copies(&r.type, true) && datatype_copies(&r.type, false);
        listed &= datatype_list_copies(&r.type);
        bounded &= datatype_extent_holds(&r.type);
        safe &= datatype_fits_is_safe(&r.type);
    }
    OK(copied, "copies in both directions move what the iterator returns");
    OK(listed, "lists that are checked on the way are copied in the same way");
    OK(bounded, "the extent contains all blocks");
    OK(safe, "the quick check accepts nothing outside");
    datatype_refused();
    return tap_end();
}
