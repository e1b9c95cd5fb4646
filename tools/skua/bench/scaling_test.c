/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_test.c - what each kind of efficiency compares, and the results that it becomes. */
#include "scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static void scaling_test_add(struct results *results, const char *series, const char *metric,
                             double value)
{
    struct result result = {.bytes = 8, .value = value};

    snprintf(result.series, sizeof result.series, "%s", series);
    snprintf(result.metric, sizeof result.metric, "%s", metric);
    results_add(results, &result);
}

static bool scaling_test_is(double value, double expected)
{
    return fabs(value - expected) < 1e-9;
}

/* An application: one series is slow on one PE. */
static void scaling_test_strong(struct results *results)
{
    struct scaling app = {
        .name = "app", .bytes = 8, .curve = {{"skua", "skua"}, {"mpich", "MPICH"}}};

    scaling_test_add(results, "skua", "step-1pe", 8);
    scaling_test_add(results, "skua", "step-4pe", 2.5);
    scaling_test_add(results, "mpich", "step-1pe", 16);
    scaling_test_add(results, "mpich", "step-4pe", 4);
    OK(scaling_test_is(scaling_efficiency(&app, results, "skua", 4), 0.8), "strong");
    OK(scaling_test_is(scaling_efficiency(&app, results, "mpich", 4), 0.5),
       "all series share one reference");
}

/* A problem of 8 on one PE, and of 27 times the work on 8. */
static double scaling_test_work(const struct scaling *scaling, int pes)
{
    (void)scaling;
    return pes == 8 ? 27 : pes;
}

static size_t scaling_test_bytes(const struct scaling *scaling, int pes)
{
    return (size_t)scaling_grow_count(scaling, pes);
}

static void scaling_test_weak(void)
{
    struct results results = {0};
    struct scaling app     = {
            .bytes = 8, .kind = SCALING_GROWING, .size = {8, 1, 64, 0}, .curve = {{"skua", "skua"}}};
    struct result  large = {.series = "skua", .metric = "step-4pe", .bytes = 32, .value = 4};
    struct scaling rate  = app;

    scaling_test_add(&results, "skua", "step-1pe", 3);
    scaling_test_add(&results, "skua", "step-4pe", 4);
    scaling_test_add(&results, "skua", "step-8pe", 13.5);
    scaling_test_add(&results, "skua", "rate-1pe", 10);
    scaling_test_add(&results, "skua", "rate-4pe", 30);
    OK(scaling_test_is(scaling_efficiency(&app, &results, "skua", 4), 0.75), "time of a step");
    app.work_on = scaling_test_work;
    OK(scaling_test_is(scaling_efficiency(&app, &results, "skua", 8), 0.75),
       "the work is not that of the number of PEs");
    rate.rate = true;
    OK(scaling_test_is(scaling_efficiency(&rate, &results, "skua", 4), 0.75), "a rate");
    app.bytes_on = scaling_test_bytes;
    OK(scaling_value(&app, &results, "skua", 4) == 0, "a problem of another size");
    results_add(&results, &large);
    OK(scaling_value(&app, &results, "skua", 4) == 4, "the problem of four PEs");
    results_free(&results);
}

static void scaling_test_growth(void)
{
    struct scaling app = {.problem = "2^", .after = " points", .size = {8, 1, 64, 0}};
    int            cells[3];
    char           text[64];

    scaling_grow_cube(&app, 16, cells);
    OK(cells[0] == 8 && cells[1] == 8 && cells[2] == 8, "a box of strong scaling does not grow");
    OK(scaling_grow_log2(&app, 16) == 8 && scaling_grow_rows(&app, 16, 4) == 8, "nor do others");
    app.kind = SCALING_GROWING;
    scaling_grow_cube(&app, 16, cells);
    OK(cells[0] == 16 && cells[1] == 16 && cells[2] == 32, "a box has 16 times the cells");
    scaling_grow_cube(&app, 6, cells);
    OK(cells[0] == 8 && cells[1] == 8 && cells[2] == 48, "of 6 PEs, 6 times the cells");
    OK(scaling_grow_log2(&app, 1) == 8 && scaling_grow_log2(&app, 15) == 11, "powers of two");
    app.size.multiple = 2;
    OK(scaling_grow_log2(&app, 2) == 10 && scaling_grow_log2(&app, 4) == 10, "an even logarithm");
    OK(scaling_grow_rows(&app, 8, 4) == 16 && scaling_grow_rows(&app, 2, 4) == 12, "rows");
    OK(scaling_grow_count(&app, 3) == 24, "elements");
    scaling_describe(&app, text, sizeof text);
    OK(strncmp(text, "2^8 points, on one PE", 21) == 0, "the text has the size");
}

static void scaling_test_kernels(struct results *results)
{
    struct scaling weak   = {.bytes = 8, .rate = true, .kernel = "pairs", .kind = SCALING_WEAK};
    struct scaling shared = {.bytes = 8, .rate = true, .kernel = "pairs", .kind = SCALING_SHARED};
    struct scaling time   = {.bytes = 8, .kernel = "barrier", .kind = SCALING_LATENCY};

    scaling_test_add(results, "skua", "rate-pairs-2pe", 10);
    scaling_test_add(results, "skua", "rate-pairs-8pe", 30);
    scaling_test_add(results, "skua", "us-barrier-8pe", 2);
    scaling_test_add(results, "limit", "us-barrier-8pe", 1);
    OK(scaling_test_is(scaling_efficiency(&weak, results, "skua", 2), 1),
       "the fewest PEs are the reference");
    OK(scaling_test_is(scaling_efficiency(&weak, results, "skua", 8), 0.75), "the rate of a PE");
    weak.least = 4;
    OK(scaling_efficiency(&weak, results, "skua", 2) == 0,
       "fewer PEs than the reference have none");
    OK(scaling_test_is(scaling_efficiency(&weak, results, "skua", 8), 1),
       "the reference is larger");
    OK(scaling_test_is(scaling_efficiency(&shared, results, "skua", 8), 3), "the rate of all");
    OK(scaling_test_is(scaling_efficiency(&time, results, "skua", 8), 0.5), "time of the limit");
    OK(scaling_efficiency(&weak, results, "mpich", 8) == 0, "what was not measured has none");
}

static void scaling_test_results(struct results *results)
{
    struct scaling    weak   = {.name   = "scaling",
                                .bytes  = 8,
                                .rate   = true,
                                .kernel = "pairs",
                                .kind   = SCALING_WEAK,
                                .curve  = {{"skua", "skua"}}};
    struct bench_host host   = {.pes = {2, 4, 8}};
    size_t            before = results->count;

    results->host = &host;
    scaling_add_efficiencies(&weak, results);
    results->host = NULL;
    OK(results->count == before + 2, "a number of PEs that was not measured adds no result");
    OK(scaling_test_is(results_get(results, "skua", 8, "eff-pairs-8pe"), 0.75), "its metric");
}

/* The numbers of PEs, and what a line tells of a peer that was stopped. */
static void scaling_test_lines(void)
{
    struct results    results = {0};
    struct bench_host host = {.cores = 4, .pes = {2, 8}}, with_one = {.pes = {4, 1}};
    int               pes[BENCH_PES_MAX + 1];
    struct bench_stop stop = {"peer-mpich-app", "mpich", "fft1d-", 8, 180};

    OK(scaling_list_pes(&host, pes) == 3 && pes[0] == 1 && pes[1] == 2 && pes[2] == 8,
       "one PE is measured before others, which refer to it");
    OK(scaling_list_pes(&with_one, pes) == 2 && pes[0] == 4 && pes[1] == 1, "but only once");
    bench_add_stopped(&results, &stop);
    OK(bench_get_stopped(&results, "mpich", "fft1d-", 8) == 180, "a run that was stopped");
    OK(bench_get_stopped(&results, "mpich", "", 8) == 0 &&
           bench_get_stopped(&results, "mpich", "fft1d-", 4) == 0 &&
           bench_get_stopped(&results, "openmpi", "fft1d-", 8) == 0,
       "others were not");
    results_free(&results);
}

/* A variable that the user has set, and one that is not set. */
static void scaling_test_variables(void)
{
    setenv("SCALING_TEST_USER", "user", 1);
    unsetenv("SCALING_TEST_NONE");
    for (int i = 0; i < 2; i++) {
        program_set_variable("SCALING_TEST_USER", i ? "b" : "a");
        program_set_variable("SCALING_TEST_NONE", "a");
    }
    OK(strcmp(getenv("SCALING_TEST_USER"), "b") == 0 && getenv("SCALING_TEST_NONE"),
       "variables of a benchmark are set");
    for (int i = 0; i < 2; i++) {
        program_restore_variable("SCALING_TEST_USER");
        program_restore_variable("SCALING_TEST_NONE");
    }
    OK(strcmp(getenv("SCALING_TEST_USER"), "user") == 0 && !getenv("SCALING_TEST_NONE"),
       "and have the user's values again");
}

static void scaling_test_plot(const struct results *results)
{
    struct scaling    weak   = {.problem = "pairs",
                                .bytes   = 8,
                                .rate    = true,
                                .kernel  = "pairs",
                                .kind    = SCALING_WEAK,
                                .curve   = {{"skua", "skua"}, {"limit-hosts", "limit"}}};
    struct scaling    both[] = {weak, weak};
    struct results    shown  = *results;
    struct bench_host host   = {.cores = 4, .pes = {2, 8}};
    char             *text   = NULL;
    size_t            bytes  = 0;
    FILE             *to     = open_memstream(&text, &bytes);

    shown.host = &host;
    scaling_plot(both, 2, &shown, to);
    fclose(to);
    OK(strstr(text, "translate(0 560)"), "two kernels are two plots of one picture");
    OK(strstr(text, "fewest PEs") && strstr(text, "4 cores"), "the axis names the efficiency");
    OK(strstr(text, "stroke='#7f7f7f' stroke-width='2' stroke-dasharray='4 3'"),
       "the limit is grey and dashed");
    free(text);
}

/* Goals compare the best series of Skua as processes with the best peer and with the limit. */
static void scaling_test_goals(void)
{
    struct results results = {0};
    struct scaling app     = {.bytes = 8,
                              .curve = {{"skua-messages", ""},
                                        {"skua-channels", ""},
                                        {"skua-threads", ""},
                                        {"scalapack", ""},
                                        {"mpich", ""},
                                        {"limit", ""}}};

    scaling_test_add(&results, "skua-messages", "step-4pe", 5);
    scaling_test_add(&results, "skua-channels", "step-4pe", 4);
    scaling_test_add(&results, "skua-threads", "step-4pe", 1);
    OK(scaling_speed_of_peer(&app, &results, 4) == 0, "a peer that was not measured has no speed");
    scaling_test_add(&results, "scalapack", "step-4pe", 8);
    scaling_test_add(&results, "mpich", "step-4pe", 6);
    scaling_test_add(&results, "limit", "step-4pe", 3);
    OK(scaling_test_is(scaling_speed_of_peer(&app, &results, 4), 1.5), "the best peer");
    OK(scaling_test_is(scaling_speed_of_limit(&app, &results, 4), 0.75), "the limit");
    OK(scaling_speed_of_limit(&app, &results, 2) == 0, "other numbers of PEs do not count");
    results_free(&results);
}

int main(void)
{
    struct results results = {0};

    scaling_test_strong(&results);
    scaling_test_kernels(&results);
    scaling_test_results(&results);
    scaling_test_plot(&results);
    scaling_test_goals();
    scaling_test_lines();
    scaling_test_variables();
    scaling_test_weak();
    scaling_test_growth();
    results_free(&results);
    return tap_end();
}
