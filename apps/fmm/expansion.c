/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expansion.c - see expansion.h.
 *
 * Recurrences and derivatives are simplest for the functions without normalisation
 *
 *     R(l,m) = |x|^l P(l,m) exp(i m phi) / (l+m)!    S(l,m) = (l-m)! P(l,m) exp(i m phi) /
 * |x|^(l+1)
 *
 * whose real and imaginary parts equal c(l,m) up to a factor.  A box applies that factor once to
 * its coefficients, not to each body.  The gradient of a sum of R(l,m) is a sum of R(l-1,m'), that
 * of S(l,m) a sum of S(l+1,m'): three further sets of coefficients, which the box computes once.
 */
#include "expansion.h"

#include <math.h>
#include <string.h>

#include "common/numbers.h"
#include "lanes.h"

static const double expansion_no_shift[3];

void expansion_init(struct expansion *e, int order)
{
    e->order = order;
    for (int l = 0; l <= order + 1; l++)
        for (int m = 0; m <= l; m++) {
            double norm  = exp(0.5 * (log_factorial(l + m) + log_factorial(l - m)));
            double twice = m > 0 ? sqrt(2) : 1;

            for (int s = 0; s <= (m > 0); s++) {
                e->regular[l * l + m + s * l]   = twice * norm;
                e->irregular[l * l + m + s * l] = twice / norm;
            }
        }
}

/* ---- functions of LANES points -------------------------------------------------------------- */

/* A group of bodies: their positions in units of the box, and a factor of each. */
struct expansion_points {
    lanes x, y, z, factor;
};

static void expansion_load(struct expansion_points *to, const struct cube *box,
                           const struct body *body, int n, const double shift[3])
{
    double at[4][LANES], scale = 1 / box->width;

    for (int k = 0; k < LANES; k++) {
        const struct body *from = &body[k < n ? k : 0]; /* lanes without a body repeat the first */

        for (int d = 0; d < 3; d++)
            at[d][k] = (from->at[d] + shift[d] - box->centre[d]) * scale;
        at[3][k] = k < n ? from->charge : 0;
    }
    memcpy(&to->x, at[0], sizeof to->x);
    memcpy(&to->y, at[1], sizeof to->y);
    memcpy(&to->z, at[2], sizeof to->z);
    memcpy(&to->factor, at[3], sizeof to->factor);
}

/* Computes the real (s = 0) or imaginary (s = 1) parts of the functions of one m with l > m from
 * the function with l = m. */
static void expansion_column(lanes *h, int order, int m, int s, const lanes *z, const lanes *w,
                             bool irregular)
{
    for (int l = m + 1; l <= order; l++) {
        lanes       *to  = h + l * l + m + s * l;
        const lanes *one = h + (l - 1) * (l - 1) + m + s * (l - 1);
        const lanes *two = l > m + 1 ? h + (l - 2) * (l - 2) + m + s * (l - 2) : one;
        double       d = irregular ? 1 : 1.0 / ((l + m) * (l - m)), a = (2 * l - 1) * d;
        double       b = irregular ? (l - 1) * (l - 1) - m * m : d;

        if (l == m + 1)
            b = 0;
        for (int v = 0; v < VECTORS; v++)
            to->v[v] = a * z->v[v] * one->v[v] - b * w->v[v] * two->v[v];
    }
}

/* Computes R or S, multiplied by the factor of each point.  S has the recurrences of R with other
 * coefficients and x, y, z divided by r^2. */
static void expansion_functions(lanes *h, int order, const struct expansion_points *p,
                                bool irregular)
{
    lanes x = p->x, y = p->y, z = p->z, w;

    h[0] = p->factor;
    for (int v = 0; v < VECTORS; v++) {
        w.v[v] = x.v[v] * x.v[v] + y.v[v] * y.v[v] + z.v[v] * z.v[v];
        if (irregular) {
            w.v[v] = 1 / w.v[v];
            h[0].v[v] *= (vec){sqrt(w.v[v][0]), sqrt(w.v[v][1])};
            x.v[v] *= w.v[v];
            y.v[v] *= w.v[v];
            z.v[v] *= w.v[v];
        }
    }
    for (int m = 0; m <= order; m++) {
        const lanes *re = h + (m - 1) * (m - 1) + m - 1, *im = m > 1 ? re + m - 1 : re;
        /* The imaginary part for m = 0 is 0. */
        double f = irregular ? 2 * m - 1 : 0.5 / m, g = m > 1 ? f : 0;

        for (int v = 0; v < VECTORS && m > 0; v++) {
            h[m * m + m].v[v]     = f * x.v[v] * re->v[v] - g * y.v[v] * im->v[v];
            h[m * m + 2 * m].v[v] = g * x.v[v] * im->v[v] + f * y.v[v] * re->v[v];
        }
        for (int s = 0; s <= (m > 0); s++)
            expansion_column(h, order, m, s, &z, &w, irregular);
    }
}

void expansion_harmonics(double *harmonics, const struct expansion *e, const double at[3],
                         bool irregular)
{
    const double           *norm = irregular ? e->irregular : e->regular;
    struct body             body = {{at[0], at[1], at[2]}, 1};
    struct cube             unit = {{0, 0, 0}, 1};
    struct expansion_points points;
    lanes                   h[EXPANSION_MAX];

    expansion_load(&points, &unit, &body, 1, expansion_no_shift);
    expansion_functions(h, e->order, &points, irregular);
    for (int i = 0; i < expansion_count(e->order); i++)
        harmonics[i] = norm[i] * h[i].v[0][0];
}

/* ---- from bodies ---------------------------------------------------------------------------- */

static void expansion_add(double *to, const struct expansion *e, const struct cube *box,
                          const struct body *body, int n, const double shift[3], bool irregular)
{
    const double           *norm  = irregular ? e->irregular : e->regular;
    int                     count = expansion_count(e->order);
    struct expansion_points points;
    lanes                   h[EXPANSION_MAX], sum[EXPANSION_MAX];

    memset(sum, 0, (size_t)count * sizeof *sum);
    for (int k = 0; k < n; k += LANES) {
        expansion_load(&points, box, body + k, n - k, shift);
        expansion_functions(h, e->order, &points, irregular);
        for (int i = 0; i < count; i++)
            for (int v = 0; v < VECTORS; v++)
                sum[i].v[v] += h[i].v[v];
    }
    for (int i = 0; i < count; i++)
        to[i] += norm[i] * lanes_sum(&sum[i]);
}

void expansion_add_multipole(double *multipole, const struct expansion *e, const struct cube *box,
                             const struct body *body, int n)
{
    expansion_add(multipole, e, box, body, n, expansion_no_shift, false);
}

void expansion_add_local(double *local, const struct expansion *e, const struct cube *box,
                         const struct body *body, int n, const double shift[3])
{
    expansion_add(local, e, box, body, n, shift, true);
}

/* ---- to bodies ------------------------------------------------------------------------------ */

/* The coefficients of a function: of the potential and of the three components of its field. */
struct expansion_sums {
    int    order;
    double at[EXPANSION_MAX][4];
};

/* Adds a coefficient of R(l,m) or S(l,m) to a component of the field, if there is such a function.
 */
static void expansion_term(struct expansion_sums *to, int d, int l, int m, int s, double x)
{
    if (l >= 0 && m >= s && m <= l)
        to->at[l * l + m + s * l][1 + d] -= x;
}

/* Adds the field of the term x R(l,m) or x S(l,m). */
static void expansion_differentiate(struct expansion_sums *to, int l, int m, int s, double x,
                                    bool irregular)
{
    int    k = irregular ? l + 1 : l - 1, other = 1 - s;
    double down = m > 0 ? 0.5 * x : 0, up = m > 0 ? 0.5 * x : x, sign = s ? 1 : -1;

    expansion_term(to, 0, k, m - 1, s, down);
    expansion_term(to, 0, k, m + 1, s, -up);
    expansion_term(to, 1, k, m - 1, other, sign * down);
    expansion_term(to, 1, k, m + 1, other, sign * up);
    expansion_term(to, 2, k, m, s, irregular ? -x : x);
}

/* Prepares the evaluation of an expansion of a box of that width. */
static void expansion_prepare(struct expansion_sums *to, const double *from,
                              const struct expansion *e, double width, bool irregular)
{
    const double *norm = irregular ? e->irregular : e->regular;

    to->order = e->order + irregular;
    memset(to->at, 0, (size_t)expansion_count(to->order) * sizeof to->at[0]);
    for (int l = 0; l <= e->order; l++)
        for (int m = 0; m <= l; m++)
            for (int s = 0; s <= (m > 0); s++) {
                int    i = l * l + m + s * l;
                double x = from[i] * norm[i] / width;

                to->at[i][0] = x;
                expansion_differentiate(to, l, m, s, x / width, irregular);
            }
}

static void expansion_sum(const struct expansion_sums *sums, const lanes *h, lanes to[4])
{
    lanes total[4];

    for (int d = 0; d < 4; d++)
        total[d] = lanes_of(0);
    for (int i = 0; i < expansion_count(sums->order); i++)
        for (int d = 0; d < 4; d++)
            for (int v = 0; v < VECTORS; v++)
                total[d].v[v] += sums->at[i][d] * h[i].v[v];
    memcpy(to, total, sizeof total);
}

static void expansion_store(const lanes from[4], struct field *field, int n)
{
    double at[4][LANES];

    memcpy(at, from, sizeof at);
    for (int k = 0; k < n && k < LANES; k++) {
        field[k].potential += at[0][k];
        for (int d = 0; d < 3; d++)
            field[k].at[d] += at[1 + d][k];
    }
}

static void expansion_evaluate(const double *from, const struct expansion *e,
                               const struct cube *box, const struct body *body, int n,
                               const double shift[3], struct field *field, bool irregular)
{
    struct expansion_sums   sums;
    struct expansion_points points;
    lanes                   h[EXPANSION_MAX], total[4];

    expansion_prepare(&sums, from, e, box->width, irregular);
    for (int k = 0; k < n; k += LANES) {
        expansion_load(&points, box, body + k, n - k, shift);
        points.factor = lanes_of(1);
        expansion_functions(h, sums.order, &points, irregular);
        expansion_sum(&sums, h, total);
        expansion_store(total, field + k, n - k);
    }
}

void expansion_evaluate_local(const double *local, const struct expansion *e,
                              const struct cube *box, const struct body *body, int n,
                              struct field *field)
{
    expansion_evaluate(local, e, box, body, n, expansion_no_shift, field, false);
}

void expansion_evaluate_multipole(const double *multipole, const struct expansion *e,
                                  const struct cube *box, const struct body *body, int n,
                                  const double shift[3], struct field *field)
{
    double back[3] = {-shift[0], -shift[1], -shift[2]};

    expansion_evaluate(multipole, e, box, body, n, back, field, true);
}
