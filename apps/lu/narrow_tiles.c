/* SPDX-License-Identifier: Apache-2.0 */
/* narrow_tiles.c - see narrow.h. */
#include <string.h>

#include "narrow.h"

#define TILE_ROWS    4
#define TILE_COLUMNS 8 /* 4 x 8 numbers and a row of b fit into 32 registers of two numbers */

typedef double narrow_pair __attribute__((vector_size(16)));

#define TILE_PAIRS (TILE_COLUMNS / 2)

static inline narrow_pair narrow_load(const double *from)
{
    narrow_pair pair;

    memcpy(&pair, from, sizeof pair);
    return pair;
}

/* Computes a tile of c. */
static inline void narrow_tile(int64_t k, const double *a, int64_t la, const double *b, int64_t lb,
                               double *c, int64_t lc)
{
    narrow_pair sum[TILE_ROWS][TILE_PAIRS], upper[TILE_PAIRS];

    for (int r = 0; r < TILE_ROWS; r++)
        for (int x = 0; x < TILE_PAIRS; x++)
            sum[r][x] = narrow_load(c + r * lc + 2 * x);
    for (int64_t i = 0; i < k; i++) {
        for (int x = 0; x < TILE_PAIRS; x++)
            upper[x] = narrow_load(b + i * lb + 2 * x);
        for (int r = 0; r < TILE_ROWS; r++) {
            narrow_pair lower = {a[r * la + i], a[r * la + i]};

            for (int x = 0; x < TILE_PAIRS; x++)
                sum[r][x] -= lower * upper[x];
        }
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int x = 0; x < TILE_PAIRS; x++)
            memcpy(c + r * lc + 2 * x, &sum[r][x], sizeof sum[r][x]);
}

/* Computes a part of c that is no tile. */
static void narrow_rest(int64_t m, int64_t n, int64_t k, const double *a, int64_t la,
                        const double *b, int64_t lb, double *c, int64_t lc)
{
    for (int64_t r = 0; r < m; r++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t x = 0; x < n; x++)
                c[r * lc + x] -= a[r * la + i] * b[i * lb + x];
}

void narrow_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                   int64_t lb, double *c, int64_t lc)
{
    int64_t rows = m - m % TILE_ROWS, columns = n - n % TILE_COLUMNS;

    for (int64_t r = 0; r < rows; r += TILE_ROWS)
        for (int64_t x = 0; x < columns; x += TILE_COLUMNS)
            narrow_tile(k, a + r * la, la, b + x, lb, c + r * lc + x, lc);
    if (columns < n)
        narrow_rest(rows, n - columns, k, a, la, b + columns, lb, c + columns, lc);
    narrow_rest(m - rows, n, k, a + rows * la, la, b, lb, c + rows * lc, lc);
}
