/* SPDX-License-Identifier: Apache-2.0 */
/* external_launcher.c - see external_launcher.h. */
#include "boot/external_launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/config.h"
#include "base/memory.h"
#include "base/topology.h"
#include "boot/job_arena.h"

/* Where the first process of a host has its arena: the value of the key skua.arena. */
struct external_arena {
    int pid, fd;
};

const char *ski_external_key(const char *key, uint32_t phase, char text[SKI_EXTERNAL_KEY])
{
    snprintf(text, SKI_EXTERNAL_KEY, "%s.%u", key, phase);
    return text;
}

static skua_status external_put(const struct ski_external_join *join, const char *key,
                                const void *value, size_t bytes)
{
    char text[SKI_EXTERNAL_KEY];

    return join->launcher->put(ski_external_key(key, join->phase, text), value, bytes);
}

static skua_status external_get(const struct ski_external_join *join, int process, const char *key,
                                void *value, size_t *bytes)
{
    char text[SKI_EXTERNAL_KEY];

    return join->launcher->get(process, ski_external_key(key, join->phase, text), value, bytes);
}

/* Returns whether the launcher has bound this process to some of the host's CPUs, which
 * @p topology then lists. */
static bool external_is_bound(struct ski_topology *topology)
{
    return ski_topology_load(topology) == SKUA_OK &&
           topology->cpus < (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Process 0 makes the secret of the job, and one process of each host gets it.  A get does not wait
 * for the put, so there is a barrier between. */
static skua_status external_agree_on_secret(const struct ski_external_join *join, bool ask,
                                            uint64_t secret[2])
{
    size_t      bytes  = 2 * sizeof *secret;
    skua_status status = SKUA_OK;

    if (join->process == 0 && getrandom(secret, bytes, 0) != (ssize_t)bytes)
        return ski_fail(SKUA_ERR_SYSTEM,
                        "the system has no random numbers for the secret of the job: %s",
                        strerror(errno));
    if (join->process == 0)
        status = external_put(join, "skua.secret", secret, bytes);
    if (status == SKUA_OK)
        status = join->launcher->barrier();
    if (status == SKUA_OK && ask && join->process != 0)
        status = external_get(join, 0, "skua.secret", secret, &bytes);
    return status;
}

/* ---- hosts --------------------------------------------------------------------------- */

#define EXTERNAL_HOST_KEY "skua.host"

/* The data that a process of a job on several hosts publishes. */
struct external_host {
    int32_t leader; /* the first process of its host                  */
    int32_t run;    /* processes from itself on that are on its host  */
};

static skua_status external_publish_host(const struct ski_external_join *join,
                                         const struct ski_job_params    *plan)
{
    struct external_host host = {plan->local[0], 1};
    int                  at   = 0;

    while (plan->local[at] != join->process) {
        ski_assert(at < plan->local_processes - 1); /* this process is on this host */
        at++;
    }
    while (at + host.run < plan->local_processes &&
           plan->local[at + host.run] == join->process + host.run)
        host.run++;
    return external_put(join, EXTERNAL_HOST_KEY, &host, sizeof host);
}

/* Asks one process of each run for its host, and sets the leader of every process. */
static skua_status external_learn_hosts(const struct ski_external_join *join, int processes,
                                        int *leader)
{
    for (int process = 0; process < processes;) {
        struct external_host host;
        size_t               bytes  = sizeof host;
        skua_status          status = external_get(join, process, EXTERNAL_HOST_KEY, &host, &bytes);

        if (status != SKUA_OK)
            return status;
        if (bytes != sizeof host || host.leader < 0 || host.leader > process ||
            (host.leader < process && leader[host.leader] != host.leader) || host.run < 1 ||
            host.run > processes - process)
            return ski_fail(SKUA_ERR_INVAL,
                            "process %d has published an invalid host; do all processes run the "
                            "same version of Skua?",
                            process);
        for (int i = 0; i < host.run; i++)
            leader[process++] = host.leader;
    }
    return SKUA_OK;
}

/* Creates the arena and the job, as the first process of a host, and publishes where it is. */
static skua_status external_make_job(struct ski_external_join *join, struct ski_job_params *plan,
                                     int *fd)
{
    struct ski_topology   topology = {0};
    struct external_arena where;

    if (external_is_bound(&topology))
        plan->pin = "none", plan->cpu = NULL, plan->cpus_shared = false;
    ski_topology_free(&topology);

    if (ski_boot_arena(&join->arena, fd) != SKUA_OK ||
        ski_job_create(join->arena, plan, &join->job) != SKUA_OK)
        return SKUA_ERR_NOMEM;
    join->job->starter = getppid(); /* the launcher, the parent of all processes */
    where              = (struct external_arena){(int)getpid(), *fd};
    return plan->local_processes > 1 ? external_put(join, "skua.arena", &where, sizeof where)
                                     : SKUA_OK;
}

/* Opens the arena that process @p maker of this host has created. */
static skua_status external_attach(struct ski_external_join *join, int maker)
{
    struct external_arena where;
    size_t                bytes  = sizeof where;
    skua_status           status = external_get(join, maker, "skua.arena", &where, &bytes);
    char                  path[64];
    int                   fd;

    if (status != SKUA_OK)
        return status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where.pid, where.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ski_fail(SKUA_ERR_SYSTEM, "cannot open the arena of process %d at %s: %s", maker,
                        path, strerror(errno));
    status = ski_boot_attach_arena(fd, &join->arena);
    close(fd);
    if (status != SKUA_OK)
        return status;
    join->job = ski_job_of(join->arena);
    if (!ski_job_has_process(join->job, join->process))
        return ski_fail(SKUA_ERR_INVAL, "the arena holds no job with a process %d", join->process);
    ski_clock_set(&join->job->clock);
    return SKUA_OK;
}

/* Keeps a binding that the launcher made: each PE gets one of its CPUs if there are enough. */
static void external_keep_binding(struct ski_external_join *join)
{
    struct ski_job     *job      = join->job;
    int                 first    = ski_job_index(job, ski_job_first_pe(job, join->process));
    int                 pes      = ski_job_pes_of(job, join->process);
    struct ski_topology topology = {0};

    if (strcmp(ski_config.pin, "auto") == 0 && external_is_bound(&topology) && topology.cpus >= pes)
        memcpy(job->cpu + first, topology.cpu, (size_t)pes * sizeof *topology.cpu);
    ski_topology_free(&topology);
}

/* Gives this process a part of the CPUs where processes of one host do not share an arena. */
static skua_status external_keep_apart(const struct ski_external_join *join,
                                       struct ski_job_params *plan, int *local, int *cpu)
{
    int         own = plan->pes_per_process, all = plan->local_processes * own;
    skua_status status = ski_topology_assign(plan->pin, all, own, cpu);

    for (int i = 0; status == SKUA_OK && i < plan->local_processes; i++)
        if (local[i] == join->process) {
            plan->cpu         = cpu + i * own;
            plan->cpus_shared = ski_topology_cpus_shared(cpu, all, i * own, own);
        }
    ski_assert(plan->cpu || status != SKUA_OK); /* this process is on this host */
    local[0]              = join->process;
    plan->local_processes = 1;
    return status;
}

/* Creates the job or joins it. */
static skua_status external_join(struct ski_external_join *join, struct ski_job_params *plan,
                                 int *fd)
{
    int         processes = plan->pes / plan->pes_per_process;
    bool        makes     = plan->local[0] == join->process;
    bool        spread    = plan->local_processes < processes;
    bool        hosts     = spread && ski_config.shared_memory; /* else each process is one */
    int        *leader    = hosts && makes ? ski_malloc((size_t)processes * sizeof *leader) : NULL;
    skua_status status    = hosts ? external_publish_host(join, plan) : SKUA_OK;

    if (status == SKUA_OK && spread)
        status = external_agree_on_secret(join, makes, plan->secret);
    if (status == SKUA_OK && leader)
        status = external_learn_hosts(join, processes, leader);
    plan->leader = leader;
    if (status == SKUA_OK && makes)
        status = external_make_job(join, plan, fd);
    free(leader);
    if (status == SKUA_OK)
        status = join->launcher->barrier();
    if (status == SKUA_OK && !makes)
        status = external_attach(join, plan->local[0]);
    if (status == SKUA_OK)
        external_keep_binding(join);
    return status == SKUA_OK ? join->launcher->barrier()
                             : status; /* all have joined and recorded their CPUs */
}

skua_status ski_external_launcher_start(struct ski_external_join *join)
{
    int                   threads = (int)ski_config.threads, fd = -1, size, *local, *cpu;
    struct ski_job_params plan = {.pes_per_process = threads, .pin = ski_config.pin};
    skua_status           status =
        join->launcher->begin(&join->process, &size, &local, &plan.local_processes, &plan.one_host);

    if (status != SKUA_OK)
        return status;
    ski_assert(plan.local_processes >= 1 && plan.local_processes <= size);
    if ((int64_t)size * threads > SKI_JOB_PES_MAX) {
        free(local);
        return ski_fail(SKUA_ERR_RANGE,
                        "%d processes of %d PEs each (SKUA_THREADS) are more PEs than a job can "
                        "have, %d",
                        size, threads, SKI_JOB_PES_MAX);
    }
    plan.pes   = size * threads;
    plan.local = local;
    cpu        = ski_malloc((size_t)(plan.local_processes * threads) * sizeof *cpu);
    if (!ski_config.shared_memory)
        status = external_keep_apart(join, &plan, local, cpu);
    if (status == SKUA_OK)
        status = external_join(join, &plan, &fd);
    free(cpu);
    free(local);
    if (fd >= 0)
        close(fd);
    return status;
}
