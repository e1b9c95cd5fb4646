/* SPDX-License-Identifier: Apache-2.0 */
/* bench_fmm.c - skua bench fmm: the fast multipole method with puts and notifications, with and
 * without overlap, against MPI with messages and with MPI_Put, which run the same kernels: inside a
 * host, over TCP, and over a network whose rate is limited, where an exchange takes a large part of
 * a solve. */
#include <string.h>

#include "network.h"
#include "scaling.h"

#define ERROR "1e-4" /* of the energy */
#define MANY  100000
#define LARGE 1000000

static const int sizes[]   = {20000, LARGE}; /* particles */
static const int numbers[] = {1, 2, 16};     /* of PEs */

#define SIZES   (sizeof sizes / sizeof *sizes)
#define NUMBERS (sizeof numbers / sizeof *numbers)
#define WORDS   16 /* of a command line */

#define SLOW_RATE  "100mbit" /* a solve of 20000 particles takes as long as its exchange */
#define SLOW_BURST "32kb"

/* The networks between two PEs. */
static const struct fmm_path {
    const char *part;   /* name of --only */
    const char *suffix; /* of a series    */
    const char *what;
    const char *rate; /* limit of the network, or NULL   */
    int         most; /* largest number of particles     */
} paths[] = {{"tcp", "-tcp", "TCP", NULL, LARGE},
             {"slow", "-slow", "100 Mbit/s", SLOW_RATE, 20000}};

static const char *const variants[] = {"messages", "puts"};

#define PATHS (sizeof paths / sizeof *paths)

/* ---- running ------------------------------------------------------------- */

/* The arguments of a run: small problems are solved more often.  The large one is solved at least
 * twice: the first solve of a job takes pages that a virtual machine may have to get from its host,
 * at the cost of the program that runs after a pause.  Many PEs, which are soon done, solve it
 * three times, since the work is divided by the speeds of earlier solves. */
static void bench_fmm_arguments(char arguments[96], int particles, int pes)
{
    snprintf(arguments, 96, "--particles=%d --error=" ERROR " --check=100 --repeat=%d", particles,
             particles < MANY    ? 10
             : particles < LARGE ? 5
             : pes > 2           ? 3
                                 : 2);
}

static void bench_fmm_run_skua(struct results *results, int pes, int particles, const char *options,
                               const char *series)
{
    char rule[96];

    bench_fmm_arguments(rule, particles, pes);
    bench_run_job(results, "-n %d%s @fmm %s --series=%s%s", pes, options, rule, series,
                  strstr(series, "-wait") ? " --no-overlap" : "");
}

static void bench_fmm_run_mpi(struct results *results, int pes, int particles, const char *mpi,
                              const char *variant)
{
    char series[48], argument[128], rule[96];

    bench_fmm_arguments(rule, particles, pes);
    snprintf(series, sizeof series, "%s-%s", mpi, variant);
    snprintf(argument, sizeof argument, "%s %s", variant, rule);
    bench_run_mpi(results, mpi, "fmm", series, argument, pes);
}

/* Runs each variant on a number of PEs. */
static void bench_fmm_run_all(struct results *results, int pes, int particles)
{
    char threads[32];

    snprintf(threads, sizeof threads, " -t %d", pes);
    bench_fmm_run_skua(results, pes, particles, "", "skua");
    bench_fmm_run_mpi(results, pes, particles, "openmpi", "messages");
    bench_fmm_run_mpi(results, pes, particles, "mpich", "messages");
    if (pes == 1)
        return;
    bench_fmm_run_skua(results, pes, particles, threads, "skua-threads");
    bench_fmm_run_mpi(results, pes, particles, "openmpi", "puts");
    bench_fmm_run_mpi(results, pes, particles, "mpich", "puts");
}

/* Runs the limit, copies of a solve of one PE's share that exchange nothing: one, and one for each
 * PE. */
static void bench_fmm_run_limit(struct results *results, int pes, int particles)
{
    char argument[32];

    snprintf(argument, sizeof argument, "%d,3", particles / pes);
    scaling_run_limit(results, "fmm", argument, 1);
    scaling_run_limit(results, "fmm", argument, pes);
}

/* Returns whether a part is measured. */
static bool bench_fmm_wanted(const struct bench_host *host, const char *part)
{
    return !host->only || strcmp(host->only, part) == 0;
}

static const char *bench_fmm_part(int particles)
{
    return particles < LARGE ? "small" : "large";
}

static bool bench_fmm_has_part(const char *name)
{
    bool found = strcmp(name, "small") == 0 || strcmp(name, "large") == 0;

    for (size_t i = 0; i < PATHS; i++)
        found = found || strcmp(name, paths[i].part) == 0;
    return found;
}

/* Runs the solver of Skua with one PE at each end of a network. */
static void bench_fmm_run_ends(struct results *results, const struct network *network,
                               int particles, const char *series)
{
    char        program[PROGRAM_PATH_BYTES], rule[96], name[64];
    const char *argv[WORDS] = {program, name};
    int         count       = 2;

    if (!program_find("fmm", program))
        return;
    snprintf(name, sizeof name, "--series=%s", series);
    if (strstr(series, "-wait"))
        argv[count++] = "--no-overlap";
    bench_fmm_arguments(rule, particles, 2);
    program_add_words(argv, count, rule);
    network_run_driver(network, results, "tcp", argv);
}

static void bench_fmm_run_mpi_ends(struct results *results, const struct network *network,
                                   int particles, const char *mpi, const char *variant,
                                   const char *suffix)
{
    char name[48], path[PROGRAM_PATH_BYTES], series[64], argument[128], rule[96];

    snprintf(name, sizeof name, "peer-%s-fmm", mpi);
    if (!program_find(name, path))
        return;
    bench_fmm_arguments(rule, particles, 2);
    snprintf(series, sizeof series, "%s-%s%s", mpi, variant, suffix);
    snprintf(argument, sizeof argument, "%s %s", variant, rule);
    network_run_both(network, results, mpi, (const char *const[]){path, series, argument, NULL});
}

static void bench_fmm_run_variants(struct results *results, const struct network *network,
                                   const struct fmm_path *path, int particles)
{
    char series[48];

    snprintf(series, sizeof series, "skua%s", path->suffix);
    bench_fmm_run_ends(results, network, particles, series);
    snprintf(series, sizeof series, "skua%s-wait", path->suffix);
    bench_fmm_run_ends(results, network, particles, series);
    for (size_t i = 0; i < BENCH_MPIS; i++)
        for (size_t k = 0; k < 2; k++)
            bench_fmm_run_mpi_ends(results, network, particles, bench_mpis[i], variants[k],
                                   path->suffix);
}

/* Opens a network; one whose rate is limited is between two namespaces. */
static bool bench_fmm_open(struct network *network, const struct bench_host *host,
                           const struct fmm_path *path)
{
    if (!path->rate)
        return network_open(network, host);
    if (!network_open_all(network, host))
        return false;
    if (network_limit(network, path->rate, SLOW_BURST))
        return true;
    network_close(network);
    return false;
}

static void bench_fmm_run_path(struct results *results, const struct fmm_path *path)
{
    struct network network;

    if (!bench_fmm_open(&network, results->host, path)) {
        if (results->host->round == 1)
            fprintf(stderr, "skua: %s is not measured (is `ip' installed, and are you root?)\n",
                    path->what);
        return;
    }
    for (size_t i = 0; i < SIZES && sizes[i] <= path->most; i++) {
        bench_stepf(results, "%d particles, 2 PEs, %s", sizes[i], path->what);
        bench_fmm_run_variants(results, &network, path, sizes[i]);
    }
    network_close(&network);
}

static void bench_fmm_run_size(struct results *results, int particles)
{
    for (size_t k = 0; k < NUMBERS; k++) {
        if (numbers[k] > 2 && numbers[k] > results->host->cores)
            continue; /* not measured where PEs share cores */
        bench_stepf(results, "%d particles, %d PEs", particles, numbers[k]);
        bench_fmm_run_all(results, numbers[k], particles);
        if (numbers[k] > 1 && particles == LARGE)
            bench_fmm_run_limit(results, numbers[k], particles);
        if (numbers[k] == 2)
            bench_fmm_run_skua(results, 2, particles, "", "skua-wait");
    }
}

static void bench_fmm_run(struct results *results)
{
    for (size_t i = 0; i < SIZES; i++)
        if (bench_fmm_wanted(results->host, bench_fmm_part(sizes[i])))
            bench_fmm_run_size(results, sizes[i]);
    for (size_t i = 0; i < PATHS; i++)
        if (bench_fmm_wanted(results->host, paths[i].part))
            bench_fmm_run_path(results, &paths[i]);
}

/* ---- tables -------------------------------------------------------------- */

/* Returns a time in seconds. */
static double bench_fmm_value(const struct results *r, const char *series, int particles,
                              const char *what, int pes)
{
    return results_get_metric(r, series, (size_t)particles, "%s-%dpe", what, pes);
}

/* Returns the time of the fastest variant of both MPIs; @p suffix tells the network. */
static double bench_fmm_best_mpi(const struct results *r, int particles, int pes,
                                 const char *suffix)
{
    double best = 0;

    for (size_t i = 0; i < BENCH_MPIS; i++)
        for (size_t k = 0; k < 2; k++) {
            char series[64];

            snprintf(series, sizeof series, "%s-%s%s", bench_mpis[i], variants[k], suffix);
            best = bench_shorter(best, bench_fmm_value(r, series, particles, "step", pes));
        }
    return best;
}

/* Prints the time of each phase of a solve and of the whole. */
static void bench_fmm_print_phases(const struct results *r, const char *what, const char *series,
                                   int particles, int pes)
{
    static const char *const phases[] = {"tree", "up",   "near", "far",
                                         "down", "wait", "help", "step"};

    if (bench_fmm_value(r, series, particles, "step", pes) == 0)
        return;
    printf("%9d%4d  %-29s", particles, pes, what);
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        bench_print_value(1e3 * bench_fmm_value(r, series, particles, phases[i], pes), 9);
    printf("\n");
}

/* Prints the rows of two PEs at the ends of a network. */
static void bench_fmm_print_path(const struct results *r, const struct fmm_path *path,
                                 int particles)
{
    static const struct {
        const char *what, *series, *after;
    } rows[] = {{"skua", "skua", ""},
                {"skua, waiting first", "skua", "-wait"},
                {"Open MPI, messages", "openmpi-messages", ""},
                {"Open MPI, puts", "openmpi-puts", ""},
                {"MPICH, messages", "mpich-messages", ""},
                {"MPICH, puts", "mpich-puts", ""}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char what[64], series[64];

        snprintf(what, sizeof what, "%s: %s", path->what, rows[i].what);
        snprintf(series, sizeof series, "%s%s%s", rows[i].series, path->suffix, rows[i].after);
        bench_fmm_print_phases(r, what, series, particles, 2);
    }
}

static void bench_fmm_print_table(const struct results *r)
{
    static const struct {
        const char *what, *series;
    } rows[] = {{"skua, processes", "skua"},        {"skua, waiting first", "skua-wait"},
                {"skua, threads", "skua-threads"},  {"Open MPI, messages", "openmpi-messages"},
                {"Open MPI, puts", "openmpi-puts"}, {"MPICH, messages", "mpich-messages"},
                {"MPICH, puts", "mpich-puts"}};

    printf("Fast multipole method, uniform charges, error " ERROR
           ": milliseconds of a solve, mean of PEs\n%9s%4s  %-29s%9s%9s%9s%9s%9s%9s%9s%9s\n",
           "particles", "PEs", "", "tree", "up", "near", "far", "down", "wait", "help", "total");
    for (size_t i = 0; i < SIZES; i++) {
        for (size_t k = 0; k < NUMBERS; k++)
            for (size_t row = 0; row < sizeof rows / sizeof *rows; row++)
                bench_fmm_print_phases(r, rows[row].what, rows[row].series, sizes[i], numbers[k]);
        for (size_t path = 0; path < PATHS; path++)
            bench_fmm_print_path(r, &paths[path], sizes[i]);
    }
    if (bench_fmm_value(r, "skua", LARGE, "step", 1) > 0)
        printf("particles per second of one PE: %.0f\n",
               bench_ratio(LARGE, bench_fmm_value(r, "skua", LARGE, "step", 1)));
}

/* Prints the efficiency that the machine allows: the speed of a CPU when all of them compute. */
static void bench_fmm_print_limit(const struct results *r, int particles, int pes)
{
    double one = bench_fmm_value(r, "limit", particles / pes, "step", 1);
    double all = bench_fmm_value(r, "limit", particles / pes, "step", pes);

    if (one > 0 && all > 0)
        printf("%d particles, %2d PEs: efficiency of copies that exchange nothing%9.2f  a limit\n",
               particles, pes, one / all);
}

static void bench_fmm_print_goals(const struct results *r, int particles, int pes)
{
    double time = bench_fmm_value(r, "skua", particles, "step", pes);

    bench_print_goalf(bench_ratio(time, bench_fmm_best_mpi(r, particles, pes, "")), "<=", 1,
                      "%d particles, %d PEs: time / best MPI", particles, pes);
    if (pes == 1 || particles < LARGE)
        return;
    bench_print_goalf(bench_ratio(bench_fmm_value(r, "skua", particles, "step", 1), pes * time),
                      ">=", pes > 2 ? 0.8 : 0.9, "%d particles, %d PEs: efficiency", particles,
                      pes);
    bench_fmm_print_limit(r, particles, pes);
}

/* The goals of a network. The waiting that overlap saves is shown for itself, since over a fast
 * network it is a small part of a solve. */
static void bench_fmm_print_path_goals(const struct results *r, const struct fmm_path *path,
                                       int particles)
{
    char   with[32], without[32];
    double time;

    snprintf(with, sizeof with, "skua%s", path->suffix);
    snprintf(without, sizeof without, "skua%s-wait", path->suffix);
    time = bench_fmm_value(r, with, particles, "step", 2);
    bench_print_goalf(bench_ratio(time, bench_fmm_best_mpi(r, particles, 2, path->suffix)), "<=", 1,
                      "%d particles, %s: time / best MPI", particles, path->what);
    bench_print_goalf(bench_ratio(time, bench_fmm_value(r, without, particles, "step", 2)), "<=", 1,
                      "%d particles, %s: time with / without overlap", particles, path->what);
    bench_print_goalf(bench_ratio(bench_fmm_value(r, with, particles, "wait", 2),
                                  bench_fmm_value(r, without, particles, "wait", 2)),
                      "<=", 1, "%d particles, %s: waiting with / without overlap", particles,
                      path->what);
}

static void bench_fmm_print(const struct results *r)
{
    bench_fmm_print_table(r);
    bench_print_goals_head("Goals");
    for (size_t i = 0; i < SIZES; i++)
        for (size_t k = 0; k < NUMBERS; k++)
            bench_fmm_print_goals(r, sizes[i], numbers[k]);
    for (size_t path = 0; path < PATHS; path++)
        for (size_t i = 0; i < SIZES && sizes[i] <= paths[path].most; i++)
            bench_fmm_print_path_goals(r, &paths[path], sizes[i]);
}

/* ---- plot ---------------------------------------------------------------- */

#define CURVES 5

/* A plot for each number of particles. */
static void bench_fmm_plot(const struct results *r, FILE *to)
{
    static const struct plot_curve curves[CURVES] = {
        {.name = "skua", .colour = "#d62728", .dash = ""},
        {.name = "Open MPI, messages", .colour = "#7f7f7f", .dash = "4 3"},
        {.name = "Open MPI, puts", .colour = "#1f77b4", .dash = "4 3"},
        {.name = "MPICH, messages", .colour = "#8c564b", .dash = "2 3"},
        {.name = "MPICH, puts", .colour = "#2ca02c", .dash = "2 3"}};
    static const char *const series[CURVES] = {"skua", "openmpi-messages", "openmpi-puts",
                                               "mpich-messages", "mpich-puts"};
    static struct plot_curve curve[SIZES][CURVES];
    struct plot              picture[SIZES] = {
                     {"Fast multipole method, 20000 particles", "PEs", "s per solve", curve[0], CURVES},
                     {"Fast multipole method, 10^6 particles", "PEs", "s per solve", curve[1], CURVES}};

    for (size_t i = 0; i < SIZES; i++)
        for (size_t c = 0; c < CURVES; c++) {
            curve[i][c] = curves[c];
            for (size_t k = 0; k < NUMBERS; k++)
                plot_curve_add(&curve[i][c], numbers[k],
                               bench_fmm_value(r, series[c], sizes[i], "step", numbers[k]));
        }
    plot_write_axes(picture, SIZES, &(struct plot_axes){.x = PLOT_LOG2, .y = PLOT_LOG}, to);
}

const struct bench bench_fmm = {.name     = "fmm",
                                .run      = bench_fmm_run,
                                .print    = bench_fmm_print,
                                .plot     = bench_fmm_plot,
                                .has_part = bench_fmm_has_part};

/* ---- any number of PEs ----------------------------------------------------- */

/* The limit: a copy of the whole problem of one PE on each PE.  They exchange nothing. */
static void bench_fmm_scale(const struct scaling *scaling, struct results *results, int pes)
{
    int  particles = scaling_grow_count(scaling, pes);
    char argument[48];

    bench_fmm_run_all(results, pes, particles);
    snprintf(argument, sizeof argument, "%d,3,%d", scaling->size.of_one, particles);
    scaling_run_limit(results, "fmm", argument, pes);
}

static size_t bench_fmm_bytes_on(const struct scaling *scaling, int pes)
{
    return (size_t)scaling_grow_count(scaling, pes);
}

const struct scaling scaling_fmm = {.name     = "fmm",
                                    .problem  = "Fast multipole method, ",
                                    .after    = " particles, error " ERROR,
                                    .size     = {LARGE, 1000, 2000000, 0},
                                    .unit     = "seconds per solve",
                                    .factor   = 1,
                                    .curve    = {{"skua", "skua"},
                                                 {"skua-threads", "skua, threads"},
                                                 {"openmpi-messages", "Open MPI, messages"},
                                                 {"openmpi-puts", "Open MPI, puts"},
                                                 {"mpich-messages", "MPICH, messages"},
                                                 {"mpich-puts", "MPICH, puts"},
                                                 {"limit", "limit"}},
                                    .run      = bench_fmm_scale,
                                    .bytes_on = bench_fmm_bytes_on};
