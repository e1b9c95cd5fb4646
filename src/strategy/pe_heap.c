/* SPDX-License-Identifier: Apache-2.0 */
/* pe_heap.c - see pe_heap.h. */
#include "strategy/pe_heap.h"

#include "base/assert.h"
#include "base/memory.h"

void ski_pe_heap_init(struct ski_pe_heap *heap, const double *time, int32_t pes, bool longest_first)
{
    heap->time          = time;
    heap->pe            = ski_malloc((size_t)pes * sizeof *heap->pe);
    heap->place         = ski_malloc((size_t)pes * sizeof *heap->place);
    heap->count         = 0;
    heap->longest_first = longest_first;
    for (int32_t p = 0; p < pes; p++)
        heap->place[p] = -1;
}

void ski_pe_heap_destroy(struct ski_pe_heap *heap)
{
    free(heap->pe);
    free(heap->place);
}

static bool pe_heap_before(const struct ski_pe_heap *heap, int32_t a, int32_t b)
{
    if (heap->time[a] == heap->time[b])
        return a < b;
    return (heap->time[a] < heap->time[b]) != heap->longest_first;
}

static void pe_heap_put(struct ski_pe_heap *heap, int32_t at, int32_t pe)
{
    heap->pe[at]    = pe;
    heap->place[pe] = at;
}

static void pe_heap_rise(struct ski_pe_heap *heap, int32_t at)
{
    int32_t pe = heap->pe[at];

    while (at > 0 && pe_heap_before(heap, pe, heap->pe[(at - 1) / 2])) {
        pe_heap_put(heap, at, heap->pe[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    pe_heap_put(heap, at, pe);
}

static void pe_heap_sink(struct ski_pe_heap *heap, int32_t at)
{
    int32_t pe = heap->pe[at], child;

    while ((child = 2 * at + 1) < heap->count) {
        if (child + 1 < heap->count && pe_heap_before(heap, heap->pe[child + 1], heap->pe[child]))
            child++;
        if (!pe_heap_before(heap, heap->pe[child], pe))
            break;
        pe_heap_put(heap, at, heap->pe[child]);
        at = child;
    }
    pe_heap_put(heap, at, pe);
}

void ski_pe_heap_push(struct ski_pe_heap *heap, int32_t pe)
{
    ski_assert(heap->place[pe] < 0);
    pe_heap_put(heap, heap->count++, pe);
    pe_heap_rise(heap, heap->place[pe]);
}

void ski_pe_heap_update(struct ski_pe_heap *heap, int32_t pe)
{
    ski_assert(heap->place[pe] >= 0);
    pe_heap_rise(heap, heap->place[pe]);
    pe_heap_sink(heap, heap->place[pe]);
}

void ski_pe_heap_remove(struct ski_pe_heap *heap, int32_t pe)
{
    int32_t at = heap->place[pe], last = heap->pe[--heap->count];

    ski_assert(at >= 0);
    heap->place[pe] = -1;
    if (last == pe)
        return;
    pe_heap_put(heap, at, last);
    ski_pe_heap_update(heap, last);
}

/* ---- several speeds ------------------------------------------------------------------------ */

static double pe_heaps_ratio(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* Finds the heap for PEs of a rate, or makes one while there are fewer than SKI_PE_SPEEDS. */
static int pe_heaps_find(struct ski_pe_heaps *heaps, double *rate, double wanted)
{
    int best = 0;

    for (int k = 0; k < heaps->speeds; k++) {
        if (rate[k] == wanted)
            return k;
        if (pe_heaps_ratio(rate[k], wanted) < pe_heaps_ratio(rate[best], wanted))
            best = k;
    }
    if (heaps->speeds == SKI_PE_SPEEDS)
        return best;
    rate[heaps->speeds] = wanted;
    ski_pe_heap_init(&heaps->of_speed[heaps->speeds], heaps->loads->time, heaps->loads->pes, false);
    return heaps->speeds++;
}

void ski_pe_heaps_init(struct ski_pe_heaps *heaps, const struct ski_loads *loads)
{
    double rate[SKI_PE_SPEEDS];

    heaps->loads    = loads;
    heaps->speeds   = 0;
    heaps->speed_of = ski_malloc((size_t)loads->pes * sizeof *heaps->speed_of);
    for (int32_t p = 0; p < loads->pes; p++) {
        heaps->speed_of[p] = (uint8_t)pe_heaps_find(heaps, rate, loads->rate[p]);
        ski_pe_heap_push(&heaps->of_speed[heaps->speed_of[p]], p);
    }
}

void ski_pe_heaps_destroy(struct ski_pe_heaps *heaps)
{
    for (int k = 0; k < heaps->speeds; k++)
        ski_pe_heap_destroy(&heaps->of_speed[k]);
    free(heaps->speed_of);
}

int32_t ski_pe_heaps_best(const struct ski_pe_heaps *heaps, double load)
{
    const struct ski_loads *loads = heaps->loads;
    int32_t                 best  = ski_pe_heap_first(&heaps->of_speed[0]);
    double                  least = loads->time[best] + load * loads->rate[best];

    for (int k = 1; k < heaps->speeds; k++) {
        int32_t pe  = ski_pe_heap_first(&heaps->of_speed[k]);
        double  end = loads->time[pe] + load * loads->rate[pe];

        if (end < least) {
            least = end;
            best  = pe;
        }
    }
    return best;
}

int32_t ski_pe_heaps_roomiest(const struct ski_pe_heaps *heaps, double limit)
{
    const struct ski_loads *loads = heaps->loads;
    int32_t                 best  = ski_pe_heap_first(&heaps->of_speed[0]);

    for (int k = 1; k < heaps->speeds; k++) {
        int32_t pe = ski_pe_heap_first(&heaps->of_speed[k]);

        if ((limit - loads->time[pe]) * loads->rate[best] >
            (limit - loads->time[best]) * loads->rate[pe])
            best = pe;
    }
    return best;
}

void ski_pe_heaps_update(struct ski_pe_heaps *heaps, int32_t pe)
{
    ski_pe_heap_update(&heaps->of_speed[heaps->speed_of[pe]], pe);
}
