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

#include "base/config.h"
#include "base/memory.h"
#include "base/topology.h"

/* Where the first process of a host has its arena. */
struct external_arena {
    int pid, fd;
};

/* Whether the launcher has bound us to a part of the host's CPUs, which are in
 * @p topology. */
static bool external_is_bound(struct ski_topology *topology)
{
    return ski_topology_load(topology) == SKUA_OK &&
           topology->cpus < (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The secret of the job: process 0 makes it up, one process of each host asks.  (What
 * has not been put yet is not waited for, so there is a barrier between.) */
static skua_status_t external_agree_on_secret(const struct ski_boot *boot, bool ask,
                                              uint64_t secret[2])
{
    size_t        bytes  = 2 * sizeof *secret;
    skua_status_t status = SKUA_OK;

    if (boot->process == 0 && getrandom(secret, bytes, 0) != (ssize_t)bytes)
        return ski_fail(SKUA_ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    if (boot->process == 0)
        status = boot->external->put("skua.secret", secret, bytes);
    if (status == SKUA_OK)
        status = boot->external->barrier();
    if (status == SKUA_OK && ask && boot->process != 0)
        status = boot->external->get(0, "skua.secret", secret, &bytes);
    return status;
}

/* The first process of a host makes the arena and the job, and says where. */
static skua_status_t external_make_job(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    struct ski_topology   topology = {0};
    struct external_arena where;

    if (external_is_bound(&topology))
        plan->pin = "none", plan->cpu = NULL;
    ski_topology_free(&topology);

    if (ski_boot_arena(&boot->arena, fd) != SKUA_OK ||
        ski_job_create(boot->arena, plan, &boot->job) != SKUA_OK)
        return SKUA_ERR_NOMEM;
    boot->job->starter = getppid(); /* the launcher's, whose children we all are */
    where              = (struct external_arena){(int)getpid(), *fd};
    return plan->local_processes > 1 ? boot->external->put("skua.arena", &where, sizeof where)
                                     : SKUA_OK;
}

/* The others open it. */
static skua_status_t external_attach(struct ski_boot *boot, int maker)
{
    struct external_arena where;
    size_t                bytes  = sizeof where;
    skua_status_t         status = boot->external->get(maker, "skua.arena", &where, &bytes);
    char                  path[64];
    int                   fd;

    if (status != SKUA_OK)
        return status;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where.pid, where.fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ski_fail(SKUA_ERR_SYSTEM, "cannot open the arena of process %d at %s: %s", maker,
                        path, strerror(errno));
    status = ski_arena_attach(fd, &boot->arena);
    close(fd);
    if (status != SKUA_OK)
        return status;
    boot->job = ski_job_of(boot->arena);
    if (!ski_boot_is_here(boot))
        return ski_fail(SKUA_ERR_INVAL, "the arena holds no job with a process %d", boot->process);
    ski_clock_set(&boot->job->clock);
    return SKUA_OK;
}

/* Where the launcher has bound us, our PEs stay, each on a CPU if there are
 * enough. */
static void external_keep_binding(struct ski_boot *boot)
{
    struct ski_job     *job      = boot->job;
    int                 first    = ski_job_index(job, ski_job_first_pe(job, boot->process));
    int                 pes      = ski_job_pes_of(job, boot->process);
    struct ski_topology topology = {0};

    if (strcmp(ski_config.pin, "auto") == 0 && external_is_bound(&topology) && topology.cpus >= pes)
        memcpy(job->cpu + first, topology.cpu, (size_t)pes * sizeof *topology.cpu);
    ski_topology_free(&topology);
}

/* Where processes of one host keep apart, each takes its part of the CPUs. */
static skua_status_t external_keep_apart(const struct ski_boot *boot, struct ski_plan *plan,
                                         int *local, int *cpu)
{
    skua_status_t status =
        ski_topology_place(plan->pin, plan->local_processes * plan->pes_per_process, cpu);

    for (int i = 0; i < plan->local_processes; i++)
        if (local[i] == boot->process)
            plan->cpu = cpu + i * plan->pes_per_process;
    local[0]              = boot->process;
    plan->local_processes = 1;
    return status;
}

/* Makes the job or joins it. */
static skua_status_t external_join(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    bool          makes  = plan->local[0] == boot->process;
    bool          spread = plan->local_processes < plan->pes / plan->pes_per_process;
    skua_status_t status = spread ? external_agree_on_secret(boot, makes, plan->secret) : SKUA_OK;

    if (status == SKUA_OK && makes)
        status = external_make_job(boot, plan, fd);
    if (status == SKUA_OK)
        status = boot->external->barrier();
    if (status == SKUA_OK && !makes)
        status = external_attach(boot, plan->local[0]);
    if (status == SKUA_OK)
        external_keep_binding(boot);
    return status == SKUA_OK ? boot->external->barrier()
                             : status; /* all have it, and say where they run */
}

skua_status_t ski_external_launcher_start(struct ski_boot                    *boot,
                                          const struct ski_external_launcher *external)
{
    int             threads = (int)ski_config.threads, fd = -1, size, *local, *cpu;
    struct ski_plan plan = {.pes_per_process = threads, .pin = ski_config.pin};
    skua_status_t   status =
        external->begin(&boot->process, &size, &local, &plan.local_processes, &plan.one_host);

    if (status != SKUA_OK)
        return status;
    boot->external = external;
    plan.pes       = size * threads;
    plan.local     = local;
    cpu            = ski_malloc((size_t)(plan.local_processes * threads) * sizeof *cpu);
    if (!ski_config.share)
        status = external_keep_apart(boot, &plan, local, cpu);
    if (status == SKUA_OK)
        status = external_join(boot, &plan, &fd);
    free(cpu);
    free(local);
    if (fd >= 0)
        close(fd);
    return status;
}
