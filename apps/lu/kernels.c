/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - see kernels.h.  LU_KERNELS is the name of this set, LU_VECTOR the bytes of a
 * register. */
#include "kernels.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef double kernel_vector __attribute__((vector_size(LU_VECTOR)));

#define LANES  ((int)(LU_VECTOR / sizeof(double)))
#define STRIPS (KERNEL_STRIP / LANES) /* registers of a row of a strip */

/* A tile of a product, with a row of b, fits into the registers: 16 of 32 bytes, 32 of others. */
#define TILE_ROWS   (LU_VECTOR == 64 ? 8 : 4)
#define TILE_STRIPS (LU_VECTOR == 64 ? 2 : 1)

static inline kernel_vector kernel_load(const double *from)
{
    kernel_vector all;

    memcpy(&all, from, sizeof all);
    return all;
}

static inline void kernel_store(double *to, kernel_vector all)
{
    memcpy(to, &all, sizeof all);
}

/* ---- a column of a strip ------------------------------------------------------------------ */

/* `at` is a constant where this is called, so that a row is in registers. */
static inline int64_t kernel_subtract_at(double *strip, int64_t rows, const double *pivot, int at)
{
    double        inverse = 1 / pivot[at], most = -1;
    int64_t       best = -1;
    int           next = at + 1 < KERNEL_STRIP ? at + 1 : at;
    kernel_vector row[STRIPS], factor[STRIPS];
    double        later[KERNEL_STRIP] = {0}; /* the columns after this one */

    for (int x = at + 1; x < KERNEL_STRIP; x++)
        later[x] = pivot[x];
    for (int v = 0; v < STRIPS; v++)
        factor[v] = kernel_load(later + v * LANES);
    for (int64_t r = 0; r < rows; r++, strip += KERNEL_STRIP) {
        double l = strip[at] * inverse;

        for (int v = at / LANES; v < STRIPS; v++)
            row[v] = kernel_load(strip + v * LANES) - l * factor[v];
        row[at / LANES][at % LANES] = l;
        for (int v = at / LANES; v < STRIPS; v++)
            kernel_store(strip + v * LANES, row[v]);
        if (at + 1 < KERNEL_STRIP && fabs(row[next / LANES][next % LANES]) > most) {
            most = fabs(row[next / LANES][next % LANES]);
            best = r;
        }
    }
    return best;
}

_Static_assert(KERNEL_STRIP == 8, "kernel_subtract() has a case for each column of a strip");

static int64_t kernel_subtract(double *strip, int64_t rows, const double *pivot, int at)
{
    switch (at) {
    case 0: return kernel_subtract_at(strip, rows, pivot, 0);
    case 1: return kernel_subtract_at(strip, rows, pivot, 1);
    case 2: return kernel_subtract_at(strip, rows, pivot, 2);
    case 3: return kernel_subtract_at(strip, rows, pivot, 3);
    case 4: return kernel_subtract_at(strip, rows, pivot, 4);
    case 5: return kernel_subtract_at(strip, rows, pivot, 5);
    case 6: return kernel_subtract_at(strip, rows, pivot, 6);
    default: return kernel_subtract_at(strip, rows, pivot, KERNEL_STRIP - 1);
    }
}

/* ---- products ----------------------------------------------------------------------------- */

#if LU_VECTOR > 16 || !defined(__x86_64__) /* there OpenBLAS uses larger vectors */

/* Computes a tile of c, of TILE_ROWS rows and `vectors` registers, which is a constant where this
 * is called. */
static inline void kernel_tile(int vectors, int64_t k, const double *a, int64_t la, const double *b,
                               int64_t lb, double *c, int64_t lc)
{
    kernel_vector sum[TILE_ROWS][TILE_STRIPS * STRIPS], upper[TILE_STRIPS * STRIPS];

    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < vectors; v++)
            sum[r][v] = kernel_load(c + r * lc + v * LANES);
    for (int64_t i = 0; i < k; i++) {
        for (int v = 0; v < vectors; v++)
            upper[v] = kernel_load(b + i * lb + v * LANES);
        for (int r = 0; r < TILE_ROWS; r++) {
            double lower = a[r * la + i];

            for (int v = 0; v < vectors; v++)
                sum[r][v] -= lower * upper[v];
        }
    }
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < vectors; v++)
            kernel_store(c + r * lc + v * LANES, sum[r][v]);
}

/* Computes a part of c that is no tile. */
static void kernel_rest(int64_t m, int64_t n, int64_t k, const double *a, int64_t la,
                        const double *b, int64_t lb, double *c, int64_t lc)
{
    for (int64_t r = 0; r < m; r++)
        for (int64_t i = 0; i < k; i++)
            for (int64_t x = 0; x < n; x++)
                c[r * lc + x] -= a[r * la + i] * b[i * lb + x];
}

/* Computes TILE_ROWS rows of c. */
static void kernel_rows(int64_t n, int64_t k, const double *a, int64_t la, const double *b,
                        int64_t lb, double *c, int64_t lc)
{
    int64_t x = 0;

    for (; TILE_STRIPS > 1 && x + TILE_STRIPS * KERNEL_STRIP <= n; x += TILE_STRIPS * KERNEL_STRIP)
        kernel_tile(TILE_STRIPS * STRIPS, k, a, la, b + x, lb, c + x, lc);
    for (; x + KERNEL_STRIP <= n; x += KERNEL_STRIP)
        kernel_tile(STRIPS, k, a, la, b + x, lb, c + x, lc);
    if (x < n)
        kernel_rest(TILE_ROWS, n - x, k, a, la, b + x, lb, c + x, lc);
}

static void kernel_update(int64_t m, int64_t n, int64_t k, const double *a, int64_t la,
                          const double *b, int64_t lb, double *c, int64_t lc)
{
    int64_t r = 0;

    for (; r + TILE_ROWS <= m; r += TILE_ROWS)
        kernel_rows(n, k, a + r * la, la, b, lb, c + r * lc, lc);
    kernel_rest(m - r, n, k, a + r * la, la, b, lb, c + r * lc, lc);
}

#else
#define kernel_update NULL
#endif

/* ---- triangular solves -------------------------------------------------------------------- */

#if LU_VECTOR > 16 /* not measured with others */

#define SOLVE_COLUMNS (TILE_STRIPS * KERNEL_STRIP) /* of a strip: a row is in registers */
#define SOLVE_VECTORS (TILE_STRIPS * STRIPS)

/* Solves for the rows of a tile, after those before them. */
static inline void kernel_solve_tile(int64_t before, const double *l, int64_t ll, double *strip)
{
    kernel_vector x[TILE_ROWS][SOLVE_VECTORS], upper[SOLVE_VECTORS];
    double       *tile = strip + before * SOLVE_COLUMNS;

    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < SOLVE_VECTORS; v++)
            x[r][v] = kernel_load(tile + r * SOLVE_COLUMNS + v * LANES);
    for (int64_t i = 0; i < before; i++) {
        for (int v = 0; v < SOLVE_VECTORS; v++)
            upper[v] = kernel_load(strip + i * SOLVE_COLUMNS + v * LANES);
        for (int r = 0; r < TILE_ROWS; r++)
            for (int v = 0; v < SOLVE_VECTORS; v++)
                x[r][v] -= l[r * ll + i] * upper[v];
    }
    for (int r = 1; r < TILE_ROWS; r++)
        for (int i = 0; i < r; i++)
            for (int v = 0; v < SOLVE_VECTORS; v++)
                x[r][v] -= l[r * ll + before + i] * x[i][v];
    for (int r = 0; r < TILE_ROWS; r++)
        for (int v = 0; v < SOLVE_VECTORS; v++)
            kernel_store(tile + r * SOLVE_COLUMNS + v * LANES, x[r][v]);
}

/* Solves for the rows of a strip. */
static void kernel_solve_strip(int64_t n, const double *l, int64_t ll, double *strip)
{
    int64_t r = 0;

    for (; r + TILE_ROWS <= n; r += TILE_ROWS)
        kernel_solve_tile(r, l + r * ll, ll, strip);
    for (; r < n; r++)
        for (int64_t i = 0; i < r; i++)
            for (int x = 0; x < SOLVE_COLUMNS; x++)
                strip[r * SOLVE_COLUMNS + x] -= l[r * ll + i] * strip[i * SOLVE_COLUMNS + x];
}

/* A strip of a few columns of b is copied, so that its rows are adjacent. */
static void kernel_solve(int64_t n, int64_t width, const double *l, int64_t ll, double *b,
                         int64_t lb)
{
    _Alignas(64) double strip[KERNEL_ROWS_MAX * SOLVE_COLUMNS];

    for (int64_t from = 0; from < width; from += SOLVE_COLUMNS) {
        int64_t left  = width - from < SOLVE_COLUMNS ? width - from : SOLVE_COLUMNS;
        size_t  bytes = (size_t)left * sizeof *b;

        if (left < SOLVE_COLUMNS)
            memset(strip, 0, (size_t)n * SOLVE_COLUMNS * sizeof *strip);
        for (int64_t r = 0; r < n; r++)
            memcpy(strip + r * SOLVE_COLUMNS, b + r * lb + from, bytes);
        kernel_solve_strip(n, l, ll, strip);
        for (int64_t r = 0; r < n; r++)
            memcpy(b + r * lb + from, strip + r * SOLVE_COLUMNS, bytes);
    }
}

#else
#define kernel_solve NULL
#endif

extern const struct lu_kernels LU_KERNELS;
const struct lu_kernels        LU_KERNELS = {LU_NAME, LU_VECTOR, kernel_subtract, kernel_update, kernel_solve};
