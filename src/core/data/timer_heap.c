/* SPDX-License-Identifier: Apache-2.0 */
/* timer_heap.c - see timer_heap.h. */
#include "core/data/timer_heap.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/memory.h"

/* ---- order --------------------------------------------------------------- */

static uint64_t timer_deadline_at(const struct ski_timer_heap *heap, uint32_t place)
{
    ski_assert(place < heap->count);
    return heap->timer[heap->heap[place]].deadline;
}

static void timer_set_place(struct ski_timer_heap *heap, uint32_t place, uint32_t slot)
{
    heap->heap[place]       = slot;
    heap->timer[slot].place = place;
}

/* Moves the timer in @p slot from @p place towards the root until it is in order. */
static void timer_sift_up(struct ski_timer_heap *heap, uint32_t place, uint32_t slot)
{
    uint64_t deadline = heap->timer[slot].deadline;

    while (place > 0 && deadline < timer_deadline_at(heap, (place - 1) / 2)) {
        timer_set_place(heap, place, heap->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    timer_set_place(heap, place, slot);
}

/* Moves the timer in @p slot from @p place towards the leaves until it is in order. */
static void timer_sift_down(struct ski_timer_heap *heap, uint32_t place, uint32_t slot)
{
    uint64_t deadline = heap->timer[slot].deadline;

    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < heap->count &&
            timer_deadline_at(heap, child + 1) < timer_deadline_at(heap, child))
            child++;
        if (child >= heap->count || timer_deadline_at(heap, child) >= deadline)
            break;
        timer_set_place(heap, place, heap->heap[child]);
        place = child;
    }
    timer_set_place(heap, place, slot);
}

/* ---- slots --------------------------------------------------------------- */

static void timer_grow(struct ski_timer_heap *heap)
{
    uint32_t room = heap->room ? 2 * heap->room : 16;

    heap->timer = ski_realloc(heap->timer, room * sizeof *heap->timer);
    heap->heap  = ski_realloc(heap->heap, room * sizeof *heap->heap);
    for (uint32_t slot = heap->room; slot < room; slot++)
        heap->timer[slot] = (struct ski_timer){.place = slot + 1, .generation = 1};
    heap->free = heap->room;
    heap->room = room;
}

static void timer_remove_slot(struct ski_timer_heap *heap, uint32_t slot)
{
    uint32_t place = heap->timer[slot].place;
    uint32_t last  = heap->heap[--heap->count];

    ski_assert(heap->heap[place] == slot);
    if (last != slot) {
        timer_set_place(heap, place, last);
        timer_sift_down(heap, place, last);
        timer_sift_up(heap, heap->timer[last].place, last);
    }
    heap->timer[slot].generation++;
    heap->timer[slot].place = heap->free;
    heap->free              = slot;
}

/* ---- calls --------------------------------------------------------------- */

uint64_t ski_timer_heap_add(struct ski_timer_heap *heap, uint64_t deadline, uint64_t period,
                            skua_completion done)
{
    struct ski_timer *timer;
    uint32_t          slot;

    if (heap->count == heap->room)
        timer_grow(heap);
    slot = heap->free;
    ski_assert(slot < heap->room);
    timer           = &heap->timer[slot];
    heap->free      = timer->place;
    timer->deadline = deadline;
    timer->period   = period;
    timer->done     = done;
    timer_sift_up(heap, heap->count++, slot);
    return (uint64_t)timer->generation << 32 | slot;
}

bool ski_timer_heap_remove(struct ski_timer_heap *heap, uint64_t id)
{
    uint32_t slot = (uint32_t)id;

    if (slot >= heap->room || heap->timer[slot].generation != id >> 32)
        return false;
    timer_remove_slot(heap, slot);
    return true;
}

bool ski_timer_heap_fire(struct ski_timer_heap *heap, uint64_t now, skua_completion *done)
{
    uint32_t          slot;
    struct ski_timer *timer;

    if (heap->count == 0 || timer_deadline_at(heap, 0) > now)
        return false;
    slot  = heap->heap[0];
    timer = &heap->timer[slot];
    *done = timer->done;
    if (timer->period) {
        timer->deadline += timer->period * ((now - timer->deadline) / timer->period + 1);
        ski_assert(timer->deadline > now);
        timer_sift_down(heap, 0, slot);
    } else {
        timer_remove_slot(heap, slot);
    }
    return true;
}

uint64_t ski_timer_heap_first(const struct ski_timer_heap *heap)
{
    return timer_deadline_at(heap, 0);
}

void ski_timer_heap_destroy(struct ski_timer_heap *heap)
{
    free(heap->timer);
    free(heap->heap);
    *heap = (struct ski_timer_heap){0};
}
