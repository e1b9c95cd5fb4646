/* SPDX-License-Identifier: Apache-2.0 */
/* results.c - see results.h. */
#include "results.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/* Returns the median of a result's runs; of an even number, the mean of the middle two. */
static double results_median(const struct results_runs *runs)
{
    return (runs->value[(runs->count - 1) / 2] + runs->value[runs->count / 2]) / 2;
}

/* Returns the value of @p r, which is in the list. */
static double results_value(const struct results *results, const struct result *r)
{
    return results->median ? results_median(&results->runs[r - results->list]) : r->value;
}

/* Adds the value of a run. */
static void results_add_run(struct results_runs *runs, double value)
{
    size_t at = runs->count;

    runs->value = ski_grow(runs->value, runs->count, &runs->room, sizeof *runs->value);
    for (; at > 0 && runs->value[at - 1] > value; at--)
        runs->value[at] = runs->value[at - 1];
    runs->value[at] = value;
    runs->count++;
}

static struct result *results_find(const struct results *results, const char *series, size_t bytes,
                                   const char *metric)
{
    for (size_t i = 0; i < results->count; i++) {
        struct result *r = &results->list[i];
        if (r->bytes == bytes && strcmp(r->series, series) == 0 && strcmp(r->metric, metric) == 0)
            return r;
    }
    return NULL;
}

bool results_more_is_better(const char *metric)
{
    const char *unit  = strrchr(metric, '_');
    size_t      bytes = unit ? strcspn(unit, "-") : 0; /* without the number of PEs */

    return strncmp(metric, "rate", 4) == 0 || strncmp(metric, "eff", 3) == 0 ||
           (bytes == 4 && strncmp(unit, "_gbs", bytes) == 0) ||
           (bytes == 6 && strncmp(unit, "_GBps", bytes) == 0);
}

void results_add(struct results *results, const struct result *result)
{
    struct result *known = results_find(results, result->series, result->bytes, result->metric);

    if (known) {
        results_add_run(&results->runs[known - results->list], result->value);
        if (results_more_is_better(result->metric) ? result->value > known->value
                                                   : result->value < known->value)
            known->value = result->value;
        return;
    }
    if (results->count == results->room) {
        results->room = results->room ? 2 * results->room : 64;
        results->list = ski_realloc(results->list, results->room * sizeof *results->list);
        results->runs = ski_realloc(results->runs, results->room * sizeof *results->runs);
    }
    results->runs[results->count] = (struct results_runs){0};
    results_add_run(&results->runs[results->count], result->value);
    results->list[results->count++] = *result;
}

/* Returns the number of PEs that a metric ends with, or 0, and the length of what is before it. */
static int results_pes_of(const char *metric, int *length)
{
    const char *dash = strrchr(metric, '-');
    int         pes = 0, end = 0;

    if (dash && sscanf(dash, "-%dpe%n", &pes, &end) == 1 && end > 0 && dash[end] == '\0') {
        *length = (int)(dash - metric);
        return pes;
    }
    *length = (int)strlen(metric);
    return 0;
}

void results_add_measured(struct results *results, const struct result *result)
{
    struct result measured = *result;
    int           length;

    if (results->pes > 2 && results_pes_of(result->metric, &length) == 0)
        snprintf(measured.metric, sizeof measured.metric, "%.31s-%dpe", result->metric,
                 results->pes);
    results_add(results, &measured);
}

void results_select(const struct results *results, int pes, struct results *found)
{
    *found = (struct results){.host = results->host, .median = results->median, .pes = pes};
    for (size_t i = 0; i < results->count; i++) {
        struct result result = results->list[i];
        int           length, of = results_pes_of(result.metric, &length);

        if (of != pes && !(of == 0 && pes == 2))
            continue;
        result.metric[length] = '\0';
        for (size_t run = 0; run < results->runs[i].count; run++) {
            result.value = results->runs[i].value[run];
            results_add(found, &result);
        }
    }
}

bool results_read(struct results *results, const char *line)
{
    struct result r;

    if (sscanf(line,
               "{\"bench\":\"%31[^\"]\",\"series\":\"%47[^\"]\",\"bytes\":%zu,"
               "\"metric\":\"%31[^\"]\",\"value\":%lf}",
               r.bench, r.series, &r.bytes, r.metric, &r.value) != 5)
        return false;
    results_add(results, &r);
    return true;
}

/* A result in a line of JSON, in which spaces are allowed, and in a line of CSV.  Each %n is behind
 * a field: the next one begins there. */
#define RESULTS_JSON                                                                               \
    " { \"bench\" : \"%31[^\"]\" ,%n \"series\" : \"%47[^\"]\" ,%n \"bytes\" : %zu ,%n"            \
    " \"metric\" : \"%31[^\"]\" ,%n \"value\" : %lf }%n"
#define RESULTS_CSV "%31[^,\"{],%n%47[^,\"],%n%zu,%n%31[^,\"],%n%lf%n"

bool results_parse(const char *line, struct result *result, size_t *column)
{
    struct result r      = {.bytes = 0};
    int           end[5] = {0}, field = 0;

    if (line[strspn(line, " \t")] == '{')
        sscanf(line, RESULTS_JSON, r.bench, &end[0], r.series, &end[1], &r.bytes, &end[2], r.metric,
               &end[3], &r.value, &end[4]);
    else
        sscanf(line, RESULTS_CSV, r.bench, &end[0], r.series, &end[1], &r.bytes, &end[2], r.metric,
               &end[3], &r.value, &end[4]);
    while (field < 5 && end[field] > 0)
        field++;
    *column = (size_t)(field > 0 ? end[field - 1] : 0) + 1;
    if (field < 5 || !isfinite(r.value) || r.bytes > PTRDIFF_MAX ||
        line[end[4] + (int)strspn(line + end[4], " \t\r\n")] != '\0')
        return false;
    *result = r;
    return true;
}

double results_get(const struct results *results, const char *series, size_t bytes,
                   const char *metric)
{
    const struct result *r = results_find(results, series, bytes, metric);
    return r ? results_value(results, r) : 0;
}

double results_get_series(const struct results *results, size_t bytes, const char *metric,
                          const char *format, ...)
{
    char    series[64];
    va_list list;

    va_start(list, format);
    vsnprintf(series, sizeof series, format, list);
    va_end(list);
    return results_get(results, series, bytes, metric);
}

double results_get_metric(const struct results *results, const char *series, size_t bytes,
                          const char *format, ...)
{
    char    metric[64];
    va_list list;

    va_start(list, format);
    vsnprintf(metric, sizeof metric, format, list);
    va_end(list);
    return results_get(results, series, bytes, metric);
}

double results_get_best(const struct results *results, const char *series, size_t bytes,
                        const char *metric)
{
    const struct result *r = results_find(results, series, bytes, metric);
    return r ? r->value : 0;
}

double results_break_even(const struct results *results, const char *series, const char *metric,
                          const char *than, const size_t *sizes, size_t count)
{
    double from     = INFINITY;
    bool   measured = false;

    while (count-- > 0) {
        double one   = results_get(results, series, sizes[count], metric);
        double other = results_get(results, series, sizes[count], than);

        measured |= one > 0;
        if (!measured)
            continue;
        if (one == 0 || one >= other)
            break;
        from = (double)sizes[count];
    }
    return measured ? from : 0;
}

void results_print_json(const struct results *results, FILE *to)
{
    for (const struct result *r = results->list; r < results->list + results->count; r++)
        fprintf(to,
                "{\"bench\":\"%s\",\"series\":\"%s\",\"bytes\":%zu,\"metric\":\"%s\","
                "\"value\":%.6g}\n",
                r->bench, r->series, r->bytes, r->metric, results_value(results, r));
}

void results_print_csv(const struct results *results, FILE *to)
{
    fprintf(to, RESULTS_COLUMNS "\n");
    for (const struct result *r = results->list; r < results->list + results->count; r++)
        fprintf(to, "%s,%s,%zu,%s,%.6g\n", r->bench, r->series, r->bytes, r->metric,
                results_value(results, r));
}

void results_free(struct results *results)
{
    for (size_t i = 0; i < results->count; i++)
        free(results->runs[i].value);
    free(results->runs);
    free(results->list);
}
