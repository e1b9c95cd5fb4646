/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the model of ga_scf, and its solution by plain loops, for comparison. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ga_scf/model.h"

double model_hamiltonian(int i, int j)
{
    if (i == j)
        return 0.1 * (i % 3);
    if (abs(i - j) != 1)
        return 0;
    return (i < j ? i : j) % 2 ? -0.5 : -1.5;
}

double model_repulsion(int i, int j)
{
    double distance = 1 + abs(i - j);

    return 0.2 / (distance * distance);
}

double model_bound(const double *matrix, int n, int side)
{
    double bound = 0;

    for (int i = 0; i < n; i++) {
        double radius = 0, end;

        for (int j = 0; j < n; j++)
            radius += j == i ? 0 : fabs(matrix[i * n + j]);
        end   = matrix[i * n + i] + side * radius;
        bound = i == 0 || side * (end - bound) > 0 ? end : bound;
    }
    return bound;
}

/* c = a b, of n x n matrices. */
static void model_multiply(const double *a, const double *b, double *c, int n)
{
    memset(c, 0, (size_t)n * n * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static double model_trace(const double *a, int n)
{
    double trace = 0;

    for (int i = 0; i < n; i++)
        trace += a[i * n + i];
    return trace;
}

/* fock = h + (V D + D V) / 2; returns the energy, the trace of D (h + F) / 2. */
static double model_fock(const double *density, double *repulsion, double *fock, double *work,
                         int n)
{
    double energy = 0;

    for (int i = 0; i < n * n; i++)
        repulsion[i] = model_repulsion(i / n, i % n);
    model_multiply(repulsion, density, work, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double h = model_hamiltonian(i, j);

            fock[i * n + j] = h + 0.5 * (work[i * n + j] + work[j * n + i]);
            energy += 0.5 * density[i * n + j] * (h + fock[i * n + j]);
        }
    return energy;
}

/* Replaces @p x by the projector on its upper half, by squaring (SP2). */
static void model_purify(double *x, double *square, int n)
{
    for (int step = 0; step < 60; step++) {
        double trace = model_trace(x, n);

        model_multiply(x, x, square, n);
        if (fabs(model_trace(square, n) - trace) < 1e-11)
            return;
        for (int i = 0; i < n * n; i++)
            x[i] = trace > n / 2 ? square[i] : 2 * x[i] - square[i];
    }
}

double model_energy(int n, int cycles)
{
    double *density = calloc((size_t)n * n, sizeof *density), *fock = malloc(sizeof *fock * n * n);
    double *work = malloc(sizeof *work * n * n), *other = malloc(sizeof *other * n * n), energy = 0;

    for (int cycle = 0; density && fock && work && other && cycle < cycles; cycle++) {
        energy      = model_fock(density, other, fock, work, n);
        double most = model_bound(fock, n, 1), least = model_bound(fock, n, -1);

        for (int i = 0; i < n * n; i++)
            density[i] = ((i / n == i % n ? most : 0) - fock[i]) / (most - least);
        model_purify(density, work, n);
    }
    free(density);
    free(fock);
    free(work);
    free(other);
    return energy;
}
