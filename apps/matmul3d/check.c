/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the contents of the matrices, and the check of their product.
 *
 * A number is a function of its row and column, so a check computes it without communication.
 */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul3d.ci.h"

/* ---- numbers --------------------------------------------------------------------------------- */

/* Returns the number of matrix A or B at a row and column, for a seed and a set. */
static double number(uint64_t round, int set, int matrix, int64_t row, int64_t column)
{
    uint64_t x = (uint64_t)row << 32 ^ (uint64_t)column ^ (round * 4 + (uint64_t)set * 2) << 56 ^
                 (uint64_t)matrix << 31;

    return (double)((int)(mix(x) >> 59) - 16) / 16;
}

static double get(const char *block, int64_t i)
{
    return options.single ? (double)((const float *)(const void *)block)[i]
                          : ((const double *)(const void *)block)[i];
}

static void set_number(char *block, int64_t i, double value)
{
    if (options.single)
        ((float *)(void *)block)[i] = (float)value;
    else
        ((double *)(void *)block)[i] = value;
}

/* Fills the slab of this tile with its numbers and the rest of the block with NaN. */
static void fill(Tile *t, int s, int matrix)
{
    int64_t            columns = t->n[columns_of(matrix)], row = t->first[rows_of(matrix)];
    struct matmul_rows own   = own_rows(t, matrix);
    char              *block = t->set[s].block[matrix];

    for (int64_t i = 0; i < t->n[rows_of(matrix)] * columns; i++)
        set_number(block, i, NAN);
    for (int64_t i = own.first; i < own.end && matrix != C; i++)
        for (int64_t j = 0; j < columns; j++)
            set_number(block, i * columns + j,
                       number(t->round, s, matrix, row + i, t->first[columns_of(matrix)] + j));
}

void Tile_on_fill(Tile *t, int round)
{
    t->round = (uint64_t)round;
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < MATRICES; m++)
            fill(t, s, m);
    skua_contribute_nothing(t, Main_ready_done(main_proxy));
}

/* ---- checks ---------------------------------------------------------------------------- */

/* Returns element i of the vector of Freivalds' check. */
static double vector(int64_t i)
{
    return number(77, 0, C, i, i) + 1.0 / 32; /* never 0 */
}

static int last_set(const Tile *t)
{
    return (int)((t->turn + 1) % 2);
}

/* Returns a number of A or B in the last product. */
static double factor(const Tile *t, int matrix, int64_t row, int64_t column)
{
    return number(t->round, last_set(t), matrix, row, column);
}

/* Returns the rows of the whole matrix that form the slab of this tile. */
static struct matmul_rows whole_rows(const Tile *t, int matrix)
{
    struct matmul_rows own   = own_rows(t, matrix);
    int64_t            first = t->first[rows_of(matrix)];

    return (struct matmul_rows){own.first + first, own.end + first};
}

/* Returns a number of this tile's block of C, by row of the whole matrix and column of the
 * block. */
static double result(const Tile *t, int64_t row, int64_t j)
{
    return get(t->set[last_set(t)].block[C], (row - t->first[0]) * t->n[2] + j);
}

/* Adds the product of this tile's slab of A or B and the vector @p x to @p to. */
static void add_product(const Tile *t, int matrix, const double *x, double *to)
{
    struct matmul_rows own   = whole_rows(t, matrix);
    int64_t            first = t->first[columns_of(matrix)], end = first + t->n[columns_of(matrix)];

    for (int64_t i = own.first; i < own.end; i++)
        for (int64_t j = first; j < end; j++)
            to[i] += factor(t, matrix, i, j) * (x ? x[j] : vector(j));
}

void Tile_on_multiply_vector(Tile *t)
{
    double *br = calloc((size_t)options.size, sizeof *br);

    add_product(t, B, NULL, br);
    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, br, (size_t)options.size,
                    Main_product_done(main_proxy));
    free(br);
}

/* Contributes C r, from the computed numbers, and A (B r). */
void Tile_on_check(Tile *t, int n, const double *br)
{
    struct matmul_rows own  = whole_rows(t, C);
    double            *both = calloc(2 * (size_t)n, sizeof *both);

    for (int64_t i = own.first; i < own.end; i++)
        for (int64_t j = 0; j < t->n[2]; j++)
            both[i] += result(t, i, j) * vector(t->first[2] + j);
    add_product(t, A, br, both + n);
    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, both, 2 * (size_t)n,
                    Main_differences_done(main_proxy));
    free(both);
}

/* Returns a number of C, computed by definition. */
static double exact(const Tile *t, int64_t i, int64_t j)
{
    double sum = 0;

    for (int64_t k = 0; k < options.size; k++)
        sum += factor(t, A, i, k) * factor(t, B, k, j);
    return sum;
}

void Tile_on_compare(Tile *t)
{
    struct matmul_rows own   = whole_rows(t, C);
    int64_t            wrong = 0;

    for (int64_t i = own.first; i < own.end; i++)
        for (int64_t j = 0; j < t->n[2]; j++)
            wrong += !(result(t, i, j) == exact(t, i, t->first[2] + j));
    skua_contribute(t, SKUA_SUM, SKUA_INT64, &wrong, 1, Main_compared_done(main_proxy));
}

/* ---- Main ------------------------------------------------------------------------------------ */

/* All numbers are multiples of powers of 2, so that sums are exact in any order. */
void check_result(Main *m, const double *both)
{
    double difference = 0, largest = 0;

    m->checksum = 0;
    for (int64_t i = 0; i < options.size; i++) {
        m->checksum += both[i];
        difference = larger(difference, fabs(both[i] - both[options.size + i]));
        largest    = larger(largest, fabs(both[options.size + i]));
    }
    m->error = larger(m->error, largest > 0 ? difference / largest : difference);
}

void report(const Main *m)
{
    const struct variant_series series = {"matmul3d", options.series, options.size};
    double                      limit  = options.single ? 1e-4 : 1e-10;
    bool                        good   = m->error < limit && m->wrong == 0;

    printf("%lld x %lld numbers of %s in %lld x %lld x %lld tiles on %d PEs, %lld products by %s\n",
           (long long)options.size, (long long)options.size, options.single ? "float" : "double",
           (long long)options.grid[0], (long long)options.grid[1], (long long)options.grid[2],
           skua_pes(), (long long)options.steps, gemm_name());
    variant_report(m->best, options.steps, &series);
    printf(
        "result matmul3d: %lld rows, %lld products; checksum %.12g, Freivalds' check: error %.2g",
        (long long)options.size, (long long)options.steps, m->checksum, m->error);
    if (options.size <= COMPARED_MAX)
        printf(", three loops: %lld numbers differ", (long long)m->wrong);
    printf(": %s\n", good ? "passed" : "FAILED");
    skua_exit(good ? 0 : 1);
}
