/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_balance.c - skua bench balance: load balancing, and the operations it uses, in one run.
 *
 * leanmd with a dense droplet runs without and with balancing, one process on each core: on two
 * PEs, and on sixteen where there are as many cores.  The ideal time of a step is the work of all
 * PEs in the run without balancing, divided by the number of PEs.  Work is the time in the code of
 * cells and computes, with the contributions of forces to their sums: all else that the runtime
 * does to send, schedule, deliver, measure and balance counts against the balanced run.  The time
 * of one PE divided by the number of PEs, which contains all of that but messages between PEs, is
 * printed for comparison. The limit is the computation of the same forces with nothing but a
 * barrier after each step. A table divides the times into parts (time_parts.h). Beside it: leanmd
 * of an even density against MPI, structured control flow against a state machine written by hand,
 * barneshut against the same traversal without the runtime, the cost of moving elements, and the
 * time that strategies take to decide.
 */
#include <string.h>

#include "scaling.h"
#include "time_parts.h"

/* The droplet of the runs on two and on sixteen PEs: the blocks of cells that PEs begin with differ
 * by the factor that the goals name. */
static const struct {
    int         pes;
    const char *cells;
    size_t      count;  /* of cells                                            */
    double      uneven; /* goal: the work of the busiest PE / the mean, before */
    double      gain;   /* goal: time without balancing / time with it         */
} droplets[] = {{2, "6,6,6", 216, 1.5, 1.4}, {16, "12,12,12", 1728, 2, 1.7}};

#define DROPLETS (sizeof droplets / sizeof *droplets)

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

/* Runs leanmd with droplet @p d on @p pes PEs. */
static void bench_balance_run_droplet(struct results *results, size_t d, int pes, bool balanced)
{
    bench_run_job(results,
                  "-n %d --pin=auto --set=balance=%s @leanmd --size=%s --droplet --steps=%d "
                  "--warmup=%d --migrate=%d --balance=%d --series=%s",
                  pes, balanced ? STRATEGY : "none", droplets[d].cells, STEPS, WARMUP, SAMPLE,
                  PERIOD, balanced ? "balanced" : "unbalanced");
}

/* Runs the forces of droplet @p d alone on @p pes PEs. */
static void bench_balance_run_limit(struct results *results, size_t d, int pes)
{
    char argument[64];

    snprintf(argument, sizeof argument, "%s,%d,%d,%d,1", droplets[d].cells, LIMIT_ATOMS,
             LIMIT_STEPS, LIMIT_MARGIN);
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

/* The numbers of PEs on which applications are measured. */
static const int bench_balance_pes[] = {1, 2, 16};

#define PES (sizeof bench_balance_pes / sizeof *bench_balance_pes)

static void bench_balance_run_scaling(const struct scaling *scaling, struct results *results)
{
    for (size_t i = 0; i < PES; i++)
        if (bench_balance_fits(results->host, bench_balance_pes[i]))
            scaling_run_on(scaling, results, bench_balance_pes[i]);
}

static void bench_balance_run(struct results *results)
{
    for (size_t d = 0; d < DROPLETS; d++) {
        if (!bench_balance_fits(results->host, droplets[d].pes))
            continue;
        bench_step(results, "a droplet on one PE");
        bench_balance_run_droplet(results, d, 1, false);
        bench_step(results, "a droplet without balancing");
        bench_balance_run_droplet(results, d, droplets[d].pes, false);
        bench_step(results, "a droplet with balancing");
        bench_balance_run_droplet(results, d, droplets[d].pes, true);
        bench_step(results, "the forces of a droplet alone");
        bench_balance_run_limit(results, d, 1);
        bench_balance_run_limit(results, d, droplets[d].pes);
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
static double bench_balance_droplet(const struct results *r, size_t d, bool balanced,
                                    const char *what)
{
    return results_get_metric(r, balanced ? "balanced" : "unbalanced", droplets[d].count, "%s-%dpe",
                              what, droplets[d].pes);
}

/* Seconds of a step if all PEs had the same work: idle is the fraction of the time without work. */
static double bench_balance_ideal(const struct results *r, size_t d)
{
    return bench_balance_droplet(r, d, false, "step") *
           (1 - bench_balance_droplet(r, d, false, "idle"));
}

/* Seconds of a step on one PE, divided by the number of PEs. */
static double bench_balance_one(const struct results *r, size_t d)
{
    return results_get(r, "unbalanced", droplets[d].count, "step-1pe") / droplets[d].pes;
}

/* Seconds of a step of the limit of a droplet. */
static double bench_balance_limit(const struct results *r, size_t d, int pes)
{
    return results_get_metric(r, "limit", droplets[d].count, "step-%dpe", pes);
}

static void bench_balance_print_droplet(const struct results *r, size_t d)
{
    if (!bench_balance_fits(r->host, droplets[d].pes)) {
        printf("%2d PEs: skipped, this host has %d core%s\n", droplets[d].pes, r->host->cores,
               r->host->cores == 1 ? "" : "s");
        return;
    }
    for (int balanced = 0; balanced < 2; balanced++) {
        printf("%2d PEs, %-24s", droplets[d].pes, balanced ? STRATEGY : "no balancing");
        bench_print_value(1e3 * bench_balance_droplet(r, d, balanced, "step"), 12);
        bench_print_value(bench_balance_droplet(r, d, balanced, "uneven"), 10);
        bench_print_value(100 * bench_balance_droplet(r, d, balanced, "idle"), 8);
        printf("\n");
    }
    printf("%2d PEs, %-24s", droplets[d].pes, "ideal: work / PEs");
    bench_print_value(1e3 * bench_balance_ideal(r, d), 12);
    printf("\n%2d PEs, %-24s", droplets[d].pes, "time of one PE / PEs");
    bench_print_value(1e3 * bench_balance_one(r, d), 12);
    printf("\n%2d PEs, %-24s", droplets[d].pes, "limit: the forces alone");
    bench_print_value(1e3 * bench_balance_limit(r, d, droplets[d].pes), 12);
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
    for (size_t d = 0; d < DROPLETS; d++) {
        size_t cells = droplets[d].count;
        int    pes   = droplets[d].pes;

        bench_balance_print_part(r, "droplet", "unbalanced", "unbalanced", cells, pes);
        bench_balance_print_part(r, "droplet", "balanced", "unbalanced", cells, pes);
        bench_balance_print_part(r, "droplet", "limit", "limit", cells, pes);
    }
    for (size_t i = 0; i < PES; i++) {
        int    pes   = bench_balance_pes[i];
        size_t cells = scaling_leanmd.bytes_on(&scaling_leanmd, pes);

        bench_balance_print_part(r, "even", "skua", "skua", cells, pes);
        bench_balance_print_part(r, "even", "limit", "limit", cells, pes);
    }
}

static void bench_balance_print_droplet_goals(const struct results *r, size_t d)
{
    double step = bench_balance_droplet(r, d, true, "step");

    bench_print_goalf(bench_balance_droplet(r, d, false, "uneven"), ">=", droplets[d].uneven,
                      "droplet, %d PEs: max/mean without balancing", droplets[d].pes);
    bench_print_goalf(bench_ratio(bench_balance_droplet(r, d, false, "step"), step),
                      ">=", droplets[d].gain, "droplet, %d PEs: time without / with balancing",
                      droplets[d].pes);
    bench_print_goalf(bench_ratio(step, bench_balance_ideal(r, d)), "<=", 1.1,
                      "droplet, %d PEs: time with balancing / ideal", droplets[d].pes);
    if (bench_balance_one(r, d) > 0)
        printf("droplet, %2d PEs: time with balancing / (one PE / PEs)%18.2f\n", droplets[d].pes,
               step / bench_balance_one(r, d));
    if (bench_balance_limit(r, d, 1) > 0)
        printf("droplet, %2d PEs: the limit / (its one PE / PEs)%24.2f\n", droplets[d].pes,
               bench_balance_limit(r, d, droplets[d].pes) * droplets[d].pes /
                   bench_balance_limit(r, d, 1));
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
    double ratio = scaling_speed_of_limit(scaling, r, pes);
    char   what[64];

    if (ratio == 0)
        return;
    snprintf(what, sizeof what, "%s, %d PE%s: speed / the limit", name, pes, pes == 1 ? "" : "s");
    printf("%-62s%8.2f\n", what, ratio);
}

static void bench_balance_print_app_goals(const struct results *r)
{
    double one = scaling_value(&scaling_leanmd, r, "skua", 1);

    for (size_t i = 0; i < PES; i++) {
        int    pes  = bench_balance_pes[i];
        double step = scaling_value(&scaling_leanmd, r, "skua", pes);

        bench_print_goalf(bench_ratio(step, bench_balance_mpi(r, pes)), "<=", 1,
                          "leanmd, even, %d PE%s: time / better MPI", pes, pes == 1 ? "" : "s");
        bench_balance_print_limit(r, &scaling_leanmd, "leanmd, even", pes);
        bench_balance_print_limit(r, &scaling_barneshut, "barneshut", pes);
        if (pes == 16)
            bench_print_goal("leanmd, even, 16 PEs: efficiency, of one PE",
                             bench_ratio(one, pes * step), ">=", 0.85);
        if (pes == 1)
            continue;
        bench_print_goalf(bench_ratio(scaling_value(&scaling_barneshut, r, "plain", 1),
                                      pes * scaling_value(&scaling_barneshut, r, "skua", pes)),
                          ">=", pes == 2 ? 0.9 : 0.75,
                          "barneshut, %d PEs: efficiency, of the plain traversal", pes);
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
    for (size_t d = 0; d < DROPLETS; d++)
        bench_balance_print_droplet(r, d);
    bench_balance_print_parts(r);
    bench_print_goals_head("Goals");
    for (size_t d = 0; d < DROPLETS; d++)
        bench_balance_print_droplet_goals(r, d);
    bench_balance_print_app_goals(r);
    bench_balance_print_part_goals(r);
    if (!bench_balance_fits(r->host, 16))
        printf("Goals of 16 PEs are not measured: this host has %d core%s.\n", r->host->cores,
               r->host->cores == 1 ? "" : "s");
}

/* ---- plot ---------------------------------------------------------------- */

/* The time of a step over the steps: the mean of each SAMPLE steps. */
static void bench_balance_plot(const struct results *r, FILE *to)
{
    size_t            d = bench_balance_fits(r->host, droplets[1].pes) ? 1 : 0;
    char              title[96], metric[32];
    struct plot_curve curve[] = {{.name = "no balancing", .colour = "#7f7f7f", .dash = ""},
                                 {.name = STRATEGY, .colour = "#d62728", .dash = ""},
                                 {.name = "ideal", .colour = "#2ca02c", .dash = "4 3"}};
    struct plot       plot    = {title, "step", "ms per step", curve, 3};
    double            ideal   = 1e3 * bench_balance_ideal(r, d);

    snprintf(title, sizeof title, "leanmd with a dense droplet, %d PEs, balanced every %d steps",
             droplets[d].pes, PERIOD);
    snprintf(metric, sizeof metric, "interval-%dpe", droplets[d].pes);
    for (size_t step = SAMPLE; step <= STEPS; step += SAMPLE) {
        plot_curve_add(&curve[0], (double)step, 1e3 * results_get(r, "unbalanced", step, metric));
        plot_curve_add(&curve[1], (double)step, 1e3 * results_get(r, "balanced", step, metric));
        plot_curve_add(&curve[2], (double)step, ideal);
    }
    plot_write_axes(&plot, 1, &(struct plot_axes){.x = PLOT_LINEAR, .y = PLOT_LINEAR}, to);
}

const struct bench bench_balance = {.name  = "balance",
                                    .run   = bench_balance_run,
                                    .print = bench_balance_print,
                                    .plot  = bench_balance_plot,
                                    .instead_of_pes =
                                        "this benchmark measures 2 PEs, and 16 on as many cores; "
                                        "skua bench leanmd --pes measures others"};
