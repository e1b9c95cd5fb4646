/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - curves over two axes, as an SVG picture. */
#ifndef SKUA_PLOT_H
#define SKUA_PLOT_H

#include <stddef.h>
#include <stdio.h>

/** The largest number of points of a curve. */
#define PLOT_POINTS 256

struct plot_curve {
    const char *name;
    const char *colour; /* of SVG                        */
    const char *dash;   /* of SVG, "" for a solid line   */
    size_t      points;
    double      x[PLOT_POINTS], y[PLOT_POINTS];
};

struct plot {
    const char        *title, *x_axis, *y_axis;
    struct plot_curve *curve;
    size_t             curves;
};

/** How the values of an axis are laid out: logarithmically, with tick marks at 1, 2, 5, 10 or at
 * powers of ten; logarithmically, with tick marks at powers of two; or linearly, from 0. */
enum plot_scale { PLOT_LOG, PLOT_LOG2, PLOT_LINEAR };

/** The axes of a plot, and a vertical line at an x that divides it. */
struct plot_axes {
    enum plot_scale x, y;
    double          limit; /* 0: there is no line */
    const char     *limit_name;
};

/** Appends a point to a curve.  A coordinate of 0 means "not measured": the point is left out. */
void plot_curve_add(struct plot_curve *curve, double x, double y);

/** Writes the head of an SVG file of a given size: a white page, and the font of all plots.  The
 *  caller ends the file with </svg>. */
void plot_begin(FILE *to, double width, double height);

/** Writes one plot over logarithmic axes as an SVG file. */
void plot_write(const struct plot *plot, FILE *to);

/** Writes several plots over the given axes as one SVG file, one below the other.  A plot without
 *  points, of what was not measured, is left out if there are others. */
void plot_write_axes(const struct plot *plots, size_t count, const struct plot_axes *axes,
                     FILE *to);

/** Writes several plots over logarithmic axes as one SVG file, one below the other. */
void plot_write_all(const struct plot *plots, size_t count, FILE *to);

#endif
