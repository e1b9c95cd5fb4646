/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lattice.c - see lattice.h.
 *
 * The images of a box and its neighbours within the separation form a larger box, the images of
 * which fill space again, and so on.  On each level the ring of boxes that are neighbours of the
 * larger box's neighbours, but not near to its middle, acts on the middle: a translation by the sum
 * of the translations of all of them.  All levels share this sum.  For a neutral box the
 * contribution of a level falls with the square of the width.
 *
 * Sums over the ring and over the neighbours are unchanged by rotations of the cube: they are real,
 * and zero except for m = 0, 4, 8, ...
 */
#include "lattice.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

#define DEGREES (2 * ORDER_MAX + 1)
#define LEVELS  40

/* Sums of R(l,m) or S(l,m) (expansion.c), m >= 0. */
typedef double lattice_sums[DEGREES][DEGREES];

/* Coefficients without normalisation, of exp(-i m phi), m >= 0. */
typedef double complex lattice_expansion[ORDER_MAX + 1][ORDER_MAX + 1];

static void lattice_add_point(lattice_sums sums, int degree, const double at[3], bool irregular)
{
    double complex f[DEGREES][DEGREES];
    double         rr = at[0] * at[0] + at[1] * at[1] + at[2] * at[2], z = at[2], w = rr;
    double complex xy = at[0] + I * at[1];

    f[0][0] = irregular ? 1 / sqrt(rr) : 1;
    if (irregular) {
        xy /= rr;
        z /= rr;
        w = 1 / rr;
    }
    for (int m = 0; m <= degree; m++) {
        if (m > 0)
            f[m][m] = (irregular ? 2 * m - 1 : 0.5 / m) * xy * f[m - 1][m - 1];
        for (int l = m + 1; l <= degree; l++) {
            double d = irregular ? 1 : 1.0 / ((l + m) * (l - m));
            double b = irregular ? (l - 1) * (l - 1) - m * m : d;

            f[l][m] = (2 * l - 1) * d * z * f[l - 1][m];
            if (l > m + 1)
                f[l][m] -= b * w * f[l - 2][m];
        }
    }
    for (int l = 0; l <= degree; l++)
        for (int m = 0; m <= l; m += 4)
            sums[l][m] += creal(f[l][m]);
}

/* Sums over the images within @p outer that are not within @p inner; with @p inner -1 over all
 * images within @p outer. */
static void lattice_sum(lattice_sums sums, int degree, int inner, int outer, bool irregular)
{
    for (int l = 0; l <= degree; l++)
        for (int m = 0; m <= l; m++)
            sums[l][m] = 0;
    for (int z = -outer; z <= outer; z++)
        for (int y = -outer; y <= outer; y++)
            for (int x = -outer; x <= outer; x++)
                if (fmax(fmax(abs(x), abs(y)), abs(z)) > inner)
                    lattice_add_point(sums, degree, (double[3]){x, y, z}, irregular);
}

/* Returns the coefficient of any m. */
static double complex lattice_at(lattice_expansion x, int l, int m)
{
    return m >= 0 ? x[l][m] : (m % 2 ? -1 : 1) * conj(x[l][-m]);
}

static double lattice_sum_at(lattice_sums sums, int l, int m)
{
    return m > l || -m > l ? 0 : sums[l][m < 0 ? -m : m]; /* odd m are zero */
}

/* Computes the multipoles of the larger box, in units of its width. */
static void lattice_grow(lattice_expansion to, lattice_expansion from, lattice_sums near, int order,
                         int side)
{
    for (int l = 0; l <= order; l++)
        for (int m = 0; m <= l; m++) {
            double complex sum = 0;

            for (int k = 0; k <= l; k++)
                for (int n = -k; n <= k; n++)
                    sum += lattice_at(from, k, n) * lattice_sum_at(near, l - k, m - n);
            to[l][m] = sum * pow(side, -l);
        }
}

/* Adds the action of the ring around a box of that width on its middle. */
static void lattice_act(lattice_expansion local, lattice_expansion from, lattice_sums ring,
                        int order, double width)
{
    for (int j = 0; j <= order; j++)
        for (int k = 0; k <= j; k++) {
            double complex sum = 0;

            for (int l = 0; l <= order; l++)
                for (int m = -l; m <= l; m++)
                    sum += (l % 2 ? -1 : 1) * lattice_at(from, l, m) *
                           lattice_sum_at(ring, l + j, m + k);
            local[j][k] += sum * pow(width, -(j + 1));
        }
}

static void lattice_load(lattice_expansion to, const struct expansion *e, const double *from)
{
    for (int l = 0; l <= e->order; l++)
        for (int m = 0; m <= l; m++) {
            double sine = m > 0 ? from[expansion_sin(l, m)] : 0;

            to[l][m] = (from[expansion_cos(l, m)] - I * sine) / e->regular[expansion_cos(l, m)];
        }
}

static void lattice_store(double *to, const struct expansion *e, lattice_expansion from)
{
    for (int l = 0; l <= e->order; l++)
        for (int m = 0; m <= l; m++) {
            int i = expansion_cos(l, m);

            to[i] +=
                e->irregular[i] * creal(from[l][m]); /* this is sqrt(2) / n(l,m), or 1 / n(l,0) */
            if (m > 0)
                to[expansion_sin(l, m)] += e->irregular[i] * cimag(from[l][m]);
        }
}

void lattice_add(double *local, const struct expansion *e, int separation, const double *multipole)
{
    int               side  = 2 * separation + 1;
    double            width = 1;
    lattice_sums      ring, near;
    lattice_expansion from = {{0}}, larger, sum = {{0}};

    lattice_sum(ring, 2 * e->order, separation, separation * side + separation, true);
    lattice_sum(near, e->order, -1, separation, false);
    lattice_load(from, e, multipole);
    from[0][0] =
        0; /* the rounding errors of a neutral box would grow with the square of the width */
    for (int level = 0; level < LEVELS && width < 1e8; level++, width *= side) {
        lattice_act(sum, from, ring, e->order, width);
        lattice_grow(larger, from, near, e->order, side);
        for (int l = 0; l <= e->order; l++)
            for (int m = 0; m <= l; m++)
                from[l][m] = larger[l][m];
    }
    lattice_store(local, e, sum);
}
