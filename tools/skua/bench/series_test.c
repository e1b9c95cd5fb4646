/* SPDX-License-Identifier: Apache-2.0 */
/* series_test.c - a list of series makes the rows or the columns of a table, and the curves of a
 * plot. */
#include "series.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

static const struct series series_test_list[] = {
    {"ours", "skua", .colour = "red", .curve = "curve of ours"},
    {"mpich", .factor = 2, .colour = "blue"},
    {"/ mpich", "skua", .over = "mpich"},
    {.series = "openmpi", .colour = "green", .curve = "in the plot alone"},
    {0}};

static const size_t series_test_numbers[] = {1, 4};

static const struct series_set series_test_pes = {.list    = series_test_list,
                                                  .numbers = series_test_numbers,
                                                  .count   = 2,
                                                  .bytes   = 64,
                                                  .metric  = "step",
                                                  .factor  = 1000,
                                                  .title   = "Title",
                                                  .unit    = "ms",
                                                  .label   = "PEs"};

static void series_test_add(struct results *results, const char *series, const char *metric,
                            size_t bytes, double value)
{
    struct result result = {.bytes = bytes, .value = value};

    snprintf(result.series, sizeof result.series, "%s", series);
    snprintf(result.metric, sizeof result.metric, "%s", metric);
    results_add(results, &result);
}

/* Writes what @p print prints to @p text. */
static void series_test_read(void (*print)(const struct series_set *, const struct results *),
                             const struct series_set *set, const struct results *results,
                             char text[1024])
{
    FILE *file  = tmpfile();
    int   saved = dup(STDOUT_FILENO);

    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    print(set, results);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, 1023, file)] = '\0';
    fclose(file);
}

static void series_test_tables(const struct results *results)
{
    struct series_set sizes = series_test_pes;
    char              text[1024];

    series_test_read(series_print_table, &series_test_pes, results, text);
    OK(strstr(text, "Title: ms\nPEs ") && strstr(text, "        1        4\nours "), "a heading");
    OK(strstr(text, "     2.00    0.500\nmpich "), "a row of times on several PEs");
    OK(strstr(text, "   0.0200        -\n"), "a factor of its own, and what was not measured");
    OK(!strstr(text, "plot alone"), "a series without a name is not in the table");
    sizes.bytes = 0;
    sizes.over  = "floor";
    sizes.shown = 1;
    series_test_read(series_print_columns, &sizes, results, text);
    OK(strstr(text, "Title, ms\n      PEs ") && strstr(text, " ours\n        1 "), "a column");
    OK(strstr(text, " 10.0\n        4 ") && !strstr(text, "mpich"), "of ratios, and no others");
}

static void series_test_plot(const struct results *results)
{
    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *to    = open_memstream(&text, &bytes);

    series_plot(&series_test_pes, results, to);
    fclose(to);
    OK(strstr(text, "curve of ours") && strstr(text, ">mpich<"), "curves have names");
    OK(strstr(text, "in the plot alone"), "a series without a name is in the plot");
    OK(!strstr(text, "/ mpich"), "one without a colour is not");
    free(text);
}

int main(void)
{
    struct results results = {0};

    series_test_add(&results, "skua", "step-1pe", 64, 0.002);
    series_test_add(&results, "skua", "step-4pe", 64, 0.0005);
    series_test_add(&results, "mpich", "step-1pe", 64, 0.01);
    series_test_add(&results, "openmpi", "step-1pe", 64, 3);
    series_test_add(&results, "skua", "step", 1, 0.05);
    series_test_add(&results, "floor", "step", 1, 5);
    series_test_tables(&results);
    series_test_plot(&results);
    results_free(&results);
    return tap_end();
}
