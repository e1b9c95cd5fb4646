/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prioq.h - a queue of pointers by priority, first in first out among equals.
 *
 * A priority is a bit string, read as the binary fraction 0.b1b2b3...; the smaller one comes first.
 * An integer is the string of its 32 bits with the sign bit inverted, so integers keep their order
 * and 0 is in the middle.  The first 64 bits are the key of the item; only longer strings are
 * compared beyond it.
 *
 * The queue is a 4-ary heap in an array.  `order` counts pushes and breaks ties.
 */
#ifndef SKI_PRIOQ_H
#define SKI_PRIOQ_H

#include <stddef.h>
#include <stdint.h>

#define SKI_PRIO_ZERO (UINT64_C(1) << 63) /* the key of integer 0 */

/* A priority. */
struct ski_prio {
    uint64_t        key;
    const uint32_t *more;  /* words after the first two; they stay in place while queued */
    size_t          words; /* the number of these                                         */
};

/* An item in the heap. */
struct ski_prioq_entry {
    struct ski_prio prio;
    uint64_t        order;
    void           *item;
};

/* Invariant: no entry comes before entry (i - 1) / 4, its parent. */
struct ski_prioq {
    struct ski_prioq_entry *entry;
    size_t                  count, room;
    uint64_t                pushes;
};

/** Returns the priority of an integer. */
static inline struct ski_prio ski_prio_int(int32_t value)
{
    return (struct ski_prio){(uint64_t)((uint32_t)value ^ (UINT32_C(1) << 31)) << 32, NULL, 0};
}

/** Returns the priority that is the bit string in @p n words, most significant bit first; zeros pad
 *  the last word. */
struct ski_prio ski_prio_words(const uint32_t *words, size_t n);

/** Makes an empty queue. */
void ski_prioq_init(struct ski_prioq *queue);

/** Frees the memory of a queue, not its items. */
void ski_prioq_destroy(struct ski_prioq *queue);

/** Adds an item after those of the same priority. */
void ski_prioq_push(struct ski_prioq *queue, struct ski_prio prio, void *item);

/** Removes and returns the most urgent item of a queue that is not empty. */
void *ski_prioq_pop(struct ski_prioq *queue);

/** Returns the key of the most urgent item of a queue that is not empty. */
static inline uint64_t ski_prioq_key(const struct ski_prioq *queue)
{
    return queue->entry[0].prio.key;
}

#endif
