/* SPDX-License-Identifier: Apache-2.0 */
/* vector.h - a growing array of pointers, used as a stack. */
#ifndef SKI_VECTOR_H
#define SKI_VECTOR_H

#include "base/assert.h"
#include "base/memory.h"

/* Zeroed memory is an empty vector. */
struct ski_vector {
    void **item;
    size_t count, room;
};

/** Appends an item. */
static inline void ski_vector_push(struct ski_vector *vector, void *item)
{
    ski_assert(vector->count <= vector->room);
    vector->item = ski_grow(vector->item, vector->count, &vector->room, sizeof *vector->item);
    vector->item[vector->count++] = item;
}

/** Removes and returns the newest item, or returns NULL if the vector is empty. */
static inline void *ski_vector_pop(struct ski_vector *vector)
{
    return vector->count ? vector->item[--vector->count] : NULL;
}

/** Frees the memory of a vector and makes it empty. */
static inline void ski_vector_destroy(struct ski_vector *vector)
{
    free(vector->item);
    *vector = (struct ski_vector){NULL, 0, 0};
}

#endif
