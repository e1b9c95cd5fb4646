/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expansion.h - multipole and local expansions of the potential 1/r, and bodies.
 *
 * Let c(l,m) be the real solid harmonics that satisfy
 *
 *     1/|x - y| = sum over l, m of  |y|^l c(l,m)(y/|y|)  c(l,m)(x/|x|) / |x|^(l+1),   |y| < |x|
 *
 * so that rotations are orthogonal matrices.  An expansion of order p has (p + 1)^2 coefficients:
 * of each degree l from 0 to p, those of cos(m phi) for m = 0 .. l, then those of sin(m phi) for m
 * = 1 .. l.  Positions are relative to the centre of a box and in units of its width w, and
 * expansions carry a factor w: they do not depend on the size of the box, and neither do the
 * matrices that translate them (translate.h).
 *
 *     multipole   potential(x) = sum of M(l,m) c(l,m)(x/|x|) / |x|^(l+1) / w    outside of the box
 *     local       potential(x) = sum of L(l,m) c(l,m)(x/|x|) * |x|^l     / w    inside of the box
 *
 * Bodies are processed LANES at a time.
 */
#ifndef FMM_EXPANSION_H
#define FMM_EXPANSION_H

#include <stdbool.h>

#define ORDER_MIN 2
#define ORDER_MAX 20

/** A charge. */
struct body {
    double at[3], charge;
};

/** The potential at a body, and the field, which is minus the gradient of the potential. */
struct field {
    double potential, at[3];
};

/** A cube. */
struct cube {
    double centre[3], width;
};

/** Returns the number of coefficients of an expansion. */
static inline int expansion_count(int order)
{
    return (order + 1) * (order + 1);
}

/** Returns the distance between expansions in an array, in numbers; it keeps vectors aligned. */
static inline int expansion_stride(int order)
{
    return (expansion_count(order) + 1) & ~1;
}

/** Returns the index of the coefficient of cos(m phi). */
static inline int expansion_cos(int l, int m)
{
    return l * l + m;
}

/** Returns the index of the coefficient of sin(m phi), m > 0. */
static inline int expansion_sin(int l, int m)
{
    return l * l + l + m;
}

#define EXPANSION_MAX ((ORDER_MAX + 2) * (ORDER_MAX + 2)) /* coefficients of a gradient */

/** The tables that expansions of one order share. */
struct expansion {
    int    order;
    double regular[EXPANSION_MAX]; /* factors between the functions of expansion.c and c(l,m) */
    double irregular[EXPANSION_MAX];
};

/** Sets the order of expansions. */
void expansion_init(struct expansion *e, int order);

/** Adds @p n bodies in a box to its multipole expansion. */
void expansion_add_multipole(double *multipole, const struct expansion *e, const struct cube *box,
                             const struct body *body, int n);

/** Adds @p n distant bodies, displaced by @p shift, to the local expansion of a box. */
void expansion_add_local(double *local, const struct expansion *e, const struct cube *box,
                         const struct body *body, int n, const double shift[3]);

/** Adds the local expansion of a box to the fields of @p n bodies in it. */
void expansion_evaluate_local(const double *local, const struct expansion *e,
                              const struct cube *box, const struct body *body, int n,
                              struct field *field);

/** Adds the field of the multipole expansion of a box, displaced by @p shift, to the fields of @p n
 *  distant bodies. */
void expansion_evaluate_multipole(const double *multipole, const struct expansion *e,
                                  const struct cube *box, const struct body *body, int n,
                                  const double shift[3], struct field *field);

/** Computes the regular (|x|^l c(l,m)) or irregular (c(l,m) / |x|^(l+1)) solid harmonics of one
 *  point. */
void expansion_harmonics(double *harmonics, const struct expansion *e, const double at[3],
                         bool irregular);

#endif
