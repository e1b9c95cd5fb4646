/* SPDX-License-Identifier: Apache-2.0 */
/* bench_common.c - functions that benchmarks share (bench.h): running programs of Skua and of its
 * peers, and comparing their results. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/topology.h"
#include "bench.h"
#include "cpu_rates.h"

#define BENCH_THREADS_LIMIT 60 /* seconds: a peer with several threads may hang */
/* Seconds for a peer with more processes than cores, with either MPI: with MPICH some programs take
 * a time slice for each message, presumably because its processes poll without yielding. */
#define BENCH_CROWDED_LIMIT 180
#define BENCH_TIMED_OUT     124 /* exit code of timeout(1) */
#define BENCH_WORDS         32  /* of the command line of a job, at most */

static struct cpu_rates bench_rates; /* of the CPUs, before each program */

/* ---- running programs ------------------------------------------------------------- */

static void bench_read_line(const char *line, void *results)
{
    results_read(results, line);
}

/* Runs a program and adds its results.  Returns its exit code.  The message names the first word of
 * the command and the last two, since a launcher comes first. */
static int bench_run_code(struct results *results, char *const argv[])
{
    struct results printed = {.count = 0};
    int            code, last = 0;

    if (!program_interrupted())
        cpu_rates_measure(&bench_rates);
    code = program_run(argv, false, bench_read_line, &printed);
    for (size_t i = 0; code == 0 && i < printed.count; i++)
        results_add_measured(results, &printed.list[i]);
    results_free(&printed);
    if (code == 0 || program_interrupted())
        return code;
    while (argv[last + 1])
        last++;
    fprintf(stderr, "skua: %s%s%s %s %s (%d); continuing without it\n", argv[0],
            last > 2 ? " ... " : "", last > 1 ? argv[last - 1] : "", last > 0 ? argv[last] : "",
            code == BENCH_TIMED_OUT ? "did not end within its time limit" : "failed", code);
    return code;
}

void bench_print_rates(FILE *to)
{
    cpu_rates_print(&bench_rates, to);
    cpu_rates_free(&bench_rates);
}

void bench_run(struct results *results, char *const argv[])
{
    bench_run_code(results, argv);
}

void bench_run_job(struct results *results, const char *format, ...)
{
    char        path[PROGRAM_PATH_BYTES], *text;
    const char *argv[BENCH_WORDS] = {results->host->skuarun};
    va_list     list;
    int         i = 1;

    va_start(list, format);
    text = vasprintf(&text, format, list) < 0 ? NULL : text; /* any number of CPUs */
    va_end(list);
    argv[program_add_words(argv, 1, ski_memory_checked(text, strlen(format)))] = NULL;
    while (argv[i][0] != '@')
        i++;
    if (program_find(argv[i] + 1, path)) {
        argv[i] = path;
        bench_run(results, (char **)argv);
    }
    free(text);
}

void bench_run_floor(struct results *results, char *what)
{
    char  path[PROGRAM_PATH_BYTES], cpu[2][16];
    char *argv[5] = {path, what, cpu[0], cpu[1], NULL};

    if (!program_find("bench-floor", path))
        return;
    for (int i = 0; i < 2; i++)
        snprintf(cpu[i], sizeof cpu[i], "%d", results->host->cpu[i]);
    if (!what)
        memmove(argv + 1, argv + 2, 3 * sizeof *argv);
    bench_run(results, argv);
}

void bench_run_each(struct results *results, void (*run)(struct results *results, int pes))
{
    for (const int *pes = results->host->pes; *pes; pes++) {
        results->pes = *pes;
        run(results, *pes);
    }
    results->pes = 0;
}

void bench_run_between_hosts(struct results *results, int pes, const char *name,
                             const char *arguments)
{
    char *pin = pes == 2 ? bench_halves(results->host, pes) : bench_pin(results->host, pes);

    program_set_variable("SKUA_DRIVER", "tcp");
    bench_run_job(results, "-n %d -t %d --pin=%s -s shared_memory=0 @%s %s", pes, pes / 2, pin,
                  name, arguments);
    program_restore_variable("SKUA_DRIVER");
    free(pin);
}

bool bench_launcher(const char *launcher, char path[PROGRAM_PATH_BYTES])
{
    char name[64];

    if (strcmp(launcher, "oshrun") == 0)
        return program_in_path(launcher, path);
    snprintf(name, sizeof name, "mpirun.%s", launcher);
    return program_in_path(name, path) || program_in_path("mpirun", path);
}

/* Says once for each peer that cannot be run why its rows stay empty. */
static void bench_say_missing(const char *program)
{
    static char said[16][64];
    size_t      i = 0;

    while (i < 16 && said[i][0] && strcmp(said[i], program) != 0)
        i++;
    if (i == 16 || said[i][0])
        return;
    snprintf(said[i], sizeof said[i], "%s", program);
    program_show(NULL);
    fprintf(stderr,
            "skua bench: %s is not measured: it was not built, or its launcher is missing "
            "(scripts/setup.sh bench installs the peers; then configure and build again)\n",
            program);
}

/* Returns @p count numbers with commas between them, allocated. */
static char *bench_write_list(const int *number, int count)
{
    size_t room = (size_t)count * sizeof "-2147483648," + 1, n = 0;
    char  *text = ski_calloc(room, 1);

    for (int i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, room - n, "%s%d", i ? "," : "", number[i]);
    return text;
}

char *bench_cpus(const struct bench_host *host, int pes, int threads)
{
    int  *cpu  = ski_calloc((size_t)pes, sizeof *cpu);
    char *list = NULL;

    if (pes <= host->cores && ski_topology_assign("auto", pes, threads, cpu) == SKUA_OK)
        list = bench_write_list(cpu, pes);
    free(cpu);
    return list;
}

char *bench_halves(const struct bench_host *host, int pes)
{
    int  *cpu = ski_calloc((size_t)pes, sizeof *cpu);
    char *list;

    for (int i = 0; i < pes; i++)
        cpu[i] = host->cpu[2 * i / pes];
    list = bench_write_list(cpu, pes);
    free(cpu);
    return list;
}

char *bench_pin(const struct bench_host *host, int pes)
{
    if (pes > 2 && pes > host->cores)
        return bench_halves(host, pes);
    return ski_memory_checked(strdup("auto"), sizeof "auto");
}

char *bench_bound_options(const struct bench_host *host, int pes, int threads)
{
    char  *list = bench_cpus(host, pes, threads);
    size_t room = (list ? strlen(list) : 0) + 64;
    char  *text = ski_malloc(room);

    snprintf(text, room, "-n %d -t %d %s%s", pes, threads, list ? "--pin=" : "", list ? list : "");
    free(list);
    return text;
}

/* ---- peers that are stopped ------------------------------------------------------- */

#define BENCH_STOPPED "stopped_s-" /* begins the metric of a run that was stopped */

void bench_add_stopped(struct results *results, const struct bench_stop *stop)
{
    struct result stopped = {.bytes = 0, .value = stop->seconds};

    snprintf(stopped.bench, sizeof stopped.bench, "%s", stop->program);
    snprintf(stopped.series, sizeof stopped.series, "%s", stop->series);
    snprintf(stopped.metric, sizeof stopped.metric, BENCH_STOPPED "%s%dpe", stop->of, stop->pes);
    results_add(results, &stopped);
}

double bench_get_stopped(const struct results *results, const char *series, const char *of, int pes)
{
    return results_get_metric(results, series, 0, BENCH_STOPPED "%s%dpe", of, pes);
}

void bench_print_stopped(const struct results *results)
{
    size_t start = strlen(BENCH_STOPPED);

    for (const struct result *r = results->list; r < results->list + results->count; r++)
        if (strncmp(r->metric, BENCH_STOPPED, start) == 0 && atoi(r->metric + start) > 0)
            printf("A run of %s with %d PEs was stopped after %g s and has no values.\n", r->bench,
                   atoi(r->metric + start), r->value);
}

/* ---- running peers ----------------------------------------------------------------- */

/* Runs a peer on @p ranks processes: rank i on core i, in the order of the machine, if @p bound.
 * Unless @p limit is 0, the peer is stopped after so many seconds.  Returns whether it was. */
static bool bench_run_peer_bound(struct results *results, const struct bench_peer *peer, int ranks,
                                 bool bound, int limit)
{
    bool  open = strcmp(peer->launcher, "mpich") != 0;
    char  launcher[PROGRAM_PATH_BYTES], path[PROGRAM_PATH_BYTES], n[16], seconds[16];
    char *argv[16] = {"/usr/bin/timeout", seconds};
    int   i        = limit ? 2 : 0;

    if (!program_find(peer->program, path) || !bench_launcher(peer->launcher, launcher)) {
        bench_say_missing(peer->program);
        return false;
    }
    snprintf(n, sizeof n, "%d", ranks);
    snprintf(seconds, sizeof seconds, "%d", limit);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    argv[i++] = launcher;
    if (open)
        argv[i++] = "--oversubscribe";
    if (bound) {
        argv[i++] = open ? "--map-by" : "-map-by";
        argv[i++] = "core";
    }
    argv[i++] = open ? "--bind-to" : "-bind-to";
    argv[i++] = bound ? "core" : "none";
    argv[i++] = "-n";
    argv[i++] = n;
    argv[i++] = path;
    argv[i++] = (char *)peer->series;
    argv[i++] = (char *)peer->argument;
    argv[i]   = NULL;
    return bench_run_code(results, argv) == BENCH_TIMED_OUT && limit > 0;
}

void bench_run_peer(struct results *results, const struct bench_peer *peer, int ranks)
{
    bool bound = ranks <= results->host->cores;

    if (bench_run_peer_bound(results, peer, ranks, bound, bound ? 0 : BENCH_CROWDED_LIMIT))
        bench_add_stopped(results, &(struct bench_stop){peer->program, peer->series, "", ranks,
                                                        BENCH_CROWDED_LIMIT});
}

const char *const bench_mpis[BENCH_MPIS] = {"openmpi", "mpich"};

void bench_run_mpi(struct results *results, const char *mpi, const char *name, const char *series,
                   const char *argument, int ranks)
{
    char              program[64];
    struct bench_peer peer = {mpi, program, series, argument};

    snprintf(program, sizeof program, "peer-%s-%s", mpi, name);
    bench_run_peer(results, &peer, ranks);
}

void bench_run_peer_threads(struct results *results, const struct bench_peer *peer, int ranks,
                            int threads)
{
    char *list = bench_cpus(results->host, ranks * threads, threads);

    if (list)
        program_set_variable("BENCH_CPUS", list); /* for bench_cpu_of() of bench/bench.h */
    if (bench_run_peer_bound(results, peer, ranks, false, BENCH_THREADS_LIMIT))
        bench_add_stopped(results, &(struct bench_stop){peer->program, peer->series, "",
                                                        ranks * threads, BENCH_THREADS_LIMIT});
    program_restore_variable("BENCH_CPUS");
    free(list);
}

void bench_stepf(const struct results *results, const char *format, ...)
{
    char    text[96];
    size_t  used = (size_t)snprintf(text, sizeof text, "round %d of %d: ", results->host->round,
                                    results->host->rounds);
    va_list list;

    if (results->pes > 2)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d PEs, ", results->pes);

    va_start(list, format);
    vsnprintf(text + used, sizeof text - used, format, list);
    va_end(list);
    program_announce(text);
}

void bench_step(const struct results *results, const char *what)
{
    bench_stepf(results, "%s", what);
}

/* ---- comparing results ----------------------------------------------------------- */

void bench_setup_series(char *to, size_t room, const char *library, const struct bench_setup *setup)
{
    snprintf(to, room, "%s%s-%d", library, setup->tcp ? "-tcp" : "", setup->pes);
}

void bench_setup_each(const struct results *results,
                      void (*print)(const struct results *, const struct bench_setup *))
{
    for (const int *pes = results->host->pes; *pes; pes++)
        for (int tcp = 0; tcp < 2; tcp++)
            print(results, &(struct bench_setup){tcp, *pes});
}

void bench_print_each(const struct results *results,
                      void (*print)(const struct results *results, int pes))
{
    for (const int *pes = results->host->pes; *pes; pes++) {
        struct results on;

        results_select(results, *pes, &on);
        print(&on, *pes);
        results_free(&on);
    }
}

void bench_print_pairs_head(const struct results *results, int pes)
{
    const int *first = results->host->pes;

    if (pes > 2)
        printf("%s%d PEs: %d pairs that communicate at once, of which the slowest counts\n",
               *first == pes ? "" : "\n", pes, pes / 2);
    else if (first[1] != 0)
        printf("%s2 PEs\n", *first == pes ? "" : "\n");
}

void bench_title(char *to, size_t room, int pes, const char *title)
{
    if (pes == 2)
        snprintf(to, room, "%s", title);
    else
        snprintf(to, room, "%d PEs: %s", pes, title);
}

double bench_ratio(double a, double b)
{
    return a > 0 && b > 0 ? a / b : 0;
}

double bench_shorter(double a, double b)
{
    if (a == 0 || b == 0)
        return a + b;
    return a < b ? a : b;
}

double bench_better_mpi(const struct results *results, size_t bytes, const char *metric)
{
    double open  = results_get(results, bench_mpis[0], bytes, metric),
           mpich = results_get(results, bench_mpis[1], bytes, metric);

    if (open == 0 || mpich == 0)
        return open + mpich;
    return (open > mpich) == results_more_is_better(metric) ? open : mpich;
}

struct bench_worst bench_find_worst(const struct results *results, const char *series,
                                    const char *metric, const char *other, const char *other_metric,
                                    const size_t *sizes, size_t count)
{
    struct bench_worst worst = {0, 0};

    for (const size_t *bytes = sizes; bytes < sizes + count; bytes++) {
        double mine   = results_get(results, series, *bytes, metric),
               theirs = results_get(results, other, *bytes, other_metric);
        double ratio =
            results_more_is_better(metric) ? bench_ratio(theirs, mine) : bench_ratio(mine, theirs);

        if (ratio > worst.ratio)
            worst = (struct bench_worst){ratio, *bytes};
    }
    return worst;
}

void bench_print_goals_head(const char *title)
{
    printf("\n%-62s%8s\n", title, "ratio");
}

void bench_print_goal(const char *what, double measured, const char *relation, double goal)
{
    bool holds = relation[0] == '<' ? measured <= goal : measured >= goal;

    if (goal == 0 && measured > 0)
        printf("%-62s%8.2f  no goal\n", what, measured);
    else if (goal > 0 && measured > 0)
        printf("%-62s%8.2f  %s %-6g%s\n", what, measured, relation, goal, holds ? "" : "  MISSED");
    else if (goal > 0)
        printf("%-62s%8s  %s %-6g  not measured\n", what, "-", relation, goal);
}

void bench_print_goalf(double measured, const char *relation, double goal, const char *format, ...)
{
    char    what[96];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    bench_print_goal(what, measured, relation, goal);
}

void bench_print_value(double value, int width)
{
    if (value == 0)
        printf("%*s", width, "-");
    else
        printf("%*.*f", width, value < 0.1 ? 4 : value < 1 ? 3 : value < 10 ? 2 : 1, value);
}

void bench_plot_curve(struct plot_curve *curve, const struct results *results, const char *series,
                      const char *metric, const size_t *sizes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        plot_curve_add(curve, (double)sizes[i], results_get(results, series, sizes[i], metric));
}
