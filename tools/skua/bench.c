/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - skua bench: runs benchmark programs and their peers in turn, a few
 * rounds of all of them, and keeps the best of each.
 */
#include "bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/topology.h"
#include "commands.h"

static const char help[] =
    "usage: skua bench [messages|onesided|network|channels|collectives|randomaccess|fft1d|objects|"
    "pingpong|stencil3d|matmul3d|pairs|zerocopy] [options]\n"
    "\n"
    "  -r, --rounds=N      measure everything N times, keep the best (default: 3)\n"
    "  -f, --format=F      table (default), json or csv, on stdout\n"
    "  -o, --output=DIR    where bench-NAME.csv and bench-NAME.svg go (default: .)\n"
    "  -n, --pes=N         collectives: on N PEs (default: 2)\n"
    "      --namespaces    network: between two network namespaces, as root\n"
    "  -h, --help          this text\n"
    "\n"
    "Benchmarks:\n"
    "  messages   round trips, rates, a ring with more PEs than cores, and the\n"
    "             instructions of the fast paths; beside the floor (two processes\n"
    "             that bounce a cache line), Open MPI and MPICH, where installed\n"
    "  onesided   put, get, accumulate, atomics, notification, patches of a matrix,\n"
    "             also while the target computes; beside memcpy, the RMA of both\n"
    "             MPIs, OpenSHMEM and ARMCI-MPI, where installed\n"
    "  network    the same between two processes that share no memory, over TCP, with\n"
    "             each driver; beside ucx_perftest and both MPIs, where installed;\n"
    "             what SKUA_SECURITY costs; and how long 64 processes take to start\n"
    "  channels   data from a buffer to another's and back, beside a memcpy and a flag,\n"
    "             messages that are copied in and out, and both MPIs, two-sided and with\n"
    "             MPI_Put, where installed\n"
    "  collectives  barriers, broadcasts and reductions of 8 B to 16 MB, inside a host and\n"
    "             over TCP, beside both MPIs, where installed\n"
    "  randomaccess  random updates of a large table, beside the same over both MPIs,\n"
    "             where installed; and items of a stream beside small messages\n"
    "  fft1d      the Fourier transform of one long row of numbers, beside FFTW-MPI, where\n"
    "             installed, and FFTW in one piece\n"
    "  objects    messages between elements beside bare handlers, creation beside malloc,\n"
    "             broadcasts and reductions beside a loop over pointers\n"
    "  pingpong   the table of the CkDirect paper: round trips between two objects, with\n"
    "             messages, channels and gets, beside both MPIs, two-sided and with MPI_Put,\n"
    "             where installed\n"
    "  stencil3d  a stencil on a grid of blocks, with messages, learned or not, with channels\n"
    "             and without copies, beside both MPIs, where installed\n"
    "  matmul3d   products of matrices by a grid of tiles, with messages and with channels,\n"
    "             beside ScaLAPACK, where installed\n"
    "  pairs      states that are made orthonormal, with messages and with channels\n"
    "  zerocopy   gets, puts and arguments that are not copied beside messages that data are\n"
    "             copied into and out of\n";

static const struct bench *const benches[] = {
    &bench_messages,     &bench_onesided, &bench_network, &bench_channels, &bench_collectives,
    &bench_randomaccess, &bench_fft1d,    &bench_objects, &bench_pingpong, &bench_stencil3d,
    &bench_matmul3d,     &bench_pairs,    &bench_zerocopy};

#define BENCHES (sizeof benches / sizeof *benches)

struct options {
    const struct bench *bench;
    int                 rounds, pes;
    const char         *format, *output;
    bool                namespaces;
};

/* ---- the host ------------------------------------------------------------ */

static void find_cpus(struct bench_host *host)
{
    struct ski_topology topology;

    *host = (struct bench_host){.cpu = {0, 1}, .cores = 2};
    if (ski_topology_load(&topology) != SKUA_OK)
        return;
    host->cores  = topology.cores;
    host->cpu[0] = topology.cpu[0];
    host->cpu[1] = topology.cpu[topology.cpus > 1 ? 1 : 0];
    if (topology.cpus < 2)
        fprintf(stderr, "skua: this host has one CPU; what needs two will look bad\n");
    ski_topology_free(&topology);
}

/* ---- printing ------------------------------------------------------------ */

static FILE *create(const struct options *options, const char *ending)
{
    char  path[PROGRAM_PATH];
    FILE *file;

    snprintf(path, sizeof path, "%s/bench-%s.%s", options->output, options->bench->name, ending);
    file = fopen(path, "w");
    if (!file)
        perror(path);
    else
        fprintf(stderr, "wrote %s\n", path);
    return file;
}

static void write_files(const struct options *options, const struct results *results)
{
    FILE *csv = create(options, "csv"), *svg = create(options, "svg");

    if (csv) {
        results_print_csv(results, csv);
        fclose(csv);
    }
    if (svg) {
        options->bench->plot(results, svg);
        fclose(svg);
    }
}

static void print(const struct options *options, const struct results *results)
{
    if (strcmp(options->format, "json") == 0)
        results_print_json(results, stdout);
    else if (strcmp(options->format, "csv") == 0)
        results_print_csv(results, stdout);
    else
        options->bench->print(results);
}

/* ---- the command --------------------------------------------------------- */

static int wrong(const char *what, const char *text)
{
    fprintf(stderr, "skua bench: %s: %s (skua bench --help)\n", text, what);
    return 2;
}

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option long_options[] = {
        {"rounds", required_argument, NULL, 'r'},
        {"format", required_argument, NULL, 'f'},
        {"output", required_argument, NULL, 'o'},
        {"namespaces", no_argument, NULL, 'N'},
        {"pes", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "r:f:o:n:h", long_options, NULL)) != -1) {
        switch (c) {
        case 'r': options->rounds = atoi(optarg); break;
        case 'f': options->format = optarg; break;
        case 'o': options->output = optarg; break;
        case 'n': options->pes = atoi(optarg); break;
        case 'N': options->namespaces = true; break;
        case 'h': fputs(help, stdout); return -1;
        default: fputs("(skua bench --help)\n", stderr); return 2;
        }
    }
    if (options->rounds < 1 || options->rounds > 100)
        return wrong("expected 1 to 100 rounds", "--rounds");
    if (options->pes < 2 || options->pes > 1024)
        return wrong("expected 2 to 1024 PEs", "--pes");
    if (strcmp(options->format, "table") && strcmp(options->format, "json") &&
        strcmp(options->format, "csv"))
        return wrong("expected table, json or csv", options->format);
    if (access(options->output, W_OK) != 0)
        return wrong("no folder that can be written to", options->output);
    if (options->namespaces && geteuid() != 0)
        return wrong("needs root", "--namespaces");
    for (size_t i = 0; optind < argc; i++) {
        if (i == BENCHES)
            return wrong("no such benchmark", argv[optind]);
        options->bench = benches[i];
        if (strcmp(argv[optind], benches[i]->name) == 0)
            break;
    }
    return 0;
}

int command_bench(int argc, char **argv)
{
    struct options    options = {&bench_messages, 3, 2, "table", ".", false};
    struct results    results = {0};
    struct bench_host host;
    int               code = parse(argc, argv, &options);

    if (code != 0)
        return code < 0 ? 0 : code;
    find_cpus(&host);
    host.namespaces = options.namespaces;
    host.pes        = options.pes;
    if (!program_find("skuarun", host.skuarun)) {
        fprintf(stderr, "skua: skuarun is missing from this installation\n");
        return 1;
    }
    for (int round = 1; round <= options.rounds; round++)
        options.bench->run(&results, &host, round, options.rounds);
    bench_progress(NULL);
    if (results.count == 0) {
        fprintf(stderr, "skua: nothing could be measured\n");
        return 1;
    }
    print(&options, &results);
    write_files(&options, &results);
    results_free(&results);
    return 0;
}
