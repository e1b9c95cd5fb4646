/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_scaling.c - skua bench scaling: small kernels on 1, 2, 4, ... PEs, as processes and as
 * threads, compared with both MPIs and with the limit, the same memory traffic or computation in
 * plain C; and the applications, with problems that do not grow and that grow with the PEs
 * (scaling_apps.h).
 *
 * A kernel is a struct scaling (scaling.h).  Its goals hold on 8 and 16 cores; on a host with fewer
 * they are not measured.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/bench_names.h"
#include "network.h"
#include "scaling.h"
#include "scaling_apps.h"

#define BENCH_SCALING_BYTES 8   /* member of the results */
#define BENCH_SCALING_NAMES 128 /* bytes of the names of a group of kernels, at most */
#define BENCH_SCALING_HOSTS 4   /* PEs from which on two hosts have several each */

/* ---- the kernels --------------------------------------------------------- */

#define BENCH_SCALING_CURVES                                                                       \
    {                                                                                              \
        {"skua", "skua"}, {"skua-threads", "skua, threads"}, {"openmpi", "Open MPI"},              \
            {"openmpi-threads", "Open MPI, threads"}, {"mpich", "MPICH"},                          \
        {                                                                                          \
            "limit", "limit"                                                                       \
        }                                                                                          \
    }

/* A kernel that reports millions of operations a second, relative to those on @p pes PEs, and one
 * that reports microseconds. */
#define BENCH_SCALING_RATE(key, what, of, pes)                                                     \
    {                                                                                              \
        .name = "scaling", .problem = what, .unit = "millions per second", .factor = 1e-6,         \
        .rate = true, .bytes = BENCH_SCALING_BYTES, .kernel = key, .kind = of, .least = pes,       \
        .curve = BENCH_SCALING_CURVES                                                              \
    }
#define BENCH_SCALING_TIME(key, what)                                                              \
    {                                                                                              \
        .name = "scaling", .problem = what, .unit = "microseconds", .factor = 1,                   \
        .bytes = BENCH_SCALING_BYTES, .kernel = key, .kind = SCALING_LATENCY,                      \
        .curve = BENCH_SCALING_CURVES                                                              \
    }

static const struct scaling bench_scaling_kernels[] = {
    BENCH_SCALING_RATE("pairs", "Messages of 8 bytes, in pairs", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("alltoall", "Messages of 8 bytes, all to all", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("manytoone", "Messages of 8 bytes, all others to PE 0", SCALING_SHARED, 2),
    BENCH_SCALING_TIME("barrier", "skua_barrier()"),
    BENCH_SCALING_TIME("sync", "skua_sync()"),
    BENCH_SCALING_TIME("allreduce", "Allreduce of one double"),
    BENCH_SCALING_TIME("broadcast", "Broadcast of 8 bytes, roots in turn"),
    BENCH_SCALING_RATE("alloc", "Allocation and free of messages", SCALING_WEAK, 1),
    BENCH_SCALING_RATE("remotefree", "Messages of 200 bytes that the next PE frees", SCALING_WEAK,
                       2),
    BENCH_SCALING_RATE("put-one", "Put of 1 KB, all to PE 0", SCALING_SHARED, 2),
    BENCH_SCALING_RATE("put-spread", "Put of 1 KB, to all others in turn", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("get-one", "Get of 1 KB, all from PE 0", SCALING_SHARED, 2),
    BENCH_SCALING_RATE("get-spread", "Get of 1 KB, from all others in turn", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("atomic-one", "Fetch-add, all on one word", SCALING_SHARED, 2),
    BENCH_SCALING_RATE("atomic-spread", "Fetch-add, on words of all others", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("acc-one", "Accumulate of 1 KB, all on one block", SCALING_SHARED, 2),
    BENCH_SCALING_RATE("acc-spread", "Accumulate of 1 KB, on blocks of all others", SCALING_WEAK,
                       2),
    BENCH_SCALING_RATE("entries", "Entry methods between elements of neighbour PEs", SCALING_WEAK,
                       2),
    BENCH_SCALING_RATE("stream", "Items of 8 bytes in a stream to all PEs", SCALING_WEAK, 2),
    BENCH_SCALING_RATE("tasks", "Spawned tasks of some microseconds", SCALING_WEAK, 1),
    {.name    = "scaling",
     .problem = "Messages of 8 bytes, in pairs between two hosts, over TCP",
     .unit    = "millions per second",
     .factor  = 1e-6,
     .rate    = true,
     .bytes   = BENCH_SCALING_BYTES,
     .kernel  = "pairs",
     .kind    = SCALING_WEAK,
     .least   = BENCH_SCALING_HOSTS,
     .curve   = {{"skua-hosts", "skua"},
                 {"skua-hosts-threads", "skua, threads"},
                 {"openmpi-hosts", "Open MPI"},
                 {"openmpi-hosts-threads", "Open MPI, threads"},
                 {"mpich-hosts", "MPICH"},
                 {"mpich-hosts-threads", "MPICH, threads"},
                 {"limit-hosts", "limit"}}},
};

#define BENCH_SCALING_KERNELS (sizeof bench_scaling_kernels / sizeof *bench_scaling_kernels)
#define BENCH_SCALING_LOCAL   (BENCH_SCALING_KERNELS - 1) /* those within a host */

static const char *const bench_scaling_skua[] = {"skua", "skua-threads"};

/* Returns the number of kernels to show: the last one, between two hosts, needs four PEs. */
static size_t bench_scaling_shown(const struct bench_host *host)
{
    for (const int *pes = host->pes; *pes; pes++)
        if (*pes >= BENCH_SCALING_HOSTS)
            return BENCH_SCALING_KERNELS;
    return BENCH_SCALING_LOCAL;
}

/* ---- parts --------------------------------------------------------------- */

static const struct scaling *bench_scaling_find(const char *kernel)
{
    for (size_t k = 0; k < BENCH_SCALING_KERNELS; k++)
        if (strcmp(bench_scaling_kernels[k].kernel, kernel) == 0)
            return &bench_scaling_kernels[k];
    return NULL;
}

/* Kernels that measure on many PEs what another benchmark measures on two. */
static const struct bench_scaling_group {
    const char *name, *kernels;
} bench_scaling_groups[] = {
    {"messages", "pairs,alltoall,manytoone,remotefree"},
    {"onesided",
     "put-one,put-spread,get-one,get-spread,atomic-one,atomic-spread,acc-one,acc-spread"},
    {"objects", "entries,tasks"},
};

/* Returns the kernels that --only names, separated by commas, or NULL. */
static const char *bench_scaling_named(const char *only)
{
    for (size_t i = 0; i < sizeof bench_scaling_groups / sizeof *bench_scaling_groups; i++)
        if (strcmp(bench_scaling_groups[i].name, only) == 0)
            return bench_scaling_groups[i].kernels;
    return bench_scaling_find(only) ? only : NULL;
}

static bool bench_scaling_has_part(const char *name)
{
    return strcmp(name, "kernels") == 0 || strcmp(name, "apps") == 0 || bench_scaling_named(name) ||
           scaling_apps_find(name);
}

/* Returns the kernels of --only as an argument of the programs, or NULL: all kernels. */
static const char *bench_scaling_only(const struct bench_host *host)
{
    return host->only ? bench_scaling_named(host->only) : NULL;
}

/* Returns whether --only names kernels, or is not given. */
static bool bench_scaling_has_kernels(const struct bench_host *host)
{
    return !host->only || strcmp(host->only, "kernels") == 0 || bench_scaling_only(host);
}

/* Returns whether to show a kernel. */
static bool bench_scaling_shows(const struct bench_host *host, const struct scaling *kernel)
{
    const char *only = bench_scaling_only(host);

    return bench_scaling_has_kernels(host) && (!only || bench_names_have(only, kernel->kernel));
}

/* ---- running ------------------------------------------------------------- */

/* Threads of one process of Open MPI, with MPI_THREAD_MULTIPLE.  Those of MPICH 4.0 are not
 * measured: a receive of a message from the own process hung there. */
static void bench_scaling_run_mpi_threads(struct results *results, int pes)
{
    const char       *only = bench_scaling_only(results->host);
    char              argument[BENCH_SCALING_NAMES + 16];
    struct bench_peer peer = {"openmpi", "peer-openmpi-scaling", "openmpi-threads", argument};

    snprintf(argument, sizeof argument, "threads=%d%s%s", pes, only ? "," : "", only ? only : "");
    if (pes > 1 && pes <= results->host->cores)
        bench_run_peer_threads(results, &peer, 1, pes);
}

/* Measures @p mpi with a process on each of two hosts that has a thread for each of its PEs, and
 * with a process for each PE. */
static void bench_scaling_run_mpi_hosts(struct results *results, const char *mpi, int pes)
{
    char              program[32], series[2][32], argument[32];
    struct bench_peer processes = {mpi, program, series[0], "pairs"};
    struct bench_peer threads   = {mpi, program, series[1], argument};

    snprintf(program, sizeof program, "peer-%s-scaling", mpi);
    snprintf(series[0], sizeof series[0], "%s-hosts", mpi);
    snprintf(series[1], sizeof series[1], "%s-hosts-threads", mpi);
    snprintf(argument, sizeof argument, "threads=%d,pairs", pes / 2);
    bench_run_peer(results, &processes, pes);
    if (pes <= results->host->cores)
        bench_run_peer_threads(results, &threads, 2, pes / 2);
}

/* Runs the limit, in which partners find each other through shared memory. */
static void bench_scaling_run_hosts_limit(struct results *results, int pes)
{
    char *options = bench_bound_options(results->host, pes, 1);

    bench_run_job(results, "%s @bench-scaling_limit_hosts limit-hosts", options);
    free(options);
}

/* Messages in pairs from one half of the PEs to the other, as if the halves were on two hosts: over
 * TCP, with a process on each host that has a thread for each PE, and with a process for each. */
static void bench_scaling_run_hosts(struct results *results, int pes)
{
    if (pes < BENCH_SCALING_HOSTS || pes % 2 != 0 ||
        !bench_scaling_shows(results->host, &bench_scaling_kernels[BENCH_SCALING_LOCAL]))
        return;
    bench_scaling_run_hosts_limit(results, pes);
    network_use_tcp("lo");
    program_set_variable("SKUA_DRIVER", "tcp");
    for (int threads = 0; threads < 2; threads++) {
        char *options = bench_bound_options(results->host, pes, threads ? pes / 2 : 1);

        bench_run_job(results, "%s @bench-scaling skua-hosts%s pairs", options,
                      threads ? "-threads" : "");
        free(options);
    }
    program_restore_variable("SKUA_DRIVER");
    bench_scaling_run_mpi_hosts(results, "openmpi", pes);
    bench_scaling_run_mpi_hosts(results, "mpich", pes);
    network_use_tcp(NULL);
}

/* On one PE a thread is a process: the second run shows how far two runs differ. */
static void bench_scaling_run_on(struct results *results, int pes)
{
    const char *only = bench_scaling_only(results->host);

    for (int threads = 0; threads < 2; threads++) {
        char *options = bench_bound_options(results->host, pes, threads ? pes : 1);

        bench_run_job(results, "%s @bench-scaling %s %s", options, bench_scaling_skua[threads],
                      only ? only : "");
        if (!threads)
            bench_run_job(results, "%s @bench-scaling_limit limit %s", options, only ? only : "");
        free(options);
    }
    scaling_run_mpis(results, "scaling", only, pes);
    bench_scaling_run_mpi_threads(results, pes);
    bench_scaling_run_hosts(results, pes);
}

static void bench_scaling_run(struct results *results)
{
    for (const int *pes = results->host->pes; *pes && bench_scaling_has_kernels(results->host);
         pes++) {
        bench_stepf(results, "%d PE%s", *pes, *pes == 1 ? "" : "s");
        bench_scaling_run_on(results, *pes);
    }
    scaling_apps_run(results);
    for (size_t k = 0; results->host->round == results->host->rounds && k < BENCH_SCALING_KERNELS;
         k++)
        scaling_add_efficiencies(&bench_scaling_kernels[k], results);
}

/* ---- tables -------------------------------------------------------------- */

/* Returns the value of a series, or 0 if there is not a core for each PE. */
static double bench_scaling_get(const struct results *r, const char *kernel, const char *series,
                                int pes)
{
    return pes > r->host->cores ? 0 : scaling_value(bench_scaling_find(kernel), r, series, pes);
}

/* Returns the better value of the MPIs: the larger rate or the shorter time. */
static double bench_scaling_mpi(const struct results *r, const char *kernel, int pes)
{
    double open  = bench_scaling_get(r, kernel, "openmpi", pes),
           mpich = bench_scaling_get(r, kernel, "mpich", pes);

    if (open == 0 || mpich == 0)
        return open + mpich;
    return (open > mpich) == bench_scaling_find(kernel)->rate ? open : mpich;
}

static void bench_scaling_goal(const char *what, const char *series, int pes, double measured,
                               const char *relation, double goal)
{
    bench_print_goalf(measured, relation, goal, "%s, %d %s", what, pes,
                      strcmp(series, "skua") == 0 ? "processes" : "threads");
}

/* Goals against the better MPI: rates on 8 and 16 PEs, times on all numbers. */
static void bench_scaling_print_peers(const struct results *r, const char *series)
{
    for (int pes = 8; pes <= 16; pes *= 2) {
        bench_scaling_goal("messages in pairs / better MPI", series, pes,
                           bench_ratio(bench_scaling_get(r, "pairs", series, pes),
                                       bench_scaling_mpi(r, "pairs", pes)),
                           ">=", 4);
        bench_scaling_goal("messages all to all / better MPI", series, pes,
                           bench_ratio(bench_scaling_get(r, "alltoall", series, pes),
                                       bench_scaling_mpi(r, "alltoall", pes)),
                           ">=", 4);
    }
    for (const int *pes = r->host->pes; *pes; pes++) {
        if (*pes == 1)
            continue;
        bench_scaling_goal("barrier / better MPI", series, *pes,
                           bench_ratio(bench_scaling_get(r, "barrier", series, *pes),
                                       bench_scaling_mpi(r, "barrier", *pes)),
                           "<=", 1);
        bench_scaling_goal("allreduce / better MPI", series, *pes,
                           bench_ratio(bench_scaling_get(r, "allreduce", series, *pes),
                                       bench_scaling_mpi(r, "allreduce", *pes)),
                           "<=", 1);
    }
}

/* Returns the rate of a PE of 16, relative to one PE alone. */
static double bench_scaling_alloc_growth(const struct results *r, const char *series)
{
    return bench_ratio(bench_scaling_get(r, "alloc", series, 16) / 16,
                       bench_scaling_get(r, "alloc", series, 1));
}

/* Goals against fewer PEs.  The rate of one PE alone differs by a factor of 1.4 from run to run on
 * some machines, so the growth of allocation is compared with that of malloc(). */
static void bench_scaling_print_growth(const struct results *r, const char *series)
{
    double few = bench_scaling_get(r, "manytoone", series, 2);

    for (const int *pes = r->host->pes; *pes; pes++)
        if (*pes > 2)
            bench_scaling_goal("messages to PE 0 / with one sender", series, *pes,
                               bench_ratio(bench_scaling_get(r, "manytoone", series, *pes), few),
                               ">=", 1);
    bench_scaling_goal(
        "growth of allocations / of malloc()", series, 16,
        bench_ratio(bench_scaling_alloc_growth(r, series), bench_scaling_alloc_growth(r, "limit")),
        ">=", 0.9);
}

/* Skua's threads against those of Open MPI. */
static void bench_scaling_print_mpi_threads(const struct results *r)
{
    static const char *const kernels[] = {"pairs", "alltoall", "manytoone"};
    int                      pes       = r->host->cores;

    for (size_t k = 0; pes > 1 && k < sizeof kernels / sizeof *kernels; k++) {
        char what[48];

        snprintf(what, sizeof what, "%.12s / MPI_THREAD_MULTIPLE", kernels[k]);
        bench_scaling_goal(what, "skua-threads", pes,
                           bench_ratio(bench_scaling_get(r, kernels[k], "skua-threads", pes),
                                       bench_scaling_get(r, kernels[k], "openmpi-threads", pes)),
                           ">=", 1);
    }
}

/* Threads must not be behind processes: the rate of each kernel, or the inverse of its time. */
static void bench_scaling_print_threads(const struct results *r)
{
    int pes = r->host->cores;

    for (size_t k = 0; pes > 1 && k < BENCH_SCALING_LOCAL; k++) {
        const struct scaling *kernel  = &bench_scaling_kernels[k];
        double                process = scaling_value(kernel, r, "skua", pes),
               thread                 = scaling_value(kernel, r, "skua-threads", pes);

        bench_print_goalf(kernel->rate ? bench_ratio(thread, process)
                                       : bench_ratio(process, thread),
                          ">=", 1, "threads / processes, %d PEs, %s", pes, kernel->kernel);
    }
}

/* Threads of a process on each of two hosts against a process for each PE, and against those of the
 * better MPI. */
static void bench_scaling_print_hosts(const struct results *r)
{
    int    pes    = r->host->cores;
    double thread = bench_scaling_get(r, "pairs", "skua-hosts-threads", pes),
           open   = bench_scaling_get(r, "pairs", "openmpi-hosts-threads", pes),
           mpich  = bench_scaling_get(r, "pairs", "mpich-hosts-threads", pes);

    if (pes < BENCH_SCALING_HOSTS)
        return;
    bench_scaling_goal("two hosts: threads / a process for each PE", "skua-threads", pes,
                       bench_ratio(thread, bench_scaling_get(r, "pairs", "skua-hosts", pes)),
                       ">=", 1);
    bench_scaling_goal("two hosts: pairs / MPI_THREAD_MULTIPLE", "skua-threads", pes,
                       bench_ratio(thread, open > mpich ? open : mpich), ">=", 1);
}

/* Returns the largest share of a sender / the smallest. */
static double bench_scaling_share(const struct results *r, const char *kind, const char *series,
                                  int pes)
{
    return results_get_metric(r, series, BENCH_SCALING_BYTES, "share-%s-%dpe", kind, pes);
}

static void bench_scaling_print_fairness(const struct results *r, const char *kind,
                                         const char *what)
{
    printf("%-46s", what);
    for (const int *pes = r->host->pes; *pes; pes++)
        for (size_t s = 0; *pes > 2 && s < 2; s++)
            bench_print_value(bench_scaling_share(r, kind, bench_scaling_skua[s], *pes), 9);
    printf("\n");
}

static void bench_scaling_print_shares(const struct results *r)
{
    bool several = false;

    for (const int *pes = r->host->pes; *pes; pes++)
        several = several || *pes > 2;
    if (!several)
        return;
    printf("\nMessages to PE 0: the largest share of a sender / the smallest\n%-46s", "PEs");
    for (const int *pes = r->host->pes; *pes; pes++)
        if (*pes > 2)
            printf("%9d%9s", *pes, "threads");
    printf("\n");
    bench_scaling_print_fairness(r, "flood", "PE 0 does nothing else");
    bench_scaling_print_fairness(r, "slow", "its handler is slower than a send");
    bench_scaling_print_fairness(r, "busy", "it computes, and polls in between");
}

static void bench_scaling_print_kernels(const struct results *r)
{
    for (size_t k = 0; k < bench_scaling_shown(r->host); k++) {
        if (!bench_scaling_shows(r->host, &bench_scaling_kernels[k]))
            continue;
        scaling_print(&bench_scaling_kernels[k], r);
        printf("\n");
    }
}

static void bench_scaling_print_goals(const struct results *r)
{
    static const char *const kinds[] = {"flood", "slow", "busy"};

    bench_print_goals_head("Goals");
    bench_scaling_print_threads(r);
    bench_scaling_print_mpi_threads(r);
    bench_scaling_print_hosts(r);
    for (size_t s = 0; s < 2; s++) {
        const char *series = bench_scaling_skua[s];

        bench_scaling_print_peers(r, series);
        bench_scaling_print_growth(r, series);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            char what[48];

            snprintf(what, sizeof what, "largest share / smallest, %s", kinds[i]);
            bench_scaling_goal(
                what, series, 16,
                r->host->cores < 16 ? 0 : bench_scaling_share(r, kinds[i], series, 16), "<=", 2);
        }
    }
}

/* Goals and shares are printed with all kernels, not with one. */
static void bench_scaling_print(const struct results *r)
{
    bench_scaling_print_kernels(r);
    if (bench_scaling_has_kernels(r->host) && !bench_scaling_only(r->host)) {
        bench_scaling_print_shares(r);
        bench_scaling_print_goals(r);
        printf("\n");
    }
    scaling_apps_print(r);
}

/* ---- plot ---------------------------------------------------------------- */

static void bench_scaling_plot(const struct results *r, FILE *to)
{
    struct scaling shown[BENCH_SCALING_KERNELS + SCALING_APPS];
    size_t         count = 0;

    for (size_t k = 0; k < bench_scaling_shown(r->host); k++)
        if (bench_scaling_shows(r->host, &bench_scaling_kernels[k]))
            shown[count++] = bench_scaling_kernels[k];
    count += scaling_apps_list(r->host, shown + count);
    scaling_plot(shown, count, r, to);
}

const struct bench bench_scaling = {.name      = "scaling",
                                    .run       = bench_scaling_run,
                                    .print     = bench_scaling_print,
                                    .plot      = bench_scaling_plot,
                                    .has_part  = bench_scaling_has_part,
                                    .every_pes = true};
