/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - skua bench: runs benchmark programs and their peers in turn, for several rounds, and
 * keeps the best value of each result.
 */
#include "bench/bench.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/topology.h"
#include "bench/compare.h"
#include "bench/scaling.h"
#include "bench/series.h"
#include "boot/boot.h"
#include "commands.h"

#define BENCH_THRESHOLD     5 /* percent of change that --compare marks */
#define BENCH_THRESHOLD_MAX 1000000

static const char help[] =
    "usage: skua bench [NAME] [options]\n"
    "       skua bench --compare [--threshold=PERCENT] OLD NEW\n"
    "\n"
    "  -r, --rounds=N      measure everything N times and keep the best (default: 3);\n"
    "                      collectives: the median\n"
    "  -f, --format=F      print a table (default), json or csv\n"
    "  -o, --output=DIR    write bench-NAME.csv and bench-NAME.svg here (default: .)\n"
    "  -n, --pes=N[,N...]  collectives, prk, openshmem, checkpoint: the number of PEs, or\n"
    "                      several (default: 2);\n"
    "                      armci, channels, mixed, network, zerocopy: even numbers; pairs\n"
    "                      of PEs communicate at once, and the slowest pair counts\n"
    "                      (default: 2);\n"
    "                      messages, onesided, objects, pingpong: measure what many PEs do\n"
    "                      at once, as in scaling, in bench-NAME-pes.csv and .svg;\n"
    "                      applications: measure one problem on each number of PEs and\n"
    "                      show the parallel efficiency, in bench-NAME-pes.csv and .svg;\n"
    "                      scaling: the numbers of PEs (default: 1, 2, 4, ... all cores);\n"
    "                      balance: the numbers of PEs of leanmd and barneshut (default:\n"
    "                      1, 2 and 16, as many as there are cores)\n"
    "  -w, --weak          applications: the problem grows with the PEs (default of --pes:\n"
    "                      1, 2, 4, ... all cores), in bench-NAME-weak.csv and .svg\n"
    "  -s, --size=N        applications: the size of the problem on one PE; fft1d and\n"
    "                      randomaccess: the binary logarithm of points or words, leanmd\n"
    "                      and stencil3d: cells along an edge, matmul3d and lu: rows,\n"
    "                      barneshut and fmm: particles\n"
    "      --only=NAME     scaling: kernels, messages, onesided, objects, apps, or one of\n"
    "                      them, such as pairs or fft1d; lu: 2048, 4096 or 8192 rows; fmm:\n"
    "                      small, large, tcp or slow\n"
    "      --namespaces    network, fillboundary, fmm, gtcshift: measure between two network\n"
    "                      namespaces instead of over loopback (needs root)\n"
    "      --compare       measure nothing: compare the results in two files, from --format=json\n"
    "                      or bench-NAME.csv, from the largest worsening to the largest\n"
    "                      improvement\n"
    "      --threshold=P   with --compare, mark changes of more than P percent (default: 5)\n"
    "  -h, --help          print this text\n"
    "\n"
    "Benchmarks:\n"
    "  messages      round trips, message rates, a ring with more PEs than cores, and\n"
    "                instruction counts of the fast paths; floor: two processes that\n"
    "                bounce a cache line; peers: Open MPI, MPICH\n"
    "  onesided      put, get, accumulate, atomics, notification and patches of a\n"
    "                matrix, with an idle and with a computing target; floor: memcpy;\n"
    "                peers: RMA of both MPIs, OpenSHMEM, ARMCI-MPI\n"
    "  network       messages and one-sided operations between processes that share no\n"
    "                memory, over TCP, with each driver; the cost of SKUA_SECURITY; the\n"
    "                start of 64 processes; peers: ucx_perftest, fi_pingpong, both MPIs\n"
    "  mixed         messages and entry calls inside a host in a job that also spans\n"
    "                another, with a silent and with a busy network, against the same in\n"
    "                a job of one host\n"
    "  channels      a round trip from buffer to buffer, within a host and over TCP;\n"
    "                floor: memcpy and a flag, bare send() and recv(); peers: copied\n"
    "                messages, both MPIs, two-sided and with MPI_Put\n"
    "  collectives   barrier, broadcast and reductions of 8 B to 16 MB, scans, gather,\n"
    "                scatter, allgather and alltoall, also of uneven blocks, minimum with\n"
    "                location, teams, within a host and over TCP; peers: both MPIs\n"
    "  scaling       rates of messages, collectives, allocation, one-sided operations,\n"
    "                entry methods, streams and tasks on 1, 2, 4, ... PEs, as processes\n"
    "                and as threads, with the efficiency; how evenly a PE serves its\n"
    "                senders; all applications, strong and, where they can grow, weak (that\n"
    "                of pairs is paircalculator here); limit: the same in plain C; peers:\n"
    "                both MPIs (not of alloc, entries and tasks, which MPI does not have)\n"
    "  prk           kernels of the Parallel Research Kernels (p2p, stencil, transpose,\n"
    "                random, reduce) with puts and with messages, within a host and over\n"
    "                TCP; peers: both MPIs, two-sided and one-sided\n"
    "  randomaccess  random updates of a large table; peers: both MPIs; and items of a\n"
    "                stream against small messages\n"
    "  fft1d         a one-dimensional Fourier transform; peers: FFTW, FFTW-MPI; limit\n"
    "                with --pes, as for all applications: the same computation in plain C\n"
    "  objects       messages between array elements against plain handlers, inside a host\n"
    "                and over TCP, creation against malloc, broadcasts and reductions\n"
    "                against a loop; programs to compare with Charm++\n"
    "  pingpong      the table of the CkDirect paper: round trips between two objects\n"
    "                with messages, channels and gets; peers: both MPIs\n"
    "  stencil3d     a stencil on a grid of blocks with messages, learned messages,\n"
    "                channels and zero-copy channels; peers: both MPIs\n"
    "  matmul3d      matrix products on a grid of tiles with messages and channels;\n"
    "                peer: ScaLAPACK\n"
    "  lu            dense linear systems by LU factorization; limit: matrix products;\n"
    "                peers: HPL, ScaLAPACK\n"
    "  pairs         orthonormalisation of states with messages and channels\n"
    "  leanmd        molecular dynamics with cells and computes; peers: both MPIs\n"
    "  barneshut     gravity by a distributed tree; peer: the same traversal in one\n"
    "                process without the runtime\n"
    "  fillboundary  Table I of Shan et al.: ghost cells of boxes on five levels, inside a\n"
    "                host and over TCP; peers: both MPIs, two-sided and with MPI_Put\n"
    "  gtcshift      Table II of Shan et al.: particles that move between the domains of a\n"
    "                torus, inside a host and over TCP; peers: both MPIs as above\n"
    "  fmm           the fast multipole method with puts, with and without overlap, also over\n"
    "                TCP; peers: both MPIs, with messages and with MPI_Put\n"
    "  balance       a dense droplet in leanmd without and with load balancing; the time\n"
    "                of migrations and of strategies; leanmd and barneshut\n"
    "  checkpoint    checkpoints on disk and in memory, recovery from the death of a\n"
    "                process, and the cost of protection for leanmd and stencil3d; floors:\n"
    "                dd, memcpy\n"
    "  zerocopy      zero-copy gets, puts and arguments against copied messages, within\n"
    "                a host and over TCP\n"
    "  openshmem     the calls of OpenSHMEM on libskua-shmem, and the start of 64\n"
    "                processes; floor: memcpy; peer: Open MPI's OpenSHMEM\n"
    "  armci         Global Arrays on libskua-armci: patches of a matrix, a shared\n"
    "                counter, strided puts, a target that computes; peer: ARMCI-MPI with\n"
    "                both MPIs\n"
    "\n"
    "A peer is measured if it is installed.\n";

#define BENCH_ADDRESS(name) &bench_##name,

static const struct bench *const benches[] = {BENCH_EACH(BENCH_ADDRESS)};

#define BENCHES (sizeof benches / sizeof *benches)

#define SCALING_ADDRESS(name) &scaling_##name,

static const struct scaling *const scalings[] = {SCALING_EACH(SCALING_ADDRESS)};

#define SCALINGS (sizeof scalings / sizeof *scalings)

struct bench_options {
    const struct bench   *bench;
    const struct scaling *scaling; /* with --pes, of an application; else NULL */
    struct scaling        chosen;  /* the problem with --weak and --size       */
    const char           *name;    /* as given; files are named by it          */
    bool                  weak;
    int                   size; /* 0: not given */
    const char           *only; /* NULL: not given */
    int                   rounds;
    int                   pes[BENCH_PES_MAX + 1]; /* 0 ends the list */
    bool                  pes_given;
    const char           *format, *output;
    bool                  namespaces;
    bool                  measures; /* an option is given that --compare does not have */
    bool                  compare;
    const char           *threshold_text; /* NULL: not given */
    double                threshold;      /* --compare: percent */
    const char           *old, *new;      /* --compare: files   */
};

/* ---- the host ------------------------------------------------------------ */

static void bench_find_cpus(struct bench_host *host)
{
    struct ski_topology topology;

    *host = (struct bench_host){.cpu = {0, 1}, .cores = 2};
    if (ski_topology_load(&topology) != SKUA_OK)
        return;
    host->cores  = topology.cores;
    host->cpu[0] = topology.cpu[0];
    host->cpu[1] = topology.cpu[topology.cpus > 1 ? 1 : 0];
    if (topology.cpus < 2)
        fprintf(stderr, "skua: this host has one CPU; measurements that need two are too slow\n");
    ski_topology_free(&topology);
}

/* Lists 1, 2, 4, ... and the number of cores. */
static void bench_list_pes(int cores, int pes[BENCH_PES_MAX + 1])
{
    int count = 0;

    memset(pes, 0, (BENCH_PES_MAX + 1) * sizeof *pes);
    for (int n = 1; n < cores && count < BENCH_PES_MAX - 1; n *= 2)
        pes[count++] = n;
    pes[count] = cores;
}

/* Sets the numbers of PEs: those of --pes, or the default of the benchmark. */
static void bench_set_pes(const struct bench_options *options, struct bench_host *host)
{
    const int *pes = options->bench->default_pes;

    host->pes_given = options->pes_given;
    memcpy(host->pes, options->pes, sizeof host->pes);
    if (options->pes_given)
        return;
    if (options->bench->every_pes || options->scaling)
        bench_list_pes(host->cores, host->pes);
    for (int i = 0; pes && i < BENCH_PES_MAX && (i == 0 || pes[i - 1]); i++)
        host->pes[i] = pes[i];
}

/* ---- printing ------------------------------------------------------------ */

/* Returns whether --pes has chosen what is measured: its files do not replace those of the
 * benchmark without it. */
static bool bench_has_own_files(const struct bench_options *options)
{
    return options->scaling || strcmp(options->name, options->bench->name) != 0;
}

static void bench_write_csv(const struct bench_options *options, const struct results *results,
                            FILE *to)
{
    (void)options;
    results_print_csv(results, to);
}

static void bench_write_plot(const struct bench_options *options, const struct results *results,
                             FILE *to)
{
    if (options->scaling)
        scaling_plot(options->scaling, 1, results, to);
    else if (options->bench->plot)
        options->bench->plot(results, to);
    else
        series_plot(options->bench->series, results, to);
}

/* Writes one of the files.  Returns false, after an error, if it could not be written. */
static bool bench_write_file(const struct bench_options *options, const struct results *results,
                             const char *ending,
                             void (*write)(const struct bench_options *, const struct results *,
                                           FILE *))
{
    char  path[PROGRAM_PATH_BYTES];
    FILE *file;
    bool  written;

    snprintf(path, sizeof path, "%s/bench-%s%s.%s", options->output, options->name,
             options->weak                  ? "-weak"
             : bench_has_own_files(options) ? "-pes"
                                            : "",
             ending);
    file = fopen(path, "w");
    if (file)
        write(options, results, file);
    written = file && !ferror(file);
    if (file && fclose(file) != 0)
        written = false;
    if (written)
        fprintf(stderr, "wrote %s\n", path);
    else
        fprintf(stderr, "skua bench: %s: %s\n", path, strerror(errno));
    return written;
}

static bool bench_write_files(const struct bench_options *options, const struct results *results)
{
    bool written;

    fflush(stdout); /* the tables come before the names of files */
    written = bench_write_file(options, results, "csv", bench_write_csv);
    return bench_write_file(options, results, "svg", bench_write_plot) && written;
}

static void bench_print_results(const struct bench_options *options, const struct results *results)
{
    bool table = strcmp(options->format, "table") == 0;

    if (strcmp(options->format, "json") == 0)
        results_print_json(results, stdout);
    else if (strcmp(options->format, "csv") == 0)
        results_print_csv(results, stdout);
    else if (options->scaling) {
        scaling_print(options->scaling, results);
        scaling_print_goals(options->scaling, results);
        bench_print_stopped(results);
    } else {
        options->bench->print(results);
        bench_print_stopped(results);
    }
    bench_print_rates(table ? stdout : stderr);
}

/* ---- the command --------------------------------------------------------- */

static int bench_option_error(const char *what, const char *text)
{
    fprintf(stderr, "skua bench: %s: %s (skua bench --help)\n", text, what);
    return 2;
}

/* Reads the numbers of PEs in @p text; the list becomes empty if one is invalid. */
static void bench_parse_pes(const char *text, int pes[BENCH_PES_MAX + 1])
{
    int count = 0;

    memset(pes, 0, (BENCH_PES_MAX + 1) * sizeof *pes);
    for (;; text++) {
        char *end;
        long  n = strtol(text, &end, 10);

        if (count == BENCH_PES_MAX || n < 1 || n > 1024 || (*end && *end != ','))
            break;
        pes[count++] = (int)n;
        text         = end;
        if (!*end)
            return;
    }
    pes[0] = 0;
}

/* Returns the number in @p text, from 1 on, or -1, which no option accepts. */
static int bench_parse_number(const char *text)
{
    char *end;
    long  n = strtol(text, &end, 10);

    return end == text || *end || n < 1 || n > INT_MAX ? -1 : (int)n;
}

static int bench_check(const struct bench_options *options)
{
    struct stat output;

    if (options->rounds < 1 || options->rounds > 100)
        return bench_option_error("expected 1 to 100 rounds", "--rounds");
    if (!options->pes[0])
        return bench_option_error("expected 1 to 1024 PEs, up to 8 numbers", "--pes");
    if (strcmp(options->format, "table") && strcmp(options->format, "json") &&
        strcmp(options->format, "csv"))
        return bench_option_error("expected table, json or csv", options->format);
    if (stat(options->output, &output) != 0 || !S_ISDIR(output.st_mode) ||
        access(options->output, W_OK | X_OK) != 0)
        return bench_option_error("not a writable directory", options->output);
    if (options->namespaces && geteuid() != 0)
        return bench_option_error("needs root", "--namespaces");
    return 0;
}

/* Applies --weak and --size to the problem.  Returns 0, or the exit code of an error. */
static int bench_choose_problem(struct bench_options *options)
{
    struct scaling *chosen = &options->chosen;

    if (!options->scaling || !scaling_has_sizes(options->scaling))
        return bench_option_error("this benchmark has a fixed problem",
                                  options->weak ? "--weak" : "--size");
    *chosen = *options->scaling;
    if (options->size != 0 &&
        (options->size < chosen->size.least || options->size > chosen->size.most ||
         (chosen->size.multiple > 1 && options->size % chosen->size.multiple != 0))) {
        fprintf(stderr, "skua bench: --size: expected %d to %d%s for %s (skua bench --help)\n",
                chosen->size.least, chosen->size.most,
                chosen->size.multiple > 1 ? ", an even number," : "", chosen->name);
        return 2;
    }
    chosen->size.of_one = options->size ? options->size : chosen->size.of_one;
    chosen->kind        = options->weak ? SCALING_GROWING : chosen->kind;
    options->scaling    = chosen;
    return 0;
}

/* Finds how --pes measures the benchmark.  Returns 0, or the exit code of an error. */
static int bench_select_scaling(struct bench_options *options)
{
    for (size_t i = 0; i < SCALINGS; i++)
        if (strcmp(options->bench->name, scalings[i]->name) == 0)
            options->scaling = scalings[i];
    if (options->weak || options->size != 0)
        return bench_choose_problem(options);
    if (options->scaling || options->bench->every_pes || options->bench->default_pes)
        return 0;
    if (options->bench->part_on_pes) {
        options->only  = options->bench->part_on_pes;
        options->bench = &bench_scaling;
        return 0;
    }
    for (const int *pes = options->pes; *pes; pes++) {
        if (*pes == 1)
            return bench_option_error("this benchmark needs 2 PEs or more", "--pes");
        if (options->bench->pairs && *pes % 2 != 0)
            return bench_option_error("this benchmark measures pairs of PEs: expected even numbers",
                                      "--pes");
    }
    return 0;
}

static int bench_select(const char *name, struct bench_options *options)
{
    for (size_t i = 0; i < BENCHES; i++)
        if (strcmp(name, benches[i]->name) == 0) {
            options->bench = benches[i];
            options->name  = name;
            return 0;
        }
    return bench_option_error("no such benchmark", name);
}

/* Sets an option.  Returns 0, -1 if --help has been printed, or the exit code of an error. */
static int bench_set_option(int c, struct bench_options *options)
{
    options->measures = options->measures || (c != 'C' && c != 'T');
    switch (c) {
    case 'r': options->rounds = bench_parse_number(optarg); break;
    case 'f': options->format = optarg; break;
    case 'o': options->output = optarg; break;
    case 'n':
        bench_parse_pes(optarg, options->pes);
        options->pes_given = true;
        break;
    case 'w': options->weak = true; break;
    case 's': options->size = bench_parse_number(optarg); break;
    case 'O': options->only = optarg; break;
    case 'N': options->namespaces = true; break;
    case 'C': options->compare = true; break;
    case 'T': options->threshold_text = optarg; break;
    case 'h': fputs(help, stdout); return -1;
    default: fputs("(skua bench --help)\n", stderr); return 2;
    }
    return 0;
}

/* Reads the arguments of --compare.  Returns 0, or the exit code of an error. */
static int bench_parse_compare(int argc, char **argv, struct bench_options *options)
{
    char *end;

    if (options->measures)
        return bench_option_error("it measures nothing; only --threshold changes it", "--compare");
    if (argc != 2)
        return bench_option_error("expected two files, OLD and NEW", "--compare");
    options->old = argv[0];
    options->new = argv[1];
    if (!options->threshold_text)
        return 0;
    options->threshold = strtod(options->threshold_text, &end);
    if (end == options->threshold_text || *end || !(options->threshold >= 0) ||
        options->threshold > BENCH_THRESHOLD_MAX)
        return bench_option_error("expected 0 to 1000000 percent", "--threshold");
    return 0;
}

/* Reads what to measure.  Returns 0, or the exit code of an error. */
static int bench_parse_measure(int argc, char **argv, struct bench_options *options)
{
    int code = bench_check(options);

    if (code == 0 && options->threshold_text)
        code = bench_option_error("needs --compare", "--threshold");
    if (code == 0 && argc > 0)
        code = bench_select(argv[0], options);
    if (code == 0 && argc > 1)
        code = bench_option_error("unexpected argument", argv[1]);
    if (code == 0 && options->only &&
        !(options->bench->has_part && options->bench->has_part(options->only)))
        code = bench_option_error("this benchmark has no such part", options->only);
    if (code == 0 && (options->pes_given || options->weak || options->size != 0))
        code = bench_select_scaling(options);
    return code;
}

/* Returns 0, -1 if --help has been printed, or the exit code of an error. */
static int bench_parse(int argc, char **argv, struct bench_options *options)
{
    static const struct option long_options[] = {
        {"rounds", required_argument, NULL, 'r'}, {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'}, {"namespaces", no_argument, NULL, 'N'},
        {"pes", required_argument, NULL, 'n'},    {"weak", no_argument, NULL, 'w'},
        {"size", required_argument, NULL, 's'},   {"only", required_argument, NULL, 'O'},
        {"compare", no_argument, NULL, 'C'},      {"threshold", required_argument, NULL, 'T'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    int c, code = 0;

    while (code == 0 && (c = getopt_long(argc, argv, "r:f:o:n:ws:h", long_options, NULL)) != -1)
        code = bench_set_option(c, options);
    if (code != 0)
        return code;
    return options->compare ? bench_parse_compare(argc - optind, argv + optind, options)
                            : bench_parse_measure(argc - optind, argv + optind, options);
}

static void bench_measure(const struct bench_options *options, struct bench_host *host,
                          struct results *results)
{
    host->rounds = options->rounds;
    for (host->round = 1; host->round <= options->rounds && !program_interrupted(); host->round++)
        if (options->scaling)
            scaling_run(options->scaling, results);
        else
            options->bench->run(results);
    program_show(NULL);
    if (options->scaling)
        scaling_add_efficiencies(options->scaling, results);
}

/* Ends as the caught signal would have ended this process; the shell, or timeout(1), asks for it.
 */
static int bench_end_by_signal(int number)
{
    fflush(stdout);
    fprintf(stderr,
            "skua bench: interrupted; the tables and files have what was measured before\n");
    signal(number, SIG_DFL);
    raise(number);
    return 1;
}

int command_bench(int argc, char **argv)
{
    struct bench_options options = {.bench     = &bench_messages,
                                    .name      = "messages",
                                    .rounds    = 3,
                                    .pes       = {2},
                                    .format    = "table",
                                    .output    = ".",
                                    .threshold = BENCH_THRESHOLD};
    struct bench_host    host;
    struct results       results = {.host = &host};
    int                  code    = bench_parse(argc, argv, &options);

    if (code != 0)
        return code < 0 ? 0 : code;
    if (options.compare)
        return compare_files(options.old, options.new, options.threshold);
    if (getenv(SKI_BOOT_VARIABLE)) {
        fprintf(stderr, "skua bench: it starts jobs of its own: run it without skuarun\n");
        return 2;
    }
    results.median = options.bench->median;
    bench_find_cpus(&host);
    host.namespaces = options.namespaces;
    host.only       = options.only;
    bench_set_pes(&options, &host);
    if (!program_find("skuarun", host.skuarun)) {
        fprintf(stderr, "skua: this installation lacks the program skuarun\n");
        return 1;
    }
    program_catch_interrupts();
    bench_measure(&options, &host, &results);
    if (results.count == 0 && !program_interrupted()) {
        fprintf(stderr, "skua: no benchmark program could be run\n");
        return 1;
    }
    if (results.count > 0) {
        bench_print_results(&options, &results);
        code = bench_write_files(&options, &results) ? 0 : 1;
    }
    results_free(&results);
    return program_interrupted() ? bench_end_by_signal(program_interrupted()) : code;
}
