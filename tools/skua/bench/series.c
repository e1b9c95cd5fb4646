/* SPDX-License-Identifier: Apache-2.0 */
/* series.c - see series.h. */
#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define SERIES_CURVES 16 /* of a plot, at most */
#define SERIES_LABEL  32 /* width of the names of rows, and of their values */
#define SERIES_VALUE  9
#define SERIES_COLUMN 14  /* width of a column, at least */
#define SERIES_TITLE  160 /* bytes of the title of a plot */

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

/* Returns whether to print a column: of two PEs all of them, of more those that were measured. */
static bool series_has_column(const struct series_set *set, const struct results *results,
                              const struct series *s)
{
    bool has = results->pes <= 2;

    for (size_t i = 0; i < set->count; i++)
        has = has || series_value(set, results, s, set->numbers[i]) > 0;
    return has;
}

void series_print_columns(const struct series_set *set, const struct results *results)
{
    printf("%s, %s\n%*s", set->title, set->unit, SERIES_VALUE, set->label);
    for (const struct series *s = set->list; s < series_end(set); s++)
        if (series_has_column(set, results, s))
            printf("  %*s", SERIES_COLUMN, s->name);
    for (size_t i = 0; i < set->count; i++) {
        printf("\n%*zu", SERIES_VALUE, set->numbers[i]);
        for (const struct series *s = set->list; s < series_end(set); s++) {
            int name = (int)strlen(s->name);

            if (!series_has_column(set, results, s))
                continue;
            bench_print_value(series_value(set, results, s, set->numbers[i]),
                              2 + (name > SERIES_COLUMN ? name : SERIES_COLUMN));
        }
    }
    printf("\n");
}

/* Adds the curves of a list to its plot. */
static void series_draw(struct plot *plot, const struct series_set *set,
                        const struct results *results)
{
    for (const struct series *s = set->list; s < series_end(set); s++) {
        struct plot_curve *one = &plot->curve[plot->curves];

        if (!s->colour)
            continue;
        *one = (struct plot_curve){
            s->curve ? s->curve : s->name, s->colour, s->dash ? s->dash : "", 0, {0}, {0}};
        for (size_t i = 0; i < set->count; i++)
            plot_curve_add(one, set->x ? set->x[i] : (double)set->numbers[i],
                           series_value(set, results, s, set->numbers[i]));
        plot->curves++;
    }
}

void series_plot(const struct series_set *set, const struct results *results, FILE *to)
{
    static struct plot_curve curve[BENCH_PES_MAX][SERIES_CURVES];
    static char              title[BENCH_PES_MAX][SERIES_TITLE];
    static const int         two[] = {2, 0};
    const int               *pes   = results->host ? results->host->pes : two;
    struct plot              plots[BENCH_PES_MAX];
    size_t                   count = 0;

    for (; pes[count]; count++) {
        struct results on    = {0};
        const char    *what  = set->plot_title ? set->plot_title : set->title;
        struct plot   *plot  = &plots[count];
        bool           other = pes[count] != 2;

        bench_title(title[count], SERIES_TITLE, pes[count], what);
        *plot = (struct plot){title[count], set->label, set->plot_unit ? set->plot_unit : set->unit,
                              curve[count], 0};
        if (other)
            results_select(results, pes[count], &on);
        series_draw(plot, set, other ? &on : results);
        results_free(&on);
    }
    plot_write_axes(plots, count, &(struct plot_axes){.x = set->x_scale, .y = set->y_scale}, to);
}
