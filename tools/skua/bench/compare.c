/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c - see compare.h.
 *
 * Both lists are sorted by the names of results, so the rows are found by merging them.  The change
 * of a row is the factor by which it became worse: new / old of a time, old / new of a rate.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A result of both files. */
struct compare_row {
    const struct result *old, *new;
    double               ratio;  /* new / old, or 0 if a value is 0: not measured      */
    double               change; /* more than 1: it became worse; 0 if there is no ratio */
};

/* ---- reading ------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct result *one = a, *other = b;
    int                  order = strcmp(one->bench, other->bench);

    order = order ? order : strcmp(one->metric, other->metric);
    order = order ? order : (one->bytes > other->bytes) - (one->bytes < other->bytes);
    return order ? order : strcmp(one->series, other->series);
}

static void compare_add(struct compare_list *list, const struct result *result)
{
    list->result = ski_grow(list->result, list->count, &list->room, sizeof *list->result);
    list->result[list->count++] = *result;
}

/* Sorts the results.  Of those of equal names the best one stays. */
static void compare_sort(struct compare_list *list)
{
    size_t kept = 0;

    qsort(list->result, list->count, sizeof *list->result, compare_names);
    for (size_t i = 1; i < list->count; i++) {
        struct result       *last = &list->result[kept];
        const struct result *next = &list->result[i];

        if (compare_names(last, next) != 0)
            list->result[++kept] = *next;
        else if (results_more_is_better(next->metric) ? next->value > last->value
                                                      : next->value < last->value)
            last->value = next->value;
    }
    list->count = kept + 1;
}

/* Reads the line of that number.  A file may have empty lines and, where it is CSV, the names of
 * the columns before each run. */
static bool compare_read_line(struct compare_list *list, const char *line, size_t number,
                              const char *name, FILE *errors)
{
    struct result result;
    size_t        column;

    if (line[strspn(line, " \t\r\n")] == '\0' ||
        strncmp(line, RESULTS_COLUMNS, strlen(RESULTS_COLUMNS)) == 0)
        return true;
    if (!results_parse(line, &result, &column)) {
        fprintf(errors,
                "skua bench: %s: line %zu, column %zu: not a result (expected the output of skua "
                "bench --format=json, or a file bench-NAME.csv)\n",
                name, number, column);
        return false;
    }
    compare_add(list, &result);
    return true;
}

bool compare_read(struct compare_list *list, FILE *from, const char *name, FILE *errors)
{
    char  *line  = NULL;
    size_t room  = 0;
    bool   valid = true;
    int    error;

    *list = (struct compare_list){0};
    for (size_t number = 1; valid && getline(&line, &room, from) >= 0; number++)
        valid = compare_read_line(list, line, number, name, errors);
    error = ferror(from) ? errno : 0;
    free(line);
    if (valid && (error || list->count == 0)) {
        fprintf(errors, "skua bench: %s: %s\n", name, error ? strerror(error) : "has no results");
        valid = false;
    }
    if (valid)
        compare_sort(list);
    else
        compare_free(list);
    return valid;
}

void compare_free(struct compare_list *list)
{
    free(list->result);
    *list = (struct compare_list){0};
}

/* ---- rows ---------------------------------------------------------------------------------- */

static struct compare_row compare_make_row(const struct result *old, const struct result *new)
{
    struct compare_row row = {.old = old, .new = new};

    if (old->value > 0 && new->value > 0) {
        row.ratio  = new->value / old->value;
        row.change = results_more_is_better(old->metric) ? 1 / row.ratio : row.ratio;
    }
    return row;
}

/* Orders rows from the largest worsening to the largest improvement, then those without a ratio;
 * equal ones by their names. */
static int compare_changes(const void *a, const void *b)
{
    const struct compare_row *one = a, *other = b;

    if (one->change != other->change)
        return one->change < other->change ? 1 : -1;
    return compare_names(one->old, other->old);
}

/* Joins the lists.  Returns the number of rows, which are allocated; the results that are in one
 * list only are added to @p only. */
static size_t compare_join(const struct compare_list *old, const struct compare_list *new,
                           struct compare_row **rows, struct compare_list only[2])
{
    size_t count = 0, i = 0, k = 0;

    *rows = ski_calloc(old->count + 1, sizeof **rows);
    while (i < old->count || k < new->count) {
        int order = i == old->count   ? 1
                    : k == new->count ? -1
                                      : compare_names(&old->result[i], &new->result[k]);

        if (order < 0)
            compare_add(&only[0], &old->result[i++]);
        else if (order > 0)
            compare_add(&only[1], &new->result[k++]);
        else
            (*rows)[count++] = compare_make_row(&old->result[i++], &new->result[k++]);
    }
    qsort(*rows, count, sizeof **rows, compare_changes);
    return count;
}

/* ---- printing ------------------------------------------------------------------------------ */

/* The widths of the columns of names. */
struct compare_widths {
    int bench, series, metric;
};

static int compare_wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void compare_widen(struct compare_widths *widths, const struct compare_list *list)
{
    for (const struct result *r = list->result; r < list->result + list->count; r++) {
        widths->bench  = compare_wider(widths->bench, r->bench);
        widths->series = compare_wider(widths->series, r->series);
        widths->metric = compare_wider(widths->metric, r->metric);
    }
}

static void compare_print_names(const struct compare_widths *widths, const struct result *r,
                                FILE *to)
{
    fprintf(to, "%-*s  %-*s  %10zu  %-*s", widths->bench, r->bench, widths->series, r->series,
            r->bytes, widths->metric, r->metric);
}

/* Returns 1 if a row became worse by more than the threshold, -1 if it became better. */
static int compare_verdict(const struct compare_row *row, double threshold)
{
    double most = 1 + threshold / 100;

    if (row->change == 0)
        return 0;
    return (row->change > most) - (row->change < 1 / most);
}

static void compare_print_row(const struct compare_widths *widths, const struct compare_row *row,
                              double threshold, FILE *to)
{
    static const char *const verdicts[] = {"  better", "", "  worse"};

    compare_print_names(widths, row->old, to);
    fprintf(to, "%12.6g%12.6g", row->old->value, row->new->value);
    if (row->change == 0)
        fprintf(to, "%10s\n", "-");
    else
        fprintf(to, "%10.3f%s\n", row->ratio, verdicts[compare_verdict(row, threshold) + 1]);
}

/* Prints the geometric mean of the ratios of times, or of rates. */
static void compare_print_mean(const struct compare_row *rows, size_t count, bool more, FILE *to)
{
    double sum = 0;
    size_t n   = 0;

    for (size_t i = 0; i < count; i++)
        if (rows[i].change > 0 && results_more_is_better(rows[i].old->metric) == more) {
            sum += log(rows[i].ratio);
            n++;
        }
    if (n > 0)
        fprintf(to, "Geometric mean of new / old, %zu result%s where %s is better: %.3f\n", n,
                n == 1 ? "" : "s", more ? "more" : "less", exp(sum / (double)n));
}

static void compare_print_summary(const struct compare_row *rows, size_t count, double threshold,
                                  FILE *to)
{
    size_t worse = 0, better = 0;

    for (size_t i = 0; i < count; i++) {
        worse += compare_verdict(&rows[i], threshold) > 0;
        better += compare_verdict(&rows[i], threshold) < 0;
    }
    compare_print_mean(rows, count, false, to);
    compare_print_mean(rows, count, true, to);
    fprintf(to,
            "Of %zu result%s in both files, %zu became worse and %zu better by more than %g %%.\n",
            count, count == 1 ? "" : "s", worse, better, threshold);
}

static void compare_print_only(const struct compare_widths *widths, const struct compare_list *list,
                               const char *file, FILE *to)
{
    if (list->count > 0)
        fprintf(to, "\nOnly in the %s file: %zu result%s\n", file, list->count,
                list->count == 1 ? "" : "s");
    for (size_t i = 0; i < list->count; i++) {
        compare_print_names(widths, &list->result[i], to);
        fprintf(to, "%12.6g\n", list->result[i].value);
    }
}

void compare_print(const struct compare_list *old, const struct compare_list *new, double threshold,
                   FILE *to)
{
    struct compare_widths widths  = {5, 6, 6}; /* of the titles */
    struct compare_list   only[2] = {{0}};
    struct compare_row   *rows;
    size_t                count = compare_join(old, new, &rows, only);

    compare_widen(&widths, old);
    compare_widen(&widths, new);
    if (count > 0)
        fprintf(to, "%-*s  %-*s  %10s  %-*s%12s%12s%10s\n", widths.bench, "bench", widths.series,
                "series", "bytes", widths.metric, "metric", "old", "new", "new / old");
    for (size_t i = 0; i < count; i++)
        compare_print_row(&widths, &rows[i], threshold, to);
    compare_print_summary(rows, count, threshold, to);
    compare_print_only(&widths, &only[0], "old", to);
    compare_print_only(&widths, &only[1], "new", to);
    compare_free(&only[0]);
    compare_free(&only[1]);
    free(rows);
}

/* Reads a file, or prints why it cannot. */
static bool compare_open(struct compare_list *list, const char *name)
{
    FILE *from = fopen(name, "r");
    bool  valid;

    *list = (struct compare_list){0};
    if (!from) {
        fprintf(stderr, "skua bench: %s: %s\n", name, strerror(errno));
        return false;
    }
    valid = compare_read(list, from, name, stderr);
    fclose(from);
    return valid;
}

int compare_files(const char *old, const char *new, double threshold)
{
    struct compare_list lists[2];
    bool                valid = compare_open(&lists[0], old);

    valid = compare_open(&lists[1], new) && valid;
    if (valid)
        compare_print(&lists[0], &lists[1], threshold, stdout);
    compare_free(&lists[0]);
    compare_free(&lists[1]);
    return valid ? 0 : 1;
}
