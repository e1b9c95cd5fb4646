/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - see series.h. */
#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SERIES_CURVES 16 /* of a plot, at most */
#define SERIES_LABEL  32 /* width of the names of rows, and of their values */
#define SERIES_VALUE  9
#define SERIES_COLUMN 14 /* width of a column, at least */

/* Returns the end of a list. */
static const struct series *series_end(const struct series_set *set)
{
    const struct series *end = set->list;

    while ((end->name || end->series) && (!set->shown || end < set->list + set->shown))
        end++;
    return end;
}

static double series_get(const struct series_set *set, const struct results *r,
                         const struct series *series, const char *name, size_t number)
{
    const char *metric = series->metric ? series->metric : set->metric;
    char        of[64], on[64];

    snprintf(of, sizeof of, "%s%s", name, set->suffix ? set->suffix : "");
    if (!set->bytes)
        return results_get(r, of, number, metric);
    snprintf(on, sizeof on, "%s-%zupe", metric, number);
    return results_get(r, of, set->bytes, on);
}

/* Returns a value as it is shown. */
static double series_value(const struct series_set *set, const struct results *r,
                           const struct series *s, size_t number)
{
    const char *over   = s->over ? s->over : set->over;
    double      factor = s->factor > 0 ? s->factor : set->factor > 0 ? set->factor : 1;
    double      value  = factor * series_get(set, r, s, s->series ? s->series : s->name, number);

    return over ? bench_ratio(value, series_get(set, r, s, over, number)) : value;
}

void series_print_rows(const struct series_set *set, const struct results *results)
{
    for (const struct series *s = set->list; s < series_end(set); s++) {
        if (!s->name)
            continue;
        printf("%-*s", SERIES_LABEL, s->name);
        for (size_t i = 0; i < set->count; i++)
            bench_print_value(series_value(set, results, s, set->numbers[i]), SERIES_VALUE);
        printf("\n");
    }
}

void series_print_table(const struct series_set *set, const struct results *results)
{
    printf("%s: %s\n%-*s", set->title, set->unit, SERIES_LABEL, set->label);
    for (size_t i = 0; i < set->count; i++)
        printf("%*zu", SERIES_VALUE, set->numbers[i]);
    printf("\n");
    series_print_rows(set, results);
}

void series_print_columns(const struct series_set *set, const struct results *results)
{
    printf("%s, %s\n%*s", set->title, set->unit, SERIES_VALUE, set->label);
    for (const struct series *s = set->list; s < series_end(set); s++)
        printf("  %*s", SERIES_COLUMN, s->name);
    for (size_t i = 0; i < set->count; i++) {
        printf("\n%*zu", SERIES_VALUE, set->numbers[i]);
        for (const struct series *s = set->list; s < series_end(set); s++) {
            int name = (int)strlen(s->name);

            bench_print_value(series_value(set, results, s, set->numbers[i]),
                              2 + (name > SERIES_COLUMN ? name : SERIES_COLUMN));
        }
    }
    printf("\n");
}

void series_plot(const struct series_set *set, const struct results *results, FILE *to)
{
    static struct plot_curve curve[SERIES_CURVES];
    struct plot              plot = {set->plot_title ? set->plot_title : set->title, set->label,
                        set->plot_unit ? set->plot_unit : set->unit, curve, 0};

    for (const struct series *s = set->list; s < series_end(set); s++) {
        struct plot_curve *one = &curve[plot.curves];

        if (!s->colour)
            continue;
        *one = (struct plot_curve){
            s->curve ? s->curve : s->name, s->colour, s->dash ? s->dash : "", 0, {0}, {0}};
        for (size_t i = 0; i < set->count; i++)
            plot_curve_add(one, set->x ? set->x[i] : (double)set->numbers[i],
                           series_value(set, results, s, set->numbers[i]));
        plot.curves++;
    }
    plot_write_axes(&plot, 1, &(struct plot_axes){.x = set->x_scale, .y = set->y_scale}, to);
}
