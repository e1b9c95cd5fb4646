/* SPDX-License-Identifier: Apache-2.0 */
/* lu_parts.c - panels and maps of apps/lu without the runtime: a panel that is divided among
 * several PEs against elimination by three loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "panel.h"

#define WIDTH 37 /* not a multiple of the strip */
#define PARTS 3
#define ROWS  (PARTS * WIDTH)

static double whole[ROWS * WIDTH];
static int    failures;

static void expect(bool holds, const char *what)
{
    if (!holds)
        printf("wrong: %s\n", what);
    failures += !holds;
}

static double random_number(void)
{
    static uint32_t state = 1;

    state = state * 1664525u + 1013904223u;
    return state * 0x1p-32 - 0.5;
}

static void swap_rows(int64_t a, int64_t b)
{
    for (int x = 0; x < WIDTH && a != b; x++) {
        double one = whole[a * WIDTH + x];

        whole[a * WIDTH + x] = whole[b * WIDTH + x];
        whole[b * WIDTH + x] = one;
    }
}

static int64_t find_pivot(int c)
{
    int64_t best = c;

    for (int64_t r = c; r < ROWS; r++)
        if (fabs(whole[r * WIDTH + c]) > fabs(whole[best * WIDTH + c]))
            best = r;
    return best;
}

/* Eliminates `whole` by three loops. */
static void eliminate_plainly(int64_t *pivot)
{
    for (int c = 0; c < WIDTH; c++) {
        pivot[c] = find_pivot(c);
        swap_rows(c, pivot[c]);
        for (int64_t r = c + 1; r < ROWS; r++) {
            double l = whole[r * WIDTH + c] /= whole[c * WIDTH + c];

            for (int x = c + 1; x < WIDTH; x++)
                whole[r * WIDTH + x] -= l * whole[c * WIDTH + x];
        }
    }
}

/* Gives each part the rows of one block; blocks are assigned to the `parts` parts in turn. */
static void start_panels(struct panel *p, double *copy, int64_t base)
{
    memcpy(copy, whole, sizeof whole);
    for (int i = 0; i < PARTS; i++) {
        expect(panel_create(&p[i], WIDTH, WIDTH), "memory of a panel");
        p[i].first    = base;
        p[i].count    = WIDTH;
        p[i].row      = copy + i * WIDTH * WIDTH;
        p[i].pitch    = WIDTH;
        p[i].diagonal = i == 0;
        for (int r = 0; r < WIDTH; r++)
            p[i].number[r] = base + i * WIDTH + r;
        panel_begin(&p[i]);
    }
}

static bool eliminate_column(struct panel *p)
{
    double best[PANEL_ROWS + 2 * WIDTH];
    bool   good = true;

    memcpy(best, panel_offer(&p[PARTS - 1]), sizeof best);
    for (int i = 0; i < PARTS - 1; i++)
        panel_choose(best, panel_offer(&p[i]), WIDTH);
    for (int i = 0; i < PARTS; i++)
        good = panel_eliminate(&p[i], best) && good;
    return good;
}

static void test_panel(void)
{
    static double copy[ROWS * WIDTH];
    struct panel  p[PARTS];
    int64_t       pivot[WIDTH], base = 1000;
    double        worst = 0;

    for (int i = 0; i < ROWS * WIDTH; i++)
        whole[i] = random_number();
    start_panels(p, copy, base);
    for (int c = 0; c < WIDTH; c++)
        expect(eliminate_column(p), "a pivot");
    eliminate_plainly(pivot);
    for (int i = 0; i < PARTS; i++)
        panel_end(&p[i]);
    for (int c = 0; c < WIDTH; c++)
        expect(p[1].pivot[c] == base + pivot[c], "the row of a pivot");
    for (int i = 0; i < ROWS * WIDTH; i++)
        worst = fmax(worst, fabs(copy[i] - whole[i]));
    expect(worst < 1e-11, "the numbers of L and U");
    for (int i = 0; i < PARTS; i++)
        panel_destroy(&p[i]);
}

static void test_singular(void)
{
    static double copy[ROWS * WIDTH];
    struct panel  p[PARTS];

    for (int i = 0; i < ROWS * WIDTH; i++)
        whole[i] = i % WIDTH == 20 ? 0 : random_number();
    start_panels(p, copy, 0);
    for (int c = 0; c < 20; c++)
        expect(eliminate_column(p), "a pivot before the column of zeros");
    expect(!eliminate_column(p), "no pivot in a column of zeros");
    for (int i = 0; i < PARTS; i++)
        panel_destroy(&p[i]);
}

/* Tests that a map uses all PEs, equally within a tenth of the blocks. */
static void test_map(const char *name, int rows, int columns, int stride)
{
    struct lu_options o = {.blocks = 24, .grid = {rows, columns}, .rotate = 1, .stride = stride};
    int32_t           table[24 * 25];
    int               pes = rows * columns, count[64] = {0};

    snprintf(o.map, sizeof o.map, "%s", name);
    expect(!map_fill(&o, pes, table), "a map");
    for (int b = 0; b < 24 * 25; b++) {
        expect(table[b] >= 0 && table[b] < pes, "the PE of a block");
        count[table[b]]++;
    }
    for (int pe = 0; pe < pes; pe++)
        expect(abs(count[pe] - 600 / pes) <= 60, "an equal number of blocks");
}

#define BALANCE_BLOCKS 97

/* Returns the largest work of a PE: its blocks, each times its number of updates. */
static int64_t largest_work(const char *name, int blocks, int rows, int columns)
{
    static int32_t    table[BALANCE_BLOCKS * (BALANCE_BLOCKS + 1)];
    struct lu_options o        = {.blocks = blocks, .grid = {rows, columns}};
    int64_t           work[64] = {0}, most = 0;

    snprintf(o.map, sizeof o.map, "%s", name);
    expect(!map_fill(&o, rows * columns, table), "a map");
    for (int i = 0; i < blocks; i++)
        for (int j = 0; j < blocks; j++)
            work[table[i * (blocks + 1) + j]] += (i < j ? i : j) + 1;
    for (int pe = 0; pe < rows * columns; pe++)
        most = work[pe] > most ? work[pe] : most;
    return most;
}

static void test_balance(void)
{
    static const int grid[][2] = {{1, 2}, {2, 2}, {2, 4}, {4, 4}};

    for (size_t g = 0; g < sizeof grid / sizeof *grid; g++)
        for (int blocks = 16; blocks <= BALANCE_BLOCKS; blocks += 3)
            expect(largest_work("balanced", blocks, grid[g][0], grid[g][1]) <=
                       largest_work("cyclic", blocks, grid[g][0], grid[g][1]),
                   "work that is balanced at least as well as by blocks in turn");
}

/* ---- kernels ------------------------------------------------------------------------------ */

#define KERNEL_ROWS    13 /* not a multiple of the rows of a tile */
#define KERNEL_COLUMNS 43 /* not a multiple of the columns of a tile */

static void fill_random(double *at, int n)
{
    for (int i = 0; i < n; i++)
        at[i] = random_number();
}

static bool is_near(const double *a, const double *b, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) < 1e-12))
            return false;
    return true;
}

static void test_subtract(const struct lu_kernels *kernels, int at)
{
    double  strip[KERNEL_ROWS * KERNEL_STRIP], plain[KERNEL_ROWS * KERNEL_STRIP];
    double  pivot[KERNEL_STRIP];
    int64_t best = -1;

    fill_random(strip, KERNEL_ROWS * KERNEL_STRIP);
    fill_random(pivot, KERNEL_STRIP);
    pivot[at] = 0.75;
    memcpy(plain, strip, sizeof plain);
    for (int r = 0; r < KERNEL_ROWS; r++) {
        double *row = plain + r * KERNEL_STRIP;

        row[at] /= pivot[at];
        for (int x = at + 1; x < KERNEL_STRIP; x++)
            row[x] -= row[at] * pivot[x];
        if (at + 1 < KERNEL_STRIP &&
            (best < 0 || fabs(row[at + 1]) > fabs(plain[best * KERNEL_STRIP + at + 1])))
            best = r;
    }
    expect(kernels->subtract(strip, KERNEL_ROWS, pivot, at) == best, "the next pivot of a strip");
    expect(is_near(strip, plain, KERNEL_ROWS * KERNEL_STRIP), "a strip");
    expect(kernels->subtract(strip, 0, pivot, at) == -1, "no pivot in a strip without rows");
}

static void test_update(const struct lu_kernels *kernels, int n, int k)
{
    double a[KERNEL_ROWS * KERNEL_COLUMNS], b[KERNEL_COLUMNS * KERNEL_COLUMNS];
    double c[KERNEL_ROWS * KERNEL_COLUMNS], plain[KERNEL_ROWS * KERNEL_COLUMNS];

    fill_random(a, KERNEL_ROWS * KERNEL_COLUMNS);
    fill_random(b, KERNEL_COLUMNS * KERNEL_COLUMNS);
    fill_random(c, KERNEL_ROWS * KERNEL_COLUMNS);
    memcpy(plain, c, sizeof plain);
    for (int r = 0; r < KERNEL_ROWS; r++)
        for (int x = 0; x < n; x++)
            for (int i = 0; i < k; i++)
                plain[r * KERNEL_COLUMNS + x] -=
                    a[r * KERNEL_COLUMNS + i] * b[i * KERNEL_COLUMNS + x];
    kernels->update(KERNEL_ROWS, n, k, a, KERNEL_COLUMNS, b, KERNEL_COLUMNS, c, KERNEL_COLUMNS);
    expect(is_near(c, plain, KERNEL_ROWS * KERNEL_COLUMNS), "a product of few columns");
}

/* Multiplies the solution by L again. */
static void test_solve(const struct lu_kernels *kernels, int n, int width)
{
    double l[KERNEL_COLUMNS * KERNEL_COLUMNS], b[KERNEL_COLUMNS * KERNEL_COLUMNS];
    double plain[KERNEL_COLUMNS * KERNEL_COLUMNS];

    fill_random(l, KERNEL_COLUMNS * KERNEL_COLUMNS);
    fill_random(b, KERNEL_COLUMNS * KERNEL_COLUMNS);
    for (int i = 0; i < KERNEL_COLUMNS * KERNEL_COLUMNS; i++)
        l[i] /= KERNEL_COLUMNS;
    memcpy(plain, b, sizeof plain);
    kernels->solve(n, width, l, KERNEL_COLUMNS, b, KERNEL_COLUMNS);
    for (int r = n - 1; r >= 0; r--)
        for (int i = 0; i < r; i++)
            for (int x = 0; x < width; x++)
                b[r * KERNEL_COLUMNS + x] += l[r * KERNEL_COLUMNS + i] * b[i * KERNEL_COLUMNS + x];
    expect(is_near(b, plain, KERNEL_COLUMNS * KERNEL_COLUMNS), "a triangular solve");
}

/* Solves for more rows than a kernel does at once. */
static void test_solve_large(void)
{
    enum { N = KERNEL_ROWS_MAX + 37, COLUMNS = 19 };
    static double l[N * N], b[N * COLUMNS], plain[N * COLUMNS];

    fill_random(l, N * N);
    fill_random(b, N * COLUMNS);
    for (int i = 0; i < N * N; i++)
        l[i] /= N;
    memcpy(plain, b, sizeof plain);
    panel_solve_lower(N, COLUMNS, l, N, b, COLUMNS);
    for (int r = N - 1; r >= 0; r--)
        for (int i = 0; i < r; i++)
            for (int x = 0; x < COLUMNS; x++)
                b[r * COLUMNS + x] += l[r * N + i] * b[i * COLUMNS + x];
    expect(is_near(b, plain, N * COLUMNS), "a triangular solve of many rows");
}

/* Tests every set of kernels that this CPU can execute. */
static void test_kernels(void)
{
    for (const struct lu_kernels *const *set = kernels_usable(); *set; set++) {
        for (int at = 0; at < KERNEL_STRIP; at++)
            test_subtract(*set, at);
        for (int n = 1; n <= KERNEL_COLUMNS && (*set)->update; n++)
            test_update(*set, n, n % 11 + 1);
        for (int n = 1; n <= KERNEL_COLUMNS && (*set)->solve; n++)
            test_solve(*set, n, KERNEL_COLUMNS + 1 - n);
    }
    test_solve_large();
}

static void test_grid(void)
{
    static const int best[][3] = {{1, 1, 1}, {2, 1, 2},  {4, 1, 4},
                                  {8, 1, 8}, {16, 4, 4}, {24, 4, 6}};

    for (size_t b = 0; b < sizeof best / sizeof *best; b++) {
        int64_t grid[2];

        map_choose_grid(best[b][0], grid);
        expect(grid[0] == best[b][1] && grid[1] == best[b][2], "the grid of a number of PEs");
    }
}

int main(void)
{
    test_kernels();
    test_grid();
    test_panel();
    test_singular();
    test_map("balanced", 2, 3, 1);
    test_map("cyclic", 2, 3, 1);
    test_map("tiling", 2, 4, 2);
    test_map("tiling", 4, 2, 1);
    test_map("snake", 7, 1, 1);
    test_balance();
    printf(failures ? "%d failures\n" : "all good\n", failures);
    return failures > 0;
}
