/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c - see scaling.h. */
#include "scaling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define SCALING_TEXT 128 /* bytes of the text that names a problem, or an axis */

/* ---- running ------------------------------------------------------------- */

void scaling_run_on(const struct scaling *scaling, struct results *results, int pes)
{
    bench_stepf(results, "%s, %d PE%s", scaling->name, pes, pes == 1 ? "" : "s");
    scaling->run(scaling, results, pes);
}

int scaling_list_pes(const struct bench_host *host, int pes[BENCH_PES_MAX + 1])
{
    int  count = 0;
    bool one   = false;

    for (const int *given = host->pes; *given; given++)
        one = one || *given == 1;
    if (!one)
        pes[count++] = 1;
    for (const int *given = host->pes; *given; given++)
        pes[count++] = *given;
    return count;
}

void scaling_run(const struct scaling *scaling, struct results *results)
{
    int pes[BENCH_PES_MAX + 1], count = scaling_list_pes(results->host, pes);

    for (int i = 0; i < count; i++)
        scaling_run_on(scaling, results, pes[i]);
}

void scaling_run_mpis(struct results *results, const char *name, const char *argument, int ranks)
{
    for (size_t i = 0; i < BENCH_MPIS; i++)
        bench_run_mpi(results, bench_mpis[i], name, bench_mpis[i], argument, ranks);
}

void scaling_run_limit(struct results *results, const char *name, const char *argument, int pes)
{
    bench_run_job(results, "-n %d @bench-%s_limit limit %s", pes, name, argument);
}

/* ---- the problem ---------------------------------------------------------- */

bool scaling_has_sizes(const struct scaling *scaling)
{
    return scaling->size.of_one > 0;
}

void scaling_describe(const struct scaling *scaling, char *text, size_t room)
{
    const char *grows =
        scaling->kind == SCALING_GROWING ? ", on one PE; it grows with the PEs" : "";

    if (scaling->size.of_one > 0)
        snprintf(text, room, "%s%d%s%s", scaling->problem, scaling->size.of_one, scaling->after,
                 grows);
    else
        snprintf(text, room, "%s", scaling->problem);
}

void scaling_grow_cube(const struct scaling *scaling, int pes, int cells[3])
{
    int next = 2;

    cells[0] = cells[1] = cells[2] = scaling->size.of_one;
    if (scaling->kind != SCALING_GROWING)
        return;
    for (; pes % 2 == 0; pes /= 2, next = (next + 2) % 3)
        cells[next] *= 2;
    cells[2] *= pes;
}

int scaling_grow_log2(const struct scaling *scaling, int pes)
{
    int log2 = scaling->size.of_one, multiple = scaling->size.multiple;

    for (; scaling->kind == SCALING_GROWING && pes > 1; pes /= 2)
        log2++;
    return multiple > 1 ? (log2 + multiple - 1) / multiple * multiple : log2;
}

int scaling_grow_count(const struct scaling *scaling, int pes)
{
    return scaling->kind == SCALING_GROWING ? scaling->size.of_one * pes : scaling->size.of_one;
}

int scaling_grow_rows(const struct scaling *scaling, int pes, int unit)
{
    if (scaling->kind != SCALING_GROWING || pes == 1)
        return scaling->size.of_one;
    return unit * (int)lround(scaling->size.of_one * cbrt(pes) / unit);
}

/* Returns the work of a step on @p pes PEs, relative to that of the problem of one PE. */
static double scaling_work(const struct scaling *scaling, int pes)
{
    if (scaling->kind != SCALING_GROWING || scaling->rate)
        return 1;
    return scaling->work_on ? scaling->work_on(scaling, pes) : pes;
}

/* ---- efficiency ---------------------------------------------------------- */

double scaling_value(const struct scaling *scaling, const struct results *results,
                     const char *series, int pes)
{
    char metric[32];

    if (scaling->kernel)
        snprintf(metric, sizeof metric, "%s-%s-%dpe", scaling->rate ? "rate" : "us",
                 scaling->kernel, pes);
    else
        snprintf(metric, sizeof metric, "%s-%dpe", scaling->rate ? "rate" : "step", pes);
    return results_get(results, series,
                       scaling->bytes_on ? scaling->bytes_on(scaling, pes) : scaling->bytes,
                       metric);
}

/* Seconds of a step, or of a unit of work. */
static double scaling_time(const struct scaling *scaling, const struct results *results,
                           const char *series, int pes)
{
    double value = scaling_value(scaling, results, series, pes);

    return scaling->rate ? bench_ratio(1, value) : value;
}

/* Returns whether a series is a limit, which is no program that could be run instead. */
static bool scaling_is_limit(const char *series)
{
    return strncmp(series, "limit", 5) == 0;
}

/* Returns the best time of any series but the limit on one PE. */
static double scaling_reference(const struct scaling *scaling, const struct results *results)
{
    double best = 0;

    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++) {
        const char *series = scaling->curve[c].series;
        double      time   = scaling_time(scaling, results, series, 1);

        if (time > 0 && !scaling_is_limit(series) && (best == 0 || time < best))
            best = time;
    }
    return best;
}

/* Returns the fewest PEs, up to @p pes, that a series was measured on. */
static int scaling_fewest(const struct scaling *scaling, const struct results *results,
                          const char *series, int pes)
{
    int fewest = scaling->least > 1 ? scaling->least : 1;

    while (fewest < pes && scaling_value(scaling, results, series, fewest) == 0)
        fewest++;
    return fewest;
}

/* Returns the rate of a kernel on P PEs, divided by that on the fewest. */
static double scaling_growth(const struct scaling *scaling, const struct results *results,
                             const char *series, int pes)
{
    int    fewest = scaling_fewest(scaling, results, series, pes);
    double growth = bench_ratio(scaling_value(scaling, results, series, pes),
                                scaling_value(scaling, results, series, fewest));

    if (fewest > pes)
        return 0;
    return scaling->kind == SCALING_WEAK ? growth * fewest / pes : growth;
}

double scaling_efficiency(const struct scaling *scaling, const struct results *results,
                          const char *series, int pes)
{
    if (scaling->kind == SCALING_LATENCY)
        return bench_ratio(scaling_value(scaling, results, "limit", pes),
                           scaling_value(scaling, results, series, pes));
    if (scaling->kind == SCALING_WEAK || scaling->kind == SCALING_SHARED)
        return scaling_growth(scaling, results, series, pes);
    return bench_ratio(scaling_work(scaling, pes) * scaling_reference(scaling, results),
                       pes * scaling_time(scaling, results, series, pes));
}

static void scaling_name_efficiency(const struct scaling *scaling, int pes, char *name, size_t room)
{
    if (scaling->kernel)
        snprintf(name, room, "eff-%s-%dpe", scaling->kernel, pes);
    else
        snprintf(name, room, "efficiency-%dpe", pes);
}

void scaling_add_efficiencies(const struct scaling *scaling, struct results *results)
{
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++)
        for (const int *pes = results->host->pes; *pes; pes++) {
            const char   *series = scaling->curve[c].series;
            struct result result = {.bytes = scaling->bytes_on ? scaling->bytes_on(scaling, *pes)
                                                               : scaling->bytes};

            result.value = scaling_efficiency(scaling, results, series, *pes);
            if (result.value == 0)
                continue;
            snprintf(result.bench, sizeof result.bench, "%s", scaling->name);
            snprintf(result.series, sizeof result.series, "%s", series);
            scaling_name_efficiency(scaling, *pes, result.metric, sizeof result.metric);
            results_add(results, &result);
        }
}

static const char *scaling_meaning(const struct scaling *scaling)
{
    static const char *const meaning[] = {
        [SCALING_STRONG]  = "best time of all on one PE / (PEs x time)",
        [SCALING_WEAK]    = "rate of a PE / rate of a PE on the fewest PEs",
        [SCALING_SHARED]  = "rate of all / rate of all on the fewest PEs",
        [SCALING_LATENCY] = "time of the limit / time",
        [SCALING_GROWING] = "work x best time of all on one PE / (PEs x time)",
    };

    return meaning[scaling->kind];
}

/* ---- table --------------------------------------------------------------- */

/* Returns after how many seconds a series was stopped, or 0.  A problem of an application that is a
 * kernel has runs of its own; other kernels share one. */
static double scaling_stopped(const struct scaling *scaling, const struct results *results,
                              const char *series, int pes)
{
    char of[32] = "";

    if (scaling->kernel && (scaling->kind == SCALING_STRONG || scaling->kind == SCALING_GROWING))
        snprintf(of, sizeof of, "%s-", scaling->kernel);
    return bench_get_stopped(results, series, of, pes);
}

static void scaling_print_line(const struct scaling *scaling, const struct results *results,
                               int pes)
{
    printf("%6d%s", pes, pes > results->host->cores ? " *" : "  ");
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++) {
        const char *series = scaling->curve[c].series;

        double value = scaling_value(scaling, results, series, pes);
        double stop  = value == 0 ? scaling_stopped(scaling, results, series, pes) : 0;

        if (stop > 0) {
            printf("   stopped at %3.0f s", stop);
            continue;
        }
        bench_print_value(scaling->factor * value, 11);
        bench_print_value(scaling_efficiency(scaling, results, series, pes), 8);
    }
    printf("\n");
}

void scaling_print(const struct scaling *scaling, const struct results *results)
{
    bool oversubscribed = false;
    char problem[SCALING_TEXT];

    scaling_describe(scaling, problem, sizeof problem);
    printf("%s: %s, and efficiency\n%8s", problem, scaling->unit, "PEs  ");
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++)
        printf("%19s", scaling->curve[c].name);
    printf("\n");
    for (const int *pes = results->host->pes; *pes; pes++) {
        scaling_print_line(scaling, results, *pes);
        oversubscribed = oversubscribed || *pes > results->host->cores;
    }
    printf("Efficiency: %s.\n", scaling_meaning(scaling));
    if (oversubscribed)
        printf("* Oversubscribed: this host has %d core%s, which the PEs share.\n",
               results->host->cores, results->host->cores == 1 ? "" : "s");
}

/* ---- goals --------------------------------------------------------------- */

/* Returns whether a series counts in goals: those of Skua or, otherwise, of its peers.  Threads
 * have goals of their own (bench_scaling.c). */
static bool scaling_counts(const char *series, bool ours)
{
    return !scaling_is_limit(series) && !strstr(series, "-threads") &&
           (strncmp(series, "skua", 4) == 0) == ours;
}

/* Returns the best time of the series of Skua, or of its peers, or 0. */
static double scaling_best_time(const struct scaling *scaling, const struct results *results,
                                int pes, bool ours)
{
    double best = 0;

    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++) {
        double time = scaling_counts(scaling->curve[c].series, ours)
                          ? scaling_time(scaling, results, scaling->curve[c].series, pes)
                          : 0;

        best = best == 0 || (time > 0 && time < best) ? time : best;
    }
    return best;
}

double scaling_speed_of_peer(const struct scaling *scaling, const struct results *results, int pes)
{
    return bench_ratio(scaling_best_time(scaling, results, pes, false),
                       scaling_best_time(scaling, results, pes, true));
}

double scaling_speed_of_limit(const struct scaling *scaling, const struct results *results, int pes)
{
    return bench_ratio(scaling_time(scaling, results, "limit", pes),
                       scaling_best_time(scaling, results, pes, true));
}

void scaling_print_goals(const struct scaling *scaling, const struct results *results)
{
    if (scaling->of_limit == 0)
        return;
    bench_print_goals_head("Goals");
    for (const int *pes = results->host->pes; *pes; pes++) {
        const char *plural = *pes == 1 ? "" : "s";

        if (*pes > results->host->cores)
            continue;
        if (*pes > 1 || !scaling->alone)
            bench_print_goalf(scaling_speed_of_peer(scaling, results, *pes), ">=", 1,
                              "%s / best peer, %d PE%s", scaling->name, *pes, plural);
        bench_print_goalf(scaling_speed_of_limit(scaling, results, *pes), ">=", scaling->of_limit,
                          "%s / limit, %d PE%s", scaling->name, *pes, plural);
    }
}

/* ---- plot ---------------------------------------------------------------- */

struct scaling_text {
    char problem[SCALING_TEXT], efficiency[SCALING_TEXT];
};

/* Adds the curves of one application or kernel to its plot.  A limit is grey and dashed in each. */
static void scaling_draw(struct plot *plot, const struct scaling *scaling,
                         const struct results *results)
{
    static const char *const colours[SCALING_SERIES] = {"#d62728", "#1f77b4", "#2ca02c", "#9467bd",
                                                        "#8c564b", "#ff7f0e", "#17becf", "#e377c2"};

    for (; plot->curves < SCALING_SERIES && scaling->curve[plot->curves].series; plot->curves++) {
        struct plot_curve *next   = &plot->curve[plot->curves];
        const char        *series = scaling->curve[plot->curves].series;
        bool               limit  = scaling_is_limit(series);

        next->name   = scaling->curve[plot->curves].name;
        next->colour = limit ? "#7f7f7f" : colours[plot->curves];
        next->dash   = limit ? "4 3" : "";
        for (const int *pes = results->host->pes; *pes; pes++)
            plot_curve_add(next, *pes, scaling_efficiency(scaling, results, series, *pes));
    }
}

void scaling_plot(const struct scaling *scaling, size_t count, const struct results *results,
                  FILE *to)
{
    struct plot *plots                         = ski_calloc(count, sizeof *plots);
    struct plot_curve(*curves)[SCALING_SERIES] = ski_calloc(count, sizeof *curves);
    struct scaling_text *texts                 = ski_calloc(count, sizeof *texts);
    struct plot_axes     axes = {PLOT_LOG2, PLOT_LINEAR, results->host->cores, NULL};
    char                 limit[64];

    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i].efficiency, sizeof texts[i].efficiency, "efficiency: %s",
                 scaling_meaning(&scaling[i]));
        scaling_describe(&scaling[i], texts[i].problem, sizeof texts[i].problem);
        plots[i] = (struct plot){texts[i].problem, "PEs", texts[i].efficiency, curves[i], 0};
        scaling_draw(&plots[i], &scaling[i], results);
    }
    snprintf(limit, sizeof limit, "%d core%s: more PEs are oversubscribed", results->host->cores,
             results->host->cores == 1 ? "" : "s");
    axes.limit_name = limit;
    plot_write_axes(plots, count, &axes, to);
    free(texts);
    free(curves);
    free(plots);
}
