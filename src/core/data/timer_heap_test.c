/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap_test.c - order, ids and periods of timers, against a plain array. */
#include "core/data/timer_heap.h"

#include "tests/tap.h"

#define TIMERS 500

static struct {
    uint64_t id, deadline;
} model[TIMERS];

static skua_completion numbered(uint64_t number)
{
    return (skua_completion){.what.handler = number};
}

static uint64_t least_of_model(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TIMERS; i++)
        if (model[i].id && model[i].deadline < least)
            least = model[i].deadline;
    return least;
}

/* Adds and removes at random; returns whether the earliest deadline was always right. */
static bool agrees(struct ski_timer_heap *heap, uint64_t *seed)
{
    for (int step = 0; step < 20000; step++) {
        int at = (int)(tap_random(seed) % TIMERS);

        if (model[at].id) {
            if (!ski_timer_heap_remove(heap, model[at].id) ||
                ski_timer_heap_remove(heap, model[at].id))
                return false;
            model[at].id = 0;
        } else {
            model[at].deadline = 1 + tap_random(seed) % 1000;
            model[at].id = ski_timer_heap_add(heap, model[at].deadline, 0, numbered((uint64_t)at));
        }
        if (heap->count > 0 && ski_timer_heap_first(heap) != least_of_model())
            return false;
    }
    return true;
}

static bool fires_in_order(struct ski_timer_heap *heap)
{
    skua_completion done;
    uint64_t        last = 0;

    while (heap->count > 0) {
        uint64_t first = ski_timer_heap_first(heap);
        int      at;

        if (ski_timer_heap_fire(heap, first - 1, &done))
            return false;
        if (!ski_timer_heap_fire(heap, first, &done))
            return false;
        at = (int)done.what.handler;
        if (first < last || model[at].deadline != first ||
            ski_timer_heap_remove(heap, model[at].id))
            return false;
        last = first;
    }
    return !ski_timer_heap_fire(heap, UINT64_MAX, &done);
}

static void test_period(void)
{
    struct ski_timer_heap heap = {0};
    skua_completion       done;
    uint64_t              id = ski_timer_heap_add(&heap, 10, 5, numbered(1));

    OK(ski_timer_heap_fire(&heap, 22, &done) && ski_timer_heap_first(&heap) == 25,
       "a periodic timer stays, and skips the periods that were missed");
    OK(!ski_timer_heap_fire(&heap, 24, &done) && ski_timer_heap_fire(&heap, 25, &done),
       "and fires again when its period is over");
    OK(ski_timer_heap_remove(&heap, id) && heap.count == 0, "until it is removed");
    OK(!ski_timer_heap_remove(&heap, 0) && !ski_timer_heap_remove(&heap, id + 1000),
       "ids that are none find nothing");
    ski_timer_heap_destroy(&heap);
}

int main(void)
{
    struct ski_timer_heap heap = {0};
    uint64_t              seed = tap_seed();

    OK(agrees(&heap, &seed), "the earliest of many timers is first, whatever is added or removed");
    OK(fires_in_order(&heap), "timers fire once, in the order of their deadlines");
    ski_timer_heap_destroy(&heap);
    test_period();
    return tap_end();
}
