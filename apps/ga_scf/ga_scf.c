/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ga_scf.c - a self-consistent field on Global Arrays, in the manner of codes of quantum chemistry.
 *
 * The density and Fock matrices are global arrays. A task is a block (I, J) of the mean field: it
 * gets the blocks (K, J) of the density, multiplies them by blocks of the repulsion, which it
 * computes, and accumulates the sum to the blocks (I, J) and (J, I) of the Fock matrix. Processes
 * take the numbers of tasks from a shared counter. The new density is the projector on the occupied
 * half of the states, which squarings of the Fock matrix converge to (SP2 purification).
 *
 * The result is verified: the density is a projector with the right trace, and the energy is that
 * of model_energy().
 *
 * usage: mpirun -n N ga_scf [SITES [BLOCK [CYCLES]]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>
#include <ga.h>
#include <macdecls.h>

#include "ga_scf/model.h"

void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc);

/* The state of a process. */
struct scf {
    int     me, size;
    int     sites, block;
    int     density, fock, square, counter; /* global arrays */
    double *a, *b, *sum, *turned;           /* blocks */
    long    tasks;                          /* number of tasks that this process has done */
};

/* The part of the matrix that is block (i, j). */
struct range {
    int lo[2], hi[2], rows, cols;
};

static struct range scf_range(const struct scf *s, int i, int j)
{
    struct range r = {{i * s->block, j * s->block}, {(i + 1) * s->block, (j + 1) * s->block}, 0, 0};

    for (int d = 0; d < 2; d++)
        r.hi[d] = (r.hi[d] < s->sites ? r.hi[d] : s->sites) - 1;
    r.rows = r.hi[0] - r.lo[0] + 1;
    r.cols = r.hi[1] - r.lo[1] + 1;
    return r;
}

/* sum += a b, by rows, which the BLAS sees as the transposed product. */
static void scf_multiply(const struct scf *s, int rows, int cols, int inner)
{
    const double one = 1;

    dgemm_("n", "n", &cols, &rows, &inner, &one, s->b, &cols, s->a, &inner, &one, s->sum, &cols);
}

/* One task: block (i, j) of V D. */
static void scf_task(struct scf *s, int i, int j)
{
    struct range to = scf_range(s, i, j), turned = scf_range(s, j, i);
    double       half = 0.5;

    for (int e = 0; e < to.rows * to.cols; e++)
        s->sum[e] = 0;
    for (int k = 0; k * s->block < s->sites; k++) {
        struct range from = scf_range(s, k, j);

        NGA_Get(s->density, from.lo, from.hi, s->b, &from.cols);
        for (int r = 0; r < to.rows; r++)
            for (int c = 0; c < from.rows; c++)
                s->a[r * from.rows + c] = model_repulsion(to.lo[0] + r, from.lo[0] + c);
        scf_multiply(s, to.rows, to.cols, from.rows);
    }
    for (int r = 0; r < to.rows; r++)
        for (int c = 0; c < to.cols; c++)
            s->turned[c * to.rows + r] = s->sum[r * to.cols + c];
    NGA_Acc(s->fock, to.lo, to.hi, s->sum, &to.cols, &half);
    NGA_Acc(s->fock, turned.lo, turned.hi, s->turned, &turned.cols, &half);
    s->tasks++;
}

/* Sets the Fock matrix to h + (V D + D V) / 2. Returns the energy. */
static double scf_fock(struct scf *s)
{
    int    blocks = (s->sites + s->block - 1) / s->block, zero = 0;
    int    lo[2], hi[2], ld;
    double energy, *local;

    GA_Zero(s->counter);
    NGA_Distribution(s->fock, s->me, lo, hi);
    if (lo[0] <= hi[0] && lo[1] <= hi[1] && lo[0] >= 0) {
        NGA_Access(s->fock, lo, hi, &local, &ld);
        for (int i = lo[0]; i <= hi[0]; i++)
            for (int j = lo[1]; j <= hi[1]; j++)
                local[(i - lo[0]) * ld + j - lo[1]] = model_hamiltonian(i, j);
        NGA_Release_update(s->fock, lo, hi);
    }
    GA_Sync();
    energy = 0.5 * GA_Ddot(s->density, s->fock);
    for (long task; (task = NGA_Read_inc(s->counter, &zero, 1)) < (long)blocks * blocks;)
        scf_task(s, (int)(task / blocks), (int)(task % blocks));
    GA_Sync();
    return energy + 0.5 * GA_Ddot(s->density, s->fock);
}

static double scf_trace(int array, int sites)
{
    int    vector = NGA_Create(C_DBL, 1, &sites, "diagonal", NULL);
    double trace, one = 1;
    int    ones = GA_Duplicate(vector, "ones");

    GA_Get_diag(array, vector);
    GA_Fill(ones, &one);
    trace = GA_Ddot(vector, ones);
    GA_Destroy(vector);
    GA_Destroy(ones);
    return trace;
}

/* Sets the density to (most - F) / (most - least), in which the occupied states have the largest
 * eigenvalues. */
static void scf_begin_density(struct scf *s)
{
    int     lo[2] = {0, 0}, hi[2] = {s->sites - 1, s->sites - 1};
    double *all = malloc(sizeof *all * (size_t)s->sites * (size_t)s->sites), most, least, scale;

    NGA_Get(s->fock, lo, hi, all, &s->sites);
    most  = model_bound(all, s->sites, 1);
    least = model_bound(all, s->sites, -1);
    scale = -1 / (most - least);
    free(all);
    GA_Copy(s->fock, s->density);
    most = -most;
    GA_Shift_diagonal(s->density, &most);
    GA_Scale(s->density, &scale);
}

/* Squares until the density is a projector. Returns its distance from a projector. */
static double scf_purify(struct scf *s)
{
    double one = 1, two = 2, minus = -1, error = 1;

    for (int step = 0; step < 60; step++) {
        double trace = scf_trace(s->density, s->sites);

        GA_Dgemm('n', 'n', s->sites, s->sites, s->sites, one, s->density, s->density, 0, s->square);
        error = fabs(scf_trace(s->square, s->sites) - trace);
        if (error < 1e-11)
            break;
        if (trace > s->sites / 2)
            GA_Copy(s->square, s->density);
        else
            GA_Add(&two, s->density, &minus, s->square, s->density);
    }
    return error;
}

static void scf_create(struct scf *s)
{
    int    dims[2] = {s->sites, s->sites}, one = 1;
    size_t bytes = sizeof(double) * (size_t)s->block * (size_t)s->block;

    s->density = NGA_Create(C_DBL, 2, dims, "density", NULL);
    s->fock    = GA_Duplicate(s->density, "fock");
    s->square  = GA_Duplicate(s->density, "square");
    s->counter = NGA_Create(C_LONG, 1, &one, "counter", NULL);
    s->a       = malloc(bytes);
    s->b       = malloc(bytes);
    s->sum     = malloc(bytes);
    s->turned  = malloc(bytes);
    if (!s->a || !s->b || !s->sum || !s->turned)
        GA_Error("no memory", 1);
    GA_Zero(s->density);
}

static int scf_verify(struct scf *s, double energy, double projector, int cycles)
{
    double trace    = scf_trace(s->density, s->sites);
    double expected = s->me == 0 ? model_energy(s->sites, cycles) : 0;
    int    good = s->me != 0 || (fabs(energy - expected) < 1e-8 * s->sites && projector < 1e-8 &&
                              fabs(trace - s->sites / 2) < 1e-6);

    GA_Igop(&good, 1, "min");
    GA_Lgop(&s->tasks, 1, "+");
    if (s->me == 0)
        printf("result ga_scf: %d sites, %d processes, %ld tasks; energy %.6f, expected %.6f: %s\n",
               s->sites, s->size, s->tasks, energy, expected, good ? "passed" : "FAILED");
    return good;
}

int main(int argc, char **argv)
{
    struct scf s = {.sites = argc > 1 ? atoi(argv[1]) : 64, .block = argc > 2 ? atoi(argv[2]) : 12};
    int        cycles = argc > 3 ? atoi(argv[3]) : 6, good;
    double     energy = 0, projector = 0;

    MPI_Init(&argc, &argv);
    GA_Initialize();
    MA_init(MT_DBL, 200000 + 20 * s.sites * s.sites, 200000 + 20 * s.sites * s.sites);
    s.me   = GA_Nodeid();
    s.size = GA_Nnodes();
    if (s.sites < 4 || s.sites % 2 || s.block < 1 || cycles < 1)
        GA_Error("usage: ga_scf [SITES [BLOCK [CYCLES]]], an even number of sites", 2);
    scf_create(&s);
    for (int cycle = 0; cycle < cycles; cycle++) {
        energy = scf_fock(&s);
        scf_begin_density(&s);
        projector = scf_purify(&s);
    }
    good = scf_verify(&s, energy, projector, cycles);
    free(s.a);
    free(s.b);
    free(s.sum);
    free(s.turned);
    GA_Terminate();
    MPI_Finalize();
    return !good;
}
