/* SPDX-License-Identifier: Apache-2.0 */
/* results_test.c - results: parsing, which of two is the better one, and what is printed. */
#include "results.h"

#include <stdlib.h>
#include <string.h>

#include "bench/bench_collectives.h"
#include "tests/tap.h"

#define LINE                                                                                       \
    "{\"bench\":\"messages\",\"series\":\"%s\",\"bytes\":%d,\"metric\":\"%s\",\"value\":%g}"

static bool results_test_read(struct results *results, const char *series, int bytes,
                              const char *metric, double value)
{
    char line[256];

    snprintf(line, sizeof line, LINE, series, bytes, metric, value);
    return results_read(results, line);
}

/* The times fall and the rates rise over the rounds; the best of each is kept. */
static void results_test_best(struct results *results)
{
    for (int i = 1; i <= 3; i++) {
        results_test_read(results, "skua", 8, "roundtrip_us", i);
        results_test_read(results, "skua", 8, "rate-2pe", i);
        results_test_read(results, "skua", 8, "put_gbs", i);
    }
    OK(results->count == 3, "results of one kind are one result");
    OK(results_get(results, "skua", 8, "roundtrip_us") == 1, "the smallest time is kept");
    OK(results_get(results, "skua", 8, "rate-2pe") == 3, "the largest rate is kept");
    OK(results_get(results, "skua", 8, "put_gbs") == 3, "the largest bandwidth is kept");
    OK(results_get(results, "skua", 9, "put_gbs") == 0, "what was not measured is 0");
    OK(results_get_series(results, 8, "rate-2pe", "%cku%s", 's', "a") == 3, "a series by parts");
    OK(results_get_metric(results, "skua", 8, "rate-%dpe", 2) == 3, "a metric by parts");
    OK(results_get(results, "openmpi", 8, "put_gbs") == 0, "also of another series");
}

/* A benchmark of two PEs on others. */
static void results_test_pes(void)
{
    struct results results = {.pes = 4}, four, two;
    struct result  time    = {.series = "skua", .bytes = 8, .metric = "get_us", .value = 3};
    struct result  step    = {.series = "app", .bytes = 8, .metric = "step-4pe", .value = 2};
    struct result  rate    = {.series = "skua", .bytes = 8, .metric = "get_gbs", .value = 1};

    results_add_measured(&results, &time);
    results_add_measured(&results, &step);
    results_add_measured(&results, &rate);
    time.value = 2;
    rate.value = 2;
    results_add_measured(&results, &time);
    results_add_measured(&results, &rate);
    OK(results_get(&results, "skua", 8, "get_us-4pe") == 2, "a metric of four PEs names them");
    OK(results_get(&results, "skua", 8, "get_gbs-4pe") == 2, "and a bandwidth is still one");
    OK(results_get(&results, "app", 8, "step-4pe") == 2, "once");
    results.pes = 2;
    results_add_measured(&results, &time);
    OK(results_get(&results, "skua", 8, "get_us") == 2, "one of two PEs does not");
    results_select(&results, 4, &four);
    results_select(&results, 2, &two);
    OK(four.count == 3 && results_get(&four, "app", 8, "step") == 2 && four.runs[0].count == 2,
       "the results of four PEs, with their runs");
    OK(two.count == 1 && results_get(&two, "skua", 8, "get_us") == 2, "and of two");
    results_free(&four);
    results_free(&two);
    results_free(&results);
}

static void results_test_median(void)
{
    static const double times[] = {5, 1, 9, 2};
    struct results      results = {.median = true};

    for (int i = 0; i < 3; i++)
        results_test_read(&results, "skua", 8, "scan_us", times[i]);
    OK(results_get(&results, "skua", 8, "scan_us") == 5, "the median of three runs");
    results_test_read(&results, "skua", 8, "scan_us", times[3]);
    OK(results_get(&results, "skua", 8, "scan_us") == 3.5, "of four, the mean of the middle two");
    OK(results_get_best(&results, "skua", 8, "scan_us") == 1, "the best run is known as well");
    OK(results_get_best(&results, "skua", 9, "scan_us") == 0, "unless there was none");
    results_free(&results);
}

/* Reports the entries of BENCH_ROWS that name no row.  Returns whether they are @p expected, the
 * number of which is @p count. */
static bool results_test_unknown(const char *rows, int count, const char *expected)
{
    static const struct collectives_kind kinds[] = {{"scan_us", 4096, NULL}, {NULL, 0, NULL}};
    const struct collectives             library = {.kinds = kinds};
    char                                *text    = NULL;
    size_t                               bytes;
    FILE                                *to = open_memstream(&text, &bytes);
    bool                                 ok;

    setenv("BENCH_ROWS", rows, 1);
    ok = collectives_report_unknown(&library, to) == count;
    fclose(to);
    ok = ok && strstr(text, expected);
    free(text);
    return ok;
}

/* BENCH_ROWS selects the rows of collectives, by metric alone or with a size. */
static void results_test_rows(void)
{
    setenv("BENCH_ROWS", "", 1);
    OK(collectives_wanted("scan_us", 64), "an empty list selects every row");
    setenv("BENCH_ROWS", "scan_us:64,barrier_us", 1);
    OK(collectives_wanted("scan_us", 64) && collectives_wanted("barrier_us", 0),
       "rows of a list are selected");
    OK(!collectives_wanted("scan_us", 8) && !collectives_wanted("scan_us", 4096) &&
           !collectives_wanted("scan", 64) && !collectives_wanted("reduce_us", 64),
       "others are not");
    setenv("BENCH_ROWS", "scan_us:64k,scan_us_:8", 1);
    OK(!collectives_wanted("scan_us", 64) && !collectives_wanted("scan_us", 8),
       "a size or metric with more characters is another one");
    OK(results_test_unknown("", 0, "") && results_test_unknown("sync_us,scan_us:8,scan_us", 0, ""),
       "no row is unknown");
    OK(results_test_unknown("scan_us,scam_us", 1, "`scam_us'"), "an unknown metric is named");
    OK(results_test_unknown("scan_us:9,barrier_us", 1, "`scan_us:9'"), "and an unknown size");
    OK(results_test_unknown("scan_us:16384,x:8", 2, "`scan_us:16384'"),
       "and a size that is not measured for this metric");
    unsetenv("BENCH_ROWS");
}

static void results_test_rejected(struct results *results)
{
    size_t before = results->count;

    OK(!results_read(results, "hello") && !results_read(results, "") &&
           !results_read(results, "{\"bench\":\"x\",\"series\":\"y\",\"bytes\":8}"),
       "other lines are no results");
    OK(results->count == before, "and add nothing");
}

/* A size that is not measured, and one at which the metric loses, end the range. */
static void results_test_break_even(struct results *results)
{
    static const size_t sizes[]  = {1, 2, 4, 8, 16};
    static const double copied[] = {1, 2, 4, 8, 0}, moved[] = {0.5, 3, 3, 3, 0};

    OK(results_break_even(results, "even", "moved_us", "copied_us", sizes, 5) == 0,
       "no break-even without results");
    for (int i = 0; i < 4; i++) {
        results_test_read(results, "even", 1 << i, "copied_us", copied[i]);
        results_test_read(results, "even", 1 << i, "moved_us", moved[i]);
    }
    OK(results_break_even(results, "even", "moved_us", "copied_us", sizes, 5) == 4,
       "the break-even size is the smallest above the last loss");
    OK(results_break_even(results, "even", "copied_us", "moved_us", sizes, 5) > 1e9,
       "a metric that loses at the largest size has none");
}

static void results_test_growth(struct results *results)
{
    for (int i = 0; i < 500; i++)
        results_test_read(results, "grow", i, "get_us", i + 1);
    for (int i = 0; i < 500; i++)
        if (results_get(results, "grow", (size_t)i, "get_us") != i + 1)
            OK(false, "result %d of 500 is found", i);
    OK(results->count >= 500, "the list grows");
}

/* What is printed as JSON can be read back. */
static void results_test_print(const struct results *results)
{
    struct results again = {0};
    char          *text  = NULL, *line, *rest;
    size_t         bytes;
    FILE          *to = open_memstream(&text, &bytes);

    results_print_json(results, to);
    fclose(to);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        results_read(&again, line);
    OK(again.count == results->count &&
           memcmp(&again.list[1].value, &results->list[1].value, sizeof(double)) == 0,
       "JSON is read back");
    results_free(&again);
    free(text);
    to = open_memstream(&text, &bytes);
    results_print_csv(results, to);
    fclose(to);
    OK(strncmp(text, "bench,series,bytes,metric,value\nmessages,skua,8,roundtrip_us,1\n", 62) == 0,
       "CSV has a line of names and one for each result");
    free(text);
}

int main(void)
{
    struct results results = {0};

    results_test_best(&results);
    results_test_pes();
    results_test_median();
    results_test_rows();
    results_test_rejected(&results);
    results_test_print(&results);
    results_test_break_even(&results);
    results_test_growth(&results);
    results_free(&results);
    return tap_end();
}
