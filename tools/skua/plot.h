/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - curves over two logarithmic axes, as an SVG picture. */
#ifndef SKUA_PLOT_H
#define SKUA_PLOT_H

#include <stddef.h>
#include <stdio.h>

struct curve {
    const char *name;
    const char *colour; /* of SVG */
    const char *dash;   /* of SVG, "" for a full line */
    size_t      points;
    double      x[32], y[32];
};

struct plot {
    const char   *title, *x_axis, *y_axis;
    struct curve *curve;
    size_t        curves;
};

/** A point, if it was measured, and is on a logarithmic axis: not 0. */
void curve_add(struct curve *curve, double x, double y);

void plot_write(const struct plot *plot, FILE *to);

/** Several, one below the other. */
void plot_write_all(const struct plot *plots, size_t count, FILE *to);

#endif
