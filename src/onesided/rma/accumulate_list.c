/* SPDX-License-Identifier: Apache-2.0 */
/* accumulate_list.c - see accumulate_list.h. */
#include "onesided/rma/accumulate_list.h"

#include <string.h>

#include "base/assert.h"
#include "core/pe/pe.h"

_Static_assert(SKI_ACCUMULATE_CHUNK <= UINT16_MAX && SKI_STRIPES <= UINT16_MAX, "16 bits do");

/* ---- all stripes at a time ----------------------------------------------------------------- */

/* Consecutive stripes that are held together.  The hash of ski_stripe_number() gives this many of
 * them different locks; if it did not, the second attempt would find the lock held. */
#define SPAN 64

/* Elements of a chunk for each further stripe that is held with them: a chunk whose elements are
 * few does not take the locks of many stripes between them. */
#define SPAN_ELEMENTS 8

struct accumulate_span {
    uint32_t count;
    uint16_t number[SPAN];
};

static void accumulate_span_release(struct accumulate_span *span)
{
    while (span->count > 0)
        ski_stripe_release(span->number[--span->count]);
}

/* Returns the number of stripes from that of @p lo to that of @p hi. */
static size_t accumulate_span_stripes(const char *lo, const char *hi)
{
    return ((uintptr_t)hi >> SKI_STRIPE_SHIFT) - ((uintptr_t)lo >> SKI_STRIPE_SHIFT) + 1;
}

/* Acquires the stripes from that of @p lo to that of @p hi, SPAN at most.  Returns false, with no
 * stripe held, if one of them is held: this never waits. */
static bool accumulate_span_try(struct accumulate_span *span, int32_t owner, const char *lo,
                                const char *hi)
{
    size_t stripes = accumulate_span_stripes(lo, hi);

    ski_assert(stripes <= SPAN);
    span->count = 0;
    for (size_t i = 0; i < stripes; i++) {
        uint32_t number = ski_stripe_number(owner, lo + (i << SKI_STRIPE_SHIFT));

        if (!ski_stripe_try(number)) {
            accumulate_span_release(span);
            return false;
        }
        span->number[span->count++] = (uint16_t)number;
    }
    return true;
}

/* Accumulates a chunk as it is listed, if no other PE accumulates into its stripes.  Returns
 * whether it did. */
static bool accumulate_span_chunk(const struct ski_accumulate_list *list, ski_accumulate_at_fn at,
                                  const ptrdiff_t *remote, const ptrdiff_t *local, size_t count)
{
    struct accumulate_span span;
    ptrdiff_t              lo = remote[0], hi = remote[0];
    size_t                 most = 1 + count / SPAN_ELEMENTS;

    most = most < SPAN ? most : SPAN;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 64 < count ? i + 64 : count; i < end; i++) {
            ski_prefetch_write(list->to + remote[i]); /* other PEs had it */
            lo = remote[i] < lo ? remote[i] : lo;
            hi = remote[i] > hi ? remote[i] : hi;
        }
        if (accumulate_span_stripes(list->to + lo, list->to + hi) > most)
            return false;
    }
    if (!accumulate_span_try(&span, list->owner, list->to + lo, list->to + hi))
        return false;
    at(list, remote, local, NULL, count);
    accumulate_span_release(&span);
    return true;
}

/* ---- by stripe ------------------------------------------------------------------------------ */

/* The elements of a chunk, sorted by their stripes. */
struct accumulate_sort {
    uint16_t end[SKI_STRIPES];             /* of stripe n in `order`; 0: no element is in it */
    uint16_t stripe[SKI_ACCUMULATE_CHUNK]; /* stripes that elements are in, by first element */
    uint16_t stripes;
    uint16_t number[SKI_ACCUMULATE_CHUNK]; /* the stripe of element i */
    uint16_t order[SKI_ACCUMULATE_CHUNK];  /* elements */
    uint16_t begin[SKI_ACCUMULATE_CHUNK];  /* of stripe[k] in `order` */
};

/* Counts the elements of each stripe. */
static void accumulate_sort_count(struct accumulate_sort           *sort,
                                  const struct ski_accumulate_list *list, const ptrdiff_t *remote,
                                  size_t count)
{
    memset(sort->end, 0, sizeof sort->end);
    sort->stripes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *to     = list->to + remote[i];
        uint32_t    number = ski_stripe_number(list->owner, to);

        ski_prefetch_write(to); /* other PEs had it */
        sort->number[i]             = (uint16_t)number;
        sort->stripe[sort->stripes] = (uint16_t)number;
        if (sort->end[number]++ == 0)
            sort->stripes++;
    }
}

/* Writes the elements in the order of their stripes. */
static void accumulate_sort_order(struct accumulate_sort *sort, size_t count)
{
    uint16_t at = 0;

    for (unsigned k = 0; k < sort->stripes; k++) {
        uint16_t *end = &sort->end[sort->stripe[k]], elements = *end;

        sort->begin[k] = *end = at;
        at                    = (uint16_t)(at + elements);
    }
    for (size_t i = 0; i < count; i++)
        sort->order[sort->end[sort->number[i]]++] = (uint16_t)i;
    ski_assert(at == count);
}

/* A chunk that is being accumulated. */
struct accumulate_work {
    const struct ski_accumulate_list *list;
    ski_accumulate_at_fn              at;
    const ptrdiff_t                  *remote, *local;
};

/* Accumulates the elements of stripe[k], which is held, and releases it. */
static void accumulate_sort_apply(const struct accumulate_sort *sort,
                                  const struct accumulate_work *work, unsigned k)
{
    const uint16_t *order  = sort->order + sort->begin[k];
    uint32_t        number = sort->stripe[k];

    work->at(work->list, work->remote, work->local, order,
             (size_t)(sort->end[number] - sort->begin[k]));
    ski_stripe_release(number);
}

void ski_accumulate_chunk(const struct ski_accumulate_list *list, ski_accumulate_at_fn at,
                          const ptrdiff_t *remote, const ptrdiff_t *local, size_t count)
{
    const struct accumulate_work work = {list, at, remote, local};
    struct accumulate_sort       sort;
    uint16_t                     later[SKI_ACCUMULATE_CHUNK];
    unsigned                     k, laters = 0;

    ski_assert(count <= SKI_ACCUMULATE_CHUNK);
    if (count == 0 || accumulate_span_chunk(list, at, remote, local, count))
        return;
    accumulate_sort_count(&sort, list, remote, count);
    accumulate_sort_order(&sort, count);
    k = ski_self && sort.stripes ? (unsigned)ski_self->pe * 5 % sort.stripes : 0;
    for (unsigned n = 0; n < sort.stripes; n++, k = k + 1 < sort.stripes ? k + 1 : 0)
        if (ski_stripe_try(sort.stripe[k]))
            accumulate_sort_apply(&sort, &work, k);
        else
            later[laters++] = (uint16_t)k;
    for (unsigned n = 0; n < laters; n++) {
        ski_stripe_acquire(sort.stripe[later[n]]);
        accumulate_sort_apply(&sort, &work, later[n]);
    }
}

void ski_accumulate_list(const struct ski_accumulate_list *list, ski_accumulate_at_fn at,
                         const ptrdiff_t *remote, const ptrdiff_t *local, size_t count)
{
    struct ski_accumulate_list rest = *list;

    while (count > 0) {
        size_t now = count < SKI_ACCUMULATE_CHUNK ? count : SKI_ACCUMULATE_CHUNK;

        ski_accumulate_chunk(&rest, at, remote, local, now);
        remote += now;
        if (local)
            local += now;
        else
            rest.from += now * list->element;
        count -= now;
    }
}
