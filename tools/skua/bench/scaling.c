/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c - see scaling.h. */
#include "scaling.h"

/* ---- running ------------------------------------------------------------- */

static void scaling_run_on(const struct scaling *scaling, struct results *results,
                           const struct bench_host *host, int pes, int round, int rounds)
{
    char what[48];

    snprintf(what, sizeof what, "%s, %d PE%s", scaling->name, pes, pes == 1 ? "" : "s");
    bench_step(round, rounds, what);
    scaling->run(results, host, pes);
}

void scaling_run(const struct scaling *scaling, struct results *results,
                 const struct bench_host *host, int round, int rounds)
{
    bool one = false;

    for (int i = 0; i < BENCH_PES_MOST && host->pes[i]; i++)
        one = one || host->pes[i] == 1;
    if (!one)
        scaling_run_on(scaling, results, host, 1, round, rounds);
    for (int i = 0; i < BENCH_PES_MOST && host->pes[i]; i++)
        scaling_run_on(scaling, results, host, host->pes[i], round, rounds);
}

void scaling_run_mpis(struct results *results, const struct bench_host *host, const char *name,
                      const char *argument, int ranks)
{
    static const char *const mpis[] = {"openmpi", "mpich"};

    for (size_t i = 0; i < sizeof mpis / sizeof *mpis; i++) {
        char              program[64];
        struct bench_peer peer = {mpis[i], program, mpis[i], argument};

        snprintf(program, sizeof program, "peer-%s-%s", mpis[i], name);
        bench_run_peer(results, host, &peer, ranks);
    }
}

/* ---- efficiency ---------------------------------------------------------- */

double scaling_value(const struct scaling *scaling, const struct results *results,
                     const char *series, int pes)
{
    char metric[32];

    snprintf(metric, sizeof metric, "%s-%dpe", scaling->rate ? "rate" : "step", pes);
    return results_get(results, series, scaling->bytes, metric);
}

/* Seconds of a step, or of a unit of work. */
static double scaling_time(const struct scaling *scaling, const struct results *results,
                           const char *series, int pes)
{
    double value = scaling_value(scaling, results, series, pes);

    return scaling->rate ? bench_ratio(1, value) : value;
}

/* The best time of any series on one PE. */
static double scaling_reference(const struct scaling *scaling, const struct results *results)
{
    double best = 0;

    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++) {
        double time = scaling_time(scaling, results, scaling->curve[c].series, 1);

        if (time > 0 && (best == 0 || time < best))
            best = time;
    }
    return best;
}

double scaling_efficiency(const struct scaling *scaling, const struct results *results,
                          const char *series, int pes)
{
    return bench_ratio(scaling_reference(scaling, results),
                       pes * scaling_time(scaling, results, series, pes));
}

void scaling_add_efficiencies(const struct scaling *scaling, struct results *results,
                              const struct bench_host *host)
{
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++)
        for (int i = 0; i < BENCH_PES_MOST && host->pes[i]; i++) {
            const char   *series = scaling->curve[c].series;
            struct result result = {.bytes = scaling->bytes};

            result.value = scaling_efficiency(scaling, results, series, host->pes[i]);
            if (result.value == 0)
                continue;
            snprintf(result.bench, sizeof result.bench, "%s", scaling->name);
            snprintf(result.series, sizeof result.series, "%s", series);
            snprintf(result.metric, sizeof result.metric, "efficiency-%dpe", host->pes[i]);
            results_add(results, &result);
        }
}

/* ---- table --------------------------------------------------------------- */

static void scaling_print_line(const struct scaling *scaling, const struct results *results,
                               const struct bench_host *host, int pes)
{
    printf("%6d%s", pes, pes > host->cores ? " *" : "  ");
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++) {
        const char *series = scaling->curve[c].series;

        bench_print_value(scaling->factor * scaling_value(scaling, results, series, pes), 11);
        bench_print_value(scaling_efficiency(scaling, results, series, pes), 8);
    }
    printf("\n");
}

void scaling_print(const struct scaling *scaling, const struct results *results,
                   const struct bench_host *host)
{
    bool oversubscribed = false;

    printf("%s: %s, and efficiency\n%8s", scaling->problem, scaling->unit, "PEs  ");
    for (int c = 0; c < SCALING_SERIES && scaling->curve[c].series; c++)
        printf("%19s", scaling->curve[c].name);
    printf("\n");
    for (int i = 0; i < BENCH_PES_MOST && host->pes[i]; i++) {
        scaling_print_line(scaling, results, host, host->pes[i]);
        oversubscribed = oversubscribed || host->pes[i] > host->cores;
    }
    printf("Efficiency: best time of all on one PE / (PEs x time).\n");
    if (oversubscribed)
        printf("* Oversubscribed: this host has %d core%s, which the PEs share.\n", host->cores,
               host->cores == 1 ? "" : "s");
}

/* ---- plot ---------------------------------------------------------------- */

void scaling_plot(const struct scaling *scaling, const struct results *results,
                  const struct bench_host *host, FILE *to)
{
    static const char *const colours[]             = {"#d62728", "#1f77b4", "#2ca02c",
                                                      "#7f7f7f", "#8c564b", "#9467bd"};
    struct plot_curve        curve[SCALING_SERIES] = {0};
    struct plot plot = {scaling->problem, "PEs", "efficiency: best time on one PE / (PEs x time)",
                        curve, 0};
    struct plot_axes axes = {PLOT_LOG2, PLOT_LINEAR, host->cores, NULL};
    char             limit[64];

    for (; plot.curves < SCALING_SERIES && scaling->curve[plot.curves].series; plot.curves++) {
        struct plot_curve *next = &curve[plot.curves];

        next->name   = scaling->curve[plot.curves].name;
        next->colour = colours[plot.curves];
        next->dash   = "";
        for (int i = 0; i < BENCH_PES_MOST && host->pes[i]; i++)
            plot_curve_add(next, host->pes[i],
                           scaling_efficiency(scaling, results, scaling->curve[plot.curves].series,
                                              host->pes[i]));
    }
    snprintf(limit, sizeof limit, "%d core%s: more PEs are oversubscribed", host->cores,
             host->cores == 1 ? "" : "s");
    axes.limit_name = limit;
    plot_write_axes(&plot, &axes, to);
}
