/* SPDX-License-Identifier: Apache-2.0 */
/* prioq.c - see prioq.h. */
#include "base/prioq.h"

#include <stdbool.h>

#include "base/assert.h"
#include "base/memory.h"

#define PRIOQ_ARITY      4
#define PRIOQ_ROOM_FIRST 64

void ski_prioq_init(struct ski_prioq *queue)
{
    *queue = (struct ski_prioq){.entry = ski_malloc(PRIOQ_ROOM_FIRST * sizeof *queue->entry),
                                .room  = PRIOQ_ROOM_FIRST};
}

void ski_prioq_destroy(struct ski_prioq *queue)
{
    free(queue->entry);
    queue->entry = NULL;
}

struct ski_prio ski_prio_words(const uint32_t *words, size_t n)
{
    uint64_t high = n > 0 ? words[0] : 0;
    uint64_t low  = n > 1 ? words[1] : 0;

    return (struct ski_prio){high << 32 | low, words + 2, n > 2 ? n - 2 : 0};
}

static bool prioq_before(const struct ski_prioq_entry *a, const struct ski_prioq_entry *b)
{
    size_t words = a->prio.words > b->prio.words ? a->prio.words : b->prio.words;

    if (a->prio.key != b->prio.key)
        return a->prio.key < b->prio.key;
    for (size_t i = 0; i < words; i++) {
        uint32_t x = i < a->prio.words ? a->prio.more[i] : 0;
        uint32_t y = i < b->prio.words ? b->prio.more[i] : 0;
        if (x != y)
            return x < y;
    }
    return a->order < b->order;
}

void ski_prioq_push(struct ski_prioq *queue, struct ski_prio prio, void *item)
{
    struct ski_prioq_entry added = {prio, queue->pushes++, item};
    size_t                 at    = queue->count++;

    ski_assert(at <= queue->room && queue->room > 0);
    if (queue->count > queue->room) {
        queue->room *= 2;
        queue->entry = ski_realloc(queue->entry, queue->room * sizeof *queue->entry);
    }
    while (at > 0 && prioq_before(&added, &queue->entry[(at - 1) / PRIOQ_ARITY])) {
        queue->entry[at] = queue->entry[(at - 1) / PRIOQ_ARITY];
        at               = (at - 1) / PRIOQ_ARITY;
    }
    queue->entry[at] = added;
}

/* Returns the child of entry @p at that comes first, or SIZE_MAX if it has none. */
static size_t prioq_first_child(const struct ski_prioq *queue, size_t at)
{
    size_t best = PRIOQ_ARITY * at + 1, end = best + PRIOQ_ARITY;

    if (best >= queue->count)
        return SIZE_MAX;
    for (size_t i = best + 1; i < end && i < queue->count; i++)
        if (prioq_before(&queue->entry[i], &queue->entry[best]))
            best = i;
    return best;
}

void *ski_prioq_pop(struct ski_prioq *queue)
{
    void                  *item = queue->entry[0].item;
    struct ski_prioq_entry last;
    size_t                 at = 0, child;

    ski_assert(queue->count > 0);
    last = queue->entry[--queue->count];
    while ((child = prioq_first_child(queue, at)) != SIZE_MAX &&
           prioq_before(&queue->entry[child], &last)) {
        queue->entry[at] = queue->entry[child];
        at               = child;
    }
    if (queue->count > 0)
        queue->entry[at] = last;
    ski_assert(at == 0 || !prioq_before(&queue->entry[at], &queue->entry[(at - 1) / PRIOQ_ARITY]));
    return item;
}
