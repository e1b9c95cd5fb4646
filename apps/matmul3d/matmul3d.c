/* SPDX-License-Identifier: Apache-2.0 */
/* matmul3d.c - what the tiles of matmul3d.ci do; see matmul3d.h. */
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matmul3d.ci.h"

/* ---- shapes -----------------------------------------------------------------------------------
 */

/* Where the i-th of so many parts of n begins. */
static int64_t begin(int64_t n, int64_t parts, int64_t i)
{
    return n * i / parts;
}

static size_t number_bytes(void)
{
    return options.single ? sizeof(float) : sizeof(double);
}

/* The direction in the grid in which the tiles of a group lie. */
static const int group_direction[] = {[A] = 2, [B] = 0, [C] = 1};

static int group_size(int matrix)
{
    return (int)options.grid[group_direction[matrix]];
}

static int place(const Tile *t, int matrix)
{
    Tile_position at = Tile_index(t);

    return matrix == A ? at.k : matrix == B ? at.i : at.j;
}

static Tile_element member(const Tile *t, int matrix, int i)
{
    Tile_position at = Tile_index(t);

    if (matrix == A)
        at.k = i;
    else if (matrix == B)
        at.i = i;
    else
        at.j = i;
    return Tile_at(Tile_of(t), at.i, at.j, at.k);
}

int others(const Tile *t, int matrix)
{
    (void)t;
    return group_size(matrix) - 1;
}

/* Directions of rows and columns. */
static int rows_of(int matrix)
{
    return matrix == B ? 1 : 0;
}

static int columns_of(int matrix)
{
    return matrix == A ? 1 : 2;
}

static size_t block_bytes(const Tile *t, int matrix)
{
    return (size_t)t->n[rows_of(matrix)] * (size_t)t->n[columns_of(matrix)] * number_bytes();
}

/* Rows of a matrix. */
struct rows {
    int64_t first, end;
};

/* Which rows of our block are the i-th slab. */
static struct rows slab_rows(const Tile *t, int matrix, int i)
{
    int64_t n = t->n[rows_of(matrix)], parts = group_size(matrix);

    return (struct rows){begin(n, parts, i), begin(n, parts, i + 1)};
}

static skua_layout slab(const Tile *t, const struct set *set, int matrix, int i)
{
    struct rows r   = slab_rows(t, matrix, i);
    size_t      row = (size_t)t->n[columns_of(matrix)] * number_bytes();

    return skua_layout_of(set->block[matrix] + (size_t)r.first * row,
                          (size_t)(r.end - r.first) * row);
}

static skua_layout own_slab(const Tile *t, const struct set *set, int matrix)
{
    return slab(t, set, matrix, place(t, matrix));
}

/* ---- memory -----------------------------------------------------------------------------------
 */

static void *take(size_t bytes)
{
    void *memory = skua_channel_alloc(bytes);

    if (!memory)
        skua_abort("no memory for blocks; see --size");
    return memory;
}

static void make_set(Tile *t, struct set *set)
{
    size_t part = own_slab(t, set, C).bytes;

    set->of = t;
    for (int m = 0; m < MATRICES; m++) {
        size_t group  = (size_t)group_size(m);
        set->block[m] = take(block_bytes(t, m));
        set->in[m]    = calloc(group, sizeof *set->in[m]);
        set->out[m]   = calloc(group, sizeof(skua_sender *));
    }
    set->part = calloc((size_t)group_size(C), sizeof(char *));
    for (int i = 0; i < group_size(C); i++)
        if (i != place(t, C))
            set->part[i] = take(part);
}

void Tile_on_create(Tile *t)
{
    Tile_position at      = Tile_index(t);
    const int     which[] = {at.i, at.j, at.k};

    for (int d = 0; d < 3; d++) {
        t->first[d] = begin(options.size, options.grid[d], which[d]);
        t->n[d]     = begin(options.size, options.grid[d], which[d] + 1) - t->first[d];
    }
    for (int s = 0; s < 2; s++) {
        t->set[s].turn = s;
        make_set(t, &t->set[s]);
    }
}

static void free_group(const Tile *t, struct set *set, int matrix)
{
    for (int i = 0; i < group_size(matrix); i++)
        if (i != place(t, matrix)) {
            skua_channel_close(set->out[matrix][i]);
            skua_channel_delete(set->in[matrix][i]);
        }
    free(set->out[matrix]);
    free(set->in[matrix]);
    skua_channel_free(set->block[matrix]);
}

void Tile_on_destroy(Tile *t)
{
    for (struct set *set = t->set; set < t->set + 2; set++) {
        for (int m = 0; m < MATRICES; m++)
            free_group(t, set, m);
        for (int i = 0; i < group_size(C); i++)
            skua_channel_free(set->part[i]);
        free(set->part);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* What matrix A or B has at a place, as it is filled the round-th time, in a set. */
static double number(uint64_t round, int set, int matrix, int64_t row, int64_t column)
{
    uint64_t x = (uint64_t)row << 32 ^ (uint64_t)column ^ (round * 4 + (uint64_t)set * 2) << 56 ^
                 (uint64_t)matrix << 31;

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((int)(x >> 59) - 16) / 16;
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

/* Our slab has its numbers, all else is not a number. */
static void fill(Tile *t, int s, int matrix)
{
    int64_t     columns = t->n[columns_of(matrix)], first = t->first[rows_of(matrix)];
    struct rows own = slab_rows(t, matrix, place(t, matrix));

    memset(t->set[s].block[matrix], 0xff, block_bytes(t, matrix));
    for (int64_t i = own.first; i < own.end && matrix != C; i++)
        for (int64_t j = 0; j < columns; j++)
            set_number(t->set[s].block[matrix], i * columns + j,
                       number(t->round, s, matrix, first + i, t->first[columns_of(matrix)] + j));
}

void Tile_on_fill(Tile *t, int round)
{
    t->round = (uint64_t)round;
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < MATRICES; m++)
            fill(t, s, m);
    skua_contribute_nothing(t, Main_ready_done(boss));
}

/* ---- a step -----------------------------------------------------------------------------------
 */

static struct set *current(Tile *t)
{
    return &t->set[t->turn % 2];
}

void multiply(Tile *t)
{
    char      **block = current(t)->block;
    struct gemm shape = {(int)t->n[0], (int)t->n[2], (int)t->n[1], false, false, 1, 0};

    if (options.single)
        gemm_float(&shape, (float *)(void *)block[A], (float *)(void *)block[B],
                   (float *)(void *)block[C]);
    else
        gemm_double(&shape, (double *)(void *)block[A], (double *)(void *)block[B],
                    (double *)(void *)block[C]);
}

static void add_double(double *restrict to, const double *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static void add_float(float *restrict to, const float *restrict from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

void add_part(Tile *t, const char *part)
{
    skua_layout own = own_slab(t, current(t), C);

    if (options.single)
        add_float(own.at, (const float *)(const void *)part, own.bytes / sizeof(float));
    else
        add_double(own.at, (const double *)(const void *)part, own.bytes / sizeof(double));
}

/* On a terminal, every second. */
static void show_progress(Tile *t, int64_t step, int64_t steps)
{
    Tile_position at  = Tile_index(t);
    double        now = skua_time();

    if (at.i || at.j || at.k || now - t->shown < 1)
        return;
    t->shown = now;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%lld of %lld products ", (long long)step, (long long)steps);
}

void end_step(Tile *t, int64_t step, int64_t steps)
{
    current(t)->turn = t->turn + 2; /* when the set is used again */
    t->turn++;
    show_progress(t, step + 1, steps);
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static void send_slab(const Tile *t, int matrix, int to, skua_layout from)
{
    Slab *slab = Slab_new(from.bytes);

    slab->turn = t->turn;
    slab->of   = matrix;
    slab->from = place(t, matrix);
    memcpy(slab->at, from.at, from.bytes);
    Tile_slab(member(t, matrix, to), slab);
}

/* Those behind us first, so that not all send to the same one. */
static int next_member(const Tile *t, int matrix, int i)
{
    return (place(t, matrix) + i) % group_size(matrix);
}

void send_slabs(const Tile *t)
{
    for (int m = A; m <= B; m++)
        for (int i = 1; i < group_size(m); i++)
            send_slab(t, m, next_member(t, m, i), own_slab(t, &t->set[t->turn % 2], m));
}

void take_slab(Tile *t, const Slab *from)
{
    skua_layout to = slab(t, current(t), (int)from->of, (int)from->from);

    memcpy(to.at, from->at, to.bytes);
}

void send_parts(const Tile *t)
{
    for (int i = 1; i < group_size(C); i++) {
        int         to   = next_member(t, C, i);
        skua_layout from = slab(t, &t->set[t->turn % 2], C, to);
        Part       *part = Part_new(from.bytes);

        part->turn_and_from = t->turn * options.grid[1] + place(t, C);
        memcpy(part->at, from.at, from.bytes);
        Tile_part(member(t, C, to), part);
    }
}

/* ---- channels ---------------------------------------------------------------------------------
 */

/* A slab of A or B has come; with the last of a set the tile goes on. */
static void slab_arrived(void *arg)
{
    struct set *set = arg;

    if (++set->filled < others(set->of, A) + others(set->of, B))
        return;
    set->filled = 0;
    Tile_filled(Tile_self(set->of), set->turn);
}

static void part_arrived(void *arg)
{
    struct set *set = arg;

    if (++set->parts < others(set->of, C))
        return;
    set->parts = 0;
    Tile_complete(Tile_self(set->of), set->turn);
}

static void create_channel(Tile *t, int s, int matrix, int from)
{
    struct set   *set = &t->set[s];
    skua_channel *in  = &set->in[matrix][from];
    skua_layout   to  = matrix == C ? skua_layout_of(set->part[from], own_slab(t, set, C).bytes)
                                    : slab(t, set, matrix, from);

    if (skua_channel_create(&to, matrix == C ? part_arrived : slab_arrived, set,
                            matrix == C ? "part" : "slab", in))
        skua_abort("no channel for a slab");
    Tile_open(member(t, matrix, from), s, matrix, place(t, matrix), *in);
}

void create_channels(Tile *t)
{
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < MATRICES; m++)
            for (int from = 0; from < group_size(m); from++)
                if (from != place(t, m))
                    create_channel(t, s, m, from);
}

void open_channel(Tile *t, int s, int matrix, int to, skua_channel channel)
{
    struct set *set  = &t->set[s];
    skua_layout from = matrix == C ? slab(t, set, C, to) : own_slab(t, set, matrix);

    set->out[matrix][to] = skua_channel_open(channel, &from);
    if (!set->out[matrix][to])
        skua_abort("no way to another tile");
}

static void put(const Tile *t, int matrix)
{
    const struct set *set = &t->set[t->turn % 2];

    for (int i = 1; i < group_size(matrix); i++)
        skua_channel_put(set->out[matrix][next_member(t, matrix, i)]);
}

/* What came to the current set is used up: it may be written again. */
static void release(Tile *t, int matrix)
{
    for (int i = 0; i < group_size(matrix); i++)
        if (i != place(t, matrix))
            skua_channel_ready(current(t)->in[matrix][i]);
}

void put_slabs(Tile *t)
{
    put(t, A);
    put(t, B);
}

void put_parts(Tile *t)
{
    release(t, A);
    release(t, B);
    put(t, C);
}

void add_parts(Tile *t)
{
    for (int i = 0; i < group_size(C); i++)
        if (i != place(t, C))
            add_part(t, current(t)->part[i]);
    release(t, C);
}

/* ---- is it right? -----------------------------------------------------------------------------
 */

/* The vector of Freivalds' check. */
static double vector(int64_t i)
{
    return number(77, 0, C, i, i) + 1.0 / 32; /* not 0 */
}

static int last_set(const Tile *t)
{
    return (int)((t->turn + 1) % 2);
}

/* Rows of the whole matrix that are our slab. */
static struct rows own_rows(const Tile *t, int matrix)
{
    struct rows own   = slab_rows(t, matrix, place(t, matrix));
    int64_t     first = t->first[rows_of(matrix)];

    return (struct rows){own.first + first, own.end + first};
}

/* Adds our slab of A or B, times @p x, to @p to. */
static void add_product(const Tile *t, int matrix, const double *x, double *to)
{
    struct rows own   = own_rows(t, matrix);
    int64_t     first = t->first[columns_of(matrix)], end = first + t->n[columns_of(matrix)];

    for (int64_t i = own.first; i < own.end; i++)
        for (int64_t j = first; j < end; j++)
            to[i] += number(t->round, last_set(t), matrix, i, j) * (x ? x[j] : vector(j));
}

void Tile_on_multiply_vector(Tile *t)
{
    double *br = calloc((size_t)options.size, sizeof *br);

    add_product(t, B, NULL, br);
    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, br, (size_t)options.size, Main_product_done(boss));
    free(br);
}

/* C r, by the numbers that we have computed, and A (B r). */
void Tile_on_check(Tile *t, int n, const double *br)
{
    struct rows own  = own_rows(t, C);
    const char *c    = own_slab(t, &t->set[last_set(t)], C).at;
    double     *both = calloc(2 * (size_t)n, sizeof *both);

    for (int64_t i = own.first; i < own.end; i++)
        for (int64_t j = 0; j < t->n[2]; j++)
            both[i] += get(c, (i - own.first) * t->n[2] + j) * vector(t->first[2] + j);
    add_product(t, A, br, both + n);
    skua_contribute(t, SKUA_SUM, SKUA_DOUBLE, both, 2 * (size_t)n, Main_differences_done(boss));
    free(both);
}

/* Row @p i of C, our columns, by three loops; @p b has our columns of B. */
static void exact_row(const Tile *t, int64_t i, const double *b, double *row)
{
    memset(row, 0, (size_t)t->n[2] * sizeof *row);
    for (int64_t k = 0; k < options.size; k++) {
        double a = number(t->round, last_set(t), A, i, k);

        for (int64_t j = 0; j < t->n[2]; j++)
            row[j] += a * b[k * t->n[2] + j];
    }
}

static double *columns_of_b(const Tile *t)
{
    double *b = malloc((size_t)options.size * (size_t)t->n[2] * sizeof *b);

    for (int64_t k = 0; k < options.size; k++)
        for (int64_t j = 0; j < t->n[2]; j++)
            b[k * t->n[2] + j] = number(t->round, last_set(t), B, k, t->first[2] + j);
    return b;
}

void Tile_on_compare(Tile *t)
{
    struct rows own = own_rows(t, C);
    const char *c   = own_slab(t, &t->set[last_set(t)], C).at;
    double     *b = columns_of_b(t), *row = malloc((size_t)t->n[2] * sizeof *row);
    int64_t     wrong = 0;

    for (int64_t i = own.first; i < own.end; i++) {
        exact_row(t, i, b, row);
        for (int64_t j = 0; j < t->n[2]; j++)
            wrong += !(get(c, (i - own.first) * t->n[2] + j) == row[j]);
    }
    free(row);
    free(b);
    skua_contribute(t, SKUA_SUM, SKUA_INT64, &wrong, 1, Main_compared_done(boss));
}

/* ---- Main -------------------------------------------------------------------------------------
 */

static const char *const way_name[] = {"messages", "channels"};

void stop(Main *m, int way)
{
    double seconds = skua_time() - m->started;

    if (m->best[way] == 0 || seconds < m->best[way])
        m->best[way] = seconds;
}

/* The larger one; and what is not a number is larger than all. */
static double larger(double a, double b)
{
    return a >= b || isnan(a) ? a : b;
}

void judge(Main *m, const double *both)
{
    double difference = 0, largest = 0;

    for (int64_t i = 0; i < options.size; i++) {
        difference = larger(difference, fabs(both[i] - both[options.size + i]));
        largest    = larger(largest, fabs(both[options.size + i]));
    }
    m->error = larger(m->error, largest > 0 ? difference / largest : difference);
}

/* How much less time channels take than messages. */
static void print_gain(const Main *m)
{
    double gain = 100 * (1 - m->best[CHANNELS] / m->best[MESSAGES]);

    printf("   %.1f %% %s", fabs(gain), gain < 0 ? "more" : "less");
}

static void report_way(const Main *m, int way)
{
    double n = (double)options.size, seconds = m->best[way] / (double)options.steps;

    printf("%s  %10.1f us a product, %.2f GF/s", way_name[way], 1e6 * seconds,
           2e-9 * n * n * n / seconds);
    if (way == CHANNELS && m->best[MESSAGES] > 0)
        print_gain(m);
    printf("\n");
    if (options.series[0])
        printf("{\"bench\":\"matmul3d\",\"series\":\"%s-%s\",\"bytes\":%lld,"
               "\"metric\":\"step-%dpe\",\"value\":%.6g}\n",
               options.series, way_name[way], (long long)options.size, skua_pes(), seconds);
}

void report(const Main *m)
{
    double limit = options.single ? 1e-4 : 1e-10;
    bool   good  = m->error < limit && m->wrong == 0;

    printf("%lld x %lld numbers of %s in %lld x %lld x %lld tiles on %d PEs, %lld products by %s\n",
           (long long)options.size, (long long)options.size, options.single ? "float" : "double",
           (long long)options.grid[0], (long long)options.grid[1], (long long)options.grid[2],
           skua_pes(), (long long)options.steps, gemm_name());
    for (int way = 0; way < WAYS; way++)
        if (options.ways[way])
            report_way(m, way);
    printf("Freivalds' check: error %.2g, %s %g", m->error,
           m->error < limit ? "below" : "NOT below", limit);
    if (options.size <= COMPARED_MOST)
        printf("; three loops: %lld numbers differ", (long long)m->wrong);
    printf("\n");
    skua_exit(good ? 0 : 1);
}
