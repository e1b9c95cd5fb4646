/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.c - see kernels.h.  FMM_KERNELS is the name of this set, FMM_VECTOR the bytes of a
 * register.
 *
 * A group of bodies stays in registers while all sources pass.  1/r comes from an estimate of a few
 * bits and Newton's method, since a square root and a division would take most of the time.
 */
#include "kernels.h"

#ifdef __aarch64__
#include <arm_neon.h>
#elif FMM_VECTOR == 64
#include <immintrin.h>
#endif

#define WIDES ((int)(LANES * sizeof(double) / FMM_VECTOR)) /* registers of LANES numbers */

/* Registers of a number of a group that are computed together: with more, the sums do not stay in
 * registers. */
#define NEAR_WIDES (WIDES < 2 ? WIDES : 2)

typedef double   wide __attribute__((vector_size(FMM_VECTOR)));
typedef uint64_t wide_bits __attribute__((vector_size(FMM_VECTOR)));
typedef double   wide_member __attribute__((vector_size(FMM_VECTOR), aligned(16)));

/* `lanes` and a near_group as registers of this kind.  In memory they are aligned as `vec`. */
struct __attribute__((may_alias)) wide_lanes {
    wide_member v[WIDES];
};
struct __attribute__((may_alias)) wide_group {
    wide_member x[WIDES], y[WIDES], z[WIDES];
    wide_member potential[WIDES], fx[WIDES], fy[WIDES], fz[WIDES];
};

/* ---- pairs of bodies ------------------------------------------------------------------------ */

/* Returns an estimate of 1/sqrt(x), improved to the last bits. */
#ifdef __aarch64__
static inline wide kernel_root(wide x)
{
    wide y = (wide)vrsqrteq_f64((float64x2_t)x); /* 8 bits: three steps */

    for (int step = 0; step < 3; step++)
        y *= (wide)vrsqrtsq_f64((float64x2_t)(x * y), (float64x2_t)y);
    return y;
}
#elif FMM_VECTOR == 64
static inline wide kernel_root(wide x)
{
    wide half = 0.5 * x, y = (wide)_mm512_rsqrt14_pd((__m512d)x); /* 14 bits: two steps */

    for (int step = 0; step < 2; step++)
        y *= 1.5 - half * y * y;
    return y;
}
#else
static inline wide kernel_root(wide x)
{
    wide half = 0.5 * x,
         y    = (wide)(UINT64_C(0x5fe6eb50c7b537a9) - ((wide_bits)x >> 1)); /* 4 bits */

    for (int step = 0; step < 4; step++)
        y *= 1.5 - half * y * y;
    return y;
}
#endif

/* Returns 1/sqrt(x), or 0 if x is 0. */
static inline wide kernel_inverse_root(wide x)
{
    return (wide)((wide_bits)kernel_root(x) & (wide_bits)(x > 0));
}

/* Adds source bodies to the registers of a group from @p first on. */
static inline void kernel_near_part(struct wide_group *g, int first,
                                    const struct near_sources *from)
{
    wide x[NEAR_WIDES], y[NEAR_WIDES], z[NEAR_WIDES]; /* relative to the image of the sources */
    wide potential[NEAR_WIDES], fx[NEAR_WIDES], fy[NEAR_WIDES], fz[NEAR_WIDES];

    for (int v = 0; v < NEAR_WIDES; v++) {
        x[v]         = g->x[first + v] - from->shift[0];
        y[v]         = g->y[first + v] - from->shift[1];
        z[v]         = g->z[first + v] - from->shift[2];
        potential[v] = g->potential[first + v];
        fx[v]        = g->fx[first + v];
        fy[v]        = g->fy[first + v];
        fz[v]        = g->fz[first + v];
    }
    for (const struct body *b = from->body; b < from->body + from->n; b++)
        for (int v = 0; v < NEAR_WIDES; v++) {
            wide dx = x[v] - b->at[0], dy = y[v] - b->at[1], dz = z[v] - b->at[2];
            wide inverse = kernel_inverse_root(dx * dx + dy * dy + dz * dz);
            wide phi = b->charge * inverse, f = phi * inverse * inverse;

            potential[v] += phi;
            fx[v] += f * dx;
            fy[v] += f * dy;
            fz[v] += f * dz;
        }
    for (int v = 0; v < NEAR_WIDES; v++) {
        g->potential[first + v] = potential[v];
        g->fx[first + v]        = fx[v];
        g->fy[first + v]        = fy[v];
        g->fz[first + v]        = fz[v];
    }
}

static void kernel_near(struct near_group *g, const struct near_sources *from)
{
    for (int first = 0; first < WIDES; first += NEAR_WIDES)
        kernel_near_part((struct wide_group *)g, first, from);
}

/* ---- products of small matrices and lanes --------------------------------------------------- */

static inline void kernel_panel(int rows, const double *a, const struct translate_block *b,
                                int first, const lanes *from, lanes *to)
{
    struct wide_lanes        sum[PANEL];
    const struct wide_lanes *in  = (const struct wide_lanes *)from;
    struct wide_lanes       *out = (struct wide_lanes *)to;

    for (int r = 0; r < rows; r++)
        for (int v = 0; v < WIDES; v++)
            sum[r].v[v] = (wide){0};
    for (int i = 0; i < b->in; i++) {
        const struct wide_lanes *x = in + b->in_row[i];

        for (int r = 0; r < rows; r++)
            for (int v = 0; v < WIDES; v++)
                sum[r].v[v] += a[i * rows + r] * x->v[v];
    }
    for (int r = 0; r < rows; r++)
        out[b->out_row[first + r]] = sum[r];
}

static void kernel_multiply(const struct translate_matrix *matrix, const lanes *from, lanes *to)
{
    const double *a = matrix->at;

    for (const struct translate_block *b = matrix->block; b < matrix->block + matrix->blocks; b++) {
        int i = 0;

        for (; i + PANEL <= b->out; i += PANEL, a += PANEL * b->in)
            kernel_panel(PANEL, a, b, i, from, to);
        switch (b->out - i) {
        case 3: kernel_panel(3, a, b, i, from, to); break;
        case 2: kernel_panel(2, a, b, i, from, to); break;
        case 1: kernel_panel(1, a, b, i, from, to); break;
        default: break;
        }
        a += (b->out - i) * b->in;
    }
}

/* ---- rotations about z ---------------------------------------------------------------------- */

static void kernel_turn(const double *cosine, const double *sine, int order, double sign, lanes *x)
{
    struct wide_lanes *wide_x = (struct wide_lanes *)x;

    for (int m = 1; m <= order; m++) {
        double c = cosine[m], s = sign * sine[m];

        for (int l = m; l <= order; l++) {
            struct wide_lanes *a = &wide_x[expansion_cos(l, m)], *b = &wide_x[expansion_sin(l, m)];

            for (int v = 0; v < WIDES; v++) {
                wide re = a->v[v], im = b->v[v];

                a->v[v] = c * re + s * im;
                b->v[v] = c * im - s * re;
            }
        }
    }
}

extern const struct fmm_kernels FMM_KERNELS;
const struct fmm_kernels        FMM_KERNELS = {FMM_NAME, kernel_near, kernel_multiply, kernel_turn};
