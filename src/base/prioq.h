/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prioq.h - queue of pointers by priority, first in first out among equals.
 *
 * A priority is a bit string, read as the binary fraction 0.b1b2b3...; the
 * smaller one comes first.  An integer is the string of its 32 bits with the
 * sign bit inverted, so that integers keep their order and 0 lies in the
 * middle.  The first 64 bits are the item's key; only longer strings are
 * compared further.
 *
 * The heap is a 4-ary one in an array.  `order` counts pushes and breaks ties.
 */
#ifndef SKI_PRIOQ_H
#define SKI_PRIOQ_H

#include <stddef.h>
#include <stdint.h>

#define SKI_PRIO_ZERO (UINT64_C(1) << 63) /* the key of integer 0 */

struct ski_prio {
    uint64_t        key;
    const uint32_t *more;  /* words after the first two; valid while queued */
    size_t          words; /* how many                                      */
};

struct ski_prioq_entry {
    struct ski_prio prio;
    uint64_t        order;
    void           *item;
};

struct ski_prioq {
    struct ski_prioq_entry *entry;
    size_t                  count, room;
    uint64_t                pushes;
};

static inline struct ski_prio ski_prio_int(int32_t value)
{
    return (struct ski_prio){(uint64_t)((uint32_t)value ^ (UINT32_C(1) << 31)) << 32, NULL, 0};
}

/** The bit string in @p n words, most significant bit first; zeros fill up the
 *  last one. */
struct ski_prio ski_prio_words(const uint32_t *words, size_t n);

void ski_prioq_init(struct ski_prioq *queue);
void ski_prioq_destroy(struct ski_prioq *queue);
void ski_prioq_push(struct ski_prioq *queue, struct ski_prio prio, void *item);

/** The most urgent item; the queue must not be empty. */
void *ski_prioq_pop(struct ski_prioq *queue);

/** Its key. */
static inline uint64_t ski_prioq_key(const struct ski_prioq *queue)
{
    return queue->entry[0].prio.key;
}

#endif
