/* SPDX-License-Identifier: Apache-2.0 */
/*
 * balance.c - skua balance: runs load balancing strategies on recorded loads, outside a job.
 *
 * A job balances with the strategy that SKUA_BALANCE names.  This command reads and checks a file
 * that a job has recorded (SKUA_BALANCE_RECORD) or that --make has generated, runs strategies on
 * it, and evaluates their decisions.  Local strategies are simulated round by round.
 */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance_table.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "commands.h"
#include "strategy/local_rounds.h"
#include "strategy/problem.h"
#include "strategy/problem_make.h"
#include "strategy/strategy.h"

static const char offline_help[] =
    "usage: skua balance [options] loads.json\n"
    "       skua balance --make=KIND [--pes=N] [--hosts=N] [--objects=N] [--seed=N]\n"
    "\n"
    "Runs load balancing strategies on loads that a job has recorded, and prints their\n"
    "effect: times of PEs, objects moved, bytes between PEs and between hosts.\n"
    "\n"
    "  -s, --strategy=NAME  the strategy (default: refine); `list' lists all\n"
    "  -a, --all            all strategies, in one table\n"
    "  -n, --pes=N          divide or join the PEs of the file to N simulated ones;\n"
    "                       with --make, the number of PEs (default: 16)\n"
    "      --rounds=N       local strategies: the largest number of rounds\n"
    "      --seed=N         the seed of strategies that decide at random, and of --make\n"
    "      --step=N         the N-th problem of a file of several (default: 1)\n"
    "      --json           print a line of JSON for each strategy\n"
    "      --svg=FILE       draw the times of PEs, before and after\n"
    "      --plugin=FILE    load a strategy: the variable skua_strategy_plugin, of type\n"
    "                       skua_strategy, of a shared library\n"
    "      --make=KIND      print generated loads: random, droplet, gradient, hotspot,\n"
    "                       varied or even\n"
    "      --objects=N      with --make, the number of objects (default: 1000)\n"
    "      --hosts=N        with --make, the number of hosts (default: 2)\n"
    "  -h, --help           print this text\n"
    "\n"
    "Without a file, or with -, loads are read from the standard input.\n";

struct offline_options {
    const char *strategy, *svg, *plugin, *make, *file;
    uint64_t    pes, rounds, seed, step, objects, hosts; /* 0: not given */
    bool        all, json, seeded;
};

/* ---- the command line ---------------------------------------------------------------------- */

static bool offline_number(const char *option, const char *text, uint64_t most, uint64_t *value)
{
    char *end;

    errno  = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && *value >= 1 && *value <= most)
        return true;
    fprintf(stderr, "skua balance: --%s=%s: expected a number from 1 to %" PRIu64 "\n", option,
            text, most);
    return false;
}

static bool offline_seed(const char *text, struct offline_options *o)
{
    char *end;

    errno     = 0;
    o->seed   = strtoull(text, &end, 0);
    o->seeded = true;
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno)
        return true;
    fprintf(stderr, "skua balance: --seed=%s: expected a number\n", text);
    return false;
}

/* Sets an option.  Returns 0, or an exit code + 1. */
static int offline_option(int c, struct offline_options *o)
{
    switch (c) {
    case 's': o->strategy = optarg; return 0;
    case 'a': o->all = true; return 0;
    case 'n': return offline_number("pes", optarg, SKI_PROBLEM_PES, &o->pes) ? 0 : 3;
    case 'r': return offline_number("rounds", optarg, 100000, &o->rounds) ? 0 : 3;
    case 'S': return offline_seed(optarg, o) ? 0 : 3;
    case 'N': return offline_number("step", optarg, UINT32_MAX, &o->step) ? 0 : 3;
    case 'j': o->json = true; return 0;
    case 'v': o->svg = optarg; return 0;
    case 'p': o->plugin = optarg; return 0;
    case 'm': o->make = optarg; return 0;
    case 'o': return offline_number("objects", optarg, 10000000, &o->objects) ? 0 : 3;
    case 'H': return offline_number("hosts", optarg, SKI_PROBLEM_PES, &o->hosts) ? 0 : 3;
    case 'h': fputs(offline_help, stdout); return 1;
    default: fputs("(skua balance --help)\n", stderr); return 3;
    }
}

static int offline_parse(int argc, char **argv, struct offline_options *o)
{
    static const struct option options[] = {
        {"strategy", required_argument, NULL, 's'}, {"all", no_argument, NULL, 'a'},
        {"pes", required_argument, NULL, 'n'},      {"rounds", required_argument, NULL, 'r'},
        {"seed", required_argument, NULL, 'S'},     {"step", required_argument, NULL, 'N'},
        {"json", no_argument, NULL, 'j'},           {"svg", required_argument, NULL, 'v'},
        {"plugin", required_argument, NULL, 'p'},   {"make", required_argument, NULL, 'm'},
        {"objects", required_argument, NULL, 'o'},  {"hosts", required_argument, NULL, 'H'},
        {"help", no_argument, NULL, 'h'},           {NULL, 0, NULL, 0},
    };
    int c, done = 0;

    while (!done && (c = getopt_long(argc, argv, "s:an:h", options, NULL)) != -1)
        done = offline_option(c, o);
    if (done)
        return done;
    if (argc - optind > 1 || (o->make && argc > optind)) {
        fprintf(stderr, "skua balance: %s: unexpected argument\n", argv[argc - 1]);
        return 3;
    }
    o->file = optind < argc ? argv[optind] : "-";
    return 0;
}

/* ---- the problem --------------------------------------------------------------------------- */

static const char *offline_file_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "the standard input" : file;
}

static char *offline_load(const char *file, size_t *bytes)
{
    bool   standard = strcmp(file, "-") == 0;
    FILE  *from     = standard ? stdin : fopen(file, "r");
    size_t room     = 1 << 16, n;
    char  *text     = ski_malloc(room);

    *bytes = 0;
    while (from && (n = fread(text + *bytes, 1, room - *bytes, from)) > 0) {
        *bytes += n;
        if (*bytes == room)
            text = ski_realloc(text, room *= 2);
    }
    if (!from || ferror(from)) {
        fprintf(stderr, "skua balance: %s: %s\n", file, strerror(errno));
        free(text);
        text = NULL;
    }
    if (from && !standard)
        fclose(from);
    return text;
}

/* Reads the problem that the options name. */
static bool offline_read(const struct offline_options *o, struct ski_problem *problem)
{
    size_t   bytes, at = 0;
    char    *text = offline_load(o->file, &bytes), error[SKI_PROBLEM_TEXT] = "";
    uint64_t step = o->step ? o->step : 1;
    int      got  = text ? 1 : -1;

    for (uint64_t k = 0; k < step && got == 1; k++) {
        if (k > 0)
            ski_problem_destroy(problem);
        got = ski_problem_read(text, bytes, &at, problem, error);
        if (got == 0 && k == 0)
            snprintf(error, sizeof error, "it is empty: expected loads that a job has recorded");
        else if (got == 0)
            snprintf(error, sizeof error,
                     "the file has %" PRIu64 " problems; there is no --step=%" PRIu64, k, step);
    }
    if (got != 1 && text)
        fprintf(stderr, "skua balance: %s: %s\n", offline_file_name(o->file), error);
    free(text);
    return got == 1;
}

/* Divides or joins PEs: the new PE k takes the place of the old PE k * old / new. */
static void offline_resize(struct ski_problem *problem, int32_t pes)
{
    skua_strategy_problem *p  = &problem->problem;
    skua_strategy_pe      *pe = ski_malloc((size_t)pes * sizeof *pe);

    for (int32_t k = 0; k < pes; k++) {
        pe[k]    = problem->pe[(int64_t)k * p->pes / pes];
        pe[k].pe = k;
    }
    for (uint32_t i = 0; i < p->objects; i++)
        problem->object[i].pe = (int32_t)((int64_t)problem->object[i].pe * pes / p->pes);
    free(problem->pe);
    problem->pe = pe;
    p->pe       = pe;
    p->pes      = pes;
}

static int offline_make(const struct offline_options *o)
{
    int32_t                 pes  = o->pes ? (int32_t)o->pes : 16;
    struct ski_problem_size size = {.pes     = pes,
                                    .hosts   = o->hosts  ? (int32_t)o->hosts
                                               : pes > 1 ? 2
                                                         : 1,
                                    .objects = o->objects ? (uint32_t)o->objects : 1000,
                                    .seed    = o->seeded ? o->seed : 1};
    struct ski_problem      problem;

    if (size.hosts > pes) {
        fprintf(stderr, "skua balance: --hosts=%d: there are only %d PEs\n", size.hosts, pes);
        return 2;
    }
    if (!ski_problem_make(o->make, &size, &problem)) {
        fprintf(stderr, "skua balance: --make=%s: expected", o->make);
        for (int k = 0; ski_problem_kinds[k]; k++)
            fprintf(stderr, "%s %s", k ? "," : "", ski_problem_kinds[k]);
        fprintf(stderr, "\n");
        return 2;
    }
    ski_problem_write(stdout, &problem.problem);
    ski_problem_destroy(&problem);
    return 0;
}

/* ---- decisions ------------------------------------------------------------------------------ */

static void offline_evaluate(struct balance_row *row, const skua_strategy_problem *problem,
                             const int32_t *to)
{
    row->times   = ski_malloc((size_t)problem->pes * sizeof *row->times);
    row->quality = ski_quality_of(problem, to, row->times);
}

/* Warns about a strategy whose input is not in the file: in a job it would decide differently. */
static void offline_warn(const skua_strategy *strategy, const skua_strategy_problem *problem)
{
    bool positioned = false;

    for (uint32_t i = 0; i < problem->objects; i++)
        positioned |= (problem->object[i].flags & SKUA_OBJECT_POSITIONED) != 0;
    if (strategy->flags & SKUA_STRATEGY_NEEDS_GRAPH && problem->edges == 0)
        fprintf(stderr, "skua balance: %s reads messages, but the file has no \"edges\"\n",
                strategy->name);
    if (strategy->flags & SKUA_STRATEGY_NEEDS_POSITIONS && !positioned)
        fprintf(stderr, "skua balance: %s reads positions, but no object has a \"position\"\n",
                strategy->name);
}

static bool offline_decide(const skua_strategy *strategy, const struct offline_options *o,
                           const skua_strategy_problem *problem, struct balance_row *row)
{
    int32_t *to = ski_malloc(((size_t)problem->objects + 1) * sizeof *to);
    double   begin;
    char     text[SKI_STRATEGY_TEXT];
    bool     ok;

    offline_warn(strategy, problem);
    row->name   = strategy->name;
    row->rounds = 0;
    begin       = ski_seconds(CLOCK_MONOTONIC);
    if (strategy->flags & SKUA_STRATEGY_LOCAL) {
        struct ski_local_cost cost;

        ok           = ski_local_rounds(strategy, problem, (int)o->rounds, to, &cost, text);
        row->rounds  = cost.rounds;
        row->seconds = cost.seconds_per_pe * cost.rounds;
    } else {
        ok           = ski_strategy_decide(strategy, problem, to, text);
        row->seconds = ski_seconds(CLOCK_MONOTONIC) - begin;
    }
    if (ok)
        offline_evaluate(row, problem, to);
    else
        fprintf(stderr, "skua balance: %s\n", text);
    free(to);
    return ok;
}

/* Runs one strategy, or all, after a first row for the problem as it is.  Returns the number of
 * rows, or 0 if a strategy failed. */
static int offline_run(const struct offline_options *o, const skua_strategy *one,
                       const skua_strategy_problem *problem, struct balance_row *rows)
{
    const skua_strategy *strategy = o->all ? skua_strategy_at(0) : one;
    int                  count    = 1;

    rows[0] = (struct balance_row){.name = "before"};
    offline_evaluate(&rows[0], problem, NULL);
    for (int k = 1; strategy; k++) {
        if (!offline_decide(strategy, o, problem, &rows[count]))
            return 0;
        count++;
        strategy = o->all ? skua_strategy_at(k) : NULL;
    }
    return count;
}

static bool offline_draw(const char *file, const skua_strategy_problem *problem,
                         const struct balance_row *rows, int count)
{
    FILE *to = fopen(file, "w");

    if (to)
        balance_table_draw(to, problem, rows, count);
    if (to && fclose(to) == 0)
        return true;
    fprintf(stderr, "skua balance: --svg=%s: %s\n", file, strerror(errno));
    return false;
}

static int offline_report(const struct offline_options *o, const skua_strategy *one,
                          const skua_strategy_problem *problem)
{
    int                 most = 2, count;
    struct balance_row *rows;
    bool                ok;

    while (o->all && skua_strategy_at(most))
        most++;
    rows  = ski_calloc((size_t)most + 2, sizeof *rows);
    count = offline_run(o, one, problem, rows);
    ok    = count > 0 && (!o->svg || offline_draw(o->svg, problem, rows, count));
    if (ok && o->json) {
        balance_table_print_json(stdout, rows, count);
    } else if (ok) {
        printf("%d PEs on %d hosts, %" PRIu32 " objects, %" PRIu32 " edges; ideal time %.4g s\n\n",
               problem->pes, problem->hosts, problem->objects, problem->edges,
               rows[0].quality.ideal);
        balance_table_print(stdout, rows, count);
    }
    for (int k = 0; k < most + 2; k++)
        free(rows[k].times);
    free(rows);
    return ok ? 0 : 1;
}

/* ---- the command ---------------------------------------------------------------------------- */

/* dlopen() searches the folders of libraries for a name without a slash: the path of the file has
 * one, and is its name if there is no such file. */
static bool offline_plug_in(const char *file)
{
    char                *path    = realpath(file, NULL);
    void                *library = dlopen(path ? path : file, RTLD_NOW | RTLD_LOCAL);
    const skua_strategy *plugin  = library ? dlsym(library, "skua_strategy_plugin") : NULL;

    free(path);
    if (plugin)
        skua_strategy_register(plugin);
    else
        fprintf(stderr, "skua balance: --plugin=%s: %s\n", file,
                library ? "it has no variable skua_strategy_plugin" : dlerror());
    return plugin != NULL;
}

static int offline_list(void)
{
    const skua_strategy *strategy;

    for (int k = 0; (strategy = skua_strategy_at(k)); k++)
        printf("%-13s %s\n", strategy->name, strategy->about ? strategy->about : "");
    return 0;
}

static int offline_balance(const struct offline_options *o)
{
    const skua_strategy *strategy = skua_strategy_find(o->strategy);
    struct ski_problem   problem;
    char                 text[SKI_STRATEGY_TEXT];
    int                  code;

    if (!strategy && !o->all) {
        fprintf(stderr, "skua balance: %s\n", ski_strategy_explain(o->strategy, text));
        return 2;
    }
    if (!offline_read(o, &problem))
        return 1;
    if (o->pes)
        offline_resize(&problem, (int32_t)o->pes);
    if (o->seeded)
        problem.problem.seed = o->seed;
    code = offline_report(o, strategy, &problem.problem);
    ski_problem_destroy(&problem);
    return code;
}

int command_balance(int argc, char **argv)
{
    struct offline_options o = {.strategy = "refine"};
    int                    done;

    if (ski_config_load() != SKUA_OK)
        return 2;
    done = offline_parse(argc, argv, &o);
    if (done)
        return done - 1;
    if (o.plugin && !offline_plug_in(o.plugin))
        return 1;
    if (strcmp(o.strategy, "list") == 0)
        return offline_list();
    return o.make ? offline_make(&o) : offline_balance(&o);
}
