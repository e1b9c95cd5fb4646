/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the table and the plot of a benchmark whose results are values of several series at
 * several numbers: sizes, or PEs.  A line in a list of series makes a row or a column of the table
 * and a curve of the plot.
 */
#ifndef SKUA_SERIES_H
#define SKUA_SERIES_H

#include "plot.h"
#include "results.h"

/** A list of these ends with one that has neither a name nor a series. */
struct series {
    const char *name;   /* in the table; NULL: it is in the plot alone  */
    const char *series; /* of the results; NULL: `name'                 */
    const char *metric; /* NULL: that of the set                        */
    const char *over;   /* a series that the value is divided by, or NULL: that of the set */
    double      factor; /* 0: that of the set                           */
    const char *colour; /* of SVG; NULL: it is not in the plot          */
    const char *dash;   /* of SVG; NULL: a solid line                   */
    const char *curve;  /* its name in the plot; NULL: `name'           */
};

struct series_set {
    const struct series *list;
    size_t               shown;   /* of the list; 0: all                                    */
    const size_t        *numbers; /* members `bytes' of the results, or PEs                 */
    size_t               count;   /* of numbers                                             */
    size_t               bytes;   /* not 0: of all results, and the metric ends with -PEpe  */
    const char          *metric, *suffix;      /* suffix: of each series, or NULL                */
    const char          *over;                 /* a series that values are divided by, or NULL   */
    double               factor;               /* from a value to what is shown; 0: 1            */
    const char          *title, *unit, *label; /* label: what the numbers are             */
    const char          *plot_title, *plot_unit; /* NULL: as in the table                   */
    const double        *x;                      /* in the plot; NULL: the numbers          */
    enum plot_scale      x_scale, y_scale;
};

/** Prints a row for each series, without and with a heading. */
void series_print_rows(const struct series_set *set, const struct results *results);
void series_print_table(const struct series_set *set, const struct results *results);

/** Prints a table with a column for each series: for results of more than two PEs, for those that
 * were measured. */
void series_print_columns(const struct series_set *set, const struct results *results);

/** Writes the plot as an SVG file: one for each number of PEs that the results are of. */
void series_plot(const struct series_set *set, const struct results *results, FILE *to);

#endif
