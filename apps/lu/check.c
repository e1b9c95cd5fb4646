/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c - the matrix, and the check of the solution.
 *
 * The numbers of the matrix and of the right-hand side are random, between -1/2 and 1/2, and
 * functions of their row and column: so any PE can compute them again.  As in HPL, the result is
 * good if
 *
 *     |A x - b| / (epsilon (|A| |x| + |b|) N) < 16,
 *
 * with maximum norms.
 */
#include <float.h>
#include <math.h>
#include <skua/skua.h>
#include <stdio.h>

#include "common/gemm.h"
#include "common/series.h"
#include "lu.ci.h"

#define RESIDUAL_LIMIT 16
#define CHECK_STRIDE                                                                               \
    UINT64_C(0x9e3779b97f4a7c15) /* offset from the keys of a seed to those of the next seed */
#define DGEMM_ROWS 1024          /* size of the matrices whose product measures the limit */
#define DGEMM_RUNS 4

double matrix_number(int64_t i, int64_t j)
{
    uint64_t key = ((uint64_t)i << 32 | (uint64_t)j) + (uint64_t)options.seed * CHECK_STRIDE;

    if (j == padded_size())
        j = -1;
    if (i >= options.size || j >= options.size)
        return i == j ? 1 : 0;
    if (options.zero && j == options.zero - 1)
        return 0;
    return (double)(mix(key + CHECK_STRIDE) >> 11) * 0x1p-53 - 0.5;
}

/* Adds the contribution of a block to A x - b and to the sum of |A| in each row. */
static void check_block(int64_t i, int64_t j, const double *x, double *sum)
{
    int64_t n = options.block, width = column_width(j);

    for (int64_t row = i * n; row < (i + 1) * n && row < options.size; row++)
        for (int64_t column = j * n; column < j * n + width; column++) {
            double number = matrix_number(row, column);

            if (j == options.blocks)
                sum[row] -= number;
            else if (column < options.size) {
                sum[row] += number * x[column];
                sum[options.size + row] += fabs(number);
            }
        }
}

/* Returns the value of a line "NAME:  123 kB" of a file of /proc, in bytes, or 0 if there is no
 * such line. */
static double check_proc(const char *path, const char *name)
{
    FILE  *file = fopen(path, "r");
    char   line[256];
    size_t length = strlen(name);
    double bytes  = 0;

    while (file && bytes == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && line[length] == ':')
            bytes = strtod(line + length + 1, NULL) * 1024;
    if (file)
        fclose(file);
    return bytes;
}

/* Returns the peak memory of this PE's process: its present memory, with its share of shared pages,
 * plus what it has freed since the peak. Only one PE of a process counts it. */
static double check_memory(void)
{
    if (skua_process_first(skua_process()) != skua_pe())
        return 0;
    return check_proc("/proc/self/smaps_rollup", "Pss") + check_proc("/proc/self/status", "VmHWM") -
           check_proc("/proc/self/status", "VmRSS");
}

void Scheduler_on_check(Scheduler *s, int n, const double *x)
{
    double *sum                                        = calloc(2 * (size_t)n, sizeof *sum);
    double  used[1 + sizeof s->times / sizeof(double)] = {check_memory()};

    if (!sum)
        skua_abort("no memory for the check");
    memcpy(used + 1, &s->times, sizeof s->times);
    skua_contribute(s, SKUA_SUM, SKUA_DOUBLE, used, sizeof used / sizeof *used,
                    Main_used_done(main_proxy));
    for (int64_t j = 0; j <= options.blocks; j++)
        for (int p = 0; p < s->column[j].count; p++)
            check_block(s->column[j].row[p], j, x, sum);
    skua_contribute(s, SKUA_SUM, SKUA_DOUBLE, sum, 2 * (size_t)n, Main_checked_done(main_proxy));
    free(sum);
}

/* Measures the rate of matrix products on this PE while all other PEs do the same; returns the best
 * of several. */
void Scheduler_on_multiply(Scheduler *s)
{
    size_t            numbers = (size_t)DGEMM_ROWS * DGEMM_ROWS;
    double           *a = calloc(3 * numbers, sizeof *a), rate = 0;
    const struct gemm shape = {DGEMM_ROWS, DGEMM_ROWS, DGEMM_ROWS, false, false, 1, 1};

    for (int i = 0; a && i < DGEMM_RUNS; i++) {
        double began = skua_time(), flops = 2.0 * (double)numbers * DGEMM_ROWS, one;

        gemm_double(&shape, a, a + numbers, a + 2 * numbers);
        one  = flops / (skua_time() - began);
        rate = one > rate ? one : rate;
    }
    free(a);
    skua_contribute(s, SKUA_SUM, SKUA_DOUBLE, &rate, 1, Main_multiplied_done(main_proxy));
}

static double check_largest(const double *number, int64_t n)
{
    double most = 0;

    for (int64_t i = 0; i < n; i++)
        most = larger(most, fabs(number[i]));
    return most;
}

static double check_residual(const double *x, const double *sum)
{
    int64_t n = options.size;
    double  b = 0;

    for (int64_t i = 0; i < n; i++)
        b = larger(b, fabs(matrix_number(i, padded_size())));
    return check_largest(sum, n) /
           (DBL_EPSILON * (check_largest(sum + n, n) * check_largest(x, n) + b) * (double)n);
}

void Main_on_singular(Main *m, int64_t column)
{
    (void)m;
    fprintf(stderr, "lu: the matrix is singular: column %lld has no pivot; there is no solution\n",
            (long long)column + 1);
    skua_exit(1);
}

/* Lines of JSON, for `skua bench`.  `bytes` is the number of rows.
 *     rate-Ppe     operations per second on P PEs, as HPL counts them
 *     memory-Ppe   bytes of all processes, relative to the matrix
 *     rate-Ppe of the series dgemm: of matrix products on all PEs at once */
static void report_json(const char *series, const char *metric, double value)
{
    if (options.series[0])
        series_print(&(struct series){"lu", series, NULL, options.size, skua_pes()}, metric, value);
}

static void report_dgemm(const Main *m, double rate)
{
    if (!options.dgemm)
        return;
    printf("matrix products: %.3f GF/s on all PEs; the solution reaches %.1f %% of that\n",
           m->dgemm * 1e-9, 100 * rate / m->dgemm);
    report_json("dgemm", "rate", m->dgemm);
}

/* Returns GF/s. */
static double report_rate(double operations, double seconds)
{
    return seconds > 0 ? operations / seconds * 1e-9 : 0;
}

/* Prints what the PEs have spent their time on, as a mean of all. */
static void report_times(const Main *m)
{
    const struct lu_times *t   = &m->times;
    double                 pes = skua_pes();

    if (options.times)
        printf(
            "seconds of a PE: products %.4f (%.3f GF/s on all PEs), of single columns %.4f (%.3f), "
            "solves %.4f, panels %.4f, waiting for pivots %.4f, rows %.4f, waiting for messages "
            "%.4f\n",
            t->products / pes, report_rate(t->operations, t->products / pes), t->alone / pes,
            report_rate(t->operations_alone, t->alone / pes), t->solves / pes, t->panels / pes,
            t->pivots / pes, t->rows / pes,
            m->seconds -
                (t->products + t->alone + t->solves + t->panels + t->pivots + t->rows) / pes);
}

void report(Main *m, const double *sum)
{
    double n = (double)options.size, residual = check_residual(m->x, sum);
    double rate   = (2.0 / 3 * n * n * n + 1.5 * n * n) / m->seconds;
    double memory = m->memory / (n * n * sizeof(double));
    bool   good   = residual < RESIDUAL_LIMIT;

    report_dgemm(m, rate);
    report_times(m);
    printf("%.4f s, %.3f GF/s; memory %.2f of the matrix, residual %.3g\n", m->seconds, rate * 1e-9,
           memory, residual);
    printf("result lu: %lld rows, blocks of %lld, map %s, grid %lldx%lld, %d PEs, %s; "
           "largest number of x %.6g; residual %s %d: %s\n",
           (long long)options.size, (long long)options.block, options.map,
           (long long)options.grid[0], (long long)options.grid[1], skua_pes(), gemm_name(),
           check_largest(m->x, options.size), good ? "below" : "NOT below", RESIDUAL_LIMIT,
           good ? "passed" : "FAILED");
    report_json(options.series, "rate", rate);
    report_json(options.series, "memory", memory);
    free(m->x);
    skua_exit(good ? 0 : 1);
}
