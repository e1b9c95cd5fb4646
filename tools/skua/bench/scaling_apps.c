/* SPDX-License-Identifier: Apache-2.0 */
/* scaling_apps.c - see scaling_apps.h. */
#include "scaling_apps.h"

#include <string.h>

#define SCALING_APPS_BYTES     8      /* member of the results of kernels */
#define SCALING_APPS_PARTICLES 100000 /* of fmm: a solve on one PE takes about a second */

/* An application and the names of its problems as kernels.  Those of `pairs' have another name,
 * since messages in pairs are a kernel. */
static const struct scaling_app {
    const struct scaling *app;
    const char           *strong, *weak; /* weak: NULL if the problem cannot grow   */
    int                   size;          /* of the problem; 0: that of its benchmark */
} scaling_apps[] = {
    {&scaling_randomaccess, "randomaccess", "randomaccess-weak", 0},
    {&scaling_fft1d, "fft1d", "fft1d-weak", 0},
    {&scaling_stencil3d, "stencil3d", "stencil3d-weak", 0},
    {&scaling_matmul3d, "matmul3d", "matmul3d-weak", 0},
    {&scaling_leanmd, "leanmd", "leanmd-weak", 0},
    {&scaling_barneshut, "barneshut", "barneshut-weak", 0},
    {&scaling_lu, "lu", "lu-weak", 0},
    {&scaling_fmm, "fmm", "fmm-weak", SCALING_APPS_PARTICLES},
    {&scaling_fillboundary, "fillboundary", NULL, 0},
    {&scaling_gtcshift, "gtcshift", NULL, 0},
    {&scaling_pairs, "paircalculator", NULL, 0},
};

_Static_assert(2 * sizeof scaling_apps / sizeof *scaling_apps <= SCALING_APPS,
               "each application has two problems, at most");

/* Returns the problem of an application. */
static struct scaling scaling_apps_problem(const struct scaling_app *of, bool weak)
{
    struct scaling problem = *of->app;

    problem.kind        = weak ? SCALING_GROWING : SCALING_STRONG;
    problem.size.of_one = of->size ? of->size : problem.size.of_one;
    return problem;
}

/* Returns the problem as a kernel: its times are microseconds, and its efficiency needs the
 * work of a step, but not the size of the results of the application. */
static struct scaling scaling_apps_kernel(const struct scaling_app *of, bool weak)
{
    struct scaling kernel = scaling_apps_problem(of, weak);

    kernel.name   = "scaling";
    kernel.kernel = weak ? of->weak : of->strong;
    kernel.factor *= kernel.rate ? 1 : 1e-6;
    kernel.bytes    = SCALING_APPS_BYTES;
    kernel.bytes_on = NULL;
    return kernel;
}

/* Returns whether there is a problem and --only, if given, selects it.  The name of the problem
 * that does not grow selects both. */
static bool scaling_apps_selects(const struct bench_host *host, const struct scaling_app *of,
                                 bool weak)
{
    if (weak && !of->weak)
        return false;
    return !host->only || strcmp(host->only, "apps") == 0 || strcmp(host->only, of->strong) == 0 ||
           (weak && strcmp(host->only, of->weak) == 0);
}

bool scaling_apps_find(const char *name)
{
    for (size_t i = 0; i < sizeof scaling_apps / sizeof *scaling_apps; i++)
        if (strcmp(name, scaling_apps[i].strong) == 0 ||
            (scaling_apps[i].weak && strcmp(name, scaling_apps[i].weak) == 0))
            return true;
    return false;
}

size_t scaling_apps_list(const struct bench_host *host, struct scaling list[SCALING_APPS])
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof scaling_apps / sizeof *scaling_apps; i++)
        for (int weak = 0; weak < 2; weak++)
            if (scaling_apps_selects(host, &scaling_apps[i], weak))
                list[count++] = scaling_apps_kernel(&scaling_apps[i], weak);
    return count;
}

/* Adds that a series was stopped, if it was, to the results of the kernel. */
static void scaling_apps_add_stopped(const struct scaling *kernel, const struct results *from,
                                     const char *series, int pes, struct results *to)
{
    struct bench_stop stop = {kernel->kernel, series, "", pes,
                              bench_get_stopped(from, series, "", pes)};
    char              of[32];

    snprintf(of, sizeof of, "%s-", kernel->kernel);
    stop.of = of;
    if (stop.seconds > 0)
        bench_add_stopped(to, &stop);
}

/* Adds the results of an application to those of the benchmark, as results of its kernel. */
static void scaling_apps_add(const struct scaling *app, const struct scaling *kernel,
                             const struct results *from, int pes, struct results *to)
{
    for (int c = 0; c < SCALING_SERIES && app->curve[c].series; c++) {
        struct result result = {.bytes = kernel->bytes};

        result.value = scaling_value(app, from, app->curve[c].series, pes);
        if (result.value == 0) {
            scaling_apps_add_stopped(kernel, from, app->curve[c].series, pes, to);
            continue;
        }
        result.value *= app->rate ? 1 : 1e6;
        snprintf(result.bench, sizeof result.bench, "%s", kernel->name);
        snprintf(result.series, sizeof result.series, "%s", app->curve[c].series);
        snprintf(result.metric, sizeof result.metric, "%s-%s-%dpe", app->rate ? "rate" : "us",
                 kernel->kernel, pes);
        results_add(to, &result);
    }
}

/* Measures a problem on one number of PEs. */
static void scaling_apps_run_on(const struct scaling *app, const struct scaling *kernel,
                                struct results *results, int pes)
{
    struct results own = {.host = results->host};

    app->run(app, &own, pes);
    scaling_apps_add(app, kernel, &own, pes, results);
    results_free(&own);
}

void scaling_apps_run(struct results *results)
{
    int pes[BENCH_PES_MAX + 1], count = scaling_list_pes(results->host, pes);

    for (size_t i = 0; i < sizeof scaling_apps / sizeof *scaling_apps; i++)
        for (int weak = 0; weak < 2; weak++) {
            struct scaling app    = scaling_apps_problem(&scaling_apps[i], weak),
                           kernel = scaling_apps_kernel(&scaling_apps[i], weak);

            if (!scaling_apps_selects(results->host, &scaling_apps[i], weak))
                continue;
            bench_step(results, kernel.kernel);
            for (int k = 0; k < count; k++)
                scaling_apps_run_on(&app, &kernel, results, pes[k]);
            if (results->host->round == results->host->rounds)
                scaling_add_efficiencies(&kernel, results);
        }
}

void scaling_apps_print(const struct results *results)
{
    struct scaling list[SCALING_APPS];
    size_t         count = scaling_apps_list(results->host, list);

    for (size_t i = 0; i < count; i++) {
        scaling_print(&list[i], results);
        list[i].name = list[i].kernel;
        scaling_print_goals(&list[i], results);
        printf("\n");
    }
}
