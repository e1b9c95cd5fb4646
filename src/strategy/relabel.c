/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relabel.c - see relabel.h.
 *
 * For each part and each PE, the bytes of the objects of the part that are on the PE: the overlap.
 * From the largest overlap down, a part that has no PE yet exchanges its PE for this one, unless
 * the part that has this one is settled.  O(n log n).
 */
#include "strategy/relabel.h"

#include "base/memory.h"
#include "strategy/loads.h"

#define RELABEL_TOLERANCE 0.01
#define RELABEL_BYTES     (UINT64_C(1) << 31)

struct relabel_overlap {
    int32_t  part, pe;
    uint64_t bytes;
};

static int relabel_by_pair(const void *a, const void *b)
{
    const struct relabel_overlap *x = a, *y = b;

    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return x->pe < y->pe ? -1 : x->pe > y->pe;
}

static int relabel_by_bytes(const void *a, const void *b)
{
    const struct relabel_overlap *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return relabel_by_pair(a, b);
}

static uint64_t relabel_bytes(const skua_strategy_object *object)
{
    return object->bytes < RELABEL_BYTES ? object->bytes + 1 : RELABEL_BYTES;
}

/* Computes the overlaps, the largest first.  An object counts one byte more than it has, and at
 * most RELABEL_BYTES, so that sums do not overflow. */
static size_t relabel_overlaps(struct relabel_overlap      *overlap,
                               const skua_strategy_problem *problem, const int32_t *to)
{
    size_t n = 0;

    for (uint32_t i = 0; i < problem->objects; i++)
        overlap[i] = (struct relabel_overlap){to[i], problem->object[i].pe,
                                              relabel_bytes(&problem->object[i])};
    qsort(overlap, problem->objects, sizeof *overlap, relabel_by_pair);
    for (uint32_t i = 0; i < problem->objects; i++) {
        if (n > 0 && relabel_by_pair(&overlap[n - 1], &overlap[i]) == 0)
            overlap[n - 1].bytes += overlap[i].bytes;
        else
            overlap[n++] = overlap[i];
    }
    qsort(overlap, n, sizeof *overlap, relabel_by_bytes);
    return n;
}

/* The PE of each part, and the part of each PE. */
struct relabel {
    const skua_strategy_problem *problem;
    int32_t                     *pe_of, *part_of;
    bool                        *settled; /* of each part */
    bool                        *pinned;  /* of each PE: it has immovable objects */
    double                       margin;
};

static bool relabel_alike(const struct relabel *r, int32_t a, int32_t b)
{
    const skua_strategy_pe *x = &r->problem->pe[a], *y = &r->problem->pe[b];
    double                  difference = x->background - y->background;

    return !r->pinned[a] && !r->pinned[b] && ski_pe_speed(x) == ski_pe_speed(y) &&
           difference <= r->margin && -difference <= r->margin;
}

static void relabel_settle(struct relabel *r, int32_t part, int32_t pe)
{
    int32_t other = r->part_of[pe], old = r->pe_of[part];

    if (r->settled[part] || r->settled[other] || (old != pe && !relabel_alike(r, old, pe)))
        return;
    r->pe_of[other]  = old;
    r->part_of[old]  = other;
    r->pe_of[part]   = pe;
    r->part_of[pe]   = part;
    r->settled[part] = true;
}

static void relabel_init(struct relabel *r, const skua_strategy_problem *problem)
{
    size_t pes = (size_t)problem->pes;

    r->problem = problem;
    r->pe_of   = ski_malloc(pes * sizeof *r->pe_of);
    r->part_of = ski_malloc(pes * sizeof *r->part_of);
    r->settled = ski_calloc(pes, sizeof *r->settled);
    r->pinned  = ski_calloc(pes, sizeof *r->pinned);
    r->margin  = RELABEL_TOLERANCE * ski_loads_ideal(problem);
    for (int32_t p = 0; p < problem->pes; p++)
        r->pe_of[p] = r->part_of[p] = p;
    for (uint32_t i = 0; i < problem->objects; i++)
        if (!(problem->object[i].flags & SKUA_OBJECT_MOVABLE))
            r->pinned[problem->object[i].pe] = true;
}

void ski_relabel(const skua_strategy_problem *problem, int32_t *to)
{
    struct relabel_overlap *overlap = ski_malloc(((size_t)problem->objects + 1) * sizeof *overlap);
    size_t                  n       = relabel_overlaps(overlap, problem, to);
    struct relabel          r;

    relabel_init(&r, problem);
    for (size_t k = 0; k < n; k++)
        relabel_settle(&r, overlap[k].part, overlap[k].pe);
    for (uint32_t i = 0; i < problem->objects; i++)
        to[i] = r.pe_of[to[i]];
    free(r.pinned);
    free(r.settled);
    free(r.part_of);
    free(r.pe_of);
    free(overlap);
}
