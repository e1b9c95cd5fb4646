/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.c - see plot.h.
 *
 * An axis begins and ends at a tick mark.  Tick marks of a logarithmic axis are powers of ten or,
 * where the values span less than a factor of 50, 1, 2, 5, 10 and so on; or powers of two.  Those
 * of a linear axis are multiples of 1, 2 or 5 times a power of ten, from 0.  The names of the
 * curves are to the right of their last points, moved down so that they do not overlap.
 */
#include "plot.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"

#define WIDTH   900.0
#define HEIGHT  560.0
#define LEFT    80.0
#define RIGHT   170.0 /* space for the names of the curves */
#define TOP     50.0
#define BOTTOM  60.0
#define SPACING 16.0 /* of the names */
#define LETTER  7.0  /* width of most letters of the names */

#define CLOSE  50.0 /* largest value / smallest value below which ticks are 1, 2, 5 */
#define TICKS  8    /* intervals of a linear axis, at most                          */
#define DOTTED 32   /* points of a curve, at most, that are drawn as dots           */

/* An axis, by the indices of its tick marks (plot_axis_mark). */
struct plot_axis {
    enum plot_scale scale;
    int             first, last, step;
    double          unit; /* between two tick marks of a linear axis */
};

struct plot_frame {
    struct plot_axis x, y;
};

/* Returns the value of a tick mark by its index: ..., 0: 1, 1: 2, 2: 5, 3: 10, ... */
static double plot_mark(int i)
{
    static const double of_three[] = {1, 2, 5};
    int                 power      = (int)floor(i / 3.0);

    return of_three[i - 3 * power] * pow(10, power);
}

/* Returns the value of a tick mark of an axis by its index. */
static double plot_axis_mark(const struct plot_axis *axis, int i)
{
    switch (axis->scale) {
    case PLOT_LOG2: return ldexp(1, i);
    case PLOT_LINEAR: return i * axis->unit;
    default: return plot_mark(i);
    }
}

static struct plot_axis plot_make_axis_log2(double least, double most)
{
    struct plot_axis axis = {PLOT_LOG2, (int)floor(log2(least)), (int)ceil(log2(most)), 1, 0};

    if (axis.last == axis.first)
        axis.last++;
    return axis;
}

static struct plot_axis plot_make_axis_linear(double most)
{
    struct plot_axis axis  = {PLOT_LINEAR, 0, 0, 1, 0};
    int              index = 3 * (int)floor(log10(most / TICKS));

    while (plot_mark(index) * TICKS < most)
        index++;
    axis.unit = plot_mark(index);
    axis.last = (int)ceil(most / axis.unit * (1 - 1e-12));
    return axis;
}

static struct plot_axis plot_make_axis(enum plot_scale scale, double least, double most)
{
    struct plot_axis axis = {PLOT_LOG, 0, 3, 3, 0};

    if (most == 0)
        return axis; /* there are no points */
    if (scale == PLOT_LOG2)
        return plot_make_axis_log2(least, most);
    if (scale == PLOT_LINEAR)
        return plot_make_axis_linear(most);
    axis.first = 3 * (int)floor(log10(least));
    axis.last  = 3 * (int)ceil(log10(most));
    if (axis.last == axis.first)
        axis.last += 3;
    if (most / least >= CLOSE)
        return axis;
    axis.step = 1;
    while (plot_mark(axis.first + 1) <= least)
        axis.first++;
    while (axis.last - 1 > axis.first && plot_mark(axis.last - 1) >= most)
        axis.last--;
    return axis;
}

static struct plot_frame plot_make_frame(const struct plot *plot, const struct plot_axes *axes)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;

    for (size_t c = 0; c < plot->curves; c++)
        for (size_t i = 0; i < plot->curve[c].points; i++) {
            x0 = fmin(x0, plot->curve[c].x[i]);
            x1 = fmax(x1, plot->curve[c].x[i]);
            y0 = fmin(y0, plot->curve[c].y[i]);
            y1 = fmax(y1, plot->curve[c].y[i]);
        }
    return (struct plot_frame){plot_make_axis(axes->x, x0, x1), plot_make_axis(axes->y, y0, y1)};
}

/* Returns the position of a value on an axis, from 0 to 1. */
static double plot_fraction(const struct plot_axis *axis, double value)
{
    double first = plot_axis_mark(axis, axis->first), last = plot_axis_mark(axis, axis->last);

    if (axis->scale == PLOT_LINEAR)
        return (value - first) / (last - first);
    return log(value / first) / log(last / first);
}

static double plot_x(const struct plot_frame *f, double value)
{
    return LEFT + plot_fraction(&f->x, value) * (WIDTH - LEFT - RIGHT);
}

static double plot_y(const struct plot_frame *f, double value)
{
    return HEIGHT - BOTTOM - plot_fraction(&f->y, value) * (HEIGHT - TOP - BOTTOM);
}

/* Prints 0.1, 1, 10, ..., 1 k, 1 M. */
static void plot_print_mark(FILE *to, double value)
{
    if (value >= 1e6)
        fprintf(to, "%g M", value / 1e6);
    else if (value >= 1e3)
        fprintf(to, "%g k", value / 1e3);
    else
        fprintf(to, "%g", value);
}

static void plot_draw_grid(FILE *to, const struct plot_frame *f)
{
    for (int i = f->x.first; i <= f->x.last; i += f->x.step) {
        double x = plot_x(f, plot_axis_mark(&f->x, i));
        fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>\n", x, TOP, x,
                HEIGHT - BOTTOM);
        fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='middle'>", x, HEIGHT - BOTTOM + 20);
        plot_print_mark(to, plot_axis_mark(&f->x, i));
        fprintf(to, "</text>\n");
    }
    for (int i = f->y.first; i <= f->y.last; i += f->y.step) {
        double y = plot_y(f, plot_axis_mark(&f->y, i));
        fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>\n", LEFT, y,
                WIDTH - RIGHT, y);
        fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='end'>", LEFT - 8, y + 4);
        plot_print_mark(to, plot_axis_mark(&f->y, i));
        fprintf(to, "</text>\n");
    }
}

/* Draws the line that divides the plot, if it is inside it. */
static void plot_draw_limit(FILE *to, const struct plot_frame *f, const struct plot_axes *axes)
{
    double x;

    if (axes->limit == 0 || axes->limit < plot_axis_mark(&f->x, f->x.first) ||
        axes->limit >= plot_axis_mark(&f->x, f->x.last))
        return;
    x = plot_x(f, axes->limit);
    fprintf(to,
            "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#888' stroke-dasharray='2 3'/>\n"
            "<text x='%.1f' y='%.1f' fill='#666'>%s</text>\n",
            x, TOP, x, HEIGHT - BOTTOM, x + 6, HEIGHT - BOTTOM - 8, axes->limit_name);
}

static void plot_draw_curve(FILE *to, const struct plot_frame *f, const struct plot_curve *c)
{
    fprintf(to, "<polyline fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' points='",
            c->colour, c->dash);
    for (size_t i = 0; i < c->points; i++)
        fprintf(to, "%.1f,%.1f ", plot_x(f, c->x[i]), plot_y(f, c->y[i]));
    fprintf(to, "'/>\n");
    for (size_t i = 0; i < c->points && c->points <= DOTTED; i++)
        fprintf(to, "<circle cx='%.1f' cy='%.1f' r='%g' fill='%s'/>\n", plot_x(f, c->x[i]),
                plot_y(f, c->y[i]), c->points == 1 ? 4.5 : 2.5, c->colour);
}

/* Draws the names from the top down, each at the last point of its curve or below the one before.
 */
static void plot_draw_names(FILE *to, const struct plot_frame *f, const struct plot *plot)
{
    double last     = TOP - SPACING;
    char   done[64] = {0};

    for (size_t n = 0; n < plot->curves && n < sizeof done; n++) {
        const struct plot_curve *next = NULL;
        double                   best = 0, y;

        for (size_t c = 0; c < plot->curves && c < sizeof done; c++) {
            const struct plot_curve *curve = &plot->curve[c];
            if (!done[c] && curve->points && (!next || curve->y[curve->points - 1] > best)) {
                next = curve;
                best = curve->y[curve->points - 1];
            }
        }
        if (!next)
            return;
        done[next - plot->curve] = 1;
        y                        = fmax(plot_y(f, best), last + SPACING);
        last                     = y;
        fprintf(to,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='2' "
                "stroke-dasharray='%s'/>\n<text x='%.1f' y='%.1f'>%s</text>\n",
                WIDTH - RIGHT + 8, y, WIDTH - RIGHT + 32, y, next->colour, next->dash,
                WIDTH - RIGHT + 38, y + 4, next->name);
    }
}

static void plot_draw(FILE *to, const struct plot *plot, const struct plot_axes *axes)
{
    struct plot_frame f = plot_make_frame(plot, axes);

    fprintf(to, "<text x='%g' y='28' font-size='16'>%s</text>\n", LEFT, plot->title);
    plot_draw_grid(to, &f);
    plot_draw_limit(to, &f, axes);
    fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, plot->x_axis);
    fprintf(to, "<text transform='translate(22 %.1f) rotate(-90)' text-anchor='middle'>%s</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, plot->y_axis);
    for (size_t c = 0; c < plot->curves; c++)
        plot_draw_curve(to, &f, &plot->curve[c]);
    plot_draw_names(to, &f, plot);
}

void plot_begin(FILE *to, double width, double height)
{
    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %g %g' width='%g' height='%g' "
            "font-family='sans-serif' font-size='12' fill='#222'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            width, height, width, height);
}

/* Returns the width of a picture: WIDTH, or more if a curve has a long name. */
static double plot_width(const struct plot *plots, size_t count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < plots[i].curves; c++)
            if (plots[i].curve[c].points && strlen(plots[i].curve[c].name) > most)
                most = strlen(plots[i].curve[c].name);
    return fmax(WIDTH, WIDTH - RIGHT + 38 + LETTER * (double)most);
}

/* Returns the number of points of all curves of a plot. */
static size_t plot_points(const struct plot *plot)
{
    size_t points = 0;

    for (size_t c = 0; c < plot->curves; c++)
        points += plot->curve[c].points;
    return points;
}

void plot_write_axes(const struct plot *plots, size_t count, const struct plot_axes *axes, FILE *to)
{
    size_t full = 0, drawn = 0;

    for (size_t i = 0; i < count; i++)
        full += plot_points(&plots[i]) ? 1 : 0;
    plot_begin(to, plot_width(plots, count), (double)(full ? full : count) * HEIGHT);
    for (size_t i = 0; i < count; i++) {
        if (full && !plot_points(&plots[i]))
            continue;
        fprintf(to, "<g transform='translate(0 %g)'>\n", (double)drawn++ * HEIGHT);
        plot_draw(to, &plots[i], axes);
        fprintf(to, "</g>\n");
    }
    fprintf(to, "</svg>\n");
}

void plot_write_all(const struct plot *plots, size_t count, FILE *to)
{
    plot_write_axes(plots, count, &(struct plot_axes){.x = PLOT_LOG, .y = PLOT_LOG}, to);
}

void plot_curve_add(struct plot_curve *curve, double x, double y)
{
    if (x == 0 || y == 0)
        return;
    ski_assert(curve->points < PLOT_POINTS);
    curve->x[curve->points]   = x;
    curve->y[curve->points++] = y;
}

void plot_write(const struct plot *plot, FILE *to)
{
    plot_write_all(plot, 1, to);
}
