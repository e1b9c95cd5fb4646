/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_prk.h - five of the Parallel Research Kernels, for Skua and every peer.
 *
 *   p2p_us        a pipelined wavefront: each row of a grid, whose columns are distributed, sends
 *                 one number from each process to the next
 *   stencil_us    a star-shaped stencil of radius 2 on a grid that is distributed in both
 *                 dimensions; the halos are exchanged
 *   transpose_us  B += transposed A, of a matrix that is distributed by columns
 *   random_us     XOR of numbers into random words of a distributed table
 *   reduce_us     the sum of the vectors of all processes, at process 0.  Messages of Skua provide
 *                 it in memory of the runtime, where it is read; the other libraries write it to
 *                 memory of the program
 *
 * A kernel is written once; a library implements its communication.  A value is the time of an
 * iteration in the best batch, from the start of the batch on the first process to its end on the
 * last one: a process that starts late, since it has lost its CPU, finds data that were sent
 * meanwhile, and all processes together would look faster than they are.  Every kernel verifies its
 * result in all batches, and a wrong one ends the program.
 *
 * Blocks of the stencil and of the transposition go to slots of the receiver.  A slot has memory
 * for two rounds: a process sends the block of round r + 2 after it has received that of r + 1,
 * which the receiver sent after it had used the block of r.
 */
#ifndef BENCH_PRK_H
#define BENCH_PRK_H

#include <math.h>
#include <stdint.h>

#include "bench.h"

#define PRK_ROWS    1000       /* rows of the wavefront */
#define PRK_COLUMNS 128        /* columns of the wavefront on each process */
#define PRK_SIDE    256        /* side of the stencil's grid on each process */
#define PRK_RADIUS  2          /* radius of the stencil */
#define PRK_ORDER   128        /* columns of the matrix on each process */
#define PRK_WORDS   (1u << 16) /* words of the table on each process, a power of 2 */
/* Updates of the table by each process, in an iteration. */
#define PRK_UPDATES 4096
#define PRK_VECTOR  4096                    /* elements of the reduction    */
#define PRK_SLOTS   64                      /* largest number of processes  */
#define PRK_BLOCK   (PRK_ORDER * PRK_ORDER) /* doubles of the largest block */

#define PRK_BATCH_S   0.004 /* approximate seconds of a batch     */
#define PRK_MEASURE_S 0.3   /* seconds of the batches of a kernel */

enum prk_kernel { PRK_P2P, PRK_STENCIL, PRK_TRANSPOSE, PRK_RANDOM, PRK_REDUCE, PRK_KERNELS };

/* A block that a process sends to another process, and the block that it receives from it. */
struct prk_link {
    int    pe;
    int    slot;   /* the slot of this process in which the other's block arrives */
    int    theirs; /* the slot of the other process in which this block arrives */
    size_t count;  /* number of doubles */
};

/* A block of updates of the table for one process. */
struct prk_bucket {
    size_t   count;
    uint32_t word[PRK_UPDATES];
    uint64_t value[PRK_UPDATES];
};

/* The communication of a library. */
struct prk_library {
    const char *series;
    /* Prepares a kernel. Returns @p bytes of zeroed memory that other processes can access. */
    void *(*begin)(enum prk_kernel kernel, size_t bytes);
    void (*end)(void);
    void (*barrier)(void);
    double (*largest)(double value);
    double (*sum)(double value);
    void (*row_send)(int to, int row, double value);
    double (*row_recv)(int from, int row);
    /* Returns the memory for the next block of this link. */
    double *(*out)(const struct prk_link *link);
    void (*exchange)(const struct prk_link *link, int links, int round);
    const double *(*in)(const struct prk_link *link, int round); /* returns the received block */
    void (*update)(const struct prk_bucket *bucket, int pes);    /* complete everywhere */
    /* Returns the sum on process 0, in @p to, its memory, or where the library provides it until
     * the next call. */
    const double *(*reduce)(const double *from, double *to, size_t count);
};

/* The state of the program, which runs one kernel at a time. */
static struct {
    const struct prk_library *library;
    int                       me, pes, iterations; /* iterations of the kernel so far */
    void                     *memory;
} prk;

static inline void prk_check(int right, const char *kernel, double got, double want)
{
    if (right)
        return;
    fprintf(stderr, "%s: process %d of %d computed %.15g instead of %.15g\n", kernel, prk.me,
            prk.pes, got, want);
    abort();
}

/* ---- p2p ------------------------------------------------------------------------------------- */

/* Column 0: the last column of the previous process. */
static double prk_grid[PRK_ROWS][PRK_COLUMNS + 1];

static inline void prk_p2p_begin(void)
{
    memset(prk_grid, 0, sizeof prk_grid);
    for (int j = 0; j <= PRK_COLUMNS; j++)
        prk_grid[0][j] = (double)(prk.me * PRK_COLUMNS + j - 1);
    for (int i = 0; prk.me == 0 && i < PRK_ROWS; i++)
        prk_grid[i][1] = (double)i;
}

/* The first column of process 0 and the first row are fixed. */
static inline void prk_p2p_row(int i)
{
    for (int j = prk.me == 0 ? 2 : 1; j <= PRK_COLUMNS; j++)
        prk_grid[i][j] = prk_grid[i - 1][j] + prk_grid[i][j - 1] - prk_grid[i - 1][j - 1];
}

/* The last process sends the corner to process 0, which makes it the start of the next iteration,
 * so that iterations depend on each other. */
static inline void prk_p2p_corner(void)
{
    double corner = prk_grid[PRK_ROWS - 1][PRK_COLUMNS];

    if (prk.pes > 1 && prk.me == prk.pes - 1)
        prk.library->row_send(0, 0, corner);
    if (prk.me == 0)
        prk_grid[0][1] = -(prk.pes > 1 ? prk.library->row_recv(prk.pes - 1, 0) : corner);
}

static inline void prk_p2p(void)
{
    for (int i = 1; i < PRK_ROWS; i++) {
        if (prk.me > 0)
            prk_grid[i][0] = prk.library->row_recv(prk.me - 1, i);
        prk_p2p_row(i);
        if (prk.me < prk.pes - 1)
            prk.library->row_send(prk.me + 1, i, prk_grid[i][PRK_COLUMNS]);
    }
    prk_p2p_corner();
}

static inline void prk_p2p_verify(void)
{
    double want = (double)prk.iterations * (PRK_ROWS + prk.pes * PRK_COLUMNS - 2);
    double got  = prk_grid[PRK_ROWS - 1][PRK_COLUMNS];

    prk_check(prk.me < prk.pes - 1 || got == want, "p2p", got, want);
}

/* ---- stencil --------------------------------------------------------------------------------- */

#define PRK_WIDE (PRK_SIDE + 2 * PRK_RADIUS)

enum prk_side { PRK_LEFT, PRK_RIGHT, PRK_UP, PRK_DOWN };

static double          prk_field[PRK_WIDE][PRK_WIDE], prk_result[PRK_SIDE][PRK_SIDE];
static struct prk_link prk_sides[4];
/* Processes in a row; position in the grid. */
static int prk_side_count, prk_across, prk_x, prk_y;

/* Adds the neighbour at (x, y), if there is one. */
static inline void prk_stencil_side(enum prk_side side, int x, int y)
{
    if (x < 0 || x >= prk_across || y < 0 || y >= prk.pes / prk_across)
        return;
    prk_sides[prk_side_count++] =
        (struct prk_link){y * prk_across + x, (int)side, (int)side ^ 1, PRK_SIDE * PRK_RADIUS};
}

static inline void prk_stencil_begin(void)
{
    int down = (int)sqrt(prk.pes);

    while (prk.pes % down != 0)
        down--;
    prk_across     = prk.pes / down;
    prk_x          = prk.me % prk_across;
    prk_y          = prk.me / prk_across;
    prk_side_count = 0;
    prk_stencil_side(PRK_LEFT, prk_x - 1, prk_y);
    prk_stencil_side(PRK_RIGHT, prk_x + 1, prk_y);
    prk_stencil_side(PRK_UP, prk_x, prk_y - 1);
    prk_stencil_side(PRK_DOWN, prk_x, prk_y + 1);
    memset(prk_field, 0, sizeof prk_field);
    memset(prk_result, 0, sizeof prk_result);
    for (int i = 0; i < PRK_SIDE; i++)
        for (int j = 0; j < PRK_SIDE; j++)
            prk_field[PRK_RADIUS + i][PRK_RADIUS + j] = prk_x * PRK_SIDE + j + prk_y * PRK_SIDE + i;
}

/* Copies the cells of a side: its inner ones to @p block, or @p block to those of the halo. */
static inline void prk_stencil_copy(int side, double *block, int halo)
{
    int low = halo ? 0 : PRK_RADIUS, high = halo ? PRK_RADIUS + PRK_SIDE : PRK_SIDE;
    int first = side == PRK_LEFT || side == PRK_UP ? low : high;

    for (int i = 0; i < (side <= PRK_RIGHT ? PRK_SIDE : PRK_RADIUS); i++)
        for (int j = 0; j < (side <= PRK_RIGHT ? PRK_RADIUS : PRK_SIDE); j++, block++) {
            double *cell = side <= PRK_RIGHT ? &prk_field[PRK_RADIUS + i][first + j]
                                             : &prk_field[first + i][PRK_RADIUS + j];

            if (halo)
                *cell = *block;
            else
                *block = *cell;
        }
}

/* Returns the weighted sum of a cell's neighbours. */
static inline double prk_stencil_cell(int i, int j)
{
    double sum = 0;

    for (int r = 1; r <= PRK_RADIUS; r++)
        sum += (prk_field[i][j + r] - prk_field[i][j - r] + prk_field[i + r][j] -
                prk_field[i - r][j]) /
               (2.0 * r * PRK_RADIUS);
    return sum;
}

/* Applies the stencil where all neighbours are inside of the whole grid. */
static inline void prk_stencil_apply(void)
{
    int down = prk.pes / prk_across;
    int top = prk_y == 0 ? PRK_RADIUS : 0, left = prk_x == 0 ? PRK_RADIUS : 0;
    int bottom = PRK_SIDE - (prk_y == down - 1 ? PRK_RADIUS : 0);
    int right  = PRK_SIDE - (prk_x == prk_across - 1 ? PRK_RADIUS : 0);

    for (int i = top; i < bottom; i++)
        for (int j = left; j < right; j++)
            prk_result[i][j] += prk_stencil_cell(i + PRK_RADIUS, j + PRK_RADIUS);
}

static inline void prk_stencil(void)
{
    for (int s = 0; s < prk_side_count; s++)
        prk_stencil_copy(prk_sides[s].slot, prk.library->out(&prk_sides[s]), 0);
    prk.library->exchange(prk_sides, prk_side_count, prk.iterations);
    for (int s = 0; s < prk_side_count; s++)
        prk_stencil_copy(prk_sides[s].slot,
                         (double *)prk.library->in(&prk_sides[s], prk.iterations), 1);
    prk_stencil_apply();
    for (int i = 0; i < PRK_SIDE; i++)
        for (int j = 0; j < PRK_SIDE; j++)
            prk_field[PRK_RADIUS + i][PRK_RADIUS + j] += 1;
}

/* The field is x + y + a constant, whose stencil is 2 in every iteration. */
static inline void prk_stencil_verify(void)
{
    double sum  = 0, cells, want;
    int    down = prk.pes / prk_across;

    for (int i = 0; i < PRK_SIDE; i++)
        for (int j = 0; j < PRK_SIDE; j++)
            sum += fabs(prk_result[i][j]);
    cells = (double)(prk_across * PRK_SIDE - 2 * PRK_RADIUS) * (down * PRK_SIDE - 2 * PRK_RADIUS);
    sum   = prk.library->sum(sum) / cells;
    want  = 2.0 * prk.iterations;
    prk_check(fabs(sum - want) < 1e-8 * (want + 1), "stencil", sum, want);
}

/* ---- transpose ------------------------------------------------------------------------------- */

static double         *prk_a, *prk_b; /* [rows of all processes][PRK_ORDER] */
static struct prk_link prk_others[PRK_SLOTS];

/* Returns an element of the initial matrix. */
static inline double prk_transpose_value(int row, int column)
{
    return (double)row * prk.pes * PRK_ORDER + column;
}

static inline void prk_transpose_begin(void)
{
    int rows = prk.pes * PRK_ORDER;

    prk_a = malloc(sizeof *prk_a * (size_t)rows * PRK_ORDER);
    prk_b = calloc((size_t)rows * PRK_ORDER, sizeof *prk_b);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < PRK_ORDER; j++)
            prk_a[i * PRK_ORDER + j] = prk_transpose_value(i, prk.me * PRK_ORDER + j);
    for (int i = 1; i < prk.pes; i++) {
        int other = (prk.me + i) % prk.pes;

        prk_others[i - 1] = (struct prk_link){other, other, prk.me, PRK_BLOCK};
    }
}

/* Transposes the block of A that belongs to @p pe into @p to, in tiles that fit a cache. */
static inline void prk_transpose_block(int pe, double *to)
{
    const double *from = prk_a + (size_t)pe * PRK_BLOCK;

    for (int i = 0; i < PRK_ORDER; i += 16)
        for (int j = 0; j < PRK_ORDER; j++)
            for (int k = i; k < i + 16; k++)
                to[j * PRK_ORDER + k] = from[k * PRK_ORDER + j];
}

static inline void prk_transpose_add(int pe, const double *block)
{
    double *to = prk_b + (size_t)pe * PRK_BLOCK;

    for (int i = 0; i < PRK_BLOCK; i++)
        to[i] += block[i];
}

static inline void prk_transpose(void)
{
    static double own[PRK_BLOCK];

    for (int i = 0; i < prk.pes - 1; i++)
        prk_transpose_block(prk_others[i].pe, prk.library->out(&prk_others[i]));
    prk.library->exchange(prk_others, prk.pes - 1, prk.iterations);
    prk_transpose_block(prk.me, own);
    prk_transpose_add(prk.me, own);
    for (int i = 0; i < prk.pes - 1; i++)
        prk_transpose_add(prk_others[i].pe, prk.library->in(&prk_others[i], prk.iterations));
    for (size_t i = 0; i < (size_t)prk.pes * PRK_BLOCK; i++)
        prk_a[i] += 1;
}

/* In each iteration the elements of A are larger by 1. */
static inline void prk_transpose_verify(void)
{
    double times = prk.iterations, more = times * (times - 1) / 2;

    for (int i = 0; i < prk.pes * PRK_ORDER; i++)
        for (int j = 0; j < PRK_ORDER; j++) {
            double want = times * prk_transpose_value(prk.me * PRK_ORDER + j, i) + more;
            double got  = prk_b[i * PRK_ORDER + j];

            prk_check(got == want, "transpose", got, want);
        }
}

/* ---- random ---------------------------------------------------------------------------------- */

static struct prk_bucket *prk_buckets; /* bucket of each process */
static uint64_t           prk_state;   /* of the random numbers of this process */

static inline uint64_t prk_random_seed(int pe)
{
    return UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(pe + 1);
}

/* Returns the next value of a process, and the word of the whole table that it belongs to. */
static inline uint64_t prk_random_next(uint64_t *state, uint64_t *word)
{
    uint64_t value;

    *state = *state << 1 ^ ((int64_t)*state < 0 ? 7 : 0);
    value  = *state * UINT64_C(0xbf58476d1ce4e5b9);
    *word  = (value >> 20) % ((uint64_t)prk.pes * PRK_WORDS);
    return value;
}

static inline void prk_random_begin(void)
{
    prk_buckets = malloc((size_t)prk.pes * sizeof *prk_buckets);
    prk_state   = prk_random_seed(prk.me);
}

static inline void prk_random(void)
{
    for (int pe = 0; pe < prk.pes; pe++)
        prk_buckets[pe].count = 0;
    for (int i = 0; i < PRK_UPDATES; i++) {
        uint64_t           word, value = prk_random_next(&prk_state, &word);
        struct prk_bucket *bucket = &prk_buckets[word / PRK_WORDS];

        bucket->word[bucket->count]    = word % PRK_WORDS;
        bucket->value[bucket->count++] = value;
    }
    prk.library->update(prk_buckets, prk.pes);
}

/* Computes the words of this process from the numbers of all processes, and compares them. */
static inline void prk_random_verify(void)
{
    uint64_t *want  = calloc(PRK_WORDS, sizeof *want), word;
    double    wrong = 0;

    for (int pe = 0; pe < prk.pes; pe++) {
        uint64_t state = prk_random_seed(pe);

        for (long i = 0; i < (long)prk.iterations * PRK_UPDATES; i++) {
            uint64_t value = prk_random_next(&state, &word);

            if (word / PRK_WORDS == (uint64_t)prk.me)
                want[word % PRK_WORDS] ^= value;
        }
    }
    for (uint32_t i = 0; i < PRK_WORDS; i++)
        wrong += want[i] != ((const uint64_t *)prk.memory)[i];
    free(want);
    prk_check(wrong == 0, "random, words that are wrong", wrong, 0);
}

/* ---- reduce ---------------------------------------------------------------------------------- */

static double prk_vector[PRK_VECTOR];

static inline void prk_reduce(void)
{
    const double *result;

    for (int i = 0; i < PRK_VECTOR; i++)
        prk_vector[i] = (prk.me + 1.0) * (i + prk.iterations);
    result = prk.library->reduce(prk_vector, prk.memory, PRK_VECTOR);
    for (int i = 0; prk.me == 0 && i < PRK_VECTOR; i++) {
        double want = prk.pes * (prk.pes + 1) / 2.0 * (i + prk.iterations);

        prk_check(result[i] == want, "reduce", result[i], want);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static const struct {
    const char *metric;
    size_t      bytes; /* memory that other processes can access */
    void (*begin)(void);
    void (*run)(void);
    void (*verify)(void); /* NULL: every iteration verifies itself */
} prk_kernels[PRK_KERNELS] = {
    {"p2p_us", PRK_ROWS * sizeof(double), prk_p2p_begin, prk_p2p, prk_p2p_verify},
    {"stencil_us", 2 * 4 * PRK_BLOCK * sizeof(double), prk_stencil_begin, prk_stencil,
     prk_stencil_verify},
    {"transpose_us", 2 * (size_t)PRK_SLOTS *PRK_BLOCK * sizeof(double), prk_transpose_begin,
     prk_transpose, prk_transpose_verify},
    {"random_us", PRK_WORDS * sizeof(uint64_t), prk_random_begin, prk_random, prk_random_verify},
    {"reduce_us", PRK_VECTOR * sizeof(double), NULL, prk_reduce, NULL},
};

/* Returns the seconds of an iteration, from the start of the batch on the first process to its end
 * on the last one.  The processes share a clock, since they share a host. */
static inline double prk_batch(enum prk_kernel kernel, int times)
{
    double first, end;

    prk.library->barrier();
    first = bench_now();
    for (int i = 0; i < times; i++, prk.iterations++)
        prk_kernels[kernel].run();
    end = prk.library->largest(bench_now());
    return (end + prk.library->largest(-first)) / times;
}

/* Measures a kernel; the time of the first iterations determines the number in a batch. */
static inline void prk_measure(enum prk_kernel kernel)
{
    double best, time, used = 0;
    int    times;

    prk.iterations = 0;
    prk.memory     = prk.library->begin(kernel, prk_kernels[kernel].bytes);
    if (prk_kernels[kernel].begin)
        prk_kernels[kernel].begin();
    prk_batch(kernel, 1);
    best  = prk_batch(kernel, 3);
    times = (int)(PRK_BATCH_S / best);
    times = times < 2 ? 2 : times > 1000 ? 1000 : times;
    for (int batch = 0; batch < 3 || used < PRK_MEASURE_S; batch++, used += time * times) {
        time = prk_batch(kernel, times);
        best = time < best ? time : best;
    }
    if (prk_kernels[kernel].verify)
        prk_kernels[kernel].verify();
    prk.library->end();
    if (prk.me == 0)
        bench_report("prk", prk.library->series, 0, prk_kernels[kernel].metric, 1e6 * best);
}

/* Measures all kernels with @p library; all processes call it. */
static inline void prk_all(const struct prk_library *library, int me, int pes)
{
    prk.library = library;
    prk.me      = me;
    prk.pes     = pes;
    for (int kernel = 0; kernel < PRK_KERNELS; kernel++)
        prk_measure((enum prk_kernel)kernel);
    free(prk_a), free(prk_b), free(prk_buckets);
    prk_a = prk_b = NULL;
    prk_buckets   = NULL;
}

#endif
