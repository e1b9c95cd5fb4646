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
struct where {
    int pid, fd;
};

/* Whether the launcher has bound us to a part of the host's CPUs, which are in
 * @p topology. */
static bool is_bound(struct ski_topology *topology)
{
    return ski_topology_load(topology) == SKUA_OK &&
           topology->cpus < (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The secret of the job: process 0 makes it up, one process of each host asks.  (What
 * has not been put yet is not waited for, so there is a barrier between.) */
static skua_status_t agree_on_secret(const struct ski_boot *boot, bool ask, uint64_t secret[2])
{
    size_t        bytes  = 2 * sizeof *secret;
    skua_status_t status = SKUA_OK;

    if (boot->process == 0 && getrandom(secret, bytes, 0) != (ssize_t)bytes)
        return ski_fail(SKUA_ERR_SYSTEM, "no random numbers: %s", strerror(errno));
    if (boot->process == 0)
        status = boot->foreign->put("skua.secret", secret, bytes);
    if (status == SKUA_OK)
        status = boot->foreign->barrier();
    if (status == SKUA_OK && ask && boot->process != 0)
        status = boot->foreign->get(0, "skua.secret", secret, &bytes);
    return status;
}

/* The first process of a host makes the arena and the job, and says where. */
static skua_status_t make(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    struct ski_topology topology = {0};
    struct where        where;

    if (is_bound(&topology))
        plan->pin = "none", plan->cpu = NULL;
    ski_topology_free(&topology);

    if (ski_boot_arena(&boot->arena, fd) != SKUA_OK ||
        ski_job_create(boot->arena, plan, &boot->job) != SKUA_OK)
        return SKUA_ERR_NOMEM;
    boot->job->starter = getppid(); /* the launcher's, whose children we all are */
    where              = (struct where){(int)getpid(), *fd};
    return plan->here > 1 ? boot->foreign->put("skua.arena", &where, sizeof where) : SKUA_OK;
}

/* The others open it. */
static skua_status_t attach(struct ski_boot *boot, int maker)
{
    struct where  where;
    size_t        bytes  = sizeof where;
    skua_status_t status = boot->foreign->get(maker, "skua.arena", &where, &bytes);
    char          path[64];
    int           fd;

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
static void keep_binding(struct ski_boot *boot)
{
    struct ski_job     *job      = boot->job;
    int                 first    = ski_job_index(job, ski_job_first_pe(job, boot->process));
    int                 pes      = ski_job_pes_of(job, boot->process);
    struct ski_topology topology = {0};

    if (strcmp(ski_config.pin, "auto") == 0 && is_bound(&topology) && topology.cpus >= pes)
        memcpy(job->cpu + first, topology.cpu, (size_t)pes * sizeof *topology.cpu);
    ski_topology_free(&topology);
}

/* Where processes of one host keep apart, each takes its part of the CPUs. */
static skua_status_t keep_apart(const struct ski_boot *boot, struct ski_plan *plan, int *near,
                                int *cpu)
{
    skua_status_t status = ski_topology_place(plan->pin, plan->here * plan->pes_per_process, cpu);

    for (int i = 0; i < plan->here; i++)
        if (near[i] == boot->process)
            plan->cpu = cpu + i * plan->pes_per_process;
    near[0]    = boot->process;
    plan->here = 1;
    return status;
}

/* Makes the job or joins it. */
static skua_status_t join(struct ski_boot *boot, struct ski_plan *plan, int *fd)
{
    bool          makes  = plan->near[0] == boot->process;
    bool          spread = plan->here < plan->pes / plan->pes_per_process;
    skua_status_t status = spread ? agree_on_secret(boot, makes, plan->secret) : SKUA_OK;

    if (status == SKUA_OK && makes)
        status = make(boot, plan, fd);
    if (status == SKUA_OK)
        status = boot->foreign->barrier();
    if (status == SKUA_OK && !makes)
        status = attach(boot, plan->near[0]);
    if (status == SKUA_OK)
        keep_binding(boot);
    return status == SKUA_OK ? boot->foreign->barrier()
                             : status; /* all have it, and say where they run */
}

skua_status_t ski_foreign_start(struct ski_boot *boot, const struct ski_foreign *foreign)
{
    int             threads = (int)ski_config.threads, fd = -1, size, *near, *cpu;
    struct ski_plan plan = {.pes_per_process = threads, .pin = ski_config.pin};
    skua_status_t status = foreign->begin(&boot->process, &size, &near, &plan.here, &plan.one_host);

    if (status != SKUA_OK)
        return status;
    boot->foreign = foreign;
    plan.pes      = size * threads;
    plan.near     = near;
    cpu           = ski_malloc((size_t)(plan.here * threads) * sizeof *cpu);
    if (!ski_config.shared_memory)
        status = keep_apart(boot, &plan, near, cpu);
    if (status == SKUA_OK)
        status = join(boot, &plan, &fd);
    free(cpu);
    free(near);
    if (fd >= 0)
        close(fd);
    return status;
}
