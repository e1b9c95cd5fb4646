/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - Morton keys: the bits of three coordinates, of 21 bits each, interleaved.
 *
 * All bodies lie in a cube.  The first bit of a key says in which half of the cube a body is along
 * x, the second one along y, and so on round robin: a prefix of `depth` bits is a *cell*.
 */
#ifndef KEYS_H
#define KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "body.h"

#define KEY_DIM_BITS 21
#define KEY_BITS     (3 * KEY_DIM_BITS)
#define KEY_END      (UINT64_C(1) << KEY_BITS)

struct cube {
    double low[3], side;
};

/** Returns the smallest cube that contains the bounds, slightly enlarged. */
struct cube cube_of(const struct bounds *bounds);

/** Sets the keys of bodies. */
void keys_set(struct body *body, size_t count, const struct cube *cube);

/** Sorts bodies by key, those with equal keys by id.  Returns false if there is no memory. */
bool keys_sort(struct body *body, size_t count);

/** Returns the number of bits at the beginning that two keys have in common. */
int keys_common(uint64_t a, uint64_t b);

/** Returns the first of sorted bodies with a key of at least @p key. */
size_t keys_find(const struct body *body, size_t count, uint64_t key);

/** Returns the centre of the cell that consists of the first @p depth bits of @p key. */
void keys_centre(const struct cube *cube, uint64_t key, int depth, double centre[3]);

/** Returns the longest side of a cell. */
double keys_side(const struct cube *cube, int depth);

#endif
