/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot.c - see plot.h.
 *
 * The frame reaches from mark to mark: powers of ten, or, where values are close
 * together, 1, 2, 5, 10 and so on.  The names stand to the right of the curves' ends,
 * moved apart so that they do not overlap.
 */
#include "plot.h"

#include <math.h>

#define WIDTH   900.0
#define HEIGHT  560.0
#define LEFT    80.0
#define RIGHT   170.0 /* room for names */
#define TOP     50.0
#define BOTTOM  60.0
#define SPACING 16.0 /* of names */

#define CLOSE 50.0 /* the largest value over the smallest */

/* An axis, by the numbers of its marks. */
struct axis {
    int first, last, step;
};

struct frame {
    struct axis x, y;
};

/* ... 0: 1, 1: 2, 2: 5, 3: 10 ... */
static double mark(int i)
{
    static const double of_three[] = {1, 2, 5};
    int                 power      = (int)floor(i / 3.0);

    return of_three[i - 3 * power] * pow(10, power);
}

static struct axis axis_of(double least, double most)
{
    struct axis axis = {0, 3, 3};

    if (most == 0)
        return axis; /* of no points */
    axis.first = 3 * (int)floor(log10(least));
    axis.last  = 3 * (int)ceil(log10(most));
    if (axis.last == axis.first)
        axis.last += 3;
    if (most / least >= CLOSE)
        return axis;
    axis.step = 1;
    while (mark(axis.first + 1) <= least)
        axis.first++;
    while (axis.last - 1 > axis.first && mark(axis.last - 1) >= most)
        axis.last--;
    return axis;
}

static struct frame frame_of(const struct plot *plot)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;

    for (size_t c = 0; c < plot->curves; c++)
        for (size_t i = 0; i < plot->curve[c].points; i++) {
            x0 = fmin(x0, plot->curve[c].x[i]);
            x1 = fmax(x1, plot->curve[c].x[i]);
            y0 = fmin(y0, plot->curve[c].y[i]);
            y1 = fmax(y1, plot->curve[c].y[i]);
        }
    return (struct frame){axis_of(x0, x1), axis_of(y0, y1)};
}

/* How far along an axis, from 0 to 1. */
static double along(const struct axis *axis, double value)
{
    return log(value / mark(axis->first)) / log(mark(axis->last) / mark(axis->first));
}

static double at_x(const struct frame *f, double value)
{
    return LEFT + along(&f->x, value) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct frame *f, double value)
{
    return HEIGHT - BOTTOM - along(&f->y, value) * (HEIGHT - TOP - BOTTOM);
}

/* 0.1, 1, 10, ..., 1 k, 1 M */
static void print_mark(FILE *to, double value)
{
    if (value >= 1e6)
        fprintf(to, "%g M", value / 1e6);
    else if (value >= 1e3)
        fprintf(to, "%g k", value / 1e3);
    else
        fprintf(to, "%g", value);
}

static void draw_grid(FILE *to, const struct frame *f)
{
    for (int i = f->x.first; i <= f->x.last; i += f->x.step) {
        double x = at_x(f, mark(i));
        fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>\n", x, TOP, x,
                HEIGHT - BOTTOM);
        fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='middle'>", x, HEIGHT - BOTTOM + 20);
        print_mark(to, mark(i));
        fprintf(to, "</text>\n");
    }
    for (int i = f->y.first; i <= f->y.last; i += f->y.step) {
        double y = at_y(f, mark(i));
        fprintf(to, "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#ddd'/>\n", LEFT, y,
                WIDTH - RIGHT, y);
        fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='end'>", LEFT - 8, y + 4);
        print_mark(to, mark(i));
        fprintf(to, "</text>\n");
    }
}

static void draw_curve(FILE *to, const struct frame *f, const struct curve *c)
{
    fprintf(to, "<polyline fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' points='",
            c->colour, c->dash);
    for (size_t i = 0; i < c->points; i++)
        fprintf(to, "%.1f,%.1f ", at_x(f, c->x[i]), at_y(f, c->y[i]));
    fprintf(to, "'/>\n");
    for (size_t i = 0; i < c->points; i++)
        fprintf(to, "<circle cx='%.1f' cy='%.1f' r='%g' fill='%s'/>\n", at_x(f, c->x[i]),
                at_y(f, c->y[i]), c->points == 1 ? 4.5 : 2.5, c->colour);
}

/* Names from the top down, each at its curve's end or below the one before. */
static void draw_names(FILE *to, const struct frame *f, const struct plot *plot)
{
    double last     = TOP - SPACING;
    char   done[64] = {0};

    for (size_t n = 0; n < plot->curves && n < sizeof done; n++) {
        const struct curve *next = NULL;
        double              best = 0, y;

        for (size_t c = 0; c < plot->curves && c < sizeof done; c++) {
            const struct curve *curve = &plot->curve[c];
            if (!done[c] && curve->points && (!next || curve->y[curve->points - 1] > best)) {
                next = curve;
                best = curve->y[curve->points - 1];
            }
        }
        if (!next)
            return;
        done[next - plot->curve] = 1;
        y                        = fmax(at_y(f, best), last + SPACING);
        last                     = y;
        fprintf(to,
                "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' stroke-width='2' "
                "stroke-dasharray='%s'/>\n<text x='%.1f' y='%.1f'>%s</text>\n",
                WIDTH - RIGHT + 8, y, WIDTH - RIGHT + 32, y, next->colour, next->dash,
                WIDTH - RIGHT + 38, y + 4, next->name);
    }
}

static void draw_plot(FILE *to, const struct plot *plot)
{
    struct frame f = frame_of(plot);

    fprintf(to, "<text x='%g' y='28' font-size='16'>%s</text>\n", LEFT, plot->title);
    draw_grid(to, &f);
    fprintf(to, "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 16, plot->x_axis);
    fprintf(to, "<text transform='translate(22 %.1f) rotate(-90)' text-anchor='middle'>%s</text>\n",
            (TOP + HEIGHT - BOTTOM) / 2, plot->y_axis);
    for (size_t c = 0; c < plot->curves; c++)
        draw_curve(to, &f, &plot->curve[c]);
    draw_names(to, &f, plot);
}

void plot_write_all(const struct plot *plots, size_t count, FILE *to)
{
    double height = (double)count * HEIGHT;

    fprintf(to,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %g %g' width='%g' height='%g' "
            "font-family='sans-serif' font-size='12' fill='#222'>\n"
            "<rect width='100%%' height='100%%' fill='white'/>\n",
            WIDTH, height, WIDTH, height);
    for (size_t i = 0; i < count; i++) {
        fprintf(to, "<g transform='translate(0 %g)'>\n", (double)i * HEIGHT);
        draw_plot(to, &plots[i]);
        fprintf(to, "</g>\n");
    }
    fprintf(to, "</svg>\n");
}

void curve_add(struct curve *curve, double x, double y)
{
    if (x == 0 || y == 0)
        return;
    curve->x[curve->points]   = x;
    curve->y[curve->points++] = y;
}

void plot_write(const struct plot *plot, FILE *to)
{
    plot_write_all(plot, 1, to);
}
