/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.h - a square matrix of complex numbers whose rows are distributed in bands, and whose
 * transposition moves blocks between them.
 *
 * The N x N matrix is distributed over C chares with R = N / C rows each.  The data of chare a for
 * chare b is a *block* of R x R numbers; each chare has C blocks.  A block consists of *tiles* of
 * T x T numbers, where T divides R: the tiles of a row of tiles are contiguous, and the rows of
 * tiles follow each other, with a gap where they would otherwise compete for the same cache sets.
 *
 * A *strip* is T rows or T columns of numbers of all blocks.  It is copied to or from contiguous
 * rows, in which a row of the strip has N numbers.  The functions are inline, since their loops
 * over a tile are unrolled where its size is a constant (TRANSPOSE_WITH_TILE).
 */
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include <stdint.h>
#include <string.h>

#include "roots.h"

#define TRANSPOSE_TILE_MAX 8  /* 128 bytes of a row: two cache lines                   */
#define TRANSPOSE_GAP_FROM 16 /* tiles in a row from which on a gap costs little       */
#define TRANSPOSE_PREFETCH 4  /* tiles of a strip that are prefetched ahead            */

/** How the matrix is divided; equal on all chares. */
struct transpose_shape {
    int64_t side;   /* N                                       */
    int64_t chares; /* C, which divides N                      */
    int64_t rows;   /* R = N / C                               */
    int64_t tile;   /* T, which divides R                      */
    int64_t step;   /* numbers from a row of tiles to the next */
};

/** The tiles of a strip in a block: the offset of the first, and the distance of two tiles. */
struct transpose_strip {
    int64_t first, step;
};

/** Divides a matrix.  Tiles have at most @p tile rows; 0: the default. */
static inline struct transpose_shape transpose_shape_of(int64_t side, int64_t chares, int64_t tile)
{
    struct transpose_shape shape = {.side = side, .chares = chares, .rows = side / chares};

    shape.tile = tile > 0 ? tile : TRANSPOSE_TILE_MAX;
    while (shape.rows % shape.tile != 0)
        shape.tile--;
    shape.step = shape.rows * shape.tile;
    if (shape.rows / shape.tile >= TRANSPOSE_GAP_FROM)
        shape.step += shape.tile * shape.tile;
    return shape;
}

/** Returns the number of strips of a chare. */
static inline int64_t transpose_strips(const struct transpose_shape *shape)
{
    return shape->rows / shape->tile;
}

/** Returns the number of elements of a block, with gaps. */
static inline int64_t transpose_block(const struct transpose_shape *shape)
{
    return transpose_strips(shape) * shape->step;
}

/** Returns the i-th strip of rows. */
static inline struct transpose_strip transpose_rows(const struct transpose_shape *shape, int64_t i)
{
    return (struct transpose_strip){i * shape->step, shape->tile * shape->tile};
}

/** Returns the i-th strip of columns. */
static inline struct transpose_strip transpose_columns(const struct transpose_shape *shape,
                                                       int64_t                       i)
{
    return (struct transpose_strip){i * shape->tile * shape->tile, shape->step};
}

/* ---- tiles --------------------------------------------------------------------------- */

#define TRANSPOSE_INLINE static inline __attribute__((always_inline))

/** Calls a function with the tile size, its last argument, as a constant for the common sizes. */
#define TRANSPOSE_WITH_TILE(function, size, ...)                                                   \
    ((size) == 8   ? function(__VA_ARGS__, 8)                                                      \
     : (size) == 4 ? function(__VA_ARGS__, 4)                                                      \
                   : function(__VA_ARGS__, size))

/** Copies a tile to T x T numbers whose rows are @p pitch apart. */
TRANSPOSE_INLINE void tile_get(const number *tile, number *to, int64_t pitch, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        memcpy(to + i * pitch, tile + i * size, (size_t)size * sizeof *to);
}

/** Copies T x T numbers whose rows are @p pitch apart to a tile. */
TRANSPOSE_INLINE void tile_put(number *tile, const number *from, int64_t pitch, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        memcpy(tile + i * size, from + i * pitch, (size_t)size * sizeof *from);
}

/** Copies a tile, transposed, to T x T numbers whose rows are @p pitch apart. */
TRANSPOSE_INLINE void tile_get_transposed(const number *tile, number *to, int64_t pitch,
                                          int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j < size; j++)
            to[i * pitch + j] = tile[j * size + i];
}

/** Prefetches a tile. */
TRANSPOSE_INLINE void tile_prefetch(const number *tile, int64_t size)
{
    for (int64_t i = 0; i < size * size; i += 4) /* a cache line */
        __builtin_prefetch(tile + i, 1);
}

/* ---- strips -------------------------------------------------------------------------- */

/** Copies a strip of rows of the blocks to rows that are @p pitch apart. */
TRANSPOSE_INLINE void transpose_get_rows(const struct transpose_shape *shape, number *const *block,
                                         struct transpose_strip strip, number *to, int64_t pitch,
                                         int64_t size)
{
    for (int64_t c = 0; c < shape->chares; c++) {
        const number *tile = block[c] + strip.first;
        for (int64_t i = 0; i < shape->rows; i += size, tile += strip.step, to += size)
            tile_get(tile, to, pitch, size);
    }
}

/** Copies rows that are @p pitch apart to a strip of rows of the blocks. */
TRANSPOSE_INLINE void transpose_put_rows(const struct transpose_shape *shape, number *const *block,
                                         struct transpose_strip strip, const number *from,
                                         int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < shape->chares; c++) {
        number *tile = block[c] + strip.first;
        for (int64_t i = 0; i < shape->rows; i += size, tile += strip.step, from += size)
            tile_put(tile, from, pitch, size);
    }
}

/** Copies a strip of columns of the blocks to rows that are @p pitch apart.  It prefetches, since
 *  hardware prefetchers do not predict tiles that are far apart. */
TRANSPOSE_INLINE void transpose_get_columns(const struct transpose_shape *shape,
                                            number *const *block, struct transpose_strip strip,
                                            number *to, int64_t pitch, int64_t size)
{
    for (int64_t c = 0; c < shape->chares; c++) {
        const number *tile = block[c] + strip.first;
        for (int64_t i = 0; i < shape->rows; i += size, tile += strip.step, to += size) {
            if (i + TRANSPOSE_PREFETCH * size < shape->rows)
                tile_prefetch(tile + TRANSPOSE_PREFETCH * strip.step, size);
            tile_get_transposed(tile, to, pitch, size);
        }
    }
}

#endif
