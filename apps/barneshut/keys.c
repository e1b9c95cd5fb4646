/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - see keys.h. */
#include "keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/morton.h"

struct cube cube_of(const struct bounds *bounds)
{
    struct cube cube = {.side = 0};

    for (int i = 0; i < 3; i++)
        cube.side = fmax(cube.side, bounds->high[i] - bounds->low[i]);
    cube.side = cube.side > 0 ? cube.side * 1.0001 : 1;
    for (int i = 0; i < 3; i++)
        cube.low[i] = 0.5 * (bounds->low[i] + bounds->high[i] - cube.side);
    return cube;
}

/* Returns the inverse of morton_spread(). */
static uint64_t keys_gather(uint64_t x)
{
    x &= UINT64_C(0x1249249249249249);
    x = (x | x >> 2) & UINT64_C(0x10c30c30c30c30c3);
    x = (x | x >> 4) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x >> 8) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x >> 16) & UINT64_C(0x001f00000000ffff);
    return (x | x >> 32) & UINT64_C(0x1fffff);
}

static uint64_t keys_coordinate(double at, double low, double scale)
{
    double most = (1 << KEY_DIM_BITS) - 1;

    return (uint64_t)fmin(fmax((at - low) * scale, 0), most);
}

void keys_set(struct body *body, size_t count, const struct cube *cube)
{
    double scale = (1 << KEY_DIM_BITS) / cube->side;

    for (size_t k = 0; k < count; k++) {
        body[k].key = 0;
        for (int i = 0; i < 3; i++)
            body[k].key |= morton_spread(keys_coordinate(body[k].at[i], cube->low[i], scale))
                           << (2 - i);
    }
}

/* ---- sorting --------------------------------------------------------------------------- */

struct key_entry {
    uint64_t key;
    size_t   from;
};

/* Sorts by 8 bits of the key and keeps the order of equal ones.  Returns false, and does nothing,
 * if these bits are the same in all keys, as the first bits of neighbours are. */
static bool keys_pass(const struct key_entry *from, struct key_entry *to, size_t count, int shift)
{
    size_t begin[257] = {0};

    for (size_t k = 0; k < count; k++)
        begin[(from[k].key >> shift & 255) + 1]++;
    if (begin[(from[0].key >> shift & 255) + 1] == count)
        return false;
    for (int i = 0; i < 256; i++)
        begin[i + 1] += begin[i];
    for (size_t k = 0; k < count; k++)
        to[begin[from[k].key >> shift & 255]++] = from[k];
    return true;
}

static struct key_entry *keys_radix(struct key_entry *a, struct key_entry *b, size_t count)
{
    for (int shift = 0; shift < 64; shift += 8)
        if (keys_pass(a, b, count, shift)) {
            struct key_entry *swap = a;

            a = b;
            b = swap;
        }
    return a;
}

/* Sorts bodies with equal keys by id.  There are few of them, so insertion sort suffices. */
static void keys_order_ids(struct body *body, size_t count)
{
    for (size_t k = 1; k < count; k++) {
        struct body moved = body[k];
        size_t      to    = k;

        for (; to > 0 && body[to - 1].key == moved.key && body[to - 1].id > moved.id; to--)
            body[to] = body[to - 1];
        if (to < k)
            body[to] = moved;
    }
}

bool keys_sort(struct body *body, size_t count)
{
    size_t            bytes = count * (sizeof(struct body) + 2 * sizeof(struct key_entry));
    struct body      *copy  = count > 1 ? malloc(bytes) : NULL;
    struct key_entry *entry, *sorted;

    if (!copy)
        return count <= 1;
    entry = (struct key_entry *)(void *)(copy + count);
    for (size_t k = 0; k < count; k++)
        entry[k] = (struct key_entry){body[k].key, k};
    sorted = keys_radix(entry, entry + count, count);
    memcpy(copy, body, count * sizeof *body);
    for (size_t k = 0; k < count; k++)
        body[k] = copy[sorted[k].from];
    keys_order_ids(body, count);
    free(copy);
    return true;
}

/* ---- cells ----------------------------------------------------------------------------- */

int keys_common(uint64_t a, uint64_t b)
{
    return a == b ? KEY_BITS : __builtin_clzll(a ^ b) - (64 - KEY_BITS);
}

size_t keys_find(const struct body *body, size_t count, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (body[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void keys_centre(const struct cube *cube, uint64_t key, int depth, double centre[3])
{
    double unit = ldexp(cube->side, -KEY_DIM_BITS);

    for (int i = 0; i < 3; i++) {
        int      free_bits = KEY_DIM_BITS - (depth + 2 - i) / 3;
        uint64_t cell      = keys_gather(key >> (2 - i)) >> free_bits << free_bits;

        centre[i] = cube->low[i] + unit * ((double)cell + 0.5 * (double)(UINT64_C(1) << free_bits));
    }
}

double keys_side(const struct cube *cube, int depth)
{
    return ldexp(cube->side, -(depth / 3));
}
