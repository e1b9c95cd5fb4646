/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ga_arrays.c - the interface of Global Arrays in C, with results that do not depend on the library
 * below or on the number of processes. Process 0 prints them, and outputs are compared.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <ga.h>
#include <macdecls.h>

#define N 60

static int me, size;

static void report(const char *what, double number)
{
    GA_Sync();
    if (me == 0)
        printf("%-24s %.10g\n", what, number);
    GA_Sync();
}

static double element(int i, int j)
{
    return sin(i) + 0.01 * j;
}

/* Returns the sum of squares of all elements. */
static double norm(int array)
{
    return GA_Ddot(array, array);
}

/* Each process puts some of the rows, whatever processes own them. */
static void fill_rows(int array)
{
    for (int i = me; i < N; i += size) {
        double row[N];
        int    lo[2] = {i, 0}, hi[2] = {i, N - 1}, ld = N;

        for (int j = 0; j < N; j++)
            row[j] = element(i, j);
        NGA_Put(array, lo, hi, row, &ld);
    }
    GA_Sync();
}

static int create(const char *name)
{
    int dims[2] = {N, N};

    return NGA_Create(C_DBL, 2, dims, (char *)name, NULL);
}

static void patches(void)
{
    int    a      = create("a");
    double factor = 0.5, patch[7][9], sum = 0;
    int    lo[2] = {11, 20}, hi[2] = {17, 28}, ld = 9;

    fill_rows(a);
    report("put", norm(a));
    NGA_Get(a, lo, hi, patch, &ld);
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 9; j++)
            sum += fabs(patch[i][j] - element(11 + i, 20 + j));
    report("get", sum < 1e-12 ? 0 : sum);
    GA_Zero(a);
    NGA_Acc(a, lo, hi, patch, &ld, &factor); /* all processes */
    GA_Sync();
    report("accumulate", norm(a) / ((double)size * size));
    GA_Destroy(a);
}

static void irregular(void)
{
    int dims[2] = {N, N}, blocks[2] = {size, 1}, *map = malloc(((size_t)size + 1) * sizeof *map), a;
    ga_nbhdl_t handle;
    double     column[N], sum = 0;
    int        lo[2] = {0, 33}, hi[2] = {N - 1, 33}, ld = 1;

    for (int i = 0; i < size; i++)
        map[i] = i == 0 ? 0 : 2 * i + 5; /* the first and the last process have more */
    map[size] = 0;
    a         = NGA_Create_irreg(C_DBL, 2, dims, "irregular", blocks, map);
    free(map);
    fill_rows(a);
    NGA_NbGet(a, lo, hi, column, &ld, &handle);
    NGA_NbWait(&handle);
    for (int i = 0; i < N; i++)
        sum += column[i] - element(i, 33);
    report("irregular", norm(a) + sum);
    GA_Destroy(a);
}

static void scattered(void)
{
    enum { COUNT = 40 };
    int    a = create("scattered"), index[COUNT][2], *list[COUNT];
    double values[COUNT], one = 1, sum = 0;

    GA_Zero(a);
    for (int i = 0; i < COUNT; i++) {
        index[i][0] = (i * 17) % N;
        index[i][1] = (i * 29 + 3) % N;
        list[i]     = index[i];
        values[i]   = i + 0.5;
    }
    if (me == 0)
        NGA_Scatter(a, values, list, COUNT);
    GA_Sync();
    NGA_Scatter_acc(a, values, list, COUNT, &one);
    GA_Sync();
    memset(values, 0, sizeof values);
    NGA_Gather(a, values, list, COUNT);
    for (int i = 0; i < COUNT; i++)
        sum += values[i] / (size + 1);
    report("scatter and gather", sum);
    GA_Destroy(a);
}

static void counter(void)
{
    int  dims = 3, a = NGA_Create(C_LONG, 1, &dims, "counter", NULL), at = 1;
    long sum = 0;

    GA_Zero(a);
    for (int i = 0; i < 50; i++)
        sum += NGA_Read_inc(a, &at, 1);
    GA_Lgop(&sum, 1, "+");
    report("read_inc", (double)sum - 25.0 * size * (50.0 * size - 1));
    GA_Destroy(a);
}

static void ghosts(void)
{
    int    dims[2] = {N, N}, width[2] = {1, 1}, lo[2], hi[2], ld[1], extent[2];
    int    a   = NGA_Create_ghosts(C_DBL, 2, dims, width, "ghosts", NULL);
    double sum = 0, *local;

    fill_rows(a);
    GA_Update_ghosts(a);
    NGA_Distribution(a, me, lo, hi);
    if (hi[0] >= lo[0] && hi[1] >= lo[1]) {
        NGA_Access_ghosts(a, extent, &local, ld);
        for (int i = 0; i < extent[0]; i++)
            for (int j = 0; j < extent[1]; j++)
                sum += fabs(local[i * ld[0] + j] -
                            element((lo[0] + i - 1 + N) % N, (lo[1] + j - 1 + N) % N));
        NGA_Release_ghosts(a);
    }
    GA_Dgop(&sum, 1, "+");
    report("ghosts", sum < 1e-12 ? 0 : sum);
    GA_Destroy(a);
}

static void algebra(void)
{
    int a = create("a"), b = create("b"), c = create("c"), x = GA_Duplicate(a, "x");

    fill_rows(a);
    GA_Transpose(a, b);
    GA_Dgemm('n', 't', N, N, N, 1.0, a, a, 0.0, c);
    report("dgemm", norm(c));
    GA_Zero(b);
    for (int i = me; i < N; i += size) {
        int    at[2] = {i, i}, ld = 1;
        double two = 200 + i;

        NGA_Put(b, at, at, &two, &ld);
    }
    GA_Sync();
    GA_Add((double[]){1}, c, (double[]){1}, b, b); /* symmetric, diagonally dominant */
    GA_Copy(b, x);
    GA_Copy(a, c);
    GA_Lu_solve('n', x, c);
    GA_Dgemm('n', 'n', N, N, N, 1.0, c, b, 0.0, x); /* the solver sees arrays of C transposed */
    GA_Add((double[]){1}, x, (double[]){-1}, a, x);
    report("lu solve", norm(x) < 1e-12 ? 0 : norm(x));
    GA_Destroy(a);
    GA_Destroy(b);
    GA_Destroy(c);
    GA_Destroy(x);
}

static void groups(void)
{
    int    list[64], n = 0, group, dims[2] = {N, N}, a, world = GA_Pgroup_get_default();
    double sum = 0;

    for (int i = me % 2; i < size; i += 2)
        list[n++] = i;
    group = GA_Pgroup_create(list, n);
    GA_Pgroup_set_default(group);
    a = GA_Create_handle();
    GA_Set_data(a, 2, dims, C_DBL);
    GA_Set_pgroup(a, group);
    GA_Allocate(a);
    for (int i = GA_Pgroup_nodeid(group); i < N; i += n) {
        double row[N];
        int    lo[2] = {i, 0}, hi[2] = {i, N - 1}, ld = N;

        for (int j = 0; j < N; j++)
            row[j] = element(i, j) + me % 2;
        NGA_Put(a, lo, hi, row, &ld);
    }
    GA_Pgroup_sync(group);
    sum = GA_Ddot(a, a);
    GA_Destroy(a);
    GA_Pgroup_set_default(world);
    GA_Pgroup_destroy(group);
    GA_Sync();
    if (me % 2) /* counted once, in both groups */
        sum = 0;
    GA_Dgop(&sum, 1, "max");
    report("groups", sum);
}

static void mirrored(void)
{
    int dims[2] = {N, N}, a, b = create("b");

    a = NGA_Create_config(C_DBL, 2, dims, "mirrored", NULL, GA_Pgroup_get_mirror());
    GA_Zero(a);
    fill_rows(a);
    GA_Merge_mirrored(a);
    GA_Copy(a, b);
    report("mirrored", norm(b));
    GA_Destroy(a);
    GA_Destroy(b);
}

static void restricted(void)
{
    int a = GA_Create_handle(), dims[2] = {N, N}, list[64], n = size > 1 ? size / 2 : 1;

    for (int i = 0; i < n; i++)
        list[i] = size - 1 - i;
    GA_Set_data(a, 2, dims, C_DBL);
    GA_Set_restricted(a, list, n);
    GA_Allocate(a);
    fill_rows(a);
    report("restricted", norm(a));
    GA_Destroy(a);
}

static void locks(void)
{
    int    a = create("locks"), at[2] = {5, 5}, ld = 1;
    double x;

    GA_Zero(a);
    GA_Create_mutexes(2);
    for (int i = 0; i < 10; i++) {
        GA_Lock(1);
        NGA_Get(a, at, at, &x, &ld);
        x += 1;
        NGA_Put(a, at, at, &x, &ld);
        GA_Unlock(1);
    }
    GA_Sync();
    NGA_Get(a, at, at, &x, &ld);
    report("mutexes", x / size);
    GA_Destroy_mutexes();
    GA_Destroy(a);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(MT_DBL, 500000, 500000);
    me   = GA_Nodeid();
    size = GA_Nnodes();
    patches();
    irregular();
    scattered();
    counter();
    ghosts();
    algebra();
    groups();
    mirrored();
    restricted();
    locks();
    GA_Terminate();
    MPI_Finalize();
    return 0;
}
