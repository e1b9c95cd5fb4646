/* SPDX-License-Identifier: Apache-2.0 */
/* panel.c - see panel.h. */
#include "panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense.h"
#include "kernels.h"

bool panel_create(struct panel *p, int width, int64_t rows)
{
    size_t side = (size_t)width, tall = (size_t)(rows > 0 ? rows : 1);

    p->width   = width;
    p->kernels = kernels_usable()[0];
    p->number  = malloc(tall * sizeof *p->number);
    p->strip   = aligned_alloc(64, tall * PANEL_STRIP * sizeof *p->strip);
    p->top     = malloc(side * side * sizeof *p->top);
    p->offer   = malloc((size_t)panel_offer_count(width) * sizeof *p->offer);
    p->pivot   = malloc(side * sizeof *p->pivot);
    return p->number && p->strip && p->top && p->offer && p->pivot;
}

void panel_destroy(struct panel *p)
{
    free(p->number);
    free(p->strip);
    free(p->top);
    free(p->offer);
    free(p->pivot);
}

static int panel_least(int a, int b)
{
    return a < b ? a : b;
}

static int panel_strip_width(const struct panel *p)
{
    return panel_least(PANEL_STRIP, p->width - p->begin);
}

/* Returns the address of numbers of `top`. */
static size_t panel_at(const struct panel *p, int64_t row, int column)
{
    return (size_t)row * (size_t)p->width + (size_t)column;
}

/* Returns a number of a row of this PE. */
static double *panel_own(const struct panel *p, int64_t row, int column)
{
    return p->row + row * p->pitch + column;
}

void panel_solve_lower(int64_t n, int64_t width, const double *l, int64_t ll, double *b, int64_t lb)
{
    const struct lu_kernels *kernels = kernels_usable()[0];

    for (int64_t at = 0, rows; at < n; at += rows) {
        const double *triangle = l + at * ll + at;

        rows = n - at < KERNEL_ROWS_MAX ? n - at : KERNEL_ROWS_MAX;
        (kernels->solve ? kernels->solve : dense_solve_lower)(rows, width, triangle, ll,
                                                              b + at * lb, lb);
        if (at + rows < n)
            dense_update(n - at - rows, width, rows, triangle + rows * ll, ll, b + at * lb, lb,
                         b + (at + rows) * lb, lb);
    }
}

/* ---- delayed updates ---------------------------------------------------------------------- */

/* Updates the next columns by the last ones; the number of complete columns determines how many. */
static void panel_update(struct panel *p)
{
    int     end = p->column, from = end & -end, to = panel_least(from, p->width - end);
    int64_t rows  = p->count - p->active;
    double *upper = p->top + panel_at(p, end - from, end);

    panel_solve_lower(from, to, p->top + panel_at(p, end - from, end - from), p->width, upper,
                      p->width);
    if (rows > 0)
        (from <= KERNEL_COLUMNS_MAX && p->kernels->update ? p->kernels->update : dense_update)(
            rows, to, from, panel_own(p, p->active, end - from), p->pitch, upper, p->width,
            panel_own(p, p->active, end), p->pitch);
}

/* Copies the numbers of a row in a strip; most strips have PANEL_STRIP of them. */
static inline void panel_copy_strip(double *to, const double *from, int width)
{
    if (width == PANEL_STRIP)
        memcpy(to, from, PANEL_STRIP * sizeof *to);
    else
        memcpy(to, from, (size_t)width * sizeof *to);
}

static void panel_load_strip(struct panel *p)
{
    int    width = panel_strip_width(p);
    double most  = -1;

    p->best = -1;
    for (int64_t r = p->active; r < p->count; r++) {
        double *strip = p->strip + r * PANEL_STRIP;

        panel_copy_strip(strip, panel_own(p, r, p->begin), width);
        if (fabs(strip[0]) > most) {
            most    = fabs(strip[0]);
            p->best = r;
        }
    }
}

static void panel_store_strip(struct panel *p)
{
    int width = panel_strip_width(p);

    for (int64_t r = p->active; r < p->count; r++)
        panel_copy_strip(panel_own(p, r, p->begin), p->strip + r * PANEL_STRIP, width);
}

/* ---- a column ----------------------------------------------------------------------------- */

void panel_begin(struct panel *p)
{
    p->column = p->begin = 0;
    p->active            = 0;
    panel_load_strip(p);
}

/* Copies a row of this PE; its part in the current strip is in the strip buffer. */
static void panel_read_row(const struct panel *p, int64_t r, double *to)
{
    memcpy(to, panel_own(p, r, 0), (size_t)p->width * sizeof *to);
    memcpy(to + p->begin, p->strip + r * PANEL_STRIP, (size_t)panel_strip_width(p) * sizeof *to);
}

static void panel_write_row(struct panel *p, int64_t r, const double *from)
{
    memcpy(panel_own(p, r, 0), from, (size_t)p->width * sizeof *from);
    memcpy(p->strip + r * PANEL_STRIP, from + p->begin,
           (size_t)panel_strip_width(p) * sizeof *from);
}

const double *panel_offer(struct panel *p)
{
    double *offer = p->offer;

    offer[PANEL_VALUE]        = 0;
    offer[PANEL_ROW]          = -1;
    offer[PANEL_HAS_DIAGONAL] = p->diagonal;
    if (p->best >= 0) {
        offer[PANEL_VALUE] = p->strip[p->best * PANEL_STRIP + p->column % PANEL_STRIP];
        offer[PANEL_ROW]   = (double)p->number[p->best];
        panel_read_row(p, p->best, offer + PANEL_ROWS);
    } else
        memset(offer + PANEL_ROWS, 0, (size_t)p->width * sizeof *offer);
    if (p->diagonal)
        panel_read_row(p, p->column, offer + PANEL_ROWS + p->width);
    else
        memset(offer + PANEL_ROWS + p->width, 0, (size_t)p->width * sizeof *offer);
    return offer;
}

/* Returns true if the first offer is the better one. */
static bool panel_is_better(const double *a, const double *b)
{
    double x = fabs(a[PANEL_VALUE]), y = fabs(b[PANEL_VALUE]);

    if (a[PANEL_ROW] < 0 || b[PANEL_ROW] < 0)
        return b[PANEL_ROW] < 0;
    return x > y || (x == y && a[PANEL_ROW] < b[PANEL_ROW]);
}

void panel_choose(double *into, const double *from, int width)
{
    size_t row = (size_t)width * sizeof *into;

    if (panel_is_better(from, into)) {
        into[PANEL_VALUE] = from[PANEL_VALUE];
        into[PANEL_ROW]   = from[PANEL_ROW];
        memcpy(into + PANEL_ROWS, from + PANEL_ROWS, row);
    }
    if (from[PANEL_HAS_DIAGONAL] != 0) {
        into[PANEL_HAS_DIAGONAL] = 1;
        memcpy(into + PANEL_ROWS + width, from + PANEL_ROWS + width, row);
    }
}

/* Eliminates column @p at of the current strip; the pivot row may have fewer numbers than that. */
static void panel_subtract(struct panel *p, const double *top, int at)
{
    double pivot[PANEL_STRIP] = {0};

    panel_copy_strip(pivot, top, panel_strip_width(p));
    p->best =
        p->kernels->subtract(p->strip + p->active * PANEL_STRIP, p->count - p->active, pivot, at);
    p->best += p->best < 0 ? 0 : p->active;
}

/* The diagonal row takes the place of the pivot row, if that is a row of this PE. */
static void panel_exchange(struct panel *p, const double *offer)
{
    int64_t row = (int64_t)offer[PANEL_ROW], r = p->best;

    memcpy(p->top + panel_at(p, p->column, 0), offer + PANEL_ROWS,
           (size_t)p->width * sizeof *p->top);
    p->pivot[p->column] = row;
    if (r >= 0 && p->number[r] == row)
        panel_write_row(p, r, offer + PANEL_ROWS + p->width);
}

/* Goes on to the next strip, or to the end of the panel. */
static void panel_next_strip(struct panel *p)
{
    panel_store_strip(p);
    if (p->column == p->width)
        return;
    panel_update(p);
    p->begin = p->column;
    panel_load_strip(p);
}

bool panel_eliminate(struct panel *p, const double *offer)
{
    int at = p->column - p->begin;

    if (offer[PANEL_VALUE] == 0)
        return false;
    panel_exchange(p, offer);
    p->active += p->diagonal;
    panel_subtract(p, p->top + panel_at(p, p->column, p->begin), at);
    if (++p->column == p->begin + panel_strip_width(p))
        panel_next_strip(p);
    return true;
}

void panel_end(struct panel *p)
{
    for (int r = 0; r < p->width && p->diagonal; r++)
        memcpy(panel_own(p, r, 0), p->top + panel_at(p, r, 0), (size_t)p->width * sizeof *p->top);
}
