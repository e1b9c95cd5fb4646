/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_balance.c - skua bench balance: load balancing, and the operations it uses, in one run.
 *
 * leanmd with a dense droplet runs without and with balancing, one process on each core: on two
 * PEs, and on sixteen, or on the numbers of --pes, where there are as many cores.  The ideal time
 * of a step is the work of all PEs in the run without balancing, divided by the number of PEs. Work
 * is the time in the code of cells and computes, with the contributions of forces to their sums:
 * all else that the runtime does to send, schedule, deliver, measure and balance counts against the
 * balanced run.  The time of one PE divided by the number of PEs, which contains all of that but
 * messages between PEs, is printed for comparison. The limit is the computation of the same forces
 * with nothing but a barrier after each step. A table divides the times into parts (time_parts.h).
 * Beside it: leanmd of an even density against MPI, structured control flow against a state machine
 * written by hand, barneshut against the same traversal without the runtime, on one, two and
 * sixteen PEs, or on the numbers of --pes; the cost of moving elements, and the time that
 * strategies take to decide.
 */
#include <string.h>

#include "scaling.h"
#include "time_parts.h"

/* The droplets, each for any number of PEs from `least' on.  On `pes', the blocks of cells that PEs
 * begin with differ by the factor that the goals name. */
static const struct droplet {
    int         least, pes;
    const char *cells;
    size_t      count;  /* of cells                                            */
    double      uneven; /* goal: the work of the busiest PE / the mean, before */
    double      gain;   /* goal: time without balancing / time with it         */
} droplets[] = {{2, 2, "6,6,6", 216, 1.5, 1.4}, {8, 16, "12,12,12", 1728, 2, 1.7}};

static const struct droplet *bench_balance_droplet_of(int pes)
{
    return &droplets[pes >= droplets[1].least];
}

#define STRATEGY "refine" /* that balances the droplet */
#define STEPS    80       /* of the droplet              */
#define WARMUP   40       /* of these, before the clock  */
#define PERIOD   20       /* steps between two balancings */
#define SAMPLE   10       /* steps between two samples   */

/* Of the limit: atoms of a cell in the droplet and the margin of cells, as leanmd --droplet has. */
#define LIMIT_ATOMS  221
#define LIMIT_MARGIN 8
#define LIMIT_STEPS  20

/* Returns whether there is a core for each PE: with fewer, PEs would share cores and hide an uneven
 * load. */
static bool bench_balance_fits(const struct bench_host *host, int pes)
{
    return pes <= host->cores;
}

/* ---- running ------------------------------------------------------------- */

/* Runs leanmd with a droplet on @p pes PEs. */
static void bench_balance_run_droplet(struct results *results, const struct droplet *d, int pes,
                                      bool balanced)
{
    bench_run_job(results,
                  "-n %d --pin=auto --set=balance=%s @leanmd --size=%s --droplet --steps=%d "
                  "--warmup=%d --migrate=%d --balance=%d --series=%s",
                  pes, balanced ? STRATEGY : "none", d->cells, STEPS, WARMUP, SAMPLE, PERIOD,
                  balanced ? "balanced" : "unbalanced");
}

/* Runs the forces of a droplet alone on @p pes PEs. */
static void bench_balance_run_limit(struct results *results, const struct droplet *d, int pes)
{
    char argument[64];

    snprintf(argument, sizeof argument, "%s,%d,%d,%d,1", d->cells, LIMIT_ATOMS, LIMIT_STEPS,
             LIMIT_MARGIN);
    scaling_run_limit(results, "leanmd", argument, pes);
}

/* leanmd by an interface file and by hand, on one PE: one job after the other, twice in turn. */
static void bench_balance_run_structured(struct results *results)
{
    for (int i = 0; i < 4; i++)
        bench_run_job(results,
                      "-n 1 @%s --size=4,4,4 --atoms=30 --steps=200 --balance=0 --series=%s",
                      i % 2 ? "leanmd-plain" : "leanmd", i % 2 ? "by-hand" : "structured");
}

static const int bench_balance_pes[] = {1, 2, 16, 0}; /* on which is measured by default */

/* Runs an application on all numbers of PEs that are given, and on those of the default for which
 * there are cores. */
static void bench_balance_run_scaling(const struct scaling *scaling, struct results *results)
{
    int pes[BENCH_PES_MAX + 1], count = scaling_list_pes(results->host, pes);

    for (int i = 0; i < count; i++)
        if (results->host->pes_given || bench_balance_fits(results->host, pes[i]))
            scaling_run_on(scaling, results, pes[i]);
}

/* Runs a droplet without and with balancing, and what both are compared with; @p alone: on one PE,
 * too. */
static void bench_balance_run_droplets(struct results *results, int pes, bool alone)
{
    const struct droplet *d = bench_balance_droplet_of(pes);

    if (alone) {
        bench_step(results, "a droplet on one PE");
        bench_balance_run_droplet(results, d, 1, false);
    }
    bench_step(results, "a droplet without balancing");
    bench_balance_run_droplet(results, d, pes, false);
    bench_step(results, "a droplet with balancing");
    bench_balance_run_droplet(results, d, pes, true);
    bench_step(results, "the forces of a droplet alone");
    if (alone)
        bench_balance_run_limit(results, d, 1);
    bench_balance_run_limit(results, d, pes);
}

static void bench_balance_run(struct results *results)
{
    const struct droplet *alone = NULL; /* has been run on one PE */

    for (const int *pes = results->host->pes; *pes; pes++) {
        if (*pes == 1 || !bench_balance_fits(results->host, *pes))
            continue;
        bench_balance_run_droplets(results, *pes, alone != bench_balance_droplet_of(*pes));
        alone = bench_balance_droplet_of(*pes);
    }
    bench_balance_run_scaling(&scaling_leanmd, results);
    bench_balance_run_scaling(&scaling_barneshut, results);
    bench_step(results, "structured control flow");
    bench_balance_run_structured(results);
    bench_step(results, "migration");
    bench_run_job(results, "-n 2 -t 1 --pin=auto @bench-migration");
    bench_step(results, "strategies");
    bench_run_job(results, "-n 1 -t 1 --pin=auto @bench-strategies");
}

/* ---- tables -------------------------------------------------------------- */

/* Returns a result of leanmd with a droplet. */
static double bench_balance_droplet(const struct results *r, int pes, bool balanced,
                                    const char *what)
{
    return results_get_metric(r, balanced ? "balanced" : "unbalanced",
                              bench_balance_droplet_of(pes)->count, "%s-%dpe", what, pes);
}

/* Seconds of a step if all PEs had the same work: idle is the fraction of the time without work. */
static double bench_balance_ideal(const struct results *r, int pes)
{
    return bench_balance_droplet(r, pes, false, "step") *
           (1 - bench_balance_droplet(r, pes, false, "idle"));
}

/* Seconds of a step on one PE, divided by the number of PEs. */
static double bench_balance_one(const struct results *r, int pes)
{
    return results_get(r, "unbalanced", bench_balance_droplet_of(pes)->count, "step-1pe") / pes;
}

/* Seconds of a step of the limit of the droplet of @p pes PEs, on @p on of them. */
static double bench_balance_limit(const struct results *r, int pes, int on)
{
    return results_get_metric(r, "limit", bench_balance_droplet_of(pes)->count, "step-%dpe", on);
}

static void bench_balance_print_droplet(const struct results *r, int pes)
{
    if (!bench_balance_fits(r->host, pes)) {
        printf("%2d PEs: skipped, this host has %d core%s\n", pes, r->host->cores,
               r->host->cores == 1 ? "" : "s");
        return;
    }
    for (int balanced = 0; balanced < 2; balanced++) {
        printf("%2d PEs, %-24s", pes, balanced ? STRATEGY : "no balancing");
        bench_print_value(1e3 * bench_balance_droplet(r, pes, balanced, "step"), 12);
        bench_print_value(bench_balance_droplet(r, pes, balanced, "uneven"), 10);
        bench_print_value(100 * bench_balance_droplet(r, pes, balanced, "idle"), 8);
        printf("\n");
    }
    printf("%2d PEs, %-24s", pes, "ideal: work / PEs");
    bench_print_value(1e3 * bench_balance_ideal(r, pes), 12);
    printf("\n%2d PEs, %-24s", pes, "time of one PE / PEs");
    bench_print_value(1e3 * bench_balance_one(r, pes), 12);
    printf("\n%2d PEs, %-24s", pes, "limit: the forces alone");
    bench_print_value(1e3 * bench_balance_limit(r, pes, pes), 12);
    printf("\n");
}

/* Prints the parts of a step of a series, in percent of the work of its one PE / PEs. */
static void bench_balance_print_part(const struct results *r, const char *problem,
                                     const char *series, const char *one, size_t bytes, int pes)
{
    struct time_parts parts = time_parts_of(r, series, bytes, pes),
                      alone = time_parts_of(r, one, bytes, 1);
    char what[48];

    snprintf(what, sizeof what, "%s, %d PE%s, %s", problem, pes, pes == 1 ? "" : "s", series);
    time_parts_print(&parts, alone.work / pes, what);
}

static void bench_balance_print_parts(const struct results *r)
{
    printf("\nWhere the time goes: parts of a step in percent of the work of one PE / PEs. Work is "
           "slower where\nall cores are busy; uneven is the busiest PE beyond the mean, in all "
           "steps together\n");
    time_parts_print_head();
    for (const int *pes = r->host->pes; *pes; pes++) {
        size_t cells = bench_balance_droplet_of(*pes)->count;

        if (*pes == 1)
            continue;
        bench_balance_print_part(r, "droplet", "unbalanced", "unbalanced", cells, *pes);
        bench_balance_print_part(r, "droplet", "balanced", "unbalanced", cells, *pes);
        bench_balance_print_part(r, "droplet", "limit", "limit", cells, *pes);
    }
    for (const int *pes = r->host->pes; *pes; pes++) {
        size_t cells = scaling_leanmd.bytes_on(&scaling_leanmd, *pes);

        bench_balance_print_part(r, "even", "skua", "skua", cells, *pes);
        bench_balance_print_part(r, "even", "limit", "limit", cells, *pes);
    }
}

static void bench_balance_print_droplet_goals(const struct results *r, int pes)
{
    const struct droplet *d    = bench_balance_droplet_of(pes);
    bool                  goal = pes == d->pes;
    double                step = bench_balance_droplet(r, pes, true, "step");

    bench_print_goalf(bench_balance_droplet(r, pes, false, "uneven"), ">=", goal ? d->uneven : 0,
                      "droplet, %d PEs: max/mean without balancing", pes);
    bench_print_goalf(bench_ratio(bench_balance_droplet(r, pes, false, "step"), step),
                      ">=", goal ? d->gain : 0, "droplet, %d PEs: time without / with balancing",
                      pes);
    bench_print_goalf(bench_ratio(step, bench_balance_ideal(r, pes)), "<=", goal ? 1.1 : 0,
                      "droplet, %d PEs: time with balancing / ideal", pes);
    bench_print_goalf(bench_ratio(step, bench_balance_one(r, pes)), "", 0,
                      "droplet, %2d PEs: time with balancing / (one PE / PEs)", pes);
    bench_print_goalf(
        bench_ratio(bench_balance_limit(r, pes, pes) * pes, bench_balance_limit(r, pes, 1)), "", 0,
        "droplet, %2d PEs: the limit / (its one PE / PEs)", pes);
}

/* Returns the better of the two MPIs. */
static double bench_balance_mpi(const struct results *r, int pes)
{
    return bench_shorter(scaling_value(&scaling_leanmd, r, "openmpi", pes),
                         scaling_value(&scaling_leanmd, r, "mpich", pes));
}

/* Prints the speed relative to the same computation without communication: what the cores of this
 * host leave to be reached. */
static void bench_balance_print_limit(const struct results *r, const struct scaling *scaling,
                                      const char *name, int pes)
{
    bench_print_goalf(scaling_speed_of_limit(scaling, r, pes), "", 0,
                      "%s, %d PE%s: speed / the limit", name, pes, pes == 1 ? "" : "s");
}

/* Prints the efficiency of barneshut, which has a goal on two PEs and on sixteen. */
static void bench_balance_print_traversal(const struct results *r, int pes)
{
    bench_print_goalf(bench_ratio(scaling_value(&scaling_barneshut, r, "plain", 1),
                                  pes * scaling_value(&scaling_barneshut, r, "skua", pes)),
                      ">=",
                      pes == 2    ? 0.9
                      : pes == 16 ? 0.75
                                  : 0,
                      "barneshut, %d PEs: efficiency, of the plain traversal", pes);
}

static void bench_balance_print_app_goals(const struct results *r)
{
    double one = scaling_value(&scaling_leanmd, r, "skua", 1);

    for (const int *pes = r->host->pes; *pes; pes++) {
        double step = scaling_value(&scaling_leanmd, r, "skua", *pes);
        bool   goal = *pes <= r->host->cores || !r->host->pes_given;

        bench_print_goalf(bench_ratio(step, bench_balance_mpi(r, *pes)), "<=", goal,
                          "leanmd, even, %d PE%s: time / better MPI", *pes, *pes == 1 ? "" : "s");
        bench_balance_print_limit(r, &scaling_leanmd, "leanmd, even", *pes);
        bench_balance_print_limit(r, &scaling_barneshut, "barneshut", *pes);
        if (*pes == 1)
            continue;
        if (*pes != 2)
            bench_print_goalf(bench_ratio(one, *pes * step), ">=", *pes == 16 && goal ? 0.85 : 0,
                              "leanmd, even, %d PEs: efficiency, of one PE", *pes);
        bench_balance_print_traversal(r, *pes);
    }
}

/* Moving elements, deciding, and control flow. */
static void bench_balance_print_part_goals(const struct results *r)
{
    static const size_t objects = 100000, few = 16, many = 4096; /* PEs, of diffusion */

    static const struct {
        const char *series, *what;
    } moved[] = {{"owned", "that own their data, packed"}, {"pack", "with a pup of fields"}};

    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        bench_print_goalf(bench_ratio(results_get(r, moved[i].series, 4096, "move_GBps"),
                                      results_get(r, "memcpy", 4096, "copy_GBps")),
                          ">=", 0.7, "moving 4 KB elements %s / memcpy", moved[i].what);
    bench_print_goal("moving an element by pointer, microseconds",
                     results_get(r, "pointer", 4096, "move_us"), "<", 2);
    bench_print_goal("greedy, 10^5 objects on 64 PEs, seconds",
                     results_get(r, "greedy", objects, "decide_s"), "<", 0.5);
    bench_print_goal("refine, 10^5 objects on 64 PEs, seconds",
                     results_get(r, "refine", objects, "decide_s"), "<", 0.5);
    bench_print_goal("diffusion, time of a PE, 4096 PEs / 16 PEs",
                     bench_ratio(results_get(r, "diffusion", many, "pe_us"),
                                 results_get(r, "diffusion", few, "pe_us")),
                     "<=", 1.25);
    bench_print_goal("leanmd, structured / by hand",
                     bench_ratio(results_get(r, "structured", 64, "step-1pe"),
                                 results_get(r, "by-hand", 64, "step-1pe")),
                     "<=", 1.02);
}

static void bench_balance_print(const struct results *r)
{
    printf(
        "leanmd with a dense droplet, a process on each core: milliseconds per step, the work of "
        "the\nbusiest PE / the mean, and idle time in percent\n%-32s%12s%10s%8s\n",
        "", "step", "max/mean", "idle");
    for (const int *pes = r->host->pes; *pes; pes++)
        if (*pes > 1)
            bench_balance_print_droplet(r, *pes);
    bench_balance_print_parts(r);
    bench_print_goals_head("Goals");
    for (const int *pes = r->host->pes; *pes; pes++)
        if (*pes > 1)
            bench_balance_print_droplet_goals(r, *pes);
    bench_balance_print_app_goals(r);
    bench_balance_print_part_goals(r);
    if (!r->host->pes_given && !bench_balance_fits(r->host, 16))
        printf("Goals of 16 PEs are not measured: this host has %d core%s.\n", r->host->cores,
               r->host->cores == 1 ? "" : "s");
}

/* ---- plot ---------------------------------------------------------------- */

/* Returns the largest number of PEs on which a droplet was measured, or 2. */
static int bench_balance_most(const struct bench_host *host)
{
    int most = 2;

    for (const int *pes = host->pes; *pes; pes++)
        most = *pes > most && bench_balance_fits(host, *pes) ? *pes : most;
    return most;
}

/* The time of a step over the steps: the mean of each SAMPLE steps. */
static void bench_balance_plot(const struct results *r, FILE *to)
{
    int               pes = bench_balance_most(r->host);
    char              title[96], metric[32];
    struct plot_curve curve[] = {{.name = "no balancing", .colour = "#7f7f7f", .dash = ""},
                                 {.name = STRATEGY, .colour = "#d62728", .dash = ""},
                                 {.name = "ideal", .colour = "#2ca02c", .dash = "4 3"}};
    struct plot       plot    = {title, "step", "ms per step", curve, 3};
    double            ideal   = 1e3 * bench_balance_ideal(r, pes);

    snprintf(title, sizeof title, "leanmd with a dense droplet, %d PEs, balanced every %d steps",
             pes, PERIOD);
    snprintf(metric, sizeof metric, "interval-%dpe", pes);
    for (size_t step = SAMPLE; step <= STEPS; step += SAMPLE) {
        plot_curve_add(&curve[0], (double)step, 1e3 * results_get(r, "unbalanced", step, metric));
        plot_curve_add(&curve[1], (double)step, 1e3 * results_get(r, "balanced", step, metric));
        plot_curve_add(&curve[2], (double)step, ideal);
    }
    plot_write_axes(&plot, 1, &(struct plot_axes){.x = PLOT_LINEAR, .y = PLOT_LINEAR}, to);
}

const struct bench bench_balance = {.name        = "balance",
                                    .run         = bench_balance_run,
                                    .print       = bench_balance_print,
                                    .plot        = bench_balance_plot,
                                    .default_pes = bench_balance_pes};
